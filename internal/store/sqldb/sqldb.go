// Package sqldb is the one way to the database: a transaction that takes the same SQL on SQLite and on PostgreSQL.
//
// The one rule: a caller's context never reaches a transaction. It is looked at before one begins; from there on a
// transaction runs to its end under a time of its own, so that what is reported is what happened. The one exception is
// a connection that is lost during COMMIT: that is [ErrInDoubt], and whoever wrote must look.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Lock is which part a transaction takes in the settings lock. It is taken first, before any row.
type Lock int

const (
	// Free takes no part.
	Free Lock = iota
	// Calls is for what depends on settings: admissions, dispatches, results, offers. Many at once.
	Calls
	// Settings is for what changes settings. It waits for all Calls, and they for it.
	Settings
)

// Dialect is which database it is. Code that asks has a reason beside it.
type Dialect string

const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

var (
	// ErrInDoubt says that a commit may have happened.
	ErrInDoubt = errors.New("the connection was lost while the transaction was being committed")
	// ErrUnavailable says that the database did not answer, and nothing was written.
	ErrUnavailable = errors.New("the database does not answer")
	// ErrClosed says that the database was closed here.
	ErrClosed = errors.New("the database is closed")
)

// bound is how long a transaction may take, waiting for its turn apart.
const bound = 10 * time.Second

// DB is one database. It is safe for concurrent use.
type DB struct {
	dialect Dialect
	reads   *sql.DB
	begin   func(ctx context.Context, lock Lock, do func(*Tx) error) error
	own     func() *sql.DB
	file    string
	closers []func() error
	close   sync.Once
	closed  error
}

// Dialect says which database it is.
func (db *DB) Dialect() Dialect { return db.dialect }

// Write runs do in a transaction and commits it if do gives nil. do may run more than once, and must change nothing but
// the database and what it assigns afresh each time. It does nothing but SQL: no waiting, no network.
func (db *DB) Write(ctx context.Context, lock Lock, do func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return db.begin(ctx, lock, do)
}

// Read runs do in a read-only transaction that sees one state of the database.
func (db *DB) Read(ctx context.Context, do func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	tx, err := db.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: readIsolation(db.dialect)})
	if err != nil {
		return unavailable(err)
	}
	defer func() { _ = tx.Rollback() }()
	return do(&Tx{ctx: ctx, q: tx, dialect: db.dialect})
}

// readIsolation: on PostgreSQL only a repeatable read sees one state; SQLite has no other kind.
func readIsolation(d Dialect) sql.IsolationLevel {
	if d == Postgres {
		return sql.LevelRepeatableRead
	}
	return sql.LevelDefault
}

// File is the path of a SQLite database, and empty for PostgreSQL.
func (db *DB) File() string { return db.file }

// Maintain hands out connections of their own, apart from those that serve and without their bounds of time, for what
// is not a transaction over rows: migrations, copies, vacuums. They are closed when do ends. The caller's context holds.
func (db *DB) Maintain(ctx context.Context, do func(ctx context.Context, pool *sql.DB) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	pool := db.own()
	defer func() { err = errors.Join(err, pool.Close()) }()
	return do(ctx, pool)
}

// Close ends the database. What is being written is finished first.
func (db *DB) Close() error {
	db.close.Do(func() {
		for _, c := range db.closers {
			db.closed = errors.Join(db.closed, c())
		}
	})
	return db.closed
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// querier is what a transaction of database/sql and a connection of it have in common.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Tx is a transaction under way. It is for one goroutine.
type Tx struct {
	ctx     context.Context
	q       querier
	dialect Dialect
}

// Dialect says which database it is.
func (tx *Tx) Dialect() Dialect { return tx.dialect }

// Exec runs one statement and says how many rows it changed. Parameters are $1, $2, … on both databases.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	r, err := tx.q.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// One reads the first row of a query into dest and says whether there was one.
func (tx *Tx) One(query string, args []any, dest ...any) (bool, error) {
	rows, err := tx.q.QueryContext(tx.ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(dest...); err != nil {
		return false, err
	}
	return true, rows.Close()
}

// All calls each for every row of a query.
func (tx *Tx) All(query string, args []any, each func(scan func(dest ...any) error) error) error {
	rows, err := tx.q.QueryContext(tx.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Now is the database's clock in microseconds: the only clock that counts.
func (tx *Tx) Now() (int64, error) {
	var now int64
	_, err := tx.One("SELECT now_us()", nil, &now)
	return now, err
}
