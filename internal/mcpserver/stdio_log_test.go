package mcpserver

import (
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/tool"
)

// TestAFaultOverPipesNamesItsLineInTheLog: a client over pipes has no header to name a request by, so it is named here, and
// all lines about one call by one name.
func TestAFaultOverPipesNamesItsLineInTheLog(t *testing.T) {
	log := &lockedBuffer{}
	server, err := New(newFakeTools(), nil, Options{Version: "1.2.3", Log: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	var calls, answers strings.Builder
	for _, name := range []string{"echo", "break", "panic"} {
		calls.WriteString(`{"jsonrpc":"2.0","id":"` + name + `","method":"tools/call","params":{"name":"` + name + `","arguments":{"text":"a"},` + modernMeta + "}}\n")
	}
	if err := server.ServeStdio(t.Context(), tool.Caller{Agent: "agent_local", Slug: "local"}, strings.NewReader(calls.String()), io.Writer(&answers)); err != nil {
		t.Fatal(err)
	}
	named := make(map[string]int) // lines by request
	for line := range strings.Lines(log.String()) {
		var said struct {
			ID string `json:"request_id"`
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.ID == "" {
			t.Errorf("a line names no request: %s", line)
		}
		named[said.ID]++
	}
	if len(named) != 3 {
		t.Errorf("%d requests are named in\n%s", len(named), log.String())
	}
	faults := 0
	for line := range strings.Lines(answers.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if a.Error == nil {
			continue
		}
		faults++
		if id, _ := a.Error.Data["request_id"].(string); named[id] == 0 {
			t.Errorf("the log has nothing of %s", line)
		}
	}
	if faults != 2 {
		t.Errorf("%d faults in %s", faults, answers.String())
	}
}
