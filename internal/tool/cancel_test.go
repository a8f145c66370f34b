package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/ledger/ledgertest"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// leaver is a caller that leaves when a point is reached, once.
type leaver struct {
	mu      sync.Mutex
	point   string
	leave   context.CancelFunc
	reached bool
}

func (l *leaver) at(point string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if point == l.point && l.leave != nil {
		l.reached = true
		l.leave()
	}
}

func (l *leaver) set(point string, leave context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.point, l.leave, l.reached = point, leave, false
}

func (l *leaver) done() (reached bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave = nil
	return l.reached
}

// leaves makes one call whose caller leaves at a point, waits until all is quiet, and checks that nothing that is said
// differs from what happened; then the same call comes again.
func leaves(t *testing.T, s *stage, l *leaver, name, point string, quiet func(what string, so func() bool)) (reached bool) {
	t.Helper()
	before, asked := len(s.set.World.Entries()), len(calls(t, s, name))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	l.set(point, leave)
	r, err := s.Call(ctx, caller(), name, json.RawMessage(`{"text":"a"}`))
	var fault *tool.Fault
	switch {
	case err == nil:
		r.Delivered(ctx.Err() == nil)
	case !errors.As(err, &fault) || fault.Code != "cancelled":
		t.Errorf("%s at %s: a caller that left is told %v", name, point, err)
	}
	reached = l.done()
	ended := func() bool {
		for _, c := range calls(t, s, name) {
			if !c.State.Final() || c.State != effect.Refused && c.Delivery == ledger.Waiting {
				return false
			}
		}
		return true
	}
	quiet("the call has ended", ended)
	all := calls(t, s, name)
	sent := s.set.World.Entries()[before:]
	if n := len(all) - asked; n > 1 || n == 0 && len(sent) > 0 {
		t.Fatalf("%s at %s: one call made %d, and the world has %v", name, point, n, sent)
	} else if n == 1 {
		truth(t, name+" at "+point, all[len(all)-1], sent)
	}
	again, err := s.Call(t.Context(), caller(), name, json.RawMessage(`{"text":"a"}`))
	if err != nil {
		t.Fatalf("%s again after %s: %v", name, point, err)
	}
	again.Delivered(true)
	quiet("it is written down that the answer arrived", ended) // until then the next call is this one again
	if again.Failure != nil {
		t.Errorf("%s again after %s: %s", name, point, again.Text())
	}
	entries := s.set.World.Entries()[before:]
	if name == "press" && reached && (len(entries) != 2 || len(tooltest.Twice(entries)) != 0) { // one effect in all
		t.Errorf("press again after %s: the world has %v", point, entries)
	}
	return reached
}

// truth checks a call's record against the world's own log.
func truth(t *testing.T, what string, c ledger.Record, sent []tooltest.Entry) {
	t.Helper()
	whole := c.Class != effect.Effect || len(sent) == 2
	switch {
	case c.State == effect.Failed && c.Class == effect.Effect && !c.Dispatched.IsZero(), c.State == effect.Uncertain && c.Class != effect.Effect,
		c.Outcome == effect.NotDispatched && len(sent) > 0, c.Outcome == effect.OK && !whole, c.State == effect.Uncertain && whole:
		t.Errorf("%s: the record says %s %s %s, dispatched at %v, and the world has %v", what, c.State, c.Outcome, c.Code, c.Dispatched, sent)
	}
}

// calls are the calls of a tool in the order in which they were made, refused ones left out.
func calls(t *testing.T, s *stage, name string) []ledger.Record {
	t.Helper()
	runs, err := s.rows.RunsOf(t.Context(), []string{me}, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var all []ledger.Record
	for _, run := range runs {
		of, err := s.rows.CallsOf(t.Context(), me, run.ID, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range of {
			if c.Tool == name && c.State != effect.Refused {
				all = append(all, c)
			}
		}
	}
	return all
}

func TestCancelledAroundEveryStepOfTheStoreNoReportIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leaver{}
		s, _ := inMemory(t, func(rows *ledgertest.Store) {
			rows.Before = func(method string) error { l.at(method + " before"); return nil }
			rows.After = func(method string) error { l.at(method + " after"); return nil }
		})
		s.list(t, caller())
		quiet := func(what string, so func() bool) {
			for range 100 {
				if synctest.Wait(); so() {
					return
				}
				time.Sleep(100 * time.Millisecond) // of the bubble
			}
			t.Fatalf("never: %s", what)
		}
		for _, name := range []string{"ask", "peek", "press"} {
			s.call(t, caller(), name, `{"text":"warm"}`)
			quiet("the first has ended", func() bool { return calls(t, s, name)[0].Delivery != ledger.Waiting })
			for _, method := range []string{"OpenRun", "Look", "Admit", "Dispatch", "Settle"} {
				for _, when := range []string{" before", " after"} {
					if method == "OpenRun" { // a program that has just begun: another one knows the run
						s.process = s.start(t, s.rows, nil)
					}
					if !leaves(t, s, l, name, method+when, quiet) && (method != "Dispatch" || name == "press") {
						t.Errorf("%s did not come to %s", name, method+when)
					}
				}
			}
		}
	})
}

func TestCancelledAroundEveryCommitNoReportIsWrong(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		l := &leaver{}
		s := newStage(t, db, clock, l.at)
		s.list(t, caller())
		quiet := func(what string, so func() bool) { eventually(t, what, so) }
		for _, name := range []string{"ask", "peek", "press"} {
			for _, step := range []string{"admit", "dispatch", "settle"} {
				for _, when := range []string{"before_commit", "after_commit"} {
					if !leaves(t, s, l, name, fmt.Sprint(step, ".", when), quiet) && (step != "dispatch" || name == "press") {
						t.Errorf("%s did not come to %s.%s", name, step, when)
					}
				}
			}
		}
	})
}

// An effect that was dispatched goes on without its caller, to the last input.
func TestAnEffectRunsOnWithoutItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := inMemory(t, nil)
		s.list(t, caller())
		for _, c := range []struct {
			tool, point string
			inputs      int
			state       effect.State
			outcome     effect.Outcome
		}{
			{"press", tooltest.Gate, 0, effect.Failed, effect.NotDispatched},
			{"press", tooltest.Input(1), 2, effect.Succeeded, effect.OK},
			{"press", tooltest.Input(2), 2, effect.Succeeded, effect.OK},
			{"press", tooltest.Sent, 2, effect.Succeeded, effect.OK},
			{"peek", tooltest.Sent, 0, effect.Failed, effect.Lost},
			{"ask", tooltest.Gate, 0, effect.Failed, effect.NotDispatched},
			{"ask", tooltest.Sent, 0, effect.Failed, effect.Lost},
		} {
			before := len(s.set.World.Entries())
			ctx, leave := context.WithCancel(t.Context())
			stop := tooltest.NewStop()
			s.set.Script.At(c.point, func(ctx context.Context) error {
				leave()
				return stop.Do(ctx)
			})
			_, err := s.Call(ctx, caller(), c.tool, json.RawMessage(fmt.Sprintf(`{"text":"%s"}`, c.point)))
			var fault *tool.Fault
			if !errors.As(err, &fault) || fault.Code != "cancelled" {
				t.Fatalf("%s at %s: %v", c.tool, c.point, err)
			}
			synctest.Wait()
			if rec, err := s.rows.Call(t.Context(), me, fault.Run, fault.Call); err != nil || rec.State.Final() != (c.state == effect.Failed) {
				t.Errorf("%s at %s: the caller has left and it stands as %s, %v", c.tool, c.point, rec.State, err)
			}
			stop.Go()
			synctest.Wait()
			s.set.Script.At(c.point, nil)
			rec, err := s.rows.Call(t.Context(), me, fault.Run, fault.Call)
			if err != nil || rec.State != c.state || rec.Outcome != c.outcome || len(s.set.World.Entries())-before != c.inputs {
				t.Errorf("%s at %s stands as %s %s, %v; the world has %v", c.tool, c.point, rec.State, rec.Outcome, err, s.set.World.Entries()[before:])
			}
			time.Sleep(time.Second) // of the bubble: the mark is written
			if rec, err = s.rows.Call(t.Context(), me, fault.Run, fault.Call); err != nil || rec.Delivery != ledger.CallerGone {
				t.Errorf("%s at %s: the delivery is %d, %v", c.tool, c.point, rec.Delivery, err)
			}
		}
	})
}

// Each five seconds a waiting caller hears what is waited for, and after 55 it is let go.
func TestAWaitingCallerIsToldWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := inMemory(t, nil)
		s.process = s.start(t, s.rows, func(lo *ledger.Options, o *tool.Options) { lo.Wait, o.Wait = 0, 0 })
		s.list(t, caller())
		stop := tooltest.NewStop()
		s.set.Bound = 10 * time.Minute
		s.set.Script.At(tooltest.Input(1), stop.Do)
		go func() {
			r, err := s.Call(t.Context(), caller(), "press", json.RawMessage(`{"text":"a"}`))
			if err == nil {
				r.Delivered(true)
			}
		}()
		reached(t, stop)
		holder := calls(t, s, "press")[0].ID
		for _, c := range []struct{ text, says string }{
			{"a", "waiting for the same press call, " + holder + ", to end"},
			{"b", "waiting for an earlier action of this run, " + holder + ", to end"},
		} {
			var told []string
			who := caller()
			who.Progress = func(m string) { told = append(told, m) }
			began := time.Now()
			r, err := s.Call(t.Context(), who, "press", json.RawMessage(fmt.Sprintf(`{"text":%q}`, c.text)))
			if err != nil {
				t.Fatal(err)
			}
			r.Delivered(true)
			want(t, r, "earlier_call_unfinished")
			if took := time.Since(began); took < 55*time.Second || took > 57*time.Second {
				t.Errorf("it waited %s", took)
			}
			if len(told) < 10 || len(told) > 11 || told[0] != c.says {
				t.Errorf("it was told %q", told)
			}
			if keysOf(t, r)["other_call_id"] != holder || keysOf(t, r)["retryable"] != true {
				t.Errorf("the keys are %s", r.Structured)
			}
		}
		stop.Go()
		synctest.Wait()
	})
}

// A database that fails is an execution failure, and nothing is said that is not so.
func TestADatabaseThatFailsIsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the disk is full")
		var fail string
		var mu sync.Mutex
		failing := func(when string) func(string) error {
			return func(method string) error {
				mu.Lock()
				defer mu.Unlock()
				if fail == method+when {
					return broken
				}
				return nil
			}
		}
		s, _ := inMemory(t, func(rows *ledgertest.Store) { rows.Before, rows.After = failing(" before"), failing(" after") })
		s.list(t, caller())
		for _, name := range []string{"ask", "press"} {
			for _, step := range []string{"OpenRun", "Look", "Admit", "Dispatch", "Settle"} {
				for _, when := range []string{" before", " after"} {
					if step == "Dispatch" && name == "ask" {
						continue
					}
					who := caller()
					who.Client = name + step + when
					before := len(s.set.World.Entries())
					mu.Lock()
					fail = step + when
					mu.Unlock()
					r, err := s.Call(t.Context(), who, name, json.RawMessage(`{"text":"a"}`))
					mu.Lock()
					fail = ""
					mu.Unlock()
					var fault *tool.Fault
					if !errors.As(err, &fault) || fault.Code != "store_unavailable" || fault.Status() != 503 {
						t.Fatalf("%s where %s fails: %v, %s", name, step+when, err, r.Text())
					}
					sent := len(s.set.World.Entries()) - before
					if step != "Settle" && sent != 0 {
						t.Errorf("%s where %s fails: %d inputs were sent", name, step+when, sent)
					}
					synctest.Wait()
				}
			}
		}
	})
}
