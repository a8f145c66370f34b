// This file is what a server does about its keys while it runs.
package keystore

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Leases give one piece of work to one process. They are the ledger's.
type Leases interface {
	Acquire(ctx context.Context, resource, process, call string, ttl time.Duration) (fence int64, ok bool, err error)
	Extend(ctx context.Context, resource string, fence int64, ttl time.Duration) (bool, error)
	Release(ctx context.Context, resource string, fence int64) error
}

const (
	resealing = "keys-reseal"
	// resealTTL is how long the work of a process that died stays with it.
	resealTTL = time.Minute
)

// Run looks each second whether another process changed the keyset, and finishes rotations, one process at a time. It
// ends with the context, and gives its error.
func (s *Store) Run(ctx context.Context, leases Leases, process string) error {
	var work sync.WaitGroup
	defer work.Wait()
	done := make(chan struct{}, 1)
	busy, bad := false, false
	var next time.Duration // by the clock: no rotation is finished before it
	for {
		if err := s.Look(); (err != nil) != bad {
			if bad = err != nil; bad {
				s.o.Log.Error("keys: the keyset cannot be loaded; what is in memory goes on", "err", err)
			} else {
				s.o.Log.Info("keys: the keyset is loaded again")
			}
		}
		if !busy && len(s.keys.Keys()) > 1 && s.clock() >= next {
			busy = true
			work.Go(func() {
				s.background(ctx, leases, process)
				done <- struct{}{}
			})
		}
		tick := time.NewTimer(lookEvery)
		select {
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		case <-done:
			tick.Stop()
			if busy = false; len(s.keys.Keys()) > 1 {
				next = s.clock() + resealTTL
			}
		case <-tick.C:
		}
	}
}

func (s *Store) background(ctx context.Context, leases Leases, process string) {
	fence, ok, err := leases.Acquire(ctx, resealing, process, "", resealTTL)
	if err != nil || !ok {
		return // another process does it, or this one will be asked again
	}
	defer func() {
		_ = leases.Release(context.WithoutCancel(ctx), resealing, fence) // it ends by itself
	}()
	s.o.Log.Info("keys: re-sealing under the new key", "key", s.keys.Primary())
	p, err := s.Finish(ctx, Finishing{Held: func(ctx context.Context) (bool, error) { return leases.Extend(ctx, resealing, fence, resealTTL) }})
	switch {
	case err == nil && p.Dropped:
		s.o.Log.Info("keys: everything is under the new key, the old ones are dropped", "key", p.Primary, "resealed", p.Resealed, "damaged", p.Damaged)
	case errors.Is(err, ErrDamaged):
		s.o.Log.Error("keys: old keys stay; see `wayleave doctor`", "err", err)
	case err != nil && ctx.Err() == nil:
		s.o.Log.Warn("keys: re-sealing stopped; it goes on by itself", "err", err, "resealed", p.Resealed)
	}
}
