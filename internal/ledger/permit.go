// This file is the right to send.
package ledger

import (
	"context"
	"errors"
	"sync"
)

// ErrNotPermitted says that a permit opens nothing: it is empty, was opened before, or has gone stale.
var ErrNotPermitted = errors.New("not permitted to send")

// Permit is the right to send one call. The zero Permit opens nothing; copies share one right.
type Permit struct{ grant *grant }

// grant is what a permit and its copies share.
type grant struct {
	mu     sync.Mutex
	opened bool
	// valid says why nothing may be sent now; nil while it may. It is local and monotonic: it asks no database.
	valid func() error
	// watch derives the context of the sending: it ends on revocation, a lost lease, or the call's time.
	watch func(context.Context) context.Context
}

// Open turns the permit into the context of the sending. It succeeds once, copies included.
func (p Permit) Open(ctx context.Context) (context.Context, error) {
	if p.grant == nil {
		return nil, ErrNotPermitted
	}
	p.grant.mu.Lock()
	defer p.grant.mu.Unlock()
	if p.grant.opened {
		return nil, ErrNotPermitted
	}
	if err := p.grant.valid(); err != nil {
		return nil, errors.Join(ErrNotPermitted, err)
	}
	p.grant.opened = true
	return p.grant.watch(ctx), nil
}

// Check says whether a further input of the opened call may be sent.
func (p Permit) Check() error {
	if p.grant == nil {
		return ErrNotPermitted
	}
	if err := p.grant.valid(); err != nil {
		return errors.Join(ErrNotPermitted, err)
	}
	return nil
}

// used says whether the permit was opened.
func (p Permit) used() bool {
	if p.grant == nil {
		return false
	}
	p.grant.mu.Lock()
	defer p.grant.mu.Unlock()
	return p.grant.opened
}
