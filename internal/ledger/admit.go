// This file lets calls in: it asks the store, and waits where something in flight is in the way.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/rowid"
)

// Progress is what a call waits for, told to its caller every five seconds.
type Progress struct {
	// For is "same" (this very call is in flight already), "twin" (the same effect, sent again without a key), or "hold"
	// (another effect of the run).
	For string
	// Call and Tool are what is waited for. Since is how long it has been waited.
	Call, Tool string
	Since      time.Duration
}

const (
	telling   = 5 * time.Second       // between two words to a waiting caller
	firstLook = 50 * time.Millisecond // then twice as long each time
	lastLook  = time.Second           // the longest between two looks at a row that somebody else will change
)

// Admit lets a call in, or finds what became of it before. waiting, which may be nil, is called now and then while
// something in flight is in the way; it must not block.
//
// A fresh call is the caller's to carry out and must be settled. A recorded one ([Call.Recorded]) is answered from its
// record. Both must be told whether the answer was delivered.
//
// Errors: *Refusal; ErrNotFound where the run is not this agent's; ErrStore, ErrSilent, ErrClosing for faults; the cause
// of ctx where the caller left, in which case nothing will be sent.
func (l *Ledger) Admit(ctx context.Context, a Ask, waiting func(Progress)) (*Call, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if a.ID == "" {
		a.ID = rowid.New("call")
	}
	if waiting == nil {
		waiting = func(Progress) {}
	}
	adm := Admission{Ask: a, Nonce: rowid.New("nonce")}
	started := time.Now()
	for {
		process, err := l.life.await(ctx, l.stopped)
		if err != nil {
			return nil, err
		}
		adm.Process = process
		began := time.Now()
		got, err := l.admit(ctx, adm)
		if err != nil {
			return nil, err
		}
		rec := got.Record
		switch {
		case got.Kind == Fresh:
			return l.fresh(ctx, adm, got, began)
		case got.Kind == TwinFinal, got.Kind == Repeat && rec.State.Final():
			return l.answered(ctx, got)
		case got.Kind == Repeat:
			_, err = l.await(ctx, rec, Progress{For: "same"}, 0, waiting, func(r Record) bool { return r.State.Final() })
		case got.Kind == WaitFor:
			w := Progress{For: "hold", Since: time.Since(started)}
			over := func(r Record) bool { return r.State.Final() }
			if got.Twin {
				w.For, over = "twin", func(r Record) bool { return r.State.Final() && r.Delivery != Waiting }
			}
			var met bool
			if met, err = l.await(ctx, rec, w, max(l.o.Wait-w.Since, 1), waiting, over); err == nil && !met {
				return nil, l.unfinished(ctx, a, w.For, rec)
			}
		default:
			err = fmt.Errorf("admit: %w: the store answered with kind %d", ErrStore, got.Kind)
		}
		if err != nil && !errors.Is(err, ErrNotFound) { // a row that is gone is in nobody's way
			return nil, err
		}
	}
}

// check names what is wrong with an Ask. Whoever asks has made it, so this is a fault of ours and not of a model.
func (a Ask) check() error {
	for _, f := range []struct {
		name string
		bad  bool
	}{
		{"Run", a.Run == ""}, {"Agent", a.Agent == ""}, {"Audience", a.Audience == ""}, {"Tool", a.Tool == ""},
		{"Capability", a.Capability == ""}, {"Digest", len(a.Digest) == 0}, {"Bound", a.Bound <= 0},
		{"Class", a.Class != effect.Query && a.Class != effect.Observation && a.Class != effect.Effect},
		{"Key", a.Key != "" && !goodKey(a.Key)},
	} {
		if f.bad {
			return fmt.Errorf("admit: the field %s of the ask is missing or not valid", f.name)
		}
	}
	return nil
}

// goodKey: 8 to 128 printable characters.
func goodKey(key string) bool {
	n := 0
	for _, r := range key {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return false
		}
		n++
	}
	return n >= 8 && n <= 128
}

// admit is one admission. Where the database failed and the caller has left meanwhile, it takes back what may have
// happened, so that nothing is left in flight that nobody carries out.
func (l *Ledger) admit(ctx context.Context, adm Admission) (Admitted, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Admitted{}, err
	}
	defer cancel()
	var got Admitted
	tried := false
	err = again(bounded, func() (err error) {
		if tried && ctx.Err() != nil {
			return &gone{context.Cause(ctx)}
		}
		tried = true
		got, err = l.store.Admit(bounded, adm)
		return err
	})
	var left *gone
	switch {
	case errors.As(err, &left):
		l.takeBack(bounded, adm)
		return Admitted{}, left.cause
	case err != nil && errors.Is(fault("admit", err), ErrStore):
		l.takeBack(bounded, adm)
	}
	return got, fault("admit", err)
}

// takeBack concludes an admission that may or may not have happened. It is no matter if it cannot: the row is swept then.
func (l *Ledger) takeBack(ctx context.Context, adm Admission) {
	from, _ := effect.Next(adm.Class, "", effect.Admit)
	s := Cancelled().settlement(adm.Class, from, true)
	s.Call, s.Nonce, s.Gone = adm.ID, adm.Nonce, true
	err := again(ctx, func() error {
		_, err := l.store.Settle(ctx, s)
		return err
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		l.o.Log.Warn("an admission in doubt is left to a sweep", "call", adm.ID, "error", err)
	}
}

// fresh makes a call that is ours to carry out. A caller that has left by now has spent its unit, and nothing is sent.
func (l *Ledger) fresh(ctx context.Context, adm Admission, got Admitted, began time.Time) (*Call, error) {
	c := &Call{l: l, ask: adm.Ask, nonce: adm.Nonce, process: adm.Process, record: got.Record, binding: got.Binding,
		left: got.Left, began: began, state: got.Record.State, news: make(chan struct{})}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	work, release := context.WithDeadlineCause(work, began.Add(c.left-margin), c.overdue())
	c.work, c.stop = work, func(cause error) { stop(cause); release() }
	if !l.enter(c) {
		stop(ErrClosing)
	}
	c.listen = context.AfterFunc(ctx, func() { c.leave(context.Cause(ctx)) })
	if ctx.Err() == nil {
		return c, nil
	}
	c.leave(context.Cause(ctx))
	_, err := c.Settle(Cancelled())
	c.Delivered(false)
	return nil, errors.Join(context.Cause(ctx), err)
}

// answered is a call that was there before. Whoever leaves without its answer may have it again.
func (l *Ledger) answered(ctx context.Context, got Admitted) (*Call, error) {
	work, stop := context.WithCancelCause(ctx)
	c := &Call{l: l, recorded: true, record: got.Record, binding: got.Record.Binding, work: work, stop: stop, news: make(chan struct{})}
	stop(errSettled)
	if ctx.Err() != nil {
		if got.Kind == TwinFinal { // the store has made its delivery ours
			c.Delivered(false)
		}
		return nil, context.Cause(ctx)
	}
	return c, nil
}

// gone says that the caller left between two attempts.
type gone struct{ cause error }

func (g *gone) Error() string { return "the caller left: " + g.cause.Error() }

// unfinished refuses a call whose patience is over. The refusal is kept like any other.
func (l *Ledger) unfinished(ctx context.Context, a Ask, what string, other Record) error {
	r := &Refusal{Code: "earlier_call_unfinished", Run: a.Run,
		Facts: Facts{Other: other.ID, OtherTool: other.Tool, OtherAt: other.Created, Reason: what}}
	bounded, cancel, err := within(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	fact := "the same effect was still in flight"
	if what == "hold" {
		fact = "another effect of the run was still in flight"
	}
	a.ID = "" // the id is free again
	if r.Call, err = l.store.Refuse(bounded, a, r.Code, []Reason{{Stage: "admission", Fact: a.Refused(r.Code, fact), Ref: other.ID}}, a.Worded(r)); err != nil {
		return fault("refuse", err)
	}
	return r
}

// Refuse keeps a refusal that was decided before admission (arguments, policy, approvals) with its text. It gives the
// id under which it is kept; empty where it was only counted. Errors: ErrNotFound, ErrStore, the caller's own end.
func (l *Ledger) Refuse(ctx context.Context, a Ask, code string, why []Reason, result []byte) (string, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return "", err
	}
	defer cancel()
	id, err := l.store.Refuse(bounded, a, code, why, result)
	return id, fault("refuse", err)
}

// Look judges an Ask without a lock; see Calls.
func (l *Ledger) Look(ctx context.Context, a Ask) (Looked, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Looked{}, err
	}
	defer cancel()
	got, err := l.store.Look(bounded, a)
	return got, fault("look ahead", err)
}
