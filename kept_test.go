package wayleave

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// shownWindow is a success of web_fetch, as far as these tests look.
type shownWindow struct {
	text, body string
	keys       map[string]any
}

// window reads one window, at the site that the arguments name.
func window(t *testing.T, session *mcp.ClientSession, arguments map[string]any) shownWindow {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		t.Fatalf("%v: %s", arguments, text)
	}
	_, body, _ := strings.Cut(text, "\n<untrusted_web_content>\n")
	return shownWindow{text, strings.TrimSuffix(body, "\n</untrusted_web_content>"), res.StructuredContent.(map[string]any)}
}

// changing is a site whose one page a test changes; it remembers what it was asked with.
type changing struct {
	*httptest.Server
	permit weburl.Permit

	mu     sync.Mutex
	body   string
	fields map[string]string
	asked  []http.Header
}

func newChanging(t *testing.T, body string) *changing {
	t.Helper()
	c := &changing{body: body}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked = append(c.asked, r.Header)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for name, value := range c.fields {
			w.Header().Set(name, value)
		}
		if tag := c.fields["ETag"]; tag != "" && r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(c.body))
	}))
	t.Cleanup(c.Close)
	var err error
	if c.permit, err = weburl.ParsePermit(c.Listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *changing) set(body string, fields map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body, c.fields = body, fields
}

func (c *changing) requests() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// TestKeptPagesByPartAndLinks: main part, whole page, with and without its links, and as sent are texts of their own, kept side
// by side. Each is read to its end in windows while the others are and while the page changes, and nothing of one is in another.
func TestKeptPagesByPartAndLinks(t *testing.T) {
	text := func(word string) string {
		var b strings.Builder
		b.WriteString("<!doctype html><title>Mill</title><nav>")
		for i := range 60 {
			fmt.Fprintf(&b, `<a href="/%s-menu-%d">Menu entry %d</a> `, word, i, i)
		}
		b.WriteString("</nav><main><article><h1>Mill</h1>")
		for i := range 400 {
			fmt.Fprintf(&b, `<p>The %s wheel of mill number %d turns twice a day, and <a href="/%s-%d">its story</a> is long and told on each tide by those who live there.</p>`, word, i, word, i)
		}
		b.WriteString("</article></main><footer><p>Imprint of the quay</p></footer>")
		return b.String()
	}
	site := newChanging(t, text("first"))
	fetch := webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{site.permit}}}
	in := launch(t, Options{PerHost: 100, PerHostSecond: 100_000, Fetch: fetch})
	session := in.client(t, in.token(t, "alice"), "2025-11-25")

	type view struct {
		name      string
		arguments map[string]any
		options   webfetch.Options
		format    webfetch.Format
		got       strings.Builder
		next      int
		want      string
	}
	views := []*view{
		{name: "main", arguments: map[string]any{}, options: webfetch.Options{Content: webfetch.PartMain}},
		{name: "full", arguments: map[string]any{"content": "full"}},
		{name: "main with links", arguments: map[string]any{"links": true}, options: webfetch.Options{Content: webfetch.PartMain, ListLinks: true}},
		{name: "full with links", arguments: map[string]any{"content": "full", "links": true}, options: webfetch.Options{ListLinks: true}},
		{name: "raw", arguments: map[string]any{"format": "raw"}, format: webfetch.FormatRaw},
	}
	read := func(v *view, offset int) shownWindow {
		t.Helper()
		arguments := map[string]any{"url": site.URL, "offset": offset, "max_bytes": 7_000}
		for name, value := range v.arguments {
			arguments[name] = value
		}
		return window(t, session, arguments)
	}
	take := func(v *view) (more bool) {
		t.Helper()
		w := read(v, v.next)
		if at := w.keys["offset"].(float64); int(at) != v.next {
			t.Fatalf("%s: asked at %d, given %v", v.name, v.next, at)
		}
		if total := w.keys["total_chars"].(float64); int(total) != len([]rune(v.want)) {
			t.Errorf("%s: %v characters, the library has %d", v.name, total, len([]rune(v.want)))
		}
		v.got.WriteString(w.body)
		next, more := w.keys["next_offset"].(float64)
		v.next = int(next)
		return more
	}
	seen := map[string]string{}
	for _, v := range views {
		o := v.options
		o.Policy = fetch.Policy
		page, err := webfetch.Fetch(t.Context(), webfetch.Request{URL: site.URL, Format: v.format}, o)
		if err != nil {
			t.Fatal(err)
		}
		if v.want = page.Content; seen[v.want] != "" {
			t.Fatalf("%s and %s are one text: the test shows nothing", v.name, seen[v.want])
		}
		seen[v.want] = v.name
	}
	before := len(site.requests())
	for _, v := range views {
		if !take(v) {
			t.Fatalf("%s has one window alone", v.name)
		}
	}
	site.set(text("second"), nil) // whoever is asked again gives another text
	for reading := true; reading; {
		reading = false
		for _, v := range views { // by turns
			if v.next > 0 && take(v) {
				reading = true
			}
		}
	}
	for _, v := range views {
		if v.got.String() != v.want {
			t.Errorf("%s: its windows are not its text (%d and %d bytes)", v.name, v.got.Len(), len(v.want))
		}
	}
	if n := len(site.requests()) - before; n != len(views) {
		t.Errorf("%d requests for %d texts", n, len(views))
	}

	// One is fetched anew, which is said; the others are what they were, at the same offsets.
	fresh := read(views[0], 0)
	if !strings.Contains(fresh.text, "\nnote: snapshot · the page was fetched anew and differs; snapshot 2\n") || !strings.Contains(fresh.body, "second wheel") || fresh.keys["snapshot"] != 2.0 {
		t.Errorf("main, anew: %.400s", fresh.text)
	}
	for _, v := range views[1:] {
		old := read(v, 9_000)
		if !strings.Contains(old.body, "first") || strings.Contains(old.body, "second") || old.keys["snapshot"] != 1.0 || strings.Contains(old.text, "note: snapshot") {
			t.Errorf("%s, read on: %.300s", v.name, old.text)
		}
		if !strings.HasPrefix(v.want[9_000:], old.body) { // all of it is ASCII
			t.Errorf("%s: offset 9000 is another place than in its text", v.name)
		}
	}
	if on := read(views[0], 9_000); !strings.Contains(on.body, "second") || on.keys["snapshot"] != 2.0 {
		t.Errorf("main, read on: %.300s", on.text)
	}
	// find goes to the kept text of its own view.
	found := window(t, session, map[string]any{"url": site.URL, "content": "full", "find": "mill number 399"})
	if !strings.Contains(found.body, "first wheel of mill number 399") {
		t.Errorf("find in full: %.300s", found.text)
	}
	if n := len(site.requests()) - before; n != len(views)+1 {
		t.Errorf("%d requests", n)
	}
}

// TestAKeptPageIsAskedAbout: a second look at a page asks whether it still holds. One that does is the kept one, without a word;
// one that does not is a new snapshot; and nothing of one run is known in another.
func TestAKeptPageIsAskedAbout(t *testing.T) {
	const first, second = "<h1>Mill</h1><p>It turns twice a day.</p>", "<h1>Mill</h1><p>It stands still.</p>"
	site := newChanging(t, first)
	site.set(first, map[string]string{"ETag": `"v1"`, "Cache-Control": "no-cache"})
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{site.permit}}}})
	alice := in.client(t, in.token(t, "alice"), "2025-11-25")
	harness := in.apiUser(t, "alice", agent.ScopeHarness)
	look := func(session *mcp.ClientSession) shownWindow {
		t.Helper()
		return window(t, session, map[string]any{"url": site.URL})
	}
	why := func(w shownWindow) string {
		t.Helper()
		r := got[wire.Record](harness, http.MethodGet, "/api/runs/"+w.keys["run_id"].(string)+"/tool-calls/"+w.keys["tool_call_id"].(string), "")
		return r.Why[len(r.Why)-1].Fact
	}
	at := func(w shownWindow) time.Time {
		t.Helper()
		when, err := time.Parse(time.RFC3339Nano, w.keys["retrieved_at"].(string))
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	one := look(alice)
	two := look(alice)
	asked := site.requests()
	if len(asked) != 2 || asked[0].Get("If-None-Match") != "" || asked[1].Get("If-None-Match") != `"v1"` {
		t.Fatalf("asked with %v", asked)
	}
	if two.text != one.text || two.keys["snapshot"] != 1.0 || two.keys["status"] != 200.0 || !at(two).After(at(one)) || strings.Contains(two.text, "note: ") {
		t.Errorf("the page that holds: %s %v", two.text, two.keys)
	}
	if w := why(two); w != "succeeded, ok: the site said that the page is the one that is kept for this run" {
		t.Errorf("why: %s", w)
	}
	site.set(second, map[string]string{"ETag": `"v2"`, "Cache-Control": "no-store", "Age": "90"})
	three := look(alice)
	if asked = site.requests(); asked[2].Get("If-None-Match") != `"v1"` || !strings.Contains(three.text, "snapshot 2") || !strings.Contains(three.body, "stands still") {
		t.Errorf("the page that changed, asked with %v: %s", asked[2], three.text)
	}
	if w := why(three); w != "succeeded, ok: a cache before the site had the answer for 90 s" {
		t.Errorf("why: %s", w)
	}
	// The site wants nothing of this one stored: it is kept to read on in, and not asked about.
	if four := look(alice); four.body != three.body || strings.Contains(four.text, "note: ") || four.keys["snapshot"] != 2.0 {
		t.Errorf("again: %s", four.text)
	}
	look(in.client(t, in.token(t, "bob"), "2025-11-25"))
	for i, header := range site.requests()[3:] {
		if tag := header.Get("If-None-Match"); tag != "" {
			t.Errorf("request %d was asked with %s", 3+i, tag)
		}
	}
}
