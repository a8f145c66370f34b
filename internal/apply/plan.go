// This file compares a file with an install, and makes the difference.
package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
)

// Agents are the agents of an install.
type Agents interface {
	List(ctx context.Context, only []string) ([]agent.Agent, []agent.Token, error)
	EnsureAgent(ctx context.Context, slug, by string) (agent.Agent, bool, error)
	Disable(ctx context.Context, agent, by string) (agent.Agent, error)
	Enable(ctx context.Context, agent, by string) (agent.Agent, error)
	Pause(ctx context.Context, agent, by string) (agent.Agent, error)
	Resume(ctx context.Context, agent, by string) (agent.Agent, error)
	SetElicitation(ctx context.Context, agent string, asks bool, by string) (agent.Agent, error)
	PauseInstall(ctx context.Context, by string) (agent.Pause, error)
	ResumeInstall(ctx context.Context, by string) error
	InstallPause(ctx context.Context) (agent.Pause, error)
}

// Hosts are the private hosts that agents may read.
type Hosts interface {
	List(ctx context.Context) ([]allowed.Host, error)
	Allow(ctx context.Context, host, agent, by string) (allowed.Host, error)
	Remove(ctx context.Context, host, agent, by string) (allowed.Host, error)
}

// Settings are the connections of the install and of agents.
type Settings interface {
	Of(ctx context.Context, owner string) ([]connection.Setting, error)
	Put(ctx context.Context, c connection.Change, by string) (connection.Setting, error)
}

// Install is what a file is applied to. All are required.
type Install struct {
	Agents   Agents
	Hosts    Hosts
	Settings Settings
	Rules    *connection.Rules
}

// Kind is what becomes of a place in the file's words.
type Kind string

// The kinds.
const (
	Made    Kind = "made"    // an agent that was not there
	Added   Kind = "added"   // to a list
	Changed Kind = "changed" // from one value to another
	Removed Kind = "removed" // from a list
)

// Change is one difference between a file and an install.
type Change struct {
	Kind Kind
	// What is in the file's words, such as agents.reviewer.paused; From and To are the values, empty for none.
	What, From, To string

	do func(ctx context.Context, by string) error
}

// String is what a change is about, in one line; its kind says what becomes of it.
func (c Change) String() string {
	switch c.Kind {
	case Made:
		return c.What
	case Added:
		return c.What + ": " + c.To
	case Removed:
		return c.What + ": " + c.From
	}
	return c.What + ": " + c.From + " → " + c.To
}

// Do makes the change; by is who does, as the audit names actors. It is one transaction, and changes nothing where
// somebody else made the same change meanwhile.
func (c Change) Do(ctx context.Context, by string) error {
	if err := c.do(ctx, by); err != nil {
		return fmt.Errorf("%s: %w", c.What, err)
	}
	return nil
}

// Planned is what a file means for an install.
type Planned struct {
	// Changes are what must change, in the order in which to do it: none where the install is as the file says.
	Changes []Change
	// Same counts what the file names and is so already.
	Same int
}

// Plan holds a file against an install. Where something cannot be, the error names the place in the file, and nothing was
// changed.
func Plan(ctx context.Context, f File, in Install) (Planned, error) {
	p := &planner{ctx: ctx, in: in, file: f}
	for _, step := range []func() error{p.pause, p.shared, p.hostsOfAll, p.agents} {
		if err := step(); err != nil {
			return Planned{}, err
		}
	}
	return p.out, nil
}

// Held says, once all changes are made, whether the install is as the file says. Each change is a transaction of its own,
// so of two files that are applied at once neither may have come out whole: whoever looks last is told.
func Held(ctx context.Context, f File, in Install) error {
	left, err := Plan(ctx, f, in)
	switch {
	case err != nil:
		return fmt.Errorf("the changes were made, and then it could not be seen whether they hold: %w", err)
	case len(left.Changes) > 0:
		return fmt.Errorf("somebody else changed the same meanwhile, and the install is not as the file says (would be %s: %s); "+
			"`wayleave audit` says who did; agree, then apply again", left.Changes[0].Kind, left.Changes[0])
	}
	return nil
}

type planner struct {
	ctx    context.Context
	in     Install
	file   File
	wanted map[string]connection.Setting // the install's, by capability, as they will be
	out    Planned
}

func (p *planner) add(kind Kind, what, from, to string, do func(ctx context.Context, by string) error) {
	if from == to {
		p.out.Same++
		return
	}
	p.out.Changes = append(p.out.Changes, Change{kind, what, from, to, do})
}

func yes(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func (p *planner) pause() error {
	if p.file.Paused == nil {
		return nil
	}
	now, err := p.in.Agents.InstallPause(p.ctx)
	if err != nil {
		return err
	}
	wanted := *p.file.Paused
	p.add(Changed, "paused", yes(now != agent.Pause{}), yes(wanted), func(ctx context.Context, by string) error {
		if !wanted {
			return p.in.Agents.ResumeInstall(ctx, by)
		}
		_, err := p.in.Agents.PauseInstall(ctx, by)
		return err
	})
	return nil
}

// shared plans the install's connections. An agent's are judged beside them as they will be.
func (p *planner) shared() error {
	now, err := p.in.Settings.Of(p.ctx, binding.Install)
	if err != nil {
		return err
	}
	p.wanted = make(map[string]connection.Setting)
	for _, s := range now {
		p.wanted[s.Capability] = s
	}
	for _, capability := range names(p.file.Connections) {
		c := p.file.Connections[capability]
		have := p.wanted[capability]
		change := c.change(binding.Install, capability, have.Version)
		if err := p.judge(c, change, connection.Setting{}); err != nil {
			return err
		}
		p.put(c, have, func() connection.Change { return change })
		to := connection.Setting{Capability: capability}
		to.Owner, to.Mode, to.Provider, to.Version = binding.Install, c.Mode, c.Provider, have.Version+1
		to.RunLimit, to.MinuteLimit = either(c.PerRun), either(c.PerMinute)
		p.wanted[capability] = to
	}
	return nil
}

func (c Connection) change(owner, capability string, version int64) connection.Change {
	return connection.Change{Owner: owner, Capability: capability, Mode: c.Mode, Provider: c.Provider, RunLimit: c.PerRun, MinuteLimit: c.PerMinute, Version: version}
}

func (p *planner) judge(c Connection, change connection.Change, shared connection.Setting) error {
	if !p.in.Rules.Has(change.Capability) {
		return fmt.Errorf("%s: this build has no such capability", c.path)
	}
	if err := p.in.Rules.Check(change, shared); err != nil {
		return fmt.Errorf("%s.%w", c.path, err) // it begins with the field
	}
	return nil
}

func (p *planner) put(c Connection, have connection.Setting, change func() connection.Change) {
	from := said(have.Mode, have.Provider, have.RunLimit, have.MinuteLimit)
	if have.Version == 0 { // no row means the usual mode
		from = said(map[bool]string{true: connection.Auto, false: connection.Inherit}[!strings.HasPrefix(c.path, "agents.")], "", 0, 0)
	}
	p.add(Changed, c.path, from, said(c.Mode, c.Provider, either(c.PerRun), either(c.PerMinute)), func(ctx context.Context, by string) error {
		_, err := p.in.Settings.Put(ctx, change(), by)
		var conflict *connection.Conflict
		if errors.As(err, &conflict) {
			return fmt.Errorf("%w, then apply again", err)
		}
		return err
	})
}

func either(limit *int64) int64 {
	if limit == nil {
		return 0
	}
	return *limit
}

// said is a connection in a few words.
func said(mode, provider string, run, minute int64) string {
	words := []string{mode}
	if provider != "" {
		words = append(words, provider)
	}
	if run > 0 {
		words = append(words, fmt.Sprintf("%d a run", run))
	}
	if minute > 0 {
		words = append(words, fmt.Sprintf("%d a minute", minute))
	}
	return strings.Join(words, ", ")
}

func (p *planner) hostsOfAll() error {
	if p.file.Hosts == nil {
		return nil
	}
	now, err := p.hosts("")
	if err != nil {
		return err
	}
	p.list("allowed_hosts", now, *p.file.Hosts, func() string { return "" })
	return nil
}

// hosts are those of one agent, or those of every agent.
func (p *planner) hosts(id string) (hosts []string, err error) {
	all, err := p.in.Hosts.List(p.ctx)
	for _, h := range all {
		if h.AgentID == id {
			hosts = append(hosts, h.Host)
		}
	}
	return hosts, err
}

// list plans what comes onto a list of hosts and what goes.
func (p *planner) list(what string, now, wanted []string, whose func() string) {
	for _, host := range wanted {
		if slices.Contains(now, host) {
			p.out.Same++
		} else {
			p.add(Added, what, "", host, func(ctx context.Context, by string) error {
				_, err := p.in.Hosts.Allow(ctx, host, whose(), by)
				return err
			})
		}
	}
	for _, host := range now {
		if !slices.Contains(wanted, host) {
			p.add(Removed, what, host, "", func(ctx context.Context, by string) error {
				_, err := p.in.Hosts.Remove(ctx, host, whose(), by)
				if errors.Is(err, allowed.ErrNotAllowed) { // somebody else took it away
					return nil
				}
				return err
			})
		}
	}
}

func (p *planner) agents() error {
	there, _, err := p.in.Agents.List(p.ctx, nil)
	if err != nil {
		return err
	}
	for _, slug := range names(p.file.Agents) {
		i := slices.IndexFunc(there, func(a agent.Agent) bool { return a.Slug == slug })
		var have agent.Agent
		if i >= 0 {
			have = there[i]
		}
		if err := p.agent(slug, have); err != nil {
			return err
		}
	}
	return nil
}

// agent plans one; have is the zero Agent where it is not there yet.
func (p *planner) agent(slug string, have agent.Agent) error {
	want, path := p.file.Agents[slug], "agents."+slug
	id := have.ID
	if id == "" {
		p.add(Made, path, "", "made", func(ctx context.Context, by string) error {
			made, _, err := p.in.Agents.EnsureAgent(ctx, slug, by)
			id = made.ID
			return err
		})
	}
	a := p.in.Agents
	set := func(name string, wanted *bool, now bool, do func(ctx context.Context, by string) error) {
		if wanted != nil {
			p.add(Changed, path+"."+name, yes(now), yes(*wanted), do)
		}
	}
	set("enabled", want.Enabled, !have.Disabled, func(ctx context.Context, by string) (err error) {
		if *want.Enabled {
			_, err = a.Enable(ctx, id, by)
		} else {
			_, err = a.Disable(ctx, id, by)
		}
		return err
	})
	set("paused", want.Paused, have.Paused != agent.Pause{}, func(ctx context.Context, by string) (err error) {
		if *want.Paused {
			_, err = a.Pause(ctx, id, by)
		} else {
			_, err = a.Resume(ctx, id, by)
		}
		return err
	})
	set("elicitation", want.Elicitation, have.Elicitation, func(ctx context.Context, by string) error {
		_, err := a.SetElicitation(ctx, id, *want.Elicitation, by)
		return err
	})
	if want.Hosts != nil {
		var now []string
		if have.ID != "" {
			var err error
			if now, err = p.hosts(have.ID); err != nil {
				return err
			}
		}
		p.list(path+".allowed_hosts", now, *want.Hosts, func() string { return id })
	}
	return p.own(have.ID, func() string { return id }, want.Connections)
}

// own plans an agent's connections. An agent that is not made yet has none, and an id that is not an install's for the
// judge.
func (p *planner) own(id string, whose func() string, wanted map[string]Connection) error {
	now := make(map[string]connection.Setting)
	if id != "" {
		settings, err := p.in.Settings.Of(p.ctx, id)
		if err != nil {
			return err
		}
		for _, s := range settings {
			now[s.Capability] = s
		}
	}
	for _, capability := range names(wanted) {
		c, have := wanted[capability], now[capability]
		if err := p.judge(c, c.change("agent", capability, 0), p.wanted[capability]); err != nil {
			return err
		}
		p.put(c, have, func() connection.Change { return c.change(whose(), capability, have.Version) })
	}
	return nil
}
