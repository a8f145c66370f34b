package auditstore

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

var (
	key      = bytes.Repeat([]byte{1}, 32)
	otherKey = bytes.Repeat([]byte{2}, 32)
)

const install = "quiet-otter"

// leases are the ledger's, in memory; they end by the test's clock.
type leases struct {
	clock *dbtest.Clock
	mu    sync.Mutex
	owner string
	until time.Time
	fence int64
}

func (l *leases) Acquire(_ context.Context, resource, process, _ string, ttl time.Duration) (int64, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if resource != audit.Resource {
		return 0, false, fmt.Errorf("the resource %q", resource)
	}
	if l.owner != "" && l.clock.Now().Before(l.until) {
		return 0, false, nil
	}
	l.fence++
	l.owner, l.until = process, l.clock.Now().Add(ttl)
	return l.fence, true, nil
}

func (l *leases) Extend(_ context.Context, _ string, fence int64, ttl time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == "" || l.fence != fence || !l.clock.Now().Before(l.until) {
		return false, nil
	}
	l.until = l.clock.Now().Add(ttl)
	return true, nil
}

func (l *leases) Release(_ context.Context, _ string, fence int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fence == fence {
		l.owner = ""
	}
	return nil
}

// stage is an audit with a keeper.
type stage struct {
	db     *sqldb.DB
	clock  *dbtest.Clock
	store  *Store
	leases *leases
	keeper *audit.Keeper
	log    bytes.Buffer
	told   []audit.Checkpoint
}

func each(t *testing.T, test func(t *testing.T, s *stage)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		s := &stage{db: db, clock: clock, store: New(db), leases: &leases{clock: clock}}
		s.keeper = s.another(t, "proc_1")
		test(t, s)
	})
}

// another is a keeper of another process.
func (s *stage) another(t *testing.T, process string) *audit.Keeper {
	t.Helper()
	k, err := audit.NewKeeper(s.store, s.leases, process, key, audit.KeeperOptions{Install: install, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Tell: []func(audit.Checkpoint) error{func(c audit.Checkpoint) error { s.told = append(s.told, c); return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// add appends n entries, each a millisecond after the one before.
func (s *stage) add(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		s.clock.Advance(time.Millisecond)
		if err := s.store.Append(t.Context(), audit.Entry{Actor: "person:person_1", Verb: "agent.changed", Subject: fmt.Sprintf("agent_%d", i%3), Detail: map[string]any{"n": i}}); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *stage) step(t *testing.T, k *audit.Keeper) {
	t.Helper()
	if err := k.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) verify(t *testing.T, against ...audit.Checkpoint) audit.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), s.store, key, install, against)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tamper does what somebody can who writes to the database but has no key: the triggers are theirs too.
func (s *stage) tamper(t *testing.T, statements ...string) {
	t.Helper()
	drop := "DROP TRIGGER IF EXISTS audit_fixed"
	if s.db.Dialect() == sqldb.Postgres {
		drop += " ON audit"
	}
	if err := s.db.Maintain(t.Context(), func(ctx context.Context, pool *sql.DB) error {
		for _, q := range append([]string{drop}, statements...) {
			if _, err := pool.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// relink links all rows from a link on anew, as somebody does who has a key.
func (s *stage) relink(t *testing.T, from int64, with []byte) {
	t.Helper()
	k, err := audit.NewKey(with)
	if err != nil {
		t.Fatal(err)
	}
	s.tamper(t)
	rows, err := s.store.Linked(t.Context(), 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
		head := audit.Head{}
		for _, r := range rows {
			if r.Link >= from {
				r = k.After(head, r)
				if _, err := tx.Exec("UPDATE audit SET link = $2, prev = $3, hash = $4 WHERE id = $1", r.ID, r.Link, r.Prev, r.Hash); err != nil {
					return err
				}
			}
			head = audit.Head{Link: r.Link, Hash: r.Hash}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
