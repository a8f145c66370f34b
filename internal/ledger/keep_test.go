package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/ledger/ledgertest"
)

func TestOptionsAreChecked(t *testing.T) {
	good := ledger.Options{DigestKey: bytes.Repeat([]byte{1}, 32)}
	store := ledgertest.New(resolve, nil).Store()
	if _, err := ledger.New(store, good); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for field, change := range map[string]func(*ledger.Options){
		"DigestKey": func(o *ledger.Options) { o.DigestKey = o.DigestKey[:31] },
		"Beat":      func(o *ledger.Options) { o.Beat = 6 * time.Second },
		"TTL":       func(o *ledger.Options) { o.TTL = -1 },
		"Sweep":     func(o *ledger.Options) { o.Sweep = -1 },
		"Wait":      func(o *ledger.Options) { o.Wait = -time.Second },
	} {
		o := good
		change(&o)
		if _, err := ledger.New(store, o); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := ledger.New(nil, good); err == nil {
		t.Error("a ledger without a store")
	}
}

func TestAnAskIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		for field, change := range map[string]func(*ledger.Ask){
			"Run": func(a *ledger.Ask) { a.Run = "" }, "Agent": func(a *ledger.Ask) { a.Agent = "" }, "Audience": func(a *ledger.Ask) { a.Audience = "" },
			"Tool": func(a *ledger.Ask) { a.Tool = "" }, "Capability": func(a *ledger.Ask) { a.Capability = "" }, "Class": func(a *ledger.Ask) { a.Class = "read" },
			"Digest": func(a *ledger.Ask) { a.Digest = nil }, "Bound": func(a *ledger.Ask) { a.Bound = 0 },
			"Key": func(a *ledger.Ask) { a.Key = "seven.." },
		} {
			if _, err := l.Admit(t.Context(), i.ask(asks, change), nil); err == nil || !strings.Contains(err.Error(), "field "+field+" ") {
				t.Errorf("%s: %v", field, err)
			}
		}
		for k, good := range map[string]bool{"12345678": true, strings.Repeat("é", 128): true, strings.Repeat("k", 129): false, "tab\tinside": false,
			"del\x7finside": false, "bad\xffutf8": false, "with space": true} {
			_, err := l.Admit(t.Context(), i.ask(asks, key(k)), nil)
			if (err == nil) != good {
				t.Errorf("the key %q: %v", k, err)
			}
		}
	})
}

func TestChangesOfSettingsAreHeardWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		var mu sync.Mutex
		var heard []int64
		_, s, _ := i.process(func(o *ledger.Options) {
			o.Changed = func(epoch int64) { mu.Lock(); heard = append(heard, epoch); mu.Unlock() }
		})
		i.PauseInstall("person_one")
		i.PauseInstall("")
		time.Sleep(time.Second)
		synctest.Wait()
		s.before(down("Beat", "Now"))
		i.PauseInstall("person_one")
		time.Sleep(5 * time.Second)
		s.before(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(heard, []int64{2, 4, 5}) {
			t.Errorf("heard of the epochs %v", heard)
		}
	})
}

// A change is looked at until the bindings could be resolved: a database that fails then must not hide it.
func TestAChangeIsNotMissedWhereTheDatabaseFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, s, _ := i.process()
		c := i.admit(l, i.ask(asks))
		p, _ := i.open(c)
		s.before(func(method string) error {
			if method == "Resolve" {
				return errDown
			}
			return nil
		})
		i.SetConnection("search", binding.Connection{Owner: binding.Install, Mode: "own", Provider: "other", Version: 1})
		time.Sleep(4 * time.Second)
		if err := p.Check(); err != nil {
			t.Fatalf("it ended without knowing: %v", err)
		}
		s.before(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(p.Check(), ledger.ErrBindingChanged) {
			t.Errorf("check: %v", p.Check())
		}
		i.settle(c, ledger.Cancelled())
	})
}

func TestTM054AResultUnderAChangedBindingIsWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(asks))
		_, _ = i.open(c)
		i.SetConnection("search", binding.Connection{Owner: binding.Install, Mode: "own", Provider: "other", Version: 1})
		s := i.settle(c, ledger.Done([]byte("page text"), ledger.Evidence{Kind: "content", SHA256: "aa"}))
		if !s.Withheld || s.Now == nil || s.Now.Provider != "other" || s.Record.Result != nil || s.Record.Code != "binding_changed" {
			t.Errorf("settled as %+v", s)
		}
		if r := i.stands(c.ID(), effect.Succeeded, effect.OK); r.Result != nil || len(r.Evidence) != 1 {
			t.Errorf("what stands is %+v", r)
		}
	})
}

func TestTheDeadAreSweptInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		ctx, kill := context.WithCancel(t.Context())
		// A process that gives no more signs and never ends in order: only its row is there.
		if err := i.Store().Register(ctx, "proc_killed", "killed", "", 15*time.Second); err != nil {
			t.Fatal(err)
		}
		kill()
		got, err := i.Store().Admit(t.Context(), ledger.Admission{Ask: i.ask(looks), Nonce: "n", Process: "proc_killed"})
		if err != nil {
			t.Fatal(err)
		}
		_, _, _ = i.process()
		time.Sleep(21 * time.Second) // TTL and a sweep, with its jitter
		if r := i.stands(got.Record.ID, effect.Failed, effect.Lost); r.Delivery != ledger.CallerGone {
			t.Errorf("it stands as %+v", r)
		}
	})
}

func TestANoticeIsHeardAtLeastOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		var mu sync.Mutex
		var heard []ledger.Notice
		fails := 2
		notify := func(o *ledger.Options) {
			o.Notify = func(_ context.Context, n ledger.Notice) error {
				mu.Lock()
				defer mu.Unlock()
				if fails--; fails >= 0 {
					return errors.New("nobody answers")
				}
				heard = append(heard, n)
				return nil
			}
		}
		l, _, _ := i.process(notify)
		_, _, _ = i.process(notify) // two processes share the work
		_, _, _ = i.process()       // and one has nobody to tell
		c := i.admit(l, i.ask(presses))
		_, _ = i.open(c)
		i.settle(c, ledger.Uncertain("connection_lost", nil))
		time.Sleep(10 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(heard) != 1 || heard[0].Kind != "effect_uncertain" || heard[0].Subject != c.ID() || heard[0].Run != i.run {
			t.Errorf("heard %+v", heard)
		}
	})
}

func TestADigestIsOfToolAndArgumentsUnderAKey(t *testing.T) {
	store := ledgertest.New(resolve, nil).Store()
	digest := func(key byte, tool, args string) string {
		l, err := ledger.New(store, ledger.Options{DigestKey: bytes.Repeat([]byte{key}, 32)})
		if err != nil {
			t.Fatal(err)
		}
		return string(l.Digest(tool, []byte(args)))
	}
	one := digest(1, "ask", `{"q":"rain"}`)
	if len(one) != 32 || one != digest(1, "ask", `{"q":"rain"}`) {
		t.Fatalf("the digest is %x", one)
	}
	for what, other := range map[string]string{"key": digest(2, "ask", `{"q":"rain"}`), "tool": digest(1, "look", `{"q":"rain"}`),
		"arguments": digest(1, "ask", `{"q":"snow"}`), "boundary": digest(1, "ask{", `"q":"rain"}`)} {
		if other == one {
			t.Errorf("another %s has the same digest", what)
		}
	}
}

func TestHealthTellsOfAClockThatIsOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &install{World: ledgertest.New(resolve, func() time.Time { return time.Now().Add(-2500 * time.Millisecond) }), t: t}
		l, _, _ := i.process()
		if h := l.Health(); h.ClockSkew != 2500*time.Millisecond || h.Near() || !h.Alive {
			t.Errorf("the health is %+v", h)
		}
		near := newInstall(t)
		l, _, _ = near.process()
		if h := l.Health(); h.ClockSkew.Abs() > time.Microsecond || !h.Near() {
			t.Errorf("the health is %+v", h)
		}
		c := near.admit(l, near.ask(asks))
		if l.Health().InFlight != 1 {
			t.Error("the call is not in flight")
		}
		near.settle(c, ledger.Done(nil))
		if l.Health().InFlight != 0 {
			t.Error("a settled call is in flight")
		}
	})
}

func TestCancelStopsWhatWasNotSent(t *testing.T) {
	for _, k := range kinds {
		for _, sent := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				i := newInstall(t)
				l, _, _ := i.process()
				other, _, _ := i.process()
				c := i.admit(l, i.ask(k))
				if sent {
					_, _ = i.open(c)
				}
				wantThere := k.class == effect.Effect && !sent
				if stopped, err := other.Cancel(t.Context(), agent, i.run, c.ID()); err != nil || stopped != wantThere {
					t.Errorf("%s, sent %t: the other process says %t, %v", k.class, sent, stopped, err)
				}
				if stopped, err := l.Cancel(t.Context(), agent, i.run, c.ID()); err != nil || stopped != (k.class != effect.Effect) {
					t.Errorf("%s, sent %t: its own process says %t, %v", k.class, sent, stopped, err)
				}
				if k.class != effect.Effect && !errors.Is(context.Cause(c.Context()), ledger.ErrStopped) {
					t.Errorf("%s, sent %t: the work goes on", k.class, sent)
				}
				if _, err := c.Dispatch(t.Context()); wantThere && !errors.Is(err, ledger.ErrLate) {
					t.Errorf("a cancelled effect: dispatch gives %v", err)
				}
				if k.class == effect.Effect && sent && c.Context().Err() != nil {
					t.Error("an effect that was sent was stopped")
				}
				if _, err := l.Cancel(t.Context(), "agent_two", i.run, c.ID()); !errors.Is(err, ledger.ErrNotFound) {
					t.Errorf("another agent cancels: %v", err)
				}
				_, _ = c.Settle(ledger.Fault("cancelled"))
			})
		}
	}
}
