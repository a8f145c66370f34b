// This file has what is refused to people: the reconciliation of a call whose outcome is not known, and the deletion of a run.
package ledger

import "errors"

// What the deletion of a run is refused for. The rows are as they were.
var (
	// ErrRunOpen says that the run has not ended.
	ErrRunOpen = errors.New("the run is open; end it first")
	// ErrRunHeld says that an effect of it has an unknown outcome that nobody has stated.
	ErrRunHeld = errors.New("an effect of the run has an unknown outcome; state what happened first")
	// ErrRunFresh says that calls of it are under way, or were counted in this minute.
	ErrRunFresh = errors.New("calls of the run are under way or count in this minute; try again in a minute")
)

// Deletion is what goes with a run that is deleted, as it stands when it is asked for. Refused is what would refuse it now:
// ErrRunOpen, ErrRunHeld, ErrRunFresh, or nil.
type Deletion struct {
	Calls     int64 // with arguments, results and reasons; refused ones too
	Evidence  int64
	Pages     int64 // kept pages that can still be read
	Approvals int64 // questions, with their answers
	Uncertain int64 // effects among the calls whose outcome nobody saw, those too about which somebody stated what happened
	Refused   error
}

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
