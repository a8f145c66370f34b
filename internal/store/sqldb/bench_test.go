package sqldb_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// BenchmarkAdmission is eight statements, as an admission has, on one hot run: with one caller each is a commit of its
// own, with sixteen SQLite commits together what waits.
func BenchmarkAdmission(b *testing.B) {
	for _, d := range dbtest.Dialects {
		for _, callers := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/callers=%d", d, callers), func(b *testing.B) {
				db, _ := dbtest.Open(b, d)
				if err := db.Write(b.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
					for _, q := range []string{
						"INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ('a', 'a', 'a', 'active', 1, 0)",
						"INSERT INTO runs (id, agent_id, kind, audience, conversation_id, state, deadline, max_tool_calls, created_at) VALUES ('r', 'a', 'explicit', 'run:r', 'c', 'open', 9000000000000000, 1000000000, 0)",
						"INSERT INTO connections (owner, capability, mode, provider, version, changed_at, changed_by) VALUES ('install', 'search', 'own', 'p', 1, 0, 'x')",
						"INSERT INTO offers (audience, tool, agent_id, fingerprint, facts, made_at) VALUES ('run:r', 'web_search', 'a', 'f', '{}', 0)",
					} {
						if _, err := tx.Exec(q); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				var n atomic.Int64
				args, digest := make([]byte, 300), make([]byte, 32)
				var wg sync.WaitGroup
				b.ResetTimer()
				for range callers {
					wg.Go(func() {
						for {
							i := n.Add(1)
							if i > int64(b.N) {
								return
							}
							if err := db.Write(context.Background(), sqldb.Calls, admission(fmt.Sprintf("call_%d", i), args, digest)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "admissions/s")
			})
		}
	}
}

func admission(id string, args, digest []byte) func(*sqldb.Tx) error {
	return func(tx *sqldb.Tx) error {
		var text string
		var calls, now int64
		var hold *string
		if _, err := tx.One("SELECT o.fingerprint FROM offers o, connections c, agents a WHERE o.audience = $1 AND o.tool = $2 AND c.owner = 'install' AND c.capability = $3 AND a.id = $4",
			[]any{"run:r", "web_search", "search", "a"}, &text); err != nil {
			return err
		}
		if _, err := tx.One("UPDATE runs SET calls=calls+1 WHERE id=$1 AND state='open' AND deadline>now_us() RETURNING calls, hold_call, now_us()", []any{"r"}, &calls, &hold, &now); err != nil {
			return err
		}
		for _, s := range []struct {
			query string
			args  []any
		}{
			{"INSERT INTO tool_calls (id, run_id, agent_id, seq, tool, capability, class, state, digest, named_run, offer, nonce, owner, until, args, why, created_at, dispatched_at) VALUES ($1, 'r', 'a', $2, 'web_search', 'search', 'query', 'dispatched', $3, 1, 'f', $1, 'p', $4, $5, '{}', $4, $4) ON CONFLICT DO NOTHING",
				[]any{id, calls, digest, now, args}},
			{"INSERT INTO evidence (call_id, n, kind, conversation_id, provider, credential_owner, at) VALUES ($1, 0, 'source', 'c', 'p', 'install', $2)", []any{id, now}},
			{"INSERT INTO run_meters (run_id, capability, used) VALUES ('r', 'search', 1) ON CONFLICT (run_id, capability) DO UPDATE SET used=run_meters.used+1", nil},
			{"INSERT INTO reservations (call_id, run_id, agent_id, capability, meter, minute, provider, credential_owner, connection_version, account_version, at) VALUES ($1, 'r', 'a', 'search', 'install', $2, 'p', 'install', 1, '0', $2)", []any{id, now}},
			{"INSERT INTO minute_meters (meter, capability, minute, used) VALUES ('install', 'search', $1, 1) ON CONFLICT (meter, capability, minute) DO UPDATE SET used=minute_meters.used+1", []any{now}},
		} {
			if _, err := tx.Exec(s.query, s.args...); err != nil {
				return err
			}
		}
		return nil
	}
}
