package mcpserver

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestBothErasListAndCall(t *testing.T) {
	w := newWorld(t, Limits{})
	list := w.modern(t, "tools/list", "", "")
	if list.status != http.StatusOK || list.Result["cacheScope"] != "private" || list.Result["ttlMs"] != float64(30000) {
		t.Fatalf("tools/list: %d %s", list.status, list.raw)
	}
	call := w.modern(t, "tools/call", "echo", `"arguments":{"text":"hi"},`)
	if !strings.Contains(call.raw, `{\"text\":\"hi\"}`) || call.Result["isError"] != nil {
		t.Fatalf("tools/call: %s", call.raw)
	}
	if c := w.tools.last(); c.Agent != "agent_a" || c.Slug != "a" || c.Token != "id-tok-a" || c.Client != "probe" || c.UserAgent != "Go-http-client/1.1" || c.Session != "" {
		t.Fatalf("the caller is %+v", c)
	}

	session := w.open(t, "tok-a")
	old := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`)
	if !strings.Contains(old.raw, `{\"text\":\"hi\"}`) {
		t.Fatalf("legacy tools/call: %s", old.raw)
	}
	if c := w.tools.last(); c.Client != "old" || c.Session != sessionName(session) || strings.Contains(c.Session, session) {
		t.Fatalf("the caller is %+v", c)
	}
}

func TestToolsAreListedByNameWithAllHintsAndNothingElse(t *testing.T) {
	w := newWorld(t, Limits{})
	var list struct {
		Tools []map[string]any `json:"tools"`
	}
	raw, err := json.Marshal(w.modern(t, "tools/list", "", "").Result)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	for i, tool := range list.Tools {
		if i > 0 && tool["name"].(string) < list.Tools[i-1]["name"].(string) {
			t.Error("the list is not sorted")
		}
		hints := tool["annotations"].(map[string]any)
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := hints[hint]; !ok {
				t.Errorf("W-079: %s has no %s", tool["name"], hint)
			}
		}
		for key := range tool {
			switch key {
			case "name", "description", "inputSchema", "annotations":
			default:
				t.Errorf("W-074: %s has %s", tool["name"], key)
			}
		}
	}
}

func TestServerSaysWhoItIsAndNoMore(t *testing.T) {
	w := newWorld(t, Limits{})
	for name, raw := range map[string]string{
		"initialize": w.do(t, ask{body: initialize}).raw,
		"discover":   w.modern(t, "server/discover", "", "").raw,
	} {
		if !strings.Contains(raw, `"name":"wayleave"`) || !strings.Contains(raw, `"version":"1.2.3"`) || !strings.Contains(raw, `"capabilities":{"tools":{"listChanged":true}}`) {
			t.Errorf("%s: %s", name, raw)
		}
		for _, word := range []string{"instructions", "title", "icons", "logging", "prompts", "resources"} {
			if strings.Contains(raw, word) {
				t.Errorf("%s says %s: %s", name, word, raw)
			}
		}
	}
}

func TestMethodsWithoutACapabilityAreNotFound(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	for _, method := range []string{"prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list", "completion/complete", "logging/setLevel", "no/such"} {
		for era, a := range map[string]answer{
			"modern": w.modern(t, method, "", ""),
			"legacy": w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{}}`),
		} {
			want := map[string]int{"modern": http.StatusNotFound, "legacy": http.StatusOK}[era]
			if a.Error == nil || a.Error.Code != jsonrpc.CodeMethodNotFound || a.status != want || a.ID != float64(1) {
				t.Errorf("%s %s: %d %s", era, method, a.status, a.raw)
			}
		}
	}
	if a := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","method":"notifications/new_in_some_revision"}`); a.status != http.StatusAccepted {
		t.Errorf("a notification that nobody knows: %d %s", a.status, a.raw)
	}
	if a := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":9,"method":"ping"}`); a.Result == nil {
		t.Errorf("the session did not survive: %d %s", a.status, a.raw)
	}
}

func TestResultsAsTheyAreOnTheWire(t *testing.T) {
	w := newWorld(t, Limits{})
	for name, want := range map[string][]string{
		"picture": {`"content":[{"type":"text","text":"a picture"},{"type":"image","mimeType":"image/jpeg","data":"anBlZw=="}]`, `"wayleave/run":"run_1"`},
		"refuse":  {`"isError":true`, `"text":"bad_input: text\nnext: fix_input"`, `"structuredContent":{"ok":false,"code":"bad_input"}`},
	} {
		a := w.modern(t, "tools/call", name, `"arguments":{},`)
		for _, part := range want {
			if !strings.Contains(a.raw, part) {
				t.Errorf("%s: %s\nlacks %s", name, a.raw, part)
			}
		}
	}
}

func TestUnknownToolIsAProtocolError(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	for era, a := range map[string]answer{
		"modern": w.modern(t, "tools/call", "no_such", `"arguments":{},`),
		"legacy": w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such"}}`),
	} {
		if a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidParams || a.Error.Data["code"] != "not_found" {
			t.Errorf("%s: %d %s", era, a.status, a.raw)
		}
	}
}

func TestFaultsOfOursReachNobodyButTheLog(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	for _, tool := range []string{"break", "panic"} {
		for era, a := range map[string]answer{
			"modern": w.modern(t, "tools/call", tool, `"arguments":{"text":"canary-argument"},`),
			"legacy": w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{"text":"canary-argument"}}}`),
		} {
			if a.Error == nil || a.Error.Code != jsonrpc.CodeInternalError || a.Error.Data["code"] != "internal_error" || a.Error.Data["request_id"] == "" {
				t.Errorf("%s %s: %d %s", era, tool, a.status, a.raw)
				continue
			}
			if strings.Contains(a.raw, "canary") || strings.Contains(a.raw, "password") {
				t.Errorf("%s %s tells: %s", era, tool, a.raw)
			}
			if id := a.Error.Data["request_id"].(string); id != a.header.Get("X-Request-Id") || !strings.Contains(w.log.String(), id) {
				t.Errorf("%s %s: the log has no request %s", era, tool, id)
			}
		}
	}
	if !strings.Contains(w.log.String(), "canary-fault") {
		t.Error("the operator's log does not say what was wrong")
	}
}

func TestLogHasNoContentAddressOrArgument(t *testing.T) {
	w := newWorld(t, Limits{})
	w.modern(t, "tools/call", "echo", `"arguments":{"text":"canary-argument https://canary.example/?q=1"},`)
	w.modern(t, "tools/call", "panic", `"arguments":{"text":"canary-argument"},`)
	w.do(t, ask{body: `{"jsonrpc":"2.0","id":1,"method":"canary-method"}`})
	w.do(t, ask{token: "canary-token", body: initialize})
	w.do(t, ask{header: map[string]string{"Host": "canary.host"}, body: `{}`})
	log := w.log.String()
	if strings.Contains(log, "canary") || strings.Contains(log, "127.0.0.1") {
		t.Error(log)
	}
	for _, line := range strings.Split(strings.TrimSpace(log), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("not one JSON line: %s", line)
		}
	}
	if !strings.Contains(log, `"tool":"echo","outcome":"ok"`) {
		t.Errorf("the call is not in the log: %s", log)
	}
}

func TestRefusalsBeforeTheProtocol(t *testing.T) {
	w := newWorld(t, Limits{})
	for _, c := range []struct {
		name   string
		ask    ask
		status int
		code   string
		header string // one that must be there
	}{
		{"TM-050 foreign Host", ask{header: map[string]string{"Host": "evil.test"}}, 403, "invalid_host", ""},
		{"TM-050 foreign Origin", ask{header: map[string]string{"Origin": "https://evil.test"}}, 403, "invalid_origin", ""},
		{"foreign Host comes before a missing token", ask{token: "-", header: map[string]string{"Host": "evil.test"}}, 403, "invalid_host", ""},
		{"no token", ask{token: "-", body: initialize}, 401, "invalid_token", "WWW-Authenticate"},
		{"wrong token", ask{token: "nonsense", body: initialize}, 401, "invalid_token", "WWW-Authenticate"},
		{"no token comes before a bad body", ask{token: "-", body: `{`}, 401, "invalid_token", ""},
		{"TM-045 wrong scope", ask{token: "tok-harness", body: initialize}, 403, "forbidden", "WWW-Authenticate"},
		{"PUT", ask{method: http.MethodPut}, 405, "invalid_request", "Allow"},
		{"OPTIONS gets no CORS", ask{method: http.MethodOptions}, 405, "invalid_request", "Allow"},
		{"GET in the newest era", ask{method: http.MethodGet, header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}}, 405, "invalid_request", "Allow"},
		{"GET without a session", ask{method: http.MethodGet}, 404, "not_found", ""},
		{"DELETE of a session that is not there", ask{method: http.MethodDelete, header: map[string]string{"Mcp-Session-Id": "x"}}, 404, "not_found", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := w.do(t, c.ask)
			if a.status != c.status || a.Code != c.code || a.header.Get("X-Request-Id") == "" || a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%d %s %v", a.status, a.raw, a.header)
			}
			if c.header != "" && a.header.Get(c.header) == "" {
				t.Errorf("no %s header", c.header)
			}
			if strings.Contains(a.header.Get("WWW-Authenticate"), "resource_metadata") {
				t.Error("metadata is promised where no issuer is configured")
			}
			for name := range a.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("CORS header %s", name)
				}
			}
		})
	}
}

func TestBrokenTokenStoreLetsNobodyIn(t *testing.T) {
	w := newWorld(t, Limits{})
	w.tokens.broken = true
	if a := w.do(t, ask{body: initialize}); a.status != http.StatusServiceUnavailable || a.Code != "store_unavailable" || strings.Contains(a.raw, "canary") {
		t.Fatalf("%d %s", a.status, a.raw)
	}
}

func TestNewestEraWithoutItsHeaderIsAHeaderMismatch(t *testing.T) {
	w := newWorld(t, Limits{})
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	for _, version := range []string{"", "2025-11-25"} {
		a := w.do(t, ask{body: body, header: map[string]string{"MCP-Protocol-Version": version}})
		if a.status != http.StatusBadRequest || a.Error == nil || a.Error.Code != mcp.CodeHeaderMismatch {
			t.Errorf("header %q: %d %s", version, a.status, a.raw)
		}
	}
}

func TestStreamsPassProxies(t *testing.T) {
	w := newWorld(t, Limits{})
	a := w.modern(t, "tools/call", "echo", `"arguments":{},`)
	if a.header.Get("X-Accel-Buffering") != "no" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%v", a.header)
	}
}

func TestLibraryClientsWorkInBothEras(t *testing.T) {
	w := newWorld(t, Limits{})
	modern := w.client(t, "tok-a")
	res, err := modern.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi"}})
	if err != nil || len(res.Content) != 1 {
		t.Fatalf("%v, %v", res, err)
	}
	if modern.ID() != "" {
		t.Fatal("the library's client was expected to speak the newest era")
	}
	if c := w.tools.last(); c.Client != "go-client" {
		t.Fatalf("the caller is %+v", c)
	}
}
