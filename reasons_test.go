package wayleave

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// TestARecordSaysWhichRuleRefusedAndWhatSentNothing: people read it, so it names rule and host of a refusal, by whomever,
// and says of an answer from a kept page that it is one. The address itself is sealed.
func TestARecordSaysWhichRuleRefusedAndWhatSentNothing(t *testing.T) {
	url, permit, _ := site(t, strings.Repeat("A line of some words.\n", 2000))
	moved := httptest.NewServer(http.RedirectHandler("http://10.0.0.1/canary", http.StatusFound))
	t.Cleanup(moved.Close)
	other, err := weburl.ParsePermit(moved.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit, other}}}})
	session := in.client(t, in.token(t, "alice"), "2026-07-28")
	harness := newToken(t, in.beside, "alice", agent.ScopeHarness)
	who, err := in.beside.Agents.BySlug(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments map[string]any
		paused    bool
		outcome   string
		kept      bool
		stage     string
		fact      string
	}{
		{map[string]any{"url": url}, false, "ok", false, "outcome", "succeeded, ok"},
		{map[string]any{"url": url, "offset": 12_000}, false, "not_dispatched", true, "outcome", "succeeded: answered from the page that is kept for this run, so nothing was sent"},
		{map[string]any{"url": "http://10.0.0.1:8080/canary?q=canary"}, false, "", false, "policy", "refused as web_fetch_disallowed_url (host 10.0.0.1): rule private, a host that is not public"},
		{map[string]any{"url": moved.URL + "/canary"}, false, "provider_error", false, "outcome",
			"succeeded, provider_error (web_fetch_disallowed_redirect): rule private, a host that is not public; a redirect of 127.0.0.1 led to 10.0.0.1"},
		{map[string]any{"url": url, "canary": "canary"}, false, "", false, "arguments", "refused as invalid_web_fetch_input"},
		{map[string]any{"url": url, "offset": -1}, false, "", false, "arguments", "refused as invalid_web_fetch_input: the argument offset"},
		{map[string]any{"url": "http://shop.example/canary"}, true, "", false, "admission", "refused as paused (host shop.example): nothing was sent; an operator paused this agent"},
	} {
		if c.paused {
			if _, err := in.beside.Agents.Pause(t.Context(), who.ID, "cli"); err != nil {
				t.Fatal(err)
			}
		}
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: c.arguments})
		if err != nil {
			t.Fatal(err)
		}
		ids := res.StructuredContent.(map[string]any)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, in.url+"/api/runs/"+ids["run_id"].(string)+"/tool-calls/"+ids["tool_call_id"].(string), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+harness)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var record wire.Record
		err = json.NewDecoder(got.Body).Decode(&record)
		got.Body.Close()
		if err != nil || got.StatusCode != http.StatusOK || len(record.Why) == 0 {
			t.Fatalf("%v: %d, %v, %+v", c.arguments, got.StatusCode, err, record)
		}
		for _, w := range record.Why {
			if strings.Contains(w.Fact, "2147483647") || w.Stage == "admission" && strings.Contains(w.Fact, "of the run, no limit") {
				t.Errorf("%v: a run without a number of calls has one: %s", c.arguments, w.Fact)
			}
		}
		last := record.Why[len(record.Why)-1]
		if record.Outcome != c.outcome || record.FromKept() != c.kept || last.Stage != c.stage || !strings.HasPrefix(last.Fact, c.fact) || strings.Contains(last.Fact, "canary") {
			t.Errorf("%v: %s, from kept %v, %s: %s; want %s: %s", c.arguments, record.Outcome, record.FromKept(), last.Stage, last.Fact, c.stage, c.fact)
		}
	}
}
