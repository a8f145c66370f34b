// Package fetchtool plugs the read capability into the pipeline of tool calls as the tool web_fetch.
package fetchtool

import (
	"context"
	"encoding/json"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/reading"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/webfetch"
)

// New gives the tool of a reader.
func New(r *reading.Reader) tool.Plug { return plug{r} }

type plug struct{ reader *reading.Reader }

func (plug) Name() string       { return webfetch.ToolName }
func (plug) Capability() string { return catalogdata.Read }
func (plug) Profile() string    { return "" }

func (p plug) Define(offered map[string]bool) agenttool.Tool {
	return p.reader.Definition(webfetch.Abilities{Browser: offered["browser_navigate"], WebSearch: offered["web_search"]})
}

func (p plug) Parse(arguments json.RawMessage) (tool.Arguments, *tool.Bad) {
	f, bad := p.reader.Parse(arguments)
	if bad != nil {
		return nil, &tool.Bad{Code: string(webfetch.CodeInvalidInput), Result: *bad, Why: reading.Why(*bad)}
	}
	return call{f}, nil
}

// call is one call with valid arguments.
type call struct{ fetch *reading.Fetch }

func (c call) Canonical() json.RawMessage { return c.fetch.Canonical() }
func (c call) Source() ledger.Source      { return c.fetch.Source() }

func (c call) Look(ctx context.Context, where tool.Where) (tool.Plan, *tool.Bad, error) {
	refused, err := c.fetch.Look(ctx, place(where))
	switch {
	case err != nil:
		return tool.Plan{}, nil, err
	case refused != nil:
		return tool.Plan{}, &tool.Bad{Code: reading.Code(*refused), Result: *refused, Why: reading.Why(*refused)}, nil
	}
	// A kept page sends nothing, so it costs nothing.
	return tool.Plan{Unit: !c.fetch.Kept(), Bound: c.fetch.Bound()}, nil, nil
}

func (c call) Run(ctx context.Context, where tool.Where, gate tool.Gate) (tool.Done, error) {
	a, err := c.fetch.Read(ctx, place(where), gate)
	if err != nil {
		return tool.Done{}, err
	}
	return tool.Done{Result: a.Result, Output: a.Output, Code: a.Code, Evidence: a.Evidence, Why: a.Why}, nil
}

func place(w tool.Where) reading.Place {
	return reading.Place{Agent: w.Agent, Run: w.Run, Call: w.Call, Browser: w.Say.Offers("browser_navigate"), WebSearch: w.Say.Offers("web_search")}
}
