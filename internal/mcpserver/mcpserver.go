// Package mcpserver offers tools over the Model Context Protocol. (Skeleton.)
package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/wayleave/wayleave/agenttool"
)

// Tools is what stands behind the transport: today the reader, in the next order the ledger.
type Tools interface {
	// List gives the tools offered to the caller, sorted by name.
	List(ctx context.Context, c Caller) ([]agenttool.Tool, error)
	// Call runs one tool call. An unknown tool is ErrUnknownTool.
	Call(ctx context.Context, c Caller, tool string, arguments json.RawMessage) (agenttool.Result, error)
}

// Caller is who calls: the agent of the token, and the connection (legacy session or token and client name).
type Caller struct {
	Agent      string
	TokenID    string
	Connection string
	ClientName string
	Meta       map[string]any // the request's _meta
}
