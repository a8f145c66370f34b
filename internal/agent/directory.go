// This file is the agents and tokens of an install, over rows that a database keeps.
package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/secret"
)

var (
	// ErrNotFound says that there is no such agent or token here. One of another agent's looks the same.
	ErrNotFound = errors.New("not found")
	// ErrDisabled says that a token is right and its agent is disabled. It is an ErrUnknownToken too: doors that do not
	// tell them apart refuse both alike.
	ErrDisabled error = disabled{}
)

// disabled is ErrDisabled: its words alone are said, since the other error's would be wrong here.
type disabled struct{}

func (disabled) Error() string { return "the agent of this token is disabled; an owner enables it" }
func (disabled) Unwrap() error { return ErrUnknownToken }

// Rows keeps agents and tokens. Each method is one transaction. by is who changes something, as the audit names actors;
// a change that changes nothing is not audited. ErrNotFound says that a row is not there or is another agent's.
type Rows interface {
	// Holder finds a token by its hash, with its agent, at one moment. It gives revoked tokens too.
	Holder(ctx context.Context, hash string) (Agent, Token, Moment, error)
	// Moment is the database's now, the cheapest of its questions.
	Moment(ctx context.Context) (Moment, error)
	// Works says whether a token is there, is not revoked, and its agent is active.
	Works(ctx context.Context, token string) (bool, error)
	// Agents lists agents by slug: those with these ids, or all where ids is nil.
	Agents(ctx context.Context, ids []string) ([]Agent, error)
	// Tokens lists tokens by time of making: of the agents with these ids, or all where ids is nil.
	Tokens(ctx context.Context, ids []string) ([]Token, error)
	// BySlug finds an agent.
	BySlug(ctx context.Context, slug string) (Agent, error)
	// Ensure makes an agent where its slug is free, and gives the agent of that slug.
	Ensure(ctx context.Context, a Agent, by string) (found Agent, made bool, err error)
	// Change lets edit change an agent's name, state, elicitation and pause. Disabling it adds 1 to its grants' version.
	Change(ctx context.Context, agent, by string, edit func(*Agent)) (Agent, error)
	// AddToken keeps a token of an active or disabled agent.
	AddToken(ctx context.Context, t Token, by string) (Token, error)
	// Revoke ends the token of an id or a hash; agent empty means of any agent. One that was revoked already stays as it is.
	Revoke(ctx context.Context, agent, id, hash, by string) (Token, error)
	// NoteUses writes when tokens were used, by token id; an older use than the one that is kept changes nothing.
	NoteUses(ctx context.Context, uses map[string]Use) error
	// PauseInstall sets or lifts the pause of all agents.
	PauseInstall(ctx context.Context, paused bool, by string) (Pause, error)
	// InstallPause is the pause of all agents; the zero Pause where there is none.
	InstallPause(ctx context.Context) (Pause, error)
	// Import keeps what the files of an earlier version held, if there is no agent yet, and says whether it did.
	Import(ctx context.Context, b Earlier, by string) (bool, error)
}

// Moment is a state of the database: how many configuration writes it has seen, and its time.
type Moment struct {
	Epoch int64
	At    time.Time
}

// Directory knows the agents of an install and whose a token is. It is safe for concurrent use, and asks the database at
// each question: a token that was revoked, or whose agent was disabled, by whatever process, is refused from the moment
// on in which that was answered.
type Directory struct {
	rows Rows

	mu    sync.Mutex          // guards what follows
	used  map[string]Use      // since the last Flush, by token id
	epoch int64               // at which the known were found
	known map[string]Identity // whose a token is, by its hash: only of those that work, so there are no more than tokens
}

// NewDirectory opens the agents that rows keep.
func NewDirectory(rows Rows) *Directory {
	return &Directory{rows: rows, used: make(map[string]Use), known: make(map[string]Identity)}
}

// Verify finds who a bearer token speaks for, and notes that it was used and from which address. ErrUnknownToken says
// that it opens nothing (ErrDisabled, which is one, that its agent is disabled); any other error, that the database could
// not be asked, in which case nobody is let in.
func (d *Directory) Verify(bearer, from string) (Identity, error) {
	if !plausible(bearer) {
		return Identity{}, ErrUnknownToken
	}
	who, at, err := d.identify(context.Background(), hash(bearer))
	if err != nil {
		return Identity{}, err
	}
	d.mu.Lock()
	d.used[who.TokenID] = Use{At: at, From: clipAddress(from)}
	d.mu.Unlock()
	return who, nil
}

// identify finds whose a token is, by its hash: how long that takes says nothing about any token. What was found before
// holds while the database has seen no configuration write since, which is asked each time.
func (d *Directory) identify(ctx context.Context, hash string) (Identity, time.Time, error) {
	d.mu.Lock()
	who, known := d.known[hash]
	epoch := d.epoch
	d.mu.Unlock()
	if known {
		now, err := d.rows.Moment(ctx)
		if err != nil {
			return Identity{}, time.Time{}, fmt.Errorf("ask whether a token still works: %w", err)
		}
		if now.Epoch == epoch {
			return who, now.At, nil
		}
	}
	a, t, now, err := d.rows.Holder(ctx, hash)
	switch {
	case errors.Is(err, ErrNotFound) || err == nil && !t.Revoked.IsZero():
		return Identity{}, time.Time{}, ErrUnknownToken
	case err != nil:
		return Identity{}, time.Time{}, fmt.Errorf("look for a token: %w", err)
	case a.Disabled:
		return Identity{}, time.Time{}, ErrDisabled
	}
	who = Identity{Agent: a.Slug, AgentID: a.ID, TokenID: t.ID, Scope: t.Scope}
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Epoch > d.epoch {
		d.epoch = now.Epoch
		clear(d.known)
	}
	if now.Epoch == d.epoch { // else somebody has seen a later state meanwhile
		d.known[hash] = who
	}
	return who, now.At, nil
}

// Live says whether a token still works: what ends long streams of a token that was revoked meanwhile. It is false where
// the database cannot be asked.
func (d *Directory) Live(token string) bool {
	works, err := d.rows.Works(context.Background(), token)
	return err == nil && works
}

// Flush writes the uses that Verify noted, all in one transaction. It is for a ticker and for the end of a server: a use
// may be lost in a crash, never a token.
func (d *Directory) Flush(ctx context.Context) error {
	d.mu.Lock()
	pending := d.used
	d.used = make(map[string]Use)
	d.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	err := d.rows.NoteUses(ctx, pending)
	if err != nil { // they are still true at the next time
		d.mu.Lock()
		defer d.mu.Unlock()
		for id, use := range pending {
			if use.At.After(d.used[id].At) {
				d.used[id] = use
			}
		}
	}
	return err
}

// List gives agents by slug and their tokens by time of making, revoked ones too, with their last use: of the agents
// with these ids, or of all where only is nil.
func (d *Directory) List(ctx context.Context, only []string) ([]Agent, []Token, error) {
	agents, err := d.rows.Agents(ctx, only)
	if err != nil {
		return nil, nil, err
	}
	tokens, err := d.rows.Tokens(ctx, only)
	if err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range tokens {
		if use := d.used[tokens[i].ID]; use.At.After(tokens[i].LastUse.At) {
			tokens[i].LastUse = use
		}
	}
	return agents, tokens, nil
}

// ByID finds an agent.
func (d *Directory) ByID(ctx context.Context, id string) (Agent, error) {
	found, err := d.rows.Agents(ctx, []string{id})
	if err != nil {
		return Agent{}, err
	}
	if len(found) == 0 {
		return Agent{}, ErrNotFound
	}
	return found[0], nil
}

// BySlug finds an agent.
func (d *Directory) BySlug(ctx context.Context, slug string) (Agent, error) {
	if CheckSlug(slug) != nil {
		return Agent{}, ErrNotFound
	}
	return d.rows.BySlug(ctx, slug)
}

// EnsureAgent makes the agent if it is not there, and says whether it did.
func (d *Directory) EnsureAgent(ctx context.Context, slug, by string) (a Agent, made bool, err error) {
	if err := CheckSlug(slug); err != nil {
		return Agent{}, false, err
	}
	return d.rows.Ensure(ctx, Agent{ID: newID(agentID), Slug: slug, Name: slug}, by)
}

// NewToken makes a token of an agent that is there. The secret is given here and never again.
func (d *Directory) NewToken(ctx context.Context, agent string, scope Scope, by string) (Token, secret.Value, error) {
	if _, err := ParseScope(string(scope)); err != nil {
		return Token{}, secret.Value{}, err
	}
	text := mint(scope)
	t, err := d.rows.AddToken(ctx, Token{ID: newID(tokenID), AgentID: agent, Scope: scope, Hash: hash(text.Reveal())}, by)
	if err != nil {
		return Token{}, secret.Value{}, err
	}
	return t, text, nil
}

// Revoke ends a token by its id or, given the token itself, by that; agent is the id of whose token it must be, empty for
// anybody's. It says which one it was; revoking one that was revoked already is no error. When it returns, no process
// verifies the token any more.
func (d *Directory) Revoke(ctx context.Context, agent, idOrToken, by string) (Token, error) {
	id, byHash := idOrToken, ""
	if plausible(idOrToken) {
		id, byHash = "", hash(idOrToken)
	}
	return d.rows.Revoke(ctx, agent, id, byHash, by)
}

// Disable ends everything that an agent may do: its tokens open nothing, and what it has in flight is cancelled and
// withheld, since its grants have another version.
func (d *Directory) Disable(ctx context.Context, agent, by string) (Agent, error) {
	return d.rows.Change(ctx, agent, by, func(a *Agent) { a.Disabled = true })
}

// Enable ends a Disable. What was offered before it stays stale.
func (d *Directory) Enable(ctx context.Context, agent, by string) (Agent, error) {
	return d.rows.Change(ctx, agent, by, func(a *Agent) { a.Disabled = false })
}

// Pause refuses an agent's new calls; those that run go on. Pausing a paused agent keeps who did it first.
func (d *Directory) Pause(ctx context.Context, agent, by string) (Agent, error) {
	return d.rows.Change(ctx, agent, by, func(a *Agent) {
		if a.Paused.By == "" {
			a.Paused.By = by
		}
	})
}

// Resume ends a Pause.
func (d *Directory) Resume(ctx context.Context, agent, by string) (Agent, error) {
	return d.rows.Change(ctx, agent, by, func(a *Agent) { a.Paused = Pause{} })
}

// SetElicitation states whether this agent's client asks a person, so that what comes back through it may answer once or
// deny. It is off until an operator says so.
func (d *Directory) SetElicitation(ctx context.Context, agent string, asks bool, by string) (Agent, error) {
	return d.rows.Change(ctx, agent, by, func(a *Agent) { a.Elicitation = asks })
}

// PauseInstall refuses new calls of all agents.
func (d *Directory) PauseInstall(ctx context.Context, by string) (Pause, error) {
	return d.rows.PauseInstall(ctx, true, by)
}

// ResumeInstall ends a PauseInstall. Agents that are paused themselves stay so.
func (d *Directory) ResumeInstall(ctx context.Context, by string) error {
	_, err := d.rows.PauseInstall(ctx, false, by)
	return err
}

// InstallPause is who paused all agents and when; the zero Pause where nobody did.
func (d *Directory) InstallPause(ctx context.Context) (Pause, error) {
	return d.rows.InstallPause(ctx)
}
