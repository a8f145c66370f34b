package clienttest

// One scripted conversation (fetch, read on, a refusal) through the harnesses that people use, over HTTP and stdio.

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A harness is a driver of test/clients and what its library makes of our results.
type harness struct {
	driver     string
	tool       string // the name under which the model is offered web_fetch
	modern     bool   // over HTTP it speaks 2026-07-28
	ownError   bool   // a failed call is raised, and the model reads our text inside words of the library
	structured bool   // the library adds our structured part to the model's text
}

var harnesses = map[string]harness{
	"AI SDK":            {driver: "ai-sdk.mjs", tool: "web_fetch", modern: true},
	"pi":                {driver: "pi.mjs", tool: "mcp__wayleave__web_fetch"},
	"OpenAI Agents SDK": {driver: "openai-agents.mjs", tool: "web_fetch", modern: true},
	"LangChain":         {driver: "langchain.mjs", tool: "web_fetch", ownError: true, structured: true},
	"TanStack AI":       {driver: "tanstack.mjs", tool: "web_fetch", ownError: true},
}

// refusedURL is an address that no rule permits and nobody connects to.
const refusedURL = "http://10.255.255.1/"

// script is the conversation: a window, the next one from where the header says, and a refusal.
func script(s *site) []map[string]any {
	return []map[string]any{
		{"url": s.URL + "/long", "max_bytes": 3000},
		{"url": s.URL + "/long", "offset": "continue", "max_bytes": 3000},
		{"url": refusedURL},
	}
}

// callRequest is what the server logs of an HTTP request that calls a tool.
var callRequest = regexp.MustCompile(`"rpc_method":"tools/call","modern":(true|false)`)

// W-072, W-074, W-082, W-085.
func TestOneConversationThroughEachHarness(t *testing.T) {
	t.Parallel()
	for name, h := range harnesses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := newSite(t)
			s := serve(t, program(t), "--allow-host", page.host(), "--log-level", "debug")
			for transport, orders := range map[string]map[string]any{"HTTP": s.overHTTP(), "stdio": s.overStdio(page.host())} {
				t.Run(transport, func(t *testing.T) {
					orders["calls"] = script(page)
					expectConversation(t, h, drive(t, inClients(h.driver), orders), page)
				})
			}
			// Both eras are covered, and this is how it is known.
			for _, request := range callRequest.FindAllStringSubmatch(s.log(), -1) {
				if request[1] != strconv.FormatBool(h.modern) {
					t.Errorf("a call came with modern=%s, want %v", request[1], h.modern)
				}
			}
		})
	}
}

// The AI SDK waits a second for a program to tell its eras, and goes on as the older one does when it has not.
func TestAProgramThatStartsLateIsUsed(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := &server{program: program(t)}
	orders := s.overStdio(page.host())
	node, err := shop.node()
	if err != nil {
		t.Fatal(err)
	}
	late := append([]string{inClients("late.mjs"), s.program}, orders["args"].([]string)...)
	orders["command"], orders["args"], orders["calls"] = node, late, script(page)
	expectConversation(t, harnesses["AI SDK"], drive(t, inClients("ai-sdk.mjs"), orders), page)
}

// expectConversation holds what a harness put before its model against the pages that were read.
func expectConversation(t *testing.T, h harness, rep report, page *site) {
	t.Helper()
	if len(rep.Offered) != 1 || rep.Offered[0] != h.tool {
		t.Fatalf("the model was offered %q, want only %s", rep.Offered, h.tool)
	}
	if len(rep.Texts) != 3 || len(rep.Requests) != 4 {
		t.Fatalf("%d tool results in %d model requests, want 3 in 4: %q", len(rep.Texts), len(rep.Requests), rep.Texts)
	}
	first, second := readWindow(t, rep.Texts[0]), readWindow(t, rep.Texts[1])
	for i, w := range []window{first, second} {
		if w.url != page.URL+"/long" || w.total != len(longPage()) || w.next != w.to {
			t.Errorf("header %d says %+v", i+1, w)
		}
		if w.body != longPage()[w.from:w.to] {
			t.Errorf("window %d is not what stands at %d–%d of the page:\n%s", i+1, w.from, w.to, w.body)
		}
	}
	if first.from != 0 || second.from != first.to || second.to <= second.from {
		t.Errorf("windows %d–%d and %d–%d do not follow each other", first.from, first.to, second.from, second.to)
	}
	expectRefusal(t, rep.Texts[2], h.ownError)

	// The page's words stand in the last request once a window, so nothing repeats them outside the wrapper.
	last := rep.Requests[len(rep.Requests)-1]
	for _, line := range []string{"line 0003 of the long page", lineOf(second)} {
		if n := strings.Count(last, line); n != 1 {
			t.Errorf("%q stands %d times in the model's request", line, n)
		}
	}
	if got := strings.Contains(last, "structuredContent") || strings.Contains(last, "total_chars"); got != h.structured {
		t.Errorf("the structured part is in the model's request: %v, want %v", got, h.structured)
	}
}

// lineOf is a whole line of the page in the middle of a window.
func lineOf(w window) string {
	lines := strings.Split(w.body, "\n")
	return lines[len(lines)/2]
}

// expectRefusal holds the text of a refused call against the form of errors: code, what, next step.
func expectRefusal(t *testing.T, text string, ownWords bool) {
	t.Helper()
	form := `web_fetch_disallowed_url: .*10\.255\.255\.1[^\n]*\nnext: [a-z_]+ · [^\n]+`
	if ownWords {
		text = strings.ReplaceAll(text, `\n`, "\n")
	} else {
		form = "^" + form + "$"
	}
	if !regexp.MustCompile(form).MatchString(text) {
		t.Errorf("the model reads of the refusal: %q", text)
	}
}

// window is a result of web_fetch, taken apart.
type window struct {
	url             string
	from, to, total int
	next            int // 0 for none
	body            string
}

var windowForm = regexp.MustCompile(`(?s)^web_fetch: (\S+) · 200 · text/plain → text · chars (\d+)–(\d+) of (\d+)(?: · continue with offset=(\d+))?\n` +
	`(?:note: [^\n]+\n)*<untrusted_web_content>\n(.*)\n</untrusted_web_content>$`)

func readWindow(t *testing.T, text string) window {
	t.Helper()
	m := windowForm.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no header and wrapper in what the model reads: %q", text)
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil && s != "" {
			t.Fatal(err)
		}
		return n
	}
	return window{url: m[1], from: number(m[2]), to: number(m[3]), total: number(m[4]), next: number(m[5]), body: m[6]}
}

// mcpResult is a tool result as MCP carries it to a host.
type mcpResult struct {
	Content           []struct{ Type, Text string }
	StructuredContent struct {
		OK         *bool
		FinalURL   string `json:"final_url"`
		TotalChars int    `json:"total_chars"`
		NextOffset *int   `json:"next_offset"`
		Code       string
	}
	IsError bool
}

// W-081: what the AI SDK hands to its host (onFinish) has the record beside the text.
func TestHostOfTheAISDKSeesTheRecord(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	orders := s.overHTTP()
	orders["calls"] = script(page)
	rep := drive(t, inClients("ai-sdk.mjs"), orders)
	if len(rep.Results) != 3 {
		t.Fatalf("the host saw %d results, want 3", len(rep.Results))
	}
	for i, raw := range rep.Results {
		var r mcpResult
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Content) != 1 || r.Content[0].Text != rep.Texts[i] {
			t.Errorf("result %d has content %v, the model reads %q", i+1, r.Content, rep.Texts[i])
		}
		record := r.StructuredContent
		if i == 2 {
			if !r.IsError || record.Code != "web_fetch_disallowed_url" || record.OK == nil || *record.OK {
				t.Errorf("refusal: isError %v, record %+v", r.IsError, record)
			}
			continue
		}
		w := readWindow(t, rep.Texts[i])
		if record.OK == nil || !*record.OK || record.FinalURL != page.URL+"/long" || record.TotalChars != w.total ||
			record.NextOffset == nil || *record.NextOffset != w.next {
			t.Errorf("result %d: record %+v beside header %+v", i+1, record, w)
		}
		if strings.Contains(string(raw), `"content":"line`) || strings.Count(string(raw), lineOf(w)) != 1 {
			t.Errorf("result %d repeats the page's text: %s", i+1, raw)
		}
	}

	// W-083: a conversation that is stored and sent again shows the page only inside the wrapper, whether the host
	// has the tools at hand or not.
	if len(rep.Stored) != 2 {
		t.Fatalf("%d stored conversations, want 2", len(rep.Stored))
	}
	for i, stored := range rep.Stored {
		for _, text := range rep.Texts[:2] {
			quoted, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			quoted = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(quoted)))
			if strings.Count(stored, string(quoted)) != 1 || strings.Count(stored, lineOf(readWindow(t, text))) != 1 {
				t.Errorf("stored conversation %d does not hold the window once, wrapped: %s", i, stored)
			}
		}
	}
}

// W-084: TanStack AI hands its host what the model reads.
func TestHostOfTanStackSeesWhatTheModelReads(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	orders := s.overHTTP()
	orders["calls"] = script(page)
	rep := drive(t, inClients("tanstack.mjs"), orders)
	if len(rep.Results) != len(rep.Texts) {
		t.Fatalf("the host saw %d results, the model %d", len(rep.Results), len(rep.Texts))
	}
	for i, raw := range rep.Results {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil || text != rep.Texts[i] {
			t.Errorf("result %d: the host sees %s, the model %q", i+1, raw, rep.Texts[i])
		}
	}
}

// W-075: pi keeps 20 KiB of a result and cuts the middle out of what is longer. Ours is never longer, also where a
// character takes three bytes.
func TestLargestWindowArrivesUncutThroughPi(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	orders := s.overHTTP()
	orders["calls"] = []map[string]any{{"url": page.URL + "/wide", "max_bytes": 20_000}}
	rep := drive(t, inClients("pi.mjs"), orders)
	text := rep.Texts[0]
	if len(text) > 20_000 || len(text) < 19_500 {
		t.Errorf("the text has %d bytes, want just under 20,000", len(text))
	}
	w := readWindow(t, text)
	if w.body != strings.Repeat("界", w.to-w.from) || w.next != w.to {
		t.Errorf("the window %d–%d is not what stands there", w.from, w.to)
	}
	var r mcpResult
	if err := json.Unmarshal(rep.Results[0], &r); err != nil || r.Content[0].Text != text {
		t.Errorf("pi's model reads something else than was sent (%v)", err)
	}
}
