package webfetch

import (
	"context"

	"github.com/wayleave/wayleave/agenttool"
)

// ToolOptions make a tool. The zero value works: the built-in fetcher, named web_fetch, for the public web.
type ToolOptions struct {
	// Name is 1 to 40 letters, digits or underscores; empty means ToolName.
	Name string
	// Options are those of the built-in fetcher. With a Source only PageChars, Timeout and Description may be set.
	Options Options
	// Source takes the place of the built-in fetcher; nil means the built-in one.
	Source Source
	// Abilities say what the agent is offered beside the tool. Documents is set by itself where Options.Documents is.
	Abilities Abilities
}

// NewTool makes the web_fetch tool. An invalid option is an *OptionError.
func NewTool(o ToolOptions) (agenttool.Tool, error) { panic("skeleton") }

// SourceFunc is a Source that is one function.
type SourceFunc func(ctx context.Context, req Request) (*Page, error)

// Fetch calls the function.
func (f SourceFunc) Fetch(ctx context.Context, req Request) (*Page, error) { return f(ctx, req) }
