// This file copies a SQLite database that is being written, and cuts what was deleted out of its files.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Copy writes one state of a SQLite database to a new file at path, readable by its owner alone, while others read and
// write. The file appears under its name when it is whole and on the disk. fs.ErrExist when something is there.
func (db *DB) Copy(ctx context.Context, path string) (err error) {
	if db.dialect != SQLite {
		return errors.New("only SQLite is copied as a file")
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("copy the database to %s: %w", path, fs.ErrExist)
	}
	// It is made before SQLite writes into it: so it is private from the first byte.
	partial, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.partial")
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(partial.Name())
		}
	}()
	err = db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, "VACUUM INTO $1", partial.Name())
		return fault(SQLite, err)
	})
	if err = errors.Join(err, partial.Sync(), partial.Close()); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if err = os.Rename(partial.Name(), path); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename last. Windows has no such call, and needs none.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

const (
	// cutAttempts times cutPause is how long a cut waits for readers to be out of the way.
	cutAttempts = 10
	cutPause    = 50 * time.Millisecond
)

// Cut sees to it that rows that were deleted or overwritten are not left in the database's files. On SQLite freed pages
// are overwritten at once, and the log, which still has them, is emptied here; ErrUnavailable says that somebody read all
// the time, and that it is to be tried again. On PostgreSQL all tables are vacuumed, so that their space is used again;
// until it is, bytes of a dead row may stay in a page, in the log and in replicas.
func (db *DB) Cut(ctx context.Context) error {
	return db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		if db.dialect == Postgres {
			_, err := pool.ExecContext(ctx, "VACUUM")
			return fault(Postgres, err)
		}
		conn, err := pool.Conn(ctx)
		if err != nil {
			return fault(SQLite, err)
		}
		defer func() { _ = conn.Close() }()
		return emptyLog(ctx, conn)
	})
}

func emptyLog(ctx context.Context, conn *sql.Conn) error {
	// It must not wait inside SQLite: writers would wait with it.
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return fault(SQLite, err)
	}
	for n := 1; ; n++ {
		var busy, frames, moved int64
		if err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
			return fmt.Errorf("empty the database's log: %w", fault(SQLite, err))
		}
		if busy == 0 {
			return nil
		}
		if n == cutAttempts {
			return fmt.Errorf("%w: its log could not be emptied: somebody was reading all the time", ErrUnavailable)
		}
		select {
		case <-time.After(cutPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
