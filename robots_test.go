package wayleave

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// TestRobotsAreAnOperatorsChoice: off they are not asked for; obeyed, the file goes out under the call's own permit, a refusal
// is told with rule and way out, the record says which line decided, and one agent knows nothing of what another was told.
func TestRobotsAreAnOperatorsChoice(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	serve := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
		if r.URL.Path == "/robots.txt" {
			_, _ = w.Write([]byte("User-agent: Wayleave\nDisallow: /private/canary\n"))
			return
		}
		_, _ = w.Write([]byte("<h1>Mill</h1><p>It turns twice a day.</p>"))
	}))
	t.Cleanup(serve.Close)
	permit, err := weburl.ParsePermit(serve.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(c webfetch.RobotsChoice) webfetch.Options {
		r, err := webfetch.NewRobots(c)
		if err != nil {
			t.Fatal(err)
		}
		return webfetch.Options{Robots: r, Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}
	}
	since := func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { asked = nil }()
		return asked
	}
	off := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	if text, failed := read(t, off.client(t, off.token(t, "alice"), ""), map[string]any{"url": serve.URL + "/private/canary"}); failed {
		t.Fatal(text)
	}
	if got := since(); !slices.Equal(got, []string{"/private/canary"}) {
		t.Errorf("off: asked %q", got)
	}

	in := launch(t, Options{Fetch: fetch(webfetch.RobotsChoice{Obey: true})})
	alice := in.client(t, in.token(t, "alice"), "2026-07-28")
	harness := in.apiUser(t, "alice", agent.ScopeHarness)
	record := func(url string) wire.Record {
		t.Helper()
		res, err := alice.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": url}})
		if err != nil {
			t.Fatal(err)
		}
		ids := res.StructuredContent.(map[string]any)
		return got[wire.Record](harness, http.MethodGet, "/api/runs/"+ids["run_id"].(string)+"/tool-calls/"+ids["tool_call_id"].(string), "")
	}
	why := func(r wire.Record) string { return r.Why[len(r.Why)-1].Fact }

	first := record(serve.URL + "/private/canary")
	if !strings.HasPrefix(first.Text, `web_fetch_disallowed_url: nothing but robots.txt was asked for; `) || !strings.Contains(first.Text, `line 2: "/private/canary"`) ||
		!strings.HasSuffix(first.Text, "An operator can exempt this site: wayleave serve --robots-ignore 127.0.0.1") || first.State != "succeeded" || first.Outcome != "provider_error" {
		t.Errorf("%s, %s: %s", first.State, first.Outcome, first.Text)
	}
	if w := why(first); !strings.HasSuffix(w, "(web_fetch_disallowed_url): rule robots, robots.txt of 127.0.0.1 disallows it in line 2, for this product by its name (status 200, asked for now)") || strings.Contains(w, "canary") {
		t.Errorf("why %s", w)
	}
	if got := since(); !slices.Equal(got, []string{"/robots.txt"}) {
		t.Errorf("asked %q", got)
	}
	// What is known refuses before anything is admitted, and nothing is sent.
	again := record(serve.URL + "/private/canary")
	if again.State != "refused" || !strings.HasPrefix(again.Text, "web_fetch_disallowed_url: nothing was sent; ") || !strings.Contains(why(again), "UTC and kept") || len(since()) != 0 {
		t.Errorf("%s: %s; %s", again.State, again.Text, why(again))
	}
	open := record(serve.URL + "/open")
	if open.State != "succeeded" || open.Outcome != "ok" || !strings.Contains(why(open), "robots.txt of 127.0.0.1 says nothing of it (status 200, read at ") {
		t.Errorf("%s, %s; %s", open.State, open.Outcome, why(open))
	}
	if got := since(); !slices.Equal(got, []string{"/open"}) {
		t.Errorf("asked %q", got)
	}
	if text, failed := read(t, in.client(t, in.token(t, "bob"), ""), map[string]any{"url": serve.URL + "/open"}); failed {
		t.Fatal(text)
	}
	if got := since(); !slices.Equal(got, []string{"/robots.txt", "/open"}) {
		t.Errorf("another agent: asked %q", got)
	}

	loopback, err := weburl.ParseHostPattern("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	exempt := launch(t, Options{Fetch: fetch(webfetch.RobotsChoice{Obey: true, Ignored: []weburl.HostPattern{loopback}})})
	if text, failed := read(t, exempt.client(t, exempt.token(t, "alice"), ""), map[string]any{"url": serve.URL + "/private/canary"}); failed {
		t.Fatal(text)
	}
	if got := since(); !slices.Equal(got, []string{"/private/canary"}) {
		t.Errorf("exempt: asked %q", got)
	}
}
