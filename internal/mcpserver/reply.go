// This file is the way out: it sees what the library answers, so that a stream passes proxies, a client that does not
// read costs no goroutine, and the log knows the status.
package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// heartbeat is how long a standing stream stays silent: below the 30 to 60 s after which proxies cut idle ones.
const heartbeat = 25 * time.Second

// reply is the ResponseWriter that the library gets.
type reply struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	writeTime time.Duration
	// onHeader is called once, before the header is sent.
	onHeader func(http.Header)
	// standing streams get a comment when they are silent.
	standing bool
	// plain is set while a refusal that the library says in plain text is sent.
	plain bool
	// ours says that what is sent was worded here.
	ours bool

	mu     sync.Mutex // guards writes and what follows
	status int
	bytes  int64
	told   int // answers that were written to a stream
	ended  bool
	broken bool // a write failed: the client has left
	beat   *time.Timer
}

func newReply(w http.ResponseWriter, writeTime time.Duration) *reply {
	r := &reply{w: w, control: http.NewResponseController(w), writeTime: writeTime}
	// The server's own deadline counts from the request; a call may take longer than that before it writes.
	_ = r.control.SetWriteDeadline(time.Time{})
	return r
}

// Header gives the header that is sent with the first byte.
func (r *reply) Header() http.Header { return r.w.Header() }

// WriteHeader sends the header.
func (r *reply) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(status)
}

func (r *reply) begin(status int) {
	if r.status != 0 {
		return
	}
	r.status = status
	h := r.w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.streams() {
		h.Set("X-Accel-Buffering", "no") // nginx and its kin would keep a stream until it ends
		if r.standing {
			r.beat = time.AfterFunc(heartbeat, r.keepAlive)
		}
	} else {
		h.Set("Cache-Control", "no-store")
	}
	if status >= 400 && strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		r.plain = true
		h.Set("Content-Type", "application/json")
		h.Del("Content-Length")
	}
	if r.onHeader != nil {
		r.onHeader(h)
	}
	_ = r.control.SetWriteDeadline(time.Now().Add(r.writeTime))
	r.w.WriteHeader(status)
}

// Write sends body bytes.
func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(http.StatusOK)
	if !r.plain {
		if r.status >= http.StatusBadRequest && !r.ours && r.bytes == 0 && !r.streams() {
			if _, err := r.write(coded(p, r.w.Header().Get(requestIDHeader))); err != nil { // such a refusal is one write
				return 0, err
			}
			return len(p), nil
		}
		n, err := r.write(p)
		if err == nil && r.streams() {
			r.told += answersIn(p)
		}
		return n, err
	}
	if r.bytes > 0 { // such a refusal is one write
		return len(p), nil
	}
	if _, err := r.write(plainly(r.status, p, r.w.Header().Get(requestIDHeader))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (r *reply) write(p []byte) (int, error) {
	_ = r.control.SetWriteDeadline(time.Now().Add(r.writeTime))
	n, err := r.w.Write(p)
	r.bytes += int64(n)
	r.broken = r.broken || err != nil
	if r.beat != nil {
		r.beat.Reset(heartbeat)
	}
	return n, err
}

// event sends a message of ours on a stream, between those of the library: each of them is one write.
func (r *reply) event(message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || !r.streams() {
		return errNoStream
	}
	r.begin(http.StatusOK)
	if _, err := r.write(slices.Concat([]byte("event: message\ndata: "), message, []byte("\n\n"))); err != nil {
		return err
	}
	return r.flush()
}

var errNoStream = errors.New("the answer is no stream, or has ended")

// FlushError sends what is buffered.
func (r *reply) FlushError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(http.StatusOK)
	return r.flush()
}

func (r *reply) flush() error {
	_ = r.control.SetWriteDeadline(time.Now().Add(r.writeTime))
	err := r.control.Flush()
	r.broken = r.broken || err != nil
	return err
}

func (r *reply) streams() bool {
	return strings.HasPrefix(r.w.Header().Get("Content-Type"), "text/event-stream")
}

// answersIn counts the answers among the messages of a stream in p: a library that ends a session ends its streams too,
// and what its calls come to afterwards is written nowhere.
func answersIn(p []byte) (n int) {
	for line := range bytes.Lines(p) {
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && isAnswer(data) {
			n++
		}
	}
	return n
}

// isAnswer says that a message has an id and no method. It reads up to what the answer is, which may be long.
func isAnswer(message []byte) bool {
	d := json.NewDecoder(bytes.NewReader(message))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	id, result := false, false
	for d.More() {
		switch key, err := d.Token(); {
		case err != nil || key == "method":
			return false
		case key == "id":
			id = true
		case key == "result", key == "error":
			result = true
		}
		if id && result {
			return true
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
	}
	return false
}

// answered says whether so many requests were answered. An answer that is no stream has them all.
func (r *reply) answered(requests int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told >= requests || !r.streams() && r.bytes > 0
}

// sound says whether everything that was to be written was.
func (r *reply) sound() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.broken
}

// keepAlive writes a comment, which clients skip.
func (r *reply) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	if _, err := r.write([]byte(": keep-alive\n\n")); err == nil {
		_ = r.flush()
	}
}

// end is called when the library is done with the request; after it nothing is written.
func (r *reply) end() (status int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.beat != nil {
		r.beat.Stop()
	}
	if r.status == 0 {
		return http.StatusOK, r.bytes // net/http sends this for a handler that wrote nothing
	}
	return r.status, r.bytes
}

// problem is what is refused before there is a JSON-RPC message to answer.
type problem struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"request_id"`
}

// problem answers with one.
func (r *reply) problem(status int, word, text, requestID string) {
	r.json(status, problem{word, text, requestID})
}

// refuse answers a message with a JSON-RPC error.
func (r *reply) refuse(f *refusal, requestID string) { r.json(f.status, f.wire(requestID)) }

func (r *reply) json(status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // strings and numbers only: cannot be
		status, data = http.StatusInternalServerError, nil
	}
	r.ours = true
	r.Header().Set("Content-Type", "application/json")
	r.WriteHeader(status)
	_, _ = r.Write(data)
}
