// This file waits for a row that somebody else will change, in this process or another.
package ledger

import (
	"context"
	"time"
)

// await looks at a call until over says so, and then gives true; false when patience (zero: no end) is over first. It
// sweeps the call as it goes, so that a dead owner ends it. Errors: ErrNotFound, ErrStore, ErrClosing, the caller's end.
func (l *Ledger) await(ctx context.Context, rec Record, p Progress, patience time.Duration, tell func(Progress), over func(Record) bool) (bool, error) {
	began := time.Now()
	p.Call, p.Tool = rec.ID, rec.Tool
	before := p.Since
	var limit <-chan time.Time
	if patience > 0 {
		t := time.NewTimer(patience)
		defer t.Stop()
		limit = t.C
	}
	words := time.NewTicker(telling)
	defer words.Stop()
	look := firstLook
	next := time.NewTimer(look)
	defer next.Stop()
	swept := began
	for {
		news := l.news(rec.ID)
		if !rec.State.Final() && time.Since(swept) >= lastLook {
			swept = time.Now()
			if err := l.sweepOne(ctx, rec.ID); err != nil {
				return false, err
			}
		}
		now, err := l.read(ctx, rec)
		if err != nil {
			return false, err
		}
		if rec = now; over(rec) {
			return true, nil
		}
		select {
		case <-next.C:
			look = min(2*look, lastLook)
			next.Reset(look)
		case <-news:
		case <-words.C:
			p.Since = before + time.Since(began)
			tell(p)
		case <-limit:
			return false, nil
		case <-l.stopped:
			return false, ErrClosing
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

func (l *Ledger) sweepOne(ctx context.Context, call string) error {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	_, err = l.store.SweepCall(bounded, call)
	return fault("sweep a call", err)
}

func (l *Ledger) read(ctx context.Context, rec Record) (Record, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Record{}, err
	}
	defer cancel()
	now, err := l.store.Call(bounded, rec.Agent, rec.Run, rec.ID)
	return now, fault("look at a call", err)
}

// news is closed when a call of this process changes; nil, which never is, for calls of others.
func (l *Ledger) news(call string) <-chan struct{} {
	l.mu.Lock()
	c := l.calls[call]
	l.mu.Unlock()
	if c == nil {
		return nil
	}
	return c.hear()
}
