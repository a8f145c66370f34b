// This file is the contract of how calls end: settled by their owner, swept by anybody, reconciled by a person, and
// delivered.
package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

func settling() []promise {
	page := ledger.Evidence{Kind: "content", Host: "example.com", URL: "https://example.com/page", Title: "A page", SHA256: "ab12", Chars: 40, Thin: "js_shell"}
	return []promise{
		{"a result stands with its evidence", func(b *bench) {
			c := b.fresh(b.A, Look)
			b.pass(time.Second)
			s := c.done()
			s.Evidence = []ledger.Evidence{page, {Kind: "artifact", Artifact: "art_one", SHA256: "cd34"}}
			got := b.settle(b.A, s)
			r := b.state(c.id, effect.Succeeded, effect.OK)
			if string(r.Result) != "result of "+c.id || !r.Ended.Equal(b.Clock.Now()) || r.IsError || r.Withheld || got.Withheld || got.Record.State != effect.Succeeded {
				b.t.Errorf("the call stands as %+v, settling gave %+v", r, got)
			}
			if len(r.Evidence) != 3 {
				b.t.Fatalf("%d rows of evidence, want 3", len(r.Evidence))
			}
			for i, e := range r.Evidence {
				if e.N != int64(i) || e.Conversation != "conv_one" || e.Provider != "auto" {
					b.t.Errorf("evidence %d is %+v", i, e)
				}
			}
			if r.Evidence[1].Evidence != page || r.Evidence[2].Artifact != "art_one" {
				b.t.Errorf("the evidence is %+v", r.Evidence[1:])
			}
		}},
		{"each end that is possible is written as reported", func(b *bench) {
			type end struct {
				tool    ledger.Tool
				from    effect.State
				state   effect.State
				outcome effect.Outcome
			}
			for i, e := range []end{
				{Ask, effect.Dispatched, effect.Succeeded, effect.OK}, {Ask, effect.Dispatched, effect.Succeeded, effect.ProviderError},
				{Ask, effect.Dispatched, effect.Failed, effect.Lost}, {Ask, effect.Dispatched, effect.Uncertain, effect.OutcomeUncertain},
				{Look, effect.Dispatched, effect.Succeeded, effect.OK}, {Look, effect.Dispatched, effect.Failed, effect.Lost},
				{Look, effect.Dispatched, effect.Succeeded, effect.NotDispatched},
				{Post, effect.Admitted, effect.Succeeded, effect.NotDispatched}, {Post, effect.Admitted, effect.Failed, effect.NotDispatched},
				{Post, effect.Dispatched, effect.Succeeded, effect.OK}, {Post, effect.Dispatched, effect.Succeeded, effect.InputDispatched},
				{Post, effect.Dispatched, effect.Uncertain, effect.OutcomeUncertain},
			} {
				run := b.openRun(ledger.NewRun{}).ID
				c := b.fresh(b.A, e.tool, inRun(run), args(fmt.Sprintf(`{"n":%d}`, i)))
				if c.class == effect.Effect && e.from == effect.Dispatched {
					b.dispatch(b.A, c, ledger.DispatchDone)
				}
				b.settle(b.A, ledger.Settlement{Call: c.id, Nonce: c.nonce, From: e.from, State: e.state, Outcome: e.outcome, Code: "some_code",
					IsError: e.outcome != effect.OK, Why: "as it went"})
				if r := b.state(c.id, e.state, e.outcome); r.Code != "some_code" || r.IsError != (e.outcome != effect.OK) {
					b.t.Errorf("%+v: the call stands as %+v", e, r)
				}
				hold := ""
				if c.class == effect.Effect && e.state == effect.Uncertain {
					hold = c.id
				}
				if got := b.runOf(run).Hold; got != hold {
					b.t.Errorf("%+v: the run is held by %q, want %q", e, got, hold)
				}
			}
		}},
		{"an end that the table does not have is not written", func(b *bench) {
			c := b.sent(b.A, Post)
			bad := c.done()
			bad.State, bad.Outcome = effect.Failed, effect.Lost
			if got, err := b.A.Settle(b.ctx, bad); err == nil {
				b.t.Errorf("a dispatched effect failed: %+v", got)
			}
			b.state(c.id, effect.Dispatched, "")
			b.holder(c.id)
		}},
		{"whoever thinks that nothing was sent cannot close a call that crossed the boundary", func(b *bench) {
			c := b.sent(b.A, Post)
			got, err := b.A.Settle(b.ctx, c.turned())
			b.must(err)
			if !got.Late || got.Record.State != effect.Dispatched {
				b.t.Errorf("settling gave %+v", got)
			}
			b.state(c.id, effect.Dispatched, "")
			b.holder(c.id)
			b.settle(b.A, c.done())
		}},
		{"another attempt's nonce settles nothing", func(b *bench) {
			c := b.fresh(b.A, Ask)
			thief := c.done()
			thief.Nonce, thief.Result = "nonce_of_another", []byte("forged")
			if got, err := b.B.Settle(b.ctx, thief); err == nil && !got.Late {
				b.t.Errorf("settling gave %+v", got)
			}
			b.state(c.id, effect.Dispatched, "")
			b.settle(b.A, c.done())
		}},
		{"a settlement whose commit was in doubt is told by its nonce", func(b *bench) {
			c := b.sent(b.A, Post)
			s := c.done()
			s.Evidence = []ledger.Evidence{page}
			b.settle(b.A, s)
			b.pass(time.Second)
			b.settle(b.A, s)
			if r := b.state(c.id, effect.Succeeded, effect.OK); len(r.Evidence) != 2 || r.Late != nil {
				b.t.Errorf("after the second time: %+v", r)
			}
			b.holder("")
		}},
		{"a late report changes nothing and is kept, once, for whoever reconciles", func(b *bench) {
			c := b.sent(b.A, Post)
			b.die(procA)
			b.sweep(b.B, 1)
			for n, text := range []string{"it went well", "something else"} {
				s := c.done()
				s.Result = []byte(text)
				got, err := b.A.Settle(b.ctx, s)
				b.must(err)
				if !got.Late || got.Record.State != effect.Uncertain {
					b.t.Errorf("report %d: %+v", n, got)
				}
			}
			if r := b.state(c.id, effect.Uncertain, effect.OutcomeUncertain); string(r.Late) != "it went well" || r.Result != nil || r.Code != "abandoned" || len(r.Evidence) != 1 {
				b.t.Errorf("the call stands as %+v", r)
			}
			b.holder(c.id)
		}},
		{"whoever comes late but before anybody else is in time", func(b *bench) {
			c := b.sent(b.A, Post)
			b.die(procA)
			b.jump(2 * time.Minute)
			b.settle(b.A, c.done())
			b.holder("")
		}},
		{"a result is withheld where the binding changed meanwhile", func(b *bench) {
			for _, tool := range []ledger.Tool{Ask, Look, Post} {
				c := b.fresh(b.A, tool)
				if c.class == effect.Effect {
					b.dispatch(b.A, c, ledger.DispatchDone)
				}
				b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: tool.Capability, Mode: "own", Provider: "other", Version: 7})
				s := c.done()
				s.Evidence = []ledger.Evidence{page}
				got := b.settle(b.A, s)
				if !got.Withheld || got.Now == nil || got.Now.Provider != "other" {
					b.t.Errorf("%s: settling gave %+v", tool.Name, got)
				}
				r := b.record(c.id)
				if !r.Withheld || !r.IsError || r.Result != nil || r.Late != nil || r.Code != "binding_changed" || len(r.Evidence) != 1 || r.State != effect.Succeeded || r.Outcome != effect.OK {
					b.t.Errorf("%s: the call stands as %+v", tool.Name, r)
				}
				b.holder("")
			}
		}},
		{"a result is withheld from an agent that was disabled, and nothing is offered any more", func(b *bench) {
			c := b.fresh(b.A, Look)
			b.Settings.Agent(b.t, AgentRow{ID: agentOne, Grants: 2, Disabled: true})
			if got := b.settle(b.A, c.done()); !got.Withheld || got.Now != nil {
				b.t.Errorf("settling gave %+v", got)
			}
		}},
		{"an effect of unknown outcome keeps its outcome and its hold where the binding changed", func(b *bench) {
			c := b.sent(b.A, Press)
			b.Settings.Agent(b.t, AgentRow{ID: agentOne, Grants: 2})
			b.settle(b.A, c.lost())
			if r := b.state(c.id, effect.Uncertain, effect.OutcomeUncertain); !r.IsError {
				b.t.Errorf("the call stands as %+v", r)
			}
			b.holder(c.id)
		}},
		{"a changed limit withholds nothing", func(b *bench) {
			c := b.fresh(b.A, Look)
			b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "read", Mode: "auto", MinuteLimit: 1})
			if got := b.settle(b.A, c.done()); got.Withheld {
				b.t.Error("withheld")
			}
		}},
		{"dispatched calls settle after their run ended", func(b *bench) {
			look, post := b.fresh(b.A, Look), b.sent(b.A, Post)
			b.end("ended")
			b.settle(b.A, look.done())
			b.settle(b.A, post.done())
			b.holder("")
		}},
		{"a caller that left is noted with the end", func(b *bench) {
			c := b.fresh(b.A, Ask)
			s := c.done()
			s.Gone = true
			b.settle(b.A, s)
			if r := b.record(c.id); r.Delivery != ledger.CallerGone {
				b.t.Errorf("the mark is %d", r.Delivery)
			}
		}},
		{"nothing that is final settles again", func(b *bench) {
			c := b.fresh(b.A, Ask)
			b.settle(b.A, c.broken(effect.Dispatched))
			got, err := b.A.Settle(b.ctx, c.done())
			b.must(err)
			if !got.Late || got.Record.State != effect.Failed {
				b.t.Errorf("settling gave %+v", got)
			}
			b.state(c.id, effect.Failed, effect.Lost)
		}},
		{"the chain says why a call ended as it did", func(b *bench) {
			c := b.fresh(b.A, Look)
			b.pass(time.Second)
			b.settle(b.A, c.done())
			why := b.record(c.id).Why
			if last := why[len(why)-1]; len(why) < 2 || last.Stage != "outcome" || !last.At.Equal(b.Clock.Now()) || last.Fact == "" {
				b.t.Errorf("the chain is %+v", why)
			}
		}},
	}
}

func sweeping() []promise {
	// ends is what a sweep makes of each class and state: T6, T8, T9.
	ends := []struct {
		name    string
		tool    ledger.Tool
		sent    bool
		state   effect.State
		outcome effect.Outcome
	}{
		{"a query", Ask, false, effect.Uncertain, effect.OutcomeUncertain},
		{"an observation", Look, false, effect.Failed, effect.Lost},
		{"an admitted effect", Post, false, effect.Failed, effect.NotDispatched},
		{"a dispatched effect", Post, true, effect.Uncertain, effect.OutcomeUncertain},
	}
	causes := []struct {
		name string
		come func(b *bench)
	}{
		{"its owner ended", func(b *bench) { b.die(procA) }},
		{"its owner gave no sign", func(b *bench) { b.jump(ttl + time.Microsecond) }},
		{"its time is over", func(b *bench) { b.pass(bound + grace + time.Microsecond) }},
	}
	var list []promise
	for _, e := range ends {
		for _, cause := range causes {
			for _, one := range []bool{false, true} {
				how := "a sweep"
				if one {
					how = "whoever waits for it"
				}
				list = append(list, promise{fmt.Sprintf("%s is concluded by %s when %s", e.name, how, cause.name), func(b *bench) {
					c := b.fresh(b.A, e.tool)
					if e.sent {
						b.dispatch(b.A, c, ledger.DispatchDone)
					}
					if final, err := b.B.SweepCall(b.ctx, c.id); err != nil || final {
						b.t.Fatalf("a call of the living was swept: %t, %v", final, err)
					}
					b.sweep(b.B, 0)
					cause.come(b)
					if one {
						if final, err := b.B.SweepCall(b.ctx, c.id); err != nil || !final {
							b.t.Fatalf("sweep the call: final %t, %v", final, err)
						}
					} else {
						b.sweep(b.B, 1)
					}
					r := b.state(c.id, e.state, e.outcome)
					if r.Code != "abandoned" || r.Delivery != ledger.CallerGone || !r.Ended.Equal(b.Clock.Now()) {
						b.t.Errorf("the call stands as %+v", r)
					}
					hold := ""
					if e.sent {
						hold = c.id
					}
					b.holder(hold)
					b.sweep(b.A, 0)
				}})
			}
		}
	}
	return append(list, []promise{
		{"what is final is not swept, and answers of the dead are marked", func(b *bench) {
			c := b.fresh(b.A, Ask)
			b.settle(b.A, c.done())
			kept := b.fresh(b.A, Look)
			b.settle(b.A, kept.done())
			deliver(b, kept, ledger.HandedOver)
			b.die(procA)
			b.sweep(b.B, 0)
			if r := b.state(c.id, effect.Succeeded, effect.OK); r.Delivery != ledger.CallerGone {
				b.t.Errorf("the mark is %d, want %d", r.Delivery, ledger.CallerGone)
			}
			if r := b.record(kept.id); r.Delivery != ledger.HandedOver {
				b.t.Errorf("the mark of what was handed over is %d", r.Delivery)
			}
			if final, err := b.B.SweepCall(b.ctx, c.id); err != nil || !final {
				b.t.Errorf("sweep what is final: %t, %v", final, err)
			}
		}},
		{"calls of the living are left alone", func(b *bench) {
			dead, alive := b.fresh(b.A, Ask), b.fresh(b.B, Ask, by(procB))
			b.die(procA)
			b.sweep(b.B, 1)
			b.state(dead.id, effect.Uncertain, effect.OutcomeUncertain)
			b.state(alive.id, effect.Dispatched, "")
		}},
		{"two sweeps at once conclude each call once", func(b *bench) {
			for i := range 8 {
				b.fresh(b.A, Look, args(fmt.Sprintf(`{"n":%d}`, i)))
			}
			b.die(procA)
			total := 0
			for _, n := range race(b.t, 4, func(i int) (int, error) {
				return []ledger.Store{b.A, b.B}[i%2].Sweep(b.ctx, ledger.Retention{})
			}) {
				total += n
			}
			if total != 8 {
				b.t.Errorf("the sweeps concluded %d calls together, want 8", total)
			}
		}},
	}...)
}

func reconciling() []promise {
	unknown := func(b *bench, tool ledger.Tool) call {
		c := b.fresh(b.A, tool, withKey("key-unknown-1"))
		if c.class == effect.Effect {
			b.dispatch(b.A, c, ledger.DispatchDone)
		}
		b.die(procA)
		b.sweep(b.B, 1)
		return c
	}
	state := func(b *bench, id string, v ledger.Verdict, by ledger.By) error {
		_, err := b.B.Reconcile(b.ctx, agentOne, b.run, id, ledger.Reconciliation{Verdict: v, By: by})
		return err
	}
	person := ledger.By{Kind: "operator", ID: "person_one"}
	var list []promise
	for _, v := range []ledger.Verdict{ledger.Happened, ledger.NotHappened, ledger.VerdictUnknown} {
		list = append(list, promise{"the verdict " + string(v) + " lifts the hold and re-arms nothing", func(b *bench) {
			c := unknown(b, Post)
			b.jump(time.Second)
			b.must(b.B.Register(b.ctx, "proc_c", "three", "1", ttl))
			r := b.reconcile(b.B, c.id, v)
			if r.Verdict == nil || r.Verdict.Verdict != v || r.Verdict.Note != "seen on the page" || r.Verdict.By != person || !r.Verdict.At.Equal(b.Clock.Now()) || r.State != effect.Uncertain {
				b.t.Errorf("the call stands as %+v with %+v", r, r.Verdict)
			}
			b.holder("")
			if got := b.found(b.B, ledger.Repeat, Post, withKey("key-unknown-1"), by("proc_c")); got.Record.State != effect.Uncertain || got.Record.Verdict == nil {
				b.t.Errorf("the same call again: %+v", got.Record)
			}
			b.dispatch(b.A, c, ledger.DispatchLate)
			b.fresh(b.B, Post, args(`{"to":"ann"}`), by("proc_c"))
		}})
	}
	return append(list, []promise{
		{"the same verdict again changes nothing, another is refused", func(b *bench) {
			c := unknown(b, Post)
			b.reconcile(b.B, c.id, ledger.Happened)
			first := b.record(c.id).Verdict
			b.jump(time.Second)
			b.must(state(b, c.id, ledger.Happened, ledger.By{Kind: "harness", ID: "token_one"}))
			if err := state(b, c.id, ledger.NotHappened, person); !errors.Is(err, ledger.ErrReconciled) {
				b.t.Errorf("another verdict: %v", err)
			}
			if again := b.record(c.id).Verdict; *again != *first {
				b.t.Errorf("the verdict is %+v, was %+v", again, first)
			}
		}},
		{"what is in flight is not reconciled", func(b *bench) {
			post, ask, press := b.sent(b.A, Post), b.fresh(b.A, Ask), b.fresh(b.A, Press, inRun(b.run), withKey("key-admitted"), args("{}"), func(a *ledger.Admission) { a.Run = b.openRun(ledger.NewRun{}).ID })
			for _, id := range []string{post.id, ask.id} {
				if err := state(b, id, ledger.Happened, person); !errors.Is(err, ledger.ErrInFlight) {
					b.t.Errorf("reconcile what is in flight: %v", err)
				}
			}
			if _, err := b.B.Reconcile(b.ctx, agentOne, b.in[press.id], press.id, ledger.Reconciliation{Verdict: ledger.Happened, By: person}); !errors.Is(err, ledger.ErrInFlight) {
				b.t.Errorf("reconcile what is admitted: %v", err)
			}
			b.holder(post.id)
		}},
		{"what is known is not reconciled", func(b *bench) {
			c := b.fresh(b.A, Ask)
			b.settle(b.A, c.done())
			if err := state(b, c.id, ledger.Happened, person); !errors.Is(err, ledger.ErrNotUncertain) {
				b.t.Errorf("reconcile what succeeded: %v", err)
			}
			if b.record(c.id).Verdict != nil {
				b.t.Error("a verdict stands")
			}
		}},
		{"an uncertain query may be annotated; it held nothing", func(b *bench) {
			c := unknown(b, Ask)
			b.holder("")
			b.reconcile(b.B, c.id, ledger.VerdictUnknown)
			if b.record(c.id).Verdict == nil {
				b.t.Error("no verdict stands")
			}
		}},
		{"a verdict of another agent's run is not found", func(b *bench) {
			c := unknown(b, Post)
			_, err := b.B.Reconcile(b.ctx, agentTwo, b.run, c.id, ledger.Reconciliation{Verdict: ledger.Happened, By: person})
			if !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("reconcile as another agent: %v", err)
			}
			other := b.openRun(ledger.NewRun{}).ID
			if _, err := b.B.Reconcile(b.ctx, agentOne, other, c.id, ledger.Reconciliation{Verdict: ledger.Happened, By: person}); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("reconcile in another run: %v", err)
			}
			b.holder(c.id)
		}},
		{"a late report does not lift a hold, and does not change a verdict", func(b *bench) {
			c := unknown(b, Post)
			_, err := b.A.Settle(b.ctx, c.done())
			b.must(err)
			b.holder(c.id)
			b.reconcile(b.B, c.id, ledger.NotHappened)
			if r := b.record(c.id); string(r.Late) != "result of "+c.id || r.Verdict.Verdict != ledger.NotHappened {
				b.t.Errorf("the call stands as %+v", r)
			}
		}},
		{"four verdicts at once are one", func(b *bench) {
			c := unknown(b, Post)
			verdicts := []ledger.Verdict{ledger.Happened, ledger.NotHappened, ledger.VerdictUnknown, ledger.Happened}
			race(b.t, 4, func(i int) (ledger.Record, error) {
				r, err := []ledger.Store{b.A, b.B}[i%2].Reconcile(b.ctx, agentOne, b.run, c.id, ledger.Reconciliation{Verdict: verdicts[i], By: person})
				if errors.Is(err, ledger.ErrReconciled) {
					err = nil
				}
				return r, err
			})
			if b.record(c.id).Verdict == nil {
				b.t.Error("no verdict stands")
			}
			b.holder("")
		}},
	}...)
}

func delivering() []promise {
	marks := []ledger.Delivery{ledger.HandedOver, ledger.CallerGone}
	var list []promise
	for _, x := range []struct {
		name                string
		first, second, want ledger.Delivery
	}{
		{"handed over stays so", ledger.HandedOver, ledger.CallerGone, ledger.HandedOver},
		{"handed over twice is handed over", ledger.HandedOver, ledger.HandedOver, ledger.HandedOver},
		{"gone stays so", ledger.CallerGone, ledger.HandedOver, ledger.CallerGone},
		{"gone twice is gone", ledger.CallerGone, ledger.CallerGone, ledger.CallerGone},
	} {
		list = append(list, promise{x.name, func(b *bench) {
			c := b.fresh(b.A, Look)
			b.settle(b.A, c.done())
			deliver(b, c, ledger.Waiting)
			for _, m := range []ledger.Delivery{x.first, x.second, ledger.Waiting} {
				deliver(b, c, m)
			}
			if got := b.record(c.id).Delivery; got != x.want {
				b.t.Errorf("the mark is %d, want %d", got, x.want)
			}
		}})
	}
	return append(list, promise{"many marks are written at once", func(b *bench) {
		var calls []call
		var all []ledger.Mark
		for i := range 5 {
			c := b.fresh(b.A, Look, args(fmt.Sprintf(`{"n":%d}`, i)))
			b.settle(b.A, c.done())
			calls = append(calls, c)
			all = append(all, ledger.Mark{Call: c.id, Owner: procA, Delivery: marks[i%2]})
		}
		all = append(all, ledger.Mark{Call: "call_none", Delivery: ledger.HandedOver})
		b.must(b.A.Deliver(b.ctx, all))
		for i, c := range calls {
			if got := b.record(c.id).Delivery; got != marks[i%2] {
				b.t.Errorf("the mark of call %d is %d, want %d", i, got, marks[i%2])
			}
		}
	}})
}
