package webfetch

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/testsite"
)

// the codes that a fetch may fail with; there are no others.
var everyCode = []Code{CodeInvalidInput, CodeDisallowedURL, CodeDisallowedRedirect, CodeTooManyRedirects, CodeTimeout, CodeTooLarge,
	CodeUnsupportedContentType, CodeHTTPError, CodeBlocked, CodeConversionFailed, CodeUnavailable}

// FuzzResponse answers a fetch with any bytes. There is a page or one of the eleven codes, in time.
func FuzzResponse(f *testing.F) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
	for _, seed := range []string{
		head + "Content-Length: 5\r\n\r\nhello",
		head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		head + "Content-Encoding: gzip\r\n\r\n" + testsite.Encode("<p>hello", "gzip"),
		head + "Content-Encoding: br, zstd\r\n\r\n" + testsite.Encode("<p>hello", "br, zstd"),
		head + "\r\n<title>x</title><table><tr><td>a<td>b</table>",
		"HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\n",
		"HTTP/1.1 103 Early\r\n\r\nHTTP/1.0 404 Not Found\r\nContent-Type: application/json\r\n\r\n{\"a\":[1,2]}",
		"HTTP/1.1 403 No\r\nCf-Mitigated: challenge\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: text/markdown; charset=utf-16\r\n\r\n\xff\xfe#\x00 \x00x\x00",
		"HTTP/1.1 200 OK\r\n\r\n\x89PNG\r\n\x1a\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, wire []byte, raw bool) {
		fetcher := (&world{}).fetcher(t, Options{Timeout: new(10 * time.Second), MaxBodyBytes: new(int64(1 << 16))})
		fetcher.transport.(*hop.Transport).Dial = func(context.Context, string, string) (net.Conn, error) { return canned(wire), nil }
		format := FormatAuto
		if raw {
			format = FormatRaw
		}
		page, err := fetcher.Fetch(t.Context(), Request{URL: "http://site.test/", Format: format})
		if err == nil {
			if page.TotalChars != utf8.RuneCountInString(page.Content) || !utf8.ValidString(page.Content) || page.Redirects == nil || page.Via == "" {
				t.Errorf("page %+v", page)
			}
			return
		}
		e, ok := err.(*Error)
		if !ok || !slices.Contains(everyCode, e.Code) || e.Code == CodeTimeout || e.Message == "" || e.Code == CodeInvalidInput {
			t.Errorf("error %v", err)
		}
	})
}

// canned is a server that takes everything and sends wire.
func canned(wire []byte) net.Conn {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		go io.Copy(io.Discard, server)
		server.Write(wire)
	}()
	return client
}

// FuzzHTTP2Response does the same above TLS, where the peer speaks frames.
func FuzzHTTP2Response(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88"))
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	authority := testsite.NewAuthority(f)
	config := authority.Config([]string{"site.test"}, testsite.Current, "h2")
	f.Fuzz(func(t *testing.T, wire []byte) {
		fetcher := (&world{}).fetcher(t, Options{Timeout: new(10 * time.Second), MaxBodyBytes: new(int64(1 << 16)), RootCAs: authority.Pool})
		fetcher.transport.(*hop.Transport).Dial = func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				defer server.Close()
				conn := tls.Server(server, config)
				if conn.Handshake() != nil {
					return
				}
				go io.Copy(io.Discard, conn)
				conn.Write(wire)
			}()
			return client, nil
		}
		_, err := fetcher.Fetch(t.Context(), Request{URL: "https://site.test/"})
		if e, ok := err.(*Error); err != nil && (!ok || !slices.Contains(everyCode, e.Code) || e.Code == CodeTimeout) {
			t.Errorf("error %v", err)
		}
	})
}
