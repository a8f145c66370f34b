package ledger_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// down makes a store's methods fail, all but some.
func down(but ...string) func(string) error {
	return func(method string) error {
		for _, b := range but {
			if method == b {
				return nil
			}
		}
		return errDown
	}
}

func TestAPermitGoesStaleByItselfWhereTheDatabaseIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		time.Sleep(3 * time.Second) // a beat begins now
		synctest.Wait()
		c := i.admit(l, i.ask(asks, func(a *ledger.Ask) { a.Bound = 5 * time.Minute }))
		p, sending := i.open(c)
		s.before(down("Settle"))
		time.Sleep(11250*time.Millisecond - time.Millisecond)
		if p.Check() != nil || sending.Err() != nil || !l.Health().Alive {
			t.Fatalf("it went stale early: %v", p.Check())
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if !errors.Is(p.Check(), ledger.ErrSilent) || !errors.Is(context.Cause(sending), ledger.ErrSilent) || l.Health().Alive {
			t.Errorf("three quarters of its time to live are over: check %v, sending %v", p.Check(), context.Cause(sending))
		}
		if _, err := l.Admit(t.Context(), i.ask(asks), nil); !errors.Is(err, ledger.ErrSilent) {
			t.Errorf("admit: %v", err)
		}
		s.before(nil)
		i.settle(c, ledger.Fault("internal_error")) // whoever is first is right, also after a silence
		i.stands(c.ID(), effect.Failed, effect.Lost)
		time.Sleep(3 * time.Second)
		if !l.Health().Alive {
			t.Error("it is heard again and may not send")
		}
		i.settle(i.admit(l, i.ask(asks)), ledger.Done(nil))
	})
}

// What counts is when a good beat began, not when it was answered: the others count from the database's clock, which
// read in between.
func TestASlowBeatCountsFromItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		c := i.admit(l, i.ask(asks, func(a *ledger.Ask) { a.Bound = 5 * time.Minute }))
		p, _ := i.open(c)
		slow := true
		s.after(func(method string) error {
			if method == "Beat" && slow {
				slow = false
				time.Sleep(5 * time.Second)
				s.before(down("Settle", "Deliver", "Retire"))
			}
			return nil
		})
		time.Sleep(3*time.Second + 11250*time.Millisecond - time.Millisecond)
		if err := p.Check(); err != nil {
			t.Fatalf("stale early: %v", err)
		}
		time.Sleep(time.Millisecond)
		if p.Check() == nil {
			t.Error("the five seconds of the answer were counted as life")
		}
		i.settle(c, ledger.Cancelled())
		s.before(nil)
	})
}

func TestTheDeadComeBackUnderAnotherName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		first := l.Health().Process
		c := i.admit(l, i.ask(presses))
		p, _ := i.open(c)
		lease, err := l.Lease(t.Context(), "session:one", nil, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Store().Retire(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		second := l.Health()
		if second.Process == first || second.Process == "" || !second.Alive {
			t.Fatalf("it lives as %+v, it was %s", second, first)
		}
		if p.Check() == nil || lease.Valid() == nil {
			t.Error("what the dead was permitted is still good")
		}
		d := i.admit(l, i.ask(asks))
		if owner := i.row(d.ID()).Owner; owner != second.Process {
			t.Errorf("a new call is owned by %s", owner)
		}
		i.settle(d, ledger.Done(nil))
		if _, err := c.Settle(ledger.Uncertain("connection_lost", nil)); err != nil { // it may still say what it knows
			t.Error(err)
		}
	})
}

func TestAdmittingWaitsForAProcessThatStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process(func(o *ledger.Options) { o.Version = "1" })
		stop := time.AfterFunc(4*time.Second, func() { s.before(nil) })
		defer stop.Stop()
		_ = i.Store().Retire(t.Context(), l.Health().Process)
		s.before(down("Beat"))
		time.Sleep(3 * time.Second) // called dead, and cannot register
		synctest.Wait()
		w := admitLater(t.Context(), l, i.ask(asks))
		w.waits(t)
		if <-w.done; w.err != nil || w.after != 3*time.Second {
			t.Fatalf("answered with %v after %v", w.err, w.after)
		}
		i.settle(w.call, ledger.Done(nil))
	})
}

// A database that takes nothing, such as one on a full disk, will not mend itself in the time of a call: who asks is told at
// once, and not after a wait of its own.
func TestNobodyWaitsForADatabaseThatTakesNoSignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		s.before(down("Settle"))
		time.Sleep(12 * time.Second)
		if l.Health().Alive {
			t.Fatal("it lives without a sign")
		}
		w := admitLater(t.Context(), l, i.ask(asks))
		if <-w.done; !errors.Is(w.err, ledger.ErrSilent) || w.after != 0 {
			t.Errorf("answered with %v after %v", w.err, w.after)
		}
		s.before(nil)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		i.settle(i.admit(l, i.ask(asks)), ledger.Done(nil))
	})
}

// Who waits already is told when the hope is over.
func TestWhoWaitsIsToldWhenThereIsNoHope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		_ = i.Store().Retire(t.Context(), l.Health().Process)
		s.before(down("Beat"))
		time.Sleep(3 * time.Second) // called dead, and cannot register: once
		synctest.Wait()
		w := admitLater(t.Context(), l, i.ask(asks))
		if <-w.done; !errors.Is(w.err, ledger.ErrSilent) || w.after != 3*time.Second {
			t.Errorf("answered with %v after %v", w.err, w.after)
		}
		s.before(nil)
	})
}

// A database that is started anew while a call runs costs the call nothing but time.
func TestAnEndOutlastsADatabaseThatIsStartedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		for _, k := range []kind{asks, presses} {
			c := i.admit(l, i.ask(k))
			i.open(c)
			s.before(down())
			back := time.AfterFunc(3*time.Second, func() { s.before(nil) })
			i.settle(c, ledger.Done([]byte("result")))
			back.Stop()
			if r := i.row(c.ID()); r.State != effect.Succeeded || string(r.Result) != "result" {
				t.Errorf("%v: the row is %s with %q", k, r.State, r.Result)
			}
			c.Delivered(true)
		}
	})
}

func TestAnOrderlyEndWaitsForWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, stop := i.process()
		c := i.admit(l, i.ask(presses, func(a *ledger.Ask) { a.Bound = 5 * time.Minute }))
		p, _ := i.open(c)
		ended := make(chan time.Duration)
		began := time.Now()
		go func() { stop(); ended <- time.Since(began) }()
		time.Sleep(40 * time.Second)
		if err := p.Check(); err != nil {
			t.Fatalf("an effect in delivery was cut off: %v", err)
		}
		i.settle(c, ledger.Done([]byte("result")))
		c.Delivered(true)
		if d := <-ended; d > 40*time.Second+200*time.Millisecond {
			t.Errorf("it ended after %v", d)
		}
		if i.row(c.ID()).Delivery != ledger.HandedOver {
			t.Error("the last delivery mark was not written")
		}
		if n, err := i.Store().Sweep(t.Context(), ledger.Retention{}); n != 0 || err != nil {
			t.Errorf("%d calls were left, %v", n, err)
		}
		if alive, _ := i.Store().Beat(t.Context(), i.row(c.ID()).Owner, time.Minute); alive {
			t.Error("it did not say that it has ended")
		}
	})
}

func TestAnOrderlyEndStopsWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, stop := i.process()
		c := i.admit(l, i.ask(asks, func(a *ledger.Ask) { a.Bound = 5 * time.Minute }))
		_, sending := i.open(c)
		ended := make(chan struct{})
		began := time.Now()
		go func() { stop(); close(ended) }()
		<-sending.Done()
		if d := time.Since(began); d != time.Minute || !errors.Is(context.Cause(sending), ledger.ErrClosing) {
			t.Errorf("it was stopped after %v with %v", d, context.Cause(sending))
		}
		i.settle(c, ledger.Fault("internal_error"))
		c.Delivered(false)
		<-ended
	})
}

func TestACallThatIsNeverSettledIsLeftToASweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, stop := i.process()
		c := i.admit(l, i.ask(presses))
		_, _ = i.open(c)
		began := time.Now()
		stop()
		if d := time.Since(began); d < time.Minute || d > 80*time.Second {
			t.Errorf("it ended after %v", d)
		}
		other, _, _ := i.process()
		if n, err := other.Sweep(t.Context()); err != nil || n > 1 {
			t.Errorf("swept %d, %v", n, err)
		}
		i.stands(c.ID(), effect.Uncertain, effect.OutcomeUncertain)
		i.hold(c.ID())
	})
}

func TestAMarkIsWrittenAsSoonAsItCanBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		var writes atomic.Int32
		s.before(func(method string) error {
			if method == "Deliver" {
				if writes.Add(1) <= 3 {
					return errDown
				}
			}
			return nil
		})
		var calls []*ledger.Call
		for range 20 {
			c := i.admit(l, i.ask(asks))
			i.settle(c, ledger.Done(nil))
			c.Delivered(true)
			c.Delivered(false) // once only
			calls = append(calls, c)
		}
		time.Sleep(500 * time.Millisecond)
		for _, c := range calls {
			if d := i.row(c.ID()).Delivery; d != ledger.HandedOver {
				t.Fatalf("%s has the mark %d", c.ID(), d)
			}
		}
		if writes.Load() != 4 {
			t.Errorf("twenty marks took %d transactions, want three that failed and one", writes.Load())
		}
	})
}

func TestRunRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		if err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("a second Run gives %v", err)
		}
	})
}
