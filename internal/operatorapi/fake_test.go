package operatorapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/tool"
)

// fake is the ledger, the pipeline and the questions of a test, in memory. It looks rows up by agent, as the real ones do.
type fake struct {
	clock *dbtest.Clock
	alice agent.Agent
	bob   agent.Agent
	mu    sync.Mutex
	runs  []ledger.Run
	calls []ledger.Record
	asked []approval.Approval
	kept  []KeptPage
	// deletes is what deleting a run fails with; deleted are those that were, and by whom.
	deletes error
	deleted []string
	epoch   int64
	answer  func(tool.Caller, string, json.RawMessage) (tool.Result, error)
	// arrived are the delivery marks by call.
	arrived map[string]bool
	audit   []audit.Row
	ended   []string // by people
}

func newFake(clock *dbtest.Clock, alice, bob agent.Agent) *fake {
	f := &fake{clock: clock, alice: alice, bob: bob}
	f.reset()
	return f
}

// bound is what the calls of an agent were admitted under.
func bound(a string) binding.Binding {
	return binding.Binding{Agent: a, GrantsVersion: 1, Capability: "read", ConnectionOwner: binding.Install, Provider: "direct", AccountOwner: "none",
		Class: effect.Observation, Meter: binding.Install, MinuteLimit: 600}
}

// reset puts everything back: a run of each agent with a read, an uncertain and an admitted effect, and an open question.
func (f *fake) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	f.runs, f.calls, f.asked, f.epoch, f.arrived, f.answer = nil, nil, nil, 7, make(map[string]bool), nil
	for _, a := range []agent.Agent{f.alice, f.bob} {
		run := ledger.Run{ID: "run_" + a.Slug, Agent: a.ID, Kind: "explicit", Audience: "run:run_" + a.Slug, Conversation: "desk-" + a.Slug, Title: "Tickets", Open: true,
			Deadline: now.Add(minutes(20)), MaxCalls: 1000, Calls: 3, Hold: "call_unsure_" + a.Slug, Created: now.Add(-minutes(10)), RunMeters: map[string]int64{"read": 1}}
		f.runs = append(f.runs, run)
		call := func(id, name string, c effect.Class, s effect.State) ledger.Record {
			r := ledger.Record{ID: id + "_" + a.Slug, Run: run.ID, Agent: a.ID, Conversation: run.Conversation, Seq: int64(len(f.calls)%3) + 1, Tool: name, Capability: "read",
				Class: c, State: s, Binding: bound(a.ID), Args: []byte(`{"url":"https://site.example/"}`), Created: now.Add(-minutes(9)),
				Why: []ledger.Reason{{Stage: "offer", At: now.Add(-minutes(9)), Fact: "read from the install"}}}
			if s != effect.Admitted {
				r.Dispatched = r.Created
			}
			if s.Final() {
				r.Ended = r.Created.Add(time.Second)
			}
			f.calls = append(f.calls, r)
			return r
		}
		call("call_read", "web_fetch", effect.Observation, effect.Succeeded)
		f.calls[len(f.calls)-1].Result = []byte(`{"v":1,"text":"web_fetch: hello","output":{"content":"hello"}}`)
		f.calls[len(f.calls)-1].Outcome = effect.OK
		f.calls[len(f.calls)-1].Evidence = []ledger.EvidenceRow{{N: 0, Provider: "direct", CredentialOwner: "none", Conversation: run.Conversation, At: now,
			Evidence: ledger.Evidence{Kind: "source", Host: "site.example", URL: "https://site.example/"}}}
		call("call_unsure", "press", effect.Effect, effect.Uncertain)
		call("call_waits", "press", effect.Effect, effect.Admitted)
		f.asked = append(f.asked, approval.Approval{ID: "apr_" + a.Slug, Agent: a.ID, Slug: a.Slug, Run: run.ID, Tool: "do_publish", Digest: []byte{1, 2}, State: approval.Open,
			Facts:   approval.Facts{Tier: approval.Sensitive, Origin: "https://site.example", Does: []string{"types", "sends a form"}},
			Message: "May " + a.Slug + " run do_publish on https://site.example?", Created: now.Add(-minutes(1)), Expires: now.Add(minutes(9))})
	}
	f.kept = []KeptPage{{ID: "page_1", Call: "call_read_alice", SHA256: "ab", Snapshot: 1, Chars: 5, Bytes: 9, Kept: now, Used: now, Expires: now, Page: json.RawMessage(`{"requested_url":"https://site.example/","title":"Hello","content":"hello"}`)}}
	f.audit = []audit.Row{{ID: "aud_2", Actor: "person:x", Verb: "agent.paused", Subject: "agent_1", At: now, Detail: json.RawMessage(`{}`)},
		{ID: "aud_1", Actor: "system", Verb: "agent.created", Subject: "agent_1", At: now, Detail: json.RawMessage(`{}`), Link: 1, Hash: "h"}}
}

func in(agents []string, id string) bool { return agents == nil || slices.Contains(agents, id) }

func (f *fake) run(agent, id string) (*ledger.Run, error) {
	for i := range f.runs {
		if r := &f.runs[i]; r.ID == id && (agent == "" || r.Agent == agent) {
			return r, nil
		}
	}
	return nil, ledger.ErrNotFound
}

func (f *fake) call(agent, run, id string) (*ledger.Record, error) {
	for i := range f.calls {
		if r := &f.calls[i]; r.ID == id && r.Run == run && (agent == "" || r.Agent == agent) {
			return r, nil
		}
	}
	return nil, ledger.ErrNotFound
}

func (f *fake) OpenRun(_ context.Context, o ledger.Opening) (ledger.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	r := ledger.Run{ID: fmt.Sprintf("run_new_%d", len(f.runs)), Agent: o.Agent, Kind: "explicit", Conversation: o.Conversation, Title: o.Title, Open: true,
		Deadline: now.Add(max(o.Deadline, time.Minute)), MaxCalls: max(o.MaxCalls, 1), Created: now}
	f.runs = append(f.runs, r)
	return r, nil
}

func (f *fake) EndRun(_ context.Context, agent, id, reason string) (ledger.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.run(agent, id)
	if err != nil {
		return ledger.Run{}, err
	}
	if r.Open {
		r.Open, r.EndReason, r.Ended = false, reason, f.clock.Now()
	}
	return *r, nil
}

func (f *fake) Cancel(_ context.Context, agent, run, id string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.call(agent, run, id)
	if err != nil || r.State != effect.Admitted {
		return false, err
	}
	r.State, r.Outcome, r.Code, r.Ended = effect.Failed, effect.NotDispatched, "cancelled", f.clock.Now()
	return true, nil
}

func (f *fake) Reconcile(_ context.Context, agent, run, id string, v ledger.Reconciliation) (ledger.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.call(agent, run, id)
	switch {
	case err != nil:
		return ledger.Record{}, err
	case !r.State.Final():
		return ledger.Record{}, ledger.ErrInFlight
	case r.State != effect.Uncertain:
		return ledger.Record{}, ledger.ErrNotUncertain
	case v.Evidence == "bad":
		return ledger.Record{}, ledger.ErrProof
	case r.Verdict != nil && r.Verdict.Verdict != v.Verdict:
		return ledger.Record{}, ledger.ErrReconciled
	case r.Verdict == nil:
		v.At = f.clock.Now()
		r.Verdict = &v
	}
	return *r, nil
}

func (f *fake) Run(_ context.Context, agent, id string) (ledger.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.run(agent, id)
	if err != nil {
		return ledger.Run{}, err
	}
	return *r, nil
}

func (f *fake) RunsOf(_ context.Context, agents []string, before string, limit int) ([]ledger.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ledger.Run
	passed := before == ""
	for _, r := range slices.Backward(f.runs) {
		if passed && in(agents, r.Agent) && len(out) < limit {
			out = append(out, r)
		}
		passed = passed || r.ID == before && in(agents, r.Agent)
	}
	if !passed {
		return nil, ledger.ErrNotFound
	}
	return out, nil
}

func (f *fake) Call(ctx context.Context, agent, run, id string) (ledger.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, err := f.call(agent, run, id)
	if err != nil {
		return ledger.Record{}, err
	}
	return *r, nil
}

func (f *fake) CallsOf(_ context.Context, agent, run string, after int64, limit int) ([]ledger.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ledger.Record
	for _, r := range f.calls {
		if r.Run == run && (agent == "" || r.Agent == agent) && r.Seq > after && len(out) < limit {
			r.Args, r.Result, r.Late = nil, nil, nil
			out = append(out, r)
		}
	}
	return out, nil
}

func (f *fake) Resolve(_ context.Context, agent string, t ledger.Tool) (binding.Resolution, error) {
	if t.Name == "press" {
		return binding.Resolution{Off: "switched off for this agent"}, nil
	}
	return binding.Resolution{Binding: bound(agent)}, nil
}

func (f *fake) Changes(_ context.Context, since time.Time) ([]ledger.Run, []ledger.Record, time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.runs), slices.Clone(f.calls), f.clock.Now(), nil
}

func (f *fake) Epoch(context.Context) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.epoch, nil
}

func (f *fake) Now(context.Context) (time.Time, error) { return f.clock.Now(), nil }

func (p pipeline) Known() []ledger.Tool {
	return []ledger.Tool{{Name: "press", Capability: "browser"}, {Name: "web_fetch", Capability: "read"}}
}

func (p pipeline) List(context.Context, tool.Caller) ([]agenttool.Tool, error) {
	return []agenttool.Tool{{Name: "web_fetch", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object"}`), Hints: agenttool.Hints{ReadOnly: true}}}, nil
}

func (p pipeline) Call(_ context.Context, c tool.Caller, name string, arguments json.RawMessage) (tool.Result, error) {
	f := p.f
	f.mu.Lock()
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		return answer(c, name, arguments)
	}
	if name != "web_fetch" {
		return tool.Result{}, tool.ErrUnknownTool
	}
	id := "call_read_" + c.Slug
	return tool.Result{Result: agenttool.Result{Content: []agenttool.Part{{Text: "web_fetch: hello"}}}, Call: id, Run: c.Run, Output: json.RawMessage(`{"content":"hello"}`),
		Delivered: func(ok bool) { f.mark(id, ok) }}, nil
}

func (f *fake) mark(call string, arrived bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arrived[call] = arrived
}

func (p pipeline) Told(r ledger.Record) (tool.Told, error) {
	if r.Result == nil {
		return tool.Told{}, nil
	}
	kept, err := tool.DecodeStored(r.Result)
	return tool.Told{Text: kept.Text, Output: kept.Output}, err
}

func (q questions) Show(_ context.Context, id string) (approval.Approval, error) {
	f := q.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.asked {
		if a.ID == id {
			return a, nil
		}
	}
	return approval.Approval{}, approval.ErrNotFound
}

func (f *fake) approvals(flt approval.Filter) []approval.Approval {
	var out []approval.Approval
	passed := flt.Before == ""
	for _, a := range slices.Backward(f.asked) {
		if passed && in(flt.Agents, a.Agent) && (flt.Run == "" || a.Run == flt.Run) && (!flt.Open || a.State == approval.Open) && len(out) < flt.Limit {
			out = append(out, a)
		}
		passed = passed || a.ID == flt.Before
	}
	return out
}

func (q questions) Answer(_ context.Context, id string, r approval.Reply) (approval.Approval, error) {
	f := q.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := r.Check(); err != nil {
		return approval.Approval{}, err
	}
	for i := range f.asked {
		a := &f.asked[i]
		if a.ID != id {
			continue
		}
		if a.State != approval.Open {
			return *a, approval.ErrNotOpen
		}
		a.State, a.AnsweredBy, a.Channel, a.Answered = approval.Approved, r.By, r.Channel, f.clock.Now()
		if r.Answer == approval.Deny {
			a.State = approval.Denied
		}
		return *a, nil
	}
	return approval.Approval{}, approval.ErrNotFound
}

func (q questions) DenyAll(ctx context.Context, agents []string, r approval.Reply) ([]string, error) {
	f := q.f
	f.mu.Lock()
	open := f.approvals(approval.Filter{Agents: agents, Open: true, Limit: 500})
	f.mu.Unlock()
	var out []string
	for _, a := range open {
		if _, err := q.Answer(ctx, a.ID, r); err != nil {
			return out, err
		}
		out = append(out, a.ID)
	}
	return out, nil
}

func (f *fake) EndRunBy(ctx context.Context, run, reason, by string) (ledger.Run, error) {
	f.mu.Lock()
	f.ended = append(f.ended, run+" by "+by)
	f.mu.Unlock()
	return f.EndRun(ctx, "", run, reason)
}

func (f *fake) WeighDeletion(_ context.Context, run string) (ledger.Deletion, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.HasPrefix(run, "run_") {
		return ledger.Deletion{}, ledger.ErrNotFound
	}
	return ledger.Deletion{Calls: 3, Evidence: 2, Pages: 1, Approvals: 4, Uncertain: 1, Refused: f.deletes}, nil
}

func (f *fake) DeleteRun(_ context.Context, run, by string) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.deletes != nil:
		return 0, f.deletes
	case by == "" || !strings.HasPrefix(run, "run_"):
		return 0, ledger.ErrNotFound
	}
	f.deleted = append(f.deleted, run+" by "+by)
	return 3, nil
}

func (f *fake) Kept(_ context.Context, run string) ([]KeptPage, error) {
	if run != "run_alice" {
		return nil, nil
	}
	return f.kept, nil
}

func (f *fake) KeptWhole(_ context.Context, run, page string) (KeptPage, error) {
	if run != "run_alice" || page != "page_1" {
		return KeptPage{}, ledger.ErrNotFound
	}
	return f.kept[0], nil
}

func (f *fake) Open(_ context.Context, agents []string, limit int) ([]ledger.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ledger.Run
	for _, r := range f.runs {
		if in(agents, r.Agent) && r.Open {
			out = append(out, r)
		}
	}
	return out, nil
}

func (f *fake) records(agents []string, keep func(ledger.Record) bool) []ledger.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ledger.Record
	for _, r := range f.calls {
		if in(agents, r.Agent) && keep(r) {
			out = append(out, r)
		}
	}
	return out
}

func (f *fake) Uncertain(_ context.Context, agents []string, limit int) ([]ledger.Record, error) {
	return f.records(agents, func(r ledger.Record) bool { return r.State == effect.Uncertain && r.Verdict == nil }), nil
}

func (f *fake) InFlight(_ context.Context, agents []string, run, token string, limit int) ([]ledger.Record, error) {
	return f.records(agents, func(r ledger.Record) bool { return !r.State.Final() && (run == "" || r.Run == run) }), nil
}

func (f *fake) LastCalls(_ context.Context, agents []string) (map[string]time.Time, error) {
	out := make(map[string]time.Time)
	for _, r := range f.records(agents, func(ledger.Record) bool { return true }) {
		out[r.Agent] = r.Created
	}
	return out, nil
}

func (f *fake) Counts(_ context.Context, agents []string, from, to time.Time) ([]Count, error) {
	return []Count{{Hour: from.Truncate(time.Hour), Capability: "read", Class: "observation", State: "succeeded", Outcome: "ok", Calls: int64(len(f.records(agents, func(ledger.Record) bool { return true })))}}, nil
}

// Reads has a host for each agent, named after it.
func (f *fake) Reads(_ context.Context, agents []string, from, to time.Time) (out []Reads, err error) {
	for _, r := range f.records(agents, func(ledger.Record) bool { return true }) {
		host := strings.TrimPrefix(r.Run, "run_") + ".example"
		out = append(out, Reads{Host: host, Calls: 3, Last: r.Created}, Reads{Host: host, Thin: "js_shell", Calls: 2, Last: r.Created},
			Reads{Host: host, Code: "web_fetch_blocked", Calls: 1, Last: r.Created})
	}
	return append(out, Reads{Host: "plain.example", Calls: 1, Last: to}), nil
}

func (f *fake) Meters(_ context.Context, agents []string, from, to time.Time) ([]Meter, error) {
	return []Meter{{Meter: "install", Capability: "read", Units: 2, BusiestMinute: from, InMinute: 2, FullestRun: "run_alice", InRun: 1}}, nil
}

// pipeline, questions and trail are parts of the fake whose methods have the same names.
type (
	pipeline  struct{ f *fake }
	questions struct{ f *fake }
	trail     struct{ f *fake }
)

func (q questions) List(_ context.Context, flt approval.Filter) ([]approval.Approval, error) {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	return q.f.approvals(flt), nil
}

func (t trail) List(_ context.Context, flt audit.Filter) ([]audit.Row, int64, int64, error) {
	return t.f.audit, 1, 1, nil
}

// refusing answers every call with a refusal.
func refusing(code string) func(tool.Caller, string, json.RawMessage) (tool.Result, error) {
	return func(c tool.Caller, _ string, _ json.RawMessage) (tool.Result, error) {
		return tool.Result{Result: agenttool.Result{Content: []agenttool.Part{{Text: code + ": nothing was sent; so\nnext: wait · Later."}},
			Structured: json.RawMessage(`{"ok":false,"code":"` + code + `"}`), Failure: errors.New(code)}, Run: c.Run, Code: code, Delivered: func(bool) {}}, nil
	}
}
