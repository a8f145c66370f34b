// Package relay lets a client over pipes be served by another process, and by the next one when that ends. It carries
// lines and knows of MCP no more than that: which line asks, which answers, and what a new server must hear first.
//
// The one rule: a tool call is carried once. Where the server ends before it answered, the client is told so, and
// whether the call is made again is the client's to say; what became of it stands in the ledger.
package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// maxLine is the longest line that is carried: larger than the server's own bound, so that its refusal is what a client
	// reads.
	maxLine = 4 << 20
	// firstPause is how long to wait before another server is looked for, doubled up to lastPause; giveUp is for how long.
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
	giveUp     = 30 * time.Second
)

// Conn is a way to a server: lines in, lines out.
type Conn interface {
	io.ReadWriteCloser
	// CloseWrite says that no more will be asked; answers still come.
	CloseWrite() error
}

// Relay is one client. It is run once.
type Relay struct {
	// Dial finds a server: another process, or one in this process where there is none. It is asked again whenever the
	// server has ended.
	Dial func(ctx context.Context) (Conn, error)
	// Log hears of changes of the server; nil hears nothing.
	Log func(message string, err error)

	conn Conn // written to by Run alone, and without the lock: a server that does not read must not stop its answers

	mu         sync.Mutex // guards what follows
	out        io.Writer
	initialize []byte           // the client's handshake in the older era, for the next server
	confirmed  []byte           // and the notice that ended it
	unheard    string           // the id whose answer the client has already
	pending    map[string]asked // by id as it was written
	order      []string         // ids of pending, in the order in which they were asked
	ended      bool             // the client asks no more
}

// asked is a request that was not answered yet.
type asked struct {
	line   []byte
	method string
	unsent bool // no server has had a byte of it, so that the next one may have it whatever it is
}

// line is what a relay reads of one.
type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func read(raw []byte) (l line, ok bool) {
	if json.Unmarshal(raw, &l) != nil {
		return line{}, false
	}
	return l, true
}

// isCall says whether a request may have effects: then it is never carried twice.
func (a asked) isCall() bool { return a.method == "tools/call" }

// Run carries lines until in ends and everything is answered, or ctx ends.
func (r *Relay) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.out, r.pending = out, make(map[string]asked)
	if r.Log == nil {
		r.Log = func(string, error) {}
	}
	first, err := r.dial(ctx)
	if err != nil {
		return err
	}
	r.conn = first
	lines := make(chan []byte)
	go readLines(ctx, in, lines)
	answers := r.listen(ctx, first)
	for {
		select {
		case <-ctx.Done():
			return errors.Join(r.close(), context.Cause(ctx))
		case l, open := <-lines:
			if !open {
				lines = nil // the client is done; what it asked is still answered
				r.end()
				continue
			}
			r.ask(l)
		case err := <-answers:
			if r.over() {
				return r.close()
			}
			r.Log("the server has ended; looking for another", err)
			_ = r.close()
			r.abandon()
			if r.over() {
				return nil
			}
			next, err := r.dial(ctx)
			if err != nil {
				return fmt.Errorf("no server any more: %w", err)
			}
			first := r.introduction()
			r.conn = next
			answers = r.listen(ctx, next) // before it is spoken to: who writes and does not read stops both
			for _, l := range first {
				_, _ = next.Write(append(l, '\n'))
			}
			if r.done() {
				_ = next.CloseWrite()
			}
		}
	}
}

// dial looks for a server for a while: between the end of one and the start of the next there may be none.
func (r *Relay) dial(ctx context.Context) (Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		c, err := r.Dial(ctx)
		if err == nil {
			return c, nil
		}
		var final *Final
		if errors.As(err, &final) {
			return nil, final.Err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, err
		}
	}
}

// Final is an error of Dial after which looking again is of no use.
type Final struct{ Err error }

func (f *Final) Error() string { return f.Err.Error() }
func (f *Final) Unwrap() error { return f.Err }

// ask carries a line of the client's. A line that cannot be written is dealt with when the server's end is noticed: a
// server that ends in order reads no more, and answers what it has read.
func (r *Relay) ask(raw []byte) {
	id := r.note(raw)
	if n, err := r.conn.Write(append(raw, '\n')); err != nil && n == 0 {
		r.keep(id)
	}
}

// keep notes that nobody has had a request.
func (r *Relay) keep(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, waits := r.pending[id]; waits {
		a.unsent = true
		r.pending[id] = a
	}
}

// note keeps what the next server must hear, and gives a request's id as it was written.
func (r *Relay) note(raw []byte) (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := read(raw)
	switch {
	case ok && l.Method == "initialize":
		r.initialize, r.confirmed = raw, nil
	case ok && l.Method == "notifications/initialized":
		r.confirmed = raw
	}
	if ok && l.Method != "" && len(l.ID) > 0 {
		id = string(l.ID)
		if _, twice := r.pending[id]; !twice {
			r.order = append(r.order, id)
		}
		r.pending[id] = asked{line: raw, method: l.Method}
		if len(r.order) > 64+2*len(r.pending) { // most were answered meanwhile
			r.order = slices.DeleteFunc(r.order, func(id string) bool { _, waits := r.pending[id]; return !waits })
		}
	}
	return id
}

// end says that the client asks no more.
func (r *Relay) end() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	_ = r.conn.CloseWrite()
}

func (r *Relay) done() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// over says whether the client asks no more and has all its answers.
func (r *Relay) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended && len(r.pending) == 0
}

func (r *Relay) close() error {
	if err := r.conn.Close(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}

// abandon answers the calls that the server did not.
func (r *Relay) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var left []string
	for _, id := range r.order {
		a, waits := r.pending[id]
		if !waits {
			continue
		}
		if !a.isCall() || a.unsent {
			left = append(left, id)
			continue
		}
		delete(r.pending, id)
		r.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the process that ran this call ended before it answered; make the call again: if it was carried out, its outcome is told and nothing is sent twice","data":{"code":"abandoned"}}}`, id))
	}
	r.order = left
}

// introduction is what a new server must hear first: the handshake, and what was asked and is not answered yet.
func (r *Relay) introduction() (lines [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := read(r.initialize); ok && r.initialize != nil {
		if _, waits := r.pending[string(l.ID)]; !waits {
			r.unheard = string(l.ID)
			lines = append(lines, r.initialize)
		}
		if r.confirmed != nil {
			lines = append(lines, r.confirmed)
		}
	}
	for _, id := range r.order {
		a, waits := r.pending[id]
		if !waits {
			continue
		}
		a.unsent = false
		r.pending[id] = a
		lines = append(lines, a.line)
	}
	return lines
}

// listen carries a server's lines to the client. The channel gets why it ended.
func (r *Relay) listen(ctx context.Context, c Conn) <-chan error {
	done := make(chan error, 1)
	go func() {
		lines := make(chan []byte)
		ended := make(chan error, 1)
		go func() { ended <- readLines(ctx, c, lines) }()
		for l := range lines {
			r.answer(l)
		}
		done <- <-ended
	}()
	return done
}

func (r *Relay) answer(raw []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := read(raw); ok && l.Method == "" && len(l.ID) > 0 {
		id := string(l.ID)
		if id == r.unheard {
			r.unheard = ""
			return
		}
		delete(r.pending, id)
	}
	r.tell(raw)
}

func (r *Relay) tell(raw []byte) { _, _ = r.out.Write(append(raw, '\n')) }

// readLines gives lines until in ends, and then closes the channel. A line beyond the bound is given cut: whoever reads
// it refuses it.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	defer close(lines)
	b := bufio.NewReaderSize(in, 64<<10)
	for {
		var l []byte
		var err error
		for {
			var part []byte
			part, err = b.ReadSlice('\n')
			if room := maxLine - len(l); len(part) > room {
				part = part[:room]
			}
			l = append(l, part...)
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if l = bytes.TrimRight(l, "\r\n"); len(bytes.TrimSpace(l)) > 0 {
			select {
			case lines <- l:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err != nil {
			return err
		}
	}
}
