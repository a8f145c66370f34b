// This file is `wayleave agents pause`, `resume`, `disable` and `enable`: one agent, or all of them, stopped and let go on.
// What it does to calls is the ledger's: a running server sees it within a second, and one that is started later at once.
package keeping

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/names"
	"github.com/wayleave/wayleave/internal/cli/place"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/store/watchstore"
)

// AgentsPause is the command.
type AgentsPause struct{ someAgents }

// AgentsResume is the command.
type AgentsResume struct{ someAgents }

// AgentsDisable is the command.
type AgentsDisable struct{ oneAgent }

// AgentsEnable is the command.
type AgentsEnable struct{ oneAgent }

type oneAgent struct {
	place.DataFlags
	Agent string `arg:"" name:"slug" help:"The agent."`
	JSON  bool   `setting:"-" help:"As JSON: agent, state, paused, changed, open_runs, calls_in_flight, effects_dispatched."`
}

type someAgents struct {
	place.DataFlags
	Agent string `arg:"" optional:"" name:"slug" help:"The agent."`
	All   bool   `setting:"-" help:"All agents, those too that are made later."`
	JSON  bool   `setting:"-" help:"As JSON: agent or all, state, paused, changed, open_runs, calls_in_flight, effects_dispatched."`
}

// check says what is wrong with whom a command called.
func (c someAgents) check(verb string) error {
	switch {
	case c.Agent == "" && !c.All:
		return cli.Misused("name an agent, or say --all: `%s agents %s SLUG`", place.CalledAs(), verb)
	case c.Agent != "" && c.All:
		return cli.Misused("an agent and --all do not go together")
	}
	return nil
}

// stood is how an agent, or all of them, stand after a command, and what is under way of them.
type stood struct {
	Agent    string      `json:"agent,omitempty"`
	All      bool        `json:"all,omitempty"`
	State    string      `json:"state,omitempty"` // active or disabled
	Paused   *wire.Pause `json:"paused,omitempty"`
	Changed  bool        `json:"changed"`
	Runs     int         `json:"open_runs"`
	InFlight int         `json:"calls_in_flight"`
	Effects  int         `json:"effects_dispatched"` // of those
}

// mostCounted bounds the rows that are looked at for a count.
const mostCounted = 1000

// count looks at what is under way. agents nil means all.
func (t *stood) count(s *cli.Session, in *install.Install, agents []string) error {
	watch := watchstore.New(in.DB)
	open, err := watch.Open(s.Ctx, agents, mostCounted)
	if err != nil {
		return err
	}
	flying, err := watch.InFlight(s.Ctx, agents, "", "", mostCounted)
	t.Runs, t.InFlight = len(open), len(flying)
	for _, f := range flying {
		if f.Class == "effect" && !f.Dispatched.IsZero() {
			t.Effects++
		}
	}
	return err
}

// leaves says what a pause leaves as it is.
func (t stood) leaves() string {
	var all []string
	if t.InFlight > 0 {
		all = append(all, cli.Many(t.InFlight, "call is under way and finishes", "calls are under way and finish"))
	}
	if t.Runs > 0 {
		all = append(all, cli.Many(t.Runs, "run stays open until its deadline", "runs stay open until their deadlines"))
	}
	if len(all) == 0 {
		return "nothing was under way"
	}
	return strings.Join(all, "; ")
}

// cancels says what a disabling does to calls under way.
func (t stood) cancels() string {
	var all []string
	if n := t.InFlight - t.Effects; n > 0 {
		all = append(all, cli.Many(n, "call under way is cancelled", "calls under way are cancelled"))
	}
	if t.Effects > 0 {
		all = append(all, cli.Many(t.Effects, "effect was dispatched, runs on and is recorded", "effects were dispatched, run on and are recorded"))
	}
	if len(all) == 0 {
		return "nothing was under way"
	}
	return strings.Join(all, "; ")
}

// pausedSaid is who paused and since when.
func pausedSaid(n operatorapi.Names, p agent.Pause) string {
	return fmt.Sprintf("paused by %s since %s UTC", names.Actor(n, p.By), cli.When(p.At))
}

func wirePause(n operatorapi.Names, p agent.Pause) *wire.Pause {
	if p.By == "" {
		return nil
	}
	return &wire.Pause{By: p.By, ByName: n.Actor(p.By), At: p.At.UTC()}
}

func stateSaid(a agent.Agent) string {
	if a.Disabled {
		return "disabled"
	}
	return "active"
}

// Run pauses.
func (c *AgentsPause) Run(s *cli.Session) error {
	if err := c.check("pause"); err != nil {
		return err
	}
	in, err := c.Heard(s)
	if err != nil {
		return err
	}
	defer in.Close()
	called, err := names.Of(s, in)
	if err != nil {
		return err
	}
	var t stood
	var before, after agent.Pause
	who, target := "all agents are", "--all"
	var ids []string
	if c.All {
		if before, err = in.Agents.InstallPause(s.Ctx); err != nil {
			return err
		}
		after, err = in.Agents.PauseInstall(s.Ctx, place.ByCLI)
		t.All = true
	} else {
		var a agent.Agent
		if a, err = names.Agent(s, in, c.Agent); err != nil {
			return err
		}
		before = a.Paused
		a, err = in.Agents.Pause(s.Ctx, a.ID, place.ByCLI)
		after, who, target, ids, t.Agent, t.State = a.Paused, "agent "+c.Agent+" is", c.Agent, []string{a.ID}, a.Slug, stateSaid(a)
	}
	if err != nil {
		return err
	}
	t.Changed, t.Paused = before.By == "", wirePause(called, after)
	if err := t.count(s, in, ids); err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(t)
	}
	if !t.Changed {
		s.Out.Printf("%s %s already; nothing was changed\n", who, pausedSaid(called, after))
		return nil
	}
	s.Out.Printf("%s paused: new calls are refused, and the models are told that an operator paused them\n%s\n", who, t.leaves())
	s.Err.Printf("`%s agents resume %s%s` lets them call again\n", place.CalledAs(), target, c.Again())
	return nil
}

// Run ends a pause.
func (c *AgentsResume) Run(s *cli.Session) error {
	if err := c.check("resume"); err != nil {
		return err
	}
	in, err := c.Heard(s)
	if err != nil {
		return err
	}
	defer in.Close()
	all, err := in.Agents.InstallPause(s.Ctx)
	if err != nil {
		return err
	}
	if c.All {
		return c.everyone(s, in, all)
	}
	return c.one(s, in, all)
}

// everyone ends the pause of all agents.
func (c *AgentsResume) everyone(s *cli.Session, in *install.Install, before agent.Pause) error {
	if err := in.Agents.ResumeInstall(s.Ctx, place.ByCLI); err != nil {
		return err
	}
	t := stood{All: true, Changed: before.By != ""}
	if err := t.count(s, in, nil); err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(t)
	}
	if t.Changed {
		s.Out.Printf("agents may call again\n")
	} else {
		s.Out.Printf("agents were not paused all at once; nothing was changed\n")
	}
	agents, _, err := in.Agents.List(s.Ctx, nil)
	var still []string
	for _, a := range agents {
		if a.Paused.By != "" {
			still = append(still, a.Slug)
		}
	}
	if len(still) > 0 {
		s.Err.Printf("note: paused by themselves, and still so: %s\n", strings.Join(still, ", "))
	}
	return err
}

// one ends the pause of one agent; all is that of all agents.
func (c *AgentsResume) one(s *cli.Session, in *install.Install, all agent.Pause) error {
	a, err := names.Agent(s, in, c.Agent)
	if err != nil {
		return err
	}
	t := stood{Changed: a.Paused.By != ""}
	if a, err = in.Agents.Resume(s.Ctx, a.ID, place.ByCLI); err != nil {
		return err
	}
	t.Agent, t.State = a.Slug, stateSaid(a)
	if err := t.count(s, in, []string{a.ID}); err != nil {
		return err
	}
	if c.JSON {
		return s.Out.JSON(t)
	}
	if t.Changed {
		s.Out.Printf("agent %s may call again\n", a.Slug)
	} else {
		s.Out.Printf("agent %s was not paused; nothing was changed\n", a.Slug)
	}
	if a.Disabled {
		s.Err.Printf("note: it is disabled, so nothing of it gets in; `%s agents enable %s%s`\n", place.CalledAs(), a.Slug, c.Again())
	}
	if all.By == "" {
		return nil
	}
	called, err := names.Of(s, in)
	s.Err.Printf("note: all agents are %s, this one with them; `%s agents resume --all%s`\n", pausedSaid(called, all), place.CalledAs(), c.Again())
	return err
}

// Run disables.
func (c *AgentsDisable) Run(s *cli.Session) error {
	in, before, t, err := c.change(s, func(in *install.Install, id string) (agent.Agent, error) {
		return in.Agents.Disable(s.Ctx, id, place.ByCLI)
	})
	if err != nil {
		return err
	}
	defer in.Close()
	t.Changed = !before.Disabled
	if c.JSON {
		return s.Out.JSON(t)
	}
	if !t.Changed {
		s.Out.Printf("agent %s was disabled already; nothing was changed\n", t.Agent)
		return nil
	}
	s.Out.Printf("agent %s is disabled: its tokens open nothing, and what its calls under way bring is withheld\n%s\n", t.Agent, t.cancels())
	s.Err.Printf("`%s agents enable %s%s` opens its doors again\n", place.CalledAs(), t.Agent, c.Again())
	return nil
}

// Run enables.
func (c *AgentsEnable) Run(s *cli.Session) error {
	in, before, t, err := c.change(s, func(in *install.Install, id string) (agent.Agent, error) {
		return in.Agents.Enable(s.Ctx, id, place.ByCLI)
	})
	if err != nil {
		return err
	}
	defer in.Close()
	t.Changed = before.Disabled
	if c.JSON {
		return s.Out.JSON(t)
	}
	if !t.Changed {
		s.Out.Printf("agent %s was not disabled; nothing was changed\n", t.Agent)
		return nil
	}
	s.Out.Printf("agent %s is enabled: its tokens work again. What was offered to it before is stale, so its next call may be refused once\n", t.Agent)
	if t.Paused != nil {
		s.Err.Printf("note: it is paused; `%s agents resume %s%s`\n", place.CalledAs(), t.Agent, c.Again())
	}
	return nil
}

// change does something to an agent that must be there. The install that it gives is to be closed.
func (c oneAgent) change(s *cli.Session, do func(in *install.Install, id string) (agent.Agent, error)) (_ *install.Install, before agent.Agent, t stood, err error) {
	in, err := c.Heard(s)
	if err != nil {
		return nil, before, t, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	called, err := names.Of(s, in)
	if err != nil {
		return nil, before, t, err
	}
	if before, err = names.Agent(s, in, c.Agent); err != nil {
		return nil, before, t, err
	}
	after, err := do(in, before.ID)
	if err != nil {
		return nil, before, t, err
	}
	t = stood{Agent: after.Slug, State: stateSaid(after), Paused: wirePause(called, after.Paused)}
	err = t.count(s, in, []string{after.ID})
	return in, before, t, err
}
