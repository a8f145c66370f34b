package connection

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/binding"
)

func limit(n int64) *int64 { return &n }

// TestCheck is every pair of owner and mode, and each field that may be wrong.
func TestCheck(t *testing.T) {
	tight := Setting{Connection: *at(binding.Install, Own, "tight", 3, 10, 0)}
	for _, c := range []struct {
		name   string
		change Change
		shared Setting
		field  string // of the error; empty: it is fine
	}{
		{"install auto", Change{Owner: binding.Install, Mode: Auto}, Setting{}, ""},
		{"install own", Change{Owner: binding.Install, Mode: Own, Provider: "tight"}, Setting{}, ""},
		{"install own, an account is missing", Change{Owner: binding.Install, Mode: Own, Provider: "paid"}, Setting{}, ""},
		{"install disabled", Change{Owner: binding.Install, Mode: Disabled}, Setting{}, ""},
		{"install disabled, provider kept", Change{Owner: binding.Install, Mode: Disabled, Provider: "tight"}, Setting{}, ""},
		{"install inherit", Change{Owner: binding.Install, Mode: Inherit}, Setting{}, "mode"},
		{"install no mode", Change{Owner: binding.Install}, Setting{}, "mode"},
		{"install other", Change{Owner: binding.Install, Mode: "on"}, Setting{}, "mode"},
		{"agent inherit", Change{Owner: alice, Mode: Inherit}, Setting{}, ""},
		{"agent own", Change{Owner: alice, Mode: Own, Provider: "plain"}, Setting{}, ""},
		{"agent disabled", Change{Owner: alice, Mode: Disabled}, Setting{}, ""},
		{"agent auto", Change{Owner: alice, Mode: Auto}, Setting{}, "mode"},
		{"agent no mode", Change{Owner: alice}, Setting{}, "mode"},

		{"own without provider", Change{Owner: alice, Mode: Own}, Setting{}, "provider"},
		{"own, not in this build", Change{Owner: alice, Mode: Own, Provider: "gone"}, Setting{}, "provider"},
		{"own, of another capability", Change{Owner: alice, Mode: Own, Provider: "desk"}, Setting{}, "provider"},
		{"disabled, not in this build", Change{Owner: alice, Mode: Disabled, Provider: "gone"}, Setting{}, "provider"},
		{"auto with provider", Change{Owner: binding.Install, Mode: Auto, Provider: "plain"}, Setting{}, "provider"},
		{"inherit with provider", Change{Owner: alice, Mode: Inherit, Provider: "plain"}, Setting{}, "provider"},

		{"the lowest limits", Change{Owner: binding.Install, Mode: Auto, RunLimit: limit(1), MinuteLimit: limit(1)}, Setting{}, ""},
		{"the highest limits", Change{Owner: alice, Mode: Own, Provider: "plain", RunLimit: limit(MaxLimit), MinuteLimit: limit(MaxLimit)}, Setting{}, ""},
		{"run limit 0", Change{Owner: binding.Install, Mode: Auto, RunLimit: limit(0)}, Setting{}, "limits.requests_per_run"},
		{"run limit below 0", Change{Owner: binding.Install, Mode: Auto, RunLimit: limit(-1)}, Setting{}, "limits.requests_per_run"},
		{"run limit too high", Change{Owner: binding.Install, Mode: Auto, RunLimit: limit(MaxLimit + 1)}, Setting{}, "limits.requests_per_run"},
		{"minute limit 0", Change{Owner: binding.Install, Mode: Auto, MinuteLimit: limit(0)}, Setting{}, "limits.requests_per_minute"},
		{"minute limit too high", Change{Owner: alice, Mode: Own, Provider: "plain", MinuteLimit: limit(MaxLimit + 1)}, Setting{}, "limits.requests_per_minute"},

		{"a lower allowance", Change{Owner: alice, Mode: Inherit, RunLimit: limit(9)}, tight, ""},
		{"the same allowance", Change{Owner: alice, Mode: Inherit, RunLimit: limit(10)}, tight, ""},
		{"a higher allowance", Change{Owner: alice, Mode: Inherit, RunLimit: limit(11)}, tight, "limits.requests_per_run"},
		{"higher than the catalogue's", Change{Owner: alice, Mode: Inherit, RunLimit: limit(6)}, Setting{Connection: *at(binding.Install, Own, "tight", 3, 0, 0)}, "limits.requests_per_run"},
		{"an allowance where nothing is limited", Change{Owner: alice, Mode: Inherit, RunLimit: limit(5000)}, Setting{}, ""},
		{"an allowance of what is off", Change{Owner: alice, Mode: Inherit, RunLimit: limit(5000)}, Setting{Connection: *at(binding.Install, Disabled, "", 3, 0, 0)}, ""},
		{"a minute of its own", Change{Owner: alice, Mode: Inherit, MinuteLimit: limit(1)}, tight, "limits.requests_per_minute"},
	} {
		c.change.Capability = "read"
		err := rules(t, scripted()).Check(c.change, c.shared)
		var invalid *Invalid
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.field != "" && (!errors.As(err, &invalid) || invalid.Field != c.field || !strings.HasPrefix(err.Error(), c.field+": ")):
			t.Errorf("%s: %v, want %s", c.name, err, c.field)
		}
	}
}

// TestWhatMayBeSetIsOffered: a change that passes, once kept, resolves to what it says.
func TestWhatMayBeSetIsOffered(t *testing.T) {
	r := rules(t, scripted())
	everyFacts(func(f binding.Facts) {
		if f.Own == nil || f.Agent.Disabled {
			return
		}
		c := Change{Owner: alice, Capability: "read", Mode: f.Own.Mode, Provider: f.Own.Provider}
		if f.Own.RunLimit > 0 {
			c.RunLimit = &f.Own.RunLimit
		}
		if f.Own.MinuteLimit > 0 {
			c.MinuteLimit = &f.Own.MinuteLimit
		}
		if r.Check(c, Setting{}) != nil {
			return
		}
		got := r.Resolve(f, "read", "fetch", "")
		if off := c.Mode == Disabled || c.Provider == "paid"; c.Mode != Inherit && (got.Off != "") != off {
			t.Fatalf("%+v is off: %q", *f.Own, got.Off)
		}
	})
}

// noRows fails whatever is asked.
type noRows struct{ Rows }

func TestCapabilityThatNobodyHasIsNotFound(t *testing.T) {
	s := NewSettings(rules(t, scripted()), noRows{})
	for _, capability := range []string{"", "mail", "action", "READ"} {
		if _, err := s.Get(context.Background(), binding.Install, capability); !errors.Is(err, ErrNotFound) {
			t.Errorf("Get %q: %v", capability, err)
		}
		if _, err := s.Put(context.Background(), Change{Owner: binding.Install, Capability: capability, Mode: Auto}, "person:1"); !errors.Is(err, ErrNotFound) {
			t.Errorf("Put %q: %v", capability, err)
		}
	}
}
