// Package allowedstore keeps the private hosts that a person allowed, in the database.
//
// The one rule: the list and the number by which others see that it changed are read in one look, so that no one keeps an
// old list under a new number.
package allowedstore

import (
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store is an allowed.Rows.
type Store struct{ db *sqldb.DB }

// New opens the list of a migrated database.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Hosts gives the list, if it is not the one that was seen.
func (s *Store) Hosts(ctx context.Context, seen int64) (hosts []allowed.Host, epoch int64, err error) {
	if epoch, err = settings.Now(ctx, s.db); err != nil || epoch == seen {
		return nil, epoch, err
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error { // both of one moment
		if epoch, err = settings.Epoch(tx); err != nil {
			return err
		}
		hosts = []allowed.Host{}
		return tx.All(look+" ORDER BY h.created_at, h.id", nil, func(scan func(...any) error) error {
			h, err := read(scan)
			hosts = append(hosts, h)
			return err
		})
	})
	return hosts, epoch, err
}

const look = "SELECT h.host, coalesce(h.agent_id, ''), coalesce(a.slug, ''), h.created_at, h.created_by FROM allowed_hosts h LEFT JOIN agents a ON a.id = h.agent_id"

func read(scan func(...any) error) (h allowed.Host, err error) {
	var at int64
	err = scan(&h.Host, &h.AgentID, &h.Agent, &at, &h.By)
	h.Created = time.UnixMicro(at).UTC()
	return h, err
}

// one finds a host on the list of an agent, or on that of all.
func one(tx *sqldb.Tx, host, agent string) (h allowed.Host, found bool, err error) {
	h, err = read(func(dest ...any) error {
		found, err = tx.One(look+" WHERE h.host = $1 AND coalesce(h.agent_id, '') = $2", []any{host, agent}, dest...)
		return err
	})
	return h, found, err
}

// Add keeps a host.
func (s *Store) Add(ctx context.Context, h allowed.Host, by string) (out allowed.Host, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if h.AgentID != "" {
			var is int64
			found, err := tx.One("SELECT 1 FROM agents WHERE id = $1", []any{h.AgentID}, &is)
			if err != nil {
				return err
			}
			if !found {
				return allowed.ErrNotFound
			}
		}
		var found bool
		if out, found, err = one(tx, h.Host, h.AgentID); err != nil || found {
			return err
		}
		if _, err := tx.Exec("INSERT INTO allowed_hosts (id, agent_id, host, created_at, created_by) VALUES ($1, $2, $3, now_us(), $4)",
			rowid.New("host"), forAgent(h.AgentID), h.Host, by); err != nil {
			return err
		}
		if err := changed(tx, by, "host.allowed", h.Host, h.AgentID); err != nil {
			return err
		}
		out, _, err = one(tx, h.Host, h.AgentID)
		return err
	})
	return out, err
}

// forAgent is nil for every agent.
func forAgent(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

func changed(tx *sqldb.Tx, by, verb, host, agent string) error {
	if err := settings.Changed(tx); err != nil {
		return err
	}
	detail := map[string]any{"agent": "all"}
	if agent != "" {
		detail["agent"] = agent
	}
	return auditstore.Append(tx, audit.Entry{Actor: by, Verb: verb, Subject: host, Detail: detail})
}

// Remove takes a host off the list.
func (s *Store) Remove(ctx context.Context, host, agent, by string) (out allowed.Host, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		var found bool
		if out, found, err = one(tx, host, agent); err != nil {
			return err
		}
		if !found {
			return allowed.ErrNotAllowed
		}
		if _, err := tx.Exec("DELETE FROM allowed_hosts WHERE host = $1 AND coalesce(agent_id, '') = $2", host, agent); err != nil {
			return err
		}
		return changed(tx, by, "host.removed", host, agent)
	})
	return out, err
}

// Import keeps hosts if there is none yet.
func (s *Store) Import(ctx context.Context, hosts []allowed.Host, by string) (did bool, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		var n int64
		if _, err := tx.One("SELECT count(*) FROM allowed_hosts", nil, &n); err != nil {
			return err
		}
		if did = n == 0 && len(hosts) > 0; !did {
			return nil
		}
		for _, h := range hosts {
			if _, err := tx.Exec("INSERT INTO allowed_hosts (id, agent_id, host, created_at, created_by) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
				rowid.New("host"), forAgent(h.AgentID), h.Host, h.Created.UnixMicro(), by); err != nil {
				return err
			}
		}
		if err := settings.Changed(tx); err != nil {
			return err
		}
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "hosts.imported", Subject: "install", Detail: map[string]any{"hosts": len(hosts)}})
	})
	return did, err
}
