// This file is the settings of connections: what may be written, and the rows that keep it.
package connection

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
)

// MaxLimit is the highest limit that may be set, in calls.
const MaxLimit = 100_000

// Setting is a connection as it is kept: of the install or of one agent, for one capability. Version 0 is no row, which
// means automatic for the install and inheritance for an agent.
type Setting struct {
	binding.Connection
	Capability string
	Changed    time.Time
	ChangedBy  string // as the audit names actors
}

// Change is what somebody wants a connection to be, whole. Version is that which they have read, 0 where there was none.
type Change struct {
	Owner, Capability string // Owner: binding.Install or an agent's id
	Mode, Provider    string
	// RunLimit and MinuteLimit are calls, 1 to MaxLimit; nil means the catalogue's, or for an inheriting agent no allowance
	// of its own.
	RunLimit, MinuteLimit *int64
	Version               int64
}

var (
	// ErrNotFound says that there is no such agent or capability.
	ErrNotFound = errors.New("not found")
)

// Invalid says which field of a change cannot be so, and why.
type Invalid struct{ Field, Reason string }

func (e *Invalid) Error() string { return e.Field + ": " + e.Reason }

// Conflict says that a connection was changed since it was read. Now is what it is; the zero Setting where it has no row.
type Conflict struct{ Now Setting }

func (e *Conflict) Error() string {
	if e.Now.Version == 0 {
		return "the connection has no settings any more; read it again"
	}
	return fmt.Sprintf("the connection was changed meanwhile, by %s, and has version %d; read it again", e.Now.ChangedBy, e.Now.Version)
}

// Rows keeps connections. Each method is one transaction; ErrNotFound says that the owner is no agent.
type Rows interface {
	// Get gives an owner's setting; one with version 0 where there is none.
	Get(ctx context.Context, owner, capability string) (Setting, error)
	// Of lists an owner's settings by capability.
	Of(ctx context.Context, owner string) ([]Setting, error)
	// Put replaces a setting if it still has the version of the change, after check has looked at the install's (version 0
	// where there is none) under the same lock. When it returns, no process admits anything under the old one.
	Put(ctx context.Context, c Change, by string, check func(shared Setting) error) (Setting, error)
}

// Settings are the connections of an install.
type Settings struct {
	rules *Rules
	rows  Rows
}

// NewSettings opens the connections that rows keep.
func NewSettings(rules *Rules, rows Rows) *Settings { return &Settings{rules, rows} }

// Get gives an owner's connection for a capability.
func (s *Settings) Get(ctx context.Context, owner, capability string) (Setting, error) {
	if !s.rules.Has(capability) {
		return Setting{}, ErrNotFound
	}
	return s.rows.Get(ctx, owner, capability)
}

// Of lists an owner's connections that have settings.
func (s *Settings) Of(ctx context.Context, owner string) ([]Setting, error) {
	return s.rows.Of(ctx, owner)
}

// Put changes a connection. Errors: *Invalid, *Conflict, ErrNotFound.
func (s *Settings) Put(ctx context.Context, c Change, by string) (Setting, error) {
	if !s.rules.Has(c.Capability) {
		return Setting{}, ErrNotFound
	}
	if err := s.rules.Check(c, Setting{}); err != nil {
		return Setting{}, err
	}
	return s.rows.Put(ctx, c, by, func(shared Setting) error { return s.rules.Check(c, shared) })
}

// names are the providers of a capability, quoted.
func (r *Rules) names(capability string) string {
	var names []string
	for _, p := range r.providers[capability] {
		names = append(names, strconv.Quote(p.Name))
	}
	return strings.Join(names, " or ")
}

// Check says what is wrong with a change beside what the install has: an *Invalid, or nil.
func (r *Rules) Check(c Change, shared Setting) error {
	modes := []string{Inherit, Own, Disabled}
	if c.Owner == binding.Install {
		modes = []string{Auto, Own, Disabled}
	}
	if c.Mode != modes[0] && c.Mode != modes[1] && c.Mode != modes[2] {
		return &Invalid{"mode", fmt.Sprintf("%q is none of %s, %s, %s", c.Mode, modes[0], modes[1], modes[2])}
	}
	switch {
	case c.Mode == Own && r.provider(c.Capability, c.Provider) == nil:
		return &Invalid{"provider", fmt.Sprintf("%q is no provider of %s in this build", c.Provider, c.Capability)}
	case c.Mode == Disabled && c.Provider != "" && r.provider(c.Capability, c.Provider) == nil: // kept for switching on again
		return &Invalid{"provider", fmt.Sprintf("%q is no provider of %s in this build", c.Provider, c.Capability)}
	case (c.Mode == Auto || c.Mode == Inherit) && c.Provider != "":
		return &Invalid{"provider", "must be empty in the mode " + c.Mode + ": the provider is not chosen here"}
	}
	for _, l := range []struct {
		field string
		limit *int64
	}{{"limits.requests_per_run", c.RunLimit}, {"limits.requests_per_minute", c.MinuteLimit}} {
		if l.limit != nil && (*l.limit < 1 || *l.limit > MaxLimit) {
			return &Invalid{l.field, fmt.Sprintf("%d is not from 1 to %d; leave it out for the usual limit", *l.limit, MaxLimit)}
		}
	}
	if c.Mode != Inherit {
		return nil
	}
	if c.MinuteLimit != nil {
		return &Invalid{"limits.requests_per_minute", fmt.Sprintf("an agent that inherits shares the install's minute; for one of its own give it the mode %q and a provider, here %s", Own, r.names(c.Capability))}
	}
	// A capability that the install has switched off, or a setting of a provider that is gone, bounds nothing.
	if have, off := r.shared(row(shared), c.Capability); off == "" && c.RunLimit != nil {
		if most := either(have.limits.RunLimit, have.provider.RunLimit); most > 0 && *c.RunLimit > most {
			return &Invalid{"limits.requests_per_run", fmt.Sprintf("%d is more than the install's %d; an agent that inherits may only lower it", *c.RunLimit, most)}
		}
	}
	return nil
}

func row(s Setting) *binding.Connection {
	if s.Version == 0 {
		return nil
	}
	return &s.Connection
}
