// Package approvalstore keeps approvals in the database.
//
// The one rule: a question, its answer and its use are one row, and each step is guarded by the row's own state, so of
// two servers or two people exactly one succeeds. An approval is used up by the admission of the call, not here.
package approvalstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store keeps approvals. It is safe for concurrent use.
type Store struct {
	db     *sqldb.DB
	sealer seal.Sealer
}

// New makes a store over a migrated database.
func New(db *sqldb.DB, sealer seal.Sealer) *Store { return &Store{db, sealer} }

var _ approval.Store = (*Store)(nil)

// maxMisused is after how many refused calls of a run wrong presentations are no longer audited, as the calls are then
// only counted, too.
const maxMisused = 1000

// NoticeKind is the kind of the notices that a waiting question leaves.
const NoticeKind = "approval"

// Stand says how a request stands, and opens a question where nothing stands.
func (s *Store) Stand(ctx context.Context, r approval.Request) (approval.Stood, error) {
	var out approval.Stood
	err := s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		t := &standing{Store: s, tx: tx, r: r}
		var err error
		out, err = t.judge()
		return err
	})
	if err != nil {
		return approval.Stood{}, fmt.Errorf("ask for an approval: %w", err)
	}
	return out, nil
}

// standing is one judgement under way.
type standing struct {
	*Store
	tx      *sqldb.Tx
	r       approval.Request
	now     int64
	slug    string
	elicits bool
	refused int64
}

func (t *standing) judge() (approval.Stood, error) {
	over, err := t.place()
	if err != nil || over {
		return approval.Stood{Standing: approval.Over}, err
	}
	wrong, err := t.presented()
	if err != nil {
		return approval.Stood{}, err
	}
	out, err := t.live()
	if err == nil && out.Standing == "" {
		out, err = t.ask()
	}
	out.Wrong = wrong
	return out, err
}

// place takes the agent's row, which makes questions of one agent one after the other, and the run's, so that none is opened
// beside its end, and says whether the run is over.
func (t *standing) place() (over bool, err error) {
	for _, row := range []struct{ take, id string }{
		{"UPDATE agents SET state = state WHERE id = $1", t.r.Agent},
		{"UPDATE runs SET state = state WHERE id = $1", t.r.Run},
	} {
		n, err := t.tx.Exec(row.take, row.id)
		if err != nil || n == 0 {
			return true, err
		}
	}
	if t.now, err = t.tx.Now(); err != nil {
		return false, err
	}
	var open bool
	found, err := t.tx.One(`SELECT a.slug, a.elicitation, r.refused, r.state = 'open' AND r.deadline > $3
FROM agents a JOIN runs r ON r.agent_id = a.id WHERE a.id = $1 AND r.id = $2`, []any{t.r.Agent, t.r.Run, t.now}, &t.slug, &t.elicits, &t.refused, &open)
	return !found || !open, err
}

// presented judges the approval that came with the call. One that belongs to another call, and could still be used, is
// burned: who presents it has seen it.
func (t *standing) presented() (wrong string, err error) {
	if t.r.Presented == "" {
		return "", nil
	}
	a, err := t.one("a.id = $1 AND a.agent_id = $2", t.r.Presented, t.r.Agent)
	switch {
	case err != nil:
		return "", err
	case a == nil:
		wrong = "is not known here"
	case a.Run != t.r.Run || a.Tool != t.r.Tool || a.Profile != t.r.Profile || !bytes.Equal(a.Digest, t.r.Digest):
		wrong = "belongs to another call"
		if err := t.end(a.ID, approval.Void); err != nil {
			return "", err
		}
	case a.State == approval.Used:
		wrong = "is used up"
	case a.State != approval.Open && a.State != approval.Approved:
		wrong = "is not valid any more"
	default:
		return "", nil
	}
	if t.refused >= maxMisused {
		return wrong, nil
	}
	return wrong, auditstore.Append(t.tx, audit.Entry{Actor: "agent:" + t.r.Agent, Verb: "approval.misused", Subject: subject(t.r.Presented),
		Detail: map[string]any{"run": t.r.Run, "tool": t.r.Tool, "why": wrong}})
}

// subject keeps a caller's own words out of the audit where they are not an id's.
func subject(id string) string {
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '_' {
			return "unknown"
		}
	}
	if len(id) > 64 {
		return "unknown"
	}
	return id
}

// live looks for what stands of the same call. The Standing is empty where nothing does.
func (t *standing) live() (approval.Stood, error) {
	// The profile changed since: a yes to the old one is none to the new.
	if _, err := t.tx.Exec(`UPDATE approvals SET state = 'void' WHERE run_id = $1 AND tool = $2 AND digest = $3 AND profile_hash <> $4
AND state IN ('open','approved')`, t.r.Run, t.r.Tool, t.r.Digest, t.r.Profile); err != nil {
		return approval.Stood{}, err
	}
	for {
		a, err := t.one("a.run_id = $1 AND a.tool = $2 AND a.digest = $3 AND a.profile_hash = $4 AND a.state IN ('open','approved')",
			t.r.Run, t.r.Tool, t.r.Digest, t.r.Profile)
		switch {
		case err != nil:
			return approval.Stood{}, err
		case a == nil:
			return t.before()
		case a.State == approval.Open:
			return approval.Stood{Standing: approval.Asked, Approval: *a}, nil
		case a.State == approval.Approved:
			return approval.Stood{Standing: approval.Granted, Approval: *a}, nil
		}
		// Nobody answered, or nobody used the answer in time. What was read of it may have been answered or used at that very
		// moment, and then it is looked at again: a row goes on twice at most.
		if _, err := t.tx.Exec("UPDATE approvals SET state = $2 WHERE id = $1 AND (state = 'open' OR $2 = 'void') AND state IN ('open','approved')",
			a.ID, string(a.State)); err != nil {
			return approval.Stood{}, err
		}
	}
}

// before looks at the newest question of the same call, which is over: a no that still stands, or a silence that nobody was
// told of.
func (t *standing) before() (approval.Stood, error) {
	a, err := t.one("a.run_id = $1 AND a.tool = $2 AND a.digest = $3 AND a.profile_hash = $4 ORDER BY a.id DESC", t.r.Run, t.r.Tool, t.r.Digest, t.r.Profile)
	if err != nil || a == nil {
		return approval.Stood{}, err
	}
	switch a.State {
	case approval.Denied:
		if a.Answered.UnixMicro() > t.now-approval.GoodFor.Microseconds() {
			return approval.Stood{Standing: approval.TurnedDown, Approval: *a}, nil
		}
	case approval.Unanswered:
		told, err := t.tx.Exec("UPDATE approvals SET told_at = $2 WHERE id = $1 AND told_at IS NULL", a.ID, t.now)
		if err == nil && told == 1 {
			return approval.Stood{Standing: approval.Silent, Approval: *a}, nil
		}
		return approval.Stood{}, err
	}
	return approval.Stood{}, nil
}

// end writes a final state over a live one.
func (t *standing) end(id string, s approval.State) error {
	_, err := t.tx.Exec("UPDATE approvals SET state = $2 WHERE id = $1 AND state IN ('open','approved')", id, string(s))
	return err
}

// ask opens a question, with its notice.
func (t *standing) ask() (approval.Stood, error) {
	var open int
	if _, err := t.tx.One(`SELECT count(*) FROM approvals a JOIN runs r ON r.id = a.run_id
WHERE a.agent_id = $1 AND a.state = 'open' AND a.expires_at > $2 AND r.state = 'open'`, []any{t.r.Agent, t.now}, &open); err != nil {
		return approval.Stood{}, err
	}
	if open >= approval.MaxOpen {
		return approval.Stood{Standing: approval.Busy}, nil
	}
	id := rowid.New("apr")
	message, facts := approval.Question(t.slug, t.r.Tool, t.r.Facts)
	plain, err := json.Marshal(card{facts, message})
	if err != nil {
		return approval.Stood{}, err
	}
	sealed, err := t.sealer.Seal(place(id), plain)
	if err != nil {
		return approval.Stood{}, err
	}
	expires := t.now + approval.OpenFor.Microseconds()
	if _, err := t.tx.Exec(`INSERT INTO approvals (id, agent_id, run_id, tool, digest, profile_hash, tier, state, question, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'open', $8, $9, $10)`, id, t.r.Agent, t.r.Run, t.r.Tool, t.r.Digest, t.r.Profile, string(facts.Tier),
		sealed, t.now, expires); err != nil {
		return approval.Stood{}, err
	}
	if _, err := t.tx.Exec("INSERT INTO notices (id, kind, subject_id, run_id, created_at) VALUES ($1, $2, $3, $4, $5)",
		rowid.New("notice"), NoticeKind, id, t.r.Run, t.now); err != nil {
		return approval.Stood{}, err
	}
	if err := auditstore.Append(t.tx, audit.Entry{Actor: "agent:" + t.r.Agent, Verb: "approval.asked", Subject: id,
		Detail: map[string]any{"run": t.r.Run, "tool": t.r.Tool, "tier": string(facts.Tier), "origin": facts.Origin}}); err != nil {
		return approval.Stood{}, err
	}
	return approval.Stood{Standing: approval.Asked, Approval: approval.Approval{ID: id, Agent: t.r.Agent, Slug: t.slug, Run: t.r.Run, Tool: t.r.Tool,
		Profile: t.r.Profile, Digest: t.r.Digest, State: approval.Open, Facts: facts, Message: message, Created: at(t.now), Expires: at(expires),
		Elicits: t.elicits}}, nil
}

// card is what is sealed of a question.
type card struct {
	Facts   approval.Facts `json:"facts"`
	Message string         `json:"message"`
}

func place(id string) seal.Place { return seal.Place{Table: "approvals", Column: "question", Row: id} }

func at(us int64) time.Time { return time.UnixMicro(us).UTC() }
