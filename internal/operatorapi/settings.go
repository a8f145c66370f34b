// This file is what an operator changes while the program runs: connections with their limits, and private hosts.
package operatorapi

import (
	"context"
	"slices"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/operatorapi/gate"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/weburl"
)

// OfCapability names a capability.
type OfCapability struct {
	Capability string `path:"capability" maxLength:"40"`
}

// ChangingConnection replaces a connection of the install.
type ChangingConnection struct {
	OfCapability
	Body wire.ChangeConnection
}

type changingAgentConnection struct {
	OfAgent
	ChangingConnection
}

// AllowingHost names a host to be allowed.
type AllowingHost struct {
	Body wire.AllowHost
}

type allowingAgentHost struct {
	OfAgent
	AllowingHost
}

// OfHost names a private host.
type OfHost struct {
	Host string `query:"host" required:"true" minLength:"1" maxLength:"300" doc:"As it stands in the list."`
}

// OfAgentHost names a private host of an agent.
type OfAgentHost struct {
	OfAgent
	OfHost
}

func (s *Server) registerSettings() {
	gate.Handle(s.gate, "show-web-settings", func(ctx context.Context, _ *gate.Visit, _ *nobody) (wire.WebSettings, error) {
		return s.webSettings(ctx, "", "")
	})
	gate.Handle(s.gate, "show-agent-web-settings", func(ctx context.Context, v *gate.Visit, _ *OfAgent) (wire.WebSettings, error) {
		return s.webSettings(ctx, v.Agent.ID, v.Agent.Slug)
	})
	gate.Handle(s.gate, "change-web-settings", func(ctx context.Context, v *gate.Visit, in *ChangingConnection) (wire.WebSettings, error) {
		return s.changeConnection(ctx, v, in)
	})
	gate.Handle(s.gate, "change-agent-web-settings", func(ctx context.Context, v *gate.Visit, in *changingAgentConnection) (wire.WebSettings, error) {
		return s.changeConnection(ctx, v, &in.ChangingConnection)
	})
	gate.Handle(s.gate, "list-allowed-hosts", func(ctx context.Context, _ *gate.Visit, _ *nobody) (wire.AllowedHosts, error) {
		return s.allowedHosts(ctx, "", "")
	})
	gate.Handle(s.gate, "list-agent-allowed-hosts", func(ctx context.Context, v *gate.Visit, _ *OfAgent) (wire.AllowedHosts, error) {
		return s.allowedHosts(ctx, v.Agent.ID, v.Agent.Slug)
	})
	gate.Handle(s.gate, "allow-host", func(ctx context.Context, v *gate.Visit, in *AllowingHost) (wire.AllowedHosts, error) {
		return s.allow(ctx, v, in.Body.Host)
	})
	gate.Handle(s.gate, "allow-agent-host", func(ctx context.Context, v *gate.Visit, in *allowingAgentHost) (wire.AllowedHosts, error) {
		return s.allow(ctx, v, in.Body.Host)
	})
	gate.Act(s.gate, "forbid-host", func(ctx context.Context, v *gate.Visit, in *OfHost) error { return s.forbid(ctx, v, in.Host) })
	gate.Act(s.gate, "forbid-agent-host", func(ctx context.Context, v *gate.Visit, in *OfAgentHost) error { return s.forbid(ctx, v, in.Host) })
}

func (s *Server) changeConnection(ctx context.Context, v *gate.Visit, in *ChangingConnection) (wire.WebSettings, error) {
	owner := v.Agent.ID
	if owner == "" {
		owner = binding.Install
	}
	_, err := s.d.Settings.Put(ctx, connection.Change{Owner: owner, Capability: in.Capability, Mode: in.Body.Mode, Provider: in.Body.Provider,
		RunLimit: in.Body.Limits.PerRun, MinuteLimit: in.Body.Limits.PerMinute, Version: in.Body.Version}, v.By())
	if err != nil {
		return wire.WebSettings{}, err
	}
	return s.webSettings(ctx, v.Agent.ID, v.Agent.Slug) // a write answers as a read does
}

// webSettings are the connections of an agent, or of the install where agent is empty.
func (s *Server) webSettings(ctx context.Context, agent, slug string) (wire.WebSettings, error) {
	out := wire.WebSettings{Agent: slug, Capabilities: []wire.Connection{}}
	shared, err := s.d.Settings.Of(ctx, binding.Install)
	if err != nil {
		return out, err
	}
	var own []connection.Setting
	if agent != "" {
		if own, err = s.d.Settings.Of(ctx, agent); err != nil {
			return out, err
		}
	}
	for _, capability := range s.capabilities() {
		mine, ours := setting(own, capability), setting(shared, capability)
		kept, usual := ours, connection.Auto
		if agent != "" {
			kept, usual = mine, connection.Inherit
		}
		c := wire.Connection{Capability: capability, Mode: usual}
		if kept != nil {
			c = wire.Connection{Capability: capability, Mode: kept.Mode, Provider: kept.Provider, Version: kept.Version,
				Limits: limits(kept.RunLimit, kept.MinuteLimit), ChangedBy: kept.ChangedBy, ChangedAt: moment(kept.Changed)}
		}
		found := s.inForce(agent, mine, ours, capability)
		c.Off = found.Off
		if found.Off == "" {
			c.Effective, c.InForce = found.Binding.Provider, limits(found.Binding.RunLimit, found.Binding.MinuteLimit)
		}
		out.Capabilities = append(out.Capabilities, c)
	}
	return out, nil
}

// anyone stands for an agent that has nothing of its own: what the install's settings mean.
const anyone = "-"

// inForce decides as an admission would, by the same rules.
func (s *Server) inForce(agent string, mine, ours *connection.Setting, capability string) binding.Resolution {
	f := binding.Facts{Agent: binding.Agent{ID: agent}}
	if agent == "" {
		f.Agent.ID = anyone
	}
	if mine != nil {
		f.Own = &mine.Connection
	}
	if ours != nil {
		f.Shared = &ours.Connection
	}
	return s.rules.Resolve(f, capability, s.toolOf(capability), "")
}

// toolOf is a tool of a capability, by which its binding is asked for.
func (s *Server) toolOf(capability string) string {
	for _, t := range s.d.Tools.Known() {
		if t.Capability == capability {
			return t.Name
		}
	}
	return ""
}

// capabilities are those of this build, in the catalogue's order.
func (s *Server) capabilities() []string {
	var out []string
	for _, p := range s.o.Catalog.Providers {
		if !slices.Contains(out, p.Capability) {
			out = append(out, p.Capability)
		}
	}
	return out
}

func setting(all []connection.Setting, capability string) *connection.Setting {
	for i := range all {
		if all[i].Capability == capability {
			return &all[i]
		}
	}
	return nil
}

func limits(run, minute int64) wire.Limits {
	var out wire.Limits
	if run > 0 {
		out.PerRun = &run
	}
	if minute > 0 {
		out.PerMinute = &minute
	}
	return out
}

// allowedHosts lists what an agent may read, or what everyone may where agent is empty.
func (s *Server) allowedHosts(ctx context.Context, agent, slug string) (wire.AllowedHosts, error) {
	found, err := s.d.Hosts.List(ctx)
	out := wire.AllowedHosts{Hosts: []wire.AllowedHost{}}
	for _, h := range found {
		one := wire.AllowedHost{Host: h.Host, Created: h.Created.UTC(), By: h.By}
		switch h.AgentID {
		case "":
		case agent:
			one.Agent = slug
		default:
			continue
		}
		out.Hosts = append(out.Hosts, one)
	}
	return out, err
}

// allow takes what weburl takes for a private host, and answers as a read does.
func (s *Server) allow(ctx context.Context, v *gate.Visit, host string) (wire.AllowedHosts, error) {
	if _, err := weburl.ParsePermit(host); err != nil {
		return wire.AllowedHosts{}, gate.Unprocessable("host", err)
	}
	if _, err := s.d.Hosts.Allow(ctx, host, v.Agent.ID, v.By()); err != nil {
		return wire.AllowedHosts{}, err
	}
	return s.allowedHosts(ctx, v.Agent.ID, v.Agent.Slug)
}

func (s *Server) forbid(ctx context.Context, v *gate.Visit, host string) error {
	if _, err := weburl.ParsePermit(host); err != nil {
		return gate.Unprocessable("host", err)
	}
	_, err := s.d.Hosts.Remove(ctx, host, v.Agent.ID, v.By())
	return err
}
