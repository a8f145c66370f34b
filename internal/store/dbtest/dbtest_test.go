package dbtest

import (
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

func TestClockStandsUntilMoved(t *testing.T) {
	Each(t, func(t *testing.T, db *sqldb.DB, clock *Clock) {
		now := func() (us int64) {
			if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) (err error) {
				us, err = tx.Now()
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return us
		}
		if got := now(); got != Start.UnixMicro() {
			t.Fatalf("the clock begins at %d, want %d", got, Start.UnixMicro())
		}
		clock.Advance(90 * time.Second)
		if got := now(); got != Start.Add(90*time.Second).UnixMicro() || clock.Now() != Start.Add(90*time.Second) {
			t.Fatalf("after 90 s the database has %d and the clock %v", got, clock.Now())
		}
	})
}

func TestTwoHandlesAreOneDatabase(t *testing.T) {
	Two(t, func(t *testing.T, a, b *sqldb.DB, _ *Clock) {
		if err := a.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
			_, err := tx.Exec("UPDATE settings SET epoch = 42")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var epoch int64
		if err := b.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One("SELECT epoch FROM settings", nil, &epoch)
			return err
		}); err != nil || epoch != 42 {
			t.Fatalf("the other handle reads %d, %v", epoch, err)
		}
	})
}

// TestInstallHasRowsOfEveryTable: what is held to it is held to all tables.
func TestInstallHasRowsOfEveryTable(t *testing.T) {
	Each(t, func(t *testing.T, db *sqldb.DB, _ *Clock) {
		Fill(t, db)
		tables := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
		if db.Dialect() == sqldb.Postgres {
			tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'"
		}
		if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			var names []string
			if err := tx.All(tables, nil, func(scan func(...any) error) error {
				var name string
				err := scan(&name)
				names = append(names, name)
				return err
			}); err != nil {
				return err
			}
			if len(names) < 20 {
				t.Errorf("only %d tables", len(names))
			}
			for _, name := range names {
				var n int64
				if _, err := tx.One("SELECT count(*) FROM "+name, nil, &n); err != nil {
					return err
				}
				if n == 0 {
					t.Errorf("%s has no row", name)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}
