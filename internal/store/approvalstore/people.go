// This file is what people do with questions: look at them, answer them, deny them all.
package approvalstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Show gives one approval.
func (s *Store) Show(ctx context.Context, id string) (approval.Approval, error) {
	var out approval.Approval
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		a, err := s.show(tx, id)
		out = a
		return err
	})
	if err != nil {
		return approval.Approval{}, fmt.Errorf("show an approval: %w", err)
	}
	return out, nil
}

func (s *Store) show(tx *sqldb.Tx, id string) (approval.Approval, error) {
	a, err := (&standing{Store: s, tx: tx}).one("a.id = $1", id)
	switch {
	case err != nil:
		return approval.Approval{}, err
	case a == nil:
		return approval.Approval{}, approval.ErrNotFound
	}
	return *a, nil
}

// Answer stores a person's answer. Only the first one counts: ErrNotOpen comes with the approval as it stands.
func (s *Store) Answer(ctx context.Context, id string, r approval.Reply) (approval.Approval, error) {
	if err := r.Check(); err != nil {
		return approval.Approval{}, err
	}
	var out approval.Approval
	var verdict error
	err := s.db.Write(ctx, sqldb.Calls, func(tx *sqldb.Tx) error {
		var err error
		out, verdict, err = s.answer(tx, id, r)
		return err
	})
	if err == nil {
		err = verdict
	}
	if err != nil {
		return out, fmt.Errorf("answer %s: %w", subject(id), err)
	}
	return out, nil
}

func (s *Store) answer(tx *sqldb.Tx, id string, r approval.Reply) (a approval.Approval, verdict, err error) {
	a, err = s.show(tx, id)
	switch {
	case err != nil:
		return approval.Approval{}, nil, err
	case r.Channel == approval.Elicitation && !a.Elicits:
		// The rows of agents do not change under the settings lock, which this transaction shares.
		return a, approval.ErrMayNotElicit, auditstore.Append(tx, audit.Entry{Actor: r.By, Verb: "approval.misused", Subject: a.ID,
			Detail: map[string]any{"run": a.Run, "tool": a.Tool, "channel": string(r.Channel), "why": "the agent's client may not answer"}})
	}
	to := approval.Approved
	if r.Answer == approval.Deny {
		to = approval.Denied
	}
	// Ended runs stay ended, so the guard may read their row.
	n, err := tx.Exec(`UPDATE approvals SET state = $2, channel = $3, answered_by = $4, answered_at = now_us(), good_until = now_us() + $5
WHERE id = $1 AND state = 'open' AND expires_at > now_us() AND EXISTS (SELECT 1 FROM runs r WHERE r.id = approvals.run_id AND r.state = 'open')`,
		id, string(to), string(r.Channel), r.By, approval.GoodFor.Microseconds())
	if err != nil {
		return approval.Approval{}, nil, err
	}
	if a, err = s.show(tx, id); err != nil {
		return approval.Approval{}, nil, err
	}
	if n == 0 {
		return a, approval.ErrNotOpen, nil
	}
	return a, nil, auditstore.Append(tx, audit.Entry{Actor: r.By, Verb: "approval.answered", Subject: a.ID,
		Detail: map[string]any{"answer": string(r.Answer), "channel": string(r.Channel), "agent": a.Agent, "run": a.Run, "tool": a.Tool, "tier": string(a.Facts.Tier)}})
}

// DenyAll denies every open question of these agents (nil: of all), and gives those that it denied.
func (s *Store) DenyAll(ctx context.Context, agents []string, r approval.Reply) ([]string, error) {
	if r.Answer = approval.Deny; r.Channel == approval.Elicitation {
		return nil, approval.ErrMayNotElicit
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	var denied []string
	err := s.db.Write(ctx, sqldb.Calls, func(tx *sqldb.Tx) error {
		denied = nil
		open, err := s.list(tx, approval.Filter{Agents: agents, Open: true, Limit: maxListed})
		if err != nil {
			return err
		}
		for _, a := range open {
			_, verdict, err := s.answer(tx, a.ID, r)
			if err != nil {
				return err
			}
			if verdict == nil {
				denied = append(denied, a.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("deny all questions: %w", err)
	}
	return denied, nil
}

// maxListed is the most approvals of one list.
const maxListed = 500

// List gives approvals, newest first.
func (s *Store) List(ctx context.Context, f approval.Filter) ([]approval.Approval, error) {
	var out []approval.Approval
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		var err error
		out, err = s.list(tx, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	return out, nil
}

func (s *Store) list(tx *sqldb.Tx, f approval.Filter) ([]approval.Approval, error) {
	if f.Agents != nil && len(f.Agents) == 0 {
		return nil, nil
	}
	where, args := []string{"1 = 1"}, []any(nil)
	param := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if f.Agents != nil {
		var in []string
		for _, id := range f.Agents {
			in = append(in, param(id))
		}
		where = append(where, "a.agent_id IN ("+strings.Join(in, ", ")+")")
	}
	if f.Run != "" {
		where = append(where, "a.run_id = "+param(f.Run))
	}
	if f.Before != "" {
		where = append(where, "a.id < "+param(f.Before))
	}
	if f.Open {
		where = append(where, "a.state = 'open' AND a.expires_at > now_us() AND r.state = 'open'")
	}
	limit := min(max(f.Limit, 1), maxListed)
	return (&standing{Store: s, tx: tx}).all(strings.Join(where, " AND ")+" ORDER BY a.id DESC LIMIT "+strconv.Itoa(limit), args...)
}

// Elicits says whether an operator stated that the agent's client asks a person.
func (s *Store) Elicits(ctx context.Context, agent string) (bool, error) {
	elicits := false
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.One("SELECT elicitation FROM agents WHERE id = $1", []any{agent}, &elicits)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look whether a client asks a person: %w", err)
	}
	return elicits, nil
}

// one reads the first approval that a condition finds; nil where there is none.
func (t *standing) one(where string, args ...any) (*approval.Approval, error) {
	found, err := t.all(where+" LIMIT 1", args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// all reads approvals. States that follow from time or from an ended run are told as such.
func (t *standing) all(where string, args ...any) ([]approval.Approval, error) {
	var out []approval.Approval
	err := t.tx.All(`SELECT a.id, a.agent_id, g.slug, g.elicitation, a.run_id, a.tool, a.digest, a.profile_hash, a.tier,
  CASE WHEN a.state = 'open' AND a.expires_at <= now_us() THEN 'unanswered'
       WHEN a.state = 'approved' AND a.good_until <= now_us() OR a.state IN ('open','approved') AND r.state = 'ended' THEN 'void'
       ELSE a.state END,
  a.question, coalesce(a.channel, ''), coalesce(a.answered_by, ''), a.created_at, a.expires_at, coalesce(a.answered_at, 0),
  coalesce(a.good_until, 0), coalesce(a.used_by, '')
FROM approvals a JOIN runs r ON r.id = a.run_id JOIN agents g ON g.id = a.agent_id WHERE `+where, args, func(scan func(...any) error) error {
		var a approval.Approval
		var tier, state, channel string
		var question []byte
		var created, expires, answered, good int64
		if err := scan(&a.ID, &a.Agent, &a.Slug, &a.Elicits, &a.Run, &a.Tool, &a.Digest, &a.Profile, &tier, &state, &question, &channel,
			&a.AnsweredBy, &created, &expires, &answered, &good, &a.UsedBy); err != nil {
			return err
		}
		if question != nil {
			plain, err := t.sealer.Open(place(a.ID), question)
			if err != nil {
				return err
			}
			var c card
			if err := json.Unmarshal(plain, &c); err != nil {
				return err
			}
			a.Facts, a.Message = c.Facts, c.Message
		}
		a.Facts.Tier, a.State, a.Channel = approval.Tier(tier), approval.State(state), approval.Channel(channel)
		a.Created, a.Expires = at(created), at(expires)
		if answered != 0 {
			a.Answered, a.GoodUntil = at(answered), at(good)
		}
		out = append(out, a)
		return nil
	})
	return out, err
}
