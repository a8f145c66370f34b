package sqldb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// childAddress names the database to a child process that is this test again.
const childAddress = "WAYLEAVE_TEST_CHILD_DATABASE"

// TestManyWritersLoseNothing: two handles of this process and a second process add to the same rows at once, on both
// databases; every addition that was reported is there.
func TestManyWritersLoseNothing(t *testing.T) {
	const callers, each = 8, 40
	if address := os.Getenv(childAddress); address != "" {
		open := func() (*sqldb.DB, error) { return sqldb.OpenSQLite(t.Context(), address, nil) }
		if strings.HasPrefix(address, "postgres:") {
			open = func() (*sqldb.DB, error) { return sqldb.OpenPostgres(t.Context(), address) }
		}
		db, err := open()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("child: ready")
		_ = bufio.NewScanner(os.Stdin).Scan()
		count(t, db, callers, each)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			place := dbtest.Empty(t, d)
			a, b := place.Open(t), place.Open(t)
			things(t, a)
			write(t, a, func(tx *sqldb.Tx) error { return errors.Join(put("hot", 0)(tx), put("seen", 0)(tx)) })
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestManyWritersLoseNothing$", "-test.v")
			child.Env = append(os.Environ(), childAddress+"="+place.Address)
			start, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			said := bufio.NewScanner(out)
			for said.Scan() && said.Text() != "child: ready" {
			}
			if _, err := fmt.Fprintln(start); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			wg.Go(func() { count(t, a, callers, each) })
			wg.Go(func() { count(t, b, callers, each) })
			wg.Wait()
			var rest strings.Builder
			for said.Scan() {
				fmt.Fprintln(&rest, said.Text())
			}
			if err := child.Wait(); err != nil {
				t.Fatalf("the other process: %v\n%s", err, rest.String())
			}
			var hot, seen int64
			if err := a.Read(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.One("SELECT a.i, b.i FROM things a, things b WHERE a.k = 'hot' AND b.k = 'seen'", nil, &hot, &seen)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if want := int64(3 * callers * each); hot != want || seen != want {
				t.Errorf("%d and %d of %d", hot, seen, want)
			}
		})
	}
}

// count has callers add to two rows, so that a transaction that is half done would show.
func count(t *testing.T, db *sqldb.DB, callers, each int) {
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				if err := db.Write(context.Background(), sqldb.Calls, func(tx *sqldb.Tx) error {
					for _, k := range []string{"hot", "seen"} {
						if n, err := tx.Exec("UPDATE things SET i = i + 1 WHERE k = $1", k); err != nil || n != 1 {
							return errors.Join(err, fmt.Errorf("%d rows", n))
						}
					}
					return nil
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestOtherProcessWritesForLong: our writer waits its time, and then refuses with words; afterwards it goes on.
func TestOtherProcessWritesForLong(t *testing.T) {
	t.Parallel() // it waits ten seconds
	db, _ := lite(t)
	neighbour, waiting, err := sqldb.OpenQueue(t.Context(), db.File())
	if err != nil {
		t.Fatal(err)
	}
	defer neighbour.Close()
	q := hold(t, neighbour, waiting)
	began := time.Now()
	err = db.Write(t.Context(), sqldb.Free, put("refused", 1))
	if !errors.Is(err, sqldb.ErrUnavailable) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("%v", err)
	}
	if waited := time.Since(began); waited < 5*time.Second {
		t.Errorf("it gave up after %v", waited)
	}
	done := make(chan error)
	go func() { done <- db.Write(t.Context(), sqldb.Free, put("patient", 1)) }()
	q.run()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := keys(t, db); got != "patient" {
		t.Errorf("rows: %s", got)
	}
}

// TestSettingsLock: configuration waits for calls and calls for configuration; calls do not wait for each other. The
// writer of SQLite is all locks in one.
func TestSettingsLock(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, _ *dbtest.Clock) {
		for _, c := range []struct {
			first, second sqldb.Lock
			together      bool
		}{
			{sqldb.Calls, sqldb.Calls, true}, {sqldb.Calls, sqldb.Settings, false}, {sqldb.Settings, sqldb.Calls, false},
			{sqldb.Settings, sqldb.Settings, false}, {sqldb.Settings, sqldb.Free, true},
		} {
			inside, release := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := a.Write(context.Background(), c.first, func(*sqldb.Tx) error {
					close(inside)
					<-release
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
			<-inside
			entered := make(chan struct{})
			wg.Go(func() {
				if err := b.Write(context.Background(), c.second, func(*sqldb.Tx) error {
					close(entered)
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
			together := c.together && a.Dialect() == sqldb.Postgres
			if together {
				<-entered
			} else {
				select {
				case <-entered:
					t.Errorf("%v went on beside %v", c.second, c.first)
				case <-time.After(100 * time.Millisecond): // what does not happen has no other sign
				}
			}
			close(release)
			<-entered
			wg.Wait()
		}
	})
}
