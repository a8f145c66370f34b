// This file carries out an admitted call: the capability's work, how it ended, and the answer.
package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
)

// work is an admitted call under way.
type work struct {
	*inquiry
	call *ledger.Call

	mu    sync.Mutex // guards what follows
	gated error      // why the right to send was refused; nil where it was not
	held  *ledger.Refusal
}

// carryOut does a call's work. A caller that leaves gets no result; what goes on after it (an effect that was dispatched)
// is settled all the same.
func (q *inquiry) carryOut(ctx context.Context, call *ledger.Call) (Result, error) {
	type ended struct {
		result Result
		err    error
	}
	done := make(chan ended, 1)
	w := &work{inquiry: q, call: call}
	go func() {
		result, err := w.finish(ctx)
		done <- ended{result, err}
	}()
	select {
	case e := <-done:
		return e.result, e.err
	case <-ctx.Done():
		go func() {
			e := <-done
			if e.err == nil {
				e.result.Delivered(false)
				return
			}
			if f := faultOf(context.Background(), e.err); f.Code != codeCancelled { // no door is there to log it
				q.o.Log.Error("a call failed after its caller had left", "call", call.ID(), "tool", q.plug.Name(), "code", f.Code, "error", f.Err)
			}
		}()
		f := faultOf(ctx, ctx.Err())
		f.Call, f.Run = call.ID(), q.run.ID
		return Result{}, f
	}
}

// finish does the work, settles the call and makes the answer. ctx is the caller's; the work has the call's own.
func (w *work) finish(ctx context.Context) (Result, error) {
	done, err := w.capability()
	report, own := w.report(done, err)
	settled, failed := w.call.Settle(report)
	if failed != nil {
		w.call.Delivered(false)
		return Result{}, w.fault(ctx, failed)
	}
	rec := settled.Record
	switch {
	case settled.Withheld:
		own = worded(w.say.Withheld(rec, settled.Now))
	case settled.Late: // somebody else concluded it: what they wrote is what is so
		return w.fromRecord(w.call, rec, "")
	case own.failed != nil:
		w.call.Delivered(false)
		return Result{}, w.fault(ctx, own.failed)
	}
	out := w.result(own.Stored.agent(own.failure), idsOf(rec))
	if own.image != nil {
		out.Content = append(out.Content, *own.image)
	}
	out.Code, out.Output, out.Delivered = own.code, own.Output, w.call.Delivered
	out.Stale = settled.Withheld
	return out, nil
}

// fault is an execution failure of this call.
func (w *work) fault(ctx context.Context, err error) *Fault {
	f := faultOf(ctx, err)
	f.Call, f.Run = w.call.ID(), w.inquiry.run.ID
	return f
}

// capability runs the capability's own part.
func (w *work) capability() (done Done, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = w.panicked("run", r)
		}
	}()
	return w.args.Run(w.call.Context(), w.where(w.call.Binding(), w.call.ID()), w.gate)
}

// panicked logs a panic of a capability without what it panicked with, which may be a value of the call.
func (q *inquiry) panicked(doing string, value any) error {
	q.o.Log.Error("a capability panicked", "tool", q.plug.Name(), "doing", doing, "panic", fmt.Sprintf("%T", value), "stack", string(debug.Stack()))
	return fmt.Errorf("a panic of %s", q.plug.Name())
}

// where is the call's place.
func (q *inquiry) where(b binding.Binding, call string) Where {
	return Where{Agent: q.c.Agent, Slug: q.c.Slug, Run: q.run.ID, Conversation: q.run.Conversation, Call: call, Binding: b, Say: q.say}
}

// gate gives the right to send. Where another effect of the run is in flight it waits for that one's end.
func (w *work) gate(ctx context.Context) (ledger.Permit, error) {
	began := time.Now()
	for {
		permit, err := w.call.Dispatch(ctx)
		if !errors.Is(err, ledger.ErrHeld) || time.Since(began) >= w.o.Wait {
			return permit, w.refusedAt(err, nil)
		}
		held, err2 := w.holder(ctx)
		if err2 != nil || held != nil {
			return permit, w.refusedAt(errors.Join(err, err2), held)
		}
		pause := time.NewTimer(lastLook)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return permit, w.refusedAt(context.Cause(ctx), nil)
		}
	}
}

// refusedAt remembers why the right to send was not given.
func (w *work) refusedAt(err error, held *ledger.Refusal) error {
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gated, w.held = err, held
	return err
}

// holder looks at the effect that holds the run: a refusal where its outcome is unknown, nil where it is worth waiting.
func (w *work) holder(ctx context.Context) (*ledger.Refusal, error) {
	run, err := w.o.Ledger.NamedRun(ctx, w.c.Agent, w.inquiry.run.ID)
	if err != nil || run.Hold == "" {
		return nil, err
	}
	other, err := w.o.Rows.Call(ctx, w.c.Agent, w.inquiry.run.ID, run.Hold)
	if err != nil || other.State != effect.Uncertain {
		return nil, err
	}
	return &ledger.Refusal{Code: "effect_uncertain", Run: w.inquiry.run.ID, Facts: ledger.Facts{Other: other.ID, OtherTool: other.Tool, OtherAt: other.Dispatched}}, nil
}

// answer is what a call is answered with, if it is settled as reported.
type answer struct {
	Stored
	failure error
	code    string
	image   *agenttool.Part
	failed  error // an execution failure: there is no answer
}

// worded is an answer of ours.
func worded(e *observation.Error) answer {
	return answer{Stored: Stored{Text: e.Error(), Structured: e.Result().Structured}, failure: e, code: e.Code}
}

// report says how the work ended, and what is answered if it is settled so.
func (w *work) report(done Done, err error) (ledger.Report, answer) {
	w.mu.Lock()
	gated, held := w.gated, w.held
	w.mu.Unlock()
	var e *observation.Error
	if gated != nil && w.ask.Class == effect.Effect {
		e = w.notLetThrough(gated, held)
	}
	var own answer
	var make func(code string, result []byte, seen ...ledger.Evidence) ledger.Report
	switch {
	case e != nil:
		own, make = worded(e), ledger.NotDispatched
	case gated != nil:
		return w.broken(gated)
	case err != nil:
		return w.broken(err)
	default:
		own, make = answerOf(done)
	}
	kept, err := own.Encode()
	if err != nil {
		return w.broken(err)
	}
	return make(own.code, kept, done.Evidence...).Because(done.Why), own
}

// answerOf is the answer of work that ended, and the report that goes with it.
func answerOf(done Done) (answer, func(string, []byte, ...ledger.Evidence) ledger.Report) {
	a := answer{Stored: Stored{Text: observation.Fit(done.Result.Text()), Structured: done.Result.Structured, Output: done.Output, Image: done.Image},
		failure: done.Result.Failure}
	if a.failure != nil {
		a.code, a.Output = done.Code, nil
	}
	if len(done.Result.Content) > 1 {
		a.image = &done.Result.Content[1]
	}
	switch {
	case done.Outcome == effect.OutcomeUncertain:
		return a, ledger.Uncertain
	case done.Outcome == effect.NotDispatched:
		return a, ledger.NotDispatched
	case done.Outcome == effect.InputDispatched:
		return a, ledger.InputDispatched
	case a.failure != nil:
		return a, ledger.ProviderError
	}
	return a, func(_ string, kept []byte, seen ...ledger.Evidence) ledger.Report { return ledger.Done(kept, seen...) }
}

// notLetThrough words why an effect did not get the right to send; nil where that is a fault and no answer.
func (w *work) notLetThrough(why error, held *ledger.Refusal) *observation.Error {
	if held == nil {
		return w.say.Undispatched(w.call.Record(), why)
	}
	e := w.say.Refusal(w.plug.Name(), held)
	e.Call, e.Run, e.Outcome = w.call.ID(), w.inquiry.run.ID, effect.NotDispatched
	return e
}

// broken reports work that ended without an answer: the caller left, the run or the binding ended it, or a fault.
func (w *work) broken(err error) (ledger.Report, answer) {
	cause := context.Cause(w.call.Context())
	if cause == nil {
		cause = err
	}
	failed := errors.Join(cause, err)
	switch {
	case errors.Is(cause, ledger.ErrBindingChanged) && w.ask.Class != effect.Effect:
		// What came back, if anything did, is dropped when this is settled.
		return ledger.ProviderError("binding_changed", nil), answer{failed: failed}
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, ledger.ErrStopped):
		return ledger.Cancelled(), answer{failed: &Fault{Code: codeCancelled, Text: "the call was stopped", Err: failed}}
	}
	f := faultOf(context.Background(), failed)
	return ledger.Fault(f.Code), answer{failed: f}
}
