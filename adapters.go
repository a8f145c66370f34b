// This file lets parts meet that name the same thing in words of their own.
package wayleave

import (
	"context"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/tool"
)

// known is the pipeline with its tools, as the people's door asks for them.
type known struct {
	pipeline
	plugs []tool.Plug
	told  func(ledger.Record) (tool.Told, error)
}

func (k known) Known() []ledger.Tool {
	tools := make([]ledger.Tool, 0, len(k.plugs))
	for _, p := range k.plugs {
		tools = append(tools, ledger.Tool{Name: p.Name(), Capability: p.Capability(), Profile: p.Profile()})
	}
	return tools
}

// Told is what a call was answered with.
func (k known) Told(r ledger.Record) (tool.Told, error) { return k.told(r) }

// auditRows is what people decided, for the people's door.
type auditRows struct{ trail *auditstore.Store }

func (a auditRows) List(ctx context.Context, f audit.Filter) (rows []audit.Row, linked, waiting int64, err error) {
	if rows, err = a.trail.List(ctx, f); err != nil {
		return nil, 0, 0, err
	}
	linked, waiting, err = a.trail.Count(ctx)
	return rows, linked, waiting, err
}
