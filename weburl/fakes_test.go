package weburl_test

// A resolver, a network and a listener to dial in tests. Sockets are on loopback only.

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

// fakeResolver answers each look-up of a name with the next of its answers, the last one again and again.
type fakeResolver struct {
	mu      sync.Mutex // guards the rest
	answers map[string][][]netip.Addr
	asked   []string
}

// resolves makes a resolver of names and one answer each, addresses with blanks between them.
func resolves(answers map[string]string) *fakeResolver {
	r := &fakeResolver{answers: map[string][][]netip.Addr{}}
	for name, addrs := range answers {
		r.then(name, addrs)
	}
	return r
}

func (r *fakeResolver) then(name, addrs string) *fakeResolver {
	r.answers[name] = append(r.answers[name], parseAddrs(addrs))
	return r
}

func (r *fakeResolver) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, host)
	left := r.answers[host]
	if len(left) == 0 || network != "ip" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(left) > 1 {
		r.answers[host] = left[1:]
	}
	return left[0], nil
}

func (r *fakeResolver) lookups() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.asked...)
}

// fakeNetwork takes the place of the system's sockets. It remembers what was dialled, and answers a connection from
// the address, unless connect says otherwise.
type fakeNetwork struct {
	mu      sync.Mutex // guards the rest
	dialled []string
	open    atomic.Int32 // connections that were not closed
	connect func(ctx context.Context, address string) (remote string, err error)
}

func (n *fakeNetwork) Connect(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialled = append(n.dialled, address)
	n.mu.Unlock()
	remote := address
	if n.connect != nil {
		var err error
		if remote, err = n.connect(ctx, address); err != nil {
			return nil, err
		}
	}
	ours, theirs := net.Pipe()
	n.open.Add(1)
	return &fakeConn{Conn: ours, theirs: theirs, remote: remote, closed: func() { n.open.Add(-1) }}, nil
}

func (n *fakeNetwork) dials() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.dialled...)
}

type fakeConn struct {
	net.Conn
	theirs net.Conn
	remote string
	once   sync.Once
	closed func()
}

func (c *fakeConn) RemoteAddr() net.Addr { return fakeAddr(c.remote) }

func (c *fakeConn) Close() error {
	c.once.Do(c.closed)
	return errors.Join(c.Conn.Close(), c.theirs.Close())
}

type fakeAddr string

func (fakeAddr) Network() string  { return "tcp" }
func (a fakeAddr) String() string { return string(a) }

// listener accepts and counts connections on a real socket.
type listener struct {
	net.Listener
	accepted atomic.Int32
}

func listen(t *testing.T, address string) *listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	counted := &listener{Listener: l}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			counted.accepted.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return counted
}

func (l *listener) addr() netip.AddrPort { return netip.MustParseAddrPort(l.Addr().String()) }

func (l *listener) at(host string) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return net.JoinHostPort(host, port)
}

// settled is the number of accepted connections once a probe of our own was accepted after them.
func (l *listener) settled(t *testing.T) int32 {
	t.Helper()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	probe, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	probe.Read(make([]byte, 1)) // until the listener closes it
	return l.accepted.Load() - 1
}

// noInterfaces is a machine with loopback only.
func noInterfaces() ([]netip.Prefix, error) {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128")}, nil
}

// fakeDialer has no real part: names from the resolver, connections from the network.
func fakeDialer(p *weburl.Policy, r *fakeResolver, n *fakeNetwork) *weburl.Dialer {
	return &weburl.Dialer{Policy: p, Resolver: r, Interfaces: noInterfaces, Connect: n.Connect}
}

// parseAddrs reads addresses with blanks between them.
func parseAddrs(s string) (addrs []netip.Addr) {
	for _, a := range fields(s) {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs
}
