// Package connection decides which provider a capability uses for an agent, who pays, and under which limits: the agent's
// own settings, else the install's, else the catalogue.
//
// The one rule: nothing falls back. A connection that names a provider uses that one or none; what cannot be read means
// off.
package connection

import (
	"fmt"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/effect"
)

// Modes of a connection. An install's is auto, own or disabled; an agent's is inherit, own or disabled.
const (
	Auto     = "auto"     // the first provider of the catalogue that needs no account
	Own      = "own"      // the provider that it names
	Inherit  = "inherit"  // what the install has
	Disabled = "disabled" // no tool at all
)

// Values of binding.Binding.RunLimitOf.
const (
	LimitOfConnection = "connection"
	LimitOfAgent      = "agent"
)

// NoAccount is the account owner where no account is needed.
const NoAccount = "none"

// Rules decide by one catalogue. They hold nothing that changes, so every process of an install decides alike.
type Rules struct {
	providers map[string][]catalogdata.Provider // by capability, in the catalogue's order
	classes   map[[2]string]catalogdata.Class   // by tool and provider
}

// New checks a catalogue: names are unique, each tool has one class at a provider, limits are not negative.
func New(c catalogdata.Catalog) (*Rules, error) {
	r := &Rules{providers: make(map[string][]catalogdata.Provider), classes: make(map[[2]string]catalogdata.Class)}
	named := make(map[string]bool)
	for _, p := range c.Providers {
		switch {
		case p.Name == "" || p.Capability == "":
			return nil, fmt.Errorf("catalogue: provider %q of capability %q has no name or no capability", p.Name, p.Capability)
		case p.RunLimit < 0 || p.MinuteLimit < 0:
			return nil, fmt.Errorf("catalogue: provider %q has a negative limit", p.Name)
		case r.provider(p.Capability, p.Name) != nil:
			return nil, fmt.Errorf("catalogue: provider %q of %s stands there twice", p.Name, p.Capability)
		}
		r.providers[p.Capability] = append(r.providers[p.Capability], p)
		named[p.Name] = true
	}
	for _, k := range c.Classes {
		key := [2]string{k.Tool, k.Provider}
		_, twice := r.classes[key]
		switch {
		case k.Tool == "" || !named[k.Provider]:
			return nil, fmt.Errorf("catalogue: the class of %q at %q names no tool or no provider", k.Tool, k.Provider)
		case twice:
			return nil, fmt.Errorf("catalogue: %s at %s has two classes", k.Tool, k.Provider)
		case k.Class != effect.Query && k.Class != effect.Observation && k.Class != effect.Effect:
			return nil, fmt.Errorf("catalogue: %s at %s has class %q", k.Tool, k.Provider, k.Class)
		}
		r.classes[key] = k
	}
	return r, nil
}

func (r *Rules) provider(capability, name string) *catalogdata.Provider {
	for i, p := range r.providers[capability] {
		if p.Name == name {
			return &r.providers[capability][i]
		}
	}
	return nil
}

// Has says whether a build with this catalogue knows a capability.
func (r *Rules) Has(capability string) bool { return len(r.providers[capability]) > 0 }

// Resolve is a binding.Resolve: what a tool is bound to by these facts. Where several things switch a tool off, Off names
// the one nearest to the agent.
func (r *Rules) Resolve(f binding.Facts, capability, tool, profile string) binding.Resolution {
	out := binding.Resolution{Binding: binding.Binding{Agent: f.Agent.ID, GrantsVersion: f.Agent.GrantsVersion, Capability: capability, Profile: profile}}
	switch {
	case f.Install != (binding.Pause{}):
		out.Paused, out.PausedWhat = &f.Install, "install"
	case f.Agent.Paused != (binding.Pause{}):
		out.Paused, out.PausedWhat = &f.Agent.Paused, "agent"
	}
	c, off := r.choose(f, capability)
	if off != "" {
		out.Off = off
		return out
	}
	class, ok := r.classes[[2]string{tool, c.provider.Name}]
	switch {
	case !ok:
		out.Off = fmt.Sprintf("provider %s does not offer it", c.provider.Name)
		return out
	case c.provider.NeedsAccount:
		out.Off = fmt.Sprintf("no account of %s is connected", c.provider.Name)
		return out
	}
	b := &out.Binding
	b.ConnectionOwner, b.ConnectionVersion, b.Provider, b.AccountOwner = c.owner, c.version, c.provider.Name, NoAccount
	b.Class, b.Meter = class.Class, binding.Uncounted
	if !class.Metered {
		return out
	}
	b.Meter = binding.Install
	if c.owner != binding.Install {
		b.Meter = "agent:" + c.owner
	}
	b.RunLimit, b.MinuteLimit = either(c.limits.RunLimit, c.provider.RunLimit), either(c.limits.MinuteLimit, c.provider.MinuteLimit)
	if b.RunLimit > 0 {
		b.RunLimitOf = LimitOfConnection
	}
	if a := c.allowance; a > 0 && (b.RunLimit == 0 || a < b.RunLimit) {
		b.RunLimit, b.RunLimitOf = a, LimitOfAgent
	}
	return out
}

// either is the limit that was set, else the catalogue's.
func either(set, usual int64) int64 {
	if set > 0 {
		return set
	}
	return usual
}

// choice is the connection in force.
type choice struct {
	owner     string // binding.Install or the agent's id
	version   int64  // 0: automatic
	provider  catalogdata.Provider
	limits    binding.Connection // whose limits count; zero for the catalogue's
	allowance int64              // the inheriting agent's own calls a run; 0: none
}

// choose finds the connection in force, or why there is none.
func (r *Rules) choose(f binding.Facts, capability string) (choice, string) {
	switch {
	case f.Agent.ID == "" || f.Agent.ID == binding.Install:
		return choice{}, "the agent is not known"
	case f.Agent.Disabled:
		return choice{}, "the agent is disabled"
	case !r.Has(capability):
		return choice{}, "this build has no provider of " + capability
	case f.Own != nil && f.Own.Owner != f.Agent.ID, f.Shared != nil && f.Shared.Owner != binding.Install:
		return choice{}, "its settings are another owner's"
	}
	allowance := int64(0)
	if own := f.Own; own != nil {
		switch own.Mode {
		case Disabled:
			return choice{}, "switched off for this agent"
		case Own:
			return r.pinned(f.Agent.ID, *own, capability)
		case Inherit:
			allowance = max(own.RunLimit, 0)
		default:
			return choice{}, fmt.Sprintf("this agent's settings have the mode %q", own.Mode)
		}
	}
	c, off := r.shared(f.Shared, capability)
	c.allowance = allowance
	return c, off
}

// shared is the install's connection. The version of an automatic one is 0 whatever was written to its row: nothing in
// the row chooses the provider.
func (r *Rules) shared(row *binding.Connection, capability string) (choice, string) {
	if row == nil {
		row = &binding.Connection{Owner: binding.Install, Mode: Auto}
	}
	switch row.Mode {
	case Disabled:
		return choice{}, "switched off for the install"
	case Own:
		return r.pinned(binding.Install, *row, capability)
	case Auto:
		for _, p := range r.providers[capability] {
			if !p.NeedsAccount {
				return choice{owner: binding.Install, provider: p, limits: *row}, ""
			}
		}
		return choice{}, "no account is connected, and no provider does without one"
	}
	return choice{}, fmt.Sprintf("the install's settings have the mode %q", row.Mode)
}

func (r *Rules) pinned(owner string, row binding.Connection, capability string) (choice, string) {
	p := r.provider(capability, row.Provider)
	if p == nil {
		return choice{}, fmt.Sprintf("provider %q is not in this build", row.Provider)
	}
	return choice{owner: owner, version: row.Version, provider: *p, limits: row}, ""
}
