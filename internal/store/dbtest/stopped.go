// This file stops transactions of PostgreSQL in the middle, so that a test decides what happens between two statements.
package dbtest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// OpenPatient is Open on PostgreSQL, on connections that wait for a lock for as long as a transaction may take: a test that
// stops one in the middle must not depend on how busy the machine is.
func OpenPatient(t testing.TB) (*sqldb.DB, *Clock) {
	t.Helper()
	place := New(t, sqldb.Postgres)
	place.Address += "&lock_timeout=60s&statement_timeout=60s&idle_in_transaction_session_timeout=60s"
	return place.Open(t), place.Clock
}

// Held is a transaction that stays open: whoever wants the rows or tables that it locked waits.
type Held struct{ end func(commit bool) }

var errUndone = errors.New("undone")

// Hold runs a statement in a transaction of its own that stays open. The test's end undoes it at the latest.
func Hold(t testing.TB, db *sqldb.DB, statement string, args ...any) Held {
	t.Helper()
	held, let, ended := make(chan struct{}), make(chan bool, 1), make(chan error, 1)
	go func() {
		ended <- db.Write(context.Background(), sqldb.Free, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(statement, args...); err != nil {
				return err
			}
			close(held)
			if !<-let {
				return errUndone
			}
			return nil
		})
	}()
	select {
	case <-held:
	case err := <-ended:
		t.Fatalf("hold %s: %v", statement, err)
	}
	var once sync.Once
	h := Held{func(commit bool) {
		once.Do(func() {
			let <- commit
			if err := <-ended; err != nil && !errors.Is(err, errUndone) {
				t.Errorf("end what was held by %s: %v", statement, err)
			}
		})
	}}
	t.Cleanup(h.Undo)
	return h
}

// Undo ends it as if it had never been, and Commit so that it was. Only the first of them counts.
func (h Held) Undo()   { h.end(false) }
func (h Held) Commit() { h.end(true) }

// AwaitWaiters returns once so many transactions of PostgreSQL wait for a lock in the test's database.
func AwaitWaiters(t testing.TB, db *sqldb.DB, n int64) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for until := time.Now().Add(time.Minute); ; <-again.C {
		var waiting int64
		if _, err := db.One(context.Background(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'", nil, &waiting); err != nil {
			t.Fatal(err)
		}
		if waiting >= n {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d transactions wait for a lock, want %d", waiting, n)
		}
	}
}
