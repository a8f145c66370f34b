// This file is the order in which an admission judges: of two obstacles, the earlier one answers.
package storetest

import (
	"fmt"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// scene is an agent with a run of its own, in which obstacles are put up. Calls are made first and settings changed
// last, so that no obstacle is in another's way.
type scene struct {
	*bench
	agent AgentRow
	conn  ConnectionRow // the agent's own, for Post
	held  bool          // an effect is to hold the run
	full  bool          // the run's calls are to be used up
	over  bool          // the run is to end
}

func (s *scene) as() change {
	return func(a *ledger.Admission) {
		a.Agent, a.Audience, a.Run = s.agent.ID, "agent:"+s.agent.ID, s.run
		if a.Approval != nil {
			a.Approval.Agent, a.Approval.Run = a.Agent, a.Run
		}
	}
}

// obstacle is something in the way of a call of Post.
type obstacle struct {
	code string
	put  func(s *scene)
	with change // of the call that is judged
}

// turnedAway makes a call of Post that spends a unit and leaves nothing in the way.
func (s *scene) turnedAway(changes ...change) {
	s.settle(s.A, s.fresh(s.A, Post, append(changes, s.as())...).turned())
}

// obstacles are in the order of judgement.
func obstacles() []obstacle {
	none := func(*ledger.Admission) {}
	return []obstacle{
		{"call_conflict", func(s *scene) { s.turnedAway(withKey("key-"+s.agent.ID), args(`{"to":"ann"}`)) },
			func(a *ledger.Admission) { a.Key = "key-" + a.Agent }},
		{"capability_disabled", func(s *scene) { s.conn.Mode = "disabled" }, none},
		{"stale_offer", func(s *scene) { s.agent.Grants++ }, none},
		{"paused", func(s *scene) { s.agent.PausedBy = "person_one" }, none},
		{"run_over", func(s *scene) { s.over = true }, none},
		{"run_call_limit", func(s *scene) { s.full = true }, none},
		{"effect_uncertain", func(s *scene) { s.held = true }, none},
		{"approval_required", func(*scene) {}, approved("apr_none")},
		{"run_limit", func(s *scene) { s.turnedAway(args(`{"to":"bob"}`)); s.conn.RunLimit = 1 }, none},
		{"rate_limit", func(s *scene) { s.turnedAway(args(`{"to":"eve"}`)); s.conn.MinuteLimit = 1 }, none},
	}
}

// build puts obstacles up for an agent of that name.
func build(b *bench, name string, list ...obstacle) *scene {
	b.t.Helper()
	s := &scene{bench: &bench{Stage: b.Stage, t: b.t, ctx: b.ctx, in: b.in, n: b.n}, agent: AgentRow{ID: name, Grants: 1},
		conn: ConnectionRow{Owner: name, Capability: Post.Capability, Mode: "auto", Version: 1}}
	s.Settings.Agent(b.t, s.agent)
	s.Settings.Connection(b.t, s.conn)
	s.list(name)
	s.run = s.openRun(ledger.NewRun{Agent: name, MaxCalls: 8}).ID
	for _, o := range list {
		o.put(s)
	}
	s.finish()
	return s
}

// finish does what was put off: what holds or fills the run comes after the calls that only count, and settings last.
func (s *scene) finish() {
	s.t.Helper()
	if s.held {
		s.settle(s.A, s.sent(s.A, Press, args(`{"at":"e1"}`), s.as()).lost())
	}
	if s.full {
		for r := s.runOf(s.run); r.Calls < r.MaxCalls; r = s.runOf(s.run) {
			s.settle(s.A, s.fresh(s.A, Look, s.as()).broken(effect.Dispatched))
		}
	}
	s.Settings.Connection(s.t, s.conn)
	s.Settings.Agent(s.t, s.agent)
	if s.over {
		_, err := s.B.EndRun(s.ctx, s.agent.ID, s.run, "ended")
		s.must(err)
	}
}

func ordering() []promise {
	all := obstacles()
	return []promise{
		{"each obstacle answers by itself", func(b *bench) {
			for i, o := range all {
				s := build(b, fmt.Sprintf("agent_%d", i), o)
				s.refused(s.A, o.code, Post, s.as(), o.with)
			}
		}},
		{"of two obstacles the earlier one answers", func(b *bench) {
			for i, first := range all {
				for j, second := range all[i+1:] {
					s := build(b, fmt.Sprintf("agent_%d_%d", i, i+1+j), first, second)
					got, err := s.A.Admit(s.ctx, s.ask(Post, s.as(), first.with, second.with))
					if r, ok := err.(*ledger.Refusal); !ok || r.Code != first.code {
						b.t.Errorf("%s and %s: %+v, %v; want %s", first.code, second.code, got.Kind, err, first.code)
					}
				}
			}
		}},
		{"a repeat is answered behind every obstacle", func(b *bench) {
			for i, o := range all[1:] {
				s := build(b, fmt.Sprintf("agent_%d", i))
				key := withKey(fmt.Sprintf("key-repeat-%d", i))
				c := s.fresh(s.A, Post, s.as(), key)
				s.settle(s.A, c.turned())
				o.put(s)
				s.finish()
				if got := s.found(s.B, ledger.Repeat, Post, s.as(), key, o.with); got.Record.ID != c.id {
					b.t.Errorf("%s in the way: the repeat is answered from %s, want %s", o.code, got.Record.ID, c.id)
				}
			}
		}},
		{"an effect in flight is waited for before an approval is used or a limit asked", func(b *bench) {
			for i, o := range all {
				if o.code != "approval_required" && o.code != "run_limit" && o.code != "rate_limit" {
					continue
				}
				s := build(b, fmt.Sprintf("agent_%d", i), o)
				c := s.sent(s.A, Press, s.as(), args(`{"at":"e2"}`))
				if got := s.found(s.A, ledger.WaitFor, Post, s.as(), o.with); got.Record.ID != c.id || got.Twin {
					b.t.Errorf("%s: waits for %s, want %s", o.code, got.Record.ID, c.id)
				}
				s.settle(s.A, c.done())
			}
		}},
	}
}
