// Package agentstore keeps agents and their tokens in the database.
//
// The one rule: what changes who may call is written under the settings lock, so that when it was answered, nobody is let
// in under the old state.
package agentstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store is an agent.Rows.
type Store struct{ db *sqldb.DB }

// New opens the agents of a migrated database.
func New(db *sqldb.DB) *Store { return &Store{db} }

const (
	agentColumns = "a.id, a.slug, a.name, a.state, a.grants_version, a.elicitation, a.paused_at, a.paused_by, a.created_at"
	tokenColumns = "t.id, t.agent_id, a.slug, t.scope, t.hash, t.created_at, t.revoked_at, t.used_at, t.used_from"
)

// agentRow is where the columns of an agent are read into.
type agentRow struct {
	a               agent.Agent
	state           string
	pausedAt        *int64
	pausedBy        *string
	created, asking int64
}

func (r *agentRow) dest() []any {
	return []any{&r.a.ID, &r.a.Slug, &r.a.Name, &r.state, &r.a.GrantsVersion, &r.asking, &r.pausedAt, &r.pausedBy, &r.created}
}

func (r *agentRow) agent() agent.Agent {
	a := r.a
	// A state that this program does not know is no permission.
	a.Disabled, a.Elicitation, a.Created = r.state != "active", r.asking == 1, instant(&r.created)
	if r.pausedAt != nil && r.pausedBy != nil {
		a.Paused = agent.Pause{By: *r.pausedBy, At: instant(r.pausedAt)}
	}
	return a
}

// tokenRow is where the columns of a token are read into.
type tokenRow struct {
	t             agent.Token
	scope         string
	created       int64
	revoked, used *int64
	from          *string
}

func (r *tokenRow) dest() []any {
	return []any{&r.t.ID, &r.t.AgentID, &r.t.Agent, &r.scope, &r.t.Hash, &r.created, &r.revoked, &r.used, &r.from}
}

func (r *tokenRow) token() agent.Token {
	t := r.t
	t.Scope, t.Created, t.Revoked = agent.Scope(r.scope), instant(&r.created), instant(r.revoked)
	if r.used != nil {
		t.LastUse.At = instant(r.used)
		if r.from != nil {
			t.LastUse.From = *r.from
		}
	}
	return t
}

// instant reads a time of the database, zero for none.
func instant(us *int64) time.Time {
	if us == nil {
		return time.Time{}
	}
	return time.UnixMicro(*us).UTC()
}

// Holder finds a token by its hash.
func (s *Store) Holder(ctx context.Context, hash string) (agent.Agent, agent.Token, agent.Moment, error) {
	var a agentRow
	var t tokenRow
	var now agent.Moment
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if now, err = moment(tx); err != nil {
			return err
		}
		found, err := tx.One("SELECT "+agentColumns+", "+tokenColumns+" FROM agent_tokens t JOIN agents a ON a.id = t.agent_id WHERE t.hash = $1",
			[]any{hash}, append(a.dest(), t.dest()...)...)
		return missing(found, err)
	})
	if err != nil {
		return agent.Agent{}, agent.Token{}, agent.Moment{}, err
	}
	return a.agent(), t.token(), now, nil
}

// Moment is the database's now.
func (s *Store) Moment(ctx context.Context) (now agent.Moment, err error) {
	var at int64
	found, err := s.db.One(ctx, askMoment, nil, &now.Epoch, &at)
	now.At = instant(&at)
	return now, missing(found, err)
}

const askMoment = "SELECT epoch, now_us() FROM settings WHERE id = 1"

func moment(tx *sqldb.Tx) (now agent.Moment, err error) {
	var at int64
	found, err := tx.One(askMoment, nil, &now.Epoch, &at)
	now.At = instant(&at)
	return now, missing(found, err)
}

// missing makes a row that is not there an error.
func missing(found bool, err error) error {
	if err == nil && !found {
		return agent.ErrNotFound
	}
	return err
}

// Works says whether a token may be used.
func (s *Store) Works(ctx context.Context, token string) (works bool, err error) {
	var one int64
	return s.db.One(ctx, "SELECT 1 FROM agent_tokens t JOIN agents a ON a.id = t.agent_id WHERE t.id = $1 AND t.revoked_at IS NULL AND a.state = 'active'", []any{token}, &one)
}

// Agents lists agents.
func (s *Store) Agents(ctx context.Context, ids []string) ([]agent.Agent, error) {
	out := []agent.Agent{}
	where, args := among("a.id", ids)
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		return tx.All("SELECT "+agentColumns+" FROM agents a WHERE "+where+" ORDER BY a.slug", args, func(scan func(...any) error) error {
			var r agentRow
			if err := scan(r.dest()...); err != nil {
				return err
			}
			out = append(out, r.agent())
			return nil
		})
	})
	return out, err
}

// Tokens lists tokens.
func (s *Store) Tokens(ctx context.Context, ids []string) ([]agent.Token, error) {
	out := []agent.Token{}
	where, args := among("a.id", ids)
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		return tx.All("SELECT "+tokenColumns+" FROM agent_tokens t JOIN agents a ON a.id = t.agent_id WHERE "+where+" ORDER BY t.created_at, t.id", args,
			func(scan func(...any) error) error {
				var r tokenRow
				if err := scan(r.dest()...); err != nil {
					return err
				}
				out = append(out, r.token())
				return nil
			})
	})
	return out, err
}

// among is the condition that a column is one of ids; nil means any, no ids none.
func among(column string, ids []string) (string, []any) {
	switch {
	case ids == nil:
		return "1 = 1", nil
	case len(ids) == 0:
		return "1 = 0", nil
	}
	marks, args := make([]string, len(ids)), make([]any, len(ids))
	for i, id := range ids {
		marks[i], args[i] = fmt.Sprintf("$%d", i+1), id
	}
	return column + " IN (" + strings.Join(marks, ", ") + ")", args
}

// BySlug finds an agent.
func (s *Store) BySlug(ctx context.Context, slug string) (a agent.Agent, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		a, err = one(tx, "slug", slug)
		return err
	})
	return a, err
}

func one(tx *sqldb.Tx, column, value string) (agent.Agent, error) {
	var r agentRow
	found, err := tx.One("SELECT "+agentColumns+" FROM agents a WHERE a."+column+" = $1", []any{value}, r.dest()...)
	if err := missing(found, err); err != nil {
		return agent.Agent{}, err
	}
	return r.agent(), nil
}

// changed says in a transaction that configuration was changed, and by whom.
func changed(tx *sqldb.Tx, by, verb, subject string, detail map[string]any) error {
	if err := settings.Changed(tx); err != nil {
		return err
	}
	return auditstore.Append(tx, audit.Entry{Actor: by, Verb: verb, Subject: subject, Detail: detail})
}

// Ensure makes an agent where its slug is free. Most often it is there: that is found without the lock.
func (s *Store) Ensure(ctx context.Context, a agent.Agent, by string) (found agent.Agent, made bool, err error) {
	if found, err = s.BySlug(ctx, a.Slug); !errors.Is(err, agent.ErrNotFound) {
		return found, false, err
	}
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		n, err := tx.Exec("INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ($1, $2, $3, 'active', 1, now_us()) ON CONFLICT (slug) DO NOTHING",
			a.ID, a.Slug, a.Name)
		if err != nil {
			return err
		}
		if made = n == 1; made {
			if err := changed(tx, by, "agent.created", a.ID, map[string]any{"slug": a.Slug}); err != nil {
				return err
			}
		}
		found, err = one(tx, "slug", a.Slug)
		return err
	})
	return found, made, err
}

// Change lets edit change an agent.
func (s *Store) Change(ctx context.Context, id, by string, edit func(*agent.Agent)) (after agent.Agent, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		before, err := one(tx, "id", id)
		if err != nil {
			return err
		}
		after = before
		edit(&after)
		verbs := differences(before, after)
		if len(verbs) == 0 {
			return nil
		}
		state, asking := "active", 0
		if after.Disabled {
			state = "disabled"
			if !before.Disabled { // all that was offered is stale, and what is in flight under it is cancelled and withheld
				after.GrantsVersion++
			}
		}
		if after.Elicitation {
			asking = 1
		}
		var pausedBy *string
		var pausedAt *int64
		if after.Paused.By != "" {
			pausedBy, pausedAt = &after.Paused.By, micros(before.Paused.At)
			if before.Paused.By == "" {
				now, err := tx.Now()
				if err != nil {
					return err
				}
				pausedAt = &now
			}
		}
		if _, err := tx.Exec("UPDATE agents SET name = $2, state = $3, grants_version = $4, elicitation = $5, paused_by = $6, paused_at = $7 WHERE id = $1",
			id, after.Name, state, after.GrantsVersion, asking, pausedBy, pausedAt); err != nil {
			return err
		}
		for _, verb := range verbs {
			if err := auditstore.Append(tx, audit.Entry{Actor: by, Verb: verb, Subject: id, Detail: map[string]any{"slug": after.Slug}}); err != nil {
				return err
			}
		}
		if err := settings.Changed(tx); err != nil {
			return err
		}
		after, err = one(tx, "id", id)
		return err
	})
	return after, err
}

// differences are what the audit calls the step from one state of an agent to another.
func differences(before, after agent.Agent) []string {
	var verbs []string
	say := func(was, is bool, up, down string) {
		switch {
		case !was && is:
			verbs = append(verbs, up)
		case was && !is:
			verbs = append(verbs, down)
		}
	}
	say(before.Disabled, after.Disabled, "agent.disabled", "agent.enabled")
	say(before.Paused.By != "", after.Paused.By != "", "agent.paused", "agent.resumed")
	say(before.Elicitation, after.Elicitation, "agent.elicitation_on", "agent.elicitation_off")
	if before.Name != after.Name {
		verbs = append(verbs, "agent.renamed")
	}
	return verbs
}

// AddToken keeps a token.
func (s *Store) AddToken(ctx context.Context, t agent.Token, by string) (out agent.Token, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if _, err := one(tx, "id", t.AgentID); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO agent_tokens (id, agent_id, hash, scope, created_at) VALUES ($1, $2, $3, $4, now_us())", t.ID, t.AgentID, t.Hash, string(t.Scope)); err != nil {
			return err
		}
		if err := changed(tx, by, "token.created", t.ID, map[string]any{"agent": t.AgentID, "scope": string(t.Scope)}); err != nil {
			return err
		}
		out, err = token(tx, t.AgentID, t.ID, "")
		return err
	})
	return out, err
}

// token finds a token of an agent's by id or hash; agent empty means of any agent.
func token(tx *sqldb.Tx, owner, id, hash string) (agent.Token, error) {
	var r tokenRow
	found, err := tx.One("SELECT "+tokenColumns+" FROM agent_tokens t JOIN agents a ON a.id = t.agent_id WHERE (t.id = $2 OR t.hash = $3) AND ($1 = '' OR t.agent_id = $1)",
		[]any{owner, id, hash}, r.dest()...)
	if err := missing(found, err); err != nil {
		return agent.Token{}, err
	}
	return r.token(), nil
}

// Revoke ends a token.
func (s *Store) Revoke(ctx context.Context, owner, id, hash, by string) (out agent.Token, err error) {
	err = s.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if out, err = token(tx, owner, id, hash); err != nil || !out.Revoked.IsZero() {
			return err
		}
		if _, err := tx.Exec("UPDATE agent_tokens SET revoked_at = now_us() WHERE id = $1 AND revoked_at IS NULL", out.ID); err != nil {
			return err
		}
		if err := changed(tx, by, "token.revoked", out.ID, map[string]any{"agent": out.AgentID}); err != nil {
			return err
		}
		out, err = token(tx, out.AgentID, out.ID, "")
		return err
	})
	return out, err
}

// usesAtOnce is how many uses one transaction notes.
const usesAtOnce = 500

// NoteUses writes when tokens were used.
func (s *Store) NoteUses(ctx context.Context, uses map[string]agent.Use) error {
	ids := make([]string, 0, len(uses))
	for id := range uses {
		ids = append(ids, id)
	}
	slices.Sort(ids) // every process takes the rows in one order
	for some := range slices.Chunk(ids, usesAtOnce) {
		err := s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
			for _, id := range some {
				if _, err := tx.Exec("UPDATE agent_tokens SET used_at = $2, used_from = $3 WHERE id = $1 AND (used_at IS NULL OR used_at < $2)",
					id, uses[id].At.UnixMicro(), uses[id].From); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("note when tokens were used: %w", err)
		}
	}
	return nil
}
