// Package ledger decides whether a tool call may be sent, and remembers what became of it. Everything that leaves
// Wayleave on an agent's behalf passes here.
//
// A call is a row with one owner that moves forward only. A [Permit] is the only way out: it is handed out after a
// commit, at most once a call, and goes stale when its process may no longer speak. A run that has dispatched an effect
// holds it until somebody knows what became of it.
//
// The one rule: time permits someone to change a state; the state decides. Whoever changes it first is right.
package ledger

import "errors"

// ErrNotFound says that there is no such row for this agent. Rows of others look the same.
var ErrNotFound = errors.New("not found")
