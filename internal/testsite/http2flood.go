package testsite

import (
	"bytes"

	"golang.org/x/net/http2"
)

// FloodsHTTP2 are frames that bring nothing, sent as fast as the client takes them until it goes.
func FloodsHTTP2() []HTTP2Fault {
	// pour writes frames without end; once the request is there and, if answered, its headers were sent.
	pour := func(answered bool, write func(frames *http2.Framer, stream uint32)) func(*HTTP2) {
		return func(h *HTTP2) {
			stream := h.Request()
			if answered {
				h.Headers(stream, false, ":status", "200", "content-type", "text/plain")
			}
			var block bytes.Buffer
			frames := http2.NewFramer(&block, nil)
			frames.AllowIllegalWrites = true
			for range 100 {
				write(frames, stream)
			}
			for h.Send(block.String()) {
			}
		}
	}
	connection := func(write func(frames *http2.Framer)) func(*HTTP2) {
		return pour(false, func(frames *http2.Framer, _ uint32) { write(frames) })
	}
	return []HTTP2Fault{
		{"empty data", pour(true, func(f *http2.Framer, s uint32) { f.WriteData(s, false, nil) })},
		{"padding and no data", pour(true, func(f *http2.Framer, s uint32) { f.WriteDataPadded(s, false, nil, make([]byte, 255)) })},
		{"window updates of a stream", pour(true, func(f *http2.Framer, s uint32) { f.WriteWindowUpdate(s, 1) })},
		{"pings", connection(func(f *http2.Framer) { f.WritePing(false, [8]byte{}) })},
		{"answers to pings", connection(func(f *http2.Framer) { f.WritePing(true, [8]byte{}) })},
		{"settings", connection(func(f *http2.Framer) { f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14}) })},
		{"empty settings", connection(func(f *http2.Framer) { f.WriteSettings() })},
		{"window updates", connection(func(f *http2.Framer) { f.WriteWindowUpdate(0, 1) })},
		{"GOAWAY", connection(func(f *http2.Framer) { f.WriteGoAway(1<<30, http2.ErrCodeNo, make([]byte, 100)) })},
		{"priorities", pour(false, func(f *http2.Framer, s uint32) { f.WritePriority(s, http2.PriorityParam{Weight: 1}) })},
		{"frames of an unknown kind", connection(func(f *http2.Framer) { f.WriteRawFrame(0xee, 0, 0, make([]byte, 100)) })},
		{"other ways to the site", connection(func(f *http2.Framer) { f.WriteRawFrame(0x0a, 0, 0, []byte("\x00\x01ah2=\":443\"")) })},
	}
}
