// This file has the processes, their leases, and the notices that they hand out.
package ledgertest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
)

// Register is ledger.Processes'.
func (s *Store) Register(ctx context.Context, id, _, _ string, ttl time.Duration) error {
	return s.write(ctx, "Register", func() error {
		p := s.processes[id]
		if p == nil {
			p = &process{}
			s.processes[id] = p
		}
		if p.dead {
			return fmt.Errorf("the process %s is dead; take a new id", id)
		}
		p.expires = s.now().Add(ttl)
		return nil
	})
}

// Beat is ledger.Processes'.
func (s *Store) Beat(ctx context.Context, id string, ttl time.Duration) (alive bool, err error) {
	err = s.write(ctx, "Beat", func() error {
		p := s.processes[id]
		if alive = p != nil && !p.dead; alive {
			p.expires = s.now().Add(ttl)
		}
		return nil
	})
	return alive, err
}

// Retire is ledger.Processes'.
func (s *Store) Retire(ctx context.Context, id string) error {
	return s.write(ctx, "Retire", func() error {
		if p := s.processes[id]; p != nil {
			p.dead = true
		}
		return nil
	})
}

// Now is ledger.Processes'.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.write(ctx, "Now", func() error { now = s.now(); return nil })
	return now, err
}

// Acquire is ledger.Leases'.
func (s *Store) Acquire(ctx context.Context, resource, process, call string, ttl time.Duration) (fence int64, ok bool, err error) {
	err = s.write(ctx, "Acquire", func() error {
		l, now := s.leases[resource], s.now()
		if l == nil {
			l = &lease{}
			s.leases[resource] = l
		} else if ok = l.owner == "" || l.until.Before(now) || s.dead(l.owner); !ok {
			return nil
		}
		*l = lease{fence: l.fence + 1, owner: process, call: call, until: now.Add(ttl)}
		fence, ok = l.fence, true
		return nil
	})
	return fence, ok, err
}

// Extend is ledger.Leases'.
func (s *Store) Extend(ctx context.Context, resource string, fence int64, ttl time.Duration) (ok bool, err error) {
	err = s.write(ctx, "Extend", func() error {
		l := s.leases[resource]
		if ok = l != nil && l.owner != "" && l.fence == fence; ok {
			l.until = s.now().Add(ttl)
		}
		return nil
	})
	return ok, err
}

// Release is ledger.Leases'.
func (s *Store) Release(ctx context.Context, resource string, fence int64) error {
	return s.write(ctx, "Release", func() error {
		if l := s.leases[resource]; l != nil && l.fence == fence {
			l.owner, l.call = "", ""
		}
		return nil
	})
}

// Claim is ledger.Outbox's.
func (s *Store) Claim(ctx context.Context, _ string, ttl time.Duration, limit int) (list []ledger.Notice, err error) {
	err = s.write(ctx, "Claim", func() error {
		list = nil
		for _, n := range s.notices {
			if len(list) < limit && !n.sent && !n.claimed.After(s.now()) {
				n.claimed = s.now().Add(ttl)
				list = append(list, n.Notice)
			}
		}
		return nil
	})
	return list, err
}

// Sent is ledger.Outbox's.
func (s *Store) Sent(ctx context.Context, ids []string) error {
	return s.write(ctx, "Sent", func() error {
		for _, n := range s.notices {
			if slices.Contains(ids, n.ID) {
				n.sent = true
			}
		}
		return nil
	})
}
