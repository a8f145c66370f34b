package mcpserver

// What real clients were found to need of the door; internal/clienttest drives the clients themselves.

import (
	"net/http"
	"testing"
)

// The AI SDK refuses a result of the newest era that does not say that it is complete. The older era has no such word.
func TestOnlyModernResultsSayThatTheyAreComplete(t *testing.T) {
	w := newWorld(t, Limits{})
	for _, tool := range []string{"echo", "picture", "refuse"} {
		if a := w.modern(t, "tools/call", tool, `"arguments":{},`); a.Result["resultType"] != "complete" {
			t.Errorf("%s: resultType is %v in %s", tool, a.Result["resultType"], a.raw)
		}
	}
	session := w.open(t, "tok-a")
	a := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}`)
	if word, there := a.Result["resultType"]; there || a.Result["content"] == nil {
		t.Errorf("a legacy result says %v: %s", word, a.raw)
	}
}

// pi, OpenCode and the Inspector list tools without params.
func TestToolsAreListedWithoutParams(t *testing.T) {
	w := newWorld(t, Limits{})
	session := w.open(t, "tok-a")
	a := w.legacy(t, "tok-a", session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if tools, _ := a.Result["tools"].([]any); len(tools) != 2 {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

// A client learns which revisions there are from the answer to one that there is not, under the id of its request.
func TestAVersionThatIsNoneIsAnsweredWithThoseThereAre(t *testing.T) {
	const unsupportedVersion = -32022
	w := newWorld(t, Limits{})
	for _, version := range []string{"INVALID-VERSION", "2999-01-01"} {
		a := w.do(t, ask{header: map[string]string{"MCP-Protocol-Version": version, "Mcp-Method": "tools/list"},
			body: `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version +
				`","io.modelcontextprotocol/clientCapabilities":{}}}}`})
		if a.status != http.StatusBadRequest || a.ID != float64(7) || a.Error == nil || a.Error.Code != unsupportedVersion {
			t.Fatalf("%s: %d %s", version, a.status, a.raw)
		}
		if supported, _ := a.Error.Data["supported"].([]any); len(supported) == 0 || a.Error.Data["requested"] != version {
			t.Errorf("%s: %v", version, a.Error.Data)
		}
	}
}
