// This file names the install: a random label, under which a browser on the same machine reaches its pages, so that no
// program on another port gets their cookies.
package settings

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"strings"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// labelBytes make a label of eight letters and digits: enough that another program does not guess it.
const labelBytes = 5

// Label gives the label of the install, which the first call of all chooses.
func Label(ctx context.Context, db *sqldb.DB) (label string, err error) {
	err = db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		label, err = readLabel(tx)
		return err
	})
	if err != nil || label != "" {
		return label, err
	}
	var random [labelBytes]byte
	_, _ = rand.Read(random[:]) // it does not fail: the runtime ends the process first
	fresh := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
	err = db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) (err error) {
		if _, err = tx.Exec("UPDATE settings SET install = $1 WHERE id = 1 AND install = ''", fresh); err != nil {
			return err
		}
		label, err = readLabel(tx)
		return err
	})
	return label, err
}

func readLabel(tx *sqldb.Tx) (label string, err error) {
	found, err := tx.One("SELECT install FROM settings WHERE id = 1", nil, &label)
	if err == nil && !found {
		err = errors.New("the row of settings is missing")
	}
	return label, err
}
