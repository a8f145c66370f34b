package clienttest

// The MCP Inspector's command line, which people use to look at a server before they trust it.

import (
	"encoding/json"
	"strings"
	"testing"
)

// Exit codes of the Inspector.
const (
	inspectorOK        = 0
	inspectorToolError = 5
)

func TestInspectorFindsNothingToMendInEitherEraAndTransport(t *testing.T) {
	t.Parallel()
	page := newSite(t)
	s := serve(t, program(t), "--allow-host", page.host())
	stdio := s.overStdio(page.host())
	for transport, target := range map[string][]string{
		"HTTP":  {s.url, "--header", "Authorization: Bearer " + s.token, "--stored-auth-only"},
		"stdio": append(append([]string{stdio["command"].(string)}, stdio["args"].([]string)...), "--transport", "stdio"),
	} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(transport+" "+era, func(t *testing.T) {
				t.Parallel()
				inspect := func(args ...string) run {
					t.Helper()
					all := append([]string{"--cli"}, target...)
					return runNode(t, "", nil, installed(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
						append(append(all, "--protocol-era", era, "-q", "--format", "json"), args...)...)
				}

				r := inspect("--method", "tools/list", "--strict")
				if r.code != inspectorOK || strings.TrimSpace(r.stderr) != "" {
					t.Fatalf("tools/list: exit %d, it has to say: %s%s", r.code, r.stderr, r.stdout)
				}
				expectWebFetchListed(t, r.stdout)

				var res struct{ Result mcpResult }
				r = inspect("--method", "tools/call", "--tool-name", "web_fetch", "--tool-args-json", `{"url":"`+page.URL+`/long","max_bytes":500}`)
				if err := json.Unmarshal([]byte(r.stdout), &res); r.code != inspectorOK || err != nil || len(res.Result.Content) != 1 {
					t.Fatalf("tools/call: exit %d, %v: %s%s", r.code, err, r.stderr, r.stdout)
				}
				if w := readWindow(t, res.Result.Content[0].Text); w.body != longPage()[w.from:w.to] {
					t.Errorf("the window is not what stands there: %q", w.body)
				}

				r = inspect("--method", "tools/call", "--tool-name", "web_fetch", "--tool-args-json", `{"url":"`+refusedURL+`"}`)
				if r.code != inspectorToolError {
					t.Errorf("a refused call: exit %d, want %d: %s%s", r.code, inspectorToolError, r.stderr, r.stdout)
				}
			})
		}
	}
}

// expectWebFetchListed holds a tool list against what is promised of it: W-074, W-079.
func expectWebFetchListed(t *testing.T, text string) {
	t.Helper()
	var list struct {
		Result struct{ Tools []map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Result.Tools) != 1 {
		t.Fatalf("%d tools are listed, want web_fetch alone", len(list.Result.Tools))
	}
	tool := list.Result.Tools[0]
	if string(tool["name"]) != `"web_fetch"` {
		t.Errorf("the tool's name is %s", tool["name"])
	}
	for _, absent := range []string{"outputSchema", "title", "icons"} {
		if v, there := tool[absent]; there {
			t.Errorf("the tool has %s: %s", absent, v)
		}
	}
	var hints map[string]any
	if err := json.Unmarshal(tool["annotations"], &hints); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true}
	for name, value := range want {
		if hints[name] != value {
			t.Errorf("%s is %v, want an explicit %v", name, hints[name], value)
		}
	}
}
