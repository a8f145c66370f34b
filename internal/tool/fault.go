// This file has what is no result: faults of ours, callers that left, names that are not known.
package tool

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/wayleave/wayleave/internal/ledger"
)

var (
	// ErrUnknownTool says that no tool of this name is there for the agent.
	ErrUnknownTool = fmt.Errorf("unknown tool: %w", ledger.ErrNotFound)
	// ErrUnknownRun says that the run that the caller named is not there or not its agent's.
	ErrUnknownRun = fmt.Errorf("unknown run: %w", ledger.ErrNotFound)
)

// Fault is an execution failure: it is no result, and nothing that a model should reason about.
type Fault struct {
	Code string // cancelled, run_deadline, store_unavailable or internal_error
	// Text is a fixed sentence for the client.
	Text string
	// Call and Run are what stands in the ledger; empty where nothing does.
	Call, Run string
	// Err is what happened, for the operator's log: it may hold words of the database.
	Err error
}

func (f *Fault) Error() string { return f.Code + ": " + f.Text }

// Unwrap gives the cause; a caller that left is context.Canceled.
func (f *Fault) Unwrap() error { return f.Err }

// Status is the HTTP status: 500, 503 or 504; 499 for a caller that left, who does not read it.
func (f *Fault) Status() int {
	switch f.Code {
	case codeCancelled:
		return 499
	case codeRunDeadline:
		return http.StatusGatewayTimeout
	case codeStore:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

const (
	codeCancelled   = "cancelled"
	codeRunDeadline = "run_deadline"
	codeStore       = "store_unavailable"
	codeInternal    = "internal_error"

	textInternal = "something went wrong here; the operator's log has more under the request's id"
)

// faultOf is the fault that an error of the ledger or of a capability is. ctx is the caller's.
func faultOf(ctx context.Context, err error) *Fault {
	var already *Fault
	switch {
	case errors.As(err, &already):
		return already
	case ctx.Err() != nil && !errors.Is(err, ledger.ErrStore):
		return &Fault{Code: codeCancelled, Text: "the caller went away", Err: errors.Join(context.Cause(ctx), err)}
	case errors.Is(err, ledger.ErrRunDeadline), errors.Is(err, ledger.ErrOver):
		return &Fault{Code: codeRunDeadline, Text: "the run ended during the call", Err: err}
	case errors.Is(err, ledger.ErrStore), errors.Is(err, ledger.ErrSilent), errors.Is(err, ledger.ErrClosing):
		return &Fault{Code: codeStore, Text: "the call cannot be recorded now, so its result is not given out; try again later", Err: err}
	}
	return &Fault{Code: codeInternal, Text: textInternal, Err: err}
}
