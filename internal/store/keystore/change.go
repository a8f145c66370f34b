// This file replaces the keyset's row: by one with a new key, by one without old keys, by one under another master key.
package keystore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Rotate makes a new key and has everything sealed with it from now on. What was sealed before still opens; Finish, or
// any process's Run, re-seals it and then drops the old keys. ErrMoved says that somebody else changed the keyset. by is
// who does it, for the audit: person:<id>, or system.
func (s *Store) Rotate(ctx context.Context, by string) error {
	if err := s.Look(); err != nil {
		return err
	}
	// The row first: keys that are taken after it are its own or newer ones, and then the row has moved. The other way
	// round a key that another call has just made would go with this one's commit.
	from := s.present()
	next, err := s.keys.WithNewPrimary()
	if err != nil {
		return err
	}
	s.o.Point("rotate.made")
	return s.change(ctx, rotated(by), next, from)
}

// Rewrap makes a new master key and puts the keyset under it. The new key takes the old one's place in its file; the old
// one opens nothing any more, but backups that were made before. It gives the new key's fingerprint.
func (s *Store) Rewrap(ctx context.Context, by string) (fingerprint string, err error) {
	next := seal.NewMaster()
	if err := s.Look(); err != nil {
		return "", err
	}
	from := s.present()
	// The file must have the present key: else a change of another process is under way between its commit and its file.
	if _, err := s.masters.For(from.master); err != nil {
		return "", fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if err := s.masters.Stage(next); err != nil {
		return "", err
	}
	s.o.Point("rewrap.staged")
	if err := s.changeTo(ctx, rewrapped(by), s.keys, next, from); err != nil {
		if !errors.Is(err, sqldb.ErrInDoubt) { // then nobody knows whether the staged key is the one
			err = errors.Join(err, s.masters.Unstage(next.Fingerprint()))
		}
		return "", err
	}
	if err := s.masters.Adopt(next.Fingerprint()); err != nil {
		return "", err
	}
	s.o.Point("rewrap.adopted")
	s.tidy(ctx)
	return next.Fingerprint(), nil
}

// RewrapTo puts the keyset under a master key that is kept elsewhere already. The configuration must name that place
// before the next start; processes that run go on with what they have in memory.
func (s *Store) RewrapTo(ctx context.Context, next seal.Master, by string) error {
	if err := s.Look(); err != nil {
		return err
	}
	from := s.present() // before the keys are read, as in Rotate
	if err := s.changeTo(ctx, rewrapped(by), s.keys, next, from); err != nil {
		return err
	}
	s.tidy(ctx)
	return nil
}

// change is what is done to the keyset's row: its name among the points, and how the audit tells it.
type change struct{ point, verb, by string }

func rotated(by string) change   { return change{"rotate", "keys.rotated", by} }
func rewrapped(by string) change { return change{"rewrap", "keys.rewrapped", by} }
func dropped() change            { return change{"drop", "keys.dropped", "system"} }

// change replaces the row of from by one with other keys, under the same master key.
func (s *Store) change(ctx context.Context, what change, keys *seal.Keyset, from row) error {
	m, err := s.masters.For(from.master)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return s.changeTo(ctx, what, keys, m, from)
}

func (s *Store) changeTo(ctx context.Context, what change, keys *seal.Keyset, m seal.Master, from row) error {
	next := row{id: rowid.New("keys"), master: m.Fingerprint(), primary: keys.Primary()}
	var err error
	if next.wrapped, err = keys.Wrap(m, next.id); err != nil {
		return err
	}
	err = s.write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		there, found, err := currentRow(tx)
		switch {
		case err != nil:
			return err
		case found && there.id == next.id: // the commit that was in doubt has happened
			next.created = there.created
			return nil
		case !found || there.id != from.id:
			return ErrMoved
		}
		// The old row stays as a date, without its keys: they are in the new one, or were dropped from it.
		if _, err := tx.Exec("UPDATE keysets SET retired_at = now_us(), wrapped = $2 WHERE id = $1", from.id, []byte{}); err != nil {
			return fmt.Errorf("retire the keyset: %w", err)
		}
		if err := insert(tx, next); err != nil {
			return err
		}
		if _, err := tx.One("SELECT created_at FROM keysets WHERE id = $1", []any{next.id}, &next.created); err != nil {
			return err
		}
		if err := auditstore.Append(tx, audit.Entry{Actor: what.by, Verb: what.verb, Subject: next.id,
			Detail: map[string]any{"key": next.primary, "keys": keys.Keys(), "master": next.master, "was": from.id}}); err != nil {
			return err
		}
		s.o.Point(what.point + ".before_commit")
		return nil
	})
	if err != nil {
		return err
	}
	s.o.Point(what.point + ".after_commit")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.have = next
	s.keys.Replace(keys)
	return nil
}

// tidy takes the bytes of replaced keysets off the disk as far as the database can: what is deleted stays in a log or in
// dead rows for a while. The change itself is made, so nothing of this is an error.
func (s *Store) tidy(ctx context.Context) {
	err := s.db.Maintain(ctx, func(ctx context.Context, pool *sql.DB) error {
		if s.db.Dialect() == sqldb.Postgres {
			_, err := pool.ExecContext(ctx, "VACUUM FULL keysets")
			return err
		}
		// Pages are wiped as they are freed; the log has older ones.
		var busy, in, out int64
		if err := pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &in, &out); err != nil {
			return err
		}
		if busy != 0 {
			return errors.New("another process is reading")
		}
		return nil
	})
	if err != nil {
		s.o.Log.Warn("keys: bytes of the replaced keyset stay on the disk until the database next cleans up", "err", err)
	}
}
