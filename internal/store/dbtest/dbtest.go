// Package dbtest is test support: databases of both kinds, migrated and empty, with a clock that stands still until a
// test moves it.
//
// The one rule: a test that stores runs on both databases. PostgreSQL is started here, once for each test process, and
// ends with it; where it is not installed the test fails and says what to do.
package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Dialects are the databases that a test runs on.
var Dialects = []sqldb.Dialect{sqldb.SQLite, sqldb.Postgres}

// Start is what every test's clock shows at first: ten seconds into a minute.
var Start = time.Date(2026, 3, 4, 5, 6, 10, 0, time.UTC)

// Clock is the database's clock, now_us(). It stands still until it is moved, so that a test says what time it is.
type Clock struct {
	us  atomic.Int64
	mu  sync.Mutex
	set func(us int64) error // nil where now_us() reads us itself
}

// Now is what now_us() says.
func (c *Clock) Now() time.Time { return time.UnixMicro(c.us.Load()).UTC() }

// Micros is what now_us() says, as the database has it.
func (c *Clock) Micros() int64 { return c.us.Load() }

// Advance moves the clock; d may be negative. Transactions that begin after it see the new time. It may be called from
// any goroutine; it panics when the database does not take it, since no test means anything then.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	us := c.us.Load() + d.Microseconds()
	if c.set != nil {
		if err := c.set(us); err != nil {
			panic(fmt.Sprintf("move the database's clock: %v", err))
		}
	}
	c.us.Store(us)
}

// standing is the clock in PostgreSQL. A sequence, since that is read when it is asked for, also by a statement that waited
// for a lock meanwhile, as the real clock is; a constant would be the time at which the statement was planned.
const standing = "CREATE OR REPLACE FUNCTION now_us() RETURNS BIGINT LANGUAGE sql VOLATILE AS $$ SELECT last_value FROM " + kept + ".clock $$"

// Each runs test on a migrated, empty database of each kind, as subtests "sqlite" and "postgres".
func Each(t *testing.T, test func(t *testing.T, db *sqldb.DB, clock *Clock)) {
	t.Helper()
	for _, d := range Dialects {
		t.Run(string(d), func(t *testing.T) {
			db, clock := Open(t, d)
			test(t, db, clock)
		})
	}
}

// Two runs test with two handles on one database of each kind, as two processes have them.
func Two(t *testing.T, test func(t *testing.T, a, b *sqldb.DB, clock *Clock)) {
	t.Helper()
	for _, d := range Dialects {
		t.Run(string(d), func(t *testing.T) {
			place := New(t, d)
			a := place.Open(t)
			test(t, a, place.Open(t), place.Clock)
		})
	}
}

// Open gives one migrated, empty database. It is closed when the test ends.
func Open(t testing.TB, d sqldb.Dialect) (*sqldb.DB, *Clock) {
	t.Helper()
	place := New(t, d)
	return place.Open(t), place.Clock
}

// Place is one database that may be opened several times. It is removed when the test ends.
type Place struct {
	Dialect sqldb.Dialect
	// Address is the path of a SQLite file, or PostgreSQL's address on its socket; TCP the same database's address on
	// loopback, with a password. SQLite has no TCP.
	Address, TCP string
	Clock        *Clock
}

// New makes a migrated, empty database.
func New(t testing.TB, d sqldb.Dialect) Place {
	t.Helper()
	clock := &Clock{}
	clock.us.Store(Start.UnixMicro())
	if d == sqldb.SQLite {
		file, err := migratedFile()
		if err != nil {
			t.Fatal(err)
		}
		p := Place{Dialect: d, Address: filepath.Join(t.TempDir(), "wayleave.db"), Clock: clock}
		if err := os.WriteFile(p.Address, file, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := theCluster(t)
	name := c.migrated(t)
	address, tcp := c.addresses(name)
	pool, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	if _, err := pool.ExecContext(t.Context(), standing); err != nil {
		t.Fatal(err)
	}
	clock.set = func(us int64) error {
		_, err := pool.ExecContext(context.Background(), "SELECT setval('"+kept+".clock', $1)", us)
		return err
	}
	clock.Advance(0)
	return Place{Dialect: d, Address: address, TCP: tcp, Clock: clock}
}

// migratedFile is a migrated SQLite database, made once: each test begins with a copy of it.
var migratedFile = sync.OnceValues(func() (file []byte, err error) {
	folder, err := os.MkdirTemp("", "wayleave-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "wayleave.db")
	db, err := sqldb.OpenSQLite(context.Background(), path, Start.UnixMicro)
	if err != nil {
		return nil, err
	}
	_, err = schema.Up(context.Background(), db)
	if err := errors.Join(err, db.Close()); err != nil { // closed, all of it is in the one file
		return nil, err
	}
	return os.ReadFile(path)
})

// Empty makes a database without tables. Its clock is the system's, as nothing is there to move.
func Empty(t testing.TB, d sqldb.Dialect) Place {
	t.Helper()
	if d == sqldb.SQLite {
		return Place{Dialect: d, Address: filepath.Join(t.TempDir(), "wayleave.db")}
	}
	c := theCluster(t)
	name := c.tableless(t)
	address, tcp := c.addresses(name)
	return Place{Dialect: d, Address: address, TCP: tcp}
}

// Open opens the database once more, as another process would. It is closed when the test ends, if not before.
func (p Place) Open(t testing.TB) *sqldb.DB {
	t.Helper()
	var db *sqldb.DB
	var err error
	if p.Dialect == sqldb.SQLite {
		var now func() int64
		if p.Clock != nil {
			now = p.Clock.Micros
		}
		db, err = sqldb.OpenSQLite(t.Context(), p.Address, now)
	} else {
		db, err = sqldb.OpenPostgres(t.Context(), p.Address)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return db
}

// Bytes gives all that a SQLite database has on disk: the file, its log and its index. For searches of what must not be there.
func (p Place) Bytes(t testing.TB) []byte {
	t.Helper()
	if p.Dialect != sqldb.SQLite {
		t.Fatal("the files of PostgreSQL are the server's")
	}
	var all []byte
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		b, err := os.ReadFile(p.Address + end)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}
