package sqldb_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// through opens a PostgreSQL database with the table of things through a proxy; direct reaches it past the proxy.
func through(t *testing.T) (db, direct *sqldb.DB, proxy *dbtest.Proxy) {
	t.Helper()
	place := dbtest.Empty(t, sqldb.Postgres)
	direct = place.Open(t)
	things(t, direct)
	proxy = dbtest.NewProxy(t, place)
	db, err := sqldb.OpenPostgres(t.Context(), proxy.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, direct, proxy
}

// TestLostInCommitIsInDoubt: whether it happened, nobody here can know, and so it is said. The same transaction run
// again finds out.
func TestLostInCommitIsInDoubt(t *testing.T) {
	db, direct, proxy := through(t)
	for name, c := range map[string]struct {
		cut  dbtest.Cut
		rows string
	}{"before it reached the server": {dbtest.BeforeCommit, ""}, "after it reached the server": {dbtest.AfterCommit, "k"}} {
		t.Run(name, func(t *testing.T) {
			write(t, direct, func(tx *sqldb.Tx) error { _, err := tx.Exec("DELETE FROM things"); return err })
			did := proxy.CutNextCommit(c.cut)
			runs := 0
			again := func(tx *sqldb.Tx) error {
				runs++
				_, err := tx.Exec("INSERT INTO things (k) VALUES ('k') ON CONFLICT DO NOTHING")
				return err
			}
			err := db.Write(t.Context(), sqldb.Calls, again)
			if !errors.Is(err, sqldb.ErrInDoubt) || !errors.Is(err, sqldb.ErrAway) || errors.Is(err, sqldb.ErrUnavailable) || runs != 1 {
				t.Fatalf("after %d runs: %v", runs, err)
			}
			<-did
			if got := keys(t, direct); got != c.rows {
				t.Errorf("rows: %q, want %q", got, c.rows)
			}
			write(t, db, again)
			if got := keys(t, direct); got != "k" {
				t.Errorf("rows after it was run again: %q", got)
			}
		})
	}
}

// TestLostBeforeCommitIsRunAgain: a connection that died idle in the pool, or in the midst of work, did nothing.
func TestLostBeforeCommitIsRunAgain(t *testing.T) {
	db, direct, proxy := through(t)
	write(t, db, put("first", 1))
	proxy.CutAll()
	write(t, db, put("idle", 1))
	runs := 0
	write(t, db, func(tx *sqldb.Tx) error {
		if err := put("midst", 1)(tx); err != nil {
			return err
		}
		if runs++; runs == 1 {
			proxy.CutAll()
		}
		if err := put("end", 1)(tx); err != nil {
			return errors.New("in words of its own")
		}
		return nil
	})
	if runs != 2 {
		t.Errorf("%d runs", runs)
	}
	proxy.CutAll()
	if got := keys(t, db); got != "end first idle midst" {
		t.Errorf("rows, read over a fresh connection: %s", got)
	}
	if got := keys(t, direct); got != "end first idle midst" {
		t.Errorf("rows: %s", got)
	}
}

// TestServerThatIsGone: a refusal, at once, and without the password.
func TestServerThatIsGone(t *testing.T) {
	place := dbtest.Empty(t, sqldb.Postgres)
	proxy := dbtest.NewProxy(t, place)
	db, err := sqldb.OpenPostgres(t.Context(), proxy.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	proxy.Stop()
	for name, err := range map[string]error{
		"write": db.Write(t.Context(), sqldb.Calls, func(*sqldb.Tx) error { return nil }),
		"read":  db.Read(t.Context(), func(*sqldb.Tx) error { return nil }),
		"long":  db.Long(t.Context(), func(*sqldb.Tx) error { return nil }),
	} {
		if !errors.Is(err, sqldb.ErrUnavailable) || !errors.Is(err, sqldb.ErrAway) || strings.Contains(err.Error(), proxy.Password) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeadlockIsRunAgain: two transactions take two rows in opposite orders; both are committed in the end.
func TestDeadlockIsRunAgain(t *testing.T) {
	place := dbtest.Empty(t, sqldb.Postgres)
	db := place.Open(t)
	things(t, db)
	write(t, db, func(tx *sqldb.Tx) error { return errors.Join(put("a", 0)(tx), put("b", 0)(tx)) })
	var both sync.WaitGroup // met once, on the first run of each
	both.Add(2)
	var runs atomic.Int32
	var wg sync.WaitGroup
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		wg.Go(func() {
			first := true
			if err := db.Write(t.Context(), sqldb.Calls, func(tx *sqldb.Tx) error {
				runs.Add(1)
				for i, k := range order {
					if _, err := tx.Exec("UPDATE things SET i = i + 1 WHERE k = $1", k); err != nil {
						return err
					}
					if i == 0 && first {
						first = false
						both.Done()
						both.Wait()
					}
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var sum int64
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.One("SELECT sum(i) FROM things", nil, &sum)
		return err
	}); err != nil || sum != 4 || runs.Load() < 3 {
		t.Errorf("sum %d after %d runs, %v", sum, runs.Load(), err)
	}
}

// TestServersRefusals: what PostgreSQL says, and what becomes of it.
func TestServersRefusals(t *testing.T) {
	db := dbtest.Empty(t, sqldb.Postgres).Open(t)
	for _, c := range []struct {
		code string
		want error
		runs int
	}{
		{"40001", sqldb.ErrUnavailable, 5}, {"40P01", sqldb.ErrUnavailable, 5}, {"55P03", sqldb.ErrUnavailable, 1}, {"57014", sqldb.ErrUnavailable, 1},
		{"53100", sqldb.ErrUnavailable, 1}, {"25006", sqldb.ErrUnavailable, 1}, {"58030", sqldb.ErrUnavailable, 1}, {"XX001", sqldb.ErrUnavailable, 1},
		{"57P01", sqldb.ErrAway, 5}, {"08006", sqldb.ErrAway, 1},
		{"23505", sqldb.ErrConstraint, 1}, {"23001", sqldb.ErrConstraint, 1}, {"42703", nil, 1},
	} {
		runs := 0
		err := db.Write(t.Context(), sqldb.Calls, func(tx *sqldb.Tx) error {
			runs++
			_, err := tx.Exec("DO $$ BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '" + c.code + "'; END $$")
			return err
		})
		if errors.Is(err, sqldb.ErrAway) != (c.want == sqldb.ErrAway) {
			t.Errorf("%s: away is %t", c.code, c.want != sqldb.ErrAway)
		}
		sorted := errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrConstraint) || errors.Is(err, sqldb.ErrInDoubt)
		if err == nil || runs != c.runs || (c.want != nil && !errors.Is(err, c.want)) || (c.want == nil && sorted) || !strings.Contains(err.Error(), "made up") {
			t.Errorf("%s: %d runs, %v", c.code, runs, err)
		}
	}
}

// TestLimitsOfConnections: what must not keep a lock is ended by the server; an address may say otherwise.
func TestLimitsOfConnections(t *testing.T) {
	place := dbtest.Empty(t, sqldb.Postgres)
	show := func(address string, want map[string]string) {
		t.Helper()
		db, err := sqldb.OpenPostgres(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			for name, value := range want {
				var got string
				if _, err := tx.One("SELECT current_setting('"+name+"')", nil, &got); err != nil {
					return err
				}
				if got != value {
					t.Errorf("%s is %s, want %s", name, got, value)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	show(place.TCP, map[string]string{"idle_in_transaction_session_timeout": "5s", "statement_timeout": "10s", "lock_timeout": "2s",
		"tcp_user_timeout": "10000", "transaction_isolation": "read committed", "application_name": "wayleave"})
	show(place.TCP+"&statement_timeout=3s", map[string]string{"statement_timeout": "3s", "lock_timeout": "2s"})
}

// TestCallerWhoLeavesWhileAllConnectionsAreTaken waits no longer, and nothing is done for it.
func TestCallerWhoLeavesWhileAllConnectionsAreTaken(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		const many = 40 // more than either pool has
		release := make(chan struct{})
		var inside, all sync.WaitGroup
		taken := make(chan struct{}, many)
		ctx, cancel := context.WithCancel(t.Context())
		for range many {
			inside.Add(1)
			all.Go(func() {
				inside.Done()
				err := db.Read(ctx, func(*sqldb.Tx) error {
					taken <- struct{}{}
					<-release
					return nil
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		inside.Wait()
		for range 8 {
			<-taken
		}
		cancel()
		if err := db.Read(ctx, func(*sqldb.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		close(release)
		all.Wait()
	})
}

// mute accepts connections and never answers.
func mute(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { _, _ = io.Copy(io.Discard, c); _ = c.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String()
}

// TestPasswordIsInNoError: whatever is wrong with an address, the error does not hold its password, nor a part of it
// that was taken for something else.
func TestPasswordIsInNoError(t *testing.T) {
	place := dbtest.Empty(t, sqldb.Postgres)
	host := strings.SplitAfter(strings.Split(place.TCP, "@")[1], "/")[0]
	silent := mute(t)
	for _, c := range []struct{ name, address, says string }{
		{"wrong password", "postgres://wayleave:canary-1@" + host + "postgres?sslmode=disable", "password authentication failed"},
		{"no such database", strings.Split(place.TCP, "@")[0] + "@" + host + "canary-db?sslmode=disable", "does not exist"},
		{"nobody there", "postgres://wayleave:canary-1@127.0.0.1:1/x?sslmode=disable", "connection refused"},
		{"no such socket", "postgres://wayleave:canary-1@/x?host=/nowhere", "socket"},
		{"nobody answers", "postgres://wayleave:canary-1@" + silent + "/x?sslmode=disable", "in time"},
		{"a name that is not known", "postgres://wayleave:canary-1@database.invalid/x?sslmode=disable", "name is not known"},
		{"TLS where there is none", "postgres://wayleave:canary-1@" + host + "x?sslmode=verify-full", "sslmode"},
		{"a slash in the password", "postgres://wayleave:canary/1@" + host + "x", "percent-encoded"},
		{"a # in the password", "postgres://wayleave:12345#canary@" + host + "x", "percent-encoded"},
		{"a % in the password", "postgres://wayleave:canary%zz@" + host + "x", "percent-encoded"},
		{"a space in the password", "host=127.0.0.1 password=canary 1 user=x", "percent-encoded"},
		{"a bad port", "postgres://wayleave:canary-1@127.0.0.1:port/x", "percent-encoded"},
		{"a bad option", "postgres://wayleave:canary-1@127.0.0.1/x?sslmode=canary", "percent-encoded"},
		{"no address", "canary", "postgres://USER@HOST:PORT/NAME"},
		{"an unquoted value", "password='canary", "percent-encoded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			db, err := sqldb.OpenPostgres(ctx, c.address)
			if err == nil {
				_ = db.Close()
				t.Fatal("it opened")
			}
			text := strings.ReplaceAll(err.Error(), "canary-db", "") // a database's name is no secret
			if strings.Contains(text, "canary") || strings.Contains(text, "12345") || !strings.Contains(text, c.says) {
				t.Errorf("%v", err)
			}
			if _, err := sqldb.Unprotected(c.address); err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "12345")) {
				t.Errorf("Unprotected: %v", err)
			}
		})
	}
}

func TestTM109RemoteDatabaseWithoutVerifiedTLS(t *testing.T) {
	for address, want := range map[string]bool{
		"postgres://u@db.test/x":                                        true, // prefer is the default: it verifies nothing and falls back
		"postgres://u@db.test/x?sslmode=disable":                        true,
		"postgres://u@db.test/x?sslmode=allow":                          true,
		"postgres://u@db.test/x?sslmode=require":                        true,
		"postgres://u@db.test/x?sslmode=verify-ca":                      false,
		"postgres://u@db.test/x?sslmode=verify-full":                    false,
		"postgres://u@10.1.2.3/x?sslmode=require":                       true,
		"postgres://u@[2001:db8::1]:5432/x?sslmode=require":             true,
		"host=db.test user=u sslmode=require":                           true,
		"postgres://u@127.0.0.1/x?sslmode=disable":                      false,
		"postgres://u@[::1]/x?sslmode=disable":                          false,
		"postgres://u@localhost/x?sslmode=disable":                      false,
		"postgres://u@LOCALHOST./x":                                     false,
		"postgres://u@localhost.db.test/x":                              true,
		"postgres://u@/x?host=/run/postgresql":                          false,
		"postgres://u@127.0.0.1,db.test/x?sslmode=disable":              true,
		"postgres://u@db1.test,db2.test:6000/x?sslmode=verify-full":     false,
		"postgres://u@127.0.0.1.db.test/x?sslmode=require":              true,
		"postgres://u@db.test/x?sslmode=verify-full&host=other.db.test": false,
		"postgres://u@db.test/x?sslmode=disable&host=127.0.0.1":         false, // the later host counts
	} {
		got, err := sqldb.Unprotected(address)
		if err != nil || (got != "") != want {
			t.Errorf("%s: %q, %v", address, got, err)
		}
		if want && (!strings.Contains(got, "sslmode=verify-full") || !strings.Contains(got, "database on ")) {
			t.Errorf("%s: the sentence names no way out: %s", address, got)
		}
	}
}

func TestPasswordInAddress(t *testing.T) {
	for address, want := range map[string]bool{
		"postgres://u:secret@db.test/x": true, "postgres://u@db.test/x?password=secret": true, "host=db.test password=secret": true, "postgres://u@db.test/x?sslpassword=secret": true,
		"postgres://u:sec%ret@db.test/x?password": true,
		"postgres://u@db.test/x":                  false, "host=db.test user=u": false, "postgres://u@db.test/password": false,
	} {
		t.Setenv("PGPASSWORD", "of the environment")
		if got := sqldb.HasPassword(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
