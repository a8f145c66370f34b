// Package processstore keeps the processes that send, the leases that give one resource to one of them, and the notices
// that one of them passes on.
//
// The one rule: a process that was called dead stays dead, so that guards in other tables may read it.
package processstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store is the part of a ledger.Store that is about processes. It is safe for concurrent use, by several at once.
type Store struct {
	db    *sqldb.DB
	point func(name string)
}

// New makes a store over a migrated database. point is called at lease.after_acquire, for tests of sudden death.
func New(db *sqldb.DB, point func(name string)) *Store { return &Store{db: db, point: point} }

// Register enters a process under an id that was never used: a process that was called dead comes back as another.
func (s *Store) Register(ctx context.Context, id, label, version string, ttl time.Duration) error {
	return s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`INSERT INTO processes(id, label, version, started_at, expires_at) VALUES($1,$2,$3,now_us(),now_us()+$4)
 ON CONFLICT(id) DO UPDATE SET expires_at=excluded.expires_at WHERE processes.dead=0`, id, label, version, ttl.Microseconds())
		if err == nil && n == 0 {
			err = fmt.Errorf("register process %s: this id was called dead; take a new one", id)
		}
		return err
	})
}

// Beat renews a process; false says that it is dead for the others, which never changes.
func (s *Store) Beat(ctx context.Context, id string, ttl time.Duration) (alive bool, err error) {
	err = s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		n, err := tx.Exec("UPDATE processes SET expires_at=now_us()+$2 WHERE id=$1 AND dead=0", id, ttl.Microseconds())
		alive = n == 1
		return err
	})
	return alive && err == nil, err
}

// Retire says that a process has ended in order.
func (s *Store) Retire(ctx context.Context, id string) error {
	return s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("UPDATE processes SET dead=1 WHERE id=$1 AND dead=0", id)
		return err
	})
}

// Now is the database's clock.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		us, err := tx.Now()
		now = time.UnixMicro(us).UTC()
		return err
	})
	return now, err
}

// Acquire takes a resource that is free, whose time is over, or whose owner is dead. ok is false while another has it.
// The fence grows with every holder.
func (s *Store) Acquire(ctx context.Context, resource, process, call string, ttl time.Duration) (fence int64, ok bool, err error) {
	err = s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) (err error) {
		fence = 0
		ok, err = tx.One(`INSERT INTO leases(resource, fence, owner, call_id, taken_at, until) VALUES($1,1,$2,$3,now_us(),now_us()+$4)
 ON CONFLICT(resource) DO UPDATE SET fence=leases.fence+1, owner=excluded.owner, call_id=excluded.call_id, taken_at=excluded.taken_at, until=excluded.until
 WHERE leases.owner IS NULL OR leases.until<now_us() OR EXISTS (SELECT 1 FROM processes p WHERE p.id=leases.owner AND p.dead=1)
 RETURNING fence`, []any{resource, process, sql.Null[string]{V: call, Valid: call != ""}, ttl.Microseconds()}, &fence)
		return err
	})
	if err == nil && ok {
		s.point("lease.after_acquire")
	}
	return fence, ok && err == nil, err
}

// Extend moves the end of a lease that is still held under its fence, and says whether it is.
func (s *Store) Extend(ctx context.Context, resource string, fence int64, ttl time.Duration) (held bool, err error) {
	err = s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		n, err := tx.Exec("UPDATE leases SET until=now_us()+$3 WHERE resource=$1 AND fence=$2 AND owner IS NOT NULL", resource, fence, ttl.Microseconds())
		held = n == 1
		return err
	})
	return held && err == nil, err
}

// Release lets a resource go that is still held under this fence. The row stays, and with it the fence.
func (s *Store) Release(ctx context.Context, resource string, fence int64) error {
	return s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("UPDATE leases SET owner=NULL, call_id=NULL WHERE resource=$1 AND fence=$2", resource, fence)
		return err
	})
}
