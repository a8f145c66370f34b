// This file opens PostgreSQL and runs its transactions.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// settingsLock is the key of the advisory lock that offers and settings share.
	settingsLock = 7477
	// attempts is how often a transaction is run that the database broke off in favour of another, or that found its
	// connection dead before it did anything.
	attempts = 5
	// postgresAtMost is how many connections serve; a few more are opened for maintenance.
	postgresAtMost = 32
)

// limits are what each connection tells the server: a process that hangs or a host that vanishes must not keep a lock.
// An address that names one of them decides. PgBouncer passes them on only when its ignore_startup_parameters has them;
// then they are to be set on the role.
func limits() map[string]string {
	return map[string]string{"idle_in_transaction_session_timeout": "5s", "statement_timeout": "10s", "lock_timeout": "2s",
		"tcp_user_timeout": "10s", "application_name": "wayleave"}
}

// OpenPostgres opens the database of an address, postgres://USER@HOST:PORT/NAME or key=value text; what it leaves out
// comes from libpq's variables and files. The tables are not looked at. No error holds the password.
func OpenPostgres(ctx context.Context, address string) (*DB, error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	for name, value := range limits() {
		if _, named := config.RuntimeParams[name]; !named {
			config.RuntimeParams[name] = value
		}
	}
	config.StatementCacheCapacity = statementsAtMost
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(postgresAtMost)
	pool.SetMaxIdleConns(postgresAtMost / 2)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	ping, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if err := pool.PingContext(ping); err != nil {
		return nil, errors.Join(connectFault(config, err), pool.Close())
	}
	own := func() *sql.DB {
		unbound := config.Copy()
		for name, value := range map[string]string{"idle_in_transaction_session_timeout": "0", "statement_timeout": "0", "lock_timeout": "30s"} {
			unbound.RuntimeParams[name] = value
		}
		p := stdlib.OpenDB(*unbound)
		p.SetMaxOpenConns(2)
		return p
	}
	return &DB{dialect: Postgres, read: postgres{pool}.read, one: postgres{pool}.one, begin: postgres{pool}.write, own: own, closers: []func() error{pool.Close}}, nil
}

type postgres struct{ pool *sql.DB }

func (p postgres) write(ctx context.Context, w wish, do func(*Tx) error) error {
	for n := 1; ; n++ {
		repeat, err := p.once(ctx, w, do)
		if !repeat || n == attempts {
			return err
		}
	}
}

// once runs the transaction. repeat says that it did nothing and may be run again.
func (p postgres) once(ctx context.Context, w wish, do func(*Tx) error) (repeat bool, err error) {
	conn, release, err := turn(ctx, p.pool)
	if err != nil {
		return false, fault(Postgres, err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return broken(ctx, err), fault(Postgres, err)
	}
	defer func() { _ = tx.Rollback() }() // where the connection is gone the server does it by itself
	t := &Tx{ctx: ctx, q: tx, dialect: Postgres}
	err = t.lock(w.lock)
	if err == nil && w.ahead {
		_, err = t.Exec("SET LOCAL synchronous_commit TO off")
	}
	if err == nil {
		err = t.run(do)
	}
	if err != nil {
		// Asked of the statement that failed: do may have put its own words in place of the error's.
		return again(t.failed) || broken(ctx, t.failed), err
	}
	err = tx.Commit()
	return again(err), commitFault(Postgres, err)
}

// read runs do in a read-only transaction. Only a repeatable read sees one state.
func (p postgres) read(ctx context.Context, do func(*Tx) error) error {
	return p.on(ctx, func(ctx context.Context, conn *sql.Conn) error {
		tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
		if err != nil {
			return fault(Postgres, err)
		}
		defer func() { _ = tx.Rollback() }()
		return (&Tx{ctx: ctx, q: tx, dialect: Postgres}).run(do)
	})
}

// one runs do, which reads by one statement, without a transaction.
func (p postgres) one(ctx context.Context, do func(*Tx) error) error {
	return p.on(ctx, func(ctx context.Context, conn *sql.Conn) error {
		return (&Tx{ctx: ctx, q: conn, dialect: Postgres}).run(do)
	})
}

// on does something on a connection, within the bound. The caller's context ends only the waiting for one.
func (p postgres) on(ctx context.Context, do func(context.Context, *sql.Conn) error) error {
	conn, release, err := turn(ctx, p.pool)
	if err != nil {
		return fault(Postgres, err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	return do(ctx, conn)
}

// turn waits for a connection as long as the caller does, and no longer than a transaction may take.
func turn(ctx context.Context, pool *sql.DB) (conn *sql.Conn, release func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if conn, err = pool.Conn(waiting); err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, err
	}
	return conn, func() { _ = conn.Close() }, nil
}

// lock takes the part in the settings lock, before any row. It ends with the transaction, so that poolers work.
func (tx *Tx) lock(l Lock) (err error) {
	switch l {
	case Calls:
		_, err = tx.Exec("SELECT pg_advisory_xact_lock_shared($1)", settingsLock)
	case Settings:
		_, err = tx.Exec("SELECT pg_advisory_xact_lock($1)", settingsLock)
	}
	return err
}

// broken says that a connection died before the commit was sent, idle in the pool or in the midst of work, so that the
// transaction may be run again on another. A server that refuses new connections is asked once.
func broken(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	var connecting *pgconn.ConnectError
	var ended *pgconn.PgError
	if errors.As(err, &ended) {
		return ended.Code == "57P01" || ended.Code == "57P02"
	}
	return lost(err) && !errors.As(err, &connecting)
}

// parse reads an address. Its error must not quote it: a password stands in it, and where it is malformed nobody can
// say where.
func parse(address string) (*pgx.ConnConfig, error) {
	if err := wellFormed(address); err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errAddress
	}
	return config, nil
}
