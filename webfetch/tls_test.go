package webfetch

// TLS and HTTP/2 as hostile peers speak them.

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/testsite"
)

const wholePlain = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello"

func TestTM015CertificatesAreChecked(t *testing.T) {
	testsite.LeavesNothing(t)
	known, unknown := testsite.NewAuthority(t), testsite.NewAuthority(t)
	own := known.Config([]string{"site.test"}, testsite.Current)
	old := known.Config([]string{"site.test"}, testsite.Current)
	old.MaxVersion = tls.VersionTLS11
	for name, c := range map[string]struct {
		config *tls.Config
		roots  *x509.CertPool
		reason string
	}{
		"expired":               {known.Config([]string{"site.test"}, testsite.Expired), known.Pool, "its certificate is not valid at this time"},
		"not yet valid":         {known.Config([]string{"site.test"}, testsite.Future), known.Pool, "its certificate is not valid at this time"},
		"for another name":      {known.Config([]string{"other.test"}, testsite.Current), known.Pool, "its certificate is for another name"},
		"for a name below":      {known.Config([]string{"*.site.test"}, testsite.Current), known.Pool, "its certificate is for another name"},
		"of a strange maker":    {unknown.Config([]string{"site.test"}, testsite.Current), known.Pool, "its certificate is from an authority that is not trusted here"},
		"trusted by nobody":     {own, nil, "its certificate is from an authority that is not trusted here"},
		"in an old TLS version": {old, known.Pool, "the connection failed"},
	} {
		t.Run(name, func(t *testing.T) {
			site := testsite.ServeTLS(t, c.config, testsite.Always(testsite.Answer{Body: "secret"}))
			_, err := tlsWorld(site).fetcher(t, Options{RootCAs: c.roots}).Fetch(t.Context(), Request{URL: "https://site.test/"})
			if e := wantCode(t, err, CodeUnavailable); e.Reason != c.reason {
				t.Errorf("reason %q, want %q (%v)", e.Reason, c.reason, e.Cause)
			}
			if n := len(site.Requests()); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

func TestCertificateOfAnAddress(t *testing.T) {
	authority := testsite.NewAuthority(t)
	for _, c := range []struct{ listen, url string }{{"127.0.0.1:0", "https://127.0.0.1:8443/"}, {"[::1]:0", "https://[::1]:8443/"}} {
		host := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(c.url, "https://"), ":8443/"), "[]")
		site := testsite.ServeTLS(t, authority.Config([]string{host}, testsite.Current), testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "hello"}))
		w := &world{sites: map[string]string{strings.TrimSuffix(strings.TrimPrefix(c.url, "https://"), "/"): site.Addr}}
		page, err := w.fetcher(t, private(Options{RootCAs: authority.Pool})).Fetch(t.Context(), Request{URL: c.url})
		if err != nil || page.Content != "hello" {
			t.Errorf("%s: page %+v, error %v", c.url, page, err)
		}
	}
}

// crypto/tls takes an end of the connection between two records for an end of the stream, as if the peer had said so.
func TestTLSBodyWithoutGoodbyeIsCut(t *testing.T) {
	authority := testsite.NewAuthority(t)
	config := authority.Config([]string{"site.test"}, testsite.Current)
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	for name, c := range map[string]struct {
		wire  string
		cut   bool
		whole bool
	}{
		"no length, cut":                 {head + "\r\nhello", true, false},
		"no length, said goodbye":        {head + "\r\nhello", false, true},
		"no body at all, cut":            {head + "\r\n", true, false},
		"HTTP/1.0, cut":                  {"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello", true, false},
		"length, cut":                    {head + "Content-Length: 5\r\n\r\nhello", true, true},
		"chunks, cut":                    {head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true, true},
		"unusable length, cut":           {head + "Content-Length: five\r\n\r\nhello", true, false},
		"gzip that is whole by itself":   {head + "Content-Encoding: gzip\r\n\r\n" + testsite.Encode("hello", "gzip"), true, false},
		"chunks without their end, cut":  {head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", true, false},
		"chunks without end, goodbye":    {head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false, false},
		"shorter than length, a goodbye": {head + "Content-Length: 50\r\n\r\nhello", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			site := testsite.ServeTLS(t, config, testsite.Once(func(conn *testsite.Conn) {
				conn.Send(c.wire)
				if c.cut {
					conn.Cut()
				} else {
					conn.Close()
				}
			}))
			page, err := tlsWorld(site).fetcher(t, Options{RootCAs: authority.Pool}).Fetch(t.Context(), Request{URL: "https://site.test/"})
			if !c.whole {
				if e := wantCode(t, err, CodeUnavailable); e.Reason != string(hop.Cut) {
					t.Errorf("reason %q", e.Reason)
				}
				return
			}
			if err != nil || page.Content != "hello" {
				t.Errorf("page %+v, error %v", page, err)
			}
		})
	}
}

func TestBrokenTLSIsUnavailable(t *testing.T) {
	testsite.LeavesNothing(t)
	for _, fault := range []testsite.Fault{
		{Name: "closed at once", Script: func(*testsite.Conn) {}},
		{Name: "reset at once", Script: (*testsite.Conn).Reset},
		{Name: "plain HTTP", Script: func(c *testsite.Conn) { c.Send("HTTP/1.1 400 Bad Request\r\n\r\n") }},
		{Name: "an alert", Script: func(c *testsite.Conn) { c.Send("\x15\x03\x01\x00\x02\x02\x28") }},
		{Name: "garbage", Script: func(c *testsite.Conn) { testsite.Pour(c, "\x16\x03\x01\x40\x00garbage") }},
	} {
		t.Run(fault.Name, func(t *testing.T) {
			site := testsite.Serve(t, fault.Script)
			_, err := tlsWorld(site).fetcher(t, Options{}).Fetch(t.Context(), Request{URL: "https://site.test/"})
			wantCode(t, err, CodeUnavailable)
			if site.Accepted() != 1 {
				t.Errorf("%d connections were made", site.Accepted())
			}
		})
	}
	site := testsite.Serve(t, testsite.Hold)
	ends(t, func() {
		_, err := tlsWorld(site).fetcher(t, Options{Timeout: new(100 * time.Millisecond)}).Fetch(t.Context(), Request{URL: "https://site.test/"})
		wantCode(t, err, CodeTimeout)
	})
}

// http2Site serves HTTP/2 with a trusted certificate.
func http2Site(t testing.TB, script func(*testsite.HTTP2)) (*testsite.Site, Options) {
	t.Helper()
	authority := testsite.NewAuthority(t)
	site := testsite.ServeTLS(t, authority.Config([]string{"site.test"}, testsite.Current, "h2"), testsite.ServeHTTP2(script))
	return site, Options{RootCAs: authority.Pool}
}

func TestHTTP2IsSpoken(t *testing.T) {
	testsite.LeavesNothing(t)
	site, opts := http2Site(t, func(h *testsite.HTTP2) { h.Text(h.Request(), "hello") })
	page, err := tlsWorld(site).fetcher(t, opts).Fetch(t.Context(), Request{URL: "https://site.test//a%zz|b?q=%20|"})
	if err != nil || page.Content != "hello" {
		t.Fatalf("page %+v, error %v", page, err)
	}
	want := ":authority: site.test\n:method: GET\n:path: //a%zz|b?q=%20|\n:scheme: https\nuser-agent: " + DefaultUserAgent +
		"\naccept: " + acceptAuto + "\naccept-language: en\naccept-encoding: gzip, br, zstd\n"
	if got := site.Requests()[0].Raw; sortedLines(got) != sortedLines(want) {
		t.Errorf("request\n%s\nwant\n%s", got, want)
	}
}

func TestHTTP2BodiesAreDecodedAndBounded(t *testing.T) {
	bomb := testsite.Bomb("gzip")
	site, opts := http2Site(t, func(h *testsite.HTTP2) {
		s := h.Request()
		h.Headers(s, false, ":status", "200", "content-type", "text/plain", "content-encoding", "gzip")
		for len(bomb) > 0 {
			n := min(len(bomb), 16<<10)
			if h.Frames.WriteData(s, n == len(bomb), []byte(bomb[:n])) != nil {
				return
			}
			bomb = bomb[n:]
		}
		h.Request()
	})
	f := tlsWorld(site).fetcher(t, opts)
	var err error
	grown := testsite.HeapGrowth(func() { _, err = f.Fetch(t.Context(), Request{URL: "https://site.test/"}) })
	wantCode(t, err, CodeTooLarge)
	if grown > bombGrowth {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// An HTTP/2 peer can say that it did not see a request, and a client that believes it sends again, for ever.
func TestHTTP2FaultsCostOneRequest(t *testing.T) {
	for _, fault := range testsite.BrokenHTTP2() {
		t.Run(fault.Name, func(t *testing.T) {
			testsite.LeavesNothing(t)
			site, opts := http2Site(t, fault.Script)
			f := tlsWorld(site).fetcher(t, opts)
			var err error
			var grown int64
			ends(t, func() {
				grown = testsite.HeapGrowth(func() { _, err = f.Fetch(t.Context(), Request{URL: "https://site.test/"}) })
			})
			wantCode(t, err, CodeUnavailable)
			if site.Accepted() != 1 || len(site.Requests()) > 1 {
				t.Errorf("%d connections, %d requests; want one at most", site.Accepted(), len(site.Requests()))
			}
			if grown > bombGrowth {
				t.Errorf("the heap grew by %d bytes", grown)
			}
		})
	}
}

func TestHTTP2StallsEndAtTheDeadline(t *testing.T) {
	for _, fault := range testsite.StalledHTTP2() {
		t.Run(fault.Name, func(t *testing.T) {
			testsite.LeavesNothing(t)
			site, opts := http2Site(t, fault.Script)
			opts.Timeout = new(200 * time.Millisecond)
			f := tlsWorld(site).fetcher(t, opts)
			ends(t, func() {
				var err error
				grown := testsite.HeapGrowth(func() { _, err = f.Fetch(t.Context(), Request{URL: "https://site.test/"}) })
				wantCode(t, err, CodeTimeout)
				if grown > bombGrowth {
					t.Errorf("the heap grew by %d bytes", grown)
				}
			})
			if len(site.Requests()) > 1 {
				t.Errorf("%d requests", len(site.Requests()))
			}
		})
	}
}
