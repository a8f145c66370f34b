// This file opens SQLite: one writer that commits what waits together, and a pool of readers.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"time"

	"modernc.org/sqlite"
)

const (
	// groupAtMost is how many waiting transactions one commit takes.
	groupAtMost = 64
	// readers is how many read at once.
	readers = 8
)

// connector makes connections of a driver of our own, which has now_us().
type connector struct {
	driver *sqlite.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// OpenSQLite opens the file at path, which is made if it is not there. now is the clock in microseconds; nil means the
// system's. The tables are not looked at.
func OpenSQLite(ctx context.Context, path string, now func() int64) (*DB, error) {
	if now == nil {
		now = func() int64 { return time.Now().UnixMicro() }
	}
	d := new(sqlite.Driver)
	if err := d.RegisterScalarFunction("now_us", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return now(), nil
	}); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	dsn := func(extra ...string) string {
		q := url.Values{"_pragma": append([]string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
			"secure_delete(ON)", "cell_size_check(ON)", "trusted_schema(OFF)"}, extra...)}
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	}
	writing := sql.OpenDB(connector{d, dsn()})
	writing.SetMaxOpenConns(1)
	conn, err := writing.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, errors.Join(err, writing.Close()))
	}
	reading := sql.OpenDB(connector{d, dsn("query_only(ON)")})
	reading.SetMaxOpenConns(readers)
	reading.SetMaxIdleConns(readers)
	w := newWriter(conn)
	own := func() *sql.DB {
		pool := sql.OpenDB(connector{d, dsn()})
		pool.SetMaxOpenConns(2)
		return pool
	}
	return &DB{dialect: SQLite, reads: reading, begin: w.write, own: own, file: path, closers: []func() error{w.stop, reading.Close, conn.Close, writing.Close}}, nil
}

// job is a transaction that waits for its turn.
type job struct {
	ctx  context.Context
	do   func(*Tx) error
	done chan error
}

// writer is the one connection that writes. Its goroutine takes what waits, runs each job in a savepoint of one
// transaction, commits once, and then answers: a commit waits for the disk, and sixteen callers wait for it together.
type writer struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	jobs     chan job
	quit     chan struct{}
	ended    chan struct{}
}

func newWriter(conn *sql.Conn) *writer {
	w := &writer{conn: conn, prepared: make(map[string]*sql.Stmt), jobs: make(chan job, groupAtMost), quit: make(chan struct{}), ended: make(chan struct{})}
	go w.run()
	return w
}

func (w *writer) write(ctx context.Context, _ Lock, do func(*Tx) error) error {
	j := job{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case w.jobs <- j:
	case <-w.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-j.done:
		return err
	case <-w.ended:
		select {
		case err := <-j.done:
			return err
		default:
			return ErrClosed
		}
	}
}

func (w *writer) stop() error {
	close(w.quit)
	<-w.ended
	for _, s := range w.prepared {
		_ = s.Close()
	}
	return nil
}

func (w *writer) run() {
	defer close(w.ended)
	for {
		var group []job
		select {
		case j := <-w.jobs:
			group = append(group, j)
		case <-w.quit:
			return
		}
	gather:
		for len(group) < groupAtMost {
			select {
			case j := <-w.jobs:
				group = append(group, j)
			default:
				break gather
			}
		}
		w.commit(group)
	}
}

// commit runs a group in one transaction. A job that fails is undone to its savepoint alone.
func (w *writer) commit(group []job) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*bound)
	defer cancel()
	answers := make([]error, len(group))
	err := w.exec(ctx, "BEGIN IMMEDIATE")
	if err != nil {
		err = unavailable(err)
	} else {
		for i, j := range group {
			if answers[i] = j.ctx.Err(); answers[i] == nil {
				answers[i] = w.one(ctx, j)
			}
		}
		if err = w.exec(ctx, "COMMIT"); err != nil {
			_ = w.exec(ctx, "ROLLBACK")
			err = unavailable(err)
		}
	}
	for i, j := range group {
		if answers[i] == nil {
			answers[i] = err
		}
		j.done <- answers[i]
	}
}

func (w *writer) one(ctx context.Context, j job) (err error) {
	if err := w.exec(ctx, "SAVEPOINT job"); err != nil {
		return unavailable(err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a transaction panicked: %v", p)
		}
		if err != nil {
			if undo := w.exec(ctx, "ROLLBACK TO job"); undo != nil {
				err = errors.Join(err, unavailable(undo))
			}
		}
		if end := w.exec(ctx, "RELEASE job"); end != nil {
			err = errors.Join(err, unavailable(end))
		}
	}()
	return j.do(&Tx{ctx: ctx, q: w, dialect: SQLite})
}

func (w *writer) exec(ctx context.Context, query string) error {
	_, err := w.ExecContext(ctx, query)
	return err
}

// statement gives a prepared statement; the texts are constants of this program, so there are few.
func (w *writer) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := w.prepared[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(ctx, query)
	if err == nil {
		w.prepared[query] = s
	}
	return s, err
}

// ExecContext is the querier's.
func (w *writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryContext is the querier's.
func (w *writer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}
