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

// Version is the newest schema that this program knows.
func Version(d sqldb.Dialect) (int64, error) {
	names, err := fs.Glob(Files, string(d)+"/*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("no migrations for %s: %w", d, err)
	}
	var newest int64
	for _, name := range names {
		v, err := goose.NumericComponent(name)
		if err != nil {
			return 0, fmt.Errorf("migration %s: %w", name, err)
		}
		newest = max(newest, v)
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
func Look(ctx context.Context, db *sqldb.DB) (State, error) {
	known, err := Version(db.Dialect())
	if err != nil {
		return State{}, err
	}
	s := State{Known: known}
	// The two catalogues have no words in common.
	exists := map[sqldb.Dialect]string{
		sqldb.SQLite:   "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('" + table + "', 'settings')",
		sqldb.Postgres: "SELECT (to_regclass('" + table + "') IS NOT NULL)::int::bigint + (to_regclass('settings') IS NOT NULL)::int::bigint",
	}[db.Dialect()]
	err = db.Read(ctx, func(tx *sqldb.Tx) error {
		s.Version, s.Oldest = 0, 0
		var tables int64
		if _, err := tx.One(exists, nil, &tables); err != nil || tables < 2 {
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

// Check says whether this program may use the database as it is.
func Check(ctx context.Context, db *sqldb.DB) error {
	s, err := Look(ctx, db)
	if err != nil {
		return err
	}
	return s.Err()
}

// migrationLock is the key of the advisory lock under which PostgreSQL is migrated.
const migrationLock = 7478

// Up brings the database to the newest schema and says how many migrations it applied. Two at once are safe: one of
// them does it. ErrTooNew when the database is ahead of this program.
func Up(ctx context.Context, db *sqldb.DB) (applied int, err error) {
	s, err := Look(ctx, db)
	if err != nil {
		return 0, err
	}
	if err := s.Err(); !errors.Is(err, ErrNeedsMigration) {
		return 0, err
	}
	err = db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		if db.Dialect() == sqldb.Postgres { // SQLite has one owner of its folder
			tx, err := pool.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
				return fmt.Errorf("wait for another migration: %w", err)
			}
		}
		applied, err = up(ctx, db.Dialect(), pool)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return applied, nil
}

func up(ctx context.Context, d sqldb.Dialect, pool *sql.DB) (int, error) {
	dialect := map[sqldb.Dialect]goose.Dialect{sqldb.SQLite: goose.DialectSQLite3, sqldb.Postgres: goose.DialectPostgres}[d]
	files, err := fs.Sub(Files, string(d))
	if err != nil {
		return 0, err
	}
	p, err := goose.NewProvider(dialect, pool, files, goose.WithTableName(table), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return 0, err
	}
	results, err := p.Up(ctx)
	return len(results), err
}
