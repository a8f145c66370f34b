// Package tool is the pipeline of a tool call: arguments, the same call again, offer, run, policy, approval, admission,
// dispatch, settling, delivery. Capabilities plug in as a [Plug]; doors (MCP, HTTP) hand in a [Caller] and get a
// [Result].
//
// The one rule: nothing but this package admits and settles. A capability gets the right to send and nothing else.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
)

// Caller is who calls, and what the door can do for the call.
type Caller struct {
	Agent, Slug string // id and slug
	Token       string // id
	Client      string // what the client calls itself; part of which implicit run it is
	UserAgent   string // that of its request; by it people know a client that calls itself nothing
	Session     string // the legacy MCP session's id; empty where there is none
	SessionRun  string // the run that the door opened or adopted for that session
	Run         string // the run that the caller named; empty for none
	Key         string // the caller's own key of this call; empty for none
	Approval    string // an approval that the caller presents; empty for none
	// Progress tells a waiting client what is waited for; nil where the client did not ask. Words of ours only.
	Progress func(message string)
	// Ask asks the person at the client's side; nil where the client cannot. It is called only for agents of whom an
	// operator stated that their client asks a person. It blocks until there is an answer or ctx ends; asked is false
	// where the person gave none (declined, cancelled). A client that is asked by ending the call (input_required) gets
	// ErrComeAgain as the error: Call returns it as it is, and the call comes again with the same question's answer.
	Ask func(ctx context.Context, q Question) (answer string, asked bool, err error)
}

// ErrComeAgain says that the client has to be asked by ending the call; the door answers with the question.
var ErrComeAgain = errors.New("the client is asked, and the call comes again")

// Question is a form with one required choice.
type Question struct {
	ID      string // a row's: what a client carries through the question
	Message string
	Answers []string
}

// Result is the answer to a call.
type Result struct {
	agenttool.Result
	// Call and Run are the ids of what stands in the ledger; Call is empty where nothing was written.
	Call, Run string
	// Code is the error's; empty for a success.
	Code string
	// Output is the host's record of a success: the object of tools.md 6. It may hold page text and goes to HTTP only.
	Output json.RawMessage
	// Stale says that the tool list has changed since the client saw it.
	Stale bool
	// Delivered must be called once: true when the answer was written to the transport, false when the caller's stream
	// ended first. It is never nil.
	Delivered func(handedOver bool)
}

// Plug is one tool of a capability.
type Plug interface {
	// Name is the tool's, Capability what it counts as.
	Name() string
	Capability() string
	// Profile is the hash of an action's profile; empty for other tools.
	Profile() string
	// Define is the tool as a list shows it, where these tools are offered.
	Define(offered map[string]bool) agenttool.Tool
	// Parse reads arguments strictly. The error's text is the result for the model; it is a *Bad.
	Parse(arguments json.RawMessage) (Arguments, *Bad)
}

// Bad is a result that ends a call before admission: bad arguments, a refused address, a closed policy.
type Bad struct {
	Code   string
	Result agenttool.Result // whole, for the model; the pipeline adds ids to its structured part
	// Why says which rule refused, in words of ours: it stands in the call's record, which is not sealed, beside the code
	// and the host that the call was for. Empty where the code says it.
	Why string
}

// Arguments are valid arguments of one tool, as one call of it.
type Arguments interface {
	// Canonical is the arguments with defaults filled in, as JSON with sorted members: what two calls are compared by.
	Canonical() json.RawMessage
	// Source is where the call goes, as far as the arguments say it.
	Source() ledger.Source
	// Look looks ahead, under the binding that the call would have: provider's own bounds, URL policy, whether a kept page
	// answers it, whether a person must be asked. It sends nothing and changes nothing.
	Look(ctx context.Context, where Where) (Plan, *Bad, error)
	// Run does the work of an admitted call. It opens the permit just before it sends, and sends nothing after ctx ends.
	// An error is a fault of ours or the end of ctx; what a model should know is a Done.
	Run(ctx context.Context, where Where, gate Gate) (Done, error)
}

// Where is the call's place: agent, run and binding.
type Where struct {
	Agent, Slug, Run, Conversation string
	Call                           string // empty in Look
	Binding                        binding.Binding
	// Say words what only the pipeline knows the words of (what to do with an effect of unknown outcome), and tells which
	// tools are offered: a text names no other.
	Say observation.Speaker
}

// Plan is what a look ahead found.
type Plan struct {
	// Unit says that the call counts against the connection's limits; Bound is how long it may take: more than zero.
	Unit  bool
	Bound time.Duration
	// Approval is what a person is asked about where policy wants one asked; nil for calls that policy does not touch.
	Approval *approval.Facts
}

// Gate gives the right to send: for a query or observation it hands over the admission's, for an effect it commits the
// boundary. It gives it once; a second call gives the same permit, for Check. After an error nothing may be sent; Run
// returns it, and the pipeline says why.
type Gate func(ctx context.Context) (ledger.Permit, error)

// Done is how a call's work ended.
type Done struct {
	// Result is whole, for the model: text (at most MaxText bytes), then at most one image. Its structured part need not
	// have ids; the pipeline adds ok, tool_call_id, run_id and provider.
	Result agenttool.Result
	// Output is the host's record of a success.
	Output json.RawMessage
	// Image is where the picture of Result is kept; nil where there is none.
	Image *ImageRef
	// Outcome is what is known of what was sent; empty means ok, or provider_error where Result has a Failure.
	Outcome effect.Outcome
	// Code is that of an error; empty for a success.
	Code string
	// Evidence is what was seen: content and artifacts. The source stands already.
	Evidence []ledger.Evidence
	// Why says why it ended so, in words of ours: it stands in the call's record, which is not sealed. Empty where outcome
	// and code say it.
	Why string
}

// ImageRef names a picture that is kept.
type ImageRef struct {
	Artifact string `json:"artifact_id"`
	MIME     string `json:"mime"`
}

// MaxText is the most bytes of a result's text, wrapper and all.
const MaxText = observation.MaxText
