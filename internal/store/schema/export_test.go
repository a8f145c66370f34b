package schema

import (
	"context"
	"io/fs"
	"math"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// UpWith is Up of a program that has these migrations.
func UpWith(ctx context.Context, db *sqldb.DB, files fs.FS) (int, error) {
	return set{files}.up(ctx, db, math.MaxInt64)
}

// CheckWith is Check of a program that has these migrations.
func CheckWith(ctx context.Context, db *sqldb.DB, files fs.FS) error {
	s, err := set{files}.look(ctx, db)
	if err != nil {
		return err
	}
	return s.Err()
}
