// This file serves one client over pipes: one JSON-RPC message a line. A bad line is answered and the next one is
// read; the library's own transport would end with the first.
package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/tool"
)

// ServeStdio serves the client at the other end of in and out, for one agent, until in ends or ctx does. The client is
// whoever started the process, so there is no token.
func (s *Server) ServeStdio(ctx context.Context, who tool.Caller, in io.Reader, out io.Writer) error {
	answers := new(piped)
	defer answers.end()
	server, served := s.newProtocol(&fixedCaller{who, answers}, nil)
	c := &pipes{limit: int(s.o.Limits.BodyBytes), served: served, answers: answers, out: out, lines: make(chan jsonrpc.Message), closed: make(chan struct{}),
		pending: make(map[jsonrpc.ID]bool)}
	answers.send = c.send
	c.taken = func(line []byte) bool { return s.takeAnswers(ctx, pipeScope(who), who, line) }
	session, err := server.Connect(ctx, c, nil)
	if err != nil {
		return fmt.Errorf("serve stdio: %w", err)
	}
	// A read of a pipe cannot be interrupted on every system, so the reader is left behind when ctx ends first; it
	// ends with the process.
	go c.readLines(in)
	stop := context.AfterFunc(ctx, func() { c.shut(nil) })
	defer stop()
	defer context.AfterFunc(s.life, func() { c.shut(nil) })()

	<-c.closed
	err = session.Close()
	if cause := c.cause(); cause != nil {
		return cause
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// pipes is a mcp.Transport and the one mcp.Connection that it makes.
type pipes struct {
	limit   int
	served  map[string]bool
	answers *piped
	taken   func(line []byte) bool // takes answers to questions of ours
	lines   chan jsonrpc.Message
	closed  chan struct{}

	writing sync.Mutex // guards out
	out     io.Writer

	mu      sync.Mutex          // guards what follows
	pending map[jsonrpc.ID]bool // requests that were not answered yet: true for a stream, which ends with the connection only
	calls   int                 // of pending, those that are no streams, and those whose answers are being written
	ended   bool                // in has ended

	shutting sync.Once
	why      error // set before closed is closed
}

// Connect gives the connection.
func (c *pipes) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID is empty: a pipe is one session.
func (c *pipes) SessionID() string { return "" }

// Close ends the connection.
func (c *pipes) Close() error {
	c.shut(nil)
	return nil
}

func (c *pipes) shut(why error) {
	c.shutting.Do(func() {
		c.why = why
		close(c.closed)
	})
}

func (c *pipes) cause() error {
	<-c.closed
	return c.why
}

// Read gives the next message.
func (c *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.lines:
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends one message.
func (c *pipes) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if answer, ok := m.(*jsonrpc.Response); ok {
		defer c.answered(c.forget(answer.ID))
	}
	err = c.send(data)
	if answer, ok := m.(*jsonrpc.Response); ok {
		c.answers.written(answer.Result, err == nil)
	}
	if err != nil {
		c.shut(err) // nobody hears us any more
		return err
	}
	return nil
}

// answerTime is how long calls may go on after in has ended: a script pipes its calls in and closes at once.
const answerTime = time.Minute

// asked notes a request, and says false where another one with its id is not answered yet: the library would drop the
// second without a word.
func (c *pipes) asked(r *jsonrpc.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, twice := c.pending[r.ID]; twice {
		return false
	}
	stream := r.Method == methodListen
	c.pending[r.ID] = stream
	if !stream {
		c.calls++
	}
	return true
}

// forget takes a request out whose answer is about to be written: whoever reads that may use the id again at once. It
// gives how many calls are over once the answer is written.
func (c *pipes) forget(id jsonrpc.ID) (over int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stream, pending := c.pending[id]; pending && !stream {
		over = 1
	}
	delete(c.pending, id)
	return over
}

// answered notes that answers to so many calls are written. When in has ended, the last one ends the connection.
func (c *pipes) answered(calls int) {
	c.mu.Lock()
	c.calls -= calls
	over := c.ended && c.calls == 0
	c.mu.Unlock()
	if over {
		c.shut(nil)
	}
}

// end notes that in has ended. The library cancels what is under way as soon as a read fails, so it is not told before
// the last call is answered.
func (c *pipes) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.answered(0) // none may be pending
	time.AfterFunc(answerTime, func() { c.shut(nil) })
}

func (c *pipes) send(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(line, '\n'))
	return err
}

func (c *pipes) readLines(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, whole, err := c.line(r)
		if len(bytes.TrimSpace(line)) > 0 {
			if !whole {
				c.refuse(tooLarge(int64(c.limit), line))
			} else if m := c.decode(line); m != nil {
				if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !c.asked(r) {
					c.refuse(malformed("another request with this id is not answered yet"))
					continue
				}
				select {
				case c.lines <- m:
				case <-c.closed:
					return
				}
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				c.end()
			} else {
				c.shut(err)
			}
			return
		}
	}
}

// line reads to the next line feed. whole is false for a line over the limit, of which the front is given and the rest
// was dropped.
func (c *pipes) line(r *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if room := c.limit - len(line); len(part) > room {
			part, whole = part[:room], false
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// decode gives a line's message, or answers it and gives nil.
func (c *pipes) decode(line []byte) jsonrpc.Message {
	messages, batch, refused := inspect(line)
	switch {
	case refused != nil:
		c.refuse(refused)
		return nil
	case batch:
		c.refuse(malformed("batches are not served over stdio; send one message a line"))
		return nil
	}
	m := messages[0]
	if m.method == "" && c.taken(line) {
		return nil
	}
	if m.method != "" && !c.served[m.method] {
		if m.isCall() {
			c.refuse(&refusal{code: jsonrpc.CodeMethodNotFound, word: "not_found", text: "method " + printable(m.method, 80) + " is not served here", id: m.id})
		}
		return nil
	}
	out, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		c.refuse(malformed("the message cannot be read"))
		return nil
	}
	return out
}

func (c *pipes) refuse(f *refusal) {
	data, err := json.Marshal(f.wire(""))
	if err != nil { // strings and numbers only: cannot be
		return
	}
	if err := c.send(data); err != nil {
		c.shut(err)
	}
}
