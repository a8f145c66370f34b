// This file is `wayleave agents`: who may call. It works on the data folder, beside a running server.
package keeping

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// Agents is the command.
type Agents struct {
	List    AgentsList    `cmd:"" default:"withargs" help:"List agents (what agents alone does), or show one."`
	Token   Token         `cmd:"" help:"Make, list and revoke tokens."`
	Pause   AgentsPause   `cmd:"" help:"Refuse an agent's new calls, or those of all agents; calls under way finish."`
	Resume  AgentsResume  `cmd:"" help:"End a pause."`
	Disable AgentsDisable `cmd:"" help:"Close every door to an agent: its tokens open nothing, and what is under way is cancelled and withheld."`
	Enable  AgentsEnable  `cmd:"" help:"Open its doors again."`
}

// Help says where else an agent is set.
func (*Agents) Help() string {
	return `What an agent may do is set elsewhere: private hosts by "wayleave allow --agent SLUG HOST", limits by "wayleave apply FILE", whose help has an example.`
}

// Token is the command.
type Token struct {
	New    TokenNew    `cmd:"" help:"Make a token, and the agent if it is not there. The token is shown once."`
	List   TokenList   `cmd:"" help:"List tokens. The tokens themselves are not kept and cannot be shown."`
	Revoke TokenRevoke `cmd:"" help:"Revoke a token: it fails from the next request on."`
}

// AgentsList is the command.
type AgentsList struct {
	place.DataFlags
	Agent string `arg:"" optional:"" name:"slug" help:"Only this agent, with its tokens."`
	JSON  bool   `setting:"-" help:"As JSON: an array of agents."`
}

// listedAgent is an agent in a list.
type listedAgent struct {
	Agent     string      `json:"agent"`
	State     string      `json:"state"` // active or disabled
	Paused    *wire.Pause `json:"paused,omitempty"`
	AllPaused *wire.Pause `json:"all_paused,omitempty"` // all agents are, this one with them
	Created   time.Time   `json:"created"`
	Tokens    int         `json:"tokens"` // that work
	LastUsed  time.Time   `json:"last_used,omitzero"`
}

// Run lists agents.
func (c *AgentsList) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	only, err := names.Only(s, in, c.Agent)
	if err != nil {
		return err
	}
	agents, tokens, err := in.Agents.List(s.Ctx, only)
	if err != nil {
		return err
	}
	all, err := in.Agents.InstallPause(s.Ctx)
	if err != nil {
		return err
	}
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	lines := []listedAgent{}
	for _, a := range agents {
		l := listedAgent{Agent: a.Slug, State: stateSaid(a), Paused: wirePause(called, a.Paused), AllPaused: wirePause(called, all), Created: a.Created}
		for _, t := range tokens {
			if t.Agent != a.Slug {
				continue
			}
			if t.Revoked.IsZero() {
				l.Tokens++
			}
			if t.LastUse.At.After(l.LastUsed) {
				l.LastUsed = t.LastUse.At
			}
		}
		lines = append(lines, l)
	}
	if c.JSON {
		return s.Out.JSON(lines)
	}
	if all.By != "" {
		s.Out.Printf("ALL AGENTS are %s: `%s agents resume --all%s` lets them call again\n\n", pausedSaid(called, all), place.CalledAs(), c.Again())
	}
	if err := cli.Table(s, "AGENT\tSTATE\tCREATED\tTOKENS\tLAST USED", func(row func(...any)) {
		for i, l := range lines {
			state := l.State
			if agents[i].Paused.By != "" {
				state = strings.TrimPrefix(state+", ", "active, ") + pausedSaid(called, agents[i].Paused)
			}
			row(l.Agent, state, cli.When(l.Created), l.Tokens, cli.When(l.LastUsed))
		}
	}); err != nil || c.Agent == "" {
		return err
	}
	s.Out.Printf("\n")
	return tokenTable(s, tokens)
}

// TokenNew is the command.
type TokenNew struct {
	place.DataFlags
	Agent string `arg:"" name:"slug" help:"The agent: lower-case letters, digits, hyphens."`
	Scope string `setting:"-" default:"tools" help:"What the token may do: tools (list and call tools) or harness (open, end and show the agent's runs and reconcile their calls; not call tools)."`
	JSON  bool   `setting:"-" help:"As JSON: agent, scope, token, id."`
}

// Run makes a token and prints it.
func (c *TokenNew) Run(s *cli.Session) error {
	scope, err := agent.ParseScope(c.Scope)
	if err != nil {
		return cli.Misused("--scope: %v", err)
	}
	if err := agent.CheckSlug(c.Agent); err != nil {
		return &cli.UsageError{Err: err}
	}
	in, _, err := c.Beside(s)
	if err != nil {
		return err
	}
	defer in.Close()
	token, text, err := place.NewToken(s.Ctx, in, c.Agent, scope)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(struct {
			Agent string      `json:"agent"`
			Scope agent.Scope `json:"scope"`
			Token string      `json:"token"`
			ID    string      `json:"id"`
		}{token.Agent, token.Scope, text.Reveal(), token.ID})
	}
	s.Err.Printf("token %s of agent %s, scope %s; it is not kept and not shown again:\n", token.ID, token.Agent, token.Scope)
	s.Out.Printf("%s\n", text.Reveal())
	return nil
}

// TokenList is the command.
type TokenList struct {
	place.DataFlags
	Agent string `arg:"" optional:"" name:"slug" help:"Only this agent's."`
	JSON  bool   `setting:"-" help:"As JSON."`
}

// Run lists tokens.
func (c *TokenList) Run(s *cli.Session) error {
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	_, tokens, err := in.Agents.List(s.Ctx, nil)
	if err != nil {
		return err
	}
	if c.Agent != "" {
		tokens = slices.DeleteFunc(tokens, func(t agent.Token) bool { return t.Agent != c.Agent })
	}
	if !c.JSON {
		return tokenTable(s, tokens)
	}
	type line struct {
		ID       string      `json:"id"`
		Agent    string      `json:"agent"`
		Scope    agent.Scope `json:"scope"`
		Created  time.Time   `json:"created"`
		LastUsed time.Time   `json:"last_used,omitzero"`
		LastFrom string      `json:"last_from,omitempty"`
		Revoked  time.Time   `json:"revoked,omitzero"`
	}
	lines := []line{}
	for _, t := range tokens {
		lines = append(lines, line{t.ID, t.Agent, t.Scope, t.Created, t.LastUse.At, t.LastUse.From, t.Revoked})
	}
	return s.Out.JSON(lines)
}

func tokenTable(s *cli.Session, tokens []agent.Token) error {
	return cli.Table(s, "TOKEN\tAGENT\tSCOPE\tCREATED\tLAST USED\tFROM\tREVOKED", func(row func(...any)) {
		for _, t := range tokens {
			row(t.ID, t.Agent, t.Scope, cli.When(t.Created), cli.When(t.LastUse.At), t.LastUse.From, cli.When(t.Revoked))
		}
	})
}

// TokenRevoke is the command.
type TokenRevoke struct {
	place.DataFlags
	Token string `arg:"" name:"id" help:"The token's id, or the token itself, or - to read it from standard input."`
	JSON  bool   `setting:"-" help:"As JSON."`
}

// Run revokes a token.
func (c *TokenRevoke) Run(s *cli.Session) error {
	what := c.Token
	if what == "-" { // keeps a token out of the process list
		var line [256]byte
		n, err := s.In.Read(line[:])
		if n == 0 {
			return fmt.Errorf("read the token from standard input: %w", err)
		}
		what = strings.TrimSpace(string(line[:n]))
	}
	in, err := c.Look(s)
	if err != nil {
		return err
	}
	defer in.Close()
	token, err := in.Agents.Revoke(s.Ctx, "", what, place.ByCLI)
	if errors.Is(err, agent.ErrNotFound) {
		return errors.New("no token has that id; `wayleave agents token list` shows them")
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(map[string]any{"id": token.ID, "agent": token.Agent, "revoked": token.Revoked})
	}
	s.Out.Printf("token %s of agent %s is revoked\n", token.ID, token.Agent)
	return nil
}
