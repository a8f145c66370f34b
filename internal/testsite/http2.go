package testsite

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// HTTP2 is the server's side of one HTTP/2 connection, frame by frame.
type HTTP2 struct {
	*Conn
	Frames *http2.Framer
	header bytes.Buffer
	encode *hpack.Encoder
}

// ServeHTTP2 is a script that greets an HTTP/2 client and then runs script. Use it with ServeTLS and the protocol "h2".
func ServeHTTP2(script func(*HTTP2)) func(*Conn) {
	return func(c *Conn) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(c.reader, preface); err != nil || string(preface) != http2.ClientPreface {
			return
		}
		h := &HTTP2{Conn: c, Frames: http2.NewFramer(c, c.reader)}
		h.Frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		h.encode = hpack.NewEncoder(&h.header)
		if h.Frames.WriteSettings() == nil {
			script(h)
		}
	}
}

// Request reads frames until the next request and gives its stream; 0 if the client ends the connection first.
func (h *HTTP2) Request() (stream uint32) {
	for {
		f, err := h.Frames.ReadFrame()
		if err != nil {
			return 0
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				h.Frames.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				h.Frames.WritePing(true, f.Data)
			}
		case *http2.MetaHeadersFrame:
			h.remember(f)
			return f.StreamID
		}
	}
}

func (h *HTTP2) remember(f *http2.MetaHeadersFrame) {
	r := Request{Header: http.Header{}}
	for _, field := range f.Fields {
		r.Raw += field.Name + ": " + field.Value + "\n"
		switch field.Name {
		case ":method":
			r.Method = field.Value
		case ":path":
			r.Target = field.Value
		case ":authority":
			r.Header.Set("Host", field.Value)
		default:
			if !strings.HasPrefix(field.Name, ":") {
				r.Header.Add(field.Name, field.Value)
			}
		}
	}
	h.site.mu.Lock()
	defer h.site.mu.Unlock()
	h.site.requests = append(h.site.requests, r)
}

// Headers sends header fields given as name, value, name, value.
func (h *HTTP2) Headers(stream uint32, last bool, fields ...string) error {
	return h.Frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: h.block(fields), EndHeaders: true, EndStream: last})
}

func (h *HTTP2) block(fields []string) []byte {
	h.header.Reset()
	for i := 0; i+1 < len(fields); i += 2 {
		h.encode.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return h.header.Bytes()
}

// Text answers a stream with a text page.
func (h *HTTP2) Text(stream uint32, body string) {
	if h.Headers(stream, false, ":status", "200", "content-type", "text/plain") == nil {
		h.Frames.WriteData(stream, true, []byte(body))
	}
}

// HTTP2Fault is one way to misbehave over HTTP/2. Its script runs for each connection.
type HTTP2Fault struct {
	Name   string
	Script func(*HTTP2)
}

// BrokenHTTP2 are faults after which no page can be had.
func BrokenHTTP2() []HTTP2Fault {
	each := func(answer func(h *HTTP2, stream uint32)) func(*HTTP2) {
		return func(h *HTTP2) {
			for stream := h.Request(); stream != 0; stream = h.Request() {
				answer(h, stream)
			}
		}
	}
	head := []string{":status", "200", "content-type", "text/plain"}
	return []HTTP2Fault{
		{"GOAWAY that knows of no stream", each(func(h *HTTP2, _ uint32) { h.Frames.WriteGoAway(0, http2.ErrCodeNo, nil) })},
		{"GOAWAY at once", func(h *HTTP2) { h.Frames.WriteGoAway(0, http2.ErrCodeNo, nil); h.Request() }},
		{"GOAWAY that asks to be calm", each(func(h *HTTP2, _ uint32) { h.Frames.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil) })},
		{"a refused stream", each(func(h *HTTP2, s uint32) { h.Frames.WriteRSTStream(s, http2.ErrCodeRefusedStream) })},
		{"a stream reset before its headers", each(func(h *HTTP2, s uint32) { h.Frames.WriteRSTStream(s, http2.ErrCodeInternal) })},
		{"a stream reset in its body", each(func(h *HTTP2, s uint32) {
			h.Headers(s, false, head...)
			h.Frames.WriteData(s, false, []byte("half"))
			h.Frames.WriteRSTStream(s, http2.ErrCodeInternal)
		})},
		{"a stream that ends in its body without an end", func(h *HTTP2) {
			s := h.Request()
			h.Headers(s, false, head...)
			h.Frames.WriteData(s, false, []byte("half"))
		}},
		{"a connection that ends without an answer", func(h *HTTP2) { h.Request() }},
		{"a reset connection", func(h *HTTP2) { h.Request(); h.Reset() }},
		{"a body shorter than its length", each(func(h *HTTP2, s uint32) {
			h.Headers(s, false, append(head, "content-length", "100")...)
			h.Frames.WriteData(s, true, []byte("short"))
		})},
		{"a body longer than its length", each(func(h *HTTP2, s uint32) {
			h.Headers(s, false, append(head, "content-length", "2")...)
			h.Frames.WriteData(s, true, []byte("longer than two"))
		})},
		{"a body before its headers", each(func(h *HTTP2, s uint32) { h.Frames.WriteData(s, true, []byte("body")) })},
		{"no status", each(func(h *HTTP2, s uint32) { h.Headers(s, true, "content-type", "text/plain") })},
		{"a change of protocol", each(func(h *HTTP2, s uint32) { h.Headers(s, true, ":status", "101") })},
		{"endless interim answers", func(h *HTTP2) {
			s := h.Request()
			for h.Headers(s, false, ":status", "103", "link", strings.Repeat("x", 100)) == nil {
			}
		}},
		{"endless headers", func(h *HTTP2) {
			s := h.Request()
			h.Frames.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: h.block(head)})
			filler := h.block([]string{"x-flood", strings.Repeat("x", 8000)})
			for h.Frames.WriteContinuation(s, false, filler) == nil {
			}
		}},
		{"frames that are no frames", func(h *HTTP2) { h.Request(); h.Send(strings.Repeat("\xff", 1000)) }},
		{"HTTP/1 after HTTP/2 was agreed", func(h *HTTP2) { h.Request(); h.Send("HTTP/1.1 200 OK\r\n\r\nhello") }},
	}
}

// StalledHTTP2 are faults that only a deadline ends.
func StalledHTTP2() []HTTP2Fault {
	wait := func(h *HTTP2) {
		for h.Request() != 0 {
		}
	}
	return []HTTP2Fault{
		{"no answer", wait},
		{"no stream allowed", func(h *HTTP2) {
			h.Frames.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
			wait(h)
		}},
		{"headers and no body", func(h *HTTP2) {
			h.Headers(h.Request(), false, ":status", "200", "content-type", "text/plain")
			wait(h)
		}},
	}
}
