package operatorapi

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// everyPage is each page with something on it.
var everyPage = []string{"/", "/needs-you/approvals", "/needs-you/approvals?id=apr_alice", "/needs-you/uncertain", "/needs-you/uncertain?id=call_unsure_alice", "/needs-you/history",
	"/runs", "/runs?agent=alice&state=open", "/runs/run_alice", "/runs/run_alice?call=call_read_alice", "/runs/run_alice?show=trouble", "/agents", "/agents/alice", "/audit", "/audit?verb=agent.paused"}

// page asks for one as a browser that navigates does.
func (w *world) page(who, path string) answered {
	r := w.request(w.creds[who], "GET", path, "")
	r.Header.Del(gate.ConfirmHeader) // a navigation has none
	r.Header.Set("Sec-Fetch-Site", "none")
	return w.send(r)
}

// element is a tag with its attributes.
type element struct {
	tag  string
	attr map[string]string
}

// elements are all tags of a page, and its text.
func elements(t *testing.T, page string) (tags []element, text string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	var b strings.Builder
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				t.Fatal(z.Err())
			}
			return tags, b.String()
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			e := element{tok.Data, make(map[string]string)}
			for _, a := range tok.Attr {
				e.attr[a.Key] = a.Val
			}
			tags = append(tags, e)
		}
	}
}

// harmless says what on a page could do something that we did not write.
func harmless(t *testing.T, path, page string) (text string) {
	t.Helper()
	tags, text := elements(t, page)
	for _, e := range tags {
		switch e.tag {
		case "script":
			if !strings.HasPrefix(e.attr["src"], "/assets/app.") {
				t.Errorf("%s has a script %v", path, e.attr)
			}
		case "style", "iframe", "object", "embed", "base", "img", "video", "audio", "math", "marquee", "template":
			t.Errorf("%s has a <%s>", path, e.tag)
		case "link":
			if !strings.HasPrefix(e.attr["href"], "/assets/") {
				t.Errorf("%s loads %v", path, e.attr)
			}
		}
		for name, value := range e.attr {
			if strings.HasPrefix(name, "on") || name == "style" || name == "srcdoc" {
				t.Errorf("%s has <%s %s=%q>", path, e.tag, name, value)
			}
			if name == "href" || name == "src" || name == "action" || name == "formaction" {
				u, err := url.Parse(value)
				local := err == nil && u.Scheme == "" && u.Host == "" && (strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "//") || strings.HasPrefix(value, "#") || value == "")
				if !local {
					t.Errorf("%s leads to %q by <%s>", path, value, e.tag)
				}
			}
		}
	}
	return text
}

// nasty are texts of strangers that are more than text somewhere.
var nasty = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`, `data:text/html,<script>alert(1)</script>`,
	`</pre></main></body><h1>Sign in</h1>`, `{{.Body}}`, `${alert(1)}`, "line\nbreak", "turned \u202Eback\u202C", "no\u200Bthing", `<!--`, `]]>`, `&lt;b&gt;`, `</title><script>alert(1)</script>`,
	`http://evil.test/`, "\x1b]0;title\x07",
}

// spoil puts a text wherever a stranger's words can stand.
func (f *fake) spoil(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.runs {
		r := &f.runs[i]
		r.Title, r.Client, r.Conversation, r.EndReason = text, text, text, text
		if i%2 == 1 { // without a title a run is called by its client
			r.Title = ""
		}
	}
	for i := range f.calls {
		c := &f.calls[i]
		c.Conversation, c.Key, c.Code = text, text, text
		c.Args = []byte(`{"url":` + quote(text) + `,"a":"b"}`)
		c.Result = []byte(`{"v":1,"text":` + quote(text) + `,"output":{"content":` + quote(text) + `}}`)
		c.Late = []byte(`{"v":1,"text":` + quote(text) + `}`)
		c.Why = append(c.Why, ledger.Reason{Stage: text, Fact: text, Ref: text})
		c.Evidence = []ledger.EvidenceRow{{Provider: text, Conversation: text, At: c.Created, Evidence: ledger.Evidence{Kind: "content", Host: text, URL: text, Title: text, SHA256: text}}}
		if c.State == effect.Uncertain && i > 3 {
			c.Verdict = &ledger.Reconciliation{Verdict: ledger.Happened, Note: text, By: ledger.By{Kind: "operator", ID: text}}
		}
	}
	for i := range f.asked {
		a := &f.asked[i]
		a.Message, a.Profile, a.Tool = text, text, text
		a.Facts = approval.Facts{Tier: approval.Sensitive, Origin: text, Does: []string{text}, Credential: text, Description: text, Inputs: []approval.Input{{Name: text, Value: text}}}
	}
	f.asked = append(f.asked, approval.Approval{ID: "apr_old", Agent: f.alice.ID, Slug: "alice", Run: text, Tool: text, State: approval.Denied, AnsweredBy: text, Channel: approval.Channel(text), UsedBy: text,
		Facts: approval.Facts{Origin: text}, Created: f.clock.Now()})
	f.audit = []audit.Row{{ID: text, Actor: text, Verb: text, Subject: text, At: f.clock.Now(), Detail: []byte(`{"a":` + quote(text) + `}`)}}
}

func quote(s string) string {
	text, _ := gate.Encode(s) // a string: it cannot fail
	return strings.TrimSpace(string(text))
}

// TestTM069TM073StrangersWordsAreText: whatever stands in a field, no page has an element, a script or a link of it.
func TestTM069TM073StrangersWordsAreText(t *testing.T) {
	w := newWorld(t)
	seen := 0
	for _, text := range nasty {
		w.fake.reset()
		w.fake.spoil(text)
		for _, path := range everyPage {
			got := w.page("owner", path)
			if got.status != http.StatusOK {
				t.Fatalf("%s with %q: %d %.300s", path, text, got.status, got.body)
			}
			words := harmless(t, path, got.body)
			if strings.Contains(html.UnescapeString(words), strings.ReplaceAll(text, "\n", "")) {
				seen++
			}
			for _, r := range "\u202E\u202C\u200B\x1b\x07" {
				if strings.ContainsRune(got.body, r) {
					t.Errorf("%s shows %U as it is", path, r)
				}
			}
		}
	}
	if seen < 80 { // else nothing of it was on the pages
		t.Errorf("strangers' words were seen %d times", seen)
	}
}

// TestRunsAreCalledByTheirClients: by the name that it gave, cut where there is no room and whole in the tooltip; where there
// is none, by their kind.
func TestRunsAreCalledByTheirClients(t *testing.T) {
	w := newWorld(t)
	for i := range w.fake.runs {
		w.fake.runs[i].Title, w.fake.runs[i].Client = "", ""
	}
	run := &w.fake.runs[0]
	kind := map[string]string{"explicit": "opened by the harness", "session": "an MCP session", "implicit": "implicit"}[run.Kind]
	if got := w.page("owner", "/runs/"+run.ID).body; !strings.Contains(got, kind) || strings.Contains(got, "· client") {
		t.Errorf("a run of nobody known: %s", got)
	}
	run.Client = "claude-code"
	for path, says := range map[string]string{"/runs": `<span title="claude-code">claude-code</span>`, "/runs/" + run.ID: "· client <span"} {
		if got := w.page("owner", path).body; !strings.Contains(got, says) {
			t.Errorf("%s does not say %s", path, says)
		}
	}
	run.Client = strings.Repeat("x", 200)
	if got := w.page("owner", "/runs").body; !strings.Contains(got, `title="`+run.Client+`">`+strings.Repeat("x", 39)+"…<") {
		t.Error("a long name is not cut, or not whole in the tooltip")
	}
	if got := get[wire.Run](w, "owner", "/api/runs/"+run.ID); got.Client != run.Client {
		t.Errorf("the API says %q", got.Client)
	}
}

// TestTM073PagesMayNotBeFramed, opened with strings attached, or add anything from elsewhere.
func TestTM073PagesMayNotBeFramed(t *testing.T) {
	w := newWorld(t)
	for _, path := range append([]string{"/sign-in", "/nothing", "/runs/run_none"}, everyPage...) {
		got := w.page("owner", path)
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'self'; script-src 'self'; style-src 'self'", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			if !strings.HasPrefix(got.header.Get(name), want) {
				t.Errorf("%s: %s is %q", path, name, got.header.Get(name))
			}
		}
		for _, part := range []string{"frame-ancestors 'none'", "base-uri 'none'", "object-src 'none'", "form-action 'self'"} {
			if csp := got.header.Get("Content-Security-Policy"); !strings.Contains(csp, part) || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: %q", path, csp)
			}
		}
		harmless(t, path, got.body)
	}
}

// TestPagesKnowNoMoreThanTheApi: each role sees what the API tells it, and no button that it may not press.
func TestPagesKnowNoMoreThanTheApi(t *testing.T) {
	w := newWorld(t)
	for _, path := range everyPage {
		for _, who := range []string{"viewer of alice", "operator of alice", "operator of all", "owner"} {
			got := w.page(who, path)
			if strings.HasPrefix(path, "/audit") && strings.HasSuffix(who, "of alice") {
				if got.status != http.StatusForbidden {
					t.Errorf("%s by the %s: %d", path, who, got.status)
				}
				continue
			}
			if got.status != http.StatusOK {
				t.Errorf("%s by the %s: %d", path, who, got.status)
				continue
			}
			tags, text := elements(t, got.body)
			if strings.HasSuffix(who, "of alice") && strings.Contains(strings.ReplaceAll(text, "run_bob", ""), "bob") {
				t.Errorf("%s tells the %s of bob", path, who)
			}
			acts := 0
			for _, e := range tags {
				act := e.attr["data-act"] + e.attr["data-json"]
				if act == "" || act == "POST /api/sign-out" {
					continue
				}
				acts++
				method, at, _ := strings.Cut(act, " ")
				r := w.request(w.creds[who], method, at, "")
				if !w.s.gate.Served(r) {
					t.Errorf("%s has a button for %s, which is nothing", path, act)
				}
				if impact := e.attr["data-impact"]; impact != "" {
					if got := w.do(who, "GET", impact, ""); got.status != http.StatusOK {
						t.Errorf("%s: %s by the %s: %d", path, impact, who, got.status)
					}
				}
			}
			if who == "viewer of alice" && acts > 0 {
				t.Errorf("%s has %d buttons for a viewer", path, acts)
			}
			if who == "owner" && acts == 0 {
				t.Errorf("%s has no button for an owner", path)
			}
		}
	}
	for path, status := range map[string]int{"/agents/bob": 404, "/runs/run_bob": 404, "/needs-you/approvals?id=apr_bob": 404, "/nothing": 404, "/runs/run_alice?call=call_read_bob": 404} {
		if got := w.page("viewer of alice", path); got.status != status || strings.Contains(got.body, "bob<") {
			t.Errorf("%s: %d", path, got.status)
		}
	}
}

// TestPagesAskToSignIn, and go on to where one wanted to be, which is a place of ours.
func TestPagesAskToSignIn(t *testing.T) {
	w := newWorld(t)
	got := w.page("nobody", "/runs/run_alice?show=effects")
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/sign-in?next="+url.QueryEscape("/runs/run_alice?show=effects") {
		t.Errorf("%d %v", got.status, got.header)
	}
	for next, want := range map[string]string{"/agents": "/agents", "": "/", "http://evil.test/": "/", "//evil.test/": "/", `/\evil.test`: "/", "javascript:alert(1)": "/", "evil": "/", "/a\r\nb": "/"} {
		tags, _ := elements(t, w.page("nobody", "/sign-in?next="+url.QueryEscape(next)).body)
		i := slices.IndexFunc(tags, func(e element) bool { return e.attr["data-next"] != "" })
		if i < 0 || tags[i].attr["data-next"] != want {
			t.Errorf("next %q goes on to %v", next, tags[max(i, 0)].attr)
		}
	}
	// A link from another site comes without the cookie: the page asks again by itself and shows nothing.
	r := w.request(w.creds["owner"], "GET", "/runs/run_alice", "")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if again := w.send(r); again.status != 200 || strings.Contains(again.body, "run_alice") || !strings.Contains(again.body, "data-again") {
		t.Errorf("%d %.400s", again.status, again.body)
	}
}

// TestTM071PagesAreOfOneName: at another name of ours there is no page but the one that says where.
func TestTM071PagesAreOfOneName(t *testing.T) {
	w := newWorld(t)
	for _, host := range []string{"localhost:7477", "127.0.0.1:7477", "wayleave.localhost:7477"} {
		for _, path := range []string{"/", "/sign-in", "/runs/run_alice"} {
			r := w.request(w.creds["owner"], "GET", path, "")
			r.Host = host
			if got := w.send(r); got.status != http.StatusForbidden || strings.Contains(got.body, label) || strings.Contains(got.body, "alice") {
				t.Errorf("%s at %s: %d, or it tells the install's name", path, host, got.status)
			}
		}
	}
	r := w.request(w.creds["owner"], "GET", "/", "")
	r.Host = "evil.test"
	refused(t, w.send(r), 403, gate.CodeInvalidHost)
}

func TestAssetsAreOursAndMayBeKept(t *testing.T) {
	w := newWorld(t)
	tags, _ := elements(t, w.page("owner", "/").body)
	found := 0
	for _, e := range tags {
		at := e.attr["src"] + e.attr["href"]
		if !strings.HasPrefix(at, "/assets/") {
			continue
		}
		found++
		got := w.page("nobody", at)
		if got.status != 200 || !strings.Contains(got.header.Get("Cache-Control"), "immutable") || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", at, got.status, got.header)
		}
		if strings.Contains(got.body, "http://") && !strings.Contains(got.body, "http://www.w3.org/2000/svg") || strings.Contains(got.body, "innerHTML") || strings.Contains(got.body, "https://") {
			t.Errorf("%s names another place, or makes markup", at)
		}
	}
	if found != 3 {
		t.Errorf("%d assets", found)
	}
}

// TestThePausedBarIsOnEveryPage: nobody wonders why calls are refused.
func TestThePausedBarIsOnEveryPage(t *testing.T) {
	w := newWorld(t)
	if got := w.do("owner", "POST", "/api/install/pause", ""); got.status != 204 {
		t.Fatal(got)
	}
	for _, path := range everyPage {
		if got := w.page("viewer of all", path); !strings.Contains(got.body, "All agents are paused") || strings.Contains(got.body, "install/resume") {
			t.Errorf("%s: no bar, or a viewer may resume", path)
		}
	}
	if got := w.page("owner", "/"); !strings.Contains(got.body, "POST /api/install/resume") {
		t.Error("an owner cannot resume")
	}
}

// TestAnAgentsPageSaysWhatItMay: its limits in force, and the private hosts, of which only a decider takes back the agent's own.
func TestAnAgentsPageSaysWhatItMay(t *testing.T) {
	w := newWorld(t)
	if got := w.page("owner", "/agents/alice").body; !strings.Contains(got, "None: it reads the public web alone.") {
		t.Error("it does not say that there is no private host")
	}
	for path, host := range map[string]string{"/api/agents/alice/allowed-hosts": "printer.lan:631", "/api/settings/allowed-hosts": "10.0.0.0/8"} {
		if got := w.do("owner", "POST", path, `{"host":"`+host+`"}`); got.status != 200 {
			t.Fatal(got)
		}
	}
	b := bound("agent_alice")
	limits := fmt.Sprintf("%s · %d a minute", b.Provider, b.MinuteLimit)
	take := `data-act="DELETE /api/agents/alice/allowed-hosts?host=printer.lan%3A631"`
	for who, may := range map[string]bool{"owner": true, "viewer of all": false} {
		got := w.page(who, "/agents/alice").body
		for _, says := range []string{limits, "printer.lan:631", "10.0.0.0/8", "this agent", "every agent"} {
			if !strings.Contains(got, says) {
				t.Errorf("%s is not told %q", who, says)
			}
		}
		if strings.Contains(got, take) != may || strings.Contains(got, "10.0.0.0%2F8") {
			t.Errorf("what %s may take back: want %t", who, may)
		}
	}
	if got := w.do("owner", "DELETE", "/api/agents/alice/allowed-hosts?host=printer.lan%3A631", ""); got.status != 204 {
		t.Fatal(got)
	}
	if got := w.page("owner", "/agents/alice").body; strings.Contains(got, "printer.lan:631") {
		t.Error("it is there still")
	}
}
