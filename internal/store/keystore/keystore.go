// Package keystore keeps the keyset of an install in its database, under the master key, and changes both: a new key for
// all that is sealed, a new master key for the keyset.
//
// The one rule: a key is dropped only when nothing is sealed under it and nobody can still seal with it. No key is made
// while sealed rows exist whose key is not there: that would hide a loss.
package keystore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	// looked is how long a process may seal without another look at which key seals.
	looked = 30 * time.Second
	// grace is how long after a new primary a process may still write what it sealed with an old key: it may have looked
	// just before, and a transaction waits, runs up to 10 s and is repeated up to five times.
	grace = 5 * time.Minute
	// lookEvery is how often a process looks by itself.
	lookEvery = time.Second
	// keyBytes is the length of the digest key and of the audit key: that of SHA-256.
	keyBytes = 32
)

var (
	// ErrLocked says that the keyset cannot be opened: the master key is missing, damaged or another one. The error says
	// which, and names the way out.
	ErrLocked = errors.New("the keys of this install are locked")
	// ErrLost says that sealed rows are there and their keyset is not.
	ErrLost = errors.New("the keyset is gone while sealed rows exist")
	// ErrMoved says that another process changed the keyset at the same time.
	ErrMoved = errors.New("the keyset was changed by another process just now; look again and repeat if it is still wanted")
)

// Options are what a store is made with; all may be zero.
type Options struct {
	// Log hears what no caller does; nil drops it.
	Log *slog.Logger
	// Point is called by tests of sudden death at named points; nil does nothing.
	Point func(name string)
}

// Store is the keyset of an install as one process has it. It is safe for concurrent use, and prints as a mark.
type Store struct {
	db      *sqldb.DB
	masters *keyfile.Source
	o       Options
	keys    *seal.Keyset
	digest  []byte
	audit   []byte
	sleep   func(ctx context.Context, d time.Duration) error
	clock   func() time.Duration // monotonic, from any point

	seen atomic.Int64 // when the last good look began, by the clock

	mu     sync.Mutex // guards what follows, and that keys are replaced in the order of the looks
	have   row
	locked error
}

// row is a keyset as it is kept.
type row struct {
	id, master, primary string
	wrapped             []byte
	created             int64
}

// Open loads the keyset. On a database without one, and without a sealed row, it makes the keyset, its keys and, if there
// is none, the master key; of several processes that do so at once, all get the same. ErrLocked and ErrLost say why
// there is nothing to be had; nothing is changed then.
func Open(ctx context.Context, db *sqldb.DB, masters *keyfile.Source, o Options) (*Store, error) {
	start := time.Now()
	s := &Store{db: db, masters: masters, sleep: sleep, clock: func() time.Duration { return time.Since(start) }}
	return open(ctx, s.with(o))
}

func (s *Store) with(o Options) *Store {
	if s.o = o; o.Log == nil {
		s.o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Point == nil {
		s.o.Point = func(string) {}
	}
	return s
}

func open(ctx context.Context, s *Store) (*Store, error) {
	began := s.clock()
	r, found, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	if !found {
		if r, err = s.first(ctx); err != nil {
			return nil, err
		}
	}
	if s.keys, err = s.unwrap(r); err != nil {
		return nil, err
	}
	s.have = r
	s.seen.Store(int64(began))
	s.keys.From(seal.Source{Load: s.Look, Fresh: func() bool { return s.clock()-time.Duration(s.seen.Load()) < looked }})
	if err := s.readKeys(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Keys is what stores seal and open with.
func (s *Store) Keys() *seal.Keyset { return s.keys }

// DigestKey keys the digests of arguments; it stays when keys rotate. 32 bytes.
func (s *Store) DigestKey() []byte { return s.digest }

// AuditKey keys the chain of the audit; it stays when keys rotate. 32 bytes.
func (s *Store) AuditKey() []byte { return s.audit }

// Format prints a mark, whatever the verb is.
func (s *Store) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, secret.Mark) }

// Look loads the keyset anew if another process changed it. It has no caller's context, as it also runs inside whatever
// seals or opens.
func (s *Store) Look() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := s.clock()
	r, found, err := s.current(context.Background())
	if err != nil {
		return err
	}
	if !found {
		return ErrLost
	}
	if r.id != s.have.id {
		k, err := s.unwrap(r)
		if s.locked = err; err == nil {
			s.have = r
			s.keys.Replace(k)
		} else if s.keys.Primary() != r.primary {
			return err
		}
		// Under a master key that this process does not have, and with the key that seals here: work goes on until the
		// next start, and Ready tells.
	}
	s.seen.Store(int64(began))
	return nil
}

// Ready says why a start would fail with the master key that this process has now; nil where it would not.
func (s *Store) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.locked
}

func (s *Store) present() row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.have
}

func (s *Store) current(ctx context.Context) (r row, found bool, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		r, found, err = currentRow(tx)
		return err
	})
	return r, found, err
}

func currentRow(tx *sqldb.Tx) (r row, found bool, err error) {
	found, err = tx.One("SELECT id, wrapped, master, primary_key, created_at FROM keysets WHERE retired_at IS NULL", nil,
		&r.id, &r.wrapped, &r.master, &r.primary, &r.created)
	if err != nil {
		err = fmt.Errorf("read the keyset: %w", err)
	}
	return r, found, err
}

// unwrap opens a row with the master key, and finishes a change of the master key that was cut off after its commit.
func (s *Store) unwrap(r row) (*seal.Keyset, error) {
	m, err := s.masters.For(r.master)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	k, err := seal.Unwrap(m, r.id, r.wrapped)
	if err != nil {
		return nil, fmt.Errorf("%w: the row %s of keysets is damaged (the master key is the right one); restore a backup: %w", ErrLocked, r.id, err)
	}
	if k.Primary() != r.primary {
		return nil, fmt.Errorf("%w: the row %s of keysets was changed: it names key %s, and %s seals; restore a backup", ErrLocked, r.id, r.primary, k.Primary())
	}
	return k, nil
}

// write runs a transaction that finds its own work done where it is run again: once more when a commit was in doubt.
func (s *Store) write(ctx context.Context, lock sqldb.Lock, do func(*sqldb.Tx) error) error {
	err := s.db.Write(ctx, lock, do)
	if errors.Is(err, sqldb.ErrInDoubt) {
		if again := s.db.Write(ctx, lock, do); again != nil {
			return errors.Join(err, again) // the doubt stays
		}
		return nil
	}
	return err
}

func digestPlace() seal.Place {
	return seal.Place{Table: "settings", Column: "digest_key", Row: "1"}
}
func auditPlace() seal.Place { return seal.Place{Table: "settings", Column: "audit_key", Row: "1"} }

// readKeys opens the digest key and the audit key.
func (s *Store) readKeys(ctx context.Context) error {
	var digest, audit sql.Null[[]byte]
	if err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.One("SELECT digest_key, audit_key FROM settings WHERE id = 1", nil, &digest, &audit)
		return err
	}); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	for _, k := range []struct {
		place seal.Place
		box   []byte
		into  *[]byte
	}{{digestPlace(), digest.V, &s.digest}, {auditPlace(), audit.V, &s.audit}} {
		plain, err := s.keys.Open(k.place, k.box)
		if err == nil && len(plain) != keyBytes {
			err = fmt.Errorf("it has %d bytes", len(plain))
		}
		if err != nil {
			return fmt.Errorf("%w: %s.%s does not open, though the keyset does; restore a backup: %w", ErrLost, k.place.Table, k.place.Column, err)
		}
		*k.into = plain
	}
	return nil
}
