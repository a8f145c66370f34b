package ledgerstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// A run that a person wants gone is gone, with all that it had and nothing else; the sums are those of what is left.
func TestARunIsDeletedWhole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		wanted := func(run string, want error) {
			t.Helper()
			before := st.count("SELECT count(*) FROM tool_calls")
			if d, err := st.s.WeighDeletion(st.ctx, run); !errors.Is(errors.Join(err, d.Refused), want) || st.count("SELECT count(*) FROM tool_calls") != before {
				t.Errorf("weigh %s: %+v, %v; want %v", run, d, err, want)
			}
			calls, err := st.s.DeleteRun(st.ctx, run, "person:1")
			if !errors.Is(err, want) || err != nil && calls != 0 {
				t.Errorf("delete %s: %d, %v; want %v", run, calls, err, want)
			}
		}
		counted := func() int64 { return st.count("SELECT coalesce(sum(used),0) FROM minute_meters") }
		read := func() ledger.Admission {
			a := st.ask(asking)
			st.admit(a)
			end := done(a)
			end.Evidence = []ledger.Evidence{{Kind: "content", URL: "https://example.com", Title: "t", SHA256: "ab"}}
			_, err := st.s.Settle(st.ctx, end)
			must(t, err)
			return a
		}
		for range 120 { // more than a batch
			read()
		}
		_, err := st.s.Refuse(st.ctx, st.ask(asking).Ask, "policy_closed", nil, []byte("no"))
		must(t, err)
		wanted(st.run, ledger.ErrRunOpen)
		flying := st.ask(asking)
		st.admit(flying)
		unsure := st.ask(pressing)
		st.admit(unsure)
		_, err = st.s.Dispatch(st.ctx, unsure.ID, unsure.Nonce)
		must(t, err)
		end := done(unsure)
		end.State, end.Outcome = effect.Uncertain, effect.OutcomeUncertain
		_, err = st.s.Settle(st.ctx, end)
		must(t, err)
		_, err = st.s.EndRun(st.ctx, agentID, st.run, "ended")
		must(t, err)
		wanted(st.run, ledger.ErrRunHeld)
		_, err = st.s.Reconcile(st.ctx, agentID, st.run, unsure.ID, ledger.Reconciliation{Verdict: ledger.Happened, Note: "n", By: ledger.By{Kind: "operator", ID: "p"}})
		must(t, err)
		clock.Advance(2 * time.Minute)
		wanted(st.run, ledger.ErrRunFresh) // a call is under way
		_, err = st.s.Settle(st.ctx, done(flying))
		must(t, err)
		wanted("run_none", ledger.ErrNotFound)
		wanted("run\x00\xff", ledger.ErrNotFound)

		// What another run has stays.
		gone := st.run
		other, err := st.s.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: "explicit", Audience: "agent:agent_one", Deadline: time.Hour, MaxCalls: 10})
		must(t, err)
		st.run = other.ID
		kept := read()
		before := counted()
		st.invariants()

		calls, err := st.s.DeleteRun(st.ctx, gone, "person:1")
		if err != nil || calls != 123 {
			t.Fatalf("%d calls went, %v", calls, err)
		}
		st.invariants()
		for _, table := range []string{"tool_calls", "reservations", "run_meters", "kept_pages", "approvals", "notices"} {
			if n := st.count("SELECT count(*) FROM "+table+" WHERE run_id=$1", gone); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
		if st.count("SELECT count(*) FROM runs") != 1 || st.count("SELECT count(*) FROM tool_calls") != 1 || st.count("SELECT count(*) FROM evidence") != 2 || st.count("SELECT count(*) FROM reconciliations") != 0 {
			t.Error("what is left is not the other run's alone")
		}
		if _, err := st.s.Call(st.ctx, agentID, other.ID, kept.ID); err != nil {
			t.Error(err)
		}
		if now := counted(); before-now != 121 || now != 1 {
			t.Errorf("the minutes had %d units and have %d", before, now)
		}
		if n := st.count("SELECT count(*) FROM audit WHERE verb='run.deleted' AND actor='person:1' AND subject=$1 AND detail LIKE '%\"calls\":123%'", gone); n != 1 {
			t.Errorf("%d entries in the audit", n)
		}
		wanted(gone, ledger.ErrNotFound)
	})
}

// A deletion that was cut off goes on when it is asked for again, and is in the audit once. A unit of the minute that runs
// stays counted: nobody gets it back.
func TestADeletionThatWasCutOffGoesOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		for range 3 {
			a := st.ask(asking)
			st.admit(a)
			_, err := st.s.Settle(st.ctx, done(a))
			must(t, err)
		}
		_, err := st.s.EndRun(st.ctx, agentID, st.run, "ended")
		must(t, err)
		if _, err := st.s.DeleteRun(st.ctx, st.run, "person:1"); !errors.Is(err, ledger.ErrRunFresh) {
			t.Fatalf("in the minute in which it counts: %v", err)
		}
		clock.Advance(time.Minute)
		st.exec("UPDATE runs SET end_reason='deleted' WHERE id=$1", st.run) // as if it had got so far
		if calls, err := st.s.DeleteRun(st.ctx, st.run, "person:1"); err != nil || calls != 3 {
			t.Errorf("%d, %v", calls, err)
		}
		if n := st.count("SELECT count(*) FROM audit WHERE verb='run.deleted'"); n != 0 { // it was there before the cut
			t.Errorf("%d entries in the audit", n)
		}
		if st.count("SELECT count(*) FROM runs")+st.count("SELECT count(*) FROM tool_calls") != 0 {
			t.Error("something is left")
		}
	})
}

// What was deleted is not in SQLite's files any more.
func TestTM102DeletedRunLeavesTheFiles(t *testing.T) {
	place := dbtest.New(t, sqldb.SQLite)
	st := newStage(t, place.Open(t), place.Clock)
	a := st.ask(asking)
	a.Key, a.Source.Host = "canary-key-4711", "canary-host-4711.example"
	st.admit(a)
	_, err := st.s.Settle(st.ctx, done(a))
	must(t, err)
	_, err = st.s.EndRun(st.ctx, agentID, st.run, "ended")
	must(t, err)
	if !strings.Contains(string(place.Bytes(t)), "canary-host-4711") {
		t.Fatal("the search finds nothing that is there")
	}
	place.Clock.Advance(time.Minute)
	_, err = st.s.DeleteRun(st.ctx, st.run, "person:1")
	must(t, err)
	if strings.Contains(string(place.Bytes(t)), "canary-") {
		t.Error("the files still have it")
	}
}
