// Package schema holds the tables of both databases as numbered migrations, and brings a database to the newest.
//
// The one rule: a table is written once for each dialect, with the same names in the same order; a test compares them
// column by column. A released migration is never edited, and says in settings.oldest_schema which programs may go on
// using the database after it: at least those of one version before, so that servers can be replaced one by one.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Files has the folders sqlite and postgres.
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS

// table keeps which migrations were applied.
const table = "schema_versions"

var (
	// ErrNeedsMigration says that the database is older than this program. The error names both versions and the way out.
	ErrNeedsMigration = errors.New("the database needs a migration")
	// ErrTooNew says that a newer program changed the database in a way that this one does not know. The error names both
	// versions and the way out.
	ErrTooNew = errors.New("the database is newer than this program")
)

// set is numbered migrations, in a folder for each dialect.
type set struct{ files fs.FS }

func (m set) version(d sqldb.Dialect) (int64, error) {
	names, err := fs.Glob(m.files, string(d)+"/*.sql")
	if err != nil {
		return 0, err
	}
	var newest int64
	for _, name := range names {
		v, err := goose.NumericComponent(path.Base(name))
		if err != nil {
			return 0, fmt.Errorf("migration %s: %w", name, err)
		}
		newest = max(newest, v)
	}
	if newest == 0 {
		return 0, fmt.Errorf("there are no migrations for %s", d)
	}
	return newest, nil
}

// State is where a database stands.
type State struct {
	Version int64 // of its schema; 0 for an empty database
	Oldest  int64 // the oldest schema whose programs may use it; 0 for an empty database
	Known   int64 // the newest schema that this program knows
}

// Look tells where a database stands and changes nothing.
func Look(ctx context.Context, db *sqldb.DB) (State, error) { return set{Files}.look(ctx, db) }

func (m set) look(ctx context.Context, db *sqldb.DB) (State, error) {
	known, err := m.version(db.Dialect())
	if err != nil {
		return State{}, err
	}
	s := State{Known: known}
	// The two catalogues have no words in common.
	exist := map[sqldb.Dialect]string{
		sqldb.SQLite:   "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('" + table + "', 'settings')",
		sqldb.Postgres: "SELECT (to_regclass('" + table + "') IS NOT NULL)::int::bigint + (to_regclass('settings') IS NOT NULL)::int::bigint",
	}[db.Dialect()]
	err = db.Read(ctx, func(tx *sqldb.Tx) error {
		s.Version, s.Oldest = 0, 0
		var tables int64
		if _, err := tx.One(exist, nil, &tables); err != nil || tables < 2 {
			return err
		}
		if _, err := tx.One("SELECT coalesce(max(version_id), 0) FROM "+table, nil, &s.Version); err != nil {
			return err
		}
		_, err := tx.One("SELECT oldest_schema FROM settings", nil, &s.Oldest)
		return err
	})
	if err != nil {
		return State{}, fmt.Errorf("read the schema's version: %w", err)
	}
	return s, nil
}

// Err judges a state: nil, ErrNeedsMigration or ErrTooNew.
func (s State) Err() error {
	switch {
	case s.Version < s.Known:
		return fmt.Errorf("%w: it has schema %d, this program needs %d; run `wayleave migrate` with this program and the same settings", ErrNeedsMigration, s.Version, s.Known)
	case s.Version > s.Known && s.Oldest > s.Known:
		return fmt.Errorf("%w: it has schema %d, this program knows %d; start the newer program, or restore the backup from before its migration", ErrTooNew, s.Version, s.Known)
	}
	return nil
}

// Check says whether this program may use the database as it is: nil, ErrNeedsMigration, ErrTooNew, or a fault.
func Check(ctx context.Context, db *sqldb.DB) error {
	s, err := Look(ctx, db)
	if err != nil {
		return err
	}
	return s.Err()
}

// Up brings the database to the newest schema and says how many migrations it applied. A SQLite database with rows is
// copied first, beside itself. Two at once are safe: one of them does it. ErrTooNew when the database is ahead of this
// program.
func Up(ctx context.Context, db *sqldb.DB) (applied int, err error) {
	return set{Files}.up(ctx, db, math.MaxInt64)
}

// To brings an empty database to an older schema, for rows that are of that schema.
func To(ctx context.Context, db *sqldb.DB, version int64) error {
	_, err := set{Files}.up(ctx, db, version)
	return err
}

func (m set) up(ctx context.Context, db *sqldb.DB, to int64) (applied int, err error) {
	s, err := m.look(ctx, db)
	if err != nil {
		return 0, err
	}
	if err := s.Err(); !errors.Is(err, ErrNeedsMigration) || s.Version >= to {
		return 0, err
	}
	if db.Dialect() == sqldb.SQLite && s.Version > 0 {
		if err := backup(ctx, db, s.Version, time.Now()); err != nil {
			return 0, err
		}
	}
	err = db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		unlock, err := lock(ctx, db.Dialect(), pool)
		if err != nil {
			return err
		}
		defer unlock()
		applied, err = m.apply(ctx, db.Dialect(), pool, to)
		return err
	})
	if err != nil {
		// Another process may have done it meanwhile, and then what failed was to do it once more.
		if now, lookErr := m.look(ctx, db); lookErr == nil && now.Version > s.Version && (now.Err() == nil || now.Version >= to) {
			return 0, nil
		}
		return 0, fmt.Errorf("migrate the database from schema %d: %w", s.Version, err)
	}
	return applied, nil
}

// migrationLock is the key of the advisory lock under which PostgreSQL is migrated.
const migrationLock = 7478

// lock waits until no other process migrates. On SQLite the migration's own transaction is the lock.
func lock(ctx context.Context, d sqldb.Dialect, pool *sql.DB) (unlock func(), err error) {
	if d != sqldb.Postgres {
		return func() {}, nil
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	unlock = func() { _ = tx.Rollback() }
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
		unlock()
		return nil, fmt.Errorf("wait for another process that migrates: %w", err)
	}
	return unlock, nil
}

func (m set) apply(ctx context.Context, d sqldb.Dialect, pool *sql.DB, to int64) (int, error) {
	files, err := fs.Sub(m.files, string(d))
	if err != nil {
		return 0, err
	}
	dialect := map[sqldb.Dialect]goose.Dialect{sqldb.SQLite: goose.DialectSQLite3, sqldb.Postgres: goose.DialectPostgres}[d]
	p, err := goose.NewProvider(dialect, pool, files, goose.WithTableName(table), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return 0, err
	}
	results, err := p.UpTo(ctx, to)
	return len(results), err
}
