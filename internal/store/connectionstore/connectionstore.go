// Package connectionstore keeps which provider a capability uses, for the install and for agents, in the database.
//
// The one rule: a row is never deleted, so that its version never comes back and revives an offer that was made under it.
package connectionstore

import (
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store is a connection.Rows.
type Store struct{ db *sqldb.DB }

// New opens the connections of a migrated database.
func New(db *sqldb.DB) *Store { return &Store{db} }

const look = "SELECT owner, capability, mode, coalesce(provider, ''), version, coalesce(run_limit, 0), coalesce(minute_limit, 0), changed_at, changed_by FROM connections WHERE owner = $1"

func read(scan func(...any) error) (s connection.Setting, err error) {
	var at int64
	err = scan(&s.Owner, &s.Capability, &s.Mode, &s.Provider, &s.Version, &s.RunLimit, &s.MinuteLimit, &at, &s.ChangedBy)
	s.Changed = time.UnixMicro(at).UTC()
	return s, err
}

// one finds a setting; the zero Setting where there is none.
func one(tx *sqldb.Tx, owner, capability string) (connection.Setting, error) {
	found := false
	s, err := read(func(dest ...any) (err error) {
		found, err = tx.One(look+" AND capability = $2", []any{owner, capability}, dest...)
		return err
	})
	if err != nil || !found {
		return connection.Setting{}, err
	}
	return s, nil
}

// ownerIsThere says ErrNotFound where the owner is neither the install nor an agent.
func ownerIsThere(tx *sqldb.Tx, owner string) error {
	if owner == binding.Install {
		return nil
	}
	var is int64
	found, err := tx.One("SELECT 1 FROM agents WHERE id = $1", []any{owner}, &is)
	if err == nil && !found {
		return connection.ErrNotFound
	}
	return err
}

// Get gives an owner's setting.
func (s *Store) Get(ctx context.Context, owner, capability string) (out connection.Setting, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if err := ownerIsThere(tx, owner); err != nil {
			return err
		}
		out, err = one(tx, owner, capability)
		return err
	})
	return out, err
}

// Of lists an owner's settings.
func (s *Store) Of(ctx context.Context, owner string) ([]connection.Setting, error) {
	out := []connection.Setting{}
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if err := ownerIsThere(tx, owner); err != nil {
			return err
		}
		return tx.All(look+" ORDER BY capability", []any{owner}, func(scan func(...any) error) error {
			c, err := read(scan)
			out = append(out, c)
			return err
		})
	})
	return out, err
}

// Put replaces a setting.
func (s *Store) Put(ctx context.Context, c connection.Change, by string, check func(shared connection.Setting) error) (out connection.Setting, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if err := ownerIsThere(tx, c.Owner); err != nil {
			return err
		}
		shared, err := one(tx, binding.Install, c.Capability)
		if err != nil {
			return err
		}
		if err := check(shared); err != nil {
			return err
		}
		now, err := one(tx, c.Owner, c.Capability)
		if err != nil {
			return err
		}
		if now.Version != c.Version {
			return &connection.Conflict{Now: now}
		}
		var provider *string
		if c.Provider != "" {
			provider = &c.Provider
		}
		if _, err := tx.Exec(`INSERT INTO connections (owner, capability, mode, provider, version, run_limit, minute_limit, changed_at, changed_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, now_us(), $8)
			ON CONFLICT (owner, capability) DO UPDATE SET mode = $3, provider = $4, version = $5, run_limit = $6, minute_limit = $7, changed_at = now_us(), changed_by = $8`,
			c.Owner, c.Capability, c.Mode, provider, now.Version+1, c.RunLimit, c.MinuteLimit, by); err != nil {
			return err
		}
		if err := settings.Changed(tx); err != nil {
			return err
		}
		if out, err = one(tx, c.Owner, c.Capability); err != nil {
			return err
		}
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "connection.changed", Subject: c.Owner, Detail: map[string]any{
			"capability": out.Capability, "mode": out.Mode, "provider": out.Provider, "version": out.Version, "run_limit": out.RunLimit, "minute_limit": out.MinuteLimit}})
	})
	return out, err
}
