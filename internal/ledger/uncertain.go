// This file has the words for calls whose outcome is not known: what a reconciliation is refused for, and what a report
// says that came too late.
package ledger

import (
	"errors"

	"github.com/wayleave/wayleave/internal/effect"
)

// What a reconciliation is refused for. The rows are as they were.
var (
	// ErrInFlight says that the call has not ended, so nobody can say yet what became of it.
	ErrInFlight = errors.New("the call is still in flight")
	// ErrNotUncertain says that the outcome of the call is known.
	ErrNotUncertain = errors.New("the outcome of the call is known")
	// ErrReconciled says that somebody stated something else before. A verdict is given once.
	ErrReconciled = errors.New("another verdict stands")
	// ErrProof says that the observation that is named as proof is itself an error, or not there.
	ErrProof = errors.New("what is named as proof is not an observation that succeeded")
)

// LateReport is what a call's owner reported after somebody else had concluded the call. Record.Late is one as JSON. It
// is believed by nobody and kept for whoever reconciles.
type LateReport struct {
	State   effect.State   `json:"state"`
	Outcome effect.Outcome `json:"outcome,omitempty"`
	Code    string         `json:"code,omitempty"`
	Why     string         `json:"why,omitempty"`
	Result  string         `json:"result,omitempty"`
}
