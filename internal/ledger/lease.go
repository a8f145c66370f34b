// This file gives one resource, such as a browser session, to one operation of one process.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrBusy says that a resource stayed with somebody else for as long as was waited.
var ErrBusy = errors.New("the resource is in use")

// Lease is a resource that is ours for a time. What is written under it carries its fence, and whoever keeps such rows
// refuses a fence below the one it has seen: a late holder changes nothing.
type Lease struct {
	l        *Ledger
	c        *Call
	resource string
	process  string
	fence    int64

	mu    sync.Mutex // guards what follows
	began time.Time
	ttl   time.Duration
	slack time.Duration // before its end, in which nothing is begun any more
	over  bool
}

// Lease takes a resource, waiting for it at most Options.Wait. For a call the lease ends with the call's time; without
// one it lasts ttl and is to be extended. A call takes its leases before it dispatches.
//
// Errors: ErrBusy; ErrStore, ErrSilent, ErrClosing; the caller's own end or the call's.
func (l *Ledger) Lease(ctx context.Context, resource string, c *Call, ttl time.Duration) (*Lease, error) {
	patience := time.NewTimer(l.o.Wait)
	defer patience.Stop()
	look := firstLook
	for {
		h := &Lease{l: l, c: c, resource: resource, ttl: ttl}
		ok, err := h.acquire(ctx)
		if err != nil {
			return nil, err
		}
		if ok {
			return h, nil
		}
		next := time.NewTimer(look)
		select {
		case <-next.C:
			look = min(2*look, lastLook)
		case <-patience.C:
			next.Stop()
			return nil, ErrBusy
		case <-l.stopped:
			next.Stop()
			return nil, ErrClosing
		case <-ctx.Done():
			next.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

func (h *Lease) acquire(ctx context.Context) (bool, error) {
	call := ""
	if h.c != nil {
		if err := h.c.valid(); err != nil {
			return false, err
		}
		h.process, call, h.ttl, h.slack = h.c.process, h.c.record.ID, h.c.left-elapsed(h.c.began), margin
	} else {
		h.slack = h.ttl / 4
		var err error
		if h.process, err = h.l.life.await(ctx, h.l.stopped); err != nil {
			return false, err
		}
	}
	if h.ttl <= 0 {
		return false, fmt.Errorf("lease %s: give a time to live", h.resource)
	}
	bounded, cancel, err := within(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	h.began = time.Now()
	var ok bool
	h.fence, ok, err = h.l.store.Acquire(bounded, h.resource, h.process, call, h.ttl)
	return ok, fault("lease "+h.resource, err)
}

// Fence grows each time the resource changes hands.
func (h *Lease) Fence() int64 { return h.fence }

// Valid says why nothing may be done under the lease now; nil while something may. It is local.
func (h *Lease) Valid() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || elapsed(h.began) >= h.ttl-h.slack {
		return ErrLeaseLost
	}
	return h.l.life.valid(h.process)
}

// Extend makes the lease last ttl from now on. ErrLeaseLost: somebody else has it, and the call's permit is over.
func (h *Lease) Extend(ctx context.Context, ttl time.Duration) error {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	began := time.Now()
	ok, err := h.l.store.Extend(bounded, h.resource, h.fence, ttl)
	if err != nil {
		return fault("extend "+h.resource, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if ok && !h.over {
		h.began, h.ttl, h.slack = began, ttl, ttl/4
		return nil
	}
	h.over = true
	if h.c != nil {
		h.c.stop(ErrLeaseLost)
	}
	return ErrLeaseLost
}

// Release gives the resource back, whether or not the caller is still there. A lease that cannot be released ends with
// its time.
func (h *Lease) Release() {
	h.mu.Lock()
	released := h.over
	h.over = true
	h.mu.Unlock()
	if released {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if err := again(ctx, func() error { return h.l.store.Release(ctx, h.resource, h.fence) }); err != nil {
		h.l.o.Log.Warn("a lease is left to its end", "resource", h.resource, "error", err)
	}
}
