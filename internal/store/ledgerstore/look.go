// This file looks ahead: the judgement of an admission without its counting, in one read.
package ledgerstore

import (
	"context"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Look judges an Ask as Admit would, up to the hold and the twin. It locks and changes nothing.
func (s *Store) Look(ctx context.Context, a ledger.Ask) (ledger.Looked, error) {
	var out ledger.Looked
	var found *callRow
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		out, found = ledger.Looked{}, nil
		g, err := s.groundOf(tx, a)
		if err != nil {
			return err
		}
		if !g.agent {
			return ledger.ErrNotFound
		}
		if g.resolution.Off == "" {
			out.Binding = g.resolution.Binding
		}
		if found, out.Refusal, err = same(tx, a, g); err != nil || found != nil || out.Refusal != nil {
			return err
		}
		run, err := runOf(tx, a.Agent, a.Run)
		if err != nil {
			return err
		}
		if out.Refusal = offered(a, g); out.Refusal != nil {
			return nil
		}
		if reason, at, over := overNow(run); over {
			out.Refusal = refusal(a, "run_over", ledger.Facts{Reason: reason, At: at})
			return nil
		}
		if run.Calls >= run.MaxCalls {
			out.Refusal = callLimit(a, run.MaxCalls)
			return nil
		}
		if g.resolution.Binding.Class != effect.Effect {
			return nil
		}
		way, err := met(tx, a, run.Hold, run.now)
		out.Held = way.refused
		switch {
		case way.answer != nil:
			found, out.Twin = way.answer, true
		case way.twin: // in flight, or its answer is on its way and nobody knows yet whether it arrives
			found, out.Twin = way.wait, true
		}
		return err
	})
	if err != nil || found == nil {
		return out, err
	}
	rec, err := s.record(found)
	out.Same = &rec
	return out, err
}

// callLimit says that a run's calls are used.
func callLimit(a ledger.Ask, most int64) *ledger.Refusal {
	return refusal(a, "run_call_limit", ledger.Facts{Used: most, Limit: most})
}
