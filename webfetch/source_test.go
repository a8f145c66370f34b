package webfetch

// The fetcher as a Source: options, what it asks for and what it leaves alone.

import (
	"encoding/json"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

func TestOptionsThatDirectChecks(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   Options
		option string
	}{
		{"a user agent that no header can carry", Options{UserAgent: new("Bücher/1")}, "user_agent"},
		{"a user agent that splits the request", Options{UserAgent: new("a\r\nX: b")}, "user_agent"},
		{"a blank user agent", Options{UserAgent: new(" ")}, "user_agent"},
		{"two policies", Options{Policy: &weburl.Policy{}, Dialer: &weburl.Dialer{}}, "policy"},
		{"too many redirects", Options{MaxRedirects: new(21)}, "max_redirects"},
		{"no bytes", Options{MaxBodyBytes: new(int64(0))}, "max_body_bytes"},
	} {
		_, err := Direct(c.opts)
		if e, ok := err.(*OptionError); !ok || e.Option != c.option || e.Want == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestDialerWithoutAPolicyRefusesEverything(t *testing.T) {
	f, err := Direct(Options{Dialer: &weburl.Dialer{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Fetch(t.Context(), Request{URL: "https://example.com/"})
	wantCode(t, err, CodeDisallowedURL)
}

func TestUserAgentNamesTheProductAndWhereToReadAboutIt(t *testing.T) {
	if !strings.HasPrefix(DefaultUserAgent, "Wayleave/") || !strings.Contains(DefaultUserAgent, "(+https://") {
		t.Error(DefaultUserAgent)
	}
}

// What is judged is what is dialled, for every URL that the cases allow.
func TestTM001WhatIsJudgedIsDialled(t *testing.T) {
	raw, err := os.ReadFile("../testdata/url-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			URL, Verdict, Host, Href string
			MayRefuse                bool `json:"may_refuse"`
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	dialled := 0
	for _, c := range file.Cases {
		w := &world{}
		_, err := w.fetcher(t, Options{}).Fetch(t.Context(), Request{URL: c.URL})
		e, ok := err.(*Error)
		if !ok {
			t.Fatalf("%q: %v", c.URL, err)
		}
		if c.Verdict == "refuse" || len(w.dials()) == 0 && c.MayRefuse {
			if len(w.dials()) > 0 || e.Code != CodeDisallowedURL && e.Code != CodeInvalidInput {
				t.Errorf("%q: %s after dialling %v", c.URL, e.Code, w.dials())
			}
			continue
		}
		u, err := weburl.Parse(c.URL)
		if err != nil || len(w.dials()) != 1 {
			t.Errorf("%q: dialled %v, %v", c.URL, w.dials(), err)
			continue
		}
		dialled++
		if want := net.JoinHostPort(strings.Trim(c.Host, "[]"), strconv.Itoa(int(u.Port()))); w.dials()[0] != want {
			t.Errorf("%q: dialled %s, want %s", c.URL, w.dials()[0], want)
		}
		if e.Code != CodeUnavailable || c.Href != "" && e.URL != c.Href {
			t.Errorf("%q: %s of %s, want %s", c.URL, e.Code, e.URL, c.Href)
		}
	}
	if dialled < 100 {
		t.Errorf("only %d were dialled: the test tests little", dialled)
	}
}

func TestOnlyTheURLIsAskedFor(t *testing.T) {
	page := `<!doctype html><link rel=stylesheet href=/style.css><script src=/app.js></script><meta http-equiv=refresh content="0;url=/next">
		<img src=/a.png><iframe src=/frame></iframe><video src=/v.mp4></video><object data=/o></object><link rel=preload href=/p>
		<p>text</p><a href=/link>link</a>`
	site := testsite.Serve(t, testsite.Always(testsite.Answer{
		Fields: []string{"Content-Type: text/html", "Link: </style.css>; rel=preload", "Refresh: 0; url=/next"}, Body: page}))
	got, err := siteWorld(site).fetcher(t, Options{}).Fetch(t.Context(), Request{URL: "http://site.test/"})
	if err != nil || !strings.Contains(got.Content, "text") {
		t.Errorf("page %+v, error %v", got, err)
	}
	if n := site.Accepted(); n != 1 {
		t.Errorf("%d connections: %v", n, site.Requests())
	}
}

func TestTextThatIsReadableNeverReachesAConverter(t *testing.T) {
	for mediaType, via := range map[string]Via{
		"text/markdown": ViaMarkdown, "text/x-markdown": ViaMarkdown, "application/json": ViaJSON, "application/ld+json": ViaJSON,
		"text/plain": ViaText, "text/csv": ViaText, "application/rss+xml": ViaText, "application/yaml": ViaText,
	} {
		counted := &countingConverter{}
		page, err := answered(t, Options{Converter: counted}, Request{URL: "http://site.test/page.html"},
			testsite.Answer{Fields: []string{"Content-Type: " + mediaType, "Content-Disposition: attachment; filename=x.html"}, Body: "[1]"})
		if err != nil || page.Via != via || counted.calls != 0 {
			t.Errorf("%s: page %+v, error %v, %d conversions", mediaType, page, err, counted.calls)
		}
	}
}

func TestThinPagesSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		answer testsite.Answer
		kind   string
	}{
		"a page of scripts":   {testsite.Answer{Body: `<!doctype html><title>App</title><div id="root"></div><script src="/static/js/main.1.js"></script>`}, "js_shell"},
		"a page that costs":   {testsite.Answer{Status: 402, Body: `<title>Pay</title><p>Payment required to go on reading here.</p>`}, "payment_required"},
		"an ordinary article": {testsite.Answer{Body: "<title>On rivers</title><h1>On rivers</h1>" + strings.Repeat("<p>The river runs from the hills to the sea, past mills and meadows that have stood there for longer than anyone can say.</p>", 10)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.answer.Fields = []string{"Content-Type: text/html; charset=utf-8"}
			page, err := answered(t, Options{}, Request{}, c.answer)
			if err != nil {
				t.Fatal(err)
			}
			if c.kind == "" {
				if len(page.Thin) != 0 {
					t.Errorf("thin %+v", page.Thin)
				}
				return
			}
			if len(page.Thin) == 0 || page.Thin[0].Kind != c.kind || page.Thin[0].Fact == "" {
				t.Fatalf("thin %+v, want %s", page.Thin, c.kind)
			}
			if text := Render(NewWindow(page, 0, 1000)); !strings.Contains(text, "\nnote: thin · "+c.kind) {
				t.Errorf("the model reads\n%s", text)
			}
		})
	}
}
