// This file is the first start: the keyset, its keys and, if there is none, the master key.
package keystore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// first makes what an install begins with, or gives what somebody made since the caller looked.
func (s *Store) first(ctx context.Context) (row, error) {
	var there row
	var found bool
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if there, found, err = currentRow(tx); err != nil || found {
			return err
		}
		return nothingSealed(tx)
	})
	if err != nil || found {
		return there, err
	}
	m, made, err := s.masters.Make()
	if err != nil {
		return row{}, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return s.begin(ctx, m, made)
}

// begin writes the first keyset under a master key, unless somebody else was faster, and gives the one that counts.
func (s *Store) begin(ctx context.Context, m seal.Master, made bool) (row, error) {
	k, err := seal.NewKeyset()
	if err != nil {
		return row{}, err
	}
	mine := row{id: rowid.New("keys"), master: m.Fingerprint(), primary: k.Primary()}
	if mine.wrapped, err = k.Wrap(m, mine.id); err != nil {
		return row{}, err
	}
	digest, audit := make([]byte, keyBytes), make([]byte, keyBytes)
	_, _ = rand.Read(digest) // they do not fail: the runtime ends the process first
	_, _ = rand.Read(audit)
	if digest, err = k.Seal(digestPlace(), digest); err != nil {
		return row{}, err
	}
	if audit, err = k.Seal(auditPlace(), audit); err != nil {
		return row{}, err
	}
	var there row
	err = s.write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		r, found, err := currentRow(tx)
		if there = r; err != nil || found {
			return err
		}
		if err := nothingSealed(tx); err != nil {
			return err
		}
		if err := insert(tx, mine); err != nil {
			return err
		}
		n, err := tx.Exec("UPDATE settings SET digest_key = $1, audit_key = $2 WHERE id = 1", digest, audit)
		if err == nil && n != 1 {
			err = errors.New("the row of settings is missing")
		}
		there = mine
		s.o.Point("first.before_commit")
		return err
	})
	if err != nil {
		return row{}, err
	}
	s.o.Point("first.after_commit")
	if made && there.master != m.Fingerprint() {
		// Another machine was first, with a master key of its own: ours protects nothing.
		if err := s.masters.Forget(m); err != nil {
			return row{}, err
		}
	}
	return there, nil
}

func insert(tx *sqldb.Tx, r row) error {
	_, err := tx.Exec("INSERT INTO keysets (id, wrapped, master, primary_key, created_at) VALUES ($1, $2, $3, $4, now_us())", r.id, r.wrapped, r.master, r.primary)
	if err != nil {
		return fmt.Errorf("keep the keyset: %w", err)
	}
	return nil
}

// nothingSealed is ErrLost where a sealed value is there, or a keyset once was.
func nothingSealed(tx *sqldb.Tx) error {
	const way = "put the database and its keysets back from a backup; a new key would not open what is there"
	var one int64
	if found, err := tx.One("SELECT 1 FROM keysets LIMIT 1", nil, &one); err != nil {
		return err
	} else if found {
		return fmt.Errorf("%w: the table keysets has old rows and no present one; %s", ErrLost, way)
	}
	for _, c := range sealedColumns() {
		if found, err := c.any(tx); err != nil {
			return err
		} else if found {
			return fmt.Errorf("%w: %s.%s has values and the table keysets is empty; %s", ErrLost, c.Table, c.Name, way)
		}
	}
	return nil
}
