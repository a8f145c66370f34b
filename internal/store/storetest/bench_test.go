// This file is what the tests of the suite share: an install with one agent, two processes, a run, and words for what is
// done with them.
package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

const (
	agentOne = "agent_one"
	agentTwo = "agent_two"
	procA    = "proc_a"
	procB    = "proc_b"
	ttl      = 15 * time.Second
	// bound is how long a tool of tests may take, and grace what the ledger adds to it.
	bound = 20 * time.Second
	grace = 30 * time.Second
)

// bench is a stage with something on it.
type bench struct {
	*Stage
	t   testing.TB
	ctx context.Context
	run string
	in  map[string]string // the run of each call that was admitted afresh
	n   *int              // counts nonces, so that each attempt has one of its own
}

// newBench gives an agent that has listed its tools, two live processes, and an open run of half an hour.
func newBench(t testing.TB, open Open) *bench {
	t.Helper()
	b := &bench{Stage: open(t), t: t, ctx: context.Background(), in: make(map[string]string), n: new(int)}
	for _, a := range []string{agentOne, agentTwo} {
		b.Settings.Agent(t, AgentRow{ID: a, Grants: 1})
		b.list(a)
	}
	b.must(b.A.Register(b.ctx, procA, "one", "1", ttl))
	b.must(b.B.Register(b.ctx, procB, "two", "1", ttl))
	b.run = b.openRun(ledger.NewRun{}).ID
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// list has an agent list its tools.
func (b *bench) list(agent string) {
	b.t.Helper()
	_, err := b.A.Offer(b.ctx, agent, "agent:"+agent, Tools())
	b.must(err)
}

// openRun opens a run; what is left out is that of an explicit run of agent one.
func (b *bench) openRun(r ledger.NewRun) ledger.Run {
	b.t.Helper()
	if r.Agent == "" {
		r.Agent = agentOne
	}
	if r.Kind == "" {
		r.Kind = "explicit"
	}
	if r.Audience == "" {
		r.Audience = "agent:" + r.Agent
	}
	if r.Conversation == "" {
		r.Conversation = "conv_one"
	}
	if r.Deadline == 0 {
		r.Deadline = 30 * time.Minute
	}
	if r.MaxCalls == 0 {
		r.MaxCalls = 1000
	}
	run, err := b.A.OpenRun(b.ctx, r)
	b.must(err)
	return run
}

// change alters an admission that is about to be made.
type change func(*ledger.Admission)

func withKey(key string) change { return func(a *ledger.Admission) { a.Key = key } }
func withID(id string) change   { return func(a *ledger.Admission) { a.ID = id } }
func inRun(run string) change   { return func(a *ledger.Admission) { a.Run = run } }
func named(run string) change {
	return func(a *ledger.Admission) { a.Run, a.Named = run, true }
}
func by(process string) change { return func(a *ledger.Admission) { a.Process = process } }
func args(text string) change {
	return func(a *ledger.Admission) {
		a.Args = []byte(text)
		d := sha256.Sum256([]byte(a.Tool + text))
		a.Digest = d[:]
	}
}
func approved(id string) change {
	return func(a *ledger.Admission) {
		a.Approval = &ledger.Spend{ID: id, Agent: a.Agent, Run: a.Run, Tool: a.Tool, Digest: a.Digest, Profile: a.Profile}
	}
}

// ask is an admission of agent one by process A under a nonce of its own.
func (b *bench) ask(tool ledger.Tool, changes ...change) ledger.Admission {
	*b.n++
	a := ledger.Admission{Ask: ledger.Ask{Run: b.run, Agent: agentOne, Audience: "agent:" + agentOne, Tool: tool.Name,
		Capability: tool.Capability, Class: ClassOf(tool.Name), Unit: tool != Press, Bound: bound,
		Source: ledger.Source{Host: "example.com", URL: "https://example.com/page"}},
		Nonce: fmt.Sprintf("nonce_%d", *b.n), Process: procA}
	args(`{"q":1}`)(&a)
	for _, c := range changes {
		c(&a)
	}
	return a
}

// call is a fresh call with what is needed to go on with it.
type call struct {
	id, nonce string
	class     effect.Class
	admitted  ledger.Admitted
}

// fresh admits what must be admitted as a new call.
func (b *bench) fresh(s ledger.Store, tool ledger.Tool, changes ...change) call {
	b.t.Helper()
	a := b.ask(tool, changes...)
	got, err := s.Admit(b.ctx, a)
	if err != nil {
		b.t.Fatalf("admit %s: %v, want a fresh call", tool.Name, err)
	}
	if got.Kind != ledger.Fresh {
		b.t.Fatalf("admit %s: kind %d, want a fresh call", tool.Name, got.Kind)
	}
	b.in[got.Record.ID] = a.Run
	return call{got.Record.ID, a.Nonce, a.Class, got}
}

// refused admits what must be refused with a code.
func (b *bench) refused(s ledger.Store, code string, tool ledger.Tool, changes ...change) *ledger.Refusal {
	b.t.Helper()
	got, err := s.Admit(b.ctx, b.ask(tool, changes...))
	var r *ledger.Refusal
	if !errors.As(err, &r) {
		b.t.Fatalf("admit %s: %+v, %v; want the refusal %s", tool.Name, got, err, code)
	}
	if r.Code != code {
		b.t.Fatalf("admit %s: refused as %s, want %s", tool.Name, r.Code, code)
	}
	return r
}

// found admits what must be answered from what is there.
func (b *bench) found(s ledger.Store, kind ledger.AdmitKind, tool ledger.Tool, changes ...change) ledger.Admitted {
	b.t.Helper()
	got, err := s.Admit(b.ctx, b.ask(tool, changes...))
	if err != nil || got.Kind != kind {
		b.t.Fatalf("admit %s: kind %d, %v; want kind %d", tool.Name, got.Kind, err, kind)
	}
	return got
}

// dispatch must give a verdict.
func (b *bench) dispatch(s ledger.Store, c call, want ledger.DispatchVerdict) {
	b.t.Helper()
	if got, err := s.Dispatch(b.ctx, c.id, c.nonce); err != nil || got != want {
		b.t.Fatalf("dispatch: %s, %v; want %s", got, err, want)
	}
}

// sent is an effect that was dispatched.
func (b *bench) sent(s ledger.Store, tool ledger.Tool, changes ...change) call {
	b.t.Helper()
	c := b.fresh(s, tool, changes...)
	b.dispatch(s, c, ledger.DispatchDone)
	return c
}

// done is how a call ends that went well.
func (c call) done() ledger.Settlement {
	return ledger.Settlement{Call: c.id, Nonce: c.nonce, From: effect.Dispatched, State: effect.Succeeded, Outcome: effect.OK,
		Result: []byte("result of " + c.id), Why: "went well"}
}

// lost is how an effect ends of which nobody knows what became.
func (c call) lost() ledger.Settlement {
	return ledger.Settlement{Call: c.id, Nonce: c.nonce, From: effect.Dispatched, State: effect.Uncertain, Outcome: effect.OutcomeUncertain,
		Code: "connection_lost", IsError: true, Result: []byte("outcome unknown"), Why: "the connection broke"}
}

// turned is how an effect ends that was turned away before its first input.
func (c call) turned() ledger.Settlement {
	return ledger.Settlement{Call: c.id, Nonce: c.nonce, From: effect.Admitted, State: effect.Succeeded, Outcome: effect.NotDispatched,
		Code: "target_obscured", IsError: true, Result: []byte("covered"), Why: "something was in the way"}
}

// broken is how a call ends that a fault ended; From is its state.
func (c call) broken(from effect.State) ledger.Settlement {
	s := ledger.Settlement{Call: c.id, Nonce: c.nonce, From: from, State: effect.Failed, Outcome: effect.NotDispatched, Code: "cancelled", Why: "the caller left", Gone: true}
	if from == effect.Dispatched {
		s.Outcome = effect.Lost
	}
	return s
}

// settle must be in time.
func (b *bench) settle(s ledger.Store, m ledger.Settlement) ledger.Settled {
	b.t.Helper()
	got, err := s.Settle(b.ctx, m)
	if err != nil || got.Late {
		b.t.Fatalf("settle: late %t, %v; want it in time", got.Late, err)
	}
	return got
}

// record reads a call.
func (b *bench) record(id string) ledger.Record {
	b.t.Helper()
	run := b.in[id]
	if run == "" {
		run = b.run
	}
	r, err := b.B.Call(b.ctx, "", run, id)
	if err != nil {
		b.t.Fatalf("read call %s: %v", id, err)
	}
	return r
}

// state must be a call's.
func (b *bench) state(id string, state effect.State, outcome effect.Outcome) ledger.Record {
	b.t.Helper()
	r := b.record(id)
	if r.State != state || r.Outcome != outcome {
		b.t.Fatalf("the call is %s/%s, want %s/%s", r.State, r.Outcome, state, outcome)
	}
	return r
}

// runOf reads a run.
func (b *bench) runOf(id string) ledger.Run {
	b.t.Helper()
	r, err := b.B.Run(b.ctx, "", id)
	if err != nil {
		b.t.Fatalf("read run %s: %v", id, err)
	}
	return r
}

// holder must be who holds the run.
func (b *bench) holder(want string) {
	b.t.Helper()
	if got := b.runOf(b.run).Hold; got != want {
		b.t.Fatalf("the run is held by %q, want %q", got, want)
	}
}

// used must be the run's units of a capability.
func (b *bench) used(capability string, want int64) {
	b.t.Helper()
	if got := b.runOf(b.run).RunMeters[capability]; got != want {
		b.t.Fatalf("%d units of %s are used, want %d", got, capability, want)
	}
}

// jump moves the clock and lets processes be silent.
func (b *bench) jump(d time.Duration) { b.Clock.Advance(d) }

// pass moves the clock, and both processes live on: they beat for as long as it takes.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	beat := func(ttl time.Duration) {
		for id, s := range map[string]ledger.Store{procA: b.A, procB: b.B} {
			alive, err := s.Beat(b.ctx, id, ttl)
			b.must(err)
			if !alive {
				b.t.Fatalf("%s is dead, though it beat in time", id)
			}
		}
	}
	beat(d + ttl)
	b.Clock.Advance(d)
	beat(ttl)
}

// die ends a process without a sweep of its calls.
func (b *bench) die(process string) {
	b.t.Helper()
	store := map[string]ledger.Store{procA: b.A, procB: b.B}[process]
	b.must(store.Retire(b.ctx, process))
}

// sweep must conclude so many calls.
func (b *bench) sweep(s ledger.Store, want int) {
	b.t.Helper()
	got, err := s.Sweep(b.ctx, ledger.Retention{})
	if err != nil || got != want {
		b.t.Fatalf("the sweep concluded %d calls, %v; want %d", got, err, want)
	}
}

// reconcile must succeed.
func (b *bench) reconcile(s ledger.Store, id string, v ledger.Verdict) ledger.Record {
	b.t.Helper()
	r, err := s.Reconcile(b.ctx, agentOne, b.run, id, ledger.Reconciliation{Verdict: v, Note: "seen on the page", By: ledger.By{Kind: "operator", ID: "person_one"}})
	if err != nil {
		b.t.Fatalf("reconcile: %v", err)
	}
	return r
}
