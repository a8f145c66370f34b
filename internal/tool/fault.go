// This file has the ends of a call that are no results: the door says them in its own protocol.
package tool

import "errors"

var (
	// ErrUnknownTool says that no tool of that name is there for the agent. MCP: -32602; HTTP: 404, not_found.
	ErrUnknownTool = errors.New("no such tool")
	// ErrUnknownRun says that the run that was named is not there, or is another agent's. MCP: -32602; HTTP: 404, not_found.
	ErrUnknownRun = errors.New("no such run")
)

// Fault is an execution failure: run_deadline (HTTP 504), store_unavailable (503) or internal_error (500). MCP: -32603.
// A caller that went away is the error of its own context, never a Fault.
type Fault struct {
	Code string
	Text string // a fixed sentence of ours, for the client
	Err  error  // for the log
}

func (f *Fault) Error() string { return f.Code + ": " + f.Err.Error() }
func (f *Fault) Unwrap() error { return f.Err }
