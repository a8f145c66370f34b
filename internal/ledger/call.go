// This file is one call on its way through the ledger, in the process that carries it out.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
)

// Why a dispatch was not made.
var (
	// ErrHeld says that another effect of the run is in flight or uncertain.
	ErrHeld = errors.New("another effect holds the run")
	// ErrOver says that the run ended.
	ErrOver = errors.New("the run ended")
	// ErrLate says that somebody else concluded the call.
	ErrLate = errors.New("the call is not ours any more")
)

// What ends a permit and the context of a call's work, besides the caller and this process's own end; see context.Cause.
var (
	// ErrBindingChanged says that what the call was admitted under is not in force any more.
	ErrBindingChanged = errors.New("the binding changed")
	// ErrTime says that the tool's own bound is over.
	ErrTime = errors.New("the time of the call is over")
	// ErrRunDeadline says that the run's deadline is over.
	ErrRunDeadline = errors.New("the run's deadline is over")
	// ErrStopped says that somebody stopped the call.
	ErrStopped = errors.New("the call was stopped")
	// ErrLeaseLost says that the lease of what the call works with is not ours any more.
	ErrLeaseLost = errors.New("the lease is lost")
	errSettled   = errors.New("the call is settled")
)

// Call is a call that was admitted here, or the record of one that was there before. A recorded one has no way to send.
type Call struct {
	l        *Ledger
	ask      Ask
	nonce    string
	process  string
	recorded bool
	record   Record
	binding  binding.Binding
	left     time.Duration

	work   context.Context // ends with the call; see Context
	stop   context.CancelCauseFunc
	listen func() bool // ends the listening to the caller
	began  time.Time   // before the admission was asked for

	turn    sync.Mutex // one of Dispatch and Settle at a time; guards permit, settled, failed
	permit  Permit
	settled *Settled
	failed  error

	mu      sync.Mutex // guards what follows; never held across a wait
	state   effect.State
	crossed bool // a dispatch is being committed: whether the caller may still end the call is not known yet
	gone    bool // the caller has left
	told    bool // Delivered was called
	ended   bool // it was settled, or could not be
	news    chan struct{}
}

// ID names the call; Record is the call as it was admitted or, for a recorded one, as it stands.
func (c *Call) ID() string     { return c.record.ID }
func (c *Call) Record() Record { return c.record }

// Binding is what the call was admitted under.
func (c *Call) Binding() binding.Binding { return c.binding }

// Recorded gives what is known of a call that was there before. Its answer comes from the record; it has no way to send.
func (c *Call) Recorded() (Record, bool) { return c.record, c.recorded }

// Context is the context of the call's work. It has the caller's values and ends when the caller leaves, except for an
// effect that was dispatched: that goes on. It ends with the call's time less thirty seconds, with a revocation, and when
// the call is settled; context.Cause tells which.
func (c *Call) Context() context.Context { return c.work }

// Dispatch gives the right to send. For an effect it commits the boundary first; for other calls it hands over the right
// that the admission gave. Asked again, it gives the same permit.
//
// Errors: ErrHeld, ErrOver, ErrLate, ErrBindingChanged: nothing was sent and nothing will be; ErrNotPermitted with its
// reason; ErrStore; the caller's own end. After an error the call is to be settled, mostly by NotDispatched or Fault.
func (c *Call) Dispatch(ctx context.Context) (Permit, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	if c.permit.grant != nil {
		return c.permit, nil
	}
	if c.recorded || c.settled != nil || c.failed != nil {
		return Permit{}, ErrNotPermitted
	}
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Permit{}, err
	}
	defer cancel()
	if err := c.valid(); err != nil {
		return Permit{}, errors.Join(ErrNotPermitted, err)
	}
	if c.ask.Class == effect.Effect {
		if err := c.cross(bounded); err != nil {
			return Permit{}, err
		}
	}
	c.permit = Permit{&grant{valid: c.valid, watch: c.watch}}
	return c.permit, nil
}

// cross commits the boundary. The caller may leave meanwhile; whether that ends the call is known afterwards.
func (c *Call) cross(ctx context.Context) error {
	c.mu.Lock()
	c.crossed = true
	c.mu.Unlock()
	var verdict DispatchVerdict
	err := again(ctx, func() (err error) {
		verdict, err = c.l.store.Dispatch(ctx, c.record.ID, c.nonce)
		return err
	})
	c.mu.Lock()
	c.crossed = false
	if err == nil && verdict == DispatchDone {
		c.state = effect.Dispatched
		c.mu.Unlock()
		return nil
	}
	gone := c.gone
	c.mu.Unlock()
	if gone {
		c.stop(context.Canceled)
	}
	switch {
	case err != nil: // it may have been committed all the same; settling looks
		return fault("dispatch", err)
	case verdict == DispatchHeld:
		return ErrHeld
	case verdict == DispatchOver:
		return ErrOver
	case verdict == DispatchChanged:
		return ErrBindingChanged
	}
	return ErrLate
}

// valid says why nothing may be sent now. It is local: it asks no database and no one can hold it up.
func (c *Call) valid() error {
	if err := context.Cause(c.work); err != nil {
		return err
	}
	if elapsed(c.began) >= c.left-margin { // the timer of the context's end stood still if the machine slept
		return c.overdue()
	}
	return c.l.life.valid(c.process)
}

// overdue is which of the two bounds ends the call.
func (c *Call) overdue() error {
	if c.left < c.ask.Bound+margin {
		return ErrRunDeadline
	}
	return ErrTime
}

// watch derives the context of the sending. An effect that is being sent does not end with its caller.
func (c *Call) watch(ctx context.Context) context.Context {
	if c.ask.Class == effect.Effect {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(c.work, func() { cancel(context.Cause(c.work)) })
	return ctx
}

// leave notes that the caller has left. An effect that was dispatched, or may just be, goes on.
func (c *Call) leave(cause error) {
	c.mu.Lock()
	c.gone = true
	goes := c.ask.Class != effect.Effect || (c.state == effect.Admitted && !c.crossed)
	c.mu.Unlock()
	if goes {
		c.stop(cause)
	}
}

// Settle concludes the call. It does so whether or not the caller is still there, and gives what may be shown: Settled's
// Record is what the row says now, which may be another's conclusion (Late) or without content (Withheld).
//
// An error wraps ErrStore: nothing is known to be written, nothing may be shown, and a sweep concludes the call. Settling
// again gives the first answer again.
func (c *Call) Settle(r Report) (Settled, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	switch {
	case c.recorded:
		return Settled{Late: true, Record: c.record}, fmt.Errorf("settle: %w: the call is a record", ErrLate)
	case c.settled != nil || c.failed != nil:
		return c.last(), c.failed
	}
	c.stop(errSettled) // from here on nothing can be sent, so that what is written is what was sent
	c.listen()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	settled, err := c.conclude(ctx, r)
	if err != nil {
		c.failed = fmt.Errorf("settle: %w: %w", ErrStore, err)
		c.l.o.Log.Error("a call could not be settled; a sweep concludes it", "call", c.record.ID, "error", err)
	} else {
		c.settled = &settled
	}
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.shout()
	c.l.leftFlight()
	return c.last(), c.failed
}

func (c *Call) last() Settled {
	if c.settled == nil {
		return Settled{}
	}
	return *c.settled
}

// conclude writes the end. Which state it leaves is what this process believes; where the row is still in flight and says
// otherwise, as after a dispatch in doubt, the row is right and the report is read once more against it.
func (c *Call) conclude(ctx context.Context, r Report) (settled Settled, err error) {
	c.mu.Lock()
	from, gone := c.state, c.gone
	c.mu.Unlock()
	for range 2 {
		s := r.settlement(c.ask.Class, from, c.unsent(from))
		s.Call, s.Nonce, s.Gone = c.record.ID, c.nonce, gone
		if err := anew(ctx, patient, func() (err error) {
			settled, err = c.l.store.Settle(ctx, s)
			return err
		}); err != nil {
			return Settled{}, err
		}
		if now := settled.Record.State; !settled.Late || now.Final() || now == from {
			break
		}
		from = settled.Record.State
	}
	return settled, nil
}

// unsent says that nothing can have been sent: there is no permit, or it was never opened. An effect whose boundary is
// committed counts as sent: sureness is where faults live.
func (c *Call) unsent(from effect.State) bool {
	if from == effect.Admitted {
		return true
	}
	if c.ask.Class == effect.Effect {
		return false
	}
	return !c.permit.used()
}

// Delivered says whether the answer was written to the caller's transport. It is called once, after Settle or for a
// recorded call; the mark is written soon. Where settling failed the caller heard no outcome, whatever was written to it.
func (c *Call) Delivered(handedOver bool) {
	c.turn.Lock()
	heard := handedOver && c.failed == nil
	noted := c.settled != nil && c.settled.Record.Delivery == CallerGone
	c.turn.Unlock()
	c.mu.Lock()
	again := c.told
	c.told = true
	c.mu.Unlock()
	if again {
		return
	}
	m := Mark{Call: c.record.ID, Owner: c.record.Owner, Delivery: CallerGone}
	if heard {
		m.Delivery = HandedOver
	}
	if noted && !heard { // settling wrote it; written again, it could meet the same effect that was sent again meanwhile
		c.l.forget(c.record.ID)
		return
	}
	c.l.marks.add(m)
}

// shout wakes who waits in this process for what becomes of the call.
func (c *Call) shout() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.news)
	c.news = make(chan struct{})
}

// hear is closed at the next shout.
func (c *Call) hear() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news
}

// pauses are between attempts of a step that the database did not answer.
var pauses = []time.Duration{50 * time.Millisecond, 300 * time.Millisecond}

// patient are those of an end. What it reports was done and cannot be done again, so it outlasts a database that is started
// anew; the row of a call that is not settled stays in everybody's way until its time is over.
var patient = []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second}

// again runs a step anew where the database failed: every step of the store tells by the row or its nonce whether it had
// happened before. A verdict is not a failure.
func again(ctx context.Context, step func() error) error { return anew(ctx, pauses, step) }

func anew(ctx context.Context, pauses []time.Duration, step func() error) error {
	for n := 0; ; n++ {
		err := step()
		var left *gone
		if err == nil || verdict(err) || errors.As(err, &left) || n == len(pauses) {
			return err
		}
		t := time.NewTimer(pauses[n])
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

// over says that the call has been settled here, or could not be.
func (c *Call) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}
