// This file is the pipeline's making, and the list of tools.
package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/observation"
)

// Ledger is what the pipeline asks of the ledger; a *ledger.Ledger is one.
type Ledger interface {
	Digest(tool string, canonical []byte) []byte
	Look(ctx context.Context, a ledger.Ask) (ledger.Looked, error)
	Admit(ctx context.Context, a ledger.Ask, waiting func(ledger.Progress)) (*ledger.Call, error)
	Refuse(ctx context.Context, a ledger.Ask, code string, why []ledger.Reason, result []byte) (string, error)
	Reconcile(ctx context.Context, agent, run, call string, v ledger.Reconciliation) (ledger.Record, error)
	NamedRun(ctx context.Context, agent, id string) (ledger.Run, error)
	ImplicitRun(ctx context.Context, agent, token string, client ledger.Client) (ledger.Run, error)
	SessionRun(ctx context.Context, agent, session string, client ledger.Client) (ledger.Run, error)
}

// Rows are what the pipeline reads and writes beside calls; a ledger.Store has them.
type Rows interface {
	Offer(ctx context.Context, agent, audience string, tools []ledger.Tool) ([]binding.Resolution, error)
	Resolve(ctx context.Context, agent string, t ledger.Tool) (binding.Resolution, error)
	Call(ctx context.Context, agent, run, call string) (ledger.Record, error)
}

// Options of a pipeline. Ledger, Rows, Approvals and Plugs are required.
type Options struct {
	Ledger    Ledger
	Rows      Rows
	Approvals approval.Store
	// Plugs gives the tools that there are for an agent now, offered or not; it is asked at each list and call.
	Plugs func(ctx context.Context, agent string) ([]Plug, error)
	// Policy gives what operators decided for an agent; nil means that nothing was decided for any.
	Policy func(ctx context.Context, agent string) (approval.Policy, error)
	// AnswerBase gives the address of the pages where people answer, without a slash at its end, or nothing where there are
	// none; nil means none.
	AnswerBase func() string
	// Wait is how long a call waits for a person; 0 means 55 s: below the 60 s after which clients give up.
	Wait time.Duration
	// Log takes faults of capabilities, without any value of a call; nil drops them.
	Log *slog.Logger
}

const (
	waitForPerson = 55 * time.Second
	// telling is between two words to a waiting caller.
	telling = 5 * time.Second
	// firstLook is between looks at a row that somebody else will change; it doubles up to lastLook.
	firstLook = 50 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// Pipeline carries tool calls from a door to a capability and back. It is safe for concurrent use.
type Pipeline struct {
	o     Options
	known implicitRuns
}

// New makes a pipeline. It checks the options and starts nothing.
func New(o Options) (*Pipeline, error) {
	switch {
	case o.Ledger == nil || o.Rows == nil:
		return nil, errors.New("tool: there is no ledger, so nothing could be admitted; set Ledger and Rows")
	case o.Approvals == nil:
		return nil, errors.New("tool: there are no approvals, so nobody could be asked; set Approvals")
	case o.Plugs == nil:
		return nil, errors.New("tool: there are no tools; set Plugs")
	case o.Wait < 0:
		return nil, fmt.Errorf("tool: Wait is %s; give a positive time, or zero for %s", o.Wait, waitForPerson)
	}
	if o.Policy == nil {
		o.Policy = func(context.Context, string) (approval.Policy, error) { return approval.Policy{}, nil }
	}
	if o.AnswerBase == nil {
		o.AnswerBase = func() string { return "" }
	}
	if o.Wait == 0 {
		o.Wait = waitForPerson
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Pipeline{o: o}, nil
}

// List gives the tools that are offered to the caller, sorted by name, and writes the offers of its audience. Errors:
// ErrUnknownRun, *Fault.
func (p *Pipeline) List(ctx context.Context, c Caller) ([]agenttool.Tool, error) {
	audience := "agent:" + c.Agent
	if named := c.Run + c.SessionRun + c.Session; named != "" {
		run, err := p.place(ctx, c)
		if err != nil {
			return nil, err
		}
		audience = run.Audience
	}
	plugs, err := p.o.Plugs(ctx, c.Agent)
	if err != nil {
		return nil, faultOf(ctx, fmt.Errorf("list the plugs: %w", err))
	}
	tools := make([]ledger.Tool, 0, len(plugs))
	for _, plug := range plugs {
		tools = append(tools, ledgerTool(plug))
	}
	resolved, err := p.o.Rows.Offer(ctx, c.Agent, audience, tools)
	if err != nil {
		return nil, faultOf(ctx, stored("write the offers", err))
	}
	offered := make(map[string]bool)
	for i, r := range resolved {
		if r.Off == "" {
			offered[plugs[i].Name()] = true
		}
	}
	var list []agenttool.Tool
	for _, plug := range plugs {
		if offered[plug.Name()] {
			list = append(list, plug.Define(offered))
		}
	}
	slices.SortFunc(list, func(a, b agenttool.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func ledgerTool(p Plug) ledger.Tool {
	return ledger.Tool{Name: p.Name(), Capability: p.Capability(), Profile: p.Profile()}
}

// speaker knows what texts of this call may name. Which tools are offered is looked up when a text wants to know.
func (p *Pipeline) speaker(ctx context.Context, agent string, plugs []Plug) observation.Speaker {
	known := make(map[string]bool)
	return observation.Speaker{Base: p.o.AnswerBase(), Offered: once(func(tool string) bool {
		for _, plug := range plugs {
			if plug.Name() == tool {
				r, err := p.o.Rows.Resolve(ctx, agent, ledgerTool(plug))
				return err == nil && r.Off == ""
			}
		}
		return false
	}, known)}
}

// stored marks an error of Rows as one of the database, which is what it is.
func stored(doing string, err error) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, ledger.ErrStore, err)
}
