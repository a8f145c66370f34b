package retention_test

import (
	"bytes"
	"testing"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/retention"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestTM102PurgedTextLeavesTheFiles: what was sealed in a run is in none of the database's files once its time is over;
// while somebody reads, the next sweep sees to it.
func TestTM102PurgedTextLeavesTheFiles(t *testing.T) {
	place := dbtest.New(t, sqldb.SQLite)
	db := place.Open(t)
	dbtest.Fill(t, db)
	purged := [][]byte{[]byte("sealed args 9"), []byte("sealed url 10"), []byte("sealed late report")} // of run_3, which ended
	if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {                             // its effect is reconciled
		_, err := tx.Exec("UPDATE runs SET ended_at = 1, created_at = 1 WHERE id = 'run_3'")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	there := func() (n int) {
		for _, p := range purged {
			if bytes.Contains(place.Bytes(t), p) {
				n++
			}
		}
		return n
	}
	if there() != len(purged) {
		t.Fatal("they were not there at first")
	}
	keeper := retention.New(db)
	now := place.Clock.Micros()
	reading, release, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.Read(t.Context(), func(tx *sqldb.Tx) error {
			var n int64
			_, err := tx.One("SELECT count(*) FROM runs", nil, &n)
			close(reading)
			<-release
			return err
		})
	}()
	<-reading
	if err := keeper.Tidy(t.Context(), now, ledger.Retention{}); err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := keeper.Tidy(t.Context(), now, ledger.Retention{}); err != nil {
		t.Fatal(err)
	}
	if n := there(); n != 0 {
		t.Errorf("%d of %d are still in the files", n, len(purged))
	}
	if !bytes.Contains(place.Bytes(t), []byte("sealed args 12")) { // of a run that is kept
		t.Error("what is kept is gone too")
	}
}
