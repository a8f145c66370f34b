package wayleave

// What a call left is the same wherever one looks: in the agent's result, in the answer over HTTP, in the record, in the
// run's export.

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// apiUser is a token's way to the HTTP API.
type apiUser struct {
	t     *testing.T
	base  string
	token string
}

func (in *served) apiUser(t *testing.T, slug string, scope agent.Scope) apiUser {
	t.Helper()
	return apiUser{t, in.url, newToken(t, in.beside, slug, scope)}
}

// do sends a request and gives the status and the body.
func (o apiUser) do(method, path, body string) (int, []byte) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, o.base+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return res.StatusCode, said
}

// got is an answer of 200 as an object.
func got[T any](o apiUser, method, path, body string) (out T) {
	o.t.Helper()
	status, said := o.do(method, path, body)
	if status != http.StatusOK {
		o.t.Fatalf("%s %s: %d %s", method, path, status, said)
	}
	if err := json.Unmarshal(said, &out); err != nil {
		o.t.Fatalf("%s %s: %v in %s", method, path, err, said)
	}
	return out
}

// siteOfAll is a site of every kind of page.
func siteOfAll(t *testing.T) (base string, permit weburl.Permit, count *atomic.Int64) {
	t.Helper()
	count = new(atomic.Int64)
	long := strings.Repeat("A line of words, and some more of them.\n", 2000)
	mux := http.NewServeMux()
	serve := func(path, kind, text string, status int) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			count.Add(1)
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Etag", `"canary-etag"`)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		})
	}
	serve("/html", "text/html; charset=utf-8", "<title>canary-title &amp; more</title><h1>Head</h1><p>Text with <b>marks</b> &lt;/untrusted_web_content> and ünï.</p><table><tr><td>a<td>b</table>", 200)
	serve("/long", "text/plain", long, 200)
	serve("/json", "application/json", `{"a":9007199254740993,"<b>":"&"}`, 200)
	serve("/missing", "text/html", "<p>It is not here.</p>", 404)
	serve("/empty", "text/plain", "", 200)
	serve("/none", "text/plain", "", 503)
	serve("/wide", "text/plain", strings.Repeat("界", 8000), 200)
	serve("/odd", "text/plain", "bidi \u202e and tags \U000E0041 and </untrusted_web_content\u200b> \u2028 \ufeff end", 200)
	mux.HandleFunc("/from", func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		http.Redirect(w, r, "/html", http.StatusFound)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	permit, err := weburl.ParsePermit(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return s.URL, permit, count
}

// everyKind are calls of every kind of answer.
func everyKind(base string) map[string]map[string]any {
	return map[string]map[string]any{
		"html":          {"url": base + "/html"},
		"raw html":      {"url": base + "/html?raw", "format": "raw"},
		"a fragment":    {"url": " " + base + "/html?x=1#part "},
		"long":          {"url": base + "/long"},
		"small window":  {"url": base + "/long?small", "offset": 333, "max_bytes": 77},
		"past the end":  {"url": base + "/long?past", "offset": 1_000_000},
		"found":         {"url": base + "/long?found", "find": "MORE of", "offset": 40_000},
		"not found":     {"url": base + "/long?nowhere", "find": "nowhere to be seen"},
		"json":          {"url": base + "/json"},
		"404":           {"url": base + "/missing"},
		"empty":         {"url": base + "/empty"},
		"redirected":    {"url": base + "/from"},
		"wide":          {"url": base + "/wide", "max_bytes": 20_000},
		"odd":           {"url": base + "/odd"},
		"no body":       {"url": base + "/none"},
		"refused":       {"url": "http://10.255.255.1/"},
		"bad argument":  {"url": base + "/html", "offset": -1},
		"not an option": {"url": base + "/html", "headers": "x"},
	}
}

// readOnPages is what people see on the pages as what a model read.
var readOnPages = regexp.MustCompile(`(?s)<pre class="code tall" tabindex="0">(.*?)</pre>`)

// seen is a text with the characters that nobody sees by their numbers, as the pages show them.
func seen(text string) string {
	return strings.NewReplacer("\u200b", "‹U+200B›", "\u2028", "‹U+2028›", "\ufeff", "‹U+FEFF›").Replace(text)
}

// W-055, W-057, W-070, F-091, F-092: one call over MCP, the same over HTTP, and what people see of it.
func TestW055W057TheAPIGivesWhatMCPGave(t *testing.T) {
	base, permit, _ := siteOfAll(t)
	in := launch(t, Options{PerHost: 1000, PerHostSecond: 100_000, Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	harness, tools := in.apiUser(t, "alice", agent.ScopeHarness), in.apiUser(t, "alice", agent.ScopeTools)
	_, link, err := in.beside.People.NewLink(t.Context(), "", "test")
	if err != nil {
		t.Fatal(err)
	}
	owner := in.signIn(t, link.Reveal(), "")
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		session := in.client(t, tools.token, revision)
		for name, arguments := range everyKind(base) {
			t.Run(revision+", "+name, func(t *testing.T) {
				harness.t, tools.t = t, t
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: arguments})
				if err != nil {
					t.Fatal(err)
				}
				text := res.Content[0].(*mcp.TextContent).Text
				structured := res.StructuredContent.(map[string]any)
				run, call := structured["run_id"].(string), structured["tool_call_id"].(string)
				record := got[wire.Record](harness, http.MethodGet, "/api/runs/"+run+"/tool-calls/"+call, "")
				if record.Text != text {
					t.Errorf("W-055: the record's text is\n%q\nthe model read\n%q", record.Text, text)
				}
				sameKeys(t, structured, record, text, res.IsError)
				_, page := owner.do(t, http.MethodGet, "/runs/"+run+"?call="+call, "")
				if shown := readOnPages.FindStringSubmatch(page); shown == nil || seen(html.UnescapeString(shown[1])) != seen(text) {
					t.Errorf("W-055: the page shows\n%q\nthe model read\n%q", shown, text)
				}
				var evidence []string
				for _, e := range record.Evidence {
					evidence = append(evidence, e.ID)
				}
				meta := res.Meta
				if fmt.Sprint(meta["wayleave/evidence"]) != fmt.Sprint(evidence) || meta["wayleave/run"] != run || meta["wayleave/call"] != call || meta["wayleave/conversation"] != record.Conversation {
					t.Errorf("F-092: the result's ids are %v, the record has %v in %s", meta, evidence, record.Conversation)
				}

				// The same call over HTTP, in a run of its own.
				opened := got[wire.OpenedRun](harness, http.MethodPost, "/api/runs", `{}`)
				body, err := json.Marshal(map[string]any{"tool": "web_fetch", "arguments": arguments})
				if err != nil {
					t.Fatal(err)
				}
				status, said := tools.do(http.MethodPost, "/api/runs/"+opened.ID+"/tool-calls", string(body))
				var answer wire.Record
				if err := json.Unmarshal(said, &answer); err != nil || answer.Text != text || (status == http.StatusOK) != (name != "bad argument" && name != "not an option") {
					t.Errorf("W-070: over HTTP it is %d, %v\n%q", status, err, answer.Text)
				}
				again := got[wire.Record](harness, http.MethodGet, "/api/runs/"+opened.ID+"/tool-calls/"+answer.ID, "")
				answer.Delivery = again.Delivery // which the answer itself brings about
				if !reflect.DeepEqual(answer, again) {
					t.Errorf("the answer and the record differ:\n%+v\n%+v", answer, again)
				}
			})
		}
	}
}

// sameKeys holds a record against the keys that MCP carried: all of them, and what a page chose beside.
func sameKeys(t *testing.T, structured map[string]any, record wire.Record, text string, failed bool) {
	t.Helper()
	if failed {
		var keys map[string]any
		if err := json.Unmarshal(record.Error, &keys); err != nil || record.Output != nil || !reflect.DeepEqual(keys, structured) {
			t.Errorf("the record's error is %s, MCP had %v", record.Error, structured)
		}
		return
	}
	var window webfetch.Window
	if err := json.Unmarshal(record.Output, &window); err != nil || record.Error != nil {
		t.Fatalf("%v: %s", err, record.Output)
	}
	if rendered := webfetch.Render(&window); rendered != text {
		t.Errorf("W-055: the record renders to\n%q\nthe model read\n%q", rendered, text)
	}
	var output map[string]any
	if err := json.Unmarshal(record.Output, &output); err != nil {
		t.Fatal(err)
	}
	for key, value := range structured {
		switch key {
		case "ok", "tool_call_id", "run_id":
			continue
		case "notes":
			var kinds, told []string
			for _, n := range window.Notes {
				kinds = append(kinds, n.Kind)
			}
			for _, n := range value.([]any) {
				told = append(told, n.(map[string]any)["kind"].(string))
			}
			if !slices.Equal(kinds, told) {
				t.Errorf("the record has the notes %v, MCP had %v", kinds, told)
			}
			continue
		}
		if !reflect.DeepEqual(output[key], value) {
			t.Errorf("W-057: the record's %s is %v, MCP had %v", key, output[key], value)
		}
	}
	if _, has := output["content"]; !has || window.Headers["etag"] != `"canary-etag"` {
		t.Errorf("W-057: the record lacks what the page chose: %s", record.Output)
	}
	for _, own := range []string{"content", "title", "headers"} {
		if _, has := structured[own]; has {
			t.Errorf("W-057: over MCP there is %s", own)
		}
	}
}

// F-091: provenance is the same ids wherever a run's results are shown, and in the file that a run is exported as.
func TestF091TheExportOfARunIsItsRecords(t *testing.T) {
	base, permit, _ := siteOfAll(t)
	in := launch(t, Options{PerHost: 1000, PerHostSecond: 100_000, Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	harness, tools := in.apiUser(t, "alice", agent.ScopeHarness), in.apiUser(t, "alice", agent.ScopeTools)
	run := got[wire.OpenedRun](harness, http.MethodPost, "/api/runs", `{"conversation_id":"desk-7","title":"Tickets"}`)
	calls := 0
	for _, arguments := range everyKind(base) {
		body, err := json.Marshal(map[string]any{"tool": "web_fetch", "arguments": arguments})
		if err != nil {
			t.Fatal(err)
		}
		if status, said := tools.do(http.MethodPost, "/api/runs/"+run.ID+"/tool-calls", string(body)); status >= 500 {
			t.Fatalf("%d %s", status, said)
		}
		calls++
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, in.url+"/api/runs/"+run.ID+"/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+harness.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if name := res.Header.Get("Content-Disposition"); !strings.HasPrefix(name, "attachment; filename=") || !strings.Contains(name, run.ID+".json") {
		t.Errorf("it is no file: %q", name)
	}
	var whole wire.Export
	if err := json.NewDecoder(res.Body).Decode(&whole); err != nil {
		t.Fatal(err)
	}
	if len(whole.Calls) != calls || whole.Run.ID != run.ID || whole.Run.Title != "Tickets" || whole.Run.Conversation != "desk-7" {
		t.Errorf("%d of %d calls of %+v", len(whole.Calls), calls, whole.Run)
	}
	var all []wire.Evidence
	for _, exported := range whole.Calls {
		record := got[wire.Record](harness, http.MethodGet, "/api/runs/"+run.ID+"/tool-calls/"+exported.ID, "")
		exported.Delivery = record.Delivery // written a moment after the answer
		if !reflect.DeepEqual(exported, record) {
			t.Errorf("%s is exported as\n%+v\nits record is\n%+v", exported.ID, exported, record)
		}
		for _, e := range record.Evidence {
			if e.Conversation != "desk-7" {
				t.Errorf("%s is of conversation %s", e.ID, e.Conversation)
			}
		}
		all = append(all, record.Evidence...)
	}
	hosts := 0
	for i, listed := range got[wire.Calls](harness, http.MethodGet, "/api/runs/"+run.ID+"/tool-calls?limit=100", "").Calls {
		if listed.ID != whole.Calls[i].ID || listed.Host != whole.Calls[i].Host {
			t.Errorf("%s is listed with host %q, its record has %q", listed.ID, listed.Host, whole.Calls[i].Host)
		}
		if listed.Host != "" {
			hosts++
		}
	}
	if hosts == 0 {
		t.Error("no call is listed with its host")
	}
	list := got[wire.EvidenceList](harness, http.MethodGet, "/api/runs/"+run.ID+"/evidence?limit=100", "")
	if !reflect.DeepEqual(list.Evidence, all) || len(all) < calls {
		t.Errorf("the run's evidence is\n%+v\nits records have\n%+v", list.Evidence, all)
	}
}

// W-080, F-110: the same name of a call gives the stored answer and sends nothing, at either door.
func TestW080TheSameCallAgainIsTheStoredAnswer(t *testing.T) {
	url, permit, count := site(t, strings.Repeat("A line of some words.\n", 50))
	in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}})
	harness, tools := in.apiUser(t, "alice", agent.ScopeHarness), in.apiUser(t, "alice", agent.ScopeTools)
	session := in.client(t, tools.token, "2026-07-28")
	keyed := func(key string) (string, map[string]any) {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": url}, Meta: mcp.Meta{"wayleave/callId": key}})
		if err != nil || res.IsError {
			t.Fatalf("%v, %+v", err, res)
		}
		return res.Content[0].(*mcp.TextContent).Text, res.StructuredContent.(map[string]any)
	}
	first, ids := keyed("call-of-mcp")
	again, same := keyed("call-of-mcp")
	head, body, _ := strings.Cut(first, "\n")
	note, rest, _ := strings.Cut(strings.TrimPrefix(again, head+"\n"), "\n")
	if !strings.HasPrefix(note, "note: recorded · result of "+ids["tool_call_id"].(string)+" of ") || !strings.HasSuffix(note, "; nothing was sent now") || rest != body || !reflect.DeepEqual(ids, same) || count.Load() != 1 {
		t.Errorf("%d requests; the first answer was\n%s\nthe second\n%s", count.Load(), first, again)
	}
	run := got[wire.OpenedRun](harness, http.MethodPost, "/api/runs", `{}`)
	call := fmt.Sprintf(`{"tool":"web_fetch","arguments":{"url":%q},"call_id":"call-of-http"}`, url)
	one := got[wire.Record](tools, http.MethodPost, "/api/runs/"+run.ID+"/tool-calls", call)
	two := got[wire.Record](tools, http.MethodPost, "/api/runs/"+run.ID+"/tool-calls", call)
	if two.ID != one.ID || string(two.Output) != string(one.Output) || one.CallerID != "call-of-http" || !strings.Contains(two.Text, "\nnote: recorded · ") || count.Load() != 2 {
		t.Errorf("%d requests; the second answer is %+v", count.Load(), two)
	}
	// Another call under a name that is taken is told whose it is.
	for _, other := range []string{strings.Replace(call, url, url+"?else", 1), strings.Replace(call, "call-of-http", "call-of-mcp", 1)} {
		status, said := tools.do(http.MethodPost, "/api/runs/"+run.ID+"/tool-calls", other)
		if status != http.StatusConflict || !strings.Contains(string(said), `"call_conflict"`) {
			t.Errorf("%d %s", status, said)
		}
	}
	if count.Load() != 2 {
		t.Errorf("%d requests in the end", count.Load())
	}
}

// W-088: a call that its client gives up stops the fetch, and its record says so and has no answer.
func TestW088TheRecordOfACallThatWasCancelled(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			asked, left := make(chan struct{}), make(chan struct{})
			hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				close(asked)
				<-r.Context().Done()
				close(left)
			}))
			t.Cleanup(hanging.Close)
			in := launch(t, Options{Fetch: webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}}})
			harness := in.apiUser(t, "alice", agent.ScopeHarness)
			w := in.wire(t, in.token(t, "alice"), revision)
			ctx, giveUp := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				said, err := w.call(ctx, "web_fetch", `{"url":"`+hanging.URL+`"}`)
				if err == nil && (strings.Contains(said, `"result":{`)) {
					t.Errorf("the client got a result: %s", said)
				}
				ended <- err
			}()
			<-asked
			if revision < "2026" { // the older era has a notice for it
				if _, _, err := w.post(t.Context(), "notifications/cancelled", "", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, w.ids.Load())); err != nil {
					t.Fatal(err)
				}
				<-left
			}
			giveUp()
			<-ended
			<-left
			in.until(t, "settled", func() bool { return in.ledger.Health().InFlight == 0 })
			runs := got[wire.Runs](harness, http.MethodGet, "/api/runs", "")
			calls := got[wire.Calls](harness, http.MethodGet, "/api/runs/"+runs.Runs[0].ID+"/tool-calls", "")
			if len(runs.Runs) != 1 || len(calls.Calls) != 1 {
				t.Fatalf("%d runs, %d calls", len(runs.Runs), len(calls.Calls))
			}
			record := got[wire.Record](harness, http.MethodGet, "/api/runs/"+runs.Runs[0].ID+"/tool-calls/"+calls.Calls[0].ID, "")
			if record.State != "failed" || record.Outcome != "lost" || record.Code != "cancelled" || record.Output != nil || record.Ended == nil {
				t.Errorf("the record is %+v", record)
			}
			for _, e := range record.Evidence {
				if e.Kind != "source" {
					t.Errorf("evidence of an answer that never came: %+v", e)
				}
			}
			if text, err := json.Marshal(record); err != nil || strings.Contains(string(text), "web_fetch_") {
				t.Errorf("a code of the fetch is recorded: %s", text)
			}
			if got := record.Why[len(record.Why)-1]; got.Stage != "outcome" || !strings.Contains(got.Fact, "cancelled") {
				t.Errorf("the reasons end with %+v", got)
			}
		})
	}
}

// W-089, W-187: a run keeps its pages, for whoever reads on in it at whichever door, and gives them whole.
func TestW089W187ARunKeepsItsPagesAndGivesThemWhole(t *testing.T) {
	text := new(atomic.Pointer[string])
	first, second := strings.Repeat("The first text of the page.\n", 2000), strings.Repeat("Another text by now, it is.\n", 2000)
	text.Store(&first)
	var count atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Last-Modified", "Mon, 30 Nov 2026 00:00:00 GMT")
		_, _ = io.WriteString(w, *text.Load())
	}))
	t.Cleanup(site.Close)
	permit, err := weburl.ParsePermit(site.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	policy := webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}}
	in := launch(t, Options{PerHost: 1000, PerHostSecond: 100_000, Fetch: policy})
	harness, tools := in.apiUser(t, "alice", agent.ScopeHarness), in.apiUser(t, "alice", agent.ScopeTools)
	open := func() string { return got[wire.OpenedRun](harness, http.MethodPost, "/api/runs", `{}`).ID }
	window := func(run string, offset int) wire.Record {
		return got[wire.Record](tools, http.MethodPost, "/api/runs/"+run+"/tool-calls", fmt.Sprintf(`{"tool":"web_fetch","arguments":{"url":%q,"offset":%d}}`, site.URL, offset))
	}
	one, two := open(), open()
	var whole strings.Builder
	for offset := 0; ; {
		var out webfetch.Window
		if err := json.Unmarshal(window(one, offset).Output, &out); err != nil {
			t.Fatal(err)
		}
		whole.WriteString(out.Content)
		text.Store(&second) // between two windows the page changes
		if out.NextOffset == nil {
			break
		}
		offset = *out.NextOffset
	}
	if whole.String() != first || count.Load() != 1 {
		t.Errorf("W-089: %d requests, and the windows are %.60q… of %d characters", count.Load(), whole.String(), whole.Len())
	}
	// An agent that comes over MCP and names the run reads on in it too.
	w := in.wire(t, tools.token, "2026-07-28")
	w.header.Set("Wayleave-Run", one)
	if said, err := w.call(t.Context(), "web_fetch", fmt.Sprintf(`{"url":%q,"offset":30000}`, site.URL)); err != nil || !strings.Contains(said, "first text") || count.Load() != 1 {
		t.Errorf("W-089: over MCP: %d requests, %v, %.300s", count.Load(), err, said)
	}
	if r := window(two, 100); !strings.Contains(r.Text, "Another text") || count.Load() != 2 {
		t.Errorf("W-089: another run: %d requests, %.200s", count.Load(), r.Text)
	}

	kept := got[wire.KeptPages](harness, http.MethodGet, "/api/runs/"+one+"/pages", "")
	if len(kept.Pages) != 1 {
		t.Fatalf("W-187: %d pages are kept", len(kept.Pages))
	}
	at := "/api/runs/" + one + "/pages/" + kept.Pages[0].ID
	var page webfetch.Page
	if err := json.Unmarshal(got[wire.KeptWhole](harness, http.MethodGet, at, "").Page, &page); err != nil {
		t.Fatal(err)
	}
	text.Store(&first)
	fresh, err := webfetch.Fetch(t.Context(), webfetch.Request{URL: site.URL}, policy)
	if err != nil {
		t.Fatal(err)
	}
	fresh.RetrievedAt = page.RetrievedAt
	if !reflect.DeepEqual(&page, fresh) || page.Content != first {
		t.Errorf("W-187: kept is\n%.500v\nthe library gives\n%.500v", page, *fresh)
	}
	record := got[wire.Record](harness, http.MethodGet, "/api/runs/"+one+"/tool-calls/"+kept.Pages[0].Call, "")
	if e := record.Evidence[len(record.Evidence)-1]; e.Kind != "content" || e.SHA256 != kept.Pages[0].SHA256 {
		t.Errorf("W-197: the evidence %+v is not of the page %+v", e, kept.Pages[0])
	}
	if status, _ := tools.do(http.MethodGet, at, ""); status != http.StatusForbidden {
		t.Errorf("the token that a model may hold: %d", status)
	}
	bob := in.apiUser(t, "bob", agent.ScopeHarness)
	for _, path := range []string{at, "/api/runs/" + one + "/pages"} {
		if status, _ := bob.do(http.MethodGet, path, ""); status != http.StatusNotFound {
			t.Errorf("another agent's harness at %s: %d", path, status)
		}
	}
	if status, _ := harness.do(http.MethodGet, "/api/runs/"+two+"/pages/"+kept.Pages[0].ID, ""); status != http.StatusNotFound {
		t.Errorf("the page in another run: %d", status)
	}
}

// W-058: what is kept of a call's result is its window, whatever the page has.
func TestW058AStoredResultIsAWindow(t *testing.T) {
	var fill atomic.Pointer[string]
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, strings.Repeat(*fill.Load(), 1_000_000/len(*fill.Load())))
	}))
	t.Cleanup(site.Close)
	in := launch(t, Options{PerHost: 1000, PerHostSecond: 100_000, Fetch: webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}}})
	session := in.client(t, in.token(t, "alice"), "2026-07-28")
	for i, text := range []string{"A line of words.\n", "<a href='x'>&</a>", "界", "x"} {
		fill.Store(&text)
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": fmt.Sprint(site.URL, "/", i), "max_bytes": 20_000}})
		if err != nil || res.IsError {
			t.Fatalf("%v %+v", err, res)
		}
		var bytes int
		if err := in.beside.DB.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One("SELECT length(result) FROM tool_calls WHERE id=$1", []any{res.StructuredContent.(map[string]any)["tool_call_id"]}, &bytes)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if bytes < 16_000 || bytes >= 64<<10 {
			t.Errorf("of a page of %q there are %d bytes kept", text, bytes)
		}
	}
}
