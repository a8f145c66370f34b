package sqldb

import "context"

// OpenQueue opens a SQLite database and tells how many jobs wait for its writer.
func OpenQueue(ctx context.Context, path string) (*DB, func() int, error) {
	db, w, err := openSQLite(ctx, path, nil)
	if err != nil {
		return nil, nil, err
	}
	return db, func() int { return len(w.jobs) }, nil
}
