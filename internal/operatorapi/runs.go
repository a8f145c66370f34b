// This file is runs: opening, ending, showing, and what was kept for them.
package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/wayleave/wayleave/agenttool"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/tool"
)

// OfRun names a run.
type OfRun struct {
	Run string `path:"run" maxLength:"80"`
}

// OfPage names a kept page of a run.
type OfPage struct {
	OfRun
	Page string `path:"page" maxLength:"80"`
}

// Paging is where in a list one is.
type Paging struct {
	Cursor string `query:"cursor" maxLength:"200" doc:"The next of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

type openingRun struct {
	UserAgent string `header:"User-Agent" doc:"By it people know the harness."`
	Body      wire.OpenRun
}

type listingRuns struct {
	Paging
	Agent string `query:"agent" maxLength:"40" doc:"Slug of one agent."`
	State string `query:"state" enum:"open,ended"`
}

// Reasons of a run's end, as people and the agent see them.
const (
	endedByHarness = "ended by the harness"
	endedByPerson  = "ended by a person"
)

// rounds bounds how many pages of rows are looked through for one page of an answer.
const rounds = 10

func (s *Server) registerRuns() {
	gate.Handle(s.gate, "open-run", func(ctx context.Context, v *gate.Visit, in *openingRun) (wire.OpenedRun, error) {
		if wait, ok := s.opens.Take(v.Token.AgentID); !ok {
			return wire.OpenedRun{}, gate.Fail(http.StatusTooManyRequests, gate.CodeRateLimit, "this agent has opened as many runs as it may in a minute").After(wait)
		}
		run, err := s.d.Ledger.OpenRun(ctx, ledger.Opening{Agent: v.Token.AgentID, Title: oneLine(in.Body.Title), Conversation: oneLine(in.Body.Conversation), Client: oneLine(in.UserAgent),
			Deadline: seconds(in.Body.Deadline), MaxCalls: in.Body.MaxCalls})
		if err != nil {
			return wire.OpenedRun{}, err
		}
		v.Run = run
		tools, err := s.d.Tools.List(ctx, s.caller(v))
		return wire.OpenedRun{Run: runOf(run, map[string]string{v.Token.AgentID: v.Token.Agent}), Tools: toolsOf(tools)}, err
	})
	gate.Handle(s.gate, "list-runs", s.listRuns)
	gate.Handle(s.gate, "show-run", func(ctx context.Context, v *gate.Visit, _ *OfRun) (wire.Run, error) {
		return runOf(v.Run, map[string]string{v.Agent.ID: v.Agent.Slug}), nil
	})
	gate.Handle(s.gate, "end-run", func(ctx context.Context, v *gate.Visit, _ *OfRun) (wire.Run, error) {
		var run ledger.Run
		var err error
		if v.Kind == route.Harness {
			run, err = s.d.Ledger.EndRun(ctx, v.Owner(), v.Run.ID, endedByHarness)
		} else {
			run, err = s.d.Rows.EndRunBy(ctx, v.Run.ID, endedByPerson, v.By())
		}
		return runOf(run, map[string]string{v.Agent.ID: v.Agent.Slug}), err
	})
	gate.Handle(s.gate, "delete-run", func(ctx context.Context, v *gate.Visit, _ *OfRun) (wire.Deleted, error) {
		calls, err := s.d.Rows.DeleteRun(ctx, v.Run.ID, v.By())
		return wire.Deleted{Run: v.Run.ID, Calls: calls}, err
	})
	gate.Handle(s.gate, "list-kept-pages", func(ctx context.Context, v *gate.Visit, _ *OfRun) (wire.KeptPages, error) {
		kept, err := s.d.Pages.Kept(ctx, v.Run.ID)
		out := wire.KeptPages{Pages: []wire.KeptPage{}}
		for _, k := range kept {
			out.Pages = append(out.Pages, keptOf(k))
		}
		return out, err
	})
	gate.Handle(s.gate, "show-kept-page", func(ctx context.Context, v *gate.Visit, in *OfPage) (wire.KeptWhole, error) {
		k, err := s.d.Pages.KeptWhole(ctx, v.Run.ID, in.Page)
		return wire.KeptWhole{KeptPage: keptOf(k), Page: k.Page}, err
	})
	gate.Handle(s.gate, "list-tools", func(ctx context.Context, v *gate.Visit, _ *OfRun) (wire.Tools, error) {
		tools, err := s.d.Tools.List(ctx, s.caller(v))
		return wire.Tools{Tools: toolsOf(tools)}, err
	})
}

// oneLine is a client's words without what a screen, a log or a terminal obeys.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, text)
}

// scoped are the ids of the agents that a list is about: the one that was named, or all that the visitor sees.
func (s *Server) scoped(ctx context.Context, v *gate.Visit, slug string) ([]string, error) {
	if slug == "" {
		return v.Scope(), nil
	}
	a, err := s.d.Agents.BySlug(ctx, slug)
	if err != nil {
		return nil, err
	}
	if !v.Sees(a.ID) {
		return nil, gate.NotFound()
	}
	return []string{a.ID}, nil
}

func (s *Server) listRuns(ctx context.Context, v *gate.Visit, in *listingRuns) (wire.Runs, error) {
	out := wire.Runs{Runs: []wire.Run{}}
	agents, err := s.scoped(ctx, v, in.Agent)
	if err != nil {
		return out, err
	}
	slugs, err := s.slugs(ctx)
	if err != nil {
		return out, err
	}
	at := in.Cursor
	for range rounds {
		found, err := s.d.Rows.RunsOf(ctx, agents, at, in.Limit)
		if errors.Is(err, ledger.ErrNotFound) { // another list's, another agent's, or deleted meanwhile
			return out, gate.Unprocessable("cursor", errCursor)
		}
		if err != nil {
			return out, err
		}
		for i, r := range found {
			at = r.ID
			if in.State == "" || (in.State == "open") == r.Open {
				out.Runs = append(out.Runs, runOf(r, slugs))
			}
			if len(out.Runs) == in.Limit {
				if i < len(found)-1 || len(found) == in.Limit {
					out.Next = at
				}
				return out, nil
			}
		}
		if len(found) < in.Limit {
			return out, nil
		}
	}
	out.Next = at
	return out, nil
}

// caller is who calls tools over HTTP.
func (s *Server) caller(v *gate.Visit) tool.Caller {
	return tool.Caller{Agent: v.Token.AgentID, Slug: v.Token.Agent, Token: v.Token.TokenID, Client: "http", Run: v.Run.ID}
}

func toolsOf(tools []agenttool.Tool) []wire.Tool {
	out := []wire.Tool{}
	for _, t := range tools {
		out = append(out, wire.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema,
			Annotations: wire.Hints{ReadOnly: t.Hints.ReadOnly, Destructive: t.Hints.Destructive, Idempotent: t.Hints.Idempotent, OpenWorld: t.Hints.OpenWorld}})
	}
	return out
}

func runOf(r ledger.Run, slugs map[string]string) wire.Run {
	out := wire.Run{ID: r.ID, Agent: slugs[r.Agent], Kind: r.Kind, Client: r.Client, Conversation: r.Conversation, Title: r.Title, State: "ended", Deadline: r.Deadline.UTC(),
		IdleUntil: moment(r.IdleUntil), MaxCalls: r.MaxCalls, Calls: r.Calls, Refused: r.Refused, Hold: r.Hold, EndReason: r.EndReason,
		Created: r.Created.UTC(), Ended: moment(r.Ended), Units: r.RunMeters}
	if r.Open {
		out.State = "open"
	}
	return out
}

func keptOf(k KeptPage) wire.KeptPage {
	return wire.KeptPage{ID: k.ID, Call: k.Call, Snapshot: k.Snapshot, SHA256: k.SHA256, Chars: k.Chars, Bytes: k.Bytes,
		Kept: k.Kept.UTC(), Used: k.Used.UTC(), Expires: k.Expires.UTC()}
}

// running are the open runs with what each does now.
func (s *Server) running(ctx context.Context, agents []string, slugs map[string]string) ([]wire.Running, error) {
	open, err := s.d.Watch.Open(ctx, agents, 100)
	if err != nil {
		return nil, err
	}
	flying, err := s.d.Watch.InFlight(ctx, agents, "", "", mostOpen)
	if err != nil {
		return nil, err
	}
	out := []wire.Running{}
	for _, r := range open {
		one := wire.Running{Run: runOf(r, slugs)}
		for _, f := range slices.Backward(flying) {
			if f.Run == r.ID {
				doing := callOf(f, slugs)
				one.Doing = &doing
				break
			}
		}
		out = append(out, one)
	}
	return out, nil
}

var errCursor = errors.New("it is not the next of a page of this list, or what stood there is gone; begin without it")

// cursorIn refuses a cursor that is no id of a list's rows: behind it would stand an empty page, which looks like the end.
func cursorIn(kind, cursor string) error {
	if cursor != "" && !strings.HasPrefix(cursor, kind+"_") {
		return gate.Unprocessable("cursor", errCursor)
	}
	return nil
}
