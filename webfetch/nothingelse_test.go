package webfetch

// One call, one address: whatever the arguments are and whatever the page asks for.

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
)

// TestW005NoArgumentReachesAnotherAddress calls the tool with every combination of arguments.
func TestW005NoArgumentReachesAnotherAddress(t *testing.T) {
	site := testsite.Serve(t, testsite.Always(ofType("text/html", "<p>"+strings.Repeat("word ", 100)+"<a href=/next>next</a>")))
	w := siteWorld(site)
	tool := mustTool(t, ToolOptions{Source: w.fetcher(t, Options{})})
	choices := map[string][]any{
		"offset": {nil, 0, 7, 1_000_000}, "max_bytes": {nil, 1, 20_000}, "find": {nil, "word", "http://other.test/"}, "format": {nil, "auto", "raw"},
	}
	calls := []map[string]any{{"url": "http://site.test/page"}}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		var more []map[string]any
		for _, c := range calls {
			for _, value := range choices[name] {
				next := maps.Clone(c)
				next[name] = value
				more = append(more, next)
			}
		}
		calls = more
	}
	for _, arguments := range calls {
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		if result := call(t, tool, string(raw)); result.Failure != nil {
			t.Errorf("%s: %v", raw, result.Failure)
		}
	}
	asked := site.Requests()
	if len(asked) != len(calls) {
		t.Errorf("%d requests for %d calls", len(asked), len(calls))
	}
	for _, r := range asked {
		if r.Method != "GET" || r.Target != "/page" {
			t.Fatalf("asked for %s %s", r.Method, r.Target)
		}
	}
	for _, address := range w.dials() {
		if address != "site.test:80" {
			t.Errorf("dialled %s", address)
		}
	}
}

// TestW007W183NothingButThePageIsAskedFor: a page is read here, with no account, no script and no subresource.
func TestW007W183NothingButThePageIsAskedFor(t *testing.T) {
	page := `<!doctype html><html><head><title>Mill</title><base href="http://other.test/">
<meta http-equiv="refresh" content="0; url=http://other.test/refresh"><link rel="stylesheet" href="/a.css">
<link rel="preload" as="fetch" href="/b.json"><link rel="dns-prefetch" href="//c.test"><link rel="preconnect" href="//d.test">
<script src="/e.js"></script><script>document.title = "zebra"; document.write("<p>zebra</p>"); fetch("http://other.test/f")</script>
</head><body onload="document.body.append('zebra')"><h1>Mill</h1><p>It turns twice a day.</p>
<img src="/g.png" alt="a wheel" srcset="/h.png 2x"><iframe src="/i.html"></iframe><video src="/j.mp4" poster="/k.png"></video>
<object data="/l.svg"></object><embed src="/m.swf"><form action="/n"><button>Go</button></form>
<svg><image href="/o.png"/><use href="http://other.test/p.svg#x"/></svg></body></html>`
	site := testsite.Serve(t, testsite.Always(ofType("text/html; charset=utf-8", page,
		"Link: </q.css>; rel=preload", "Refresh: 0; url=http://other.test/r", "Set-Cookie: s=1")))
	w := siteWorld(site)
	got, err := w.fetcher(t, Options{}).Fetch(t.Context(), Request{URL: "http://site.test/"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Content, "# Mill\n\nIt turns twice a day.") || got.Via != ViaConverted || strings.Contains(got.Content, "zebra") || got.Title != "Mill" {
		t.Errorf("page %+v", got)
	}
	if asked := site.Requests(); len(asked) != 1 || !slices.Equal(w.dials(), []string{"site.test:80"}) {
		t.Errorf("%d requests, dialled %v", len(asked), w.dials())
	}
}

// TestW153EveryRedirectStatusIsFollowedWithAGET: 303 is the one that HTTP itself turns into a GET.
func TestW153EveryRedirectStatusIsFollowedWithAGET(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		site := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
			if r.Target == "/" {
				return testsite.Answer{Status: status, Fields: []string{"Location: /next"}}
			}
			return ofType("text/plain", "there")
		}))
		page, err := siteWorld(site).fetcher(t, Options{}).Fetch(t.Context(), Request{URL: "http://site.test/"})
		if err != nil || page.Content != "there" || !slices.Equal(page.Redirects, []string{"http://site.test/"}) {
			t.Errorf("%d: page %+v, error %v", status, page, err)
		}
		for _, r := range site.Requests() {
			if r.Method != "GET" || r.Header.Get("Content-Length") != "" || r.Header.Get("Transfer-Encoding") != "" {
				t.Errorf("%d: asked with %q", status, r.Raw)
			}
		}
	}
}
