package webfetch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

// to redirects with a Location.
func to(location string) testsite.Answer {
	return testsite.Answer{Status: 302, Fields: []string{"Location: " + location}}
}

func TestTM003EveryRedirectTargetIsJudged(t *testing.T) {
	inner := testsite.Serve(t, testsite.Always(testsite.Answer{Body: "inner"}))
	long := "https://site.test/" + strings.Repeat("a", weburl.MaxLength)
	for _, hop := range []int{1, 5} {
		for name, target := range map[string]string{
			"loopback":               "http://" + inner.Addr + "/",
			"loopback as a number":   "http://2130706433/",
			"private":                "http://10.1.2.3/",
			"metadata":               "http://169.254.169.254/latest/meta-data/",
			"metadata over IPv6":     "http://[fd00:ec2::254]/",
			"local name":             "http://localhost/",
			"mapped":                 "https://[::ffff:127.0.0.1]/",
			"file":                   "file:///etc/passwd",
			"ftp":                    "ftp://site.test/",
			"script":                 "javascript:alert(1)",
			"data":                   "data:text/html,x",
			"user and password":      "https://u:p@site.test/",
			"user":                   "https://u@site.test/",
			"not parseable":          "https://[bad",
			"port of another":        "https://site.test:25/",
			"too long":               long,
			"too long by fragment":   "/#" + strings.Repeat("a", weburl.MaxLength),
			"from https to http":     "http://site.test/plain",
			"an empty label":         "https://localhost.../",
			"bytes that are no text": "https://site.test/\xff\xfe",
		} {
			t.Run(fmt.Sprintf("%s/hop %d", name, hop), func(t *testing.T) {
				w := newWeb(t, Options{}, []string{"site.test"}, func(url string, r testsite.Request) testsite.Answer {
					var i int
					fmt.Sscanf(r.Target, "/%d", &i)
					if i == hop {
						return to(target)
					}
					return to(fmt.Sprintf("/%d", i+1))
				})
				page, err := w.fetch(t, Request{URL: "https://site.test/1#top"})
				e := wantCode(t, err, CodeDisallowedRedirect)
				if want := fmt.Sprintf("https://site.test/%d", hop); e.URL != want || e.Status != 302 || e.Retryable || e.Reason == "" || page != nil {
					t.Errorf("error %+v, want the URL %s", e, want)
				}
				if n := len(w.requests()); n != hop || inner.Accepted() != 0 {
					t.Errorf("%d requests, %d at the inner site", n, inner.Accepted())
				}
			})
		}
	}
}

// The order of the answers at a hop: policy, downgrade, loop, limit.
func TestOrderOfTheChecksAtAHop(t *testing.T) {
	for name, c := range map[string]struct {
		limit    int
		location string
		code     Code
		reason   string
	}{
		"policy before downgrade": {0, "http://10.0.0.1/", CodeDisallowedRedirect, "not public"},
		"downgrade before loop":   {0, "http://site.test/", CodeDisallowedRedirect, "from https to http"},
		"loop before limit":       {0, "/", CodeTooManyRedirects, "loop"},
		"loop by fragment":        {0, "#part", CodeTooManyRedirects, "loop"},
		"loop by spelling":        {0, "HTTPS://SITE.test:443/a/..", CodeTooManyRedirects, "loop"},
		"limit":                   {0, "/other", CodeTooManyRedirects, "more than 0 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, Options{MaxRedirects: &c.limit}, []string{"site.test"}, func(string, testsite.Request) testsite.Answer { return to(c.location) })
			_, err := w.fetch(t, Request{URL: "https://site.test/"})
			if e := wantCode(t, err, c.code); !strings.Contains(e.Reason, c.reason) || e.Status != 302 || len(w.requests()) != 1 {
				t.Errorf("reason %q, status %d, %d requests", e.Reason, e.Status, len(w.requests()))
			}
		})
	}
}

func TestRedirectMazesEnd(t *testing.T) {
	for name, next := range map[string]func(i int) string{
		"ever new":       func(i int) string { return fmt.Sprintf("/%d", i+1) },
		"to and fro":     func(i int) string { return fmt.Sprintf("/%d", (i+1)%2) },
		"ever longer":    func(i int) string { return strings.Repeat("/x", i*50) + fmt.Sprintf("?%d", i+1) },
		"other host":     func(i int) string { return fmt.Sprintf("http://h%d.test/%d", i%4, i+1) },
		"ever new query": func(i int) string { return fmt.Sprintf("?%d", i+1) },
	} {
		t.Run(name, func(t *testing.T) {
			i := 0
			w := newWeb(t, Options{MaxRedirects: new(20)}, []string{"site.test", "h0.test", "h1.test", "h2.test", "h3.test"}, func(string, testsite.Request) testsite.Answer {
				i++
				return to(next(i))
			})
			_, err := w.fetch(t, Request{URL: "http://site.test/1"})
			e := err.(*Error)
			if e.Code != CodeTooManyRedirects && e.Code != CodeDisallowedRedirect {
				t.Errorf("code %s", e.Code)
			}
			if n := len(w.requests()); n > 21 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestBodiesOfRedirectsAreNotRead(t *testing.T) {
	testsite.LeavesNothing(t)
	for name, body := range map[string]func(*testsite.Conn){
		"endless": func(c *testsite.Conn) { testsite.Pour(c, "endless ") },
		"silent":  testsite.Hold,
	} {
		t.Run(name, func(t *testing.T) {
			site := testsite.Serve(t, func(c *testsite.Conn) {
				if r := c.Request(); r.Target == "/" {
					c.Send("HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Type: text/plain\r\n\r\n")
					body(c)
					return
				}
				c.Send(wholePlain)
			})
			ends(t, func() {
				page, err := siteWorld(site).fetcher(t, Options{}).Fetch(t.Context(), Request{URL: "http://site.test/"})
				if err != nil || page.FinalURL != "http://site.test/next" || page.Bytes != 5 {
					t.Errorf("page %+v, error %v", page, err)
				}
			})
		})
	}
}

func TestWhatIsNoRedirect(t *testing.T) {
	for name, a := range map[string]testsite.Answer{
		"300":                  {Status: 300, Fields: []string{"Location: /x", "Content-Type: text/plain"}, Body: "hello"},
		"302 without Location": {Status: 302, Fields: []string{"Content-Type: text/plain"}, Body: "hello"},
		"304":                  {Status: 304, Fields: []string{"Location: /x"}},
		"305":                  {Status: 305, Fields: []string{"Location: /x", "Content-Type: text/plain"}, Body: "hello"},
		"201":                  {Status: 201, Fields: []string{"Location: /x", "Content-Type: text/plain"}, Body: "hello"},
		"a Refresh header":     {Fields: []string{"Refresh: 0; url=/x", "Content-Type: text/plain"}, Body: "hello"},
		"a meta refresh":       {Fields: []string{"Content-Type: text/html"}, Body: `<meta http-equiv="refresh" content="0; url=/x"><p>hello</p>`},
	} {
		t.Run(name, func(t *testing.T) {
			site := testsite.Serve(t, testsite.Always(a))
			page, err := siteWorld(site).fetcher(t, Options{}).Fetch(t.Context(), Request{URL: "http://site.test/"})
			if err != nil {
				t.Fatal(err)
			}
			if page.Redirects == nil || len(page.Redirects) != 0 || len(site.Requests()) != 1 || a.Status > 0 && page.Status != a.Status {
				t.Errorf("page %+v after %d requests", page, len(site.Requests()))
			}
		})
	}
}

func TestTM013NothingIdentifiesUsFromHopToHop(t *testing.T) {
	w := newWeb(t, Options{}, []string{"a.test", "b.test"}, func(url string, _ testsite.Request) testsite.Answer {
		a := testsite.Answer{Status: 302, Fields: []string{"Set-Cookie: id=1; Path=/", `WWW-Authenticate: Basic realm="x"`, "Accept-CH: Sec-CH-UA", "Alt-Svc: h3=\":443\""}}
		switch url {
		case "http://a.test/":
			a.Fields = append(a.Fields, "Location: /two")
		case "http://a.test/two":
			a.Fields = append(a.Fields, "Location: https://b.test/three")
		default:
			a.Status, a.Fields, a.Body = 401, append(a.Fields, "Content-Type: text/plain"), "sign in"
		}
		return a
	})
	f := w.fetcher(t, w.opts)
	for range 2 {
		page, err := f.Fetch(t.Context(), Request{URL: "http://a.test/"})
		if err != nil || page.Status != 401 || len(page.Redirects) != 2 {
			t.Fatalf("page %+v, error %v", page, err)
		}
	}
	requests := append(w.plain.Requests(), w.tls.Requests()...)
	if len(requests) != 6 {
		t.Fatalf("%d requests", len(requests))
	}
	sameHeaders(t, requests)
	for _, r := range requests {
		for name := range r.Header {
			if !strings.Contains(" Host User-Agent Accept Accept-Language Accept-Encoding ", " "+name+" ") {
				t.Errorf("the request has a header %s", name)
			}
		}
	}
}
