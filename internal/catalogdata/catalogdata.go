// Package catalogdata is what Wayleave knows of capabilities, providers and tools before anybody configures anything:
// pure data, in the order in which it is shown.
package catalogdata

import "github.com/wayleave/wayleave/internal/effect"

// Names of capabilities.
const (
	Search  = "search"
	Read    = "read"
	Browser = "browser"
	Action  = "action"
)

// Provider implements one capability.
type Provider struct {
	Name, Capability string
	// NeedsAccount says that a vendor's credential is spent. A provider without one is what automatic mode uses.
	NeedsAccount bool
	// RunLimit and MinuteLimit are the defaults; 0 means none.
	RunLimit, MinuteLimit int64
}

// Class is the effect class of a tool at a provider.
type Class struct {
	Tool, Provider string
	Class          effect.Class
	// Metered says that the calls count against the connection's limits.
	Metered bool
}

// Catalog is a set of providers and classes.
type Catalog struct {
	Providers []Provider
	Classes   []Class
}

// Built is what this build can do.
func Built() Catalog {
	return Catalog{
		Providers: []Provider{{Name: "direct", Capability: Read, MinuteLimit: 600}},
		Classes:   []Class{{Tool: "web_fetch", Provider: "direct", Class: effect.Observation, Metered: true}},
	}
}
