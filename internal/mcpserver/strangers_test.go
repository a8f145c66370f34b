package mcpserver

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestTM049IDsOfOthersNameNothing: whatever is sent with another token's session id is answered as with one that there
// is not, to the letter, and the session does not notice.
func TestTM049IDsOfOthersNameNothing(t *testing.T) {
	w := newWorld(t, Limits{})
	theirs := w.open(t, "tok-a")
	w.begin(t, theirs, `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"wait"}}`)
	<-w.tools.began
	for name, a := range map[string]ask{
		"ping":            {body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		"tools/list":      {body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		"tools/call":      {body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`},
		"initialize":      {body: initialize},
		"initialized":     {body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
		"cancel":          {body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c1"}}`},
		"a result":        {body: `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"a batch":         {body: `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		"standing stream": {method: http.MethodGet},
		"resumed stream":  {method: http.MethodGet, header: map[string]string{"Last-Event-ID": "1"}},
		"end of session":  {method: http.MethodDelete},
	} {
		with := func(session string) answer {
			b := a
			b.header = map[string]string{"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
			maps.Copy(b.header, a.header)
			b.token = "tok-b"
			return w.do(t, b)
		}
		got, want := with(theirs), with("no-such-session-0000000000")
		if said, unknown := told(got), told(want); said != unknown || got.status < 400 {
			t.Errorf("%s: %s\nand of no session: %s", name, said, unknown)
		}
	}
	if a := w.legacy(t, "tok-a", theirs, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`); a.Result == nil {
		t.Errorf("its own token: %d %s", a.status, a.raw)
	}
	select {
	case err := <-w.tools.ended:
		t.Errorf("the call under way ended with %v", err)
	default:
	}
}

// told is all of an answer but what differs from request to request.
func told(a answer) string {
	var names []string
	for name := range a.header {
		names = append(names, name)
	}
	slices.Sort(names)
	body := strings.ReplaceAll(a.raw, a.header.Get("X-Request-Id"), "")
	return http.StatusText(a.status) + " " + strings.Join(names, " ") + "\n" + body
}
