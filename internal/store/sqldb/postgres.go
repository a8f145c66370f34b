// This file opens PostgreSQL.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// settingsLock is the key of the advisory lock that offers and settings share.
const settingsLock = 7477

// OpenPostgres opens the database of a URL or key=value text. The tables are not looked at.
func OpenPostgres(ctx context.Context, address string) (*DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the database's address cannot be read; give postgres://USER@HOST:PORT/NAME") // the error would hold the password
	}
	for name, value := range map[string]string{"idle_in_transaction_session_timeout": "5s", "statement_timeout": "10s", "lock_timeout": "2s",
		"application_name": "wayleave"} {
		if _, ok := config.RuntimeParams[name]; !ok {
			config.RuntimeParams[name] = value
		}
	}
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(32)
	pool.SetMaxIdleConns(16)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	ping, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if err := pool.PingContext(ping); err != nil {
		return nil, errors.Join(unavailable(err), pool.Close())
	}
	own := func() *sql.DB {
		unbound := config.Copy()
		for name, value := range map[string]string{"idle_in_transaction_session_timeout": "0", "statement_timeout": "0", "lock_timeout": "30s"} {
			unbound.RuntimeParams[name] = value
		}
		pool := stdlib.OpenDB(*unbound)
		pool.SetMaxOpenConns(2)
		return pool
	}
	p := pg{pool}
	return &DB{dialect: Postgres, reads: pool, begin: p.write, own: own, closers: []func() error{pool.Close}}, nil
}

type pg struct{ pool *sql.DB }

// attempts is how often a transaction is run that the database broke off to resolve a deadlock or a race.
const attempts = 5

func (p pg) write(ctx context.Context, lock Lock, do func(*Tx) error) error {
	for n := 1; ; n++ {
		err := p.once(ctx, lock, do)
		var refused *pgconn.PgError
		if n < attempts && errors.As(err, &refused) && (refused.Code == "40P01" || refused.Code == "40001") {
			continue
		}
		return err
	}
}

func (p pg) once(ctx context.Context, lock Lock, do func(*Tx) error) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	tx, err := p.pool.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return unavailable(err)
	}
	over := false
	defer func() {
		if !over {
			_ = tx.Rollback()
		}
	}()
	switch lock {
	case Calls:
		_, err = tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock_shared($1)", settingsLock)
	case Settings:
		_, err = tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", settingsLock)
	}
	if err != nil {
		return unavailable(err)
	}
	if err := do(&Tx{ctx: ctx, q: tx, dialect: Postgres}); err != nil {
		return err
	}
	over = true
	if err := tx.Commit(); err != nil {
		var refused *pgconn.PgError
		if errors.As(err, &refused) { // it answered, so it did not happen
			return fmt.Errorf("commit: %w", err)
		}
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return nil
}
