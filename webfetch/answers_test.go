package webfetch

// Answers that are unusual and whole: what must not be taken for a fault.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/testsite"
)

// served fetches what one script serves at http://site.test/.
func served(t testing.TB, opts Options, req Request, script func(*testsite.Conn)) (*Page, error) {
	t.Helper()
	if req.URL == "" {
		req.URL = "http://site.test/"
	}
	return siteWorld(testsite.Serve(t, script)).fetcher(t, opts).Fetch(t.Context(), req)
}

// answered fetches one answer.
func answered(t testing.TB, opts Options, req Request, a testsite.Answer) (*Page, error) {
	t.Helper()
	return served(t, opts, req, testsite.Always(a))
}

func TestUnusualAnswersAreWhole(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
	for name, wire := range map[string]string{
		"length":                      head + "Content-Length: 5\r\n\r\nhello",
		"the same length twice":       head + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
		"the same length in a list":   head + "Content-Length: 5, 5\r\n\r\nhello",
		"more bytes than the length":  head + "Content-Length: 5\r\n\r\nhello, and then some",
		"a length that is no number":  head + "Content-Length: five\r\n\r\nhello",
		"a negative length":           head + "Content-Length: -5\r\n\r\nhello",
		"a length too large to be":    head + "Content-Length: 99999999999999999999999\r\n\r\nhello",
		"no length":                   head + "\r\nhello",
		"HTTP/1.0":                    "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
		"HTTP/1.0 ignores codings":    "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nhello",
		"no reason phrase":            "HTTP/1.1 200\r\nContent-Type: text/plain\r\n\r\nhello",
		"bare line feeds":             "HTTP/1.1 200 OK\nContent-Type: text/plain\n\nhello",
		"chunks":                      head + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;ext=1\r\nllo\r\n0\r\nTrailer: x\r\n\r\n",
		"chunks win over a length":    head + "Transfer-Encoding: Chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"some interim answers":        strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 20) + head + "\r\nhello",
		"large headers":               head + strings.Repeat("X-Large: "+strings.Repeat("x", 1000)+"\r\n", 200) + "\r\nhello",
		"a second answer behind":      head + "Content-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison",
		"identity":                    head + "Content-Encoding: identity\r\n\r\nhello",
		"an empty content coding":     head + "Content-Encoding:\r\n\r\nhello",
		"an upgrade that is an offer": head + "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\nhello",
	} {
		t.Run(name, func(t *testing.T) {
			page, err := served(t, Options{}, Request{}, testsite.Once(func(c *testsite.Conn) { c.Send(wire) }))
			if err != nil {
				t.Fatal(err)
			}
			if page.Content != "hello" || page.Bytes != 5 || page.Status != 200 {
				t.Errorf("content %q, %d bytes, status %d", page.Content, page.Bytes, page.Status)
			}
		})
	}
}

// The same connection could have served both: bytes behind the first body must not be the second answer.
func TestBytesBehindABodyAreNotTheNextAnswer(t *testing.T) {
	site := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
		return testsite.Answer{Fields: []string{"Content-Type: text/plain", "Content-Length: 1"},
			Body: r.Target[1:] + "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\npoison"}
	}))
	f := siteWorld(site).fetcher(t, Options{})
	for _, want := range []string{"a", "b", "c"} {
		page, err := f.Fetch(t.Context(), Request{URL: "http://site.test/" + want})
		if err != nil || page.Content != want {
			t.Fatalf("page %+v, error %v; want content %s", page, err, want)
		}
	}
	if site.Accepted() != 3 {
		t.Errorf("%d connections for 3 calls", site.Accepted())
	}
}

func TestContentCodingsAreUndone(t *testing.T) {
	body := strings.Repeat("The quick brown fox. ", 500)
	for _, coding := range []string{"gzip", "x-gzip", "GZIP", "br", "zstd", "deflate", "gzip, br", "zstd, gzip", "identity, gzip"} {
		t.Run(coding, func(t *testing.T) {
			page, err := answered(t, Options{}, Request{}, testsite.Answer{
				Fields: []string{"Content-Type: text/plain", "Content-Encoding: " + coding}, Body: testsite.Encode(body, strings.ToLower(coding))})
			if err != nil {
				t.Fatal(err)
			}
			if page.Content != body || page.Bytes != int64(len(body)) {
				t.Errorf("%d bytes, content %.60q", page.Bytes, page.Content)
			}
		})
	}
	t.Run("bare deflate", func(t *testing.T) {
		page, err := answered(t, Options{}, Request{}, testsite.Answer{
			Fields: []string{"Content-Type: text/plain", "Content-Encoding: deflate"}, Body: testsite.Encode(body, "raw-deflate")})
		if err != nil || page.Content != body {
			t.Errorf("error %v", err)
		}
	})
	t.Run("in two headers", func(t *testing.T) {
		page, err := answered(t, Options{}, Request{}, testsite.Answer{
			Fields: []string{"Content-Type: text/plain", "Content-Encoding: gzip", "Content-Encoding: br"}, Body: testsite.Encode(body, "gzip, br")})
		if err != nil || page.Content != body {
			t.Errorf("error %v", err)
		}
	})
	for name, tail := range map[string]string{"padding behind it": "\x00\x00\x00\x00", "words behind it": "<!-- cached -->", "the begin of a mark": "\x1f\x8b", "another member": testsite.Encode("more", "gzip")} {
		t.Run(name, func(t *testing.T) {
			page, err := answered(t, Options{}, Request{}, testsite.Answer{
				Fields: []string{"Content-Type: text/plain", "Content-Encoding: gzip"}, Body: testsite.Encode(body, "gzip") + tail})
			want := body
			if name == "another member" {
				want += "more"
			}
			if err != nil || page.Content != want {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("of nothing", func(t *testing.T) {
		page, err := answered(t, Options{}, Request{}, testsite.Answer{Fields: []string{"Content-Type: text/plain", "Content-Encoding: gzip"}})
		if err != nil || page.Content != "" {
			t.Errorf("page %+v, error %v", page, err)
		}
	})
}

func TestBrokenContentCodingsAreUnavailable(t *testing.T) {
	body := strings.Repeat("The quick brown fox. ", 500)
	for _, coding := range []string{"gzip", "br", "zstd", "deflate", "gzip, br"} {
		whole := testsite.Encode(body, coding)
		for name, broken := range map[string]string{
			"truncated":    whole[:len(whole)/2],
			"one byte off": whole[:len(whole)-1],
			"damaged":      whole[:20] + "\x00\xff\x00\xff" + whole[24:],
			"garbage":      "this is not " + coding,
		} {
			t.Run(coding+"/"+name, func(t *testing.T) {
				_, err := answered(t, Options{}, Request{}, testsite.Answer{
					Fields: []string{"Content-Type: text/plain", "Content-Encoding: " + coding}, Body: broken})
				e := wantCode(t, err, CodeUnavailable)
				if e.Reason != string(hop.BrokenCoding) {
					t.Errorf("reason %q", e.Reason)
				}
			})
		}
	}
	for name, coding := range map[string]string{"unknown": "compress", "unknown inside": "gzip, rot13", "three": "gzip, gzip, gzip"} {
		t.Run(name, func(t *testing.T) {
			_, err := answered(t, Options{}, Request{}, testsite.Answer{
				Fields: []string{"Content-Type: text/plain", "Content-Encoding: " + coding}, Body: testsite.Encode(body, "gzip")})
			wantCode(t, err, CodeUnavailable)
		})
	}
}

func TestBodyLimitIsExact(t *testing.T) {
	for _, c := range []struct {
		coding string
		limit  int64
		opts   Options
	}{
		{"identity", DefaultMaxBodyBytes, Options{}},
		{"identity", 1, Options{MaxBodyBytes: new(int64(1))}},
		{"gzip", 100_000, Options{MaxBodyBytes: new(int64(100_000))}},
		{"br", 100_000, Options{MaxBodyBytes: new(int64(100_000))}},
		{"zstd", 100_000, Options{MaxBodyBytes: new(int64(100_000))}},
	} {
		for _, over := range []int64{0, 1} {
			t.Run(fmt.Sprintf("%s/%d+%d", c.coding, c.limit, over), func(t *testing.T) {
				body := testsite.Encode(strings.Repeat("x", int(c.limit+over)), c.coding)
				page, err := served(t, c.opts, Request{}, testsite.Once(func(conn *testsite.Conn) {
					conn.Send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: "+c.coding+"\r\n\r\n", body)
				}))
				if over == 1 {
					if e := wantCode(t, err, CodeTooLarge); e.LimitBytes != c.limit {
						t.Errorf("limit %d", e.LimitBytes)
					}
					return
				}
				if err != nil || page.Bytes != c.limit {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

func TestDeclaredLengthFailsBeforeAnythingIsRead(t *testing.T) {
	_, err := served(t, Options{}, Request{}, testsite.Once(func(c *testsite.Conn) {
		c.Send("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\nContent-Length: 6000000\r\n\r\n")
		testsite.Hold(c)
	}))
	e := wantCode(t, err, CodeTooLarge)
	if e.ContentType != "text/html" || e.LimitBytes != DefaultMaxBodyBytes || !strings.Contains(e.Message, "5000000 bytes") {
		t.Errorf("error %+v", e)
	}
}

func TestChallengeIsBlockedWhateverItsBody(t *testing.T) {
	_, err := served(t, Options{}, Request{}, testsite.Once(func(c *testsite.Conn) {
		c.Send("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nCf-Mitigated: challenge\r\n\r\n")
		testsite.Hold(c) // the body must not be waited for
	}))
	if e := wantCode(t, err, CodeBlocked); e.Status != 404 || e.Retryable {
		t.Errorf("error %+v", e)
	}
	page, err := answered(t, Options{}, Request{}, testsite.Answer{Status: 403, Fields: []string{"Content-Type: text/plain", "Cf-Mitigated: challenged"}, Body: "no"})
	if err != nil || page.Headers["cf-mitigated"] != "challenged" {
		t.Errorf("page %+v, error %v", page, err)
	}
}

func TestKeptHeadersAreFewAndSmall(t *testing.T) {
	page, err := answered(t, Options{}, Request{}, testsite.Answer{Fields: []string{
		"Content-Type: Text/Plain; Charset=UTF-8", "ETag: \"" + strings.Repeat("é", 2000) + "\"", "Last-Modified: yesterday",
		"Set-Cookie: a=b", "Server: x", "X-Markdown-Tokens: 4"}, Body: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, value := range page.Headers {
		names = append(names, name)
		if len(value) > keptHeaderBytes {
			t.Errorf("%s has %d bytes", name, len(value))
		}
	}
	slices.Sort(names)
	if want := []string{"content-length", "content-type", "etag", "last-modified", "x-markdown-tokens"}; !slices.Equal(names, want) {
		t.Errorf("kept %v, want %v", names, want)
	}
	if page.Headers["content-type"] != "Text/Plain; Charset=UTF-8" || page.ContentType != "text/plain" {
		t.Errorf("content type %q as %q", page.Headers["content-type"], page.ContentType)
	}
	if etag := page.Headers["etag"]; !strings.HasSuffix(etag, "é") {
		t.Errorf("etag is cut inside a character: %q", etag[len(etag)-4:])
	}
}

func TestLastWellFormedContentTypeCounts(t *testing.T) {
	page, err := answered(t, Options{}, Request{}, testsite.Answer{
		Fields: []string{"Content-Type: text/plain", "Content-Type: text/html; charset=utf-8", "Content-Type: nonsense"}, Body: "<p>x</p>"})
	if err != nil || page.ContentType != "text/html" || page.Via != ViaConverted {
		t.Errorf("page %+v, error %v", page, err)
	}
}

// Paths go out as they were judged, also those that net/url would write anew.
func TestPathsGoOutAsTheyWereJudged(t *testing.T) {
	site := testsite.Serve(t, testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "x"}))
	f := siteWorld(site).fetcher(t, Options{})
	paths := []string{"/", "//", "//a//b", "/%zz", "//%zz", "/a|b^c", "/%2e%2E%2f", "/?", "/?a=b&c=%%", "/a;b=c", "/[x]", "/%E4%F6", "/'~!*()"}
	for _, path := range paths {
		page, err := f.Fetch(t.Context(), Request{URL: "http://site.test" + path})
		if err != nil {
			t.Fatal(err)
		}
		requests := site.Requests()
		if got := requests[len(requests)-1].Raw; !strings.HasPrefix(got, "GET "+strings.TrimPrefix(page.FinalURL, "http://site.test")+" HTTP/1.1\r\n") {
			t.Errorf("%s is asked for with %q, final URL %s", path, got, page.FinalURL)
		}
	}
}
