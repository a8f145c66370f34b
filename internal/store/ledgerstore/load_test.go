package ledgerstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
)

// Everything at once over few runs, from two processes: whoever is in whose way waits or is told so, nobody meets a
// deadlock or a fault, and afterwards all invariants hold.
func TestEverythingAtOnceKeepsTheOrderOfLocks(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, one, clock)
		storetest.Observe(t, one)
		stores := []*Store{st.s, st.store(two, nil)}
		must(t, st.s.Register(st.ctx, "process_two", "test", "1", time.Hour))
		runs := []string{st.run, st.open(), st.open()}
		st.connect(one, posting.Capability, "vendor", 1, 40, 0)
		st.offer()
		tools := []ledger.Tool{asking, looking, posting, pressing}
		var all sync.WaitGroup
		seed := rand.Uint64()
		t.Logf("the seed is %d", seed)
		for worker := range 8 {
			all.Go(func() {
				w := loader{t: t, s: stores[worker%2], dice: rand.New(rand.NewPCG(seed, uint64(worker)))}
				for range 30 {
					a := st.ask(tools[w.dice.IntN(len(tools))])
					a.Run, a.Process = runs[w.dice.IntN(len(runs))], []string{processID, "process_two"}[worker%2]
					a.Digest = fmt.Appendf(nil, "digest %d", w.dice.IntN(4))
					if w.dice.IntN(4) == 0 {
						a.Key = fmt.Sprintf("a key of ours %d", w.dice.IntN(1000))
					}
					w.call(a)
				}
			})
		}
		all.Go(func() { // people configure meanwhile, and sweeps pass
			for version := range 12 {
				st.connect(two, posting.Capability, "vendor", int64(version+2), 40, 0)
				for _, s := range stores {
					if _, err := s.Offer(st.ctx, agentID, audience, tools); err != nil {
						t.Errorf("offer: %v", err)
					}
					if _, err := s.Sweep(st.ctx, ledger.Retention{}); err != nil {
						t.Errorf("sweep: %v", err)
					}
				}
			}
		})
		all.Wait()
		for _, run := range runs {
			_, err := st.s.EndRun(st.ctx, agentID, run, "ended")
			must(t, err)
		}
		clock.Advance(2 * time.Hour)
		_, err := st.s.Sweep(st.ctx, ledger.Retention{})
		must(t, err)
		storetest.Quiet(t, one)
		if one.Dialect() == sqldb.Postgres {
			if n := st.count("SELECT deadlocks FROM pg_stat_database WHERE datname=current_database()"); n != 0 {
				t.Errorf("the server counted %d deadlocks", n)
			}
		}
	})
}

// loader carries out calls and says what answers it did not expect.
type loader struct {
	t    *testing.T
	s    *Store
	dice *rand.Rand
}

// call admits, dispatches, settles, delivers and reconciles, or does some of it.
func (w loader) call(a ledger.Admission) {
	ctx := context.Background()
	got, err := w.s.Admit(ctx, a)
	var refused *ledger.Refusal
	switch {
	case errors.As(err, &refused):
		if refused.Code == "effect_uncertain" {
			_, err := w.s.Reconcile(ctx, agentID, a.Run, refused.Other, ledger.Reconciliation{Verdict: ledger.Happened, By: ledger.By{Kind: "harness", ID: "t"}})
			w.expect("reconcile", err)
		}
		return
	case err != nil:
		w.t.Errorf("admit: %v", err)
		return
	case got.Kind != ledger.Fresh:
		if got.Kind == ledger.TwinFinal {
			w.expect("deliver", w.s.Deliver(ctx, []ledger.Mark{{Call: got.Record.ID, Owner: got.Record.Owner, Delivery: ledger.HandedOver}}))
		}
		return
	}
	end := done(a)
	if a.Class == effect.Effect {
		verdict, err := w.s.Dispatch(ctx, a.ID, a.Nonce)
		w.expect("dispatch", err)
		switch {
		case verdict != ledger.DispatchDone:
			end.From, end.Outcome, end.Code = effect.Admitted, effect.NotDispatched, string(verdict)
		case w.dice.IntN(5) == 0:
			end.State, end.Outcome = effect.Uncertain, effect.OutcomeUncertain
		}
	}
	end.Evidence = []ledger.Evidence{{Kind: "content", SHA256: "ab", Chars: 3}}
	settled, err := w.s.Settle(ctx, end)
	w.expect("settle", err)
	if settled.Late {
		w.t.Errorf("a call of the living was late: %+v", settled.Record)
	}
	w.expect("deliver", w.s.Deliver(ctx, []ledger.Mark{{Call: a.ID, Owner: a.Process, Delivery: ledger.Delivery(1 + w.dice.IntN(2))}}))
}

func (w loader) expect(doing string, err error) {
	if err != nil && !errors.Is(err, ledger.ErrReconciled) {
		w.t.Errorf("%s: %v", doing, err)
	}
}

// The points of sudden death stand where they say: inside a transaction nobody else sees its rows, afterwards all do.
func TestPointsStandWhereTheySay(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, one, clock)
		seen := map[string]string{}
		outside := st.store(two, nil)
		var call string
		st.s = st.store(one, func(name string) {
			state := "nothing"
			if r, err := outside.Call(context.Background(), "", "", call); err == nil {
				if state = string(r.State); r.Verdict != nil {
					state += " " + string(r.Verdict.Verdict)
				}
			}
			seen[name] = state
		})
		a := st.ask(pressing)
		call = a.ID
		st.admit(a)
		_, _, err := st.s.Acquire(st.ctx, "session:1", processID, call, time.Minute)
		must(t, err)
		_, err = st.s.Dispatch(st.ctx, a.ID, a.Nonce)
		must(t, err)
		end := done(a)
		end.State, end.Outcome = effect.Uncertain, effect.OutcomeUncertain
		_, err = st.s.Settle(st.ctx, end)
		must(t, err)
		_, err = st.s.Reconcile(st.ctx, agentID, st.run, call, ledger.Reconciliation{Verdict: ledger.VerdictUnknown, By: ledger.By{Kind: "form", ID: "t"}})
		must(t, err)
		_, err = st.s.Refuse(st.ctx, a.Ask, "denied", nil, nil)
		must(t, err)
		b := st.ask(looking)
		call = b.ID
		st.admit(b)
		clock.Advance(time.Hour)
		if n, err := st.s.Sweep(st.ctx, ledger.Retention{}); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		want := map[string]string{"admit.before_commit": "nothing", "admit.after_commit": "dispatched", "lease.after_acquire": "admitted", "dispatch.before_commit": "admitted",
			"dispatch.after_commit": "dispatched", "settle.before_commit": "dispatched", "settle.after_commit": "uncertain", "reconcile.before_commit": "uncertain",
			"reconcile.after_commit": "uncertain unknown", "refuse.before_row": "uncertain unknown", "sweep.after_kill": "dispatched", "sweep.before_commit": "dispatched"}
		if fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("the points saw %v\nwant %v", seen, want)
		}
		st.invariants()
	})
}
