// Package retention lets go of what was kept long enough: a run's sealed text first, its rows much later.
//
// The one rule: nothing of a run goes while an effect of it has an unknown outcome that nobody has reconciled. Children go
// before parents, a few rows a transaction, so that whoever admits a call does not wait.
package retention

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	day = 24 * time.Hour
	// metersEvery is how often a process looks through the minute meters, in the database's microseconds.
	metersEvery = 10 * minute
	minute      = 60_000_000
	// slow is how long a transaction of a batch may take before the next batch is halved: whoever admits a call waits for it.
	slow = 50 * time.Millisecond
	// leastBatch and firstBatch are the smallest batch, in rows, and the first.
	leastBatch, firstBatch = 20, 100
)

// unreconciled is the condition under which a run r keeps everything: an effect of unknown outcome that nobody has
// reconciled.
const unreconciled = `EXISTS (SELECT 1 FROM tool_calls t WHERE t.run_id=r.id AND t.state='uncertain' AND t.class='effect'
 AND NOT EXISTS (SELECT 1 FROM reconciliations x WHERE x.call_id=t.id))`

// What is looked for in each sweep: before a time, at most so many.
const (
	AskSealed  = "SELECT r.id FROM runs r WHERE r.state='ended' AND r.ended_at<$1 AND r.purged_at IS NULL AND NOT " + unreconciled + " ORDER BY r.ended_at LIMIT $2"
	AskEnded   = "SELECT r.id FROM runs r WHERE r.state='ended' AND r.ended_at<$1 AND NOT " + unreconciled + " ORDER BY r.ended_at LIMIT $2"
	AskRefused = "SELECT id FROM tool_calls WHERE state='refused' AND created_at<$1 ORDER BY created_at LIMIT $2"
	AskDead    = "SELECT id FROM processes p WHERE dead=1 AND expires_at<$1 AND " + settled + " LIMIT $2"
)

// Keeper lets go of rows of one database. It is safe for concurrent use.
type Keeper struct {
	db *sqldb.DB

	mu       sync.Mutex // guards what follows
	metersAt int64      // the database's clock when this process last looked through the minute meters
	uncut    bool       // something was removed that may still stand in the files of SQLite
}

// New makes a keeper over a migrated database.
func New(db *sqldb.DB) *Keeper { return &Keeper{db: db} }

// Defaults are how long what is kept unless told otherwise.
func Defaults() ledger.Retention { return completed(ledger.Retention{}) }

// completed fills in the defaults.
func completed(r ledger.Retention) ledger.Retention {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&r.Content, 30 * day}, {&r.Rows, 365 * day}, {&r.Refused, 7 * day}, {&r.Meters, 2 * day}, {&r.Dead, 7 * day}} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	if r.Batch <= 0 {
		r.Batch = 500
	}
	return r
}

// Tidy lets go of what is past its time of keeping. Where nothing is, it has asked a few indexes and written nothing.
func (k *Keeper) Tidy(ctx context.Context, now int64, r ledger.Retention) error {
	r = completed(r)
	before := func(d time.Duration) int64 { return now - d.Microseconds() }
	b := &batches{db: k.db, most: r.Batch, size: min(r.Batch, firstBatch)}

	if err := b.each(ctx, AskSealed, before(r.Content), func(run string) error {
		k.setUncut(true)
		return b.purge(ctx, run, now)
	}); err != nil {
		return err
	}
	if err := b.each(ctx, AskEnded, before(r.Rows), func(run string) error {
		k.setUncut(true)
		return b.forget(ctx, run, nil)
	}); err != nil {
		return err
	}
	for _, old := range []struct {
		find, remove string
		before       int64
	}{
		{AskRefused, "DELETE FROM tool_calls WHERE id=$1 AND state='refused'", before(r.Refused)},
		{AskDead, "DELETE FROM processes WHERE id=$1", before(r.Dead)},
	} {
		if err := b.rows(ctx, old.find, old.before, func(tx *sqldb.Tx, id string) error {
			_, err := tx.Exec(old.remove, id)
			return err
		}); err != nil {
			return err
		}
	}
	if err := k.dropMeters(ctx, now, before(r.Meters)); err != nil {
		return err
	}
	return k.cut(ctx)
}

// cut takes what was removed out of the files of SQLite. Where somebody reads all the time the next sweep tries again.
// PostgreSQL takes its dead rows away by itself.
func (k *Keeper) cut(ctx context.Context) error {
	if k.db.Dialect() != sqldb.SQLite || !k.setUncut(false) {
		return nil
	}
	err := k.db.Cut(ctx)
	if err != nil {
		k.setUncut(true)
	}
	if errors.Is(err, sqldb.ErrUnavailable) {
		return nil
	}
	return err
}

// setUncut says whether something is to be cut, and gives what was said before.
func (k *Keeper) setUncut(uncut bool) (before bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.uncut = k.uncut, uncut
	return before
}

// dropMeters removes the meters of minutes before a time. They have no index by minute, which every admission would pay
// for, so they are looked through now and then.
func (k *Keeper) dropMeters(ctx context.Context, now, before int64) error {
	k.mu.Lock()
	due := k.metersAt == 0 || now-k.metersAt >= metersEvery || now < k.metersAt
	if due {
		k.metersAt = now
	}
	k.mu.Unlock()
	if !due {
		return nil
	}
	return k.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM minute_meters WHERE minute<$1", before/minute)
		return err
	})
}

// settled is the condition under which nothing asks any more whether a process p is dead.
const settled = `NOT EXISTS (SELECT 1 FROM tool_calls t WHERE t.owner=p.id AND t.state IN ('admitted','dispatched'))
 AND NOT EXISTS (SELECT 1 FROM tool_calls t WHERE t.owner=p.id AND t.delivery=0 AND t.state<>'refused')`

// batches does the same to many rows, some a transaction. How many follows how long they take.
type batches struct {
	db         *sqldb.DB
	most, size int
}

// each finds rows until there are no more, and does something to each that makes it not be found again.
func (b *batches) each(ctx context.Context, find string, before int64, do func(id string) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		size := b.size
		ids, err := b.db.IDs(ctx, find, before, size)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := do(id); err != nil {
				return err
			}
		}
		if len(ids) < size {
			return nil
		}
	}
}

// rows is each for what is done to all that was found in one transaction.
func (b *batches) rows(ctx context.Context, find string, before int64, do func(*sqldb.Tx, string) error) error {
	for {
		size := b.size
		ids, err := b.db.IDs(ctx, find, before, size)
		if err != nil {
			return err
		}
		if err := b.one(ctx, ids, do); err != nil {
			return err
		}
		if len(ids) < size {
			return nil
		}
	}
}

// one is a transaction over some rows. A slow one makes the next smaller.
func (b *batches) one(ctx context.Context, ids []string, do func(*sqldb.Tx, string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	if err := b.db.Each(ctx, ids, do); err != nil {
		return err
	}
	if time.Since(began) > slow {
		b.size = max(b.size/2, min(leastBatch, b.most))
	} else {
		b.size = min(b.size*2, b.most)
	}
	return nil
}

// calls does something to all calls of a run, in their order.
func (b *batches) calls(ctx context.Context, run string, do func(*sqldb.Tx, string) error) error {
	after := int64(-1)
	for {
		size := b.size
		var ids []string
		if err := b.db.Read(ctx, func(tx *sqldb.Tx) error {
			ids = nil
			return tx.All("SELECT id, seq FROM tool_calls WHERE run_id=$1 AND seq>$2 ORDER BY seq LIMIT $3", []any{run, after, size}, func(scan func(...any) error) error {
				var id string
				err := scan(&id, &after)
				ids = append(ids, id)
				return err
			})
		}); err != nil {
			return err
		}
		if err := b.one(ctx, ids, do); err != nil {
			return err
		}
		if len(ids) < size {
			return nil
		}
	}
}

// statements runs some of one parameter, one after the other.
func statements(tx *sqldb.Tx, id string, queries ...string) error {
	for _, q := range queries {
		if _, err := tx.Exec(q, id); err != nil {
			return err
		}
	}
	return nil
}

// dropOffers removes what was offered to the callers of a run and to nobody else. A session may go on in another run.
const dropOffers = `DELETE FROM offers WHERE audience=(SELECT audience FROM runs WHERE id=$1) AND audience NOT LIKE 'agent:%'
 AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.state='open' AND o.audience=offers.audience)`

// purge removes the sealed text of a run. Hashes, hosts and numbers stay.
func (b *batches) purge(ctx context.Context, run string, now int64) error {
	if err := b.calls(ctx, run, func(tx *sqldb.Tx, call string) error {
		return statements(tx, call,
			"UPDATE tool_calls SET args=NULL, result=NULL, late=NULL WHERE id=$1",
			"UPDATE evidence SET url=NULL, title=NULL WHERE call_id=$1",
			"UPDATE reconciliations SET note=NULL WHERE call_id=$1")
	}); err != nil {
		return err
	}
	return b.db.Each(ctx, []string{run}, func(tx *sqldb.Tx, run string) error {
		if err := statements(tx, run, "UPDATE approvals SET question=NULL WHERE run_id=$1", "DELETE FROM kept_pages WHERE run_id=$1", dropOffers); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE runs SET purged_at=$2, title=NULL, title_sealed=NULL WHERE id=$1 AND purged_at IS NULL", run, now)
		return err
	})
}

// forget removes all rows of a run. first, where there is one, is done to each call before it goes.
func (b *batches) forget(ctx context.Context, run string, first func(*sqldb.Tx, string) error) error {
	if err := b.calls(ctx, run, func(tx *sqldb.Tx, call string) error {
		if first != nil {
			if err := first(tx, call); err != nil {
				return err
			}
		}
		return statements(tx, call, "DELETE FROM evidence WHERE call_id=$1", "DELETE FROM reconciliations WHERE call_id=$1",
			"DELETE FROM reservations WHERE call_id=$1", "DELETE FROM tool_calls WHERE id=$1")
	}); err != nil {
		return err
	}
	return b.db.Each(ctx, []string{run}, func(tx *sqldb.Tx, run string) error {
		return statements(tx, run, "DELETE FROM kept_pages WHERE run_id=$1", "DELETE FROM notices WHERE run_id=$1", "DELETE FROM approvals WHERE run_id=$1",
			"DELETE FROM run_meters WHERE run_id=$1", dropOffers, "DELETE FROM runs WHERE id=$1")
	})
}
