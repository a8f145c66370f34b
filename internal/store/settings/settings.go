// Package settings keeps the one row of an install: its epoch and its label.
//
// The one rule: whoever changes configuration says so in the same transaction, under the settings lock, by [Changed];
// every process reads the epoch once a second and resolves anew when it is another.
package settings

import (
	"context"
	"errors"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Changed adds 1 to the epoch. Every configuration write calls it, in its own transaction under sqldb.Settings.
func Changed(tx *sqldb.Tx) error {
	n, err := tx.Exec("UPDATE settings SET epoch = epoch + 1 WHERE id = 1")
	if err == nil && n != 1 {
		return errors.New("the row of settings is missing")
	}
	return err
}

const askEpoch = "SELECT epoch FROM settings WHERE id = 1"

// Epoch is how often the configuration changed.
func Epoch(tx *sqldb.Tx) (epoch int64, err error) {
	found, err := tx.One(askEpoch, nil, &epoch)
	return read(epoch, found, err)
}

// Now is Epoch where nothing else is to be read with it.
func Now(ctx context.Context, db *sqldb.DB) (epoch int64, err error) {
	found, err := db.One(ctx, askEpoch, nil, &epoch)
	return read(epoch, found, err)
}

func read(epoch int64, found bool, err error) (int64, error) {
	if err == nil && !found {
		return 0, errors.New("the row of settings is missing")
	}
	return epoch, err
}
