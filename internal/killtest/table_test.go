//go:build unix

// This file kills one process at each crash point of the ledger and asks again as the agent would: what the database
// shows, what others conclude, what the agent is told, and what was counted.
package killtest

import (
	"context"
	"errors"
	"testing"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// answer is what the agent is told.
type answer string

const (
	asNew   answer = "a new call, which succeeds"
	refused answer = "refused: " // and the code
)

func recorded(state effect.State, outcome effect.Outcome) answer {
	return answer("recorded: " + string(state) + "/" + string(outcome))
}

// crash is one row of the table.
type crash struct {
	point  string
	kind   kind
	keyed  bool
	shows  string // state/outcome as the process leaves it; empty: no call
	others string // state/outcome in the end
	sent   int    // inputs that went out before
	units  int64  // spent by the killed call
	hold   bool   // it holds its run in the end
	again  answer
	after  answer // the same once more
}

func crashes() []crash {
	const abandoned, unknown, lost, ok = "failed/not_dispatched", "uncertain/uncertain", "failed/lost", "succeeded/ok"
	held := refused + "effect_uncertain"
	return []crash{
		{"admit.before_commit", asks, true, "", "", 0, 0, false, asNew, recorded(effect.Succeeded, effect.OK)},
		{"admit.before_commit", presses, false, "", "", 0, 0, false, asNew, asNew},
		{"admit.after_commit", asks, true, "dispatched/", unknown, 0, 1, false, recorded(effect.Uncertain, effect.OutcomeUncertain), recorded(effect.Uncertain, effect.OutcomeUncertain)},
		{"admit.after_commit", asks, false, "dispatched/", unknown, 0, 1, false, asNew, asNew},
		{"admit.after_commit", looks, true, "dispatched/", lost, 0, 1, false, recorded(effect.Failed, effect.Lost), recorded(effect.Failed, effect.Lost)},
		{"admit.after_commit", looks, false, "dispatched/", lost, 0, 1, false, asNew, asNew},
		{"admit.after_commit", presses, true, "admitted/", abandoned, 0, 1, false, recorded(effect.Failed, effect.NotDispatched), recorded(effect.Failed, effect.NotDispatched)},
		{"admit.after_commit", presses, false, "admitted/", abandoned, 0, 1, false, asNew, asNew},
		{"lease.after_acquire", presses, false, "admitted/", abandoned, 0, 1, false, asNew, asNew},
		{"dispatch.before_commit", presses, false, "admitted/", abandoned, 0, 1, false, asNew, asNew},
		{"dispatch.after_commit", presses, false, "dispatched/", unknown, 0, 1, true, held, held},
		{"dispatch.after_commit", presses, true, "dispatched/", unknown, 0, 1, true, recorded(effect.Uncertain, effect.OutcomeUncertain), recorded(effect.Uncertain, effect.OutcomeUncertain)},
		{"send.between_inputs", presses, false, "dispatched/", unknown, 1, 1, true, held, held},
		{"send.between_inputs", looks, true, "dispatched/", lost, 1, 1, false, recorded(effect.Failed, effect.Lost), recorded(effect.Failed, effect.Lost)},
		{"send.after", presses, false, "dispatched/", unknown, 2, 1, true, held, held},
		{"send.after", asks, true, "dispatched/", unknown, 2, 1, false, recorded(effect.Uncertain, effect.OutcomeUncertain), recorded(effect.Uncertain, effect.OutcomeUncertain)},
		{"settle.before_commit", presses, false, "dispatched/", unknown, 2, 1, true, held, held},
		{"settle.before_commit", asks, true, "dispatched/", unknown, 2, 1, false, recorded(effect.Uncertain, effect.OutcomeUncertain), recorded(effect.Uncertain, effect.OutcomeUncertain)},
		{"settle.after_commit", presses, false, ok, ok, 2, 1, false, recorded(effect.Succeeded, effect.OK), asNew},
		{"settle.after_commit", asks, true, ok, ok, 2, 1, false, recorded(effect.Succeeded, effect.OK), recorded(effect.Succeeded, effect.OK)},
		{"deliver.before_mark", presses, false, ok, ok, 2, 1, false, recorded(effect.Succeeded, effect.OK), asNew},
	}
}

// units are what the run has used of a kind.
func (s *stage) units(k kind) int64 {
	return s.count("SELECT coalesce(sum(used),0) FROM run_meters WHERE run_id=$1 AND capability=$2", s.run, k.Capability)
}

// agentAsks is the agent asking, with all that follows: a new call is carried out and its answer arrives.
func (s *stage) agentAsks(l *ledger.Ledger, k kind, key string) answer {
	s.t.Helper()
	w, err := openWorld(s.World, "again")
	s.must(err)
	p := &process{rows: s.rows, l: l, world: w}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	c, err := l.Admit(ctx, ask(k, s.run, key, "scripted"), nil)
	var r *ledger.Refusal
	if errors.As(err, &r) {
		return refused + answer(r.Code)
	}
	s.must(err)
	defer s.delivered(l, c)
	if rec, is := c.Recorded(); is {
		return recorded(rec.State, rec.Outcome)
	}
	settled, err := c.Settle(p.carry(ctx, c, ask(k, s.run, key, "scripted"), 0))
	if err != nil || settled.Record.Outcome != effect.OK {
		s.t.Fatalf("a new call ended as %s/%s, %v", settled.Record.State, settled.Record.Outcome, err)
	}
	return asNew
}

// delivered hands an answer over and waits until that stands.
func (s *stage) delivered(_ *ledger.Ledger, c *ledger.Call) {
	s.t.Helper()
	c.Delivered(true)
	s.eventually("the delivery is marked", func() bool {
		return s.count("SELECT count(*) FROM tool_calls WHERE id=$1 AND delivery<>0", c.ID()) == 1
	})
}

// only is the one call that there is, in a few words.
func (s *stage) only() (id, stands string) {
	s.t.Helper()
	all := readRows(s.t, s.db)
	if len(all) > 1 {
		s.t.Fatalf("there are %d calls", len(all))
	}
	for _, r := range all {
		return r.id, r.state + "/" + r.outcome
	}
	return "", ""
}

func TestTM055EveryCrashPoint(t *testing.T) {
	for _, d := range dbtest.Dialects {
		for _, x := range crashes() {
			name := string(d) + "/" + x.point + "/" + x.kind.Tool
			key := ""
			if x.keyed {
				name, key = name+"/keyed", "key-of-the-call"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, d)
				s.start(orders{Label: "victim", Die: x.point, Nth: 1, Script: "call", Call: script{Kind: x.kind, Run: s.run, Key: key}}).dies(x.point)
				id, shows := s.only()
				if shows != x.shows {
					t.Fatalf("the database shows %q, want %q", shows, x.shows)
				}
				if got := s.units(x.kind); got != x.units {
					t.Errorf("%d units are spent, want %d", got, x.units)
				}
				if got := len(readWorld(t, s.World).sent[id]); got != x.sent {
					t.Errorf("%d inputs went out, want %d", got, x.sent)
				}

				s.bury("victim")
				l := s.process()
				if got := s.agentAsks(l, x.kind, key); got != x.again {
					t.Errorf("the agent asks again: %s; want %s", got, x.again)
				}
				if id != "" {
					s.eventually("the call is concluded", func() bool { return readRows(t, s.db)[id].state+"/"+readRows(t, s.db)[id].outcome == x.others })
				}
				s.holds(id, x.hold)
				if got := s.agentAsks(l, x.kind, key); got != x.after {
					t.Errorf("and once more: %s; want %s", got, x.after)
				}
				if x.kind != looks {
					if got := s.agentAsks(l, looks, ""); got != asNew { // reading always works
						t.Errorf("looking: %s", got)
					}
				}
				want := x.units
				for _, a := range []answer{x.again, x.after} {
					if a == asNew {
						want++
					}
				}
				if got := s.units(x.kind); got != want {
					t.Errorf("%d units are spent in the end, want %d", got, want)
				}
				s.quiet()
			})
		}
	}
}

// holds says whether a call holds the run, and that a person hears of it.
func (s *stage) holds(id string, want bool) {
	s.t.Helper()
	if got := s.count("SELECT count(*) FROM runs WHERE hold_call=$1", id) == 1; got != want {
		s.t.Errorf("the call holds its run: %t, want %t", got, want)
	}
	if got := s.count("SELECT count(*) FROM notices WHERE subject_id=$1", id) == 1; got != want {
		s.t.Errorf("a person hears of it: %t, want %t", got, want)
	}
}

// victim is an effect whose process was killed after its boundary.
func (s *stage) victim() (id string) {
	s.t.Helper()
	s.start(orders{Label: "victim", Die: "dispatch.after_commit", Nth: 1, Script: "call", Call: script{Kind: presses, Run: s.run}}).dies("dispatch.after_commit")
	id, _ = s.only()
	return id
}

func TestASweepThatIsKilledIsDoneByOthers(t *testing.T) {
	for _, d := range dbtest.Dialects {
		for _, point := range []string{"sweep.after_kill", "sweep.before_commit"} {
			t.Run(string(d)+"/"+point, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, d)
				id := s.victim()
				s.must(s.db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error { // its time is over
					_, err := tx.Exec("UPDATE processes SET expires_at=now_us()-1 WHERE label='victim'")
					return err
				}))
				s.start(orders{Label: "sweeper", Die: point, Nth: 1, Script: "sweep"}).dies(point)
				if _, shows := s.only(); shows != "dispatched/" {
					t.Fatalf("the database shows %q", shows)
				}
				if dead := s.count("SELECT dead FROM processes WHERE label='victim'"); dead != 1 {
					t.Error("the victim is not called dead")
				}
				l := s.process()
				if got := s.agentAsks(l, presses, ""); got != refused+"effect_uncertain" {
					t.Errorf("the agent asks again: %s", got)
				}
				s.holds(id, true)
				s.quiet()
			})
		}
	}
}

func TestAVerdictIsThereOrNot(t *testing.T) {
	for _, d := range dbtest.Dialects {
		for point, again := range map[string]answer{"reconcile.before_commit": refused + "effect_uncertain", "reconcile.after_commit": recorded(effect.Uncertain, effect.OutcomeUncertain)} {
			t.Run(string(d)+"/"+point, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, d)
				id := s.victim()
				s.bury("victim")
				s.eventually("the call is concluded", func() bool {
					_, err := s.rows.Sweep(t.Context(), ledger.Retention{})
					s.must(err)
					_, shows := s.only()
					return shows == "uncertain/uncertain"
				})
				s.start(orders{Label: "judge", Die: point, Nth: 1, Script: "reconcile", Call: script{Run: s.run, Reconcile: id}}).dies(point)
				given := s.count("SELECT count(*) FROM reconciliations WHERE call_id=$1", id)
				if held := s.count("SELECT count(*) FROM runs WHERE hold_call=$1", id); held+given != 1 || (point == "reconcile.after_commit") != (given == 1) {
					t.Errorf("%d verdicts, %d holds", given, held)
				}
				l := s.process()
				if got := s.agentAsks(l, presses, ""); got != again {
					t.Errorf("the agent asks again: %s; want %s", got, again)
				}
				if given == 1 {
					if got := s.agentAsks(l, presses, ""); got != asNew {
						t.Errorf("and once more: %s", got)
					}
				}
				s.quiet()
			})
		}
	}
}

func TestAChangeOfSettingsIsThereOrNot(t *testing.T) {
	for _, d := range dbtest.Dialects {
		for point, again := range map[string]answer{"config.before_commit": asNew, "config.after_commit": refused + "stale_offer"} {
			t.Run(string(d)+"/"+point, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, d)
				s.start(orders{Label: "person", Die: point, Nth: 1, Script: "configure", Call: script{Kind: asks}}).dies(point)
				l := s.process()
				if got := s.agentAsks(l, asks, ""); got != again {
					t.Errorf("the agent asks: %s; want %s", got, again)
				}
				if got := s.agentAsks(l, asks, ""); got != asNew {
					t.Errorf("and once more: %s", got)
				}
				s.quiet()
			})
		}
	}
}

func TestARefusalThatWasNotWrittenIsJudgedAnew(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, d)
			s.must((&process{db: s.db}).configure(t.Context(), asks))
			s.start(orders{Label: "victim", Die: "refuse.before_row", Nth: 1, Script: "call", Call: script{Kind: asks, Run: s.run}}).dies("refuse.before_row")
			if id, _ := s.only(); id != "" {
				t.Fatal("there is a row")
			}
			l := s.process()
			for _, want := range []answer{refused + "stale_offer", asNew} {
				if got := s.agentAsks(l, asks, ""); got != want {
					t.Errorf("the agent asks again: %s; want %s", got, want)
				}
			}
			s.quiet()
		})
	}
}

func TestAnEndThatCannotBeWrittenIsUncertain(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, d)
			c := s.start(orders{Label: "victim", Script: "call", Call: script{Kind: presses, Run: s.run, Gone: true}})
			c.wait()
			if c.err == nil {
				t.Error("the process says that all is well")
			}
			id, shows := s.only()
			if shows != "dispatched/" && shows != "uncertain/uncertain" {
				t.Fatalf("the database shows %q", shows)
			}
			l := s.process()
			if got := s.agentAsks(l, presses, ""); got != refused+"effect_uncertain" {
				t.Errorf("the agent asks again: %s", got)
			}
			s.holds(id, true)
			if told := readWorld(t, s.World).told[id]; told != nil {
				t.Errorf("its caller was told %v", told)
			}
			s.quiet()
		})
	}
}
