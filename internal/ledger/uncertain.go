// This file has what a reconciliation of a call whose outcome is not known is refused for.
package ledger

import "errors"

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
