// Package binding has the words for what a tool is bound to for an agent at one moment: through which connection, to
// which provider, under which versions and limits; and the text by which two bindings are the same or not.
//
// The one rule: equal fingerprints are the same binding, and there is no "newer is fine".
package binding

import (
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
)

// Install is the owner, meter or credential owner that is the install itself. An agent's is its id.
const Install = "install"

// Uncounted is the meter of what is recorded and never limited.
const Uncounted = "-"

// Facts are the rows that decide a binding, read together in one transaction.
type Facts struct {
	Agent   Agent
	Install Pause
	// Own and Shared are the agent's connection and the install's for the capability; nil where there is no row.
	Own, Shared *Connection
}

// Agent is what of an agent's row decides.
type Agent struct {
	ID, Slug      string
	Disabled      bool
	GrantsVersion int64
	Paused        Pause
}

// Pause says who stopped calls and when; the zero Pause is none.
type Pause struct {
	By string
	At time.Time
}

// Connection is a row of connections.
type Connection struct {
	Owner       string // Install or an agent's id
	Mode        string // auto, own, inherit, disabled
	Provider    string // empty in auto and inherit
	Version     int64
	RunLimit    int64 // 0: none
	MinuteLimit int64 // 0: none
}

// Resolve decides what a tool is bound to. It is pure: the same facts give the same answer in every process. profile is
// the hash of an action's profile, else empty.
type Resolve func(f Facts, capability, tool, profile string) Resolution

// Resolution is the answer of Resolve.
type Resolution struct {
	Binding Binding
	// Off says why the tool is not offered, in a few words of ours; empty where it is.
	Off string
	// Paused is set where the agent or the install is paused; the offer stands, calls are refused.
	Paused *Pause
	// PausedWhat is "agent" or "install".
	PausedWhat string
}

// Binding is what a tool is bound to.
type Binding struct {
	Agent             string `json:"agent"`
	GrantsVersion     int64  `json:"grants_version"`
	Capability        string `json:"capability"`
	ConnectionOwner   string `json:"connection_owner"`
	ConnectionVersion int64  `json:"connection_version"` // 0: automatic
	Provider          string `json:"provider"`
	AccountOwner      string `json:"account_owner"`   // Install, an agent's id, or none where no account is needed
	AccountVersion    string `json:"account_version"` // empty where no account is needed
	Profile           string `json:"profile,omitempty"`

	// What follows is not part of the fingerprint: class follows from tool and provider, and a changed limit counts at once.
	Class       effect.Class `json:"class"`
	Meter       string       `json:"meter"` // Install, agent:<id>, or Uncounted
	RunLimit    int64        `json:"run_limit,omitempty"`
	RunLimitOf  string       `json:"run_limit_of,omitempty"` // whose limit it is: connection or agent
	MinuteLimit int64        `json:"minute_limit,omitempty"`
}

// CredentialOwner is "install", "agent" or "none": the kind of who pays, without its id.
func (b Binding) CredentialOwner() string {
	switch b.AccountOwner {
	case Install, "none":
		return b.AccountOwner
	}
	return "agent"
}

// Fingerprint is the binding as a readable text that is compared byte for byte.
func (b Binding) Fingerprint() string {
	return strings.Join([]string{"agent=" + b.Agent, fmt.Sprintf("grants=%d", b.GrantsVersion), "capability=" + b.Capability,
		"connection=" + b.ConnectionOwner, fmt.Sprintf("version=%d", b.ConnectionVersion), "provider=" + b.Provider,
		"account=" + b.AccountOwner, "account_version=" + b.AccountVersion, "profile=" + b.Profile}, " ")
}
