// This file opens SQLite: one connection that writes, a pool of readers.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

const (
	// readersAtMost is how many read at once.
	readersAtMost = 8
	// busyWait is how long SQLite waits for another process's transaction before it says that it is busy.
	busyWait = 2 * time.Second
	// fileMode is that of all files of the data folder.
	fileMode fs.FileMode = 0o600
)

// connector makes connections of a driver of our own, which has now_us().
type connector struct {
	driver *sqlite.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// OpenSQLite opens the file at path, which is made, readable by its owner alone, if it is not there. now is the clock in
// microseconds; nil means the system's. The tables are not looked at. One process may have it open more than once, and
// several processes may write.
func OpenSQLite(ctx context.Context, path string, now func() int64) (*DB, error) {
	db, _, err := openSQLite(ctx, path, now)
	return db, err
}

func openSQLite(ctx context.Context, path string, now func() int64) (*DB, *writer, error) {
	if err := makePrivate(path); err != nil {
		return nil, nil, err
	}
	// The cheaper call of the two that make a commit durable; it is not there on every system, and then the other is used.
	_, _ = sqlite.Fdatasync(true)
	d, err := newDriver(now)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	pool := func(atMost int, extra string) *sql.DB {
		p := sql.OpenDB(connector{d, dsn(path, extra)})
		p.SetMaxOpenConns(atMost)
		p.SetMaxIdleConns(atMost)
		return p
	}
	writing, reading := pool(1, ""), pool(readersAtMost, "_pragma=query_only(ON)")
	w, err := newWriter(ctx, writing)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, errors.Join(fault(SQLite, err), writing.Close(), reading.Close()))
	}
	r := newReaders(reading)
	db := &DB{dialect: SQLite, file: path, read: r.read, one: r.one, begin: w.write,
		own:     func() *sql.DB { return pool(2, "_txlock=immediate") },
		closers: []func() error{w.stop, r.close, reading.Close, writing.Close}}
	return db, w, nil
}

// OpenCopy opens a SQLite file that nobody changes, such as a backup, and leaves it as it is: no journal is made beside
// it. It only reads.
func OpenCopy(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	d, err := newDriver(nil)
	if err != nil {
		return nil, err
	}
	pool := func() *sql.DB {
		return sql.OpenDB(connector{d, fileURI(path) + "?mode=ro&immutable=1&_defensive=1&_dqs=0&_error_rc=1&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)"})
	}
	reading := pool()
	refuse := func(context.Context, wish, func(*Tx) error) error { return errors.New("a copy is not written to") }
	r := newReaders(reading)
	return &DB{dialect: SQLite, file: path, read: r.read, one: r.one, begin: refuse, own: pool, closers: []func() error{r.close, reading.Close}}, nil
}

func newDriver(now func() int64) (*sqlite.Driver, error) {
	if now == nil {
		now = func() int64 { return time.Now().UnixMicro() }
	}
	d := new(sqlite.Driver)
	err := d.RegisterScalarFunction("now_us", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) { return now(), nil })
	return d, err
}

// fileURI names a file in SQLite's way; on Windows a drive stands behind a slash.
func fileURI(path string) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		slashed = "/" + slashed
	}
	return "file:" + (&url.URL{Path: slashed}).EscapedPath()
}

// dsn is how every connection is set up. Full syncs, and on macOS those that reach the disk itself: what is said to be
// committed stays so when the power fails. Freed content is overwritten.
func dsn(path, extra string) string {
	settings := []string{"_defensive=1", "_dqs=0", "_error_rc=1"}
	for _, p := range []string{fmt.Sprintf("busy_timeout(%d)", busyWait.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(ON)",
		"checkpoint_fullfsync(ON)", "foreign_keys(ON)", "secure_delete(ON)", "cell_size_check(ON)", "trusted_schema(OFF)", "journal_size_limit(67108864)",
		"temp_store(MEMORY)"} { // what a savepoint could undo stays out of temporary files
		settings = append(settings, "_pragma="+p)
	}
	if extra != "" {
		settings = append(settings, extra)
	}
	return fileURI(path) + "?" + strings.Join(settings, "&")
}

// makePrivate sees to it that the file is its owner's alone; SQLite gives its log and its index the same permissions. A file
// that is there is not opened: where this process has the database open already, closing any other descriptor of the file
// would drop the locks by which other processes know that it is in use, and the last of them to leave would take the log away.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	switch {
	case err == nil: // a new file, of which nobody has a lock
		err = f.Close()
	case errors.Is(err, fs.ErrExist):
		var info fs.FileInfo
		if info, err = os.Stat(path); err == nil && info.Mode().Perm()&^fileMode != 0 {
			err = os.Chmod(path, fileMode)
		}
	}
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return nil
}
