// Package sessionstore keeps legacy MCP sessions in the database, so that a client's session outlives a restart and
// works at every process of the install.
package sessionstore

import (
	"context"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/mcpserver"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store is an mcpserver.Sessions.
type Store struct {
	db     *sqldb.DB
	sealer seal.Sealer
}

// New makes a store.
func New(db *sqldb.DB, s seal.Sealer) *Store { return &Store{db, s} }

func place(name string) seal.Place {
	return seal.Place{Table: "mcp_sessions", Column: "initialize", Row: name}
}

// Opened keeps a handshake.
func (s *Store) Opened(ctx context.Context, o mcpserver.Session) error {
	sealed, err := s.sealer.Seal(place(o.Name), o.Initialize)
	if err != nil {
		return fmt.Errorf("seal a handshake: %w", err)
	}
	return s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO mcp_sessions(id, agent_id, token_id, initialize, used_at) VALUES($1, $2, $3, $4, now_us()) ON CONFLICT DO NOTHING`,
			o.Name, o.Agent, o.Token, sealed)
		return err
	})
}

// Find gives a session that was used within idle, and notes that it is used.
func (s *Store) Find(ctx context.Context, name, token string, idle time.Duration) (mcpserver.Session, bool, error) {
	o := mcpserver.Session{Name: name, Token: token}
	var sealed []byte
	var found bool
	err := s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) (err error) {
		found, err = tx.One(`UPDATE mcp_sessions SET used_at = now_us() WHERE id = $1 AND token_id = $2 AND ended_at IS NULL AND used_at > now_us() - $3
RETURNING agent_id, initialize`, []any{name, token, idle.Microseconds()}, &o.Agent, &sealed)
		return err
	})
	if err != nil || !found {
		return mcpserver.Session{}, false, err
	}
	if o.Initialize, err = s.sealer.Open(place(name), sealed); err != nil {
		return mcpserver.Session{}, false, fmt.Errorf("session %s: %w", name, err)
	}
	return o, true, nil
}

// Used notes that a session is used.
func (s *Store) Used(ctx context.Context, name string) error {
	return s.set(ctx, `UPDATE mcp_sessions SET used_at = now_us() WHERE id = $1`, name)
}

// Ended forgets a session; its row goes with the next sweep.
func (s *Store) Ended(ctx context.Context, name string) error {
	return s.set(ctx, `UPDATE mcp_sessions SET ended_at = now_us() WHERE id = $1 AND ended_at IS NULL`, name)
}

func (s *Store) set(ctx context.Context, statement, name string) error {
	return s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(statement, name)
		return err
	})
}

// batch is how many rows one transaction of Expire deletes.
const batch = 500

// Expire deletes sessions that have ended or were not used within idle.
func (s *Store) Expire(ctx context.Context, idle time.Duration) error {
	for {
		var gone int64
		err := s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) (err error) {
			// The condition stands twice: what another uses meanwhile is judged again by the outer one alone, as its row is then.
			gone, err = tx.Exec(`DELETE FROM mcp_sessions WHERE (used_at < now_us() - $1 OR ended_at IS NOT NULL)
AND id IN (SELECT id FROM mcp_sessions WHERE used_at < now_us() - $1 OR ended_at IS NOT NULL LIMIT $2)`,
				idle.Microseconds(), batch)
			return err
		})
		if err != nil || gone < batch {
			return err
		}
	}
}
