// This file is the contract of the same call again: by its id or its key, in every state, and of the twin of an effect.
package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// stand brings a fresh call to where it stands when it comes again.
type stand struct {
	name    string
	tool    ledger.Tool
	bring   func(b *bench, c call)
	state   effect.State
	outcome effect.Outcome
}

func stands() []stand {
	lost := func(b *bench, c call) {
		b.dispatch(b.A, c, ledger.DispatchDone)
		b.settle(b.A, c.lost())
	}
	return []stand{
		{"a query in flight", Ask, func(*bench, call) {}, effect.Dispatched, ""},
		{"an observation in flight", Look, func(*bench, call) {}, effect.Dispatched, ""},
		{"an effect before its dispatch", Post, func(*bench, call) {}, effect.Admitted, ""},
		{"an effect in flight", Post, func(b *bench, c call) { b.dispatch(b.A, c, ledger.DispatchDone) }, effect.Dispatched, ""},
		{"a query that succeeded", Ask, func(b *bench, c call) { b.settle(b.A, c.done()) }, effect.Succeeded, effect.OK},
		{"an effect that was turned away", Post, func(b *bench, c call) { b.settle(b.A, c.turned()) }, effect.Succeeded, effect.NotDispatched},
		{"an effect that succeeded", Press, func(b *bench, c call) {
			b.dispatch(b.A, c, ledger.DispatchDone)
			b.settle(b.A, c.done())
		}, effect.Succeeded, effect.OK},
		{"a query that failed", Ask, func(b *bench, c call) { b.settle(b.A, c.broken(effect.Dispatched)) }, effect.Failed, effect.Lost},
		{"an effect that failed", Post, func(b *bench, c call) { b.settle(b.A, c.broken(effect.Admitted)) }, effect.Failed, effect.NotDispatched},
		{"an effect of unknown outcome", Press, lost, effect.Uncertain, effect.OutcomeUncertain},
		{"an effect that did not happen", Press, func(b *bench, c call) {
			lost(b, c)
			b.reconcile(b.A, c.id, ledger.NotHappened)
		}, effect.Uncertain, effect.OutcomeUncertain},
	}
}

func repeating() []promise {
	var list []promise
	for _, s := range stands() {
		list = append(list, promise{s.name + " is answered from its row, by key and by id, by either process", func(b *bench) {
			a := b.ask(s.tool, withKey("key-of-call"))
			admitted, err := b.A.Admit(b.ctx, a)
			b.must(err)
			b.in[admitted.Record.ID] = b.run
			s.bring(b, call{id: admitted.Record.ID, nonce: a.Nonce, class: a.Class})
			before, run := b.state(admitted.Record.ID, s.state, s.outcome), b.runOf(b.run)
			for name, again := range map[string]change{"by key": withKey("key-of-call"), "by id": withID(admitted.Record.ID)} {
				for _, store := range []ledger.Store{b.A, b.B} {
					got := b.found(store, ledger.Repeat, s.tool, again, by(procB))
					if got.Record.ID != before.ID || got.Record.State != s.state || string(got.Record.Result) != string(before.Result) {
						b.t.Errorf("%s: answered by %+v, want %+v", name, got.Record, before)
					}
				}
			}
			if after := b.runOf(b.run); after.Calls != run.Calls || after.RunMeters[s.tool.Capability] != run.RunMeters[s.tool.Capability] || after.Refused != 0 {
				b.t.Errorf("repeats were counted: %+v, before them %+v", after, run)
			}
		}})
	}
	return append(list, []promise{
		{"a verdict is part of the answer", func(b *bench) {
			c := b.sent(b.A, Press, withKey("key-verdict"))
			b.settle(b.A, c.lost())
			b.reconcile(b.A, c.id, ledger.Happened)
			if v := b.found(b.B, ledger.Repeat, Press, withKey("key-verdict")).Record.Verdict; v == nil || v.Verdict != ledger.Happened || v.Note != "seen on the page" {
				b.t.Errorf("the verdict is %+v", v)
			}
		}},
		{"a key protects over runs", func(b *bench) {
			c := b.fresh(b.A, Look, withKey("key-two-runs"))
			b.settle(b.A, c.done())
			b.end("ended")
			next := b.openRun(ledger.NewRun{})
			if got := b.found(b.A, ledger.Repeat, Look, withKey("key-two-runs"), inRun(next.ID)); got.Record.ID != c.id {
				b.t.Errorf("answered from %s, want %s", got.Record.ID, c.id)
			}
		}},
		{"a key under other arguments, another tool or another named run is a conflict that names the first call", func(b *bench) {
			c := b.fresh(b.A, Look, withKey("key-conflict"))
			other := b.openRun(ledger.NewRun{})
			for _, x := range []struct {
				differs string
				tool    ledger.Tool
				change  change
			}{{"tool", Ask, inRun(b.run)}, {"arguments", Look, args(`{"q":2}`)}, {"run", Look, named(other.ID)}} {
				r := b.refused(b.A, "call_conflict", x.tool, withKey("key-conflict"), x.change)
				if r.Other != c.id || r.OtherTool != "look" || r.Differs != x.differs {
					b.t.Errorf("another %s: the conflict names %s (%s), differing in %q", x.differs, r.Other, r.OtherTool, r.Differs)
				}
			}
			b.used("read", 1)
			b.used("search", 0)
			if got := b.found(b.A, ledger.Repeat, Look, withKey("key-conflict"), inRun(other.ID)); got.Record.ID != c.id {
				b.t.Error("a run that was not named made a conflict")
			}
		}},
		{"a key is its agent's", func(b *bench) {
			c := b.fresh(b.A, Look, withKey("key-shared"))
			run := b.openRun(ledger.NewRun{Agent: agentTwo})
			two := b.fresh(b.A, Look, withKey("key-shared"), func(a *ledger.Admission) { a.Agent, a.Audience, a.Run = agentTwo, "agent:"+agentTwo, run.ID })
			if c.id == two.id {
				b.t.Error("two agents share a call")
			}
		}},
		{"another agent's call is not answered by its id", func(b *bench) {
			c := b.fresh(b.A, Look)
			run := b.openRun(ledger.NewRun{Agent: agentTwo})
			got, err := b.A.Admit(b.ctx, b.ask(Look, withID(c.id), func(a *ledger.Admission) { a.Agent, a.Audience, a.Run = agentTwo, "agent:"+agentTwo, run.ID }))
			if err == nil {
				b.t.Errorf("answered by %+v", got)
			}
			var r *ledger.Refusal
			if errors.As(err, &r) && (r.Other != "" || r.OtherTool != "") {
				b.t.Errorf("the refusal tells of another agent's call: %+v", r)
			}
		}},
		{"a call that has two names is the one that its key names", func(b *bench) {
			c := b.fresh(b.A, Look, withKey("key-named"))
			if got := b.found(b.A, ledger.Repeat, Look, withKey("key-named"), withID("call_fresh_id")); got.Record.ID != c.id {
				b.t.Errorf("answered from %s, want %s", got.Record.ID, c.id)
			}
		}},
	}...)
}

// twin is a case of the twin rule: an effect, what became of it, and what the same effect again is answered with.
type twin struct {
	name  string
	bring func(b *bench, c call) // from admitted on
	again []change
	want  ledger.AdmitKind
}

func deliver(b *bench, c call, d ledger.Delivery) {
	b.t.Helper()
	b.must(b.A.Deliver(b.ctx, []ledger.Mark{{Call: c.id, Owner: c.admitted.Record.Owner, Delivery: d}}))
}

func twins() []twin {
	finish := func(d ledger.Delivery) func(b *bench, c call) {
		return func(b *bench, c call) {
			b.dispatch(b.A, c, ledger.DispatchDone)
			b.settle(b.A, c.done())
			if d != ledger.Waiting {
				deliver(b, c, d)
			}
		}
	}
	then := func(first func(b *bench, c call), second func(b *bench)) func(b *bench, c call) {
		return func(b *bench, c call) { first(b, c); second(b) }
	}
	wait := func(d time.Duration) func(b *bench) { return func(b *bench) { b.pass(d) } }
	return []twin{
		{"not dispatched yet: waits", func(*bench, call) {}, nil, ledger.WaitFor},
		{"in flight: waits", func(b *bench, c call) { b.dispatch(b.A, c, ledger.DispatchDone) }, nil, ledger.WaitFor},
		{"in flight, caller gone: waits", func(b *bench, c call) {
			b.dispatch(b.A, c, ledger.DispatchDone)
			deliver(b, c, ledger.CallerGone)
		}, nil, ledger.WaitFor},
		{"over, its answer under way: waits", finish(ledger.Waiting), nil, ledger.WaitFor},
		{"over, handed over: a new call", finish(ledger.HandedOver), nil, ledger.Fresh},
		{"over, caller gone: its result", finish(ledger.CallerGone), nil, ledger.TwinFinal},
		{"over, caller gone, to the other process: its result", finish(ledger.CallerGone), []change{by(procB)}, ledger.TwinFinal},
		{"over, caller gone, other arguments: a new call", finish(ledger.CallerGone), []change{args(`{"to":"ann"}`)}, ledger.Fresh},
		{"over, caller gone, with a key: a new call", finish(ledger.CallerGone), []change{withKey("key-deliberate")}, ledger.Fresh},
		{"over, caller gone, fifteen minutes ago: its result", then(finish(ledger.CallerGone), wait(15*time.Minute)), nil, ledger.TwinFinal},
		{"over, caller gone, more than fifteen minutes ago: a new call", then(finish(ledger.CallerGone), wait(15*time.Minute+time.Microsecond)), nil, ledger.Fresh},
		{"over, its caller's process dead: its result", then(finish(ledger.Waiting), func(b *bench) {
			b.die(procA)
			b.sweep(b.B, 0)
		}), []change{by(procB)}, ledger.TwinFinal},
		{"turned away before its dispatch: a new call", func(b *bench, c call) {
			s := c.turned()
			s.Gone = true
			b.settle(b.A, s)
		}, nil, ledger.Fresh},
		{"cancelled before its dispatch: a new call", func(b *bench, c call) { b.settle(b.A, c.broken(effect.Admitted)) }, nil, ledger.Fresh},
		{"unknown, caller gone, reconciled: its result", func(b *bench, c call) {
			b.dispatch(b.A, c, ledger.DispatchDone)
			s := c.lost()
			s.Gone = true
			b.settle(b.A, s)
			b.reconcile(b.A, c.id, ledger.NotHappened)
		}, nil, ledger.TwinFinal},
		{"another effect came after it: a new call", then(finish(ledger.CallerGone), func(b *bench) {
			c := b.fresh(b.A, Post, args(`{"to":"bob"}`))
			finish(ledger.HandedOver)(b, c)
		}), nil, ledger.Fresh},
		{"another effect came after it and was turned away: its result", then(finish(ledger.CallerGone), func(b *bench) {
			b.settle(b.A, b.fresh(b.A, Post, args(`{"to":"bob"}`)).turned())
		}), nil, ledger.TwinFinal},
	}
}

func twinning() []promise {
	var list []promise
	for _, x := range twins() {
		list = append(list, promise{x.name, func(b *bench) {
			c := b.fresh(b.A, Post)
			x.bring(b, c)
			got := b.found(b.B, x.want, Post, x.again...)
			if x.want == ledger.Fresh && got.Record.ID == c.id || x.want != ledger.Fresh && (got.Record.ID != c.id || !got.Twin && x.want == ledger.WaitFor) {
				b.t.Errorf("answered from %s (twin %t), the first is %s", got.Record.ID, got.Twin, c.id)
			}
		}})
	}
	return append(list, []promise{
		{"a recorded answer is given once: the row is its new caller's to deliver", func(b *bench) {
			c := b.sent(b.A, Post)
			b.settle(b.A, c.done())
			deliver(b, c, ledger.CallerGone)
			got := b.found(b.B, ledger.TwinFinal, Post, by(procB))
			if r := b.record(c.id); string(got.Record.Result) != "result of "+c.id || r.Owner != procB || r.Delivery != ledger.Waiting {
				b.t.Fatalf("the answer is %q; the row is %s's with mark %d", got.Record.Result, r.Owner, r.Delivery)
			}
			b.found(b.A, ledger.WaitFor, Post)
			b.must(b.B.Deliver(b.ctx, []ledger.Mark{{Call: c.id, Owner: procB, Delivery: ledger.HandedOver}}))
			b.fresh(b.A, Post)
		}},
		{"a recorded answer that is lost again is given again", func(b *bench) {
			c := b.sent(b.A, Post)
			b.settle(b.A, c.done())
			deliver(b, c, ledger.CallerGone)
			for range 3 {
				b.found(b.B, ledger.TwinFinal, Post, by(procB))
				b.must(b.B.Deliver(b.ctx, []ledger.Mark{{Call: c.id, Owner: procB, Delivery: ledger.CallerGone}}))
			}
			b.used("mail", 1)
		}},
		{"a mark of who had the answer before says nothing of its new caller's", func(b *bench) {
			c := b.sent(b.A, Post)
			b.settle(b.A, c.done())
			b.die(procA) // it sleeps, with the mark of its answer in hand
			b.sweep(b.B, 0)
			b.found(b.B, ledger.TwinFinal, Post, by(procB))
			deliver(b, c, ledger.HandedOver) // and wakes
			b.must(b.B.Deliver(b.ctx, []ledger.Mark{{Call: c.id, Owner: procB, Delivery: ledger.CallerGone}}))
			b.found(b.B, ledger.TwinFinal, Post, by(procB)) // the new caller left without it: nothing is sent again
		}},
		{"queries and observations have no twins", func(b *bench) {
			for _, tool := range []ledger.Tool{Ask, Look} {
				c := b.fresh(b.A, tool)
				b.fresh(b.A, tool)
				b.settle(b.A, c.done())
				deliver(b, c, ledger.CallerGone)
				b.fresh(b.A, tool)
				b.used(tool.Capability, 3)
			}
		}},
		{"a twin is of the same run", func(b *bench) {
			c := b.sent(b.A, Post)
			b.settle(b.A, c.done())
			deliver(b, c, ledger.CallerGone)
			b.fresh(b.A, Post, inRun(b.openRun(ledger.NewRun{}).ID))
		}},
	}...)
}

// race runs several at once and gives what each got.
func race[T any](t testing.TB, n int, do func(i int) (T, error)) []T {
	t.Helper()
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, n)
	for i := range n {
		go func() {
			v, err := do(i)
			answers <- answer{v, err}
		}()
	}
	var got []T
	for range n {
		a := <-answers
		if a.err != nil {
			t.Error(fmt.Errorf("one of %d at once: %w", n, a.err))
		}
		got = append(got, a.v)
	}
	return got
}
