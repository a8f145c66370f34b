package ledgerstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// faulty makes the database fail after each write to a table, until the answer is called.
func (st *stage) faulty(table, event string) (mend func()) {
	st.Helper()
	if st.db.Dialect() == sqldb.Postgres {
		st.exec("CREATE OR REPLACE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $do$ BEGIN RAISE EXCEPTION 'a fault'; END $do$")
		st.exec("CREATE TRIGGER fault AFTER " + event + " ON " + table + " FOR EACH ROW EXECUTE FUNCTION fault()")
		return func() { st.exec("DROP TRIGGER fault ON " + table) }
	}
	st.exec("CREATE TRIGGER fault AFTER " + event + " ON " + table + " BEGIN SELECT RAISE(ABORT, 'a fault'); END")
	return func() { st.exec("DROP TRIGGER fault") }
}

// F-095: reservation, run meter, minute meter and source evidence are written together or not at all.
func TestFaultAfterAnyStatementOfAnAdmissionLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		must(t, func() error { _, err := st.s.Admit(st.ctx, st.ask(posting)); return err }()) // meters that exist are updated, not made
		st.exec("INSERT INTO approvals(id, agent_id, run_id, tool, digest, profile_hash, tier, state, created_at, expires_at, good_until) VALUES('apr_1',$1,$2,'ask',$3,'','read','approved',now_us(),now_us()+1000000000,now_us()+1000000000)",
			agentID, st.run, []byte("digest of ask"))
		before := st.rows()
		for _, step := range []struct {
			tool         ledger.Tool
			table, event string
		}{
			{posting, "runs", "UPDATE"}, {posting, "tool_calls", "INSERT"}, {posting, "evidence", "INSERT"}, {posting, "run_meters", "UPDATE"},
			{posting, "reservations", "INSERT"}, {posting, "minute_meters", "UPDATE"}, {asking, "run_meters", "INSERT"}, {asking, "minute_meters", "INSERT"},
			{asking, "approvals", "UPDATE"},
		} {
			t.Run(step.table+" "+step.event, func(t *testing.T) {
				a := st.ask(step.tool)
				a.Digest = append([]byte{}, a.Digest...)
				if step.tool == posting {
					a.Digest = []byte("digest of another post")
				} else {
					a.Approval = &ledger.Spend{ID: "apr_1", Agent: agentID, Run: st.run, Tool: "ask", Digest: a.Digest}
				}
				mend := st.faulty(step.table, step.event)
				_, err := st.s.Admit(st.ctx, a)
				mend()
				var refusal *ledger.Refusal
				if err == nil || errors.As(err, &refusal) {
					t.Fatalf("with a fault the admission answers %v", err)
				}
				if after := st.rows(); after != before {
					t.Errorf("after a fault the rows are%s, before it%s", after, before)
				}
				if n := st.count("SELECT count(*) FROM approvals WHERE state='approved'"); n != 1 {
					t.Error("the approval was used up")
				}
			})
		}
		st.admit(func() ledger.Admission { a := st.ask(posting); a.Digest = []byte("digest of another post"); return a }())
		st.invariants()
	})
}

// F-096: one call is counted once, however often and at once it is admitted.
func TestSameCallSixteenTimesAtOnceIsCountedOnce(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, one, clock)
		stores := []*Store{st.s, st.store(two, nil)}
		for _, by := range []string{"id", "key"} {
			t.Run("by "+by, func(t *testing.T) {
				a := st.ask(asking)
				a.Digest = []byte(by)
				if by == "key" {
					a.Key = "a key of ours"
				}
				var mu sync.Mutex
				kinds := map[ledger.AdmitKind]int{}
				ids := map[string]bool{}
				var all sync.WaitGroup
				for i := range 16 {
					all.Go(func() {
						b := st.ask(asking)
						b.Digest, b.Key = a.Digest, a.Key
						if by == "id" {
							b.ID = a.ID
						}
						got, err := stores[i%2].Admit(context.Background(), b)
						if err != nil {
							t.Errorf("admission %d: %v", i, err)
							return
						}
						mu.Lock()
						defer mu.Unlock()
						kinds[got.Kind]++
						ids[got.Record.ID] = true
					})
				}
				all.Wait()
				if kinds[ledger.Fresh] != 1 || kinds[ledger.Repeat] != 15 || len(ids) != 1 {
					t.Errorf("the answers are %v about the calls %v", kinds, ids)
				}
			})
		}
		if run, minute := st.count("SELECT used FROM run_meters"), st.count("SELECT used FROM minute_meters"); run != 2 || minute != 2 {
			t.Errorf("the meters are %d and %d after two calls", run, minute)
		}
		st.invariants()
	})
}

func TestLimitsAreExactUnderConcurrency(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		for _, limit := range []struct {
			code           string
			perRun, minute int64
		}{{"run_limit", 7, 0}, {"rate_limit", 0, 9}, {"run_limit", 1, 5}} {
			t.Run(fmt.Sprintf("%s %d %d", limit.code, limit.perRun, limit.minute), func(t *testing.T) {
				clock.Advance(time.Minute)
				st := newStageAgain(t, one, clock)
				st.connect(one, asking.Capability, "vendor", 1, limit.perRun, limit.minute)
				st.offer()
				stores := []*Store{st.s, st.store(two, nil)}
				var mu sync.Mutex
				admitted := int64(0)
				var all sync.WaitGroup
				for i := range 24 {
					all.Go(func() {
						_, err := stores[i%2].Admit(context.Background(), st.ask(asking))
						var r *ledger.Refusal
						switch {
						case err == nil:
							mu.Lock()
							admitted++
							mu.Unlock()
						case !errors.As(err, &r) || r.Code != limit.code:
							t.Errorf("refused as %v", err)
						case r.Call == "" || r.Used != r.Limit || r.Limit != limit.perRun+limit.minute*(1-min(1, limit.perRun)):
							t.Errorf("the refusal says %+v", r)
						case r.Code == "rate_limit" && r.Wait != 50*time.Second:
							t.Errorf("the next minute begins in %v", r.Wait)
						}
					})
				}
				all.Wait()
				if want := max(limit.perRun, limit.minute*(1-min(1, limit.perRun))); admitted != want {
					t.Errorf("%d were admitted, the limit is %d", admitted, want)
				}
				st.invariants()
			})
		}
	})
}

// newStageAgain is a further run of the same install.
func newStageAgain(t testing.TB, db *sqldb.DB, clock *dbtest.Clock) *stage {
	t.Helper()
	st := &stage{TB: t, ctx: context.Background(), db: db, clock: clock, sealer: dbtest.Sealer()}
	st.s = st.store(db, nil)
	st.exec("INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES($1,'one','One','active',1,now_us()) ON CONFLICT DO NOTHING", agentID)
	must(t, st.s.Register(st.ctx, processID, "test", "1", time.Hour))
	st.run = st.open()
	st.offer()
	return st
}

// A limit is 1 or more; should a 0 come all the same, it admits nothing, also where there is no meter yet.
func TestFirstUnitOfAMeterIsGuardedToo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		for _, limit := range []int64{0, 1} {
			var n int64
			must(t, db.Write(st.ctx, sqldb.Free, func(tx *sqldb.Tx) (err error) {
				n, err = tx.Exec(countInRun, st.run, "search", limit)
				return err
			}))
			if n != limit {
				t.Errorf("a limit of %d admits %d", limit, n)
			}
		}
		st.exec("DELETE FROM run_meters")
	})
}

// I7: an admission that waited for a configuration write is judged by what that write left.
func TestAdmissionThatWaitsForASettingsWriteSeesTheNewVersion(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, one, clock)
		st.connect(one, asking.Capability, "vendor", 1, 0, 0)
		st.offer()
		other := st.store(two, nil)
		var answers []error
		var mu sync.Mutex
		var all sync.WaitGroup
		const waiters = 8
		begun := make(chan struct{}, waiters)
		must(t, one.Write(st.ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec("UPDATE connections SET version=version+1"); err != nil {
				return err
			}
			for range waiters { // they begin while the write is under way, and end after it
				all.Go(func() {
					begun <- struct{}{}
					_, err := other.Admit(context.Background(), st.ask(asking))
					mu.Lock()
					defer mu.Unlock()
					answers = append(answers, err)
				})
			}
			for range waiters {
				<-begun
			}
			answered := func() int {
				mu.Lock()
				defer mu.Unlock()
				return len(answers)
			}
			for one.Dialect() == sqldb.Postgres && answered() == 0 { // until all wait for the lock, or one did not
				if st.count("SELECT count(*) FROM pg_locks WHERE locktype='advisory' AND NOT granted") == waiters {
					break
				}
			}
			if n := answered(); n != 0 {
				return fmt.Errorf("%d admissions overtook the write", n)
			}
			return nil
		}))
		all.Wait()
		for i, err := range answers {
			var r *ledger.Refusal
			switch { // the first refusal makes the fresh offer, under which the rest may be let in
			case err == nil && i > 0:
			case !errors.As(err, &r) || r.Code != "stale_offer":
				t.Errorf("answer %d is %v", i, err)
			case r.Now == nil || r.Now.ConnectionVersion != 2:
				t.Errorf("the refusal tells of %+v", r.Now)
			}
		}
		if old := st.count("SELECT count(*) FROM reservations WHERE connection_version<2"); old != 0 {
			t.Errorf("%d admissions are under the old version", old)
		}
		st.invariants()
	})
}

// The whole reason of a call stands in its record, written as it was decided.
func TestWhyIsWrittenByWhatDecides(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		a := st.ask(pressing)
		a.Why = []ledger.Reason{{Stage: "policy", At: clock.Now().Add(-time.Second), Fact: "the policy allows it", Ref: "rule_1"}}
		st.admit(a)
		if v, err := st.s.Dispatch(st.ctx, a.ID, a.Nonce); err != nil || v != ledger.DispatchDone {
			t.Fatal(v, err)
		}
		end := done(a)
		end.State, end.Outcome, end.Why = effect.Uncertain, effect.OutcomeUncertain, "the line broke"
		settled, err := st.s.Settle(st.ctx, end)
		must(t, err)
		if _, err := st.s.Reconcile(st.ctx, agentID, st.run, a.ID, ledger.Reconciliation{Verdict: ledger.Happened, By: ledger.By{Kind: "operator", ID: "person_1"}}); err != nil {
			t.Fatal(err)
		}
		r, err := st.s.Call(st.ctx, agentID, st.run, a.ID)
		must(t, err)
		var stages []string
		for _, reason := range r.Why {
			stages = append(stages, reason.Stage)
			if reason.At.IsZero() || reason.Fact == "" {
				t.Errorf("a reason says %+v", reason)
			}
		}
		if got := strings.Join(stages, " "); got != "policy offer admission dispatch outcome reconcile" {
			t.Errorf("the stages are %s", got)
		}
		if len(settled.Record.Why) != 5 || !strings.Contains(settled.Record.Why[4].Fact, "the line broke") {
			t.Errorf("the settled record tells %+v", settled.Record.Why)
		}
		if n := st.count("SELECT count(*) FROM notices WHERE subject_id=$1 AND kind='effect_uncertain'", a.ID); n != 1 {
			t.Errorf("%d notices tell of it", n)
		}
		if n := st.count("SELECT count(*) FROM audit WHERE subject=$1 AND verb='call.reconciled'", a.ID); n != 1 {
			t.Errorf("%d entries of the audit tell of the verdict", n)
		}
		st.invariants()
	})
}
