// This file cancels a caller and fails the database at every single step of a call's life, and compares what was
// reported with what stands and with what was sent.
package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// errDown is a database that does not answer.
var errDown = errors.New("the database does not answer")

// told is what whoever carried a call through was told.
type told struct {
	call      string
	admission error
	dispatch  error
	opening   error
	settling  error
	settled   ledger.Settled
}

// carry carries one call through as a pipeline does: two inputs, each only where the permit and its context allow it.
// tick is called at every place where something may happen to the caller.
func carry(ctx context.Context, i *install, l *ledger.Ledger, a ledger.Ask, tick func()) (out told) {
	tick()
	c, err := l.Admit(ctx, a, nil)
	if out.admission = err; err != nil {
		return out
	}
	out.call = c.ID()
	finish := func(r ledger.Report) told {
		tick()
		out.settled, out.settling = c.Settle(r)
		tick()
		c.Delivered(ctx.Err() == nil)
		return out
	}
	tick()
	p, err := c.Dispatch(c.Context())
	if out.dispatch = err; err != nil {
		if ctx.Err() != nil {
			return finish(ledger.Cancelled())
		}
		return finish(ledger.Fault("store_unavailable"))
	}
	tick()
	sending, err := p.Open(c.Context())
	if out.opening = err; err != nil {
		return finish(ledger.NotDispatched("revoked", []byte("nothing was sent")))
	}
	for range 2 {
		tick()
		if p.Check() != nil || sending.Err() != nil {
			if ctx.Err() != nil && a.Class != effect.Effect {
				return finish(ledger.Cancelled())
			}
			return finish(ledger.Uncertain("connection_lost", []byte("outcome unknown")))
		}
		input(i, c.ID())
	}
	return finish(ledger.Done([]byte("result")))
}

// onPath says whether a step of the store belongs to a call's life; the rest is the process's own.
func onPath(method string) bool {
	switch method {
	case "Admit", "Dispatch", "Settle", "Call":
		return true
	}
	return false
}

// honest compares what was told, what stands and what was sent.
func honest(t *testing.T, i *install, k kind, got told, cancelled bool) {
	t.Helper()
	all := i.Calls()
	if len(all) > 1 {
		t.Fatalf("%d calls were made of one", len(all))
	}
	if len(all) == 0 {
		if got.call != "" || got.admission == nil || len(i.sent) != 0 {
			t.Fatalf("there is no row, and yet: %+v", got)
		}
		if units := i.units(k); units != 0 {
			t.Fatalf("%d units were spent for nothing", units)
		}
		return
	}
	r := all[0]
	sent := i.inputs(r.ID)
	if units := i.units(k); units != 1 {
		t.Errorf("%d units were spent for one admission", units)
	}
	if !r.State.Final() {
		t.Errorf("the call is left %s", r.State)
	}
	switch {
	case sent > 0 && r.Dispatched.IsZero():
		t.Error("I0: it was sent and has not crossed the boundary")
	case sent > 0 && r.Outcome == effect.NotDispatched:
		t.Error("I15: it was sent and is said not to be")
	case sent == 0 && r.Outcome == effect.OK:
		t.Error("I16: nothing was sent and all is said to be well")
	case k.class == effect.Effect && !r.Dispatched.IsZero() && r.State == effect.Failed:
		t.Error("I11: a dispatched effect failed")
	case got.admission != nil && sent > 0:
		t.Errorf("its caller was told %v, and it was sent", got.admission)
	case got.admission != nil && r.State != effect.Failed && (cancelled || r.Code != "abandoned"): // what nobody could write is swept
		t.Errorf("its caller was told %v, and the call is %s", got.admission, r.State)
	case cancelled && k.class == effect.Effect && !r.Dispatched.IsZero() && (sent != 2 || r.State != effect.Succeeded):
		t.Errorf("an effect did not outlive its caller: %d inputs, %s", sent, r.State)
	}
	if got.settling != nil {
		if got.settled.Record.ID != "" || got.settled.Record.Result != nil {
			t.Errorf("settling failed (%v) and yet something may be shown: %+v", got.settling, got.settled)
		}
		if r.State == effect.Succeeded && r.Delivery == ledger.HandedOver {
			t.Error("its caller heard no outcome, and the answer is marked as handed over")
		}
		return
	}
	if got.call != "" && got.settled.Record.State != "" {
		if s := got.settled.Record; s.State != r.State || s.Outcome != r.Outcome || string(s.Result) != string(r.Result) {
			t.Errorf("told %s/%s %q, and what stands is %s/%s %q", s.State, s.Outcome, s.Result, r.State, r.Outcome, r.Result)
		}
	}
}

// eachStep does something at the first step, the second and so on, until one run had fewer steps. It gives how many it did.
func eachStep(t *testing.T, name string, do func(t *testing.T, at int) (happened bool)) int {
	t.Helper()
	for at := 1; ; at++ {
		happened := false
		t.Run(fmt.Sprintf("%s at %d", name, at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { happened = do(t, at) })
		})
		if !happened || t.Failed() {
			return at - 1
		}
	}
}

// TestACallerMayLeaveAtEveryStep cancels before and after every transaction and between all of them. The store reports, as
// drivers do, an error for a commit during which its context ended.
func TestACallerMayLeaveAtEveryStep(t *testing.T) {
	for _, k := range kinds {
		steps := eachStep(t, string(k.class), func(t *testing.T, at int) bool {
			i := newInstall(t)
			l, s, stop := i.process()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			n := 0
			tick := func() {
				if n++; n == at {
					cancel()
					synctest.Wait() // whoever listens has heard
				}
			}
			hook := func(method string) error {
				if onPath(method) {
					tick()
				}
				return nil
			}
			s.before(hook)
			s.after(hook)
			got := carry(ctx, i, l, i.ask(k), tick)
			stop()
			honest(t, i, k, got, n >= at)
			return n >= at
		})
		if want := map[effect.Class]int{effect.Query: 11, effect.Observation: 11, effect.Effect: 13}[k.class]; steps != want && !t.Failed() {
			t.Errorf("%s: the caller left at %d steps, want %d", k.class, steps, want)
		}
	}
}

// TestTheDatabaseMayFailAtEveryStep fails a transaction before it begins or after it was committed, once, a few times, or
// from then on, with a caller who stays or leaves.
func TestTheDatabaseMayFailAtEveryStep(t *testing.T) {
	for _, k := range kinds {
		for _, often := range []int{1, 2, 3, 1000} {
			for _, leaves := range []bool{false, true} {
				eachStep(t, fmt.Sprintf("%s, %d times, leaves %t", k.class, often, leaves), func(t *testing.T, at int) bool {
					i := newInstall(t)
					l, s, stop := i.process()
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					n := 0
					hook := func(method string) error {
						if !onPath(method) {
							return nil
						}
						if n++; n >= at && n < at+often {
							if leaves {
								cancel()
							}
							return errDown
						}
						return nil
					}
					s.before(hook)
					s.after(hook)
					got := carry(ctx, i, l, i.ask(k), func() {})
					happened := n >= at
					s.before(nil)
					s.after(nil)
					time.Sleep(2 * time.Minute) // what could not be settled is swept
					stop()
					honest(t, i, k, got, false)
					if often == 1 && !leaves && (got.admission != nil || got.dispatch != nil || got.settling != nil) {
						t.Errorf("one failure was not got over: %+v", got)
					}
					if often == 1000 && happened && got.admission == nil && got.settling == nil {
						t.Errorf("the database was gone and nobody was told: %+v", got)
					}
					return happened
				})
			}
		}
	}
}
