package wayleave

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestAServerThatAMigrationShutsOutEnds: a migration that this program may go on beside changes nothing for it; one that it
// does not know ends it, with what to do.
func TestAServerThatAMigrationShutsOutEnds(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			o := Options{Data: filepath.Join(t.TempDir(), "data")}
			if d == sqldb.Postgres {
				place := dbtest.Empty(t, d)
				o.Database = place.Address
				if _, err := schema.Up(t.Context(), place.Open(t)); err != nil {
					t.Fatal(err)
				}
			}
			service, err := New(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer service.Close()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() { ended <- service.Run(ctx, listener) }()
			beside := openBeside(t, o)
			change := func(statement string) {
				t.Helper()
				if err := beside.DB.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
					_, err := tx.Exec(statement)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			change("INSERT INTO schema_versions(version_id, is_applied) VALUES(1000, true)")
			(&served{Service: service}).until(t, "ready beside a migration that lets it go on", func() bool {
				select {
				case err := <-ended:
					t.Fatalf("beside a migration that lets it go on it ended: %v", err)
				default:
				}
				return service.Ready(t.Context()) == nil // a busy machine may be late to hear its database
			})
			change("UPDATE settings SET oldest_schema=1000")
			if err := <-ended; !errors.Is(err, ErrTooNew) || !strings.Contains(err.Error(), "schema 1000") || !strings.Contains(err.Error(), "newer program") {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
