// This file is agents: what they are, what stops them, and their tokens.
package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/clientblock"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// OfAgent names an agent.
type OfAgent struct {
	Slug string `path:"slug" maxLength:"40"`
}

// OfAgentToken names a token of an agent.
type OfAgentToken struct {
	OfAgent
	OfToken
}

type weighingAgent struct {
	OfAgent
	For string `query:"for" enum:"disable,pause" default:"disable"`
}

type creatingAgent struct {
	Body wire.CreateAgent
}

type settingElicitation struct {
	OfAgent
	Body wire.Elicitation
}

type creatingAgentToken struct {
	OfAgent
	Body wire.CreateAgentToken
}

func (s *Server) registerAgents() {
	gate.Handle(s.gate, "list-agents", func(ctx context.Context, v *gate.Visit, _ *nobody) (wire.Agents, error) {
		found, _, err := s.d.Agents.List(ctx, v.Scope())
		if err != nil {
			return wire.Agents{}, err
		}
		out := wire.Agents{Agents: []wire.Agent{}}
		for _, a := range found {
			out.Agents = append(out.Agents, agentOf(a))
			if err := s.namePause(ctx, out.Agents[len(out.Agents)-1].Paused); err != nil {
				return out, err
			}
		}
		return out, s.enliven(ctx, v.Scope(), found, out.Agents)
	})
	gate.Handle(s.gate, "create-agent", func(ctx context.Context, v *gate.Visit, in *creatingAgent) (wire.Agent, error) {
		if err := agent.CheckSlug(in.Body.Slug); err != nil {
			return wire.Agent{}, gate.Unprocessable("slug", err)
		}
		a, made, err := s.d.Agents.EnsureAgent(ctx, in.Body.Slug, v.By())
		if err == nil && !made {
			err = gate.Conflict("there is an agent of this name already")
		}
		return agentOf(a), err
	})
	gate.Handle(s.gate, "show-agent", func(ctx context.Context, v *gate.Visit, _ *OfAgent) (wire.AgentShown, error) {
		out := wire.AgentShown{Agent: agentOf(v.Agent), Tools: []wire.Offered{}}
		if err := s.namePause(ctx, out.Paused); err != nil {
			return out, err
		}
		one := []wire.Agent{out.Agent}
		if err := s.enliven(ctx, []string{v.Agent.ID}, []agent.Agent{v.Agent}, one); err != nil {
			return out, err
		}
		out.Agent = one[0]
		for _, t := range s.d.Tools.Known() {
			found, err := s.d.Rows.Resolve(ctx, v.Agent.ID, t)
			if err != nil {
				return out, err
			}
			out.Tools = append(out.Tools, wire.Offered{Tool: t.Name, Capability: t.Capability, Offered: found.Off == "", Why: found.Off,
				Provider: found.Binding.Provider, Class: string(found.Binding.Class), Limits: limits(found.Binding.RunLimit, found.Binding.MinuteLimit)})
		}
		return out, nil
	})
	for id, change := range map[string]func(context.Context, string, string) (agent.Agent, error){
		"disable-agent": s.d.Agents.Disable, "enable-agent": s.d.Agents.Enable,
		"pause-agent": s.d.Agents.Pause, "resume-agent": s.d.Agents.Resume,
	} {
		gate.Handle(s.gate, id, func(ctx context.Context, v *gate.Visit, _ *OfAgent) (wire.Agent, error) {
			a, err := change(ctx, v.Agent.ID, v.By())
			if err != nil {
				return wire.Agent{}, err
			}
			out := agentOf(a)
			return out, s.namePause(ctx, out.Paused)
		})
	}
	gate.Handle(s.gate, "set-elicitation", func(ctx context.Context, v *gate.Visit, in *settingElicitation) (wire.Agent, error) {
		a, err := s.d.Agents.SetElicitation(ctx, v.Agent.ID, in.Body.On, v.By())
		return agentOf(a), err
	})
	gate.Handle(s.gate, "list-agent-tokens", func(ctx context.Context, v *gate.Visit, _ *OfAgent) (wire.Tokens, error) {
		_, tokens, err := s.d.Agents.List(ctx, []string{v.Agent.ID})
		out := wire.Tokens{Tokens: []wire.Token{}}
		for _, t := range tokens {
			out.Tokens = append(out.Tokens, agentToken(t))
		}
		return out, err
	})
	gate.Handle(s.gate, "create-agent-token", func(ctx context.Context, v *gate.Visit, in *creatingAgentToken) (wire.NewToken, error) {
		t, text, err := s.d.Agents.NewToken(ctx, v.Agent.ID, agent.Scope(in.Body.Scope), v.By())
		if err != nil {
			return wire.NewToken{}, err
		}
		out := wire.NewToken{Token: agentToken(t), Secret: text.Reveal()}
		if t.Scope == agent.ScopeTools {
			out.Blocks = s.blocks(clientblock.Place{URL: s.o.MCP(), Token: text})
		}
		return out, nil
	})
	gate.Act(s.gate, "revoke-agent-token", func(ctx context.Context, v *gate.Visit, in *OfAgentToken) error {
		_, err := s.d.Agents.Revoke(ctx, v.Agent.ID, in.Token, v.By())
		return err
	})
	gate.Handle(s.gate, "agent-blocks", func(_ context.Context, _ *gate.Visit, _ *OfAgent) (wire.Blocks, error) {
		return wire.Blocks{Blocks: s.blocks(clientblock.Place{URL: s.o.MCP(), Variable: true})}, nil
	})
}

func (s *Server) blocks(p clientblock.Place) []wire.Block {
	var out []wire.Block
	for _, c := range clientblock.Clients() {
		out = append(out, wire.Block{Client: c.Name, Where: c.Where, Text: c.Block(p)})
	}
	return out
}

// enliven says what agents do now: the open runs and the last call of each. out is in the order of found.
func (s *Server) enliven(ctx context.Context, scope []string, found []agent.Agent, out []wire.Agent) error {
	open, err := s.d.Watch.Open(ctx, scope, mostOpen)
	if err != nil {
		return err
	}
	last, err := s.d.Watch.LastCalls(ctx, scope)
	if err != nil {
		return err
	}
	for i, a := range found {
		out[i].LastCall = moment(last[a.ID])
		for _, r := range open {
			if r.Agent == a.ID {
				out[i].OpenRuns++
				if r.Hold != "" {
					out[i].Held++
				}
			}
		}
	}
	return nil
}

// mostOpen bounds the open runs that are looked at for a count.
const mostOpen = 1000

func agentOf(a agent.Agent) wire.Agent {
	out := wire.Agent{Slug: a.Slug, ID: a.ID, Name: a.Name, State: stateActive, Paused: pauseOf(a.Paused), Elicitation: a.Elicitation, Created: a.Created.UTC()}
	if a.Disabled {
		out.State = stateDisabled
	}
	return out
}

func pauseOf(p agent.Pause) *wire.Pause {
	if p.By == "" {
		return nil
	}
	return &wire.Pause{By: p.By, At: p.At.UTC()}
}

func agentToken(t agent.Token) wire.Token {
	return wire.Token{ID: t.ID, Scope: string(t.Scope), Created: t.Created.UTC(), Used: moment(t.LastUse.At), UsedFrom: t.LastUse.From, Revoked: moment(t.Revoked)}
}

var errBoth = errors.New("name agents, or say all_agents, not both")

// unprocessableOr says that a member names what is not there, and passes other errors on.
func (s *Server) unprocessableOr(field string, err error) error {
	if f := s.gate.Failed(err); f.Status != http.StatusNotFound {
		return f
	}
	return gate.Unprocessable(field, errors.New("it names what is not there"))
}

func (s *Server) registerInstall() {
	gate.Handle(s.gate, "show-install", func(ctx context.Context, _ *gate.Visit, _ *nobody) (wire.Install, error) {
		pause, err := s.d.Agents.InstallPause(ctx)
		if err != nil {
			return wire.Install{}, err
		}
		epoch, err := s.d.Rows.Epoch(ctx)
		if err != nil {
			return wire.Install{}, err
		}
		now, err := s.d.Rows.Now(ctx)
		if err != nil {
			return wire.Install{}, err
		}
		out := wire.Install{Label: s.o.Label, Version: s.o.Version, Paused: pauseOf(pause), Now: now.UTC(), Epoch: epoch}
		return out, s.namePause(ctx, out.Paused)
	})
	gate.Act(s.gate, "pause-install", func(ctx context.Context, v *gate.Visit, _ *nobody) error {
		_, err := s.d.Agents.PauseInstall(ctx, v.By())
		return err
	})
	gate.Act(s.gate, "resume-install", func(ctx context.Context, v *gate.Visit, _ *nobody) error {
		return s.d.Agents.ResumeInstall(ctx, v.By())
	})
	gate.Handle(s.gate, "pause-install-impact", func(ctx context.Context, v *gate.Visit, _ *nobody) (wire.Impact, error) {
		out, err := s.impact(ctx, concern{agents: v.Scope()})
		out.Leaves = []string{"Calls that run now finish.", "Runs stay open until their deadline."}
		out.Undo = "Resume lets agents call again."
		return out, err
	})
	gate.Handle(s.gate, "agent-impact", func(ctx context.Context, v *gate.Visit, in *weighingAgent) (wire.Impact, error) {
		out, err := s.impact(ctx, concern{agents: []string{v.Agent.ID}})
		if in.For == "pause" {
			out.Leaves, out.Undo = []string{"Calls that run now finish.", "Runs stay open until their deadline."}, "Resume lets the agent call again."
			return out, err
		}
		out.Leaves = []string{"Calls that run now are cancelled, and what they bring is withheld.", "An effect that was dispatched runs on and is recorded."}
		out.Undo = "Enable opens the doors again. What was offered before stays stale, so the agent's next call is refused once."
		return out, err
	})
	gate.Handle(s.gate, "agent-token-impact", func(ctx context.Context, v *gate.Visit, in *OfAgentToken) (wire.Impact, error) {
		_, tokens, err := s.d.Agents.List(ctx, []string{v.Agent.ID})
		if err != nil {
			return wire.Impact{}, err
		}
		if !slices.ContainsFunc(tokens, func(t agent.Token) bool { return t.ID == in.Token }) {
			return wire.Impact{}, gate.NotFound()
		}
		out, err := s.impact(ctx, concern{agents: []string{v.Agent.ID}, token: in.Token})
		out.Leaves = []string{"Calls that run now finish; the token is refused from its next request on.", "Other tokens of the agent go on working."}
		return out, err
	})
	gate.Handle(s.gate, "end-run-impact", func(ctx context.Context, v *gate.Visit, in *endingRun) (wire.Impact, error) {
		out, err := s.impact(ctx, concern{agents: []string{v.Owner()}, run: v.Run.ID})
		if err != nil {
			return out, err
		}
		if in.For == "delete" {
			d, err := s.d.Rows.WeighDeletion(ctx, v.Run.ID)
			deletes, refused := DeletesOf(d)
			out.Runs, out.RunCount, out.Deletes, out.Refused = []string{v.Run.ID}, 1, &deletes, refused
			out.Leaves = []string{"The audit keeps that the run was deleted, and by whom."}
			return out, err
		}
		out.Leaves = []string{"Calls that were dispatched run on and are recorded.", "An uncertain effect stays uncertain and can still be reconciled."}
		return out, nil
	})
}

type endingRun struct {
	OfRun
	For string `query:"for" enum:"end,delete" default:"end" doc:"What is to be done to the run."`
}

// concern is what a destructive request is about.
type concern struct {
	agents     []string // nil: all
	run, token string   // empty: any
}

// shownRuns is how many runs an impact names.
const shownRuns = 50

// impact counts what a destructive request would stop.
func (s *Server) impact(ctx context.Context, c concern) (wire.Impact, error) {
	out := wire.Impact{Agents: []string{}, Runs: []string{}, Leaves: []string{}}
	agents, _, err := s.d.Agents.List(ctx, c.agents)
	if err != nil {
		return out, err
	}
	for _, a := range agents {
		out.Agents = append(out.Agents, a.Slug)
	}
	open, err := s.d.Watch.Open(ctx, c.agents, mostOpen)
	if err != nil {
		return out, err
	}
	flying, err := s.d.Watch.InFlight(ctx, c.agents, c.run, c.token, mostOpen)
	if err != nil {
		return out, err
	}
	for _, r := range open {
		concerned := (c.run == "" || r.ID == c.run) && (c.token == "" || slices.ContainsFunc(flying, func(f ledger.Record) bool { return f.Run == r.ID }))
		if !concerned {
			continue
		}
		out.RunCount++
		if len(out.Runs) < shownRuns {
			out.Runs = append(out.Runs, r.ID)
		}
	}
	out.InFlight = len(flying)
	for _, f := range flying {
		if f.Class == "effect" && !f.Dispatched.IsZero() {
			out.Effects++
		}
	}
	waiting, err := s.openApprovals(ctx, c.agents, c.run)
	if c.token == "" {
		out.Waiting = len(waiting)
	}
	return out, err
}
