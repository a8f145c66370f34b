package sqldb_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// waits reads, in a transaction, whether its commit waits for the disk.
func waits(t *testing.T, tx *sqldb.Tx) string {
	t.Helper()
	query := "PRAGMA synchronous"
	if tx.Dialect() == sqldb.Postgres {
		query = "SHOW synchronous_commit"
	}
	var got string
	if _, err := tx.One(query, nil, &got); err != nil {
		t.Error(err)
	}
	return got
}

// TestAheadDoesNotWaitForTheDisk, and whatever comes after it does.
func TestAheadDoesNotWaitForTheDisk(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		full, lax := "2", "1"
		if db.Dialect() == sqldb.Postgres {
			full, lax = "on", "off"
		}
		for n, ahead := range []bool{false, true, true, false, true, false} {
			want, write := full, func(do func(*sqldb.Tx) error) error { return db.Write(t.Context(), sqldb.Calls, do) }
			if ahead {
				want, write = lax, func(do func(*sqldb.Tx) error) error { return db.Ahead(t.Context(), do) }
			}
			if err := write(func(tx *sqldb.Tx) error {
				if got := waits(t, tx); got != want {
					t.Errorf("transaction %d: %s, want %s", n, got, want)
				}
				return put(strings.Repeat("x", n+1), n)(tx)
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(strings.Fields(keys(t, db))); got != 6 {
			t.Errorf("%d rows", got)
		}
	})
}

// TestAheadInAGroupWaits: where one of a group is to be on the disk, all are. After a fault the connection is another one,
// which waits.
func TestAheadInAGroupWaits(t *testing.T) {
	db, waiting := lite(t)
	q := hold(t, db, waiting)
	saw := make(chan string, 2)
	look := func(tx *sqldb.Tx) error { saw <- waits(t, tx); return nil }
	before := waiting()
	q.group.Go(func() { _ = db.Ahead(t.Context(), look) })
	for waiting() == before {
		runtime.Gosched()
	}
	q.add(t.Context(), "full", look)
	q.run()
	if a, b := <-saw, <-saw; a != "2" || b != "2" {
		t.Errorf("%s, %s", a, b)
	}
	if err := db.Ahead(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("ROLLBACK")
		return err
	}); err == nil {
		t.Error("a transaction that undid itself was committed")
	}
	write(t, db, func(tx *sqldb.Tx) error {
		if got := waits(t, tx); got != "2" {
			t.Errorf("after a fault: %s", got)
		}
		return nil
	})
}
