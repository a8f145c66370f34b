// Package backup copies an install out of its database while it serves, and back into an empty one.
//
// The one rule: a backup is one file of one form, a SQLite database, whichever database the install is on; so it goes
// back into either. And what comes back has no rights that were in use: runs, questions, sign-ins and calls in flight
// end, in the same transaction that brings the rows.
package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Keys says which keys a backup has, for whoever makes one.
const Keys = "The master key is not in the backup: without it nothing that is sealed opens, so keep it apart (`wayleave keys export`). " +
	"The keyset is in it, wrapped under the master key of the time of the backup."

// Made is what a backup is.
type Made struct {
	Schema int64 // of its tables; a program that knows it, or a later one, restores it
	Bytes  int64
}

// Backup writes one state of the database to a new file at path, readable by its owner alone, while others read and
// write. The file appears under its name when it is whole and on the disk. fs.ErrExist when something is there; it never
// overwrites.
func Backup(ctx context.Context, db *sqldb.DB, path string) (Made, error) {
	state, err := schema.Look(ctx, db)
	if err != nil {
		return Made{}, err
	}
	if state.Version == 0 {
		return Made{}, errors.New("there is nothing to back up: the database has no tables")
	}
	copied := db.Copy
	if db.Dialect() == sqldb.Postgres {
		if state.Version > state.Known { // its columns are not known here
			return Made{}, fmt.Errorf("%w: it has schema %d, this program knows %d; back it up with the newer program", schema.ErrTooNew, state.Version, state.Known)
		}
		copied = func(ctx context.Context, path string) error { return portable(ctx, db, state.Version, path) }
	}
	if err := copied(ctx, path); err != nil {
		return Made{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Made{}, err
	}
	return Made{Schema: state.Version, Bytes: info.Size()}, nil
}

// portable copies all rows of a PostgreSQL database, as they are at one moment, into a SQLite database of the same
// schema.
func portable(ctx context.Context, db *sqldb.DB, version int64, path string) (err error) {
	folder, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.partial")
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	lite, err := sqldb.OpenSQLite(ctx, filepath.Join(folder, "rows.db"), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lite.Close()) }()
	if err := schema.To(ctx, lite, version); err != nil {
		return err
	}
	err = db.Long(ctx, func(from *sqldb.Tx) error {
		return lite.Long(ctx, func(to *sqldb.Tx) error { return rows(from, to, to) })
	})
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return lite.Copy(ctx, path)
}
