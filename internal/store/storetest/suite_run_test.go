// This file is the contract of runs, of what is offered in them, and of the look ahead.
package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

func running() []promise {
	implicit := ledger.NewRun{Kind: "implicit", ImplicitKey: "token_one client", Deadline: 6 * time.Hour, Idle: 30 * time.Minute}
	over := func(b *bench, run, reason string) {
		b.t.Helper()
		r := b.refused(b.A, "run_over", Look, inRun(run))
		if r.Reason != reason {
			b.t.Errorf("the run is over because of %q, want %q", r.Reason, reason)
		}
	}
	ended := func(b *bench, run, reason string) {
		b.t.Helper()
		if r := b.runOf(run); r.Open || r.EndReason != reason || r.Ended.IsZero() {
			b.t.Errorf("the run stands as %+v, want it ended by %q", r, reason)
		}
	}
	return []promise{
		{"a run stands as it was opened", func(b *bench) {
			r := b.openRun(ledger.NewRun{Kind: "explicit", Audience: "agent:agent_one", Conversation: "conv_two", Title: "a title", Deadline: time.Hour, MaxCalls: 7})
			got := b.runOf(r.ID)
			if got.Agent != agentOne || got.Kind != "explicit" || got.Conversation != "conv_two" || got.Title != "a title" || !got.Open || got.MaxCalls != 7 ||
				!got.Deadline.Equal(b.Clock.Now().Add(time.Hour)) || !got.IdleUntil.IsZero() || got.Calls != 0 || got.Hold != "" || !got.Created.Equal(b.Clock.Now()) {
				b.t.Errorf("the run stands as %+v", got)
			}
			if _, err := b.A.Run(b.ctx, agentTwo, r.ID); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("another agent reads the run: %v", err)
			}
		}},
		{"a run is over at its deadline, before anybody swept it", func(b *bench) {
			run := b.openRun(ledger.NewRun{Deadline: time.Minute}).ID
			b.pass(time.Minute - time.Microsecond)
			b.fresh(b.A, Look, inRun(run))
			b.pass(time.Microsecond)
			over(b, run, "deadline")
			b.pass(time.Microsecond)
			b.sweep(b.A, 0)
			ended(b, run, "deadline")
			over(b, run, "deadline")
		}},
		{"a run is over after its idle time, unless it is touched", func(b *bench) {
			run := b.openRun(ledger.NewRun{Idle: time.Minute}).ID
			b.pass(50 * time.Second)
			b.must(b.A.TouchRun(b.ctx, run, time.Minute))
			b.pass(50 * time.Second)
			b.sweep(b.A, 0)
			b.fresh(b.A, Look, inRun(run))
			b.pass(2 * time.Minute)
			b.settle(b.A, b.fresh(b.A, Ask).done())
			b.sweepAll()
			ended(b, run, "idle")
			over(b, run, "idle")
		}},
		{"a person ends a run, once", func(b *bench) {
			first, err := b.B.EndRun(b.ctx, agentOne, b.run, "ended")
			b.must(err)
			b.jump(time.Second)
			second, err := b.A.EndRun(b.ctx, agentOne, b.run, "again")
			b.must(err)
			if first.Open || second.EndReason != "ended" || !second.Ended.Equal(first.Ended) {
				b.t.Errorf("ended as %+v, then %+v", first, second)
			}
			over(b, b.run, "ended")
			if _, err := b.A.EndRun(b.ctx, agentTwo, b.run, "ended"); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("another agent ends the run: %v", err)
			}
		}},
		{"an implicit run is one for its agent and key while it is open", func(b *bench) {
			first := b.openRun(implicit)
			if again := b.openRun(implicit); again.ID != first.ID {
				b.t.Errorf("a second run %s beside %s", again.ID, first.ID)
			}
			elsewhere := implicit
			elsewhere.ImplicitKey = "token_one other client"
			if other := b.openRun(elsewhere); other.ID == first.ID {
				b.t.Error("two clients share a run")
			}
			elsewhere = implicit
			elsewhere.Agent = agentTwo
			if other := b.openRun(elsewhere); other.ID == first.ID {
				b.t.Error("two agents share a run")
			}
			_, err := b.A.EndRun(b.ctx, agentOne, first.ID, "ended")
			b.must(err)
			if next := b.openRun(implicit); next.ID == first.ID || !next.Open {
				b.t.Errorf("after its end the run is %+v", next)
			}
		}},
		{"an implicit run whose time is over gives way to a new one, before anybody swept it", func(b *bench) {
			first := b.openRun(implicit)
			b.pass(30*time.Minute + time.Microsecond)
			if next := b.openRun(implicit); next.ID == first.ID || !next.Open {
				b.t.Errorf("the run is %+v", next)
			}
			ended(b, first.ID, "idle")
		}},
		{"eight at once open one implicit run", func(b *bench) {
			ids := make(map[string]bool)
			for _, r := range race(b.t, 8, func(i int) (ledger.Run, error) {
				r := implicit
				r.Agent, r.Audience, r.Conversation, r.MaxCalls = agentOne, "agent:agent_one", "conv_one", 10
				return []ledger.Store{b.A, b.B}[i%2].OpenRun(b.ctx, r)
			}) {
				ids[r.ID] = true
			}
			if len(ids) != 1 {
				b.t.Errorf("%d runs were opened", len(ids))
			}
		}},
		{"an implicit run that is held does not end by idling, only by its deadline or a person", func(b *bench) {
			r := b.openRun(implicit)
			c := b.sent(b.A, Press, inRun(r.ID))
			b.settle(b.A, c.lost())
			b.pass(31 * time.Minute)
			b.sweepAll()
			if got := b.runOf(r.ID); !got.Open {
				b.t.Fatalf("the run ended: %+v", got)
			}
			if again := b.openRun(implicit); again.ID != r.ID {
				b.t.Error("the held run was left")
			}
			b.refused(b.A, "effect_uncertain", Press, inRun(r.ID))
			b.jump(6 * time.Hour)
			b.sweepAll()
			ended(b, r.ID, "deadline")
			if got := b.runOf(r.ID).Hold; got != c.id {
				b.t.Errorf("the ended run is held by %q, want %q", got, c.id)
			}
		}},
		{"an ended run takes its given approvals with it", func(b *bench) {
			b.Settings.Approval(b.t, ApprovalRow{ID: "apr_run", Agent: agentOne, Run: b.run, Tool: "post", Digest: b.ask(Post).Digest, GoodUntil: b.Clock.Now().Add(time.Minute)})
			b.end("ended")
			if state, _ := b.Settings.ApprovalState(b.t, "apr_run"); state != "void" {
				b.t.Errorf("the approval is %s", state)
			}
		}},
	}
}

// sweepAll sweeps, whatever there is to conclude.
func (b *bench) sweepAll() {
	b.t.Helper()
	_, err := b.B.Sweep(b.ctx, ledger.Retention{})
	b.must(err)
}

func offering() []promise {
	other := ConnectionRow{Owner: "install", Capability: "read", Mode: "own", Provider: "other", Version: 2}
	return []promise{
		{"what was never listed is stale, once", func(b *bench) {
			session := func(a *ledger.Admission) { a.Audience = "session:new" }
			r := b.refused(b.A, "stale_offer", Look, session)
			if r.Now == nil || r.Now.Provider != "auto" {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
			b.fresh(b.A, Look, session)
		}},
		{"a changed binding is stale once: the refusal says what was and what is, and the same call works", func(b *bench) {
			b.Settings.Connection(b.t, other)
			r := b.refused(b.B, "stale_offer", Look)
			if r.Was == nil || r.Now == nil || r.Was.Provider != "auto" || r.Now.Provider != "other" || r.Call == "" {
				b.t.Errorf("the refusal says was %+v, now %+v, call %q", r.Was, r.Now, r.Call)
			}
			c := b.fresh(b.A, Look)
			if got := b.record(c.id).Binding; got.Provider != "other" || got.ConnectionVersion != 2 {
				b.t.Errorf("admitted under %+v", got)
			}
			if got := b.record(c.id).Evidence[0]; got.Provider != "other" {
				b.t.Errorf("evidence of %+v", got)
			}
		}},
		{"what was looked at under another binding is stale, though the new one was listed meanwhile", func(b *bench) {
			before, err := b.A.Look(b.ctx, b.ask(Look).Ask)
			b.must(err)
			under := func(a *ledger.Admission) { a.Under = before.Binding.Fingerprint() }
			b.fresh(b.A, Look, under)
			b.Settings.Connection(b.t, other)
			b.list(agentOne) // by another client of the agent
			r := b.refused(b.B, "stale_offer", Look, under)
			if r.Was == nil || r.Now == nil || r.Was.Provider != "auto" || r.Now.Provider != "other" {
				b.t.Errorf("the refusal says was %+v, now %+v", r.Was, r.Now)
			}
			b.used("read", 1)
			b.fresh(b.A, Look)
		}},
		{"there is no newer that is fine: an offer of the future is stale as one of the past is", func(b *bench) {
			b.Settings.Connection(b.t, other)
			b.list(agentOne)
			older := other
			older.Version, older.Provider = 1, "older"
			b.Settings.Connection(b.t, older)
			b.refused(b.A, "stale_offer", Look)
			b.fresh(b.A, Look)
			newer := other
			newer.Version = 3
			b.Settings.Connection(b.t, newer)
			b.refused(b.A, "stale_offer", Look)
		}},
		{"a change back to what was listed is no change", func(b *bench) {
			b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "read", Mode: "auto", Version: 4})
			b.Settings.Connection(b.t, ConnectionRow{Owner: "install", Capability: "read", Mode: "auto", Version: 0})
			b.fresh(b.A, Look)
		}},
		{"an offer is its audience's", func(b *bench) {
			b.Settings.Connection(b.t, other)
			_, err := b.A.Offer(b.ctx, agentOne, "session:one", Tools())
			b.must(err)
			b.fresh(b.A, Look, func(a *ledger.Admission) { a.Audience = "session:one" })
			b.refused(b.A, "stale_offer", Look)
		}},
		{"an offer that was made to another agent is none", func(b *bench) {
			_, err := b.A.Offer(b.ctx, agentTwo, "session:two", Tools())
			b.must(err)
			b.refused(b.A, "stale_offer", Look, func(a *ledger.Admission) { a.Audience = "session:two" })
		}},
		{"a tool that is gone is said to be gone, and its offer goes with it", func(b *bench) {
			gone := ConnectionRow{Owner: "install", Capability: "read", Mode: "disabled", Version: 2}
			b.Settings.Connection(b.t, gone)
			r := b.refused(b.A, "capability_disabled", Look)
			if r.Reason == "" {
				b.t.Error("the refusal gives no reason")
			}
			b.refused(b.A, "capability_disabled", Look)
			gone.Mode, gone.Version = "auto", 0
			b.Settings.Connection(b.t, gone)
			b.refused(b.A, "stale_offer", Look)
			b.fresh(b.A, Look)
		}},
		{"a disabled agent is offered nothing", func(b *bench) {
			b.Settings.Agent(b.t, AgentRow{ID: agentOne, Grants: 2, Disabled: true})
			b.refused(b.A, "capability_disabled", Look)
			for _, r := range offer(b) {
				if r.Off == "" {
					b.t.Errorf("offered: %+v", r.Binding)
				}
			}
		}},
		{"a pause leaves offers alone and refuses calls, saying who", func(b *bench) {
			b.Settings.PauseInstall(b.t, "person_one")
			if r := b.refused(b.A, "paused", Look); r.By != "person_one" || r.Reason != "install" || !r.At.Equal(b.Clock.Now()) {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
			b.Settings.PauseInstall(b.t, "")
			b.Settings.Agent(b.t, AgentRow{ID: agentOne, Grants: 1, PausedBy: "person_two"})
			if r := b.refused(b.A, "paused", Look); r.By != "person_two" || r.Reason != "agent" {
				b.t.Errorf("the refusal says %+v", r.Facts)
			}
			b.Settings.Agent(b.t, AgentRow{ID: agentOne, Grants: 1})
			b.fresh(b.A, Look)
		}},
		{"tools are offered in the order of the question", func(b *bench) {
			got := offer(b)
			for i, tool := range Tools() {
				if got[i].Binding.Capability != tool.Capability || got[i].Off != "" {
					b.t.Errorf("offer %d is %+v", i, got[i])
				}
			}
			one, err := b.A.Resolve(b.ctx, agentOne, Ask)
			b.must(err)
			if one.Binding.Fingerprint() != got[0].Binding.Fingerprint() {
				b.t.Errorf("looked ahead to %+v, offered %+v", one.Binding, got[0].Binding)
			}
		}},
		{"each configuration write moves the epoch", func(b *bench) {
			before, err := b.A.Epoch(b.ctx)
			b.must(err)
			b.Settings.Connection(b.t, other)
			b.Settings.PauseInstall(b.t, "")
			after, err := b.B.Epoch(b.ctx)
			b.must(err)
			if after != before+2 {
				b.t.Errorf("the epoch went from %d to %d", before, after)
			}
		}},
	}
}

func offer(b *bench) []binding.Resolution {
	b.t.Helper()
	got, err := b.A.Offer(b.ctx, agentOne, "agent:"+agentOne, Tools())
	b.must(err)
	if len(got) != len(Tools()) {
		b.t.Fatalf("%d offers for %d tools", len(got), len(Tools()))
	}
	return got
}

func looking() []promise {
	look := func(b *bench, tool ledger.Tool, changes ...change) ledger.Looked {
		b.t.Helper()
		got, err := b.B.Look(b.ctx, b.ask(tool, changes...).Ask)
		b.must(err)
		return got
	}
	code := func(t testing.TB, got ledger.Looked, want string) {
		t.Helper()
		r := got.Refusal
		if want == "effect_uncertain" {
			r = got.Held
		}
		if r == nil || r.Code != want || r.Call != "" {
			t.Errorf("looked and saw %+v, want %s", got, want)
		}
	}
	ahead := obstacles()[:7] // up to the hold
	return []promise{
		{"nothing in the way shows the binding", func(b *bench) {
			got := look(b, Look)
			if got.Same != nil || got.Refusal != nil || got.Held != nil || got.Binding.Provider != "auto" {
				b.t.Errorf("looked and saw %+v", got)
			}
			if r := b.runOf(b.run); r.Calls != 0 || r.Refused != 0 {
				b.t.Errorf("a look was counted: %+v", r)
			}
		}},
		{"each obstacle up to the hold shows as an admission would answer it", func(b *bench) {
			for i, first := range ahead {
				one := build(b, "agent_"+first.code, first)
				code(b.t, look(one.bench, Post, one.as(), first.with), first.code)
				for _, second := range ahead[i+1:] {
					s := build(b, "agent_"+first.code+"_"+second.code, first, second)
					code(b.t, look(s.bench, Post, s.as(), first.with, second.with), first.code)
				}
			}
		}},
		{"the same call shows, by key and id", func(b *bench) {
			c := b.fresh(b.A, Look, withKey("key-to-look"))
			for _, same := range []change{withKey("key-to-look"), withID(c.id)} {
				if got := look(b, Look, same); got.Same == nil || got.Same.ID != c.id || got.Twin {
					b.t.Errorf("looked and saw %+v", got)
				}
			}
		}},
		{"a twin whose answer did not arrive shows", func(b *bench) {
			c := b.sent(b.A, Post)
			if got := look(b, Post); got.Same == nil || got.Same.ID != c.id || !got.Twin {
				b.t.Errorf("in flight: looked and saw %+v", got)
			}
			b.settle(b.A, c.done())
			if got := look(b, Post); got.Same == nil || got.Same.ID != c.id || !got.Twin || got.Same.State != effect.Succeeded {
				b.t.Errorf("final, nobody knows whether it arrived: looked and saw %+v", got)
			}
			deliver(b, c, ledger.CallerGone)
			if got := look(b, Post); got.Same == nil || got.Same.ID != c.id || !got.Twin || got.Same.State != effect.Succeeded {
				b.t.Errorf("final, caller gone: looked and saw %+v", got)
			}
			if r := b.record(c.id); r.Delivery != ledger.CallerGone {
				b.t.Error("a look took the row over")
			}
			b.found(b.A, ledger.TwinFinal, Post)
			deliver(b, c, ledger.HandedOver)
			if got := look(b, Post); got.Same != nil {
				b.t.Errorf("its answer arrived: looked and saw %+v", got)
			}
		}},
		{"another agent's run is not found", func(b *bench) {
			run := b.openRun(ledger.NewRun{Agent: agentTwo}).ID
			if got, err := b.B.Look(b.ctx, b.ask(Look, inRun(run)).Ask); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("looked and saw %+v, %v", got, err)
			}
		}},
	}
}
