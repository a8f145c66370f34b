package ledger_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

func TestThePermitOfNobodyOpensNothing(t *testing.T) {
	var p ledger.Permit
	if _, err := p.Open(t.Context()); !errors.Is(err, ledger.ErrNotPermitted) {
		t.Errorf("open: %v", err)
	}
	if err := p.Check(); !errors.Is(err, ledger.ErrNotPermitted) {
		t.Errorf("check: %v", err)
	}
}

func TestAPermitOpensOnceCopiesIncluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		for _, k := range kinds {
			c := i.admit(l, i.ask(k))
			var opened atomic.Int32
			var all sync.WaitGroup
			for range 16 {
				all.Go(func() {
					p, err := c.Dispatch(t.Context()) // each gets the same right
					if err != nil {
						t.Errorf("dispatch: %v", err)
						return
					}
					if _, err := p.Open(c.Context()); err == nil {
						opened.Add(1)
					} else if !errors.Is(err, ledger.ErrNotPermitted) {
						t.Errorf("open: %v", err)
					}
					if err := p.Check(); err != nil {
						t.Errorf("check: %v", err)
					}
				})
			}
			all.Wait()
			if opened.Load() != 1 {
				t.Errorf("%s: opened %d times", k.class, opened.Load())
			}
			i.settle(c, ledger.Done(nil))
		}
	})
}

// ends is something that ends a permit, with the cause that the sending hears.
type ends struct {
	name   string
	happen func(i *install, l *ledger.Ledger, c *ledger.Call)
	cause  error
}

func permitEnds() []ends {
	return []ends{
		{"the call is settled", func(i *install, _ *ledger.Ledger, c *ledger.Call) { i.settle(c, ledger.Done(nil)) }, nil},
		{"the tool's own bound is over", func(_ *install, _ *ledger.Ledger, _ *ledger.Call) { time.Sleep(20 * time.Second) }, ledger.ErrTime},
		{"the provider changed", func(i *install, _ *ledger.Ledger, _ *ledger.Call) {
			for _, k := range kinds {
				i.SetConnection(k.capability, binding.Connection{Owner: binding.Install, Mode: "own", Provider: "other", Version: 1})
			}
			time.Sleep(time.Second)
		}, ledger.ErrBindingChanged},
		{"the tool was switched off", func(i *install, _ *ledger.Ledger, _ *ledger.Call) {
			for _, k := range kinds {
				i.SetConnection(k.capability, binding.Connection{Owner: binding.Install, Mode: "disabled", Provider: "auto"})
			}
			time.Sleep(time.Second)
		}, ledger.ErrBindingChanged},
		{"the agent's rights changed", func(i *install, _ *ledger.Ledger, _ *ledger.Call) {
			i.SetAgent(binding.Agent{ID: agent, GrantsVersion: 2})
			time.Sleep(time.Second)
		}, ledger.ErrBindingChanged},
		{"the others called the process dead", func(i *install, l *ledger.Ledger, _ *ledger.Call) {
			if err := i.Store().Retire(context.Background(), l.Health().Process); err != nil {
				i.t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
		}, ledger.ErrSilent},
	}
}

func TestTM054WhatEndsAPermit(t *testing.T) {
	for _, k := range kinds {
		for _, x := range permitEnds() {
			t.Run(string(k.class)+": "+x.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					i := newInstall(t)
					l, _, _ := i.process()
					c := i.admit(l, i.ask(k))
					unopened := i.admit(l, i.ask(k))
					p, sending := i.open(c)
					x.happen(i, l, c)
					synctest.Wait()
					if err := p.Check(); !errors.Is(err, ledger.ErrNotPermitted) || x.cause != nil && !errors.Is(err, x.cause) {
						t.Errorf("check: %v, want %v", err, x.cause)
					}
					if sending.Err() == nil || x.cause != nil && !errors.Is(context.Cause(sending), x.cause) {
						t.Errorf("the sending goes on: %v, %v", sending.Err(), context.Cause(sending))
					}
					if x.cause == nil {
						return
					}
					if _, err := unopened.Dispatch(context.Background()); !errors.Is(err, ledger.ErrNotPermitted) {
						t.Errorf("dispatch of another: %v", err)
					}
					i.settle(unopened, ledger.NotDispatched("binding_changed", nil))
					i.settle(c, ledger.Uncertain("connection_lost", nil))
				})
			})
		}
	}
}

// A change of other settings, and a pause, end nothing that is under way.
func TestOtherChangesEndNoPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(asks))
		p, sending := i.open(c)
		i.PauseInstall("person_one")
		i.SetAgent(binding.Agent{ID: "agent_two", GrantsVersion: 1})
		i.SetConnection("mail", binding.Connection{Owner: binding.Install, Mode: "own", Provider: "other", Version: 4})
		time.Sleep(3 * time.Second)
		if p.Check() != nil || sending.Err() != nil {
			t.Errorf("check: %v, sending: %v", p.Check(), context.Cause(sending))
		}
		i.settle(c, ledger.Done(nil))
	})
}

func TestARunsDeadlineEndsAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		r, err := l.OpenRun(t.Context(), ledger.Opening{Agent: agent, Deadline: 8 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		c := i.admit(l, i.ask(asks, func(a *ledger.Ask) { a.Run = r.ID }))
		_, sending := i.open(c)
		time.Sleep(8*time.Second - time.Millisecond)
		if sending.Err() != nil {
			t.Fatalf("it ended before its time: %v", context.Cause(sending))
		}
		<-sending.Done()
		if !errors.Is(context.Cause(sending), ledger.ErrRunDeadline) {
			t.Errorf("it ended with %v", context.Cause(sending))
		}
		i.settle(c, ledger.Fault("run_deadline"))
		i.stands(c.ID(), effect.Failed, effect.Lost)
	})
}

// A caller who leaves ends what may be looked at again, and nothing that may have changed the world.
func TestWhomACallerTakesAlong(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k.class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInstall(t)
				l, _, _ := i.process()
				ctx, leave := context.WithCancel(t.Context())
				c, err := l.Admit(ctx, i.ask(k), nil)
				if err != nil {
					t.Fatal(err)
				}
				p, err := c.Dispatch(ctx)
				if err != nil {
					t.Fatal(err)
				}
				sending, err := p.Open(ctx) // the caller's own context, not the call's
				if err != nil {
					t.Fatal(err)
				}
				leave()
				synctest.Wait()
				goesOn := k.class == effect.Effect
				for name, err := range map[string]error{"the sending": sending.Err(), "the work": c.Context().Err(), "a further input": p.Check()} {
					if (err == nil) != goesOn {
						t.Errorf("%s: %v", name, err)
					}
				}
				i.settle(c, ledger.Done([]byte("result")))
				if i.row(c.ID()).Delivery != ledger.CallerGone {
					t.Error("the row does not say that the caller is gone")
				}
			})
		})
	}
}

func TestAnEffectWhoseCallerLeavesBeforeItsDispatchSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		ctx, leave := context.WithCancel(t.Context())
		c, err := l.Admit(ctx, i.ask(presses), nil)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		synctest.Wait()
		if c.Context().Err() == nil {
			t.Error("the work goes on")
		}
		if _, err := c.Dispatch(context.Background()); !errors.Is(err, ledger.ErrNotPermitted) {
			t.Errorf("dispatch: %v", err)
		}
		i.settle(c, ledger.Cancelled())
		i.stands(c.ID(), effect.Failed, effect.NotDispatched)
		i.hold("")
	})
}

func TestSettlingTwiceGivesTheFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(presses))
		_, _ = i.open(c)
		i.settle(c, ledger.Done([]byte("result")))
		if s, err := c.Settle(ledger.Uncertain("connection_lost", nil)); err != nil || s.Record.State != effect.Succeeded {
			t.Errorf("settled again as %s, %v", s.Record.State, err)
		}
		if _, err := c.Dispatch(t.Context()); err != nil { // the right that it had, which is over
			t.Errorf("dispatch: %v", err)
		}
		if i.row(c.ID()).Late != nil {
			t.Error("the second report reached the row")
		}
	})
}

func TestALateOwnerIsToldWhatStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(presses))
		_, _ = i.open(c)
		if err := i.Store().Retire(t.Context(), l.Health().Process); err != nil {
			t.Fatal(err)
		}
		if n, err := i.Store().Sweep(t.Context(), ledger.Retention{}); n != 1 || err != nil {
			t.Fatalf("swept %d, %v", n, err)
		}
		s, err := c.Settle(ledger.Done([]byte("it did happen")))
		if err != nil || !s.Late || s.Record.State != effect.Uncertain {
			t.Errorf("settled as %+v, %v", s, err)
		}
		if r := i.stands(c.ID(), effect.Uncertain, effect.OutcomeUncertain); string(r.Late) != "it did happen" || r.Result != nil {
			t.Errorf("the row has late %q, result %q", r.Late, r.Result)
		}
		i.hold(c.ID())
	})
}

// While the end of a call is being written nothing can be sent any more: what was not opened by then never will be.
func TestNothingIsSentWhileACallIsSettled(t *testing.T) {
	for _, k := range kinds {
		for _, opened := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				i := newInstall(t)
				l, s, _ := i.process()
				c := i.admit(l, i.ask(k))
				p, err := c.Dispatch(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if opened {
					if _, err := p.Open(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				s.before(func(method string) error {
					if method == "Settle" {
						if _, err := p.Open(t.Context()); err == nil || p.Check() == nil {
							t.Errorf("%s, opened %t: a permit holds while the end is written", k.class, opened)
						}
					}
					return nil
				})
				i.settle(c, ledger.Done([]byte("result")))
			})
		}
	}
}
