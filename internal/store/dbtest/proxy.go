// This file stands between a program and PostgreSQL and cuts the line where a test says.
package dbtest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Cut is where a connection is cut.
type Cut int

const (
	// BeforeCommit cuts when COMMIT has left the client, before it reaches the server: it never happens.
	BeforeCommit Cut = iota + 1
	// AfterCommit cuts when the server has answered COMMIT, before the client hears of it: it did happen.
	AfterCommit
)

// Proxy passes connections to a PostgreSQL database through loopback.
type Proxy struct {
	// Address is the database's address through the proxy; Password is the one in it.
	Address, Password string

	target   string
	listener net.Listener
	mu       sync.Mutex
	next     Cut
	spare    int           // commits that pass before the armed cut
	did      chan struct{} // closed when the armed cut was made
	lines    map[net.Conn]net.Conn
	stopped  bool
	refused  chan struct{} // while it refuses; closed with the first connection that it refused
	serving  sync.WaitGroup
}

// NewProxy starts a proxy before a PostgreSQL place. It ends with the test.
func NewProxy(t testing.TB, place Place) *Proxy {
	t.Helper()
	if place.Dialect != sqldb.Postgres {
		t.Fatal("only PostgreSQL is reached over a line that can be cut")
	}
	address, err := url.Parse(place.TCP)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: address.Host, listener: l, lines: map[net.Conn]net.Conn{}}
	address.Host = l.Addr().String()
	p.Address = address.String()
	p.Password, _ = address.User.Password()
	p.serving.Go(p.serve)
	t.Cleanup(p.Stop)
	return p
}

// Stop cuts all connections and takes no new ones.
func (p *Proxy) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.CutAll()
	p.serving.Wait()
}

// CutNextCommit arms the proxy for the next COMMIT of any connection. The channel is closed when the line was cut.
func (p *Proxy) CutNextCommit(where Cut) <-chan struct{} { return p.CutCommit(where, 0) }

// CutCommit is CutNextCommit for one after so many others.
func (p *Proxy) CutCommit(where Cut, others int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next, p.spare, p.did = where, others, make(chan struct{})
	return p.did
}

// CutAll cuts every open connection. New ones are taken.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, server := range p.lines {
		_, _ = client.Close(), server.Close()
	}
}

// Refuse cuts every connection and refuses new ones until Admit. The channel is closed when one was refused.
func (p *Proxy) Refuse() <-chan struct{} {
	p.mu.Lock()
	p.refused = make(chan struct{})
	tried := p.refused
	p.mu.Unlock()
	p.CutAll()
	return tried
}

// Admit takes connections again.
func (p *Proxy) Admit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = nil
}

// refuse says that a connection was refused.
func (p *Proxy) refuse(client net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused == nil {
		return false
	}
	select {
	case <-p.refused:
	default:
		close(p.refused)
	}
	_ = client.Close()
	return true
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.refuse(client) {
			continue
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.lines[client] = server
		if p.stopped {
			_, _ = client.Close(), server.Close()
		}
		p.mu.Unlock()
		p.serving.Go(func() { p.pass(client, server) })
	}
}

// take says how a COMMIT is to be cut, if it is, and disarms the proxy then.
func (p *Proxy) take() (where Cut, did chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next != 0 && p.spare > 0 {
		p.spare--
		return 0, nil
	}
	where, did, p.next, p.did = p.next, p.did, 0, nil
	return where, did
}

func (p *Proxy) pass(client, server net.Conn) {
	defer func() {
		_, _ = client.Close(), server.Close()
		p.mu.Lock()
		delete(p.lines, client)
		p.mu.Unlock()
	}()
	// gate holds what the server says while the answer to COMMIT is waited for.
	var gate sync.Mutex
	withheld := false
	answered := make(chan struct{})
	p.serving.Go(func() {
		buffer := make([]byte, 32<<10)
		for {
			n, err := server.Read(buffer)
			gate.Lock()
			stop := withheld
			gate.Unlock()
			if stop {
				close(answered)
				return
			}
			if n > 0 {
				if _, err := client.Write(buffer[:n]); err != nil {
					break
				}
			}
			if err != nil {
				break
			}
		}
		_, _ = client.Close(), server.Close()
	})
	first := true
	for {
		message, err := read(client, first)
		if err != nil {
			return
		}
		first = false
		if isCommit(message) {
			switch where, did := p.take(); where {
			case BeforeCommit:
				close(did)
				return
			case AfterCommit:
				gate.Lock()
				withheld = true
				gate.Unlock()
				if _, err := server.Write(message); err == nil {
					<-answered
				}
				close(did)
				return
			}
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}

// read reads one message of a client: a type of one byte, which the first has not, and a length that counts itself.
func read(client net.Conn, first bool) ([]byte, error) {
	head := make([]byte, 5)
	if first {
		head = head[:4]
	}
	if _, err := io.ReadFull(client, head); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(head[len(head)-4:]))
	if length < 4 || length > 1<<24 {
		return nil, io.ErrUnexpectedEOF
	}
	body := make([]byte, length-4)
	if _, err := io.ReadFull(client, body); err != nil {
		return nil, err
	}
	return append(head, body...), nil
}

func isCommit(message []byte) bool {
	return message[0] == 'Q' && strings.EqualFold(string(bytes.Trim(message[5:], "\x00; ")), "commit")
}
