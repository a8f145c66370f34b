// Package sqldb is the one way to the database: a transaction that takes the same SQL on SQLite and on PostgreSQL.
//
// The one rule: a caller's context never reaches a transaction. It is looked at before one begins; from there on a
// transaction runs to its end under a time of its own, so that what is reported is what happened. The one exception is
// a connection or a disk that is lost during COMMIT: that is [ErrInDoubt], and whoever wrote must look.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
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

// bound is how long a transaction may take, waiting for its turn apart.
const bound = 10 * time.Second

// DB is one database. It is safe for concurrent use.
type DB struct {
	dialect Dialect
	file    string
	read    func(ctx context.Context, do func(*Tx) error) error
	one     func(ctx context.Context, do func(*Tx) error) error // read, for one statement
	begin   func(ctx context.Context, w wish, do func(*Tx) error) error
	own     func() *sql.DB // connections apart, without bounds of time
	closers []func() error
	close   sync.Once
	closed  error
}

// Dialect says which database it is.
func (db *DB) Dialect() Dialect { return db.dialect }

// File is the path of a SQLite database, and empty for PostgreSQL.
func (db *DB) File() string { return db.file }

// Write runs do in a transaction and commits it if do gives nil and no statement in it failed. do may run more than
// once, on another goroutine, and must change nothing but the database and what it assigns afresh each time. It does
// nothing but SQL through its Tx: no waiting, no network, no other Write.
//
// nil says that it is committed. ErrInDoubt says that nobody knows; every other error that it is not.
func (db *DB) Write(ctx context.Context, lock Lock, do func(*Tx) error) error {
	return db.write(ctx, wish{lock: lock}, do)
}

// Ahead is Write, without a part in the settings lock, for what a Write of this process will follow: it does not wait for
// the disk. What it commits outlives the process, and a machine that stops, too, once any later Write is committed.
func (db *DB) Ahead(ctx context.Context, do func(*Tx) error) error {
	return db.write(ctx, wish{ahead: true}, do)
}

// wish is what a caller wants of a transaction.
type wish struct {
	lock  Lock
	ahead bool // its commit need not wait for the disk
}

func (db *DB) write(ctx context.Context, w wish, do func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return db.begin(ctx, w, do)
}

// Read runs do in a read-only transaction that sees one state of the database. The caller's context ends only the
// waiting for a connection.
func (db *DB) Read(ctx context.Context, do func(*Tx) error) error {
	return db.read(ctx, do)
}

// One reads the first row of a query into dest and says whether there was one. A statement sees one state of the database
// by itself, so it needs no transaction around it: on PostgreSQL that is one message where Read has three.
func (db *DB) One(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	err = db.one(ctx, func(tx *Tx) (err error) {
		found, err = tx.One(query, args, dest...)
		return err
	})
	return found && err == nil, err
}

// Long runs do in one transaction that may take long, on a connection of its own: restoring, copying. It sees one state
// of the database. On SQLite it is the writer, and every other writer waits. The caller's context ends it, until the
// commit.
func (db *DB) Long(ctx context.Context, do func(*Tx) error) error {
	return db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		options := &sql.TxOptions{}
		if db.dialect == Postgres {
			options.Isolation = sql.LevelRepeatableRead
		}
		// The driver's transaction ends with its context; the commit must not.
		tx, err := pool.BeginTx(context.WithoutCancel(ctx), options)
		if err != nil {
			return fault(db.dialect, err)
		}
		t := &Tx{ctx: ctx, q: tx, dialect: db.dialect}
		if err := t.run(do); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return commitFault(db.dialect, tx.Commit())
	})
}

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

// Close ends the database. What is being written is finished first; what waits is refused with ErrClosed.
func (db *DB) Close() error {
	db.close.Do(func() {
		for _, c := range db.closers {
			db.closed = errors.Join(db.closed, c())
		}
	})
	return db.closed
}
