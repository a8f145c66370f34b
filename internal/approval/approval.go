// Package approval is what a person is asked before a call runs, and what their answer is good for: the question from
// facts of ours, the policy that decides whether one is needed, and the life of its row.
//
// The one rule: only a stored yes lets a call run. Silence, a restart, a client that left and a fault are no.
package approval

import "time"

// Tier says what a call does, and so how much a yes to it gives. Each covers those before it.
type Tier string

const (
	Read      Tier = "read"      // looking
	Navigate  Tier = "navigate"  // opening and reading
	Interact  Tier = "interact"  // clicking and typing
	Sensitive Tier = "sensitive" // sending forms, uploading or signing in
)

// State is how far an approval came.
type State string

const (
	Open       State = "open"
	Approved   State = "approved"
	Used       State = "used"       // by the call that it let run
	Denied     State = "denied"     // a person said no
	Unanswered State = "unanswered" // its time was over
	Void       State = "void"       // burned by a wrong presentation, a changed profile or an ended run; or not used in time
)

// Answer is what a person may say.
type Answer string

const (
	Once Answer = "once"
	Deny Answer = "deny"
)

// Channel is how the answer came: the audit names it.
type Channel string

const (
	Page        Channel = "page"
	Terminal    Channel = "terminal"
	API         Channel = "api"
	Elicitation Channel = "elicitation" // a form in the client; it proves only who holds the token
)

const (
	// OpenFor is how long a question can be answered.
	OpenFor = 10 * time.Minute
	// GoodFor is how long after its answer a yes can be used, and a no stands.
	GoodFor = 5 * time.Minute
	// MaxOpen is the most open questions of an agent.
	MaxOpen = 5
)

// Facts are what a question is built from. All are facts of the server but Description, Inputs and Credential, which are
// an author's, a model's and an operator's words: they are shown quoted.
type Facts struct {
	Tier Tier `json:"tier"`
	// Origin is scheme and host, the host in punycode; empty where the call has no one place.
	Origin string `json:"origin,omitempty"`
	// Does are the things that the call does, in words of ours and in their order: "types", "uploads", "sends a form".
	Does []string `json:"does,omitempty"`
	// Credential is the name of the stored login that is used; empty for none.
	Credential string `json:"credential,omitempty"`
	// Description is what the author of a profile says of it.
	Description string `json:"description,omitempty"`
	// Inputs are what the model gave, for whoever answers to look at.
	Inputs []Input `json:"inputs,omitempty"`
	// Declared says that it is an action with a profile, and not a loose browser tool.
	Declared bool `json:"declared,omitempty"`
}

// Input is one argument as a person sees it.
type Input struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// Masked says that the value is not kept and not shown.
	Masked bool `json:"masked,omitempty"`
}

// Approval is a question and what became of it.
type Approval struct {
	ID, Agent, Slug, Run, Tool, Profile string // Agent is the id
	Digest                              []byte
	State                               State
	Facts                               Facts  // the zero Facts but for Tier where their time of keeping is over
	Message                             string // the question as one sentence
	Channel                             Channel
	AnsweredBy                          string
	Created, Expires                    time.Time
	Answered, GoodUntil                 time.Time // zero where nobody answered
	UsedBy                              string    // the call that used it up
	// Elicits says that an operator stated that this agent's client asks a person.
	Elicits bool
}
