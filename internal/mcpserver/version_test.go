package mcpserver

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestRequestThatBelongsNowhereIsToldHowToGoOn(t *testing.T) {
	w := newWorld(t, Limits{})
	const list = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	for name, a := range map[string]ask{
		"no version":     {body: list},
		"legacy version": {body: list, header: map[string]string{"MCP-Protocol-Version": "2025-06-18"}},
		"a call":         {body: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`},
		"discover":       {body: `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`},
	} {
		got := w.do(t, a)
		if got.status != http.StatusBadRequest || got.Error == nil || got.Error.Code != -32600 || got.ID != float64(7) || got.Error.Data["code"] != "invalid_request" {
			t.Fatalf("%s: %d %s", name, got.status, got.raw)
		}
		for _, way := range []string{"no session", "initialize", "Mcp-Session-Id", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method", "params._meta"} {
			if !strings.Contains(got.Error.Message, way) {
				t.Errorf("%s: %q does not name %s", name, got.Error.Message, way)
			}
		}
	}
	if got := w.do(t, ask{body: "[" + list + "]"}); got.status != http.StatusBadRequest || got.Error == nil || got.ID != nil {
		t.Errorf("a batch: %d %s", got.status, got.raw)
	}
	for name, body := range map[string]string{"ping": `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "notification": `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "answer": `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		if got := w.do(t, ask{body: body}); got.status >= 400 || got.Error != nil {
			t.Errorf("%s: %d %s", name, got.status, got.raw)
		}
	}
}

func TestUnknownVersionIsAnsweredWithThoseThereAre(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	for version, own := range map[string]string{"2027-01-01": "2027-01-01", "2020-01-01": "2020-01-01", "nonsense": "nonsense", strings.Repeat("9", 500): strings.Repeat("9", 80)} {
		for _, header := range []map[string]string{{}, {"Mcp-Session-Id": session}} {
			header["MCP-Protocol-Version"] = version
			got := w.do(t, ask{header: header, body: `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`})
			if got.status != http.StatusBadRequest || got.Error == nil || got.Error.Code != -32022 || got.Error.Data["requested"] != own {
				t.Fatalf("%.20s: %d %s", version, got.status, got.raw)
			}
			supported, _ := got.Error.Data["supported"].([]any)
			if !slices.Contains(supported, any("2026-07-28")) || !slices.Contains(supported, any("2025-11-25")) {
				t.Errorf("%.20s: supported %v", version, supported)
			}
		}
	}
	// The session is still there.
	if got := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":8,"method":"tools/list"}`); got.Error != nil || got.Result == nil {
		t.Errorf("after it: %s", got.raw)
	}
	// A message that contradicts its header is told so.
	got := w.do(t, ask{header: map[string]string{"MCP-Protocol-Version": "2027-01-01", "Mcp-Method": "tools/list"}, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`})
	if got.status != http.StatusBadRequest || got.Error == nil || got.Error.Code != -32020 {
		t.Errorf("header and message differ: %d %s", got.status, got.raw)
	}
}

func TestEveryRefusalBeforeJSONRPCHasOneShape(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	list := `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{` + modernMeta + `}}`
	modern := func(more ...string) map[string]string {
		h := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	for name, c := range map[string]struct {
		ask
		status int
		code   string
	}{
		"wrong type":                  {ask{body: list, header: modern("Content-Type", "text/plain")}, 415, "invalid_request"},
		"wrong type, no session":      {ask{body: `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, header: map[string]string{"Content-Type": "text/plain"}}, 415, "invalid_request"},
		"wrong type, session":         {ask{body: list, header: map[string]string{"Content-Type": "application/xml", "Mcp-Session-Id": session}}, 415, "invalid_request"},
		"wrong Accept":                {ask{body: list, header: modern("Accept", "text/html")}, 400, "invalid_request"},
		"GET without session":         {ask{method: http.MethodGet}, 404, "not_found"},
		"DELETE without session":      {ask{method: http.MethodDelete}, 404, "not_found"},
		"GET in a session for a page": {ask{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": session, "Accept": "text/html"}}, 400, "invalid_request"},
		"GET in an old version":       {ask{method: http.MethodGet, header: map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": "2020-01-01"}}, 400, "invalid_request"},
		"GET of the newest era":       {ask{method: http.MethodGet, header: modern()}, 405, "invalid_request"},
		"PUT":                         {ask{method: http.MethodPut, body: list}, 405, "invalid_request"},
	} {
		got := w.do(t, c.ask)
		if got.status != c.status || got.Code != c.code || got.header.Get("Content-Type") != "application/json" || !strings.Contains(got.raw, `"message":"`) ||
			!strings.Contains(got.raw, `"request_id":"`+got.header.Get("X-Request-Id")+`"`) {
			t.Errorf("%s: %d %s %s", name, got.status, got.header.Get("Content-Type"), got.raw)
		}
	}
	if got := w.do(t, ask{body: list, header: modern("Content-Type", "Application/JSON; charset=utf-8")}); got.status != http.StatusOK {
		t.Errorf("a parameter of the type: %d %s", got.status, got.raw)
	}
}
