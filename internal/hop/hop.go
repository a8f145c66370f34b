// Package hop sends one GET over a connection of its own and reads the answer, from peers that may be broken or hostile.
//
// The rule: a hop writes its request exactly once. net/http's Transport sends again when a kept connection turns out
// stale, or when an HTTP/2 peer says GOAWAY, which a hostile peer can say for ever; and on a kept connection, bytes
// behind one body can become the next answer. So there is no pool here: a connection is made for a hop, carries its one
// request, and is closed.
package hop

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/weburl"
)

// protocolHTTP2 is the name of HTTP/2 in TLS.
const protocolHTTP2 = "h2"

const (
	// maxHeaderBytes bounds all header fields of an answer together with those of the interim answers before it.
	// 256 KiB is what browsers take.
	maxHeaderBytes = 256 << 10
	// maxInterim bounds the 1xx answers before the real one: a server has no use for more than a few.
	maxInterim = 20
)

// Transport makes hops. It keeps nothing between them and is safe for concurrent use.
type Transport struct {
	// Dial connects to "host:port", where the host is as it was judged. It judges what a name resolves to.
	Dial      func(ctx context.Context, network, address string) (net.Conn, error)
	TLS       *tls.Config // server name and protocols are set for each hop
	Proxy     *url.URL    // http or https; nil: no proxy
	UserAgent string      // printable ASCII
}

// Answer is the response to a GET: its body is framed but not decoded.
type Answer struct {
	Status int
	Header http.Header
	Length int64 // what Content-Length declares, -1 if nothing usable
	Body   io.Reader
	Close  func() // ends the hop; the body cannot be read afterwards
}

// Fault is a fault of the other side, said in our words: a part of a sentence.
type Fault string

func (e Fault) Error() string { return string(e) }

// The faults that a peer can show us.
const (
	Cut          = Fault("the answer was cut short")
	LargeHeaders = Fault("the headers of the answer are too large")
	ManyInterim  = Fault("too many interim answers came before the real one")
	NotHTTP      = Fault("the answer is not HTTP")
	UnclearEnd   = Fault("the answer does not say clearly where its body ends")
	Switched     = Fault("the server changed the protocol without being asked")
	ProxyGone    = Fault("the egress proxy cannot be reached")
	ProxyBare    = Fault("the egress proxy asks for credentials, and none are set for it")
	ProxyAuth    = Fault("the egress proxy does not accept the credentials that are set for it")
	ProxyRefused = Fault("the egress proxy refuses to connect to this host")
	ProxyFailed  = Fault("the egress proxy could not connect to the host")
	ProxyUnclear = Fault("the egress proxy does not answer as a proxy does")
	BadRequest   = Fault("the address cannot be written into a request")
	IdleFrames   = Fault("the server sends messages that bring nothing, without end")
)

// lasting is a fault of the egress proxy that stays, however often one asks, until a person changes something: a setting
// here, or at the proxy.
type lasting struct{ Fault }

func (e lasting) Unwrap() error { return e.Fault }

// Lasting says that asking again brings the same fault until a person changes something.
func Lasting(err error) bool {
	_, ok := errors.AsType[lasting](err)
	return ok
}

// Condition asks for a page only if it is not the one that the asker has. The zero value is none. Its values are field
// values that the site itself gave: printable ASCII.
type Condition struct {
	NoneMatch     string // an entity tag
	ModifiedSince string // a date of HTTP
}

// Get sends the one request of a hop. It returns when the headers of the real answer are there. The error may hold a
// *weburl.Error, where the name resolves to a refused address, or a Fault.
func (t *Transport) Get(ctx context.Context, u *weburl.URL, accept string) (*Answer, error) {
	return t.GetIf(ctx, u, accept, Condition{})
}

// GetIf is Get with a condition.
func (t *Transport) GetIf(ctx context.Context, u *weburl.URL, accept string, c Condition) (*Answer, error) {
	conn, err := t.connect(ctx, u)
	if err != nil {
		return nil, err
	}
	// Closing is what ends a read or write that waits for a slow peer.
	unhook := context.AfterFunc(ctx, func() { conn.Close() })
	hangUp := func() {
		unhook()
		conn.Close()
	}
	header := t.header(accept, c)
	var a *Answer
	if tc, ok := conn.(*tls.Conn); ok && tc.ConnectionState().NegotiatedProtocol == protocolHTTP2 {
		a, err = exchangeHTTP2(ctx, tc, u, header)
	} else {
		a, err = t.exchangeHTTP1(conn, u, header)
	}
	if err == nil && a.Status < 200 {
		err = Switched // only 101 gets here: the other interim answers were passed over
	}
	if err != nil {
		hangUp()
		return nil, err
	}
	if end := a.Close; end != nil {
		a.Close = func() { end(); hangUp() }
	} else {
		a.Close = hangUp
	}
	return a, nil
}

// field is one header field. They are a list and not a map, so that every request looks the same.
type field struct{ name, value string }

// header is the whole set: no cookie, credential or Referer is ever sent, on no hop, and no condition but the asker's.
func (t *Transport) header(accept string, c Condition) []field {
	set := []field{
		{"User-Agent", t.UserAgent},
		{"Accept", accept},
		{"Accept-Language", "en"},
		{"Accept-Encoding", "gzip, br, zstd"},
	}
	if c.NoneMatch != "" {
		set = append(set, field{"If-None-Match", c.NoneMatch})
	}
	if c.ModifiedSince != "" {
		set = append(set, field{"If-Modified-Since", c.ModifiedSince})
	}
	return set
}

// connect gives a *tls.Conn for https, else the plain connection.
func (t *Transport) connect(ctx context.Context, u *weburl.URL) (net.Conn, error) {
	address := dialAddress(u)
	var conn net.Conn
	var err error
	if t.Proxy == nil {
		conn, err = t.Dial(ctx, "tcp", address)
	} else {
		conn, err = t.connectProxy(ctx, u.Scheme() == "https", address)
	}
	if err != nil || u.Scheme() == "http" {
		return conn, err
	}
	return t.handshake(ctx, conn, strings.Trim(u.Host(), "[]"), []string{protocolHTTP2, "http/1.1"})
}

// dialAddress is "host:port". Only the look-up sees a trailing dot, where it means that no search list is to be tried.
func dialAddress(u *weburl.URL) string {
	return net.JoinHostPort(u.HTTP().Hostname(), strconv.Itoa(int(u.Port())))
}

// handshake starts TLS with the host that was judged as the server's name.
func (t *Transport) handshake(ctx context.Context, conn net.Conn, host string, protocols []string) (net.Conn, error) {
	config := t.TLS.Clone()
	config.ServerName = host
	config.NextProtos = protocols
	tc := tls.Client(&watchedConn{Conn: conn}, config)
	if err := tc.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return tc, nil
}

// watchedConn remembers that the connection below TLS ended. crypto/tls reports the same io.EOF whether the peer said
// goodbye (close_notify) or was cut off between two records; only the former leaves this false.
type watchedConn struct {
	net.Conn
	ended bool
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		c.ended = true
	}
	return n, err
}

// exchangeHTTP2 sends the request on a connection of its own. ClientConn.RoundTrip, unlike Transport's, never sends
// again.
func exchangeHTTP2(ctx context.Context, conn *tls.Conn, u *weburl.URL, header []field) (*Answer, error) {
	// The connection is there: it was judged, and its handshake chose the protocol. It has TLS below the filter, so that
	// net/http sees none.
	only := new(http.Protocols)
	only.SetUnencryptedHTTP2(true)
	h2 := &http.Transport{
		DialTLSContext:         func(context.Context, string, string) (net.Conn, error) { return filterFrames(conn), nil },
		Protocols:              only,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	cc, err := h2.NewClientConn(ctx, u.Scheme(), dialAddress(u))
	if err != nil {
		return nil, err
	}
	req := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: u.Scheme(), Host: authority(u), Opaque: "//" + authority(u) + target(u)}, // verbatim
		Host:   authority(u),
		Header: http.Header{},
	}
	for _, f := range header {
		req.Header.Set(f.name, f.value)
	}
	res, err := cc.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cc.Close()
		return nil, err
	}
	return &Answer{Status: res.StatusCode, Header: res.Header, Length: res.ContentLength, Body: res.Body,
		Close: func() { res.Body.Close(); cc.Close() }}, nil
}

// authority is what stands in Host: the judged host, and the port unless it is the scheme's own.
func authority(u *weburl.URL) string {
	if u.Scheme() == "http" && u.Port() == 80 || u.Scheme() == "https" && u.Port() == 443 {
		return u.Host()
	}
	return u.Host() + ":" + strconv.Itoa(int(u.Port()))
}

// target is path and query, byte for byte as they were judged.
func target(u *weburl.URL) string {
	rest := strings.TrimPrefix(u.String(), u.Scheme()+"://")
	return rest[strings.IndexByte(rest, '/'):] // a canonical URL always has a path
}
