// This file is what concerns all agents: the pause of the install, and what an earlier version kept in files.
package agentstore

import (
	"context"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// PauseInstall sets or lifts the pause of all agents.
func (s *Store) PauseInstall(ctx context.Context, paused bool, by string) (p agent.Pause, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		var set, verb string
		var args []any
		if p, err = pause(tx); err != nil || (p != agent.Pause{}) == paused {
			return err
		}
		if set, verb, args = "paused_at = now_us(), paused_by = $1", "install.paused", []any{by}; !paused {
			set, verb, args = "paused_at = NULL, paused_by = NULL", "install.resumed", nil
		}
		if _, err := tx.Exec("UPDATE settings SET "+set+" WHERE id = 1", args...); err != nil {
			return err
		}
		if err := changed(tx, by, verb, "install", nil); err != nil {
			return err
		}
		p, err = pause(tx)
		return err
	})
	return p, err
}

// InstallPause is the pause of all agents.
func (s *Store) InstallPause(ctx context.Context) (p agent.Pause, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err = pause(tx)
		return err
	})
	return p, err
}

func pause(tx *sqldb.Tx) (agent.Pause, error) {
	var at *int64
	var by *string
	found, err := tx.One("SELECT paused_at, paused_by FROM settings WHERE id = 1", nil, &at, &by)
	if err := missing(found, err); err != nil {
		return agent.Pause{}, err
	}
	if at == nil || by == nil {
		return agent.Pause{}, nil
	}
	return agent.Pause{By: *by, At: instant(at)}, nil
}

// Import keeps what files held, if there is no agent yet.
func (s *Store) Import(ctx context.Context, e agent.Earlier, by string) (did bool, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		var n int64
		if _, err := tx.One("SELECT count(*) FROM agents", nil, &n); err != nil {
			return err
		}
		if did = n == 0; !did {
			return nil
		}
		for _, a := range e.Agents {
			if _, err := tx.Exec("INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ($1, $2, $3, 'active', 1, $4)",
				a.ID, a.Slug, a.Name, a.Created.UnixMicro()); err != nil {
				return err
			}
		}
		for _, t := range e.Tokens {
			var from *string
			if t.LastUse.From != "" {
				from = &t.LastUse.From
			}
			if _, err := tx.Exec("INSERT INTO agent_tokens (id, agent_id, hash, scope, created_at, revoked_at, used_at, used_from) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
				t.ID, t.AgentID, t.Hash, string(t.Scope), t.Created.UnixMicro(), micros(t.Revoked), micros(t.LastUse.At), from); err != nil {
				return err
			}
		}
		if err := settings.Changed(tx); err != nil {
			return err
		}
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "agents.imported", Subject: "install", Detail: map[string]any{"agents": len(e.Agents), "tokens": len(e.Tokens)}})
	})
	return did, err
}

// micros writes a time, nil for none.
func micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	us := t.UnixMicro()
	return &us
}
