// Package testsite plays the web in tests: real servers on loopback that answer, and servers that misbehave in every
// way that a hostile or broken site can. Scripts see the raw connection, so that no library mends what they send.
//
// The rule: a site belongs to its test. When the test ends the listener and every connection are closed and every
// goroutine of the site has ended; a script that waits does so on [Conn.Gone] and never by sleeping.
package testsite

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Site is a server on loopback that runs one script for each connection.
type Site struct {
	// URL is the site's address without a path: http://127.0.0.1:PORT, or https for TLS.
	URL string
	// Addr is host:port of the listener.
	Addr string

	listener net.Listener
	running  sync.WaitGroup

	mu       sync.Mutex // guards what follows
	closed   bool
	open     map[*Conn]bool
	accepted int
	requests []Request
}

// Request is one request as it came.
type Request struct {
	Raw    string // request line and header fields, with the empty line
	Method string
	Target string
	Header http.Header
}

// Serve starts a site on an IPv4 loopback port.
func Serve(t testing.TB, script func(*Conn)) *Site {
	t.Helper()
	return start(t, "127.0.0.1:0", nil, script)
}

// ServeOn starts a site on an address such as "[::1]:0".
func ServeOn(t testing.TB, address string, script func(*Conn)) *Site {
	t.Helper()
	return start(t, address, nil, script)
}

// ServeTLS starts a site that speaks TLS as config says. Scripts run when the handshake is done.
func ServeTLS(t testing.TB, config *tls.Config, script func(*Conn)) *Site {
	t.Helper()
	return start(t, "127.0.0.1:0", config, script)
}

func start(t testing.TB, address string, config *tls.Config, script func(*Conn)) *Site {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("listen on %s: %v", address, err)
	}
	s := &Site{Addr: listener.Addr().String(), listener: listener, open: map[*Conn]bool{}}
	s.URL = "http://" + s.Addr
	if config != nil {
		s.URL = "https://" + s.Addr
	}
	s.running.Go(func() { s.accept(config, script) })
	t.Cleanup(s.Close)
	return s
}

// Close ends the site and waits for its scripts. It may be called more than once.
func (s *Site) Close() {
	s.listener.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		c.raw.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Accepted is how many connections were made.
func (s *Site) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Requests are the requests that scripts have read, in order.
func (s *Site) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

func (s *Site) accept(config *tls.Config, script func(*Conn)) {
	for {
		raw, err := s.listener.Accept()
		if err != nil {
			return
		}
		c := &Conn{Conn: raw, raw: raw, site: s, gone: make(chan struct{})}
		if !s.admit(c) {
			raw.Close()
			return
		}
		s.running.Go(func() {
			defer s.dismiss(c)
			if config != nil {
				tc := tls.Server(raw, config)
				if tc.Handshake() != nil {
					return
				}
				c.Conn = tc
			}
			c.reader = bufio.NewReader(c.Conn)
			script(c)
		})
	}
}

func (s *Site) admit(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted++
	s.open[c] = true
	return !s.closed
}

func (s *Site) dismiss(c *Conn) {
	c.raw.Close()
	if c.watching {
		<-c.gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// Conn is one connection of a client. Its script's return closes it.
type Conn struct {
	net.Conn // what the script speaks on: TLS where the site does
	raw      net.Conn
	site     *Site
	reader   *bufio.Reader
	gone     chan struct{}
	watching bool
}

// Request reads one request head; nil if the client sends none. The site remembers it. It is read by hand, so that a
// request that no library would take is seen as it is.
func (c *Conn) Request() *Request {
	r := Request{Header: http.Header{}}
	for first := true; ; first = false {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			return nil
		}
		r.Raw += line
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if first {
			r.Method, r.Target, _ = strings.Cut(line, " ")
			r.Target, _, _ = strings.Cut(r.Target, " ")
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		r.Header.Add(name, strings.TrimSpace(value))
	}
	c.site.mu.Lock()
	defer c.site.mu.Unlock()
	c.site.requests = append(c.site.requests, r)
	return &r
}

// Buffered reads what the client sends after what was read already.
func (c *Conn) Buffered() io.Reader { return c.reader }

// Send writes the parts, one write each. It reports whether the client still took them.
func (c *Conn) Send(parts ...string) bool {
	for _, part := range parts {
		if _, err := io.WriteString(c, part); err != nil {
			return false
		}
	}
	return true
}

// Gone is closed when the client has closed the connection. From then on the script may not read.
func (c *Conn) Gone() <-chan struct{} {
	if !c.watching {
		c.watching = true
		go func() {
			defer close(c.gone)
			io.Copy(io.Discard, c.reader)
		}()
	}
	return c.gone
}

// Reset ends the connection with a TCP reset.
func (c *Conn) Reset() {
	if tcp, ok := c.raw.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.raw.Close()
}

// Cut ends the TCP connection in order, but below TLS: no close_notify is sent.
func (c *Conn) Cut() { c.raw.Close() }

// Answer is a well-formed response.
type Answer struct {
	Status int      // 0: 200
	Fields []string // "Name: value", sent as they are, in order
	Body   string   // sent with its Content-Length, unless Fields has one or a Transfer-Encoding
}

// Send writes the answer.
func (a Answer) Send(c *Conn) bool {
	return c.Send(a.String())
}

// String is the answer on the wire.
func (a Answer) String() string {
	var b strings.Builder
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	b.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	framed := status == http.StatusNoContent || status == http.StatusNotModified
	for _, f := range a.Fields {
		name, _, _ := strings.Cut(f, ":")
		framed = framed || strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding")
		b.WriteString(f + "\r\n")
	}
	if !framed {
		b.WriteString("Content-Length: " + strconv.Itoa(len(a.Body)) + "\r\n")
	}
	b.WriteString("\r\n" + a.Body)
	return b.String()
}

// Always answers every request of a connection in the same way.
func Always(a Answer) func(*Conn) {
	return Routes(func(Request) Answer { return a })
}

// Routes answers each request of a connection as decide says.
func Routes(decide func(Request) Answer) func(*Conn) {
	return func(c *Conn) {
		for {
			r := c.Request()
			if r == nil || !decide(*r).Send(c) {
				return
			}
		}
	}
}

// Once reads a request and then runs script, which has the connection to itself.
func Once(script func(*Conn)) func(*Conn) {
	return func(c *Conn) {
		if c.Request() != nil {
			script(c)
		}
	}
}

// OnRequest reads a request and gives it to script, which then has the connection to itself.
func OnRequest(script func(*Conn, Request)) func(*Conn) {
	return func(c *Conn) {
		if r := c.Request(); r != nil {
			script(c, *r)
		}
	}
}

// Unused is a loopback address on which nobody listens.
func Unused(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
