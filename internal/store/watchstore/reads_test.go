package watchstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestReadsAreCountedByHostOnBothDatabases: what was sent counts, a page where it came from and a failure where it was asked.
func TestReadsAreCountedByHostOnBothDatabases(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	type row struct {
		agent, capability, state, outcome, code string
		asked, came, thin                       string // hosts; came is empty where no page did
		minute                                  int
	}
	rows := []row{
		{"agent_1", "read", "succeeded", "ok", "", "a.example", "a.example", "", 1},
		{"agent_1", "read", "succeeded", "ok", "", "a.example", "a.example", "js_shell", 2},
		{"agent_2", "read", "succeeded", "ok", "", "a.example", "a.example", "js_shell", 3},
		{"agent_1", "read", "succeeded", "ok", "", "short.example", "a.example", "login_wall", 4},
		{"agent_1", "read", "succeeded", "not_dispatched", "", "a.example", "a.example", "js_shell", 5}, // from a kept page
		{"agent_1", "read", "succeeded", "provider_error", "web_fetch_blocked", "b.example", "", "", 6},
		{"agent_1", "read", "succeeded", "provider_error", "web_fetch_blocked", "b.example", "", "", 7},
		{"agent_1", "read", "refused", "", "web_fetch_disallowed_url", "c.example", "", "", 8},
		{"agent_1", "search", "succeeded", "ok", "", "d.example", "d.example", "", 9},
		{"agent_1", "read", "failed", "lost", "abandoned", "e.example", "", "", 10},
		{"agent_1", "read", "succeeded", "ok", "", "f.example", "f.example", "soft_404", 60}, // after the period
	}
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			db, _ := dbtest.Open(t, d)
			err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
				for _, agent := range []string{"agent_1", "agent_2"} {
					if _, err := tx.Exec(`INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES($1, $1, $1, 'active', 1, 0)`, agent); err != nil {
						return err
					}
					if _, err := tx.Exec(`INSERT INTO runs(id, agent_id, kind, audience, conversation_id, state, deadline, max_tool_calls, created_at)
VALUES($1, $2, 'explicit', 'run:x', 'c', 'open', 1, 100, 0)`, "run_"+agent, agent); err != nil {
						return err
					}
				}
				for i, r := range rows {
					id := fmt.Sprintf("call_%02d", i)
					if _, err := tx.Exec(`INSERT INTO tool_calls(id, run_id, agent_id, seq, tool, capability, class, state, outcome, code, digest, named_run, offer, nonce, owner, until, why, created_at)
VALUES($1, $2, $3, $4, 'web_fetch', $5, 'observation', $6, $7, $8, $9, 0, '', '', '', 0, '', $10)`, id, "run_"+r.agent, r.agent, i, r.capability, r.state, null(r.outcome), null(r.code), []byte("d"), at(r.minute).UnixMicro()); err != nil {
						return err
					}
					if _, err := tx.Exec(`INSERT INTO evidence(call_id, n, kind, conversation_id, provider, credential_owner, host, at) VALUES($1, 0, 'source', 'c', 'direct', 'none', $2, 0)`, id, r.asked); err != nil {
						return err
					}
					if r.came == "" {
						continue
					}
					if _, err := tx.Exec(`INSERT INTO evidence(call_id, n, kind, conversation_id, provider, credential_owner, host, at, thin) VALUES($1, 1, 'content', 'c', 'direct', 'none', $2, 0, $3)`, id, r.came, null(r.thin)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				agents []string
				want   []operatorapi.Reads
			}{
				{nil, []operatorapi.Reads{{Host: "a.example", Calls: 1, Last: at(1)}, {Host: "a.example", Thin: "js_shell", Calls: 2, Last: at(3)},
					{Host: "a.example", Thin: "login_wall", Calls: 1, Last: at(4)}, {Host: "b.example", Code: "web_fetch_blocked", Calls: 2, Last: at(7)}}},
				{[]string{"agent_2"}, []operatorapi.Reads{{Host: "a.example", Thin: "js_shell", Calls: 1, Last: at(3)}}},
				{[]string{}, nil},
			} {
				got, err := New(db).Reads(t.Context(), c.agents, start, at(60))
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("%v: %v, %v\nwant %v", c.agents, got, err, c.want)
				}
			}
		})
	}
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}
