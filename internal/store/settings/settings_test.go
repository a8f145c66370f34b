package settings_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

func epoch(t *testing.T, db *sqldb.DB) (n int64) {
	t.Helper()
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
		n, err = settings.Epoch(tx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEveryChangeIsCounted: of changes made at once by two processes none is lost, and one that is undone is none.
func TestEveryChangeIsCounted(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, _ *dbtest.Clock) {
		before := epoch(t, a)
		var wg sync.WaitGroup
		for _, db := range []*sqldb.DB{a, b} {
			for range 4 {
				wg.Go(func() {
					for range 10 {
						if err := db.Write(context.Background(), sqldb.Settings, settings.Changed); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		if err := a.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
			if err := settings.Changed(tx); err != nil {
				t.Error(err)
			}
			return context.Canceled
		}); err == nil {
			t.Error("it was not undone")
		}
		if got := epoch(t, b) - before; got != 80 {
			t.Errorf("%d changes", got)
		}
	})
}

// TestInstallWithoutItsRowIsNoInstall: a configuration write that nobody would hear of is refused.
func TestInstallWithoutItsRowIsNoInstall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		if err := db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
			_, err := tx.Exec("DELETE FROM settings")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for name, do := range map[string]func(*sqldb.Tx) error{
			"Changed": settings.Changed,
			"Epoch":   func(tx *sqldb.Tx) error { _, err := settings.Epoch(tx); return err },
		} {
			if err := db.Write(t.Context(), sqldb.Settings, do); err == nil || !strings.Contains(err.Error(), "missing") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := settings.Label(t.Context(), db); err == nil {
			t.Error("it has a label")
		}
	})
}

// TestLabelIsChosenOnce, whoever asks first, and is another in each install.
func TestLabelIsChosenOnce(t *testing.T) {
	seen := map[string]bool{}
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, _ *dbtest.Clock) {
		labels := make([]string, 8)
		var wg sync.WaitGroup
		for i := range labels {
			wg.Go(func() {
				var err error
				if labels[i], err = settings.Label(t.Context(), []*sqldb.DB{a, b}[i%2]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, l := range labels {
			if l != labels[0] || !regexp.MustCompile(`^[a-z2-7]{8}$`).MatchString(l) {
				t.Errorf("%q", labels)
			}
		}
		if seen[labels[0]] {
			t.Error("two installs have one label")
		}
		seen[labels[0]] = true
	})
}
