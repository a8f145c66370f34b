// This file lets calls in or says what is in their way.
package ledgertest

import (
	"bytes"
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

const (
	margin   = 30 * time.Second
	twinTime = 15 * time.Minute
	// refusedAtMost is how many refused calls a run keeps.
	refusedAtMost = 1000
)

// Look is ledger.Calls'.
func (s *Store) Look(ctx context.Context, a ledger.Ask) (out ledger.Looked, err error) {
	err = s.write(ctx, "Look", func() error {
		out = ledger.Looked{}
		same, conflict, err := s.same(a)
		if err != nil {
			return err
		}
		if conflict != nil || same != nil {
			if out.Refusal = conflict; conflict == nil {
				r := same.record(true)
				out.Same = &r
			}
			return nil
		}
		r, err := s.runOf(a.Agent, a.Run)
		if err != nil {
			return err
		}
		bound, refusal, _ := s.judge(a, r)
		if out.Binding, out.Refusal = bound, refusal; refusal != nil {
			return nil
		}
		hold, held := s.hold(a, r)
		if out.Held = held; held == nil {
			twin := s.twin(a, r)
			if hold != nil { // it is met first
				if twin = nil; isTwin(a, hold) {
					twin = hold
				}
			}
			if twin != nil && (twin.Delivery != ledger.HandedOver || !twin.State.Final()) {
				same := twin.record(true)
				out.Same, out.Twin = &same, true
			}
		}
		return nil
	})
	return out, err
}

// Admit is ledger.Calls'.
func (s *Store) Admit(ctx context.Context, a ledger.Admission) (out ledger.Admitted, err error) {
	var refusal *ledger.Refusal
	err = s.write(ctx, "Admit", func() error {
		out, refusal = ledger.Admitted{}, nil
		var err error
		out, refusal, err = s.admit(a)
		return err
	})
	if err == nil && refusal != nil {
		return ledger.Admitted{}, refusal
	}
	return out, err
}

func (w *World) admit(a ledger.Admission) (ledger.Admitted, *ledger.Refusal, error) {
	same, conflict, err := w.same(a.Ask)
	switch {
	case err != nil:
		return ledger.Admitted{}, nil, err
	case conflict == nil && same != nil && same.nonce == a.Nonce && !same.State.Final():
		return ledger.Admitted{Kind: ledger.Fresh, Record: same.record(true), Binding: same.Binding, Left: same.until.Sub(w.now())}, nil, nil
	case conflict == nil && same != nil:
		return ledger.Admitted{Kind: ledger.Repeat, Record: same.record(true)}, nil, nil
	}
	r, err := w.runOf(a.Agent, a.Run)
	if err != nil {
		return ledger.Admitted{}, nil, err
	}
	refuse := func(f *ledger.Refusal) (ledger.Admitted, *ledger.Refusal, error) {
		f.Run = a.Run
		f.Call = w.refuse(a.Ask, r, f.Code, nil, a.Worded(f))
		return ledger.Admitted{}, f, nil
	}
	if conflict != nil {
		return refuse(conflict)
	}
	bound, refusal, stale := w.judge(a.Ask, r)
	if stale { // the offer is made afresh with the refusal
		if key := (listed{a.Audience, a.Tool}); refusal.Now != nil {
			w.offers[key] = bound
		} else {
			delete(w.offers, key)
		}
	}
	if refusal != nil {
		return refuse(refusal)
	}
	if a.Class == effect.Effect {
		hold, held := w.hold(a.Ask, r)
		if held != nil {
			return refuse(held)
		}
		twin := w.twin(a.Ask, r)
		switch {
		case hold != nil:
			return ledger.Admitted{Kind: ledger.WaitFor, Twin: isTwin(a.Ask, hold), Record: hold.record(true)}, nil, nil
		case twin == nil:
		case !twin.State.Final() || twin.Delivery == ledger.Waiting:
			return ledger.Admitted{Kind: ledger.WaitFor, Twin: true, Record: twin.record(true)}, nil, nil
		case twin.Delivery == ledger.CallerGone:
			twin.Delivery, twin.Owner = ledger.Waiting, a.Process
			return ledger.Admitted{Kind: ledger.TwinFinal, Twin: true, Record: twin.record(true)}, nil, nil
		}
	}
	ok, presented := w.spend(a.Approval)
	if a.Approval != nil && !ok {
		if presented != nil {
			presented.state = "void"
		}
		return refuse(&ledger.Refusal{Code: "approval_required", Facts: ledger.Facts{Approval: a.Approval.ID}})
	}
	meter := bound.Meter
	if !a.Unit {
		meter = binding.Uncounted
	}
	if refusal := w.count(r, bound, meter); refusal != nil {
		return refuse(refusal)
	}
	if presented != nil {
		presented.state = "used"
	}
	c := w.enter(a, r, bound, meter)
	if presented != nil {
		presented.usedBy = c.ID
	}
	return ledger.Admitted{Kind: ledger.Fresh, Record: c.record(true), Binding: bound, Left: c.until.Sub(c.Created)}, nil, nil
}

// same looks for the call by its id or its key. Somebody else's is not there.
func (w *World) same(a ledger.Ask) (*call, *ledger.Refusal, error) {
	c := w.calls[a.ID]
	if c == nil && a.Key != "" {
		for _, k := range w.order {
			if k.Agent == a.Agent && k.Key == a.Key && k.State != effect.Refused {
				c = k
			}
		}
	}
	if c == nil {
		return nil, nil, nil
	}
	if c.Agent != a.Agent {
		return nil, nil, ledger.ErrNotFound
	}
	differs := ""
	switch {
	case c.Tool != a.Tool:
		differs = "tool"
	case !bytes.Equal(c.digest, a.Digest):
		differs = "arguments"
	case a.Named && c.Run != a.Run:
		differs = "run"
	default:
		return c, nil, nil
	}
	return c, &ledger.Refusal{Code: "call_conflict", Run: a.Run, Facts: ledger.Facts{Other: c.ID, OtherTool: c.Tool, OtherAt: c.Created, Differs: differs}}, nil
}

// judge looks at offer, pause and run. stale says that the offer has to be made afresh or taken back.
func (w *World) judge(a ledger.Ask, r *run) (bound binding.Binding, refusal *ledger.Refusal, stale bool) {
	res, _ := w.resolved(a.Agent, a.Capability, a.Tool, a.Profile)
	if res.Off != "" {
		return binding.Binding{}, &ledger.Refusal{Code: "capability_disabled", Run: a.Run, Facts: ledger.Facts{Capability: a.Capability, Reason: res.Off}}, true
	}
	bound = res.Binding
	was, offered := w.offers[listed{a.Audience, a.Tool}]
	if a.Under != "" && a.Under != bound.Fingerprint() { // offered since, to whoever listed the tools
		was, offered = binding.Parse(a.Under)
	}
	if !offered || was.Fingerprint() != bound.Fingerprint() {
		f := ledger.Facts{Capability: a.Capability, Now: &bound}
		if offered {
			f.Was = &was
		}
		return bound, &ledger.Refusal{Code: "stale_offer", Run: a.Run, Facts: f}, true
	}
	if p := res.Paused; p != nil {
		return bound, &ledger.Refusal{Code: "paused", Run: a.Run, Facts: ledger.Facts{Reason: res.PausedWhat, By: p.By, At: p.At}}, false
	}
	if reason, at, over := r.over(w.now()); over {
		return bound, &ledger.Refusal{Code: "run_over", Run: a.Run, Facts: ledger.Facts{Reason: reason, At: at}}, false
	}
	if r.Calls >= r.MaxCalls {
		return bound, &ledger.Refusal{Code: "run_call_limit", Run: a.Run, Facts: ledger.Facts{Used: r.Calls, Limit: r.MaxCalls}}, false
	}
	return bound, nil, false
}

// hold is the effect in flight that holds the run, or the refusal where an uncertain one does.
func (w *World) hold(a ledger.Ask, r *run) (*call, *ledger.Refusal) {
	if a.Class != effect.Effect || r.Hold == "" {
		return nil, nil
	}
	c := w.calls[r.Hold]
	if c.State == effect.Uncertain {
		return nil, &ledger.Refusal{Code: "effect_uncertain", Run: a.Run, Facts: ledger.Facts{Other: c.ID, OtherTool: c.Tool, OtherAt: c.Dispatched}}
	}
	return c, nil
}

// twin is the run's newest effect, where it is the same one without a key.
func (w *World) twin(a ledger.Ask, r *run) *call {
	if a.Class != effect.Effect || a.Key != "" {
		return nil
	}
	for i := len(w.order) - 1; i >= 0; i-- {
		c := w.order[i]
		if c.Run != r.ID || c.Class != effect.Effect || c.State != effect.Admitted && c.Dispatched.IsZero() {
			continue
		}
		if isTwin(a, c) && w.now().Sub(c.Created) <= twinTime {
			return c
		}
		return nil
	}
	return nil
}

// isTwin says whether a call is what is asked now, sent without a key.
func isTwin(a ledger.Ask, c *call) bool {
	return a.Key == "" && c.Tool == a.Tool && bytes.Equal(c.digest, a.Digest)
}

// spend looks at an approval. One that was presented with anything else than what it was given for is found all the same.
func (w *World) spend(s *ledger.Spend) (ok bool, presented *approval) {
	if s == nil {
		return false, nil
	}
	a := w.approvals[s.ID]
	if a == nil || a.Agent != s.Agent || a.state != "approved" {
		return false, nil
	}
	return a.Run == s.Run && a.Tool == s.Tool && a.Profile == s.Profile && bytes.Equal(a.Digest, s.Digest) && a.GoodUntil.After(w.now()), a
}

// count takes a unit of both meters, or of none.
func (w *World) count(r *run, b binding.Binding, meter string) *ledger.Refusal {
	if meter == binding.Uncounted {
		return nil
	}
	if used := r.RunMeters[b.Capability]; b.RunLimit > 0 && used >= b.RunLimit {
		return &ledger.Refusal{Code: "run_limit", Facts: ledger.Facts{Used: used, Limit: b.RunLimit, LimitOf: b.RunLimitOf, Capability: b.Capability}}
	}
	m := minute{meter, b.Capability, minuteOf(w.now())}
	if used := w.minutes[m]; b.MinuteLimit > 0 && used >= b.MinuteLimit {
		next := time.UnixMicro((m.minute + 1) * time.Minute.Microseconds())
		return &ledger.Refusal{Code: "rate_limit", Facts: ledger.Facts{Used: used, Limit: b.MinuteLimit, LimitOf: "connection", Capability: b.Capability, Wait: next.Sub(w.now())}}
	}
	r.RunMeters[b.Capability]++
	w.minutes[m]++
	return nil
}

// enter writes a fresh call.
func (w *World) enter(a ledger.Admission, r *run, bound binding.Binding, meter string) *call {
	now := w.now()
	r.Calls++
	if until := now.Add(r.idle); !r.IdleUntil.IsZero() && until.After(r.IdleUntil) {
		r.IdleUntil = until
	}
	state, _ := effect.Next(a.Class, "", effect.Admit)
	until := now.Add(a.Bound)
	if r.Deadline.Before(until) {
		until = r.Deadline
	}
	c := &call{nonce: a.Nonce, digest: bytes.Clone(a.Digest), until: until.Add(margin), meter: meter, Record: ledger.Record{ID: a.ID, Run: r.ID, Agent: a.Agent,
		Conversation: r.Conversation, Seq: r.Calls + r.Refused, Tool: a.Tool, Capability: a.Capability, Class: a.Class, State: state, Key: a.Key, Named: a.Named,
		Owner: a.Process, Binding: bound, Args: bytes.Clone(a.Args), Created: now}}
	if a.Approval != nil {
		c.Approval = a.Approval.ID
	}
	if state == effect.Dispatched {
		c.Dispatched = now
	}
	c.Evidence = []ledger.EvidenceRow{{N: 0, Provider: bound.Provider, CredentialOwner: bound.CredentialOwner(), Conversation: r.Conversation, At: now,
		Evidence: ledger.Evidence{Kind: "source", Host: a.Source.Host, URL: a.Source.URL}}}
	c.reasons(now, a.Why)
	c.why(now, "offer", "bound to "+bound.Provider, "")
	c.why(now, "admission", "counted for "+meter, "")
	w.add(c)
	return c
}

// Refuse is ledger.Calls'.
func (s *Store) Refuse(ctx context.Context, a ledger.Ask, code string, why []ledger.Reason, result []byte) (id string, err error) {
	err = s.write(ctx, "Refuse", func() error {
		r, err := s.runOf(a.Agent, a.Run)
		if err != nil {
			return err
		}
		id = s.refuse(a, r, code, why, result)
		return nil
	})
	return id, err
}

// refuse keeps a refusal; beyond the bound it only counts it and gives no id.
func (w *World) refuse(a ledger.Ask, r *run, code string, why []ledger.Reason, result []byte) string {
	if r.Refused++; r.Refused > refusedAtMost {
		return ""
	}
	now := w.now()
	c := &call{digest: bytes.Clone(a.Digest), until: now, meter: "", Record: ledger.Record{Run: r.ID, Agent: a.Agent, Conversation: r.Conversation, Seq: r.Calls + r.Refused,
		Tool: a.Tool, Capability: a.Capability, Class: a.Class, State: effect.Refused, Code: code, IsError: true, Key: a.Key, Named: a.Named,
		Args: bytes.Clone(a.Args), Result: bytes.Clone(result), Created: now, Ended: now}}
	c.reasons(now, a.Why)
	if c.reasons(now, why); len(why) == 0 {
		c.why(now, "admission", a.Refused(code, ""), "")
	}
	w.add(c)
	return c.ID
}
