package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestOneReadsARow, sees what was committed before it, leaves its connection fit for the next one whatever became of it,
// and holds up no writer.
func TestOneReadsARow(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		var n int64
		for round := range int64(40) { // more than there are connections
			write(t, db, put(fmt.Sprint(round), round))
			if found, err := db.One(t.Context(), "SELECT count(*) FROM things WHERE i <= $1", []any{round}, &n); err != nil || !found || n != round+1 {
				t.Fatalf("%d, %v, %v, want %d", n, found, err, round+1)
			}
			if found, err := db.One(t.Context(), "SELECT i FROM things WHERE i > $1", []any{round}, &n); err != nil || found {
				t.Fatalf("a row that is not there: %d, %v", n, err)
			}
			if found, err := db.One(t.Context(), "SELECT i FROM things ORDER BY i", nil, &n); err != nil || !found || n != 0 {
				t.Fatalf("the first of many: %d, %v", n, err)
			}
			if _, err := db.One(t.Context(), "SELECT nothing FROM things", nil, &n); err == nil {
				t.Fatal("a column that is not there")
			}
			if _, err := db.One(t.Context(), "SELECT i FROM things WHERE k = $1", []any{"a\x00b"}, &n); !errors.Is(err, sqldb.ErrValue) {
				t.Fatalf("a value that is none: %v", err)
			}
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		if _, err := db.One(left, "SELECT 1", nil, &n); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that has left: %v", err)
		}
	})
}
