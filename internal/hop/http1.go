package hop

// HTTP/1 for one request and one answer (RFC 9112), with two readings of its own: an unusable Content-Length is
// ignored as browsers ignore it, and a body that ends with its connection is whole only if the end was said aloud.

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/weburl"
)

// exchangeHTTP1 writes the request and reads the head of the answer.
func (t *Transport) exchangeHTTP1(conn net.Conn, u *weburl.URL, header []field) (*Answer, error) {
	target := target(u)
	proxied := t.Proxy != nil && u.Scheme() == "http" // what is in a tunnel the proxy does not answer
	if proxied {
		target = "http://" + authority(u) + target
		header = append(header, proxyCredentials(t.Proxy)...)
	}
	if err := writeRequest(conn, http.MethodGet, target, authority(u), header); err != nil {
		return nil, err
	}
	r := newHeadReader(conn)
	head, err := r.readFinal()
	if err != nil {
		return nil, err
	}
	if head.status == http.StatusProxyAuthRequired && proxied {
		return nil, t.unauthorized()
	}
	return head.frame(r.buffered, conn)
}

// writeRequest writes a request without body, in one piece. Whatever could end a line early is refused: the parts come
// from canonical URLs and checked options, so nothing real is lost.
func writeRequest(w io.Writer, method, target, host string, header []field) error {
	parts := []string{target, host}
	for _, f := range header {
		parts = append(parts, f.value)
	}
	for i, part := range parts {
		for _, b := range []byte(part) {
			if b < ' ' || b > '~' || b == ' ' && i < 2 {
				return BadRequest
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, host)
	for _, f := range header {
		fmt.Fprintf(&b, "%s: %s\r\n", f.name, f.value)
	}
	b.WriteString("\r\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// headReader reads heads within maxHeaderBytes; what follows them is in buffered, without bound.
type headReader struct {
	limit    *io.LimitedReader
	buffered *bufio.Reader
}

func newHeadReader(r io.Reader) *headReader {
	limit := &io.LimitedReader{R: r, N: maxHeaderBytes}
	return &headReader{limit, bufio.NewReader(limit)}
}

// head is a status line with its header fields.
type head struct {
	status int
	minor  int // of HTTP/1.x
	header http.Header
}

// readFinal passes over the interim answers; 101 is final, since nothing of HTTP follows it.
func (r *headReader) readFinal() (head, error) {
	for range maxInterim + 1 {
		h, err := r.read()
		if err != nil {
			if r.limit.N <= 0 {
				return h, LargeHeaders
			}
			return h, err
		}
		if h.status >= 200 || h.status == http.StatusSwitchingProtocols {
			r.limit.N = math.MaxInt64
			return h, nil
		}
	}
	return head{}, ManyInterim
}

func (r *headReader) read() (head, error) {
	lines := textproto.NewReader(r.buffered)
	line, err := lines.ReadLine()
	if err != nil {
		return head{}, cutShort(err)
	}
	version, rest, _ := strings.Cut(line, " ")
	major, minor, ok := http.ParseHTTPVersion(version)
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err := strconv.ParseUint(code, 10, 16)
	if !ok || major != 1 || err != nil || len(code) != 3 || status < 100 {
		return head{}, NotHTTP
	}
	header, err := lines.ReadMIMEHeader()
	if err != nil {
		if _, ok := errors.AsType[textproto.ProtocolError](err); ok {
			return head{}, NotHTTP
		}
		return head{}, cutShort(err)
	}
	return head{int(status), minor, http.Header(header)}, nil
}

// frame says where the body ends (RFC 9112 section 6.3).
func (h head) frame(r *bufio.Reader, conn net.Conn) (*Answer, error) {
	a := &Answer{Status: h.status, Header: h.header, Length: -1, Body: http.NoBody}
	codings := h.header.Values("Transfer-Encoding")
	chunked := h.minor > 0 && len(codings) > 0
	if chunked && (len(codings) > 1 || !strings.EqualFold(strings.TrimSpace(codings[0]), "chunked")) {
		return nil, UnclearEnd
	}
	if !chunked {
		var err error
		if a.Length, err = declaredLength(h.header.Values("Content-Length")); err != nil {
			return nil, err
		}
	}
	switch {
	case h.status < 200 || h.status == http.StatusNoContent || h.status == http.StatusNotModified:
	case chunked:
		a.Body = httputil.NewChunkedReader(r)
	case a.Length >= 0:
		a.Body = &exactReader{r, a.Length}
	default:
		a.Body = r
		if tc, ok := conn.(*tls.Conn); ok {
			a.Body = &untilGoodbye{r, tc.NetConn().(*watchedConn)}
		}
	}
	return a, nil
}

// declaredLength is -1 where nothing usable is declared. Two different lengths are an error: one of them is a lie.
func declaredLength(values []string) (int64, error) {
	length := int64(-1)
	for value := range strings.SplitSeq(strings.Join(values, ","), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 63)
		if err != nil {
			return -1, nil
		}
		if length >= 0 && int64(n) != length {
			return -1, UnclearEnd
		}
		length = int64(n)
	}
	return length, nil
}

// exactReader reads left bytes and no more; an earlier end is an error.
type exactReader struct {
	r    io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if e.left > 0 {
		err = cutShort(err)
	}
	return n, err
}

// untilGoodbye reads a body that ends with its TLS connection, where an end without close_notify is a cut.
type untilGoodbye struct {
	r    io.Reader
	conn *watchedConn
}

func (u *untilGoodbye) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if errors.Is(err, io.EOF) && u.conn.ended {
		err = Cut
	}
	return n, err
}

// cutShort names an end that came too early.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Cut
	}
	return err
}
