package ledgerstore

import (
	"context"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// A connection that is cut inside COMMIT leaves in doubt whether it happened. Each transaction of the ledger is run again
// and tells by its nonce or its row; nothing is counted, sent or said twice.
func TestCommitInDoubtIsToldByTheRows(t *testing.T) {
	for _, cut := range []struct {
		name string
		at   dbtest.Cut
	}{{"before the server has it", dbtest.BeforeCommit}, {"before the answer comes", dbtest.AfterCommit}} {
		t.Run(cut.name, func(t *testing.T) {
			place := dbtest.New(t, sqldb.Postgres)
			st := newStage(t, place.Open(t), place.Clock)
			proxy := dbtest.NewProxy(t, place)
			through, err := sqldb.OpenPostgres(context.Background(), proxy.Address)
			must(t, err)
			t.Cleanup(func() { _ = through.Close() })
			behind := st.store(through, nil)
			cutting := func(step func()) {
				t.Helper()
				did := proxy.CutNextCommit(cut.at)
				step()
				select {
				case <-did:
				default:
					t.Fatal("no connection was cut")
				}
			}

			a := st.ask(posting)
			cutting(func() {
				got, err := behind.Admit(st.ctx, a)
				must(t, err)
				if got.Kind != ledger.Fresh || got.Record.ID != a.ID || got.Left != 90*time.Second || got.Record.State != effect.Admitted {
					t.Errorf("the admission answers %+v", got)
				}
			})
			cutting(func() {
				if v, err := behind.Dispatch(st.ctx, a.ID, a.Nonce); err != nil || v != ledger.DispatchDone {
					t.Errorf("the dispatch answers %s, %v", v, err)
				}
			})
			cutting(func() {
				got, err := behind.Settle(st.ctx, done(a))
				must(t, err)
				if got.Late || got.Record.State != effect.Succeeded || got.Record.Late != nil {
					t.Errorf("the settlement answers %+v", got)
				}
			})
			cutting(func() {
				must(t, behind.Deliver(st.ctx, []ledger.Mark{{Call: a.ID, Owner: a.Process, Delivery: ledger.CallerGone}}))
			})
			cutting(func() { // the twin's answer is claimed
				again := st.ask(posting)
				got, err := behind.Admit(st.ctx, again)
				must(t, err)
				if got.Kind != ledger.TwinFinal || got.Record.ID != a.ID {
					t.Errorf("the twin answers %+v", got)
				}
			})
			b := st.ask(pressing)
			st.admit(b)
			_, err = st.s.Dispatch(st.ctx, b.ID, b.Nonce)
			must(t, err)
			end := done(b)
			end.State, end.Outcome = effect.Uncertain, effect.OutcomeUncertain
			cutting(func() {
				if got, err := behind.Settle(st.ctx, end); err != nil || got.Late {
					t.Errorf("the settlement answers %+v, %v", got, err)
				}
			})
			cutting(func() {
				_, err := behind.Reconcile(st.ctx, agentID, st.run, b.ID, ledger.Reconciliation{Verdict: ledger.Happened, By: ledger.By{Kind: "harness", ID: "token_1"}})
				must(t, err)
			})
			cutting(func() {
				_, err := behind.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: "implicit", ImplicitKey: "k", Deadline: time.Hour, Idle: time.Minute, MaxCalls: 5})
				must(t, err)
			})
			cutting(func() {
				if id, err := behind.Refuse(st.ctx, st.ask(asking).Ask, "policy_closed", nil, nil); err != nil || id == "" {
					t.Errorf("the refusal is kept as %q, %v", id, err)
				}
			})
			for query, want := range map[string]int64{
				"SELECT count(*) FROM tool_calls WHERE state<>'refused'": 2, "SELECT count(*) FROM reservations": 2, "SELECT CAST(sum(used) AS BIGINT) FROM minute_meters": 1,
				"SELECT count(*) FROM notices": 1, "SELECT count(*) FROM audit": 1, "SELECT count(*) FROM runs": 2, "SELECT count(*) FROM tool_calls WHERE state='refused'": 1,
			} {
				if got := st.count(query); got != want {
					t.Errorf("%s gives %d, want %d", query, got, want)
				}
			}
			st.invariants()
		})
	}
}
