// This file is the way out of every request: what an answer always carries, how long a client may take to read it, and
// the line in the log.
package gate

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/wayleave/wayleave/internal/rowid"
)

const (
	requestIDHeader = "X-Request-Id"
	// writeTime is how long a client may take to read what is written at once.
	writeTime = 30 * time.Second
)

// Reply is the ResponseWriter that handlers get. A request belongs to one goroutine, and so does its reply.
type Reply struct {
	http.ResponseWriter
	control   *http.ResponseController
	id        string
	operation string // for the log
	who       string // for the log: kind and id of the credential, never the credential
	status    int
	instead   int   // of the status that the HTTP library gives, where it takes a client's fault for ours; 0 for none
	broken    error // the first failed write
}

// ID is the request's, by which the log has it.
func (r *Reply) ID() string { return r.id }

// Broken says whether a write has failed.
func (r *Reply) Broken() bool { return r.broken != nil }

// Begun says whether an answer was begun.
func (r *Reply) Begun() bool { return r.status != 0 }

// Abort cuts an answer off that cannot be ended: half of one must not look like a whole.
func (g *Gate) Abort(out *Reply, err error) {
	g.log.Error("an answer was cut off", "request_id", out.id, "operation", out.operation, "error", err)
	panic(http.ErrAbortHandler)
}

// NewReply makes one of a server's.
func NewReply(w http.ResponseWriter) *Reply {
	if r, ok := w.(*Reply); ok {
		return r // a page that asks the API
	}
	r := &Reply{ResponseWriter: w, control: http.NewResponseController(w), id: rowid.New("req")}
	// The server's own deadline counts from the request; a call may take longer before it writes.
	_ = r.control.SetWriteDeadline(time.Time{})
	w.Header().Set(requestIDHeader, r.id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return r
}

// Unwrap lets http.ResponseController reach the connection.
func (r *Reply) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader sends the header.
func (r *Reply) WriteHeader(status int) {
	if r.status != 0 {
		return
	}
	if r.instead != 0 {
		status = r.instead
	}
	r.status = status
	_ = r.control.SetWriteDeadline(time.Now().Add(writeTime))
	r.ResponseWriter.WriteHeader(status)
}

// Write sends body bytes.
func (r *Reply) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	_ = r.control.SetWriteDeadline(time.Now().Add(writeTime))
	n, err := r.ResponseWriter.Write(p)
	if err != nil && r.broken == nil {
		r.broken = err
	}
	return n, err
}

// Flush sends what is buffered, and says whether all that was written so far reached the connection.
func (r *Reply) Flush() error {
	if err := r.control.Flush(); err != nil && r.broken == nil {
		r.broken = err
	}
	return r.broken
}

// Guard is deferred around a request: it answers a panic, once, and writes the line of the log.
func (g *Gate) Guard(out *Reply, r *http.Request, what string) func() {
	began := time.Now()
	return func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			g.log.Error("request panicked", "request_id", out.id, "operation", out.operation, "kind", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			if out.status == 0 {
				f := Fail(http.StatusInternalServerError, CodeInternal, "something went wrong here; the log has the request's id")
				f.RequestID = out.id
				g.Refuse(out, f)
			}
		}
		if out.operation == "" {
			out.operation = what
		}
		level := slog.LevelDebug
		if out.status >= 400 {
			level = slog.LevelInfo
		}
		g.log.Log(context.WithoutCancel(r.Context()), level, "request", "request_id", out.id, "operation", out.operation, "who", out.who,
			"status", out.status, "took_ms", float64(time.Since(began).Microseconds())/1000)
	}
}
