package webfetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/hop"
	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

// TestFetchCases runs the cases that are one fetch and its outcome.
func TestFetchCases(t *testing.T) {
	for _, area := range []string{"request", "redirect", "http_error"} {
		for _, c := range casesOf(t, area) {
			t.Run(c.ID, func(t *testing.T) {
				if c.given.From != "" {
					c.runStep(t)
					return
				}
				c.run(t)
			})
		}
	}
}

// runStep is a case about one step of a redirect.
func (c fetchCase) runStep(t *testing.T) {
	var want struct {
		NextURL string `json:"next_url"`
		Code    Code   `json:"code"`
	}
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	f := (&world{}).fetcher(t, c.given.Options.options())
	from, err := weburl.Parse(c.given.From)
	if err != nil {
		t.Fatal(err)
	}
	next, bad := f.next(&trail{urls: []*weburl.URL{from}}, 302, c.given.Location)
	if want.Code != "" {
		wantCode(t, bad, want.Code)
		return
	}
	if bad != nil || next.String() != want.NextURL {
		t.Errorf("next %v, %v; want %s", next, bad, want.NextURL)
	}
}

// The request of case request-001, byte for byte.
func TestRequestIsAFixedGET(t *testing.T) {
	w := newWeb(t, Options{}, []string{"example.com"}, func(string, testsite.Request) testsite.Answer {
		return testsite.Answer{Fields: []string{"Content-Type: text/plain", "Set-Cookie: a=b"}, Body: "x"}
	})
	for range 2 {
		if _, err := w.fetch(t, Request{URL: "https://example.com/doc#part"}); err != nil {
			t.Fatal(err)
		}
	}
	want := "GET /doc HTTP/1.1\r\nHost: example.com\r\nUser-Agent: " + DefaultUserAgent + "\r\n" +
		"Accept: text/markdown, text/html;q=0.9, application/json;q=0.8, text/plain;q=0.8, */*;q=0.5\r\n" +
		"Accept-Language: en\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n"
	for _, r := range w.tls.Requests() {
		if r.Raw != want {
			t.Errorf("request\n%q\nwant\n%q", r.Raw, want)
		}
	}
}

func TestUserAgentIsTheOptions(t *testing.T) {
	for _, c := range casesOf(t, "request") {
		if c.ID != "request-002" {
			continue
		}
		w := c.serve(t)
		if _, err := w.fetch(t, Request{URL: string(c.given.URL)}); err != nil {
			t.Fatal(err)
		}
		if got := w.tls.Requests()[0].Header.Get("User-Agent"); got != "MyBot/1.0" {
			t.Errorf("User-Agent %q", got)
		}
	}
}

func TestBodyLimitCases(t *testing.T) {
	chunks := func(fields string, n int, chunk string, sent *int) func(*testsite.Conn) {
		return testsite.Once(func(c *testsite.Conn) {
			if !c.Send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + fields + "\r\n") {
				return
			}
			for *sent = 0; *sent < n && c.Send(chunk); *sent++ {
			}
		})
	}
	for _, c := range casesOf(t, "body_limit") {
		t.Run(c.ID, func(t *testing.T) {
			var sent int
			var script func(*testsite.Conn)
			switch c.ID {
			case "body_limit-001":
				script = chunks("", 100, strings.Repeat("x", 1000), &sent)
			case "body_limit-002":
				script = chunks("Content-Length: 51\r\n", 5, strings.Repeat("x", 10), &sent)
			case "body_limit-004":
				packed := testsite.Encode(strings.Repeat("a", 1_000_000), "gzip")
				script = testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/plain", "Content-Encoding: gzip", "Transfer-Encoding: chunked"},
					Body: fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(packed), packed)})
			case "body_limit-005":
				script = testsite.Always(c.given.Response.answer(t))
			default:
				t.Fatal("a case that this test does not know")
			}
			site := testsite.Serve(t, script)
			_, err := siteWorld(site).fetcher(t, c.given.Options.options()).Fetch(t.Context(), Request{URL: "http://site.test/"})
			c.expected(t).check(t, nil, err)
		})
	}
}

func TestNetworkCases(t *testing.T) {
	for _, c := range casesOf(t, "network") {
		t.Run(c.ID, func(t *testing.T) {
			w := &world{sites: map[string]string{"site.test:80": testsite.Unused(t)}}
			if c.ID == "network-002" {
				w = siteWorld(testsite.Serve(t, testsite.Once(func(c *testsite.Conn) {
					c.Send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf")
					c.Reset()
				})))
			}
			_, err := w.fetcher(t, Options{}).Fetch(t.Context(), Request{URL: "http://site.test/"})
			c.expected(t).check(t, nil, err)
			e := err.(*Error)
			if e.Cause == nil || e.Message == "" || !strings.Contains(e.Message, "connection") {
				t.Errorf("message %q, cause %v", e.Message, e.Cause)
			}
		})
	}
}

func TestCancelCases(t *testing.T) {
	ignoring := func(asked chan<- bool, release <-chan bool) hopFunc {
		return func(context.Context, *weburl.URL, string) (*hop.Answer, error) {
			asked <- true
			<-release
			return nil, errors.New("too late")
		}
	}
	for _, c := range casesOf(t, "cancel") {
		t.Run(c.ID, func(t *testing.T) {
			testsite.LeavesNothing(t)
			ctx, cancel := context.WithCancel(t.Context())
			asked, release := make(chan bool, 1), make(chan bool)
			defer close(release)
			f := (&world{}).fetcher(t, Options{})
			f.transport = ignoring(asked, release)
			wait := asked
			switch c.ID {
			case "cancel-001":
				cancel()
				_, err := f.Fetch(ctx, Request{URL: "https://example.com/"})
				if err != context.Canceled || len(asked) != 0 {
					t.Errorf("error %v, %d requests", err, len(asked))
				}
				return
			case "cancel-002":
			case "cancel-004":
				f.transport = hopFunc(func(context.Context, *weburl.URL, string) (*hop.Answer, error) {
					return textAnswer("text/html", "<p>x"), nil
				})
				f.converter.html = stubborn{asked, release}
			case "cancel-005":
				tool, err := NewTool(ToolOptions{Source: f})
				if err != nil {
					t.Fatal(err)
				}
				cancel()
				_, err = tool.Handler(ctx, json.RawMessage(`{"url":"https://example.com/"}`))
				if err != context.Canceled || len(asked) != 0 {
					t.Errorf("error %v, %d requests", err, len(asked))
				}
				return
			default:
				t.Fatal("a case that this test does not know")
			}
			go func() {
				<-wait
				cancel()
			}()
			if _, err := f.Fetch(ctx, Request{URL: "https://example.com/"}); err != context.Canceled {
				t.Errorf("error %v, want the cancellation itself", err)
			}
		})
	}
}

// stubborn is a converter that does not obey.
type stubborn struct {
	asked   chan<- bool
	release <-chan bool
}

func (s stubborn) ConvertHTML(context.Context, HTML) (string, error) {
	s.asked <- true
	<-s.release
	return "too late", nil
}

func TestTimeoutCases(t *testing.T) {
	obeys := hopFunc(func(ctx context.Context, _ *weburl.URL, _ string) (*hop.Answer, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for _, c := range casesOf(t, "timeout") {
		t.Run(c.ID, func(t *testing.T) {
			testsite.LeavesNothing(t)
			opts := c.given.Options.options()
			if c.ID == "timeout-004" {
				_, err := Fetch(t.Context(), Request{URL: "https://example.com/"}, opts)
				if _, ok := errors.AsType[*OptionError](err); !ok {
					t.Errorf("error %v, want an *OptionError", err)
				}
				return
			}
			release := make(chan bool)
			defer close(release)
			w := &world{}
			url := "https://example.com/doc"
			f := w.fetcher(t, opts)
			switch c.ID {
			case "timeout-001":
				f.transport = obeys
			case "timeout-002":
				f.transport = hopFunc(func(context.Context, *weburl.URL, string) (*hop.Answer, error) {
					<-release
					return nil, errors.New("too late")
				})
			case "timeout-005":
				site := testsite.Serve(t, testsite.Once(func(c *testsite.Conn) {
					c.Send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
					testsite.Drip(c, "a", "a")
				}))
				w.sites = siteWorld(site).sites
				url = "http://site.test/"
			default:
				t.Fatal("a case that this test does not know")
			}
			ends(t, func() {
				_, err := f.Fetch(t.Context(), Request{URL: url})
				c.expected(t).check(t, nil, err)
				if e := err.(*Error); e.Timeout != *opts.Timeout || e.URL != url {
					t.Errorf("timeout %v, URL %s", e.Timeout, e.URL)
				}
			})
		})
	}
}

func TestConversionCases(t *testing.T) {
	for _, c := range casesOf(t, "conversion") {
		t.Run(c.ID, func(t *testing.T) {
			own := &countingConverter{}
			switch {
			case strings.Contains(c.given.Converter, "unsupported"):
				own.err = errors.New("unsupported")
			case strings.Contains(c.given.Converter, "upstream 500"):
				own.err = errors.New("upstream 500")
			case strings.Contains(c.given.Converter, "from array"):
				own.text = "from array"
			}
			body := string(c.given.Body)
			if body == "" {
				body = "<p>x</p>"
			}
			site := testsite.Serve(t, testsite.Always(testsite.Answer{Fields: []string{"Content-Type: " + c.given.MediaType}, Body: body}))
			page, err := siteWorld(site).fetcher(t, Options{Converter: own}).Fetch(t.Context(), Request{URL: "http://site.test/"})
			want := c.expected(t)
			want.check(t, page, err)
			if own.err != nil && !errors.Is(err, own.err) {
				t.Errorf("the converter's own error is not behind %v", err)
			}
			if want.Conversions != nil && own.calls != *want.Conversions {
				t.Errorf("%d conversions, want %d", own.calls, *want.Conversions)
			}
			if c.ID == "conversion-005" && (own.got.MediaType != "text/html" || own.got.Text != body || own.got.BaseURL != "http://site.test/") {
				t.Errorf("the converter got %+v", own.got)
			}
		})
	}
}

// TestURLPolicyCases goes through Fetch: what is refused sends nothing, what is allowed is asked for as it was judged.
func TestURLPolicyCases(t *testing.T) {
	for _, c := range casesOf(t, "url_policy") {
		t.Run(c.ID, func(t *testing.T) {
			var want struct {
				Verdict      string
				Code         Code
				CanonicalURL string `json:"canonical_url"`
			}
			if err := json.Unmarshal(c.Expected, &want); err != nil {
				t.Fatal(err)
			}
			var asked []string
			f := (&world{}).fetcher(t, c.given.Options.options())
			f.transport = hopFunc(func(_ context.Context, u *weburl.URL, _ string) (*hop.Answer, error) {
				asked = append(asked, u.String())
				return textAnswer("text/plain", "x"), nil
			})
			page, err := f.Fetch(t.Context(), Request{URL: string(c.given.URL)})
			if want.Verdict == "refuse" {
				wantCode(t, err, want.Code)
				if len(asked) > 0 {
					t.Errorf("asked for %v", asked)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want.CanonicalURL == "" {
				want.CanonicalURL = string(c.given.URL)
			}
			if page.FinalURL != want.CanonicalURL || len(asked) != 1 || asked[0] != want.CanonicalURL {
				t.Errorf("final URL %s, asked for %.200v; want %s", page.FinalURL, asked, want.CanonicalURL)
			}
		})
	}
}
