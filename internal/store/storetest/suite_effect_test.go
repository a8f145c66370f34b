// This file is the contract of holds, limits, approvals and the boundary before the first byte.
package storetest

import (
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

func holding() []promise {
	other := args(`{"to":"ann"}`)
	return []promise{
		{"a dispatched effect holds its run until its outcome is known", func(b *bench) {
			c := b.fresh(b.A, Post)
			b.holder("")
			b.dispatch(b.A, c, ledger.DispatchDone)
			b.holder(c.id)
			b.settle(b.A, c.done())
			b.holder("")
		}},
		{"an effect that was turned away or cancelled before its dispatch holds nothing", func(b *bench) {
			c := b.fresh(b.A, Post)
			b.settle(b.A, c.turned())
			b.holder("")
			c = b.fresh(b.A, Post)
			b.settle(b.A, c.broken(effect.Admitted))
			b.holder("")
		}},
		{"a second effect waits while the first is in flight", func(b *bench) {
			c := b.sent(b.A, Post)
			got := b.found(b.B, ledger.WaitFor, Press)
			if got.Record.ID != c.id || got.Twin {
				b.t.Errorf("waits for %s (twin %t), want %s", got.Record.ID, got.Twin, c.id)
			}
			b.settle(b.A, c.done())
			b.fresh(b.B, Press)
		}},
		{"an uncertain effect keeps the hold, and another effect is refused with its name", func(b *bench) {
			c := b.sent(b.A, Press)
			b.settle(b.A, c.lost())
			b.holder(c.id)
			b.pass(time.Minute)
			r := b.refused(b.B, "effect_uncertain", Post, other)
			if r.Other != c.id || r.OtherTool != "press" || !r.OtherAt.Equal(b.record(c.id).Dispatched) {
				b.t.Errorf("the refusal names %s (%s) of %v", r.Other, r.OtherTool, r.OtherAt)
			}
			b.refused(b.A, "effect_uncertain", Press)
		}},
		{"queries and observations look at no hold", func(b *bench) {
			c := b.sent(b.A, Press)
			b.fresh(b.A, Ask)
			b.settle(b.A, c.lost())
			b.fresh(b.B, Look)
		}},
		{"a hold binds no other run", func(b *bench) {
			b.settle(b.A, b.sent(b.A, Press).lost())
			b.sent(b.B, Press, inRun(b.openRun(ledger.NewRun{}).ID))
		}},
		{"a hold outlives its run, for the record", func(b *bench) {
			c := b.sent(b.A, Press)
			b.end("ended")
			b.settle(b.A, c.lost())
			b.holder(c.id)
			b.reconcile(b.B, c.id, ledger.Happened)
			b.holder("")
		}},
	}
}

func limiting() []promise {
	limit := func(b *bench, run, minute int64) {
		b.t.Helper()
		b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "read", Mode: "auto", RunLimit: run, MinuteLimit: minute})
	}
	return []promise{
		{"a run has as many units as its limit", func(b *bench) {
			limit(b, 2, 0)
			b.fresh(b.A, Look)
			b.fresh(b.B, Look)
			r := b.refused(b.A, "run_limit", Look)
			if r.Used != 2 || r.Limit != 2 || r.LimitOf != "connection" || r.Capability != "read" {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
			b.used("read", 2)
			b.fresh(b.A, Look, inRun(b.openRun(ledger.NewRun{}).ID))
		}},
		{"a limit of one lets one", func(b *bench) {
			limit(b, 1, 1)
			b.fresh(b.A, Look)
			b.refused(b.A, "run_limit", Look)
			b.used("read", 1)
		}},
		{"a minute has as many units as its limit, over all runs and agents that share it, and the next minute is new", func(b *bench) {
			limit(b, 0, 2)
			b.fresh(b.A, Look)
			two := b.openRun(ledger.NewRun{Agent: agentTwo})
			b.fresh(b.B, Look, func(a *ledger.Admission) { a.Agent, a.Audience, a.Run = agentTwo, "agent:"+agentTwo, two.ID })
			r := b.refused(b.A, "rate_limit", Look)
			left := b.Clock.Now().Truncate(time.Minute).Add(time.Minute).Sub(b.Clock.Now())
			if r.Used != 2 || r.Limit != 2 || r.Capability != "read" || r.Wait != left {
				b.t.Errorf("the refusal says %+v, want to wait for %v", r.Facts, left)
			}
			b.used("read", 1)
			b.pass(left - time.Microsecond)
			b.refused(b.A, "rate_limit", Look)
			b.pass(time.Microsecond)
			b.fresh(b.A, Look)
		}},
		{"a limit that is lowered below what is used stops new calls and nothing else", func(b *bench) {
			var calls []call
			for range 3 {
				calls = append(calls, b.fresh(b.A, Look))
			}
			limit(b, 1, 0)
			if r := b.refused(b.A, "run_limit", Look); r.Used != 3 || r.Limit != 1 {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
			for _, c := range calls {
				if got := b.settle(b.A, c.done()); got.Withheld {
					b.t.Error("a lower limit withheld a result")
				}
			}
			limit(b, 4, 0)
			b.fresh(b.A, Look)
			b.refused(b.A, "run_limit", Look)
		}},
		{"the smaller of the connection's limit and the agent's allowance counts", func(b *bench) {
			limit(b, 3, 0)
			allowance := func(n int64) {
				b.Settings.Connection(b.t, ConnectionRow{Owner: agentOne, Capability: "read", Mode: "inherit", RunLimit: n})
			}
			allowance(1)
			b.fresh(b.A, Look)
			if r := b.refused(b.A, "run_limit", Look); r.LimitOf != "agent" || r.Limit != 1 {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
			allowance(9)
			b.fresh(b.A, Look)
			b.fresh(b.A, Look)
			if r := b.refused(b.A, "run_limit", Look); r.LimitOf != "connection" || r.Limit != 3 {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
		}},
		{"an agent's own connection has a minute of its own, and a change of connection refills no run", func(b *bench) {
			limit(b, 2, 2)
			b.fresh(b.A, Look)
			b.fresh(b.A, Look)
			b.Settings.Connection(b.t, ConnectionRow{Owner: agentOne, Capability: "read", Mode: "own", Provider: "other", Version: 1, RunLimit: 3, MinuteLimit: 2})
			b.list(agentOne)
			b.fresh(b.A, Look)
			b.refused(b.A, "run_limit", Look)
			b.fresh(b.A, Look, inRun(b.openRun(ledger.NewRun{}).ID))
			b.refused(b.A, "rate_limit", Look, inRun(b.openRun(ledger.NewRun{}).ID))
		}},
		{"an effect that ends before its dispatch has spent its unit", func(b *bench) {
			b.settle(b.A, b.fresh(b.A, Post).broken(effect.Admitted))
			b.settle(b.A, b.fresh(b.A, Post).turned())
			b.used("mail", 2)
		}},
		{"what is counted against nothing meets no limit", func(b *bench) {
			limit(b, 1, 1)
			b.fresh(b.A, Look)
			b.fresh(b.A, Look, func(a *ledger.Admission) { a.Unit = false })
			b.used("read", 1)
		}},
		{"a run has as many calls as it was opened with", func(b *bench) {
			run := b.openRun(ledger.NewRun{MaxCalls: 2}).ID
			b.fresh(b.A, Look, inRun(run), withKey("key-first-call"))
			b.fresh(b.A, Press, inRun(run))
			if r := b.refused(b.A, "run_call_limit", Ask, inRun(run)); r.Used != 2 || r.Limit != 2 {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
			b.found(b.A, ledger.Repeat, Look, inRun(run), withKey("key-first-call"))
		}},
		{"sixteen at once admit exactly what the limit allows", func(b *bench) {
			limit(b, 5, 0)
			admissions := make([]ledger.Admission, 16)
			for i := range admissions {
				admissions[i] = b.ask(Look)
			}
			fresh := 0
			for _, ok := range race(b.t, 16, func(i int) (bool, error) {
				got, err := []ledger.Store{b.A, b.B}[i%2].Admit(b.ctx, admissions[i])
				if r, refused := err.(*ledger.Refusal); refused && r.Code == "run_limit" {
					return false, nil
				}
				return got.Kind == ledger.Fresh, err
			}) {
				if ok {
					fresh++
				}
			}
			if fresh != 5 {
				b.t.Errorf("%d calls were admitted, want 5", fresh)
			}
			b.used("read", 5)
		}},
		{"the same call sixteen times at once is one", func(b *bench) {
			admissions := make([]ledger.Admission, 16)
			for i := range admissions {
				admissions[i] = b.ask(Look, withKey("key-sixteen"))
			}
			fresh := 0
			for _, kind := range race(b.t, 16, func(i int) (ledger.AdmitKind, error) {
				got, err := []ledger.Store{b.A, b.B}[i%2].Admit(b.ctx, admissions[i])
				return got.Kind, err
			}) {
				if kind == ledger.Fresh {
					fresh++
				}
			}
			if fresh != 1 {
				b.t.Errorf("%d of the same call were fresh, want 1", fresh)
			}
			b.used("read", 1)
		}},
	}
}

func approving() []promise {
	give := func(b *bench, id string, changes ...func(*ApprovalRow)) {
		a := ApprovalRow{ID: id, Agent: agentOne, Run: b.run, Tool: "post", Digest: b.ask(Post).Digest, GoodUntil: b.Clock.Now().Add(5 * time.Minute)}
		for _, c := range changes {
			c(&a)
		}
		b.Settings.Approval(b.t, a)
	}
	is := func(b *bench, id, state, usedBy string) {
		b.t.Helper()
		if s, u := b.Settings.ApprovalState(b.t, id); s != state || u != usedBy {
			b.t.Errorf("the approval is %s by %q, want %s by %q", s, u, state, usedBy)
		}
	}
	return []promise{
		{"an approval is used up by the call that it was given for", func(b *bench) {
			give(b, "apr_one")
			c := b.fresh(b.A, Post, approved("apr_one"))
			is(b, "apr_one", "used", c.id)
			if r := b.record(c.id); r.Approval != "apr_one" {
				b.t.Errorf("the call names the approval %q", r.Approval)
			}
			b.settle(b.A, c.turned())
			if r := b.refused(b.B, "approval_required", Post, approved("apr_one")); r.Approval != "apr_one" {
				b.t.Errorf("the refusal names the approval %q", r.Approval)
			}
			is(b, "apr_one", "used", c.id)
		}},
		{"a wrong presentation burns it", func(b *bench) {
			for id, wrong := range map[string]change{
				"apr_other_arguments": args(`{"to":"eve"}`),
				"apr_other_run":       inRun(b.openRun(ledger.NewRun{}).ID),
				"apr_other_profile":   func(a *ledger.Admission) { a.Profile = "profile_two" },
			} {
				give(b, id)
				if id == "apr_other_profile" {
					_, err := b.A.Offer(b.ctx, agentOne, "agent:"+agentOne, []ledger.Tool{{Name: "post", Capability: "mail", Profile: "profile_two"}})
					b.must(err)
				}
				b.refused(b.A, "approval_required", Post, wrong, approved(id))
				is(b, id, "void", "")
				b.list(agentOne)
				b.refused(b.A, "approval_required", Post, approved(id))
			}
		}},
		{"an approval whose time is over, and one that is not there, are none", func(b *bench) {
			give(b, "apr_old")
			b.pass(5*time.Minute + time.Microsecond)
			b.refused(b.A, "approval_required", Post, approved("apr_old"))
			b.refused(b.A, "approval_required", Post, approved("apr_none"))
			b.used("mail", 0)
		}},
		{"an approval outlives a refused admission", func(b *bench) {
			give(b, "apr_kept")
			b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "mail", Mode: "auto", RunLimit: 1})
			b.settle(b.A, b.fresh(b.A, Post, args(`{"to":"ann"}`)).turned())
			b.refused(b.A, "run_limit", Post, approved("apr_kept"))
			is(b, "apr_kept", "approved", "")
			b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "mail", Mode: "auto", RunLimit: 2})
			is(b, "apr_kept", "used", b.fresh(b.A, Post, approved("apr_kept")).id)
		}},
		{"an approval outlives a wait", func(b *bench) {
			give(b, "apr_wait")
			c := b.sent(b.A, Press)
			b.found(b.B, ledger.WaitFor, Post, approved("apr_wait"))
			is(b, "apr_wait", "approved", "")
			b.settle(b.A, c.done())
			b.fresh(b.B, Post, approved("apr_wait"))
		}},
		{"one approval for two at once is one call", func(b *bench) {
			give(b, "apr_two")
			admissions := []ledger.Admission{b.ask(Post, approved("apr_two"), withKey("key-one-of-2")), b.ask(Post, approved("apr_two"), withKey("key-two-of-2"))}
			fresh := 0
			for _, ok := range race(b.t, 2, func(i int) (bool, error) {
				got, err := []ledger.Store{b.A, b.B}[i].Admit(b.ctx, admissions[i])
				if _, refused := err.(*ledger.Refusal); refused {
					return false, nil
				}
				return got.Kind == ledger.Fresh, err
			}) {
				if ok {
					fresh++
				}
			}
			if fresh != 1 {
				b.t.Errorf("%d calls used one approval", fresh)
			}
		}},
	}
}

func dispatching() []promise {
	return []promise{
		{"a dispatch is written with its time", func(b *bench) {
			c := b.fresh(b.A, Post)
			b.pass(time.Second)
			b.dispatch(b.A, c, ledger.DispatchDone)
			if r := b.state(c.id, effect.Dispatched, ""); !r.Dispatched.Equal(b.Clock.Now()) {
				b.t.Errorf("dispatched at %v, want %v", r.Dispatched, b.Clock.Now())
			}
		}},
		{"a dispatch whose commit was in doubt is told by its nonce", func(b *bench) {
			c := b.sent(b.A, Post)
			b.dispatch(b.A, c, ledger.DispatchDone)
			b.holder(c.id)
		}},
		{"another attempt's nonce dispatches nothing", func(b *bench) {
			c := b.fresh(b.A, Post)
			thief := c
			thief.nonce = "nonce_of_another"
			b.dispatch(b.B, thief, ledger.DispatchLate)
			b.state(c.id, effect.Admitted, "")
			b.holder("")
			b.dispatch(b.A, c, ledger.DispatchDone)
			b.dispatch(b.B, thief, ledger.DispatchLate)
		}},
		{"of two admitted effects one is dispatched, the other is held until that one is over", func(b *bench) {
			first, second := b.fresh(b.A, Post, args(`{"to":"ann"}`), withKey("key-first-one")), b.fresh(b.B, Post, args(`{"to":"bob"}`), withKey("key-second-one"))
			b.dispatch(b.B, second, ledger.DispatchDone)
			b.dispatch(b.A, first, ledger.DispatchHeld)
			b.state(first.id, effect.Admitted, "")
			b.settle(b.B, second.lost())
			b.dispatch(b.A, first, ledger.DispatchHeld)
			b.reconcile(b.A, second.id, ledger.Happened)
			b.dispatch(b.A, first, ledger.DispatchDone)
		}},
		{"nothing is dispatched in a run that ended or past its deadline", func(b *bench) {
			c := b.fresh(b.A, Post)
			b.end("ended")
			b.dispatch(b.A, c, ledger.DispatchOver)
			short := b.openRun(ledger.NewRun{Deadline: 10 * time.Second})
			c = b.fresh(b.A, Post, inRun(short.ID))
			b.pass(10 * time.Second)
			b.dispatch(b.A, c, ledger.DispatchOver)
			b.state(c.id, effect.Admitted, "")
		}},
		{"nothing is dispatched past the call's time", func(b *bench) {
			c := b.fresh(b.A, Post)
			b.pass(bound + grace)
			b.dispatch(b.A, c, ledger.DispatchLate)
			b.holder("")
		}},
		{"what was concluded is not dispatched", func(b *bench) {
			c := b.fresh(b.A, Post)
			b.die(procA)
			b.sweep(b.B, 1)
			b.dispatch(b.A, c, ledger.DispatchLate)
			b.state(c.id, effect.Failed, effect.NotDispatched)
			b.holder("")
		}},
		{"a binding that changed since the admission stops the dispatch", func(b *bench) {
			for i, do := range []func(){
				func() { b.Settings.Agent(b.t, AgentRow{ID: agentOne, Grants: 2}) },
				func() {
					b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "mail", Mode: "own", Provider: "other", Version: 3})
				},
				func() {
					b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "mail", Mode: "disabled", Version: 3})
				},
			} {
				c := b.fresh(b.A, Post)
				do()
				b.list(agentOne)
				b.dispatch(b.A, c, ledger.DispatchChanged)
				b.state(c.id, effect.Admitted, "")
				b.holder("")
				s := c.turned()
				s.Code = "binding_changed"
				b.settle(b.A, s)
				if i == 2 {
					b.refused(b.A, "capability_disabled", Post)
				}
			}
		}},
		{"an admitted effect can be stopped, a dispatched one cannot", func(b *bench) {
			c := b.fresh(b.A, Post, withKey("key-stopped"))
			if ok, err := b.B.Cancel(b.ctx, agentOne, b.run, c.id); err != nil || !ok {
				b.t.Fatalf("stop: %t, %v", ok, err)
			}
			if r := b.state(c.id, effect.Failed, effect.NotDispatched); r.Code != "cancelled" {
				b.t.Errorf("stopped with the code %q", r.Code)
			}
			b.dispatch(b.A, c, ledger.DispatchLate)
			c = b.sent(b.A, Post)
			if ok, err := b.B.Cancel(b.ctx, agentOne, b.run, c.id); err != nil || ok {
				b.t.Fatalf("stop what is in flight: %t, %v", ok, err)
			}
			b.state(c.id, effect.Dispatched, "")
			b.used("mail", 2)
		}},
	}
}
