// This file is the order of checks: from the arrival of a call to its admission. The first check that fails answers.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
)

// inquiry is one call on its way to its admission.
type inquiry struct {
	*Pipeline
	c          Caller
	plug       Plug
	args       Arguments
	ask        ledger.Ask
	run        ledger.Run
	remembered bool // the run is one of an earlier call
	say        observation.Speaker
	looked     ledger.Looked
	plan       Plan
	asked      bool // the form about an uncertain effect was shown: once a call
	offered    bool // the first offer of the audience was written: once a call
	waiting    func(ledger.Progress)
}

// Call runs one tool call. Errors: ErrUnknownTool, ErrUnknownRun, ErrComeAgain, *Fault; everything else that a call may
// come to is a Result.
func (p *Pipeline) Call(ctx context.Context, c Caller, name string, arguments json.RawMessage) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, faultOf(ctx, ctx.Err())
	}
	plugs, err := p.o.Plugs(ctx, c.Agent)
	if err != nil {
		return Result{}, faultOf(ctx, fmt.Errorf("list the plugs: %w", err))
	}
	plug := find(plugs, name)
	if plug == nil {
		return Result{}, ErrUnknownTool
	}
	run, remembered := p.known.get(c)
	if !remembered {
		if run, err = p.place(ctx, c); err != nil {
			return Result{}, err
		}
		p.known.put(c, run)
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	q := &inquiry{Pipeline: p, c: c, plug: plug, run: run, remembered: remembered, say: p.speaker(ctx, c.Agent, plugs)}
	q.waiting = func(w ledger.Progress) { c.Progress(waitingFor(w)) }
	q.ask = ledger.Ask{Key: c.Key, Token: c.Token, Run: run.ID, Named: c.Run != "", Agent: c.Agent, Audience: run.Audience, Tool: name,
		Capability: plug.Capability(), Profile: plug.Profile(), Word: q.worded}
	return q.answer(ctx, arguments)
}

func find(plugs []Plug, name string) Plug {
	for _, plug := range plugs {
		if plug.Name() == name {
			return plug
		}
	}
	return nil
}

// waitingFor says what a call waits for. Its words are ours, and so are the tool's name and the call's id.
func waitingFor(w ledger.Progress) string {
	switch w.For {
	case "same":
		return "waiting for this very call, which is under way already"
	case "twin":
		return fmt.Sprintf("waiting for the same %s call, %s, to end", w.Tool, w.Call)
	}
	return fmt.Sprintf("waiting for an earlier action of this run, %s, to end", w.Call)
}

// answer goes through the checks.
func (q *inquiry) answer(ctx context.Context, arguments json.RawMessage) (Result, error) {
	args, bad := q.plug.Parse(arguments)
	if bad != nil {
		if _, err := q.settle(ctx); err != nil {
			return Result{}, err
		}
		q.ask.Digest, q.ask.Args = q.o.Ledger.Digest(q.plug.Name(), arguments), clip(arguments)
		return q.bad(ctx, bad, "arguments")
	}
	canonical := args.Canonical()
	q.args, q.ask.Args, q.ask.Source = args, canonical, args.Source()
	q.ask.Digest = q.o.Ledger.Digest(q.plug.Name(), canonical)
	for {
		var err error
		q.looked, err = q.o.Ledger.Look(ctx, q.ask)
		if q.remembered && (errors.Is(err, ledger.ErrNotFound) || err == nil && q.looked.Refusal != nil) {
			switch moved, err := q.settle(ctx); {
			case err != nil:
				return Result{}, err
			case moved:
				continue
			}
		}
		if err != nil {
			return Result{}, q.lost(ctx, err)
		}
		if r := q.looked.Refusal; r != nil && r.Code == "stale_offer" && r.Was == nil && !q.offered {
			// Nobody listed tools for this audience, so nothing was promised that could have changed meanwhile: a client
			// that knows the tool's name calls it.
			q.offered = true
			if _, err := q.o.Rows.Offer(ctx, q.ask.Agent, q.ask.Audience, []ledger.Tool{ledgerTool(q.plug)}); err != nil {
				return Result{}, q.lost(ctx, stored("write the offer", err))
			}
			continue
		}
		q.ask.Class, q.ask.Under = q.looked.Binding.Class, q.looked.Binding.Fingerprint()
		switch {
		case q.looked.Refusal != nil:
			return q.turnedAway(ctx, q.looked.Refusal)
		case q.looked.Same != nil && !q.looked.Twin:
			return q.repeat(ctx, *q.looked.Same)
		}
		plan, bad, err := q.look(ctx)
		switch {
		case err != nil:
			return Result{}, faultOf(ctx, fmt.Errorf("look ahead for %s: %w", q.plug.Name(), err))
		case bad != nil:
			return q.bad(ctx, bad, "policy")
		}
		q.plan, q.ask.Unit, q.ask.Bound = plan, plan.Unit, plan.Bound
		if q.looked.Held == nil {
			break
		}
		switch settled, err := q.reconcile(ctx, q.looked.Held); {
		case err != nil:
			return Result{}, err
		case !settled:
			return q.turnedAway(ctx, q.looked.Held)
		}
	}
	return q.approved(ctx)
}

// maxKeptArgs is how many bytes are kept of arguments that were refused.
const maxKeptArgs = 4096

// clip is what is kept of arguments that were refused: JSON in any case, a string where they are none or too long.
func clip(arguments json.RawMessage) []byte {
	if len(arguments) == 0 || len(arguments) <= maxKeptArgs && json.Valid(arguments) {
		return arguments
	}
	text, err := json.Marshal(strings.ToValidUTF8(string(arguments[:min(len(arguments), maxKeptArgs)]), "\uFFFD"))
	if err != nil { // a string: cannot be
		return nil
	}
	return text
}

// look lets the capability look ahead. What it panics with is no value for a log.
func (q *inquiry) look(ctx context.Context) (plan Plan, bad *Bad, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = q.panicked("look", r)
		}
	}()
	plan, bad, err = q.args.Look(ctx, q.where(q.looked.Binding, ""))
	return plan, bad, err
}

// repeat answers a call that is there already. It has no way to send: should the row be gone by now, it is a fault.
func (q *inquiry) repeat(ctx context.Context, same ledger.Record) (Result, error) {
	q.ask.Class, q.ask.Bound = same.Class, time.Minute
	return q.onlyRecorded(ctx, q.ask)
}

// onlyRecorded asks the ledger for a call that must be there. Were it let in as a new one, it would run without what was
// to be checked before: then nothing is sent.
func (q *inquiry) onlyRecorded(ctx context.Context, ask ledger.Ask) (Result, error) {
	call, err := q.o.Ledger.Admit(ctx, ask, q.waiting)
	if err != nil {
		return q.notAdmitted(ctx, err)
	}
	if rec, ok := call.Recorded(); ok {
		return q.recorded(call, rec)
	}
	_, err = call.Settle(ledger.Fault(codeInternal))
	call.Delivered(false)
	return Result{}, faultOf(ctx, errors.Join(errors.New("a call that was there is gone"), err))
}

// approved asks for a yes where policy wants one, and admits.
func (q *inquiry) approved(ctx context.Context) (Result, error) {
	policy, err := q.o.Policy(ctx, q.c.Agent)
	if err != nil {
		return Result{}, faultOf(ctx, fmt.Errorf("look at the policy: %w", err))
	}
	decision := approval.Decide(policy, q.plan.Approval)
	q.ask.Why = []ledger.Reason{{Stage: "policy", Fact: decision.Why}}
	switch decision.Verdict {
	case approval.Allow:
		return q.admit(ctx)
	case approval.Ask:
		return q.withApproval(ctx)
	}
	return q.refuse(ctx, q.say.Closed(), "policy")
}

// admit asks the ledger, and carries out what it lets in.
func (q *inquiry) admit(ctx context.Context) (Result, error) {
	call, err := q.o.Ledger.Admit(ctx, q.ask, q.waiting)
	if err != nil {
		return q.notAdmitted(ctx, err)
	}
	return q.admitted(ctx, call)
}

// admitted carries out what was let in, or answers from the record.
func (q *inquiry) admitted(ctx context.Context, call *ledger.Call) (Result, error) {
	if rec, ok := call.Recorded(); ok {
		return q.recorded(call, rec)
	}
	return q.carryOut(ctx, call)
}

// notAdmitted is the answer to an admission that failed: a refusal, or no result.
func (q *inquiry) notAdmitted(ctx context.Context, err error) (Result, error) {
	var r *ledger.Refusal
	if errors.As(err, &r) {
		return q.refused(r), nil
	}
	return Result{}, q.lost(ctx, err)
}

// lost is the error of a ledger that gave no verdict. A run that is not there any more is one that is not known.
func (q *inquiry) lost(ctx context.Context, err error) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return ErrUnknownRun
	}
	f := faultOf(ctx, err)
	f.Run = q.run.ID
	return f
}

// turnedAway keeps a refusal that was found by looking ahead. Where the tool's offer is not what it was, the fresh one is
// written first, so that the same call works now.
func (q *inquiry) turnedAway(ctx context.Context, r *ledger.Refusal) (Result, error) {
	if stale(r.Code) {
		if _, err := q.o.Rows.Offer(ctx, q.c.Agent, q.run.Audience, []ledger.Tool{ledgerTool(q.plug)}); err != nil {
			return Result{}, q.lost(ctx, stored("write an offer", err))
		}
	}
	r.Run = q.run.ID
	e := q.say.Refusal(q.plug.Name(), r)
	result, err := q.refuse(ctx, e, "admission")
	result.Stale = stale(r.Code)
	return result, err
}

// stale says that the list of tools is not what the client saw.
func stale(code string) bool { return code == "stale_offer" || code == "capability_disabled" }

// refused is the answer to a refusal that the ledger has kept.
func (q *inquiry) refused(r *ledger.Refusal) Result {
	r.Run = q.run.ID
	e := q.say.Refusal(q.plug.Name(), r)
	out := q.result(e.Result(), ids{call: r.Call, run: r.Run, conversation: q.run.Conversation})
	out.Code, out.Stale, out.Delivered = r.Code, stale(r.Code), func(bool) {}
	return out
}

// worded is what the record of such a refusal says: what the model reads of it.
func (q *inquiry) worded(r *ledger.Refusal) []byte {
	if r.Code == "approval_required" { // the model does not read of it: the question is asked again
		return nil
	}
	e := q.say.Refusal(q.plug.Name(), r)
	kept, err := Stored{Text: observation.Fit(e.Error()), Structured: e.Result().Structured}.Encode()
	if err != nil {
		q.o.Log.Error("keep the words of a refusal", "code", r.Code, "error", err)
		return nil
	}
	return kept
}

// refuse keeps a refusal that was decided here, and is the answer to it.
func (q *inquiry) refuse(ctx context.Context, e *observation.Error, stage string) (Result, error) {
	return q.keep(ctx, e.Code, Stored{Text: e.Error(), Structured: e.Result().Structured}, e, stage, e.What)
}

// bad keeps a refusal that the capability decided.
func (q *inquiry) bad(ctx context.Context, b *Bad, stage string) (Result, error) {
	var failure error = b.Result.Failure
	if failure == nil {
		failure = &Answered{Code: b.Code, Text: b.Result.Text()}
	}
	return q.keep(ctx, b.Code, Stored{Text: b.Result.Text(), Structured: b.Result.Structured}, failure, stage, b.Why)
}

func (q *inquiry) keep(ctx context.Context, code string, s Stored, failure error, stage, because string) (Result, error) {
	s.Text = observation.Fit(s.Text)
	kept, err := s.Encode()
	if err != nil {
		return Result{}, faultOf(ctx, err)
	}
	if q.ask.Class == "" {
		// A refusal's row has a class, too; where the tool has none now, the one that may do the most.
		q.ask.Class = effect.Effect
		if r, err := q.o.Rows.Resolve(ctx, q.c.Agent, ledgerTool(q.plug)); err == nil && r.Binding.Class != "" {
			q.ask.Class = r.Binding.Class
		}
	}
	why := append(q.ask.Why[:len(q.ask.Why):len(q.ask.Why)], ledger.Reason{Stage: stage, Fact: q.ask.Refused(code, because)})
	id, err := q.o.Ledger.Refuse(ctx, q.ask, code, why, kept)
	if err != nil {
		return Result{}, q.lost(ctx, err)
	}
	out := q.result(s.agent(failure), ids{call: id, run: q.run.ID, conversation: q.run.Conversation})
	out.Code, out.Delivered = code, func(bool) {}
	return out, nil
}
