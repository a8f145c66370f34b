// This file waits for people: for a yes before a call, and for what they know of an effect of unknown outcome.
package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/ledger"
)

// rounds is how often a call asks for a yes: once more where the one that it saw was used by another call.
const rounds = 3

// withApproval admits the call with a person's yes, or says how the question stands.
func (q *inquiry) withApproval(ctx context.Context) (Result, error) {
	if q.looked.Twin {
		// The same action may have an answer that never arrived. It is given without asking anybody; should there be none
		// after all, the admission refuses, since this yes does not exist.
		q.ask.Approval = q.spend("")
		call, err := q.o.Ledger.Admit(ctx, q.ask, q.waiting)
		switch {
		case err == nil:
			return q.admitted(ctx, call)
		case !refusedFor(err, "approval_required"):
			return q.notAdmitted(ctx, err)
		}
	}
	for range rounds {
		stood, joined, err := q.question(ctx)
		switch {
		case err != nil:
			return Result{}, err
		case stood.Standing != approval.Granted || stood.Wrong != "":
			return q.unapproved(ctx, stood)
		case joined && stood.Approval.State == approval.Used:
			return q.shared(ctx, stood.Approval.UsedBy)
		}
		q.ask.Approval = q.spend(stood.Approval.ID)
		call, err := q.o.Ledger.Admit(ctx, q.ask, q.waiting)
		switch {
		case err == nil:
			return q.admitted(ctx, call)
		case !refusedFor(err, "approval_required"):
			return q.notAdmitted(ctx, err)
		}
		now, err := q.o.Approvals.Show(ctx, stood.Approval.ID)
		if err != nil {
			return Result{}, q.lost(ctx, stored("look at an approval", err))
		}
		if joined && now.State == approval.Used {
			return q.shared(ctx, now.UsedBy)
		}
	}
	return Result{}, faultOf(ctx, errors.New("three approvals were used by other calls"))
}

func (q *inquiry) spend(id string) *ledger.Spend {
	return &ledger.Spend{ID: id, Agent: q.c.Agent, Run: q.run.ID, Tool: q.plug.Name(), Digest: q.ask.Digest, Profile: q.plug.Profile()}
}

func refusedFor(err error, code string) bool {
	var r *ledger.Refusal
	return errors.As(err, &r) && r.Code == code
}

// unapproved is the answer where nobody said yes.
func (q *inquiry) unapproved(ctx context.Context, stood approval.Stood) (Result, error) {
	if stood.Standing == approval.Over { // it ended while the person was asked
		over, err := q.o.Ledger.Look(ctx, q.ask)
		if err != nil {
			return Result{}, q.lost(ctx, err)
		}
		if over.Refusal != nil {
			return q.turnedAway(ctx, over.Refusal)
		}
		return Result{}, faultOf(ctx, errors.New("a run is over for approvals and open for calls"))
	}
	return q.refuse(ctx, q.say.Asking(q.plug.Name(), *q.plan.Approval, stood), "policy")
}

// shared gives a call that joined a question the result of the one that the yes let run.
func (q *inquiry) shared(ctx context.Context, by string) (Result, error) {
	ask := q.ask
	ask.ID, ask.Key, ask.Approval = by, "", nil
	return q.onlyRecorded(ctx, ask)
}

// question asks for a yes and waits for it. joined says that the question was open while this call waited: whoever waited
// for one question gets one result.
func (q *inquiry) question(ctx context.Context) (stood approval.Stood, joined bool, err error) {
	request := approval.Request{Agent: q.c.Agent, Run: q.run.ID, Tool: q.plug.Name(), Profile: q.plug.Profile(), Digest: q.ask.Digest,
		Facts: *q.plan.Approval, Presented: q.c.Approval}
	stood, err = q.o.Approvals.Stand(ctx, request)
	if err != nil {
		return approval.Stood{}, false, q.lost(ctx, stored("ask for an approval", err))
	}
	if stood.Standing != approval.Asked || stood.Wrong != "" {
		return stood, false, nil
	}
	answered, err := q.await(ctx, &stood.Approval)
	if err != nil {
		return approval.Stood{}, false, err
	}
	if !answered {
		return stood, true, nil
	}
	switch a := stood.Approval; a.State {
	case approval.Approved, approval.Used:
		stood.Standing = approval.Granted
	case approval.Denied:
		stood.Standing = approval.TurnedDown
	case approval.Unanswered:
		stood.Standing = approval.Silent
	default: // void: its run ended, or its profile changed
		stood.Standing = approval.Over
	}
	return stood, true, nil
}

// await waits until a question is not open any more, at most Wait; false where it still is. It asks the person at the
// client's side beside, where an operator stated that there is one.
func (q *inquiry) await(ctx context.Context, a *approval.Approval) (answered bool, err error) {
	limit := time.NewTimer(q.o.Wait)
	defer limit.Stop()
	words := time.NewTicker(telling)
	defer words.Stop()
	look := firstLook
	next := time.NewTimer(look)
	defer next.Stop()
	form, stop := q.form(ctx, a.Elicits, Question{ID: a.ID, Message: a.Message, Answers: []string{string(approval.Once), string(approval.Deny)}})
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return false, q.lost(ctx, context.Cause(ctx))
		case <-limit.C:
			return false, nil
		case <-words.C:
			q.c.Progress("waiting for a person to answer question " + a.ID)
			continue
		case got := <-form:
			form = nil
			if errors.Is(got.err, ErrComeAgain) {
				return false, ErrComeAgain
			}
			reply := q.elicited(q.c, got.answer)
			if got.err != nil || !got.asked || reply.Check() != nil { // no answer; the other ways to give one remain
				continue
			}
			_, err := q.o.Approvals.Answer(ctx, a.ID, reply)
			if err != nil && !errors.Is(err, approval.ErrNotOpen) && !errors.Is(err, approval.ErrMayNotElicit) {
				return false, q.lost(ctx, stored("store an answer", err))
			}
		case <-next.C:
			look = min(2*look, lastLook)
		}
		next.Reset(look)
		now, err := q.o.Approvals.Show(ctx, a.ID)
		if err != nil {
			return false, q.lost(ctx, stored("look at an approval", err))
		}
		if *a = now; now.State != approval.Open {
			return true, nil
		}
	}
}

// formed is what came of a form in the client.
type formed struct {
	answer string
	asked  bool
	err    error
}

// form shows a form in the client; nil, which gives nothing, where it may not or cannot.
func (q *inquiry) form(ctx context.Context, allowed bool, question Question) (<-chan formed, context.CancelFunc) {
	if !allowed || q.c.Ask == nil {
		return nil, func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	got := make(chan formed, 1)
	go func() {
		answer, asked, err := q.c.Ask(ctx, question)
		got <- formed{answer, asked, err}
	}()
	return got, stop
}

// reconcile asks the person at the client's side what happened to the effect that holds the run. settled says that they
// stated it.
func (q *inquiry) reconcile(ctx context.Context, held *ledger.Refusal) (settled bool, err error) {
	if q.asked || q.c.Ask == nil || held.Other == "" {
		return false, nil
	}
	q.asked = true
	allowed, err := q.o.Approvals.Elicits(ctx, q.c.Agent)
	if err != nil {
		return false, q.lost(ctx, stored("look whether a client asks a person", err))
	}
	bounded, stop := context.WithTimeout(ctx, q.o.Wait)
	defer stop()
	form, end := q.form(bounded, allowed, Question{ID: held.Other, Answers: []string{string(ledger.Happened), string(ledger.NotHappened), string(ledger.VerdictUnknown)},
		Message: fmt.Sprintf("%s %s was sent at %s UTC; did it happen?", held.OtherTool, held.Other, held.OtherAt.UTC().Format("15:04:05"))})
	defer end()
	if form == nil {
		return false, nil
	}
	look := time.NewTicker(lastLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, q.lost(ctx, context.Cause(ctx))
		case <-bounded.Done():
			return false, nil
		case <-look.C: // it may be stated elsewhere: on a page, by a harness, or in this form at another process
			rec, err := q.o.Rows.Call(ctx, q.c.Agent, q.run.ID, held.Other)
			if err != nil {
				return false, q.lost(ctx, stored("look at an uncertain call", err))
			}
			if rec.Verdict != nil {
				return true, nil
			}
		case got := <-form:
			if errors.Is(got.err, ErrComeAgain) {
				return false, ErrComeAgain
			}
			if got.err != nil || !got.asked {
				return false, nil
			}
			err := q.stated(ctx, q.c, q.run.ID, held.Other, got.answer)
			var field *ledger.InvalidField
			switch {
			case err == nil, errors.Is(err, ledger.ErrReconciled), errors.Is(err, ledger.ErrNotUncertain):
				return true, nil
			case errors.As(err, &field): // a client's own word that is no verdict
				return false, nil
			}
			return false, q.lost(ctx, err)
		}
	}
}

// stated keeps what a person stated of an uncertain call in a form of the client.
func (p *Pipeline) stated(ctx context.Context, c Caller, run, call, verdict string) error {
	_, err := p.o.Ledger.Reconcile(ctx, c.Agent, run, call,
		ledger.Reconciliation{Verdict: ledger.Verdict(verdict), By: ledger.By{Kind: "form", ID: "token:" + c.Token}})
	return err
}

// Answered takes what a person said to a question in a client of the caller's, where the call that asked is another
// process's, or over. Question is what Question.ID was: an approval's id or an uncertain call's. Nothing is sent for it.
// Errors: ledger.ErrNotFound and approval.ErrNotFound where it is not a question of this agent's; approval.ErrNotOpen,
// approval.ErrMayNotElicit and those of a reconciliation; ledger.ErrStore.
func (p *Pipeline) Answered(ctx context.Context, c Caller, question, answer string) error {
	a, err := p.o.Approvals.Show(ctx, question)
	switch {
	case err == nil && a.Agent != c.Agent:
		return approval.ErrNotFound
	case err == nil:
		_, err = p.o.Approvals.Answer(ctx, question, p.elicited(c, answer))
		return err
	case !errors.Is(err, approval.ErrNotFound):
		return stored("look at an approval", err)
	}
	allowed, err := p.o.Approvals.Elicits(ctx, c.Agent)
	if err != nil {
		return stored("look whether a client asks a person", err)
	}
	if !allowed {
		return approval.ErrMayNotElicit
	}
	rec, err := p.o.Rows.Call(ctx, c.Agent, "", question)
	if err != nil {
		return stored("look at an uncertain call", err)
	}
	return p.stated(ctx, c, rec.Run, rec.ID, answer)
}

// elicited is an answer that came by a form in the client.
func (p *Pipeline) elicited(c Caller, answer string) approval.Reply {
	return approval.Reply{Answer: approval.Answer(answer), Channel: approval.Elicitation, By: "token:" + c.Token}
}
