// This file keeps what a SQLite database was before a migration.
package schema

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	// backupsAtMost is how many are kept; the oldest goes first.
	backupsAtMost = 3
	backupTime    = "20060102T150405.000Z"
	backupEnd     = ".backup"
)

// backup copies the database to NAME.schema-VERSION.TIME.backup beside it.
func backup(ctx context.Context, db *sqldb.DB, version int64, now time.Time) error {
	name := fmt.Sprintf("%s.schema-%d.%s%s", db.File(), version, now.UTC().Format(backupTime), backupEnd)
	if err := db.Copy(ctx, name); err != nil {
		return fmt.Errorf("back up the database before it is migrated: %w", err)
	}
	all, err := Backups(db.File())
	if err != nil {
		return err
	}
	for len(all) > backupsAtMost {
		if err := os.Remove(all[0]); err != nil {
			return fmt.Errorf("remove an old backup: %w", err)
		}
		all = all[1:]
	}
	return nil
}

// Backups lists the copies that migrations left beside a SQLite database, oldest first.
func Backups(file string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(file)+".schema-") && strings.HasSuffix(e.Name(), backupEnd) {
			all = append(all, filepath.Join(filepath.Dir(file), e.Name()))
		}
	}
	// By time: a version of more digits does not sort behind one of fewer.
	when := func(name string) string {
		name = strings.TrimSuffix(name, backupEnd)
		return name[max(0, len(name)-len(backupTime)):]
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(when(a), when(b)) })
	return all, nil
}
