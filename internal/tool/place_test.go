package tool_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
)

// asked counts how often a caller's implicit run was asked for.
type asked struct {
	*ledger.Ledger
	times atomic.Int64
}

func (a *asked) ImplicitRun(ctx context.Context, agent, token string, client ledger.Client) (ledger.Run, error) {
	a.times.Add(1)
	return a.Ledger.ImplicitRun(ctx, agent, token, client)
}

// TestAnImplicitRunIsRememberedAndNeverTrusted: one that is over, by whatever way and whoever ended it, takes neither a
// call nor a refusal any more.
func TestAnImplicitRunIsRememberedAndNeverTrusted(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		counting := &asked{Ledger: s.ledger}
		p, err := tool.New(tool.Options{Ledger: counting, Rows: s.rows, Approvals: s.approvals, Plugs: plugsOf(s)})
		if err != nil {
			t.Fatal(err)
		}
		call := func(c tool.Caller, arguments string) tool.Result {
			t.Helper()
			r, err := p.Call(t.Context(), c, "peek", json.RawMessage(arguments))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first := call(caller(), `{"text":"a"}`)
		if again := call(caller(), `{"text":"b"}`); again.Run != first.Run || counting.times.Load() != 1 {
			t.Fatalf("%s and %s, asked for %d times", first.Run, again.Run, counting.times.Load())
		}
		elsewhere := caller()
		elsewhere.Client = "another client"
		if r := call(elsewhere, `{"text":"a"}`); r.Run == first.Run {
			t.Fatal("two clients have one run")
		}
		was := first.Run
		for _, c := range []struct{ over, arguments string }{
			{"ended", `{"text":"c"}`}, {"ended", `{}`}, {"ended", `{"text":"blocked"}`}, {"idle", `{"text":"d"}`}, {"idle", `{"more":1}`}, {"gone", `{"text":"e"}`}, {"gone", `{}`},
		} {
			switch c.over {
			case "ended":
				if _, err := s.ledger.EndRun(t.Context(), me, was, "ended by a person"); err != nil {
					t.Fatal(err)
				}
			case "idle":
				s.clock.Advance(ledger.IdleTime + time.Second)
			case "gone":
				for _, table := range []string{"evidence", "reservations", "run_meters", "tool_calls", "runs"} {
					s.write(t, "DELETE FROM "+table)
				}
			}
			r := call(caller(), c.arguments)
			if r.Run == was || r.Code == "run_over" {
				t.Fatalf("a run that is %s takes %s: %s", c.over, c.arguments, r.Text())
			}
			if rec := s.record(t, r); rec.Run != r.Run {
				t.Errorf("%s %s is recorded in %s", c.over, c.arguments, rec.Run)
			}
			was = r.Run
		}
	})
}
