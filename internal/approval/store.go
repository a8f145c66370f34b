package approval

import (
	"context"
	"errors"
	"fmt"
)

// Request is a call that needs a yes.
type Request struct {
	Agent, Run, Tool, Profile string // Agent is the id, Profile the hash of an action's profile
	// Digest is the keyed digest of tool and arguments: what makes two calls the same.
	Digest []byte
	Facts  Facts
	// Presented is an approval's id that came with the call; empty for none.
	Presented string
}

// Standing is how a request stands.
type Standing string

const (
	// Asked: a question is open, of this call or of the same one before; nobody answered yet.
	Asked Standing = "asked"
	// Granted: a yes is there and has not been used. It is used up inside the admission.
	Granted Standing = "granted"
	// Turned down: a person said no, at most GoodFor ago.
	TurnedDown Standing = "turned down"
	// Silent: nobody answered the question in its time. It is said once; the same call asks anew.
	Silent Standing = "silent"
	// Busy: MaxOpen questions of the agent are open. Nothing was written.
	Busy Standing = "busy"
	// Over: the run has ended.
	Over Standing = "over"
)

// Stood is what stands of a request.
type Stood struct {
	Standing Standing
	// Approval is the question that it is about; the zero Approval where Busy or Over.
	Approval Approval
	// Wrong says what is wrong with the approval that was presented: "is not known here", "belongs to another call", "is
	// used up", "is not valid any more". Empty for none. A wrong presentation of one that could still be used ends it.
	Wrong string
}

// Reply is a person's answer.
type Reply struct {
	Answer  Answer
	Channel Channel
	// By is who, as the audit has it: person:<id>, or token:<id> by elicitation.
	By string
}

// Check says whether a reply can be stored. The error names the field and what it takes.
func (r Reply) Check() error {
	switch {
	case r.Answer != Once && r.Answer != Deny:
		return fmt.Errorf("answer is %q; give %q or %q", r.Answer, Once, Deny)
	case r.Channel != Page && r.Channel != Terminal && r.Channel != API && r.Channel != Elicitation:
		return fmt.Errorf("channel is %q; give page, terminal, api or elicitation", r.Channel)
	case r.By == "":
		return errors.New("by is empty; say who answers")
	}
	return nil
}

var (
	// ErrNotFound says that there is no such question. One of an agent that a person may not see looks the same.
	ErrNotFound = errors.New("no such question")
	// ErrNotOpen says that a question cannot be answered any more; the Approval that comes with it says why.
	ErrNotOpen = errors.New("the question is not open")
	// ErrMayNotElicit says that this agent's client may not answer: no operator stated that it asks a person.
	ErrMayNotElicit = errors.New("answers by this agent's client are not allowed")
)

// Filter says which approvals are listed.
type Filter struct {
	// Agents are the ids of the agents; nil means all.
	Agents []string
	Run    string // empty: any
	Open   bool   // only open ones
	Before string // an approval's id: only older ones; empty: from the newest
	Limit  int    // 1 to 500
}

// Store is the rows of approvals. Each method is one transaction; times are the database's. States that follow from time
// or from an ended run are told as such, whether or not they stand in the row.
type Store interface {
	// Stand says how a request stands, and opens a question where nothing stands: then a notice for people is written with
	// it. Identical requests of a run share one question.
	Stand(ctx context.Context, r Request) (Stood, error)
	// Show gives one approval. ErrNotFound.
	Show(ctx context.Context, id string) (Approval, error)
	// Answer stores a person's answer, and who, how and when in the audit. ErrNotFound, ErrNotOpen, ErrMayNotElicit.
	Answer(ctx context.Context, id string, r Reply) (Approval, error)
	// DenyAll denies every open question of these agents (nil: of all), and gives those that it denied.
	DenyAll(ctx context.Context, agents []string, r Reply) ([]string, error)
	// List gives approvals, newest first.
	List(ctx context.Context, f Filter) ([]Approval, error)
	// Elicits says whether an operator stated that the agent's client asks a person.
	Elicits(ctx context.Context, agent string) (bool, error)
}
