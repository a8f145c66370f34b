// This file sweeps: it concludes what nobody carries on. Any process may do it at any time; whoever changes a row first is
// right, and doing it twice changes nothing.
package ledgerstore

import (
	"context"
	"errors"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/reasons"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// theDead are the processes that somebody called dead. It never changes back, so a guard may read it.
const theDead = "(SELECT id FROM processes WHERE dead=1)"

// What a sweep looks for. Where there is nothing it has asked a few small indexes.
const (
	askAbandoned = `SELECT id FROM tool_calls WHERE state IN ('admitted','dispatched') AND owner IN ` + theDead + `
 UNION ALL SELECT id FROM tool_calls WHERE state IN ('admitted','dispatched') AND until<$1 LIMIT $2`
	askUndelivered = `SELECT id FROM tool_calls WHERE delivery=0 AND state<>'refused' AND state IN ('succeeded','failed','uncertain')
 AND owner IN ` + theDead + ` LIMIT $1`
	unanswered, unused = "(state='open' AND expires_at<=$1)", "(state='approved' AND good_until<=$1)"
	askApprovals       = "SELECT id FROM approvals WHERE state IN ('open','approved') AND (" + unanswered + " OR " + unused + ") LIMIT $2"
	askPages           = "SELECT id FROM kept_pages WHERE body IS NOT NULL AND expires_at<=$1 LIMIT $2"
)

var askRunsOver = "SELECT id FROM runs WHERE state='open' AND " + past("$1") + " ORDER BY deadline LIMIT $2"

// Sweep calls processes dead that gave no sign, concludes calls in flight of the dead or past their time, gives up
// deliveries of the dead, ends runs past their time, and lets go of what was kept long enough. It says how many calls it
// concluded; after an error, how many so far.
func (s *Store) Sweep(ctx context.Context, retention ledger.Retention) (int, error) {
	if err := s.callDead(ctx); err != nil {
		return 0, err
	}
	s.point("sweep.after_kill")
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	us := now.UnixMicro()
	concluded := 0
	ids, err := s.db.IDs(ctx, askAbandoned, us, sweptAtOnce)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		done, err := s.conclude(ctx, id)
		if err != nil {
			return concluded, err
		}
		if done {
			concluded++
		}
	}
	for _, step := range []func(context.Context, int64) error{s.giveUpDeliveries, s.endRuns, s.expireApprovals, s.dropPages} {
		if err := step(ctx, us); err != nil {
			return concluded, err
		}
	}
	return concluded, s.keeper.Tidy(ctx, us, retention)
}

// sweptAtOnce is how many rows of a kind a sweep looks at; the next one takes the rest.
const sweptAtOnce = 1000

// callDead says of every process whose time is over that it is dead.
func (s *Store) callDead(ctx context.Context) error {
	ids, err := s.db.IDs(ctx, "SELECT id FROM processes WHERE dead=0 AND expires_at<now_us()")
	if err != nil || len(ids) == 0 { // most sweeps find none, and write nothing
		return err
	}
	return s.db.Each(ctx, ids, func(tx *sqldb.Tx, id string) error {
		_, err := tx.Exec("UPDATE processes SET dead=1 WHERE id=$1 AND dead=0 AND expires_at<now_us()", id)
		return err
	})
}

// SweepCall concludes one call whose owner is dead or whose time is over, and says whether the call is final now.
// ErrNotFound: no such call.
func (s *Store) SweepCall(ctx context.Context, call string) (bool, error) {
	var state effect.State
	var late, expired, dead int64
	look := func(tx *sqldb.Tx) error {
		found, err := tx.One(`SELECT t.state, CASE WHEN t.until<now_us() THEN 1 ELSE 0 END, CASE WHEN p.expires_at<now_us() THEN 1 ELSE 0 END, coalesce(p.dead,0)
 FROM tool_calls t LEFT JOIN processes p ON p.id=t.owner WHERE t.id=$1`, []any{call}, &state, &late, &expired, &dead)
		if err == nil && !found {
			err = ledger.ErrNotFound
		}
		return err
	}
	if err := s.db.Read(ctx, look); err != nil || state.Final() {
		return err == nil, err
	}
	if expired != 0 && dead == 0 {
		if err := s.callDead(ctx); err != nil {
			return false, err
		}
	} else if late == 0 && dead == 0 {
		return false, nil
	}
	if _, err := s.conclude(ctx, call); err != nil {
		return false, err
	}
	err := s.db.Read(ctx, look)
	return err == nil && state.Final(), err
}

// conclude ends one call whose owner is dead or whose time is over. It takes the call alone: the hold of an effect that may
// have been sent stays, for a person to lift.
func (s *Store) conclude(ctx context.Context, call string) (done bool, err error) {
	err = s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		now, err := tx.Now()
		if err != nil {
			return err
		}
		line := reasons.Lines(clock(now), ledger.Reason{Stage: reasons.Outcome, Fact: "its process died or its time was over, so somebody else concluded it: what was not sent failed; what may have been sent is lost if it only looked, else uncertain"})
		var class effect.Class
		var state effect.State
		var run string
		done, err = tx.One(`UPDATE tool_calls SET ended_at=$2, delivery=2, code='abandoned', is_error=1, why=why||$3,
 outcome=CASE WHEN state='admitted' THEN 'not_dispatched' WHEN class='observation' THEN 'lost' ELSE 'uncertain' END,
 state=CASE WHEN state='admitted' OR class='observation' THEN 'failed' ELSE 'uncertain' END
 WHERE id=$1 AND state IN ('admitted','dispatched') AND (until<now_us() OR owner IN `+theDead+`) RETURNING class, state, run_id`,
			[]any{call, now, line}, &class, &state, &run)
		if err != nil || !done {
			return err
		}
		if class == effect.Effect && state == effect.Uncertain {
			if err := tellUncertain(tx, call, run, now); err != nil {
				return err
			}
		}
		s.point("sweep.before_commit")
		return nil
	})
	return done && err == nil, err
}

// giveUpDeliveries says of finished calls of the dead that their callers are gone.
func (s *Store) giveUpDeliveries(ctx context.Context, _ int64) error {
	ids, err := s.db.IDs(ctx, askUndelivered, sweptAtOnce)
	if err != nil {
		return err
	}
	return s.db.Each(ctx, ids, func(tx *sqldb.Tx, id string) error {
		_, err := tx.Exec("UPDATE tool_calls SET delivery=2 WHERE id=$1 AND delivery=0 AND owner IN "+theDead, id)
		return err
	})
}

// endRuns ends runs past their deadline or idle time, each in a transaction of its own.
func (s *Store) endRuns(ctx context.Context, now int64) error {
	ids, err := s.db.IDs(ctx, askRunsOver, now, sweptAtOnce)
	if err != nil {
		return err
	}
	var all error
	for _, id := range ids {
		all = errors.Join(all, s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := endRun(tx, id, now)
			return err
		}))
	}
	return all
}

// expireApprovals ends questions that nobody answered and answers that nobody used in time.
func (s *Store) expireApprovals(ctx context.Context, now int64) error {
	ids, err := s.db.IDs(ctx, askApprovals, now, sweptAtOnce)
	if err != nil {
		return err
	}
	return s.db.Each(ctx, ids, func(tx *sqldb.Tx, id string) error {
		_, err := tx.Exec("UPDATE approvals SET state=CASE WHEN state='open' THEN 'unanswered' ELSE 'void' END WHERE id=$2 AND ("+unanswered+" OR "+unused+")", now, id)
		return err
	})
}

// dropPages removes the text of kept pages past their time; number and hash stay for as long as the run is open.
func (s *Store) dropPages(ctx context.Context, now int64) error {
	ids, err := s.db.IDs(ctx, askPages, now, sweptAtOnce)
	if err != nil {
		return err
	}
	return s.db.Each(ctx, ids, func(tx *sqldb.Tx, id string) error {
		_, err := tx.Exec("UPDATE kept_pages SET body=NULL WHERE id=$1 AND expires_at<=$2", id, now)
		return err
	})
}
