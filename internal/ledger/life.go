// This file is whether this process may send. The others learn of its death from its row; it learns of it by itself,
// from how long ago the last good sign began, since a process that was frozen or cut off cannot be told.
package ledger

import (
	"context"
	"sync"
	"time"
)

// life is the life of this process as the ledger's others see it. A process that was dead lives on under a new id, and
// what it was permitted under the old one is over.
type life struct {
	ttl  time.Duration
	over func(cause error) // called when what was permitted so far has gone stale

	mu    sync.Mutex
	id    string        // empty: not registered
	began time.Time     // when the last good sign began, before the database was asked
	sign  chan struct{} // closed at the next good sign, or when there is no hope of one soon
	bad   int           // signs in a row that the database did not take
	lapse *time.Timer   // fires when valid ends
}

func newLife(ttl time.Duration, over func(error)) *life {
	return &life{ttl: ttl, over: over, sign: make(chan struct{})}
}

// reach is how long after the beginning of a good sign this process may send: a quarter of its TTL stays for the clock's
// drift and for what is under way.
func (f *life) reach() time.Duration { return f.ttl / 4 * 3 }

// good notes a sign of life that began at a time, under an id that may be new.
func (f *life) good(id string, began time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id, f.began, f.bad = id, began, 0
	close(f.sign)
	f.sign = make(chan struct{})
	if f.lapse != nil {
		f.lapse.Stop()
	}
	f.lapse = time.AfterFunc(f.reach()-elapsed(began), func() {
		if f.valid(id) != nil {
			f.over(ErrSilent)
		}
	})
}

// hopeless is after how many bad signs in a row nobody waits for a good one.
const hopeless = 2

// failed notes a sign of life that the database did not take.
func (f *life) failed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bad++; f.bad == hopeless {
		close(f.sign)
		f.sign = make(chan struct{})
	}
}

// ended says that this process is dead for the others, or ends.
func (f *life) ended() {
	f.mu.Lock()
	f.id = ""
	if f.lapse != nil {
		f.lapse.Stop()
	}
	f.mu.Unlock()
	f.over(ErrSilent)
}

// name is the id of this process; empty while it has none.
func (f *life) name() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.id
}

// valid says whether what was permitted under an id may still be sent.
func (f *life) valid(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.id == "" || f.id != id || elapsed(f.began) >= f.reach() {
		return ErrSilent
	}
	return nil
}

// await gives the id of this process once it may send. It waits at most for bound, and not at all where the database has
// refused the last signs of life: a full disk does not mend itself in the time of a call.
func (f *life) await(ctx context.Context, stopped <-chan struct{}) (string, error) {
	var patience <-chan time.Time
	for {
		select {
		case <-stopped:
			return "", ErrClosing
		default:
		}
		f.mu.Lock()
		id, sign, bad := f.id, f.sign, f.bad
		f.mu.Unlock()
		if id != "" && f.valid(id) == nil {
			return id, nil
		}
		if bad >= hopeless {
			return "", ErrSilent
		}
		if patience == nil {
			t := time.NewTimer(bound)
			defer t.Stop()
			patience = t.C
		}
		select {
		case <-sign:
		case <-patience:
			return "", ErrSilent
		case <-stopped:
			return "", ErrClosing
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// elapsed is how long ago t was, by whichever of the two clocks says more: the monotonic one stands still while a machine
// sleeps, the wall clock may be set back.
func elapsed(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}
