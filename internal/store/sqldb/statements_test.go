package sqldb

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// TestStatementCacheIsBounded: a store that composes its statements does not fill the memory with them, and those that
// are used stay.
func TestStatementCacheIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wayleave.db")
	d, err := newDriver(nil)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(connector{d, dsn(path, "")})
	w, err := newWriter(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for n := range 2000 {
		var got int
		if err := w.write(t.Context(), wish{}, func(tx *Tx) error {
			most = max(most, len(w.prepared)) // in the writer's own goroutine
			_, err := tx.One(fmt.Sprintf("SELECT %d", n), nil, &got)
			return err
		}); err != nil || got != n {
			t.Fatalf("%d: %v", got, err)
		}
	}
	if most > statementsAtMost+8 || most < statementsAtMost {
		t.Errorf("up to %d statements were kept, want about %d", most, statementsAtMost)
	}
	if w.prepared["COMMIT"] == nil {
		t.Error("a statement of every group was let go")
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
}
