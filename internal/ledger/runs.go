// This file opens, finds and ends runs.
package ledger

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// RunTime is how long an explicit run lasts unless told otherwise, and LongestRun the longest that any lasts.
	RunTime    = 30 * time.Minute
	LongestRun = 6 * time.Hour
	// IdleTime ends a run that nobody opened explicitly.
	IdleTime = 30 * time.Minute
	// MaxToolCalls is how many calls an explicit run may make unless told otherwise.
	MaxToolCalls = 1000
	// MostToolCalls is the largest number that may be asked for. It is no limit, and what runs have that nobody opened
	// explicitly: a limit of calls there would end an agent's work with no way on.
	MostToolCalls = math.MaxInt32
	// longest texts in bytes that a harness may give a run.
	longestTitle, longestConversation = 200, 200
)

// Opening is a run that a harness opens. Zero fields take the defaults.
type Opening struct {
	Agent        string
	Title        string        // at most 200 bytes
	Conversation string        // at most 200 bytes; empty makes one
	Client       string        // what the harness calls itself, cut to MostClient characters; empty where it does not say
	Deadline     time.Duration // from now: more than zero, at most LongestRun; default RunTime
	MaxCalls     int64         // at least 1; default MaxToolCalls
}

// InvalidField says which field of a request cannot be taken, and what could.
type InvalidField struct{ Field, Problem string }

func (e *InvalidField) Error() string { return e.Field + ": " + e.Problem }

func (o *Opening) complete() error {
	if o.Deadline == 0 {
		o.Deadline = RunTime
	}
	if o.MaxCalls == 0 {
		o.MaxCalls = MaxToolCalls
	}
	switch {
	case o.Agent == "":
		return &InvalidField{"agent", "name the agent whose run it is"}
	case o.Deadline < time.Second || o.Deadline > LongestRun:
		return &InvalidField{"deadline_seconds", fmt.Sprintf("give 1 to %d seconds", int(LongestRun.Seconds()))}
	case o.MaxCalls < 1 || o.MaxCalls > MostToolCalls:
		return &InvalidField{"max_tool_calls", fmt.Sprintf("give 1 to %d calls", MostToolCalls)}
	case len(o.Title) > longestTitle || !keeps(o.Title):
		return &InvalidField{"title", fmt.Sprintf("give at most %d bytes of UTF-8 without NUL", longestTitle)}
	case len(o.Conversation) > longestConversation || !keeps(o.Conversation):
		return &InvalidField{"conversation_id", fmt.Sprintf("give at most %d bytes of UTF-8 without NUL", longestConversation)}
	}
	return nil
}

// keeps says whether both databases keep a text as it is.
func keeps(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// OpenRun opens a run that a harness asked for. Errors: *InvalidField, ErrNotFound (no such agent), ErrStore.
func (l *Ledger) OpenRun(ctx context.Context, o Opening) (Run, error) {
	if err := o.complete(); err != nil {
		return Run{}, err
	}
	return l.open(ctx, NewRun{Agent: o.Agent, Kind: "explicit", Client: clip(o.Client), Title: o.Title, Conversation: o.Conversation, Deadline: o.Deadline, MaxCalls: o.MaxCalls})
}

// MostClient is how many characters are kept of what a client calls itself.
const MostClient = 200

// clip cuts what a client calls itself.
func clip(client string) string {
	n := 0
	for i := range client {
		if n == MostClient {
			return client[:i]
		}
		n++
	}
	return client
}

// Client is what a client calls itself. Name is part of which implicit run is its own; by UserAgent, that of its request,
// people know one that has no name.
type Client struct{ Name, UserAgent string }

// shown is by what people know a client.
func (c Client) shown() string { return clip(cmp.Or(c.Name, c.UserAgent)) }

// ImplicitRun gives the run of an agent, a token and a client's name: the one that is open, or a new one.
func (l *Ledger) ImplicitRun(ctx context.Context, agent, token string, client Client) (Run, error) {
	// The token's id has no line end, so two keys are equal only where both parts are.
	return l.open(ctx, NewRun{Agent: agent, Kind: "implicit", ImplicitKey: token + "\n" + client.Name, Client: client.shown(), Audience: "agent:" + agent,
		Deadline: LongestRun, Idle: IdleTime, MaxCalls: MostToolCalls})
}

// SessionRun gives the run of a legacy MCP session: the one that is open, or a new one. session is what stands for the session in rows, not the protocol's id.
func (l *Ledger) SessionRun(ctx context.Context, agent, session string, client Client) (Run, error) {
	return l.open(ctx, NewRun{Agent: agent, Kind: "session", ImplicitKey: session, Client: client.shown(), Audience: "session:" + session, Deadline: LongestRun, Idle: IdleTime, MaxCalls: MostToolCalls})
}

func (l *Ledger) open(ctx context.Context, r NewRun) (Run, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Run{}, err
	}
	defer cancel()
	run, err := l.store.OpenRun(bounded, r)
	return run, fault("open a run", err)
}

// NamedRun gives a run that a caller named, open or ended; of any agent where agent is empty. ErrNotFound: it is not this
// agent's.
func (l *Ledger) NamedRun(ctx context.Context, agent, id string) (Run, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Run{}, err
	}
	defer cancel()
	run, err := l.store.Run(bounded, agent, id)
	return run, fault("look at a run", err)
}

// EndRun ends a run, for a reason of a few words. A run that has ended stays as it ended.
func (l *Ledger) EndRun(ctx context.Context, agent, id, reason string) (Run, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Run{}, err
	}
	defer cancel()
	run, err := l.store.EndRun(bounded, agent, id, reason)
	return run, fault("end a run", err)
}

// TouchRun puts off the end of a run that ends by idling.
func (l *Ledger) TouchRun(ctx context.Context, id string) error {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	return fault("touch a run", l.store.TouchRun(bounded, id, IdleTime))
}
