// This file has the offers.
package ledgertest

import (
	"context"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
)

// Offer is ledger.Offers'.
func (s *Store) Offer(ctx context.Context, agent, audience string, tools []ledger.Tool) (list []binding.Resolution, err error) {
	err = s.write(ctx, "Offer", func() error {
		list = nil
		for _, t := range tools {
			r, found := s.resolved(agent, t.Capability, t.Name, t.Profile)
			if !found {
				return ledger.ErrNotFound
			}
			list = append(list, r)
			if r.Off != "" {
				delete(s.offers, listed{audience, t.Name})
			} else {
				s.offers[listed{audience, t.Name}] = r.Binding
			}
		}
		return nil
	})
	return list, err
}

// Resolve is ledger.Offers'.
func (s *Store) Resolve(ctx context.Context, agent string, t ledger.Tool) (out binding.Resolution, err error) {
	err = s.write(ctx, "Resolve", func() error {
		r, found := s.resolved(agent, t.Capability, t.Name, t.Profile)
		if !found {
			return ledger.ErrNotFound
		}
		out = r
		return nil
	})
	return out, err
}

// Epoch is ledger.Offers'.
func (s *Store) Epoch(ctx context.Context) (n int64, err error) {
	err = s.write(ctx, "Epoch", func() error { n = s.epoch; return nil })
	return n, err
}
