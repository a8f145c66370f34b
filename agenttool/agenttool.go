// Package agenttool is the one form in which Wayleave hands a tool to an agent: a name, a description, a JSON
// Schema, hints, and a handler that takes JSON and gives content. The packages that make tools (webfetch, the
// service) and the adapters that offer them to a framework (adapters/...) share these words and nothing else.
//
// The one rule: what a [Handler] puts into [Result.Content] is what a model reads, whole and in that order; nothing
// that a model needs stands anywhere else.
package agenttool

import (
	"context"
	"encoding/json"
)

// Tool is one tool as an agent sees it. All fields but Handler are what a tool list shows.
type Tool struct {
	// Name is 1 to 40 letters, digits or underscores.
	Name string
	// Description tells the model what the tool does and that content is untrusted.
	Description string
	// InputSchema is a JSON Schema (2020-12) of type object with additionalProperties false.
	InputSchema json.RawMessage
	// Hints are told to clients; they promise, they do not enforce.
	Hints Hints
	// Handler runs one call.
	Handler Handler
}

// Hints are the four tool annotations of MCP. All four are always sent, so that no client falls back to its own
// default for one of them.
type Hints struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// Handler runs one call with the arguments as the client sent them: one JSON object, or nothing for none.
//
// What a model can mend or should know (a bad argument, a refused address, a failed fetch) is a Result with a
// Failure, not an error. The error is for what is no result: the caller's own cancellation (context.Canceled or
// context.DeadlineExceeded of the caller's context, as it is), or a fault of the host.
type Handler func(ctx context.Context, arguments json.RawMessage) (Result, error)

// Result is what one call gave.
type Result struct {
	// Content is what the model reads: one text part first, then at most one image.
	Content []Part
	// Structured is a JSON object for hosts: ids, numbers and codes, never words that a page chose. It may be nil.
	Structured json.RawMessage
	// Meta is sent beside the result, for hosts only (MCP: _meta). It may be nil.
	Meta map[string]any
	// Failure is nil for a success. Its Error text is the text of Content; errors.As finds the typed error of the
	// package that failed (for web_fetch a *webfetch.Error).
	Failure error
}

// Text returns the text of the first part, which is all the text that a result has.
func (r Result) Text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// Part is one piece of content: Text, or an image with MIME and Data.
type Part struct {
	Text string
	MIME string
	Data []byte
}
