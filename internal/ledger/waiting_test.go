package ledger_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// later admits on its own, and tells when it has an answer.
type later struct {
	call  *ledger.Call
	err   error
	after time.Duration
	told  []ledger.Progress
	done  chan struct{}
}

func admitLater(ctx context.Context, l *ledger.Ledger, a ledger.Ask) *later {
	w := &later{done: make(chan struct{})}
	began := time.Now()
	go func() {
		defer close(w.done)
		w.call, w.err = l.Admit(ctx, a, func(p ledger.Progress) { w.told = append(w.told, p) })
		w.after = time.Since(began)
	}()
	synctest.Wait()
	return w
}

func (w *later) waits(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case <-w.done:
		t.Fatalf("it was answered after %v: %v, %v", w.after, w.call, w.err)
	default:
	}
}

// recorded must be answered from the record of a call.
func (w *later) recorded(t *testing.T, id string) ledger.Record {
	t.Helper()
	<-w.done
	if w.err != nil {
		t.Fatalf("it was answered with %v", w.err)
	}
	r, recorded := w.call.Recorded()
	if !recorded || r.ID != id {
		t.Fatalf("it was answered with the call %s (recorded %t), want the record of %s", r.ID, recorded, id)
	}
	return r
}

func (w *later) refused(t *testing.T, code string) *ledger.Refusal {
	t.Helper()
	<-w.done
	var r *ledger.Refusal
	if !errors.As(w.err, &r) || r.Code != code {
		t.Fatalf("it was answered with %v, %v; want the refusal %s", w.call, w.err, code)
	}
	return r
}

func TestARepeatWaitsForTheFirstAndIsAnsweredFromItsRecord(t *testing.T) {
	for _, where := range []string{"the same process", "another process"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInstall(t)
				l, _, _ := i.process()
				second := l
				if where == "another process" {
					second, _, _ = i.process()
				}
				a := i.ask(asks, key("key-of-a-call"), func(a *ledger.Ask) { a.Bound = 10 * time.Minute })
				c := i.admit(l, a)
				_, _ = i.open(c)
				w := admitLater(t.Context(), second, a)
				time.Sleep(3 * time.Minute) // a repeat waits for as long as its caller does
				w.waits(t)
				i.settle(c, ledger.Done([]byte("rain")))
				r := w.recorded(t, c.ID())
				if string(r.Result) != "rain" {
					t.Errorf("the answer is %q", r.Result)
				}
				if late := w.after - 3*time.Minute; where == "the same process" && late != 0 || late > 2*time.Second {
					t.Errorf("it heard of it %v later", late)
				}
				if len(w.told) != 35 && len(w.told) != 36 || w.told[0] != (ledger.Progress{For: "same", Call: c.ID(), Tool: "ask", Since: 5 * time.Second}) {
					t.Errorf("it was told %d times, first %+v", len(w.told), w.told[0])
				}
				if p, err := w.call.Dispatch(t.Context()); err == nil || p.Check() == nil {
					t.Error("a recorded call gives a right to send")
				}
				if _, err := w.call.Settle(ledger.Done(nil)); err == nil {
					t.Error("a recorded call can be settled")
				}
				if i.units(asks) != 1 {
					t.Errorf("%d units were counted", i.units(asks))
				}
			})
		})
	}
}

func TestARepeatWhoseCallerLeavesLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		a := i.ask(looks, key("key-of-a-call"))
		c := i.admit(l, a)
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		w := admitLater(ctx, l, a)
		<-w.done
		if !errors.Is(w.err, context.DeadlineExceeded) || w.after != 7*time.Second {
			t.Errorf("it was answered with %v after %v", w.err, w.after)
		}
		i.settle(c, ledger.Done(nil))
	})
}

func TestARepeatOfTheDeadSweepsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		if err := i.Store().Register(t.Context(), "proc_dead", "dead", "", 15*time.Second); err != nil {
			t.Fatal(err)
		}
		a := i.ask(asks, key("key-of-a-call"))
		got, err := i.Store().Admit(t.Context(), ledger.Admission{Ask: a, Nonce: "n", Process: "proc_dead"})
		if err != nil {
			t.Fatal(err)
		}
		l, _, _ := i.process(func(o *ledger.Options) { o.Sweep = time.Hour })
		w := admitLater(t.Context(), l, a)
		if r := w.recorded(t, got.Record.ID); r.State != effect.Uncertain || r.Code != "abandoned" {
			t.Errorf("the record says %s, %s", r.State, r.Code)
		}
		if w.after < 15*time.Second || w.after > 17*time.Second {
			t.Errorf("it was answered after %v", w.after)
		}
	})
}

func TestATwinWaitsUntilTheAnswerArrivedOrIsLost(t *testing.T) {
	for _, x := range []struct {
		name     string
		arrived  bool
		recorded bool
	}{{"handed over: the same again is a new call", true, false}, {"lost: the record answers", false, true}} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInstall(t)
				l, _, _ := i.process()
				c := i.admit(l, i.ask(presses, given("send parcel")))
				_, _ = i.open(c)
				w := admitLater(t.Context(), l, i.ask(presses, given("send parcel")))
				time.Sleep(20 * time.Second)
				w.waits(t)
				i.settle(c, ledger.Done([]byte("sent")))
				time.Sleep(10 * time.Second)
				w.waits(t) // the answer is still on its way
				c.Delivered(x.arrived)
				if x.recorded {
					if r := w.recorded(t, c.ID()); string(r.Result) != "sent" {
						t.Errorf("the record says %q", r.Result)
					}
					if i.row(c.ID()).Delivery != ledger.Waiting {
						t.Error("its delivery is not the new caller's")
					}
					w.call.Delivered(true)
					marksAreWritten()
					if i.row(c.ID()).Delivery != ledger.HandedOver {
						t.Error("its delivery was not marked")
					}
				} else if <-w.done; w.err != nil || w.call.ID() == c.ID() {
					t.Errorf("answered with %v, %v", w.call, w.err)
				}
				if late := w.after - 30*time.Second; late > 110*time.Millisecond {
					t.Errorf("it heard of it %v later, in its own process", late)
				}
				if want := (ledger.Progress{For: "twin", Call: c.ID(), Tool: "press", Since: 5 * time.Second}); len(w.told) < 5 || w.told[0] != want {
					t.Errorf("it was told %+v", w.told)
				}
			})
		})
	}
}

func TestATwinIsRefusedAfterFiftyFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(presses, given("send parcel"), func(a *ledger.Ask) { a.Bound = 5 * time.Minute }))
		_, _ = i.open(c)
		w := admitLater(t.Context(), l, i.ask(presses, given("send parcel")))
		r := w.refused(t, "earlier_call_unfinished")
		if w.after != 55*time.Second || r.Other != c.ID() || r.OtherTool != "press" || r.Reason != "twin" {
			t.Errorf("refused after %v with %+v", w.after, r)
		}
		if row := i.stands(r.Call, effect.Refused, ""); row.Code != "earlier_call_unfinished" || len(row.Why) == 0 {
			t.Errorf("the refusal stands as %+v", row)
		}
		i.settle(c, ledger.Done(nil))
		if got := i.units(presses); got != 1 {
			t.Errorf("%d units were counted", got)
		}
	})
}

func TestAnotherEffectWaitsForTheHoldAndThenGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(presses))
		_, _ = i.open(c)
		w := admitLater(t.Context(), l, i.ask(presses))
		read := i.admit(l, i.ask(looks)) // looks wait for no hold
		i.settle(read, ledger.Done(nil))
		time.Sleep(40 * time.Second)
		w.waits(t)
		if len(w.told) != 7 && len(w.told) != 8 || w.told[0].For != "hold" || w.told[0].Call != c.ID() {
			t.Errorf("it was told %+v", w.told)
		}
		if !slices.IsSortedFunc(w.told, func(a, b ledger.Progress) int { return int(a.Since - b.Since) }) {
			t.Errorf("the wait shrinks: %+v", w.told)
		}
		i.settle(c, ledger.Done(nil))
		if <-w.done; w.err != nil || w.after != 40*time.Second {
			t.Fatalf("answered with %v after %v", w.err, w.after)
		}
		_, _ = i.open(w.call)
		i.settle(w.call, ledger.Done(nil))
	})
}

func TestAnotherEffectIsRefusedWhereTheHoldLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(presses, func(a *ledger.Ask) { a.Bound = 5 * time.Minute }))
		_, _ = i.open(c)
		w := admitLater(t.Context(), l, i.ask(presses))
		if r := w.refused(t, "earlier_call_unfinished"); r.Reason != "hold" || r.Other != c.ID() || w.after != 55*time.Second {
			t.Errorf("refused after %v with %+v", w.after, r)
		}
		i.settle(c, ledger.Uncertain("connection_lost", nil))
		w = admitLater(t.Context(), l, i.ask(presses))
		if r := w.refused(t, "effect_uncertain"); r.Other != c.ID() || w.after != 0 {
			t.Errorf("refused after %v with %+v", w.after, r)
		}
		if _, err := l.Reconcile(t.Context(), agent, i.run, c.ID(), ledger.Reconciliation{Verdict: ledger.NotHappened, By: ledger.By{Kind: "harness", ID: "token_1"}}); err != nil {
			t.Fatal(err)
		}
		_, _ = i.open(i.admit(l, i.ask(presses)))
	})
}

// The wait of fifty-five seconds is one: it does not begin anew with each thing that is in the way.
func TestAWaitIsNotPutOffByAnotherHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		long := func(a *ledger.Ask) { a.Bound = 5 * time.Minute }
		first, second := i.admit(l, i.ask(presses, long)), i.admit(l, i.ask(presses, long)) // both before either is dispatched
		_, _ = i.open(first)
		if _, err := second.Dispatch(t.Context()); !errors.Is(err, ledger.ErrHeld) {
			t.Fatalf("two effects of a run at once: %v", err)
		}
		w := admitLater(t.Context(), l, i.ask(presses))
		time.Sleep(50 * time.Second)
		i.settle(first, ledger.Done(nil))
		_, _ = i.open(second) // a dispatch that was held may be asked for again
		if r := w.refused(t, "earlier_call_unfinished"); w.after != 55*time.Second || r.Other != second.ID() {
			t.Errorf("refused after %v for %s, want %s", w.after, r.Other, second.ID())
		}
		i.settle(second, ledger.Done(nil))
	})
}

func TestAnEndingProcessLetsNobodyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, stop := i.process()
		a := i.ask(presses, given("send parcel"), key("key-of-a-call"))
		c := i.admit(l, a)
		_, _ = i.open(c)
		same, hold := admitLater(t.Context(), l, a), admitLater(t.Context(), l, i.ask(presses))
		ended := make(chan struct{})
		go func() { stop(); close(ended) }()
		for _, w := range []*later{same, hold} {
			if <-w.done; !errors.Is(w.err, ledger.ErrClosing) {
				t.Errorf("who waited was told %v", w.err)
			}
		}
		if _, err := l.Admit(t.Context(), i.ask(asks), nil); !errors.Is(err, ledger.ErrClosing) {
			t.Errorf("who came then was told %v", err)
		}
		i.settle(c, ledger.Done(nil))
		c.Delivered(true)
		<-ended
	})
}

func TestACallerWhoLeavesWhileItIsAdmittedHasSpentAUnitAndSentNothing(t *testing.T) {
	for _, k := range kinds {
		synctest.Test(t, func(t *testing.T) {
			i := newInstall(t)
			l, s, _ := i.process()
			ctx, leave := context.WithCancel(t.Context())
			s.after(func(method string) error {
				if method == "Admit" {
					leave()
				}
				return nil
			})
			if c, err := l.Admit(ctx, i.ask(k), nil); !errors.Is(err, context.Canceled) || c != nil {
				t.Errorf("%s: admitted as %v, %v", k.class, c, err)
			}
			if r := i.Calls()[0]; r.State != effect.Failed || r.Outcome != effect.NotDispatched || r.Code != "cancelled" || r.Delivery != ledger.CallerGone {
				t.Errorf("%s: it stands as %+v", k.class, r)
			}
			if i.units(k) != 1 {
				t.Errorf("%s: %d units", k.class, i.units(k))
			}
		})
	}
}

func TestARecordedAnswerWhoseCallerLeavesMayBeHadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		c := i.admit(l, i.ask(presses, given("send parcel")))
		_, _ = i.open(c)
		i.settle(c, ledger.Done([]byte("sent")))
		c.Delivered(false)
		marksAreWritten()
		ctx, leave := context.WithCancel(t.Context())
		s.after(func(method string) error {
			if method == "Admit" {
				leave()
			}
			return nil
		})
		if _, err := l.Admit(ctx, i.ask(presses, given("send parcel")), nil); !errors.Is(err, context.Canceled) {
			t.Fatalf("answered with %v", err)
		}
		s.after(nil)
		w := admitLater(t.Context(), l, i.ask(presses, given("send parcel")))
		w.recorded(t, c.ID())
		if w.after > time.Second {
			t.Errorf("it waited %v for a caller who is gone", w.after)
		}
		w.call.Delivered(true)
	})
}

// Two callers of one call may hear differently; that one of them has the answer is what counts.
func TestAnAnswerThatArrivedIsNotTakenBack(t *testing.T) {
	for _, first := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			i := newInstall(t)
			l, _, _ := i.process()
			a := i.ask(asks, key("key-of-a-call"))
			c := i.admit(l, a)
			i.settle(c, ledger.Done([]byte("rain")))
			again := admitLater(t.Context(), l, a)
			again.recorded(t, c.ID())
			c.Delivered(first)
			again.call.Delivered(!first)
			marksAreWritten()
			if d := i.row(c.ID()).Delivery; d != ledger.HandedOver {
				t.Errorf("the mark is %d", d)
			}
		})
	}
}

// A stream is cut, and the same effect comes again before the cut call's handler has returned: what that one says then is
// not said of the new caller's answer.
func TestACallerWhoLeftIsToldOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		ctx, leave := context.WithCancel(t.Context())
		c, err := l.Admit(ctx, i.ask(presses, given("send parcel")), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = i.open(c)
		leave()
		synctest.Wait()
		i.settle(c, ledger.Done([]byte("sent")))
		again := admitLater(t.Context(), l, i.ask(presses, given("send parcel")))
		again.recorded(t, c.ID())
		c.Delivered(false)
		marksAreWritten()
		again.call.Delivered(true)
		marksAreWritten()
		if d := i.row(c.ID()).Delivery; d != ledger.HandedOver {
			t.Errorf("the new caller has the answer, and the mark is %d", d)
		}
	})
}
