// This file tells live pages what changed.
package ledgerstore

import (
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// What changed since $1, at most $2 of each kind of change.
const (
	changedRuns = ` WHERE id IN (
  SELECT id FROM (SELECT id FROM runs WHERE created_at>=$1 ORDER BY created_at DESC LIMIT $2) c
  UNION SELECT id FROM (SELECT id FROM runs WHERE state='ended' AND ended_at>=$1 ORDER BY ended_at DESC LIMIT $2) e)
 ORDER BY coalesce(ended_at, created_at), id`
	changedCalls = ` WHERE t.id IN (
  SELECT id FROM (SELECT id FROM tool_calls WHERE created_at>=$1 ORDER BY created_at DESC LIMIT $2) c
  UNION SELECT id FROM (SELECT id FROM tool_calls WHERE ended_at>=$1 ORDER BY ended_at DESC LIMIT $2) e
  UNION SELECT id FROM (SELECT id FROM tool_calls WHERE state IN ('admitted','dispatched') AND dispatched_at>=$1 LIMIT $2) d
  UNION SELECT call_id FROM (SELECT call_id FROM reconciliations WHERE at>=$1 LIMIT $2) x)
 ORDER BY coalesce(t.ended_at, t.dispatched_at, t.created_at), t.id`
)

// Changes lists the runs and calls that were created, dispatched, ended or reconciled since a time of the database's
// clock: of each at most the newest 1,000, oldest first. Calls come without arguments, results and evidence, and
// runs without their titles.
func (s *Store) Changes(ctx context.Context, from time.Time) (runs []ledger.Run, calls []ledger.Record, now time.Time, err error) {
	us := from.UnixMicro()
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		runs, calls = nil, nil
		at, err := tx.Now()
		if err != nil {
			return err
		}
		now = clock(at)
		if err := tx.All("SELECT "+runColumns+" FROM runs"+changedRuns, []any{us, mostListed}, func(scan func(...any) error) error {
			r, err := scanRun(scan)
			runs = append(runs, r.Run)
			return err
		}); err != nil {
			return err
		}
		calls, err = listCalls(tx, callTables+changedCalls, us, mostListed)
		return err
	})
	return newest(runs), newest(calls), now, err
}

// newest keeps the end of a list.
func newest[T any](list []T) []T {
	return list[max(0, len(list)-mostListed):]
}
