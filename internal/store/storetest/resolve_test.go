// This file has the tools and the rule of binding that tests resolve by: small enough to be written a second time in
// the model and a third time in the observer's SQL.
package storetest

import (
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// The tools of tests. Each has a capability of its own, but for Press and Post, which are both effects of one.
var (
	// Ask is a query: metered, never sent twice.
	Ask = ledger.Tool{Name: "ask", Capability: "search"}
	// Look is an observation, metered.
	Look = ledger.Tool{Name: "look", Capability: "read"}
	// Post is an effect that counts against limits.
	Post = ledger.Tool{Name: "post", Capability: "mail"}
	// Press is an effect that is counted against nothing.
	Press = ledger.Tool{Name: "press", Capability: "browser"}
)

// Tools is all of them.
func Tools() []ledger.Tool { return []ledger.Tool{Ask, Look, Post, Press} }

// ClassOf is a tool's class, whatever its provider.
func ClassOf(tool string) effect.Class {
	switch tool {
	case Ask.Name:
		return effect.Query
	case Look.Name:
		return effect.Observation
	}
	return effect.Effect
}

// Resolve is the rule of binding in tests. An agent's own row counts unless it inherits; automatic, with a row or without,
// is version 0 of a provider without limits of its own. An agent that inherits may have a lower allowance a run.
func Resolve(f binding.Facts, capability, tool, profile string) binding.Resolution {
	b := binding.Binding{Agent: f.Agent.ID, GrantsVersion: f.Agent.GrantsVersion, Capability: capability,
		ConnectionOwner: binding.Install, Provider: "auto", AccountOwner: "none", Profile: profile,
		Class: ClassOf(tool), Meter: binding.Install}
	in := f.Shared
	if f.Own != nil && f.Own.Mode != "inherit" {
		in = f.Own
		b.ConnectionOwner, b.Meter = f.Agent.ID, "agent:"+f.Agent.ID
	}
	r := binding.Resolution{}
	if in != nil {
		b.RunLimit, b.MinuteLimit = in.RunLimit, in.MinuteLimit
		if in.Mode == "own" {
			b.Provider, b.ConnectionVersion = in.Provider, in.Version
		}
		if in.Mode == "disabled" {
			r.Off = "switched off"
		}
	}
	if b.RunLimit > 0 {
		b.RunLimitOf = "connection"
	}
	if f.Own != nil && f.Own.Mode == "inherit" && f.Own.RunLimit > 0 && (b.RunLimit == 0 || f.Own.RunLimit < b.RunLimit) {
		b.RunLimit, b.RunLimitOf = f.Own.RunLimit, "agent"
	}
	if capability == Press.Capability {
		b.Meter, b.RunLimit, b.RunLimitOf, b.MinuteLimit = binding.Uncounted, 0, "", 0
	}
	if f.Agent.Disabled {
		r.Off = "agent disabled"
	}
	switch {
	case f.Install.By != "":
		r.Paused, r.PausedWhat = &f.Install, "install"
	case f.Agent.Paused.By != "":
		r.Paused, r.PausedWhat = &f.Agent.Paused, "agent"
	}
	r.Binding = b
	return r
}
