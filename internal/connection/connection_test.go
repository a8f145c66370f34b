package connection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/effect"
)

// scripted is a catalogue with more than this build has: paid providers before and behind keyless ones, one tool that is
// of another class at another provider, one that is not counted, one that a provider does not have.
func scripted() catalogdata.Catalog {
	return catalogdata.Catalog{
		Providers: []catalogdata.Provider{
			{Name: "paid", Capability: "read", NeedsAccount: true, RunLimit: 100, MinuteLimit: 60},
			{Name: "plain", Capability: "read", MinuteLimit: 600},
			{Name: "tight", Capability: "read", RunLimit: 5, MinuteLimit: 7},
			{Name: "desk", Capability: "browser"},
			{Name: "paid", Capability: "search", NeedsAccount: true, RunLimit: 100, MinuteLimit: 60},
		},
		Classes: []catalogdata.Class{
			{Tool: "fetch", Provider: "paid", Class: effect.Query, Metered: true},
			{Tool: "fetch", Provider: "plain", Class: effect.Observation, Metered: true},
			{Tool: "fetch", Provider: "tight", Class: effect.Query, Metered: true},
			{Tool: "outline", Provider: "plain", Class: effect.Observation, Metered: true},
			{Tool: "look", Provider: "desk", Class: effect.Observation},
			{Tool: "act", Provider: "desk", Class: effect.Effect},
			{Tool: "find", Provider: "paid", Class: effect.Query, Metered: true},
		},
	}
}

func rules(t testing.TB, c catalogdata.Catalog) *Rules {
	t.Helper()
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const alice = "agent_alice"

// at is a connection; limits 0 are none.
func at(owner, mode, provider string, version, run, minute int64) *binding.Connection {
	return &binding.Connection{Owner: owner, Mode: mode, Provider: provider, Version: version, RunLimit: run, MinuteLimit: minute}
}

func TestResolve(t *testing.T) {
	mine := func(mode, provider string, version, run, minute int64) *binding.Connection {
		return at(alice, mode, provider, version, run, minute)
	}
	ours := func(mode, provider string, version, run, minute int64) *binding.Connection {
		return at(binding.Install, mode, provider, version, run, minute)
	}
	for _, c := range []struct {
		name        string
		own, shared *binding.Connection
		tool        string
		capability  string
		want        string // provider@owner version meter run(of) minute, or "off: why"
	}{
		{"nothing is set", nil, nil, "fetch", "read", "plain@install 0 install 0() 600"},
		{"automatic", nil, ours(Auto, "", 9, 0, 0), "fetch", "read", "plain@install 0 install 0() 600"},
		{"automatic with limits", nil, ours(Auto, "", 9, 4, 8), "fetch", "read", "plain@install 0 install 4(connection) 8"},
		{"the install pins", nil, ours(Own, "tight", 3, 0, 0), "fetch", "read", "tight@install 3 install 5(connection) 7"},
		{"the install pins with higher limits", nil, ours(Own, "tight", 3, 50, 70), "fetch", "read", "tight@install 3 install 50(connection) 70"},
		{"the install pins with lower limits", nil, ours(Own, "tight", 3, 2, 1), "fetch", "read", "tight@install 3 install 2(connection) 1"},
		{"the install switched off", nil, ours(Disabled, "", 3, 0, 0), "fetch", "read", "off: switched off for the install"},
		{"switched off, provider kept", nil, ours(Disabled, "tight", 3, 0, 0), "fetch", "read", "off: switched off for the install"},
		{"a provider that is gone", nil, ours(Own, "gone", 3, 0, 0), "fetch", "read", `off: provider "gone" is not in this build`},
		{"a provider of another capability", nil, ours(Own, "desk", 3, 0, 0), "fetch", "read", `off: provider "desk" is not in this build`},
		{"a provider whose account is missing", nil, ours(Own, "paid", 3, 0, 0), "fetch", "read", "off: no account of paid is connected"},
		{"the install inherits from nobody", nil, ours(Inherit, "", 3, 0, 0), "fetch", "read", `off: the install's settings have the mode "inherit"`},
		{"a mode of the future", nil, ours("shared", "", 3, 0, 0), "fetch", "read", `off: the install's settings have the mode "shared"`},

		{"inherit is no row", mine(Inherit, "", 4, 0, 0), ours(Own, "tight", 3, 0, 0), "fetch", "read", "tight@install 3 install 5(connection) 7"},
		{"a lower allowance", mine(Inherit, "", 4, 3, 0), ours(Own, "tight", 3, 0, 0), "fetch", "read", "tight@install 3 install 3(agent) 7"},
		{"an equal allowance", mine(Inherit, "", 4, 5, 0), ours(Own, "tight", 3, 0, 0), "fetch", "read", "tight@install 3 install 5(connection) 7"},
		{"a higher allowance", mine(Inherit, "", 4, 6, 0), ours(Own, "tight", 3, 0, 0), "fetch", "read", "tight@install 3 install 5(connection) 7"},
		{"the install's dropped below it", mine(Inherit, "", 4, 3, 0), ours(Own, "tight", 3, 2, 0), "fetch", "read", "tight@install 3 install 2(connection) 7"},
		{"an allowance where there is no limit", mine(Inherit, "", 4, 3, 0), nil, "fetch", "read", "plain@install 0 install 3(agent) 600"},
		{"the minute is shared", mine(Inherit, "", 4, 0, 1), nil, "fetch", "read", "plain@install 0 install 0() 600"},
		{"inherits what is off", mine(Inherit, "", 4, 3, 0), ours(Disabled, "", 3, 0, 0), "fetch", "read", "off: switched off for the install"},

		{"its own", mine(Own, "tight", 4, 0, 0), ours(Own, "plain", 3, 2, 2), "fetch", "read", "tight@agent_alice 4 agent:agent_alice 5(connection) 7"},
		{"its own with limits", mine(Own, "tight", 4, 6, 8), ours(Own, "plain", 3, 2, 2), "fetch", "read", "tight@agent_alice 4 agent:agent_alice 6(connection) 8"},
		{"its own beside what is off", mine(Own, "tight", 4, 0, 0), ours(Disabled, "", 3, 0, 0), "fetch", "read", "tight@agent_alice 4 agent:agent_alice 5(connection) 7"},
		{"its own is gone: nothing falls back", mine(Own, "gone", 4, 0, 0), ours(Own, "plain", 3, 0, 0), "fetch", "read", `off: provider "gone" is not in this build`},
		{"its own account is missing: nothing falls back", mine(Own, "paid", 4, 0, 0), ours(Own, "plain", 3, 0, 0), "fetch", "read", "off: no account of paid is connected"},
		{"an opt-out stays", mine(Disabled, "", 4, 0, 0), ours(Own, "plain", 3, 0, 0), "fetch", "read", "off: switched off for this agent"},
		{"both are off: the nearer is told", mine(Disabled, "", 4, 0, 0), ours(Disabled, "", 3, 0, 0), "fetch", "read", "off: switched off for this agent"},
		{"an agent is not automatic", mine(Auto, "", 4, 0, 0), nil, "fetch", "read", `off: this agent's settings have the mode "auto"`},
		{"no mode", mine("", "", 4, 0, 0), nil, "fetch", "read", `off: this agent's settings have the mode ""`},

		{"another agent's row", at("agent_bob", Own, "tight", 4, 0, 0), nil, "fetch", "read", "off: its settings are another owner's"},
		{"an agent's row as the install's", nil, at("agent_bob", Own, "tight", 4, 0, 0), "fetch", "read", "off: its settings are another owner's"},
		{"the install's row as the agent's", ours(Own, "tight", 4, 0, 0), nil, "fetch", "read", "off: its settings are another owner's"},

		{"a tool that the provider has not", nil, ours(Own, "tight", 3, 0, 0), "outline", "read", "off: provider tight does not offer it"},
		{"a tool that nobody has", nil, nil, "dance", "read", "off: provider plain does not offer it"},
		{"a capability without keyless providers", nil, nil, "find", "search", "off: no account is connected, and no provider does without one"},
		{"a capability that nobody has", nil, nil, "fetch", "mail", "off: this build has no provider of mail"},
		{"not counted", nil, nil, "look", "browser", "desk@install 0 - 0() 0"},
		{"not counted, whatever is set", mine(Own, "desk", 2, 3, 4), nil, "act", "browser", "desk@agent_alice 2 - 0() 0"},
		{"an allowance does not count what is not counted", mine(Inherit, "", 2, 3, 0), nil, "act", "browser", "desk@install 0 - 0() 0"},
		{"limits that no row should have", mine(Inherit, "", 4, -3, 0), ours(Own, "tight", 3, -1, -1), "fetch", "read", "tight@install 3 install 5(connection) 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := rules(t, scripted()).Resolve(binding.Facts{Agent: binding.Agent{ID: alice, GrantsVersion: 8}, Own: c.own, Shared: c.shared}, c.capability, c.tool, "profile")
			b := got.Binding
			text := fmt.Sprintf("%s@%s %d %s %d(%s) %d", b.Provider, b.ConnectionOwner, b.ConnectionVersion, b.Meter, b.RunLimit, b.RunLimitOf, b.MinuteLimit)
			if got.Off != "" {
				text = "off: " + got.Off
			}
			if text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
			if b.Agent != alice || b.GrantsVersion != 8 || b.Capability != c.capability || b.Profile != "profile" || got.Paused != nil {
				t.Errorf("%+v", got)
			}
			if got.Off == "" && (b.AccountOwner != NoAccount || b.AccountVersion != "" || b.CredentialOwner() != NoAccount) {
				t.Errorf("a provider without an account is paid by %q %q", b.AccountOwner, b.AccountVersion)
			}
		})
	}
}

func TestDisabledUnknownAndPausedAgents(t *testing.T) {
	r := rules(t, scripted())
	ask := func(f binding.Facts) binding.Resolution { return r.Resolve(f, "read", "fetch", "") }
	for _, own := range []*binding.Connection{nil, at(alice, Own, "tight", 1, 0, 0), at(alice, Inherit, "", 1, 0, 0), at(alice, Disabled, "", 1, 0, 0)} {
		if got := ask(binding.Facts{Agent: binding.Agent{ID: alice, Disabled: true}, Own: own}); got.Off != "the agent is disabled" {
			t.Errorf("%+v: %q", own, got.Off)
		}
	}
	for _, id := range []string{"", binding.Install} {
		if got := ask(binding.Facts{Agent: binding.Agent{ID: id}}); got.Off != "the agent is not known" {
			t.Errorf("agent %q: %q", id, got.Off)
		}
	}
	agent, install := binding.Pause{By: "person:1", At: time.Unix(1, 0)}, binding.Pause{By: "person:2", At: time.Unix(2, 0)}
	for _, c := range []struct {
		agent, install binding.Pause
		want           *binding.Pause
		what           string
	}{{binding.Pause{}, binding.Pause{}, nil, ""}, {agent, binding.Pause{}, &agent, "agent"}, {binding.Pause{}, install, &install, "install"}, {agent, install, &install, "install"}} {
		for _, own := range []*binding.Connection{nil, at(alice, Disabled, "", 1, 0, 0)} {
			got := ask(binding.Facts{Agent: binding.Agent{ID: alice, Paused: c.agent}, Install: c.install, Own: own})
			if (got.Paused == nil) != (c.want == nil) || got.PausedWhat != c.what || got.Paused != nil && *got.Paused != *c.want {
				t.Errorf("%+v: paused %+v %q", c, got.Paused, got.PausedWhat)
			}
			if (got.Off == "") != (own == nil) {
				t.Errorf("a pause changed the offer: %q", got.Off)
			}
		}
	}
}

// everyFacts gives all combinations of rows that a database can hold, and some that it cannot.
func everyFacts(each func(f binding.Facts)) {
	var rowsOf = func(owner string) []*binding.Connection {
		rows := []*binding.Connection{nil}
		for _, mode := range []string{Auto, Own, Inherit, Disabled, "other"} {
			for _, provider := range []string{"", "paid", "plain", "tight", "desk", "gone"} {
				for _, limits := range [][2]int64{{0, 0}, {3, 0}, {0, 3}, {200, 900}} {
					rows = append(rows, at(owner, mode, provider, 2, limits[0], limits[1]))
				}
			}
		}
		return rows
	}
	for _, own := range rowsOf(alice) {
		for _, shared := range rowsOf(binding.Install) {
			for _, disabled := range []bool{false, true} {
				each(binding.Facts{Agent: binding.Agent{ID: alice, GrantsVersion: 1, Disabled: disabled}, Own: own, Shared: shared})
			}
		}
	}
}

// TestEveryCombinationOfSettings holds what must be true of all of them.
func TestEveryCombinationOfSettings(t *testing.T) {
	c := scripted()
	r := rules(t, c)
	classes := map[[2]string]catalogdata.Class{}
	for _, k := range c.Classes {
		classes[[2]string{k.Tool, k.Provider}] = k
	}
	resolved, offered := 0, 0
	everyFacts(func(f binding.Facts) {
		for _, tool := range []string{"fetch", "outline", "look", "act", "find"} {
			for _, capability := range []string{"read", "browser", "search"} {
				got := r.Resolve(f, capability, tool, "")
				resolved++
				b := got.Binding
				if got.Off != "" {
					if b.Provider != "" || b.Class != "" || b.Meter != "" {
						t.Fatalf("off and bound: %+v", got)
					}
					continue
				}
				offered++
				class, known := classes[[2]string{tool, b.Provider}]
				own, shared := f.Own != nil && f.Own.Mode != Inherit, f.Shared
				switch {
				case f.Agent.Disabled, own && f.Own.Mode != Own, !own && shared != nil && shared.Mode != Own && shared.Mode != Auto:
					t.Fatalf("offered although it is off: %+v", f)
				case !known || b.Class != class.Class: // F-006: no setting changes a class
					t.Fatalf("%s at %s is of class %s", tool, b.Provider, b.Class)
				case !slices.ContainsFunc(c.Providers, func(p catalogdata.Provider) bool {
					return p.Name == b.Provider && p.Capability == capability && !p.NeedsAccount
				}):
					t.Fatalf("provider %s for %s without an account", b.Provider, capability)
				case own && (b.Provider != f.Own.Provider || b.ConnectionOwner != alice || b.ConnectionVersion != f.Own.Version):
					t.Fatalf("its own is %+v, it got %+v", *f.Own, b)
				case !own && b.ConnectionOwner != binding.Install, !own && shared != nil && shared.Mode == Own && (b.Provider != shared.Provider || b.ConnectionVersion != shared.Version):
					t.Fatalf("the install has %+v, it got %+v", shared, b)
				case b.Provider == "plain" && b.ConnectionOwner == binding.Install && (shared == nil || shared.Mode == Auto) && b.ConnectionVersion != 0:
					t.Fatalf("automatic has version %d", b.ConnectionVersion)
				case class.Metered == (b.Meter == binding.Uncounted), class.Metered && own && b.Meter != "agent:"+alice, class.Metered && !own && b.Meter != binding.Install:
					t.Fatalf("meter %q: %+v", b.Meter, b)
				case (b.RunLimit == 0) != (b.RunLimitOf == ""), b.RunLimit < 0, b.MinuteLimit < 0, b.Meter == binding.Uncounted && b.RunLimit+b.MinuteLimit != 0:
					t.Fatalf("limits: %+v", b)
				case class.Metered && f.Own != nil && f.Own.Mode == Inherit && f.Own.RunLimit > 0 && b.RunLimit > f.Own.RunLimit:
					t.Fatalf("more than the agent's own allowance: %+v", b)
				}
				// A limit is no part of what is offered.
				less := f
				if f.Own != nil {
					o := *f.Own
					o.RunLimit, o.MinuteLimit, less.Own = 1, 1, &o
				}
				if other := r.Resolve(less, capability, tool, ""); other.Binding.Fingerprint() != b.Fingerprint() {
					t.Fatalf("a changed limit changed the offer: %s, %s", other.Binding.Fingerprint(), b.Fingerprint())
				}
			}
		}
	})
	if offered < 5_000 || offered*2 > resolved {
		t.Fatalf("%d of %d are offered: the walk is wrong", offered, resolved)
	}
}

func TestF006CatalogueHasOneClassForEachToolAndProvider(t *testing.T) {
	r := rules(t, catalogdata.Built())
	for _, k := range catalogdata.Built().Classes {
		if r.classes[[2]string{k.Tool, k.Provider}] != k {
			t.Errorf("%+v", k)
		}
	}
	got := r.Resolve(binding.Facts{Agent: binding.Agent{ID: alice}}, catalogdata.Read, "web_fetch", "")
	if b := got.Binding; got.Off != "" || b.Provider != "direct" || b.Class != effect.Observation || b.RunLimit != 0 || b.MinuteLimit != 600 || b.Meter != binding.Install {
		t.Errorf("a fresh install reads with %+v, off %q", b, got.Off)
	}
	for name, spoil := range map[string]func(c *catalogdata.Catalog){
		"two classes": func(c *catalogdata.Catalog) {
			c.Classes = append(c.Classes, catalogdata.Class{Tool: "fetch", Provider: "plain", Class: effect.Query})
		},
		"the same twice":  func(c *catalogdata.Catalog) { c.Classes = append(c.Classes, c.Classes[0]) },
		"no class":        func(c *catalogdata.Catalog) { c.Classes[0].Class = "" },
		"unknown class":   func(c *catalogdata.Catalog) { c.Classes[0].Class = "guess" },
		"no tool":         func(c *catalogdata.Catalog) { c.Classes[0].Tool = "" },
		"no provider":     func(c *catalogdata.Catalog) { c.Classes[0].Provider = "gone" },
		"provider twice":  func(c *catalogdata.Catalog) { c.Providers = append(c.Providers, c.Providers[1]) },
		"nameless":        func(c *catalogdata.Catalog) { c.Providers[0].Name = "" },
		"no capability":   func(c *catalogdata.Catalog) { c.Providers[0].Capability = "" },
		"negative limit":  func(c *catalogdata.Catalog) { c.Providers[0].RunLimit = -1 },
		"negative minute": func(c *catalogdata.Catalog) { c.Providers[0].MinuteLimit = -1 },
	} {
		c := scripted()
		spoil(&c)
		if _, err := New(c); err == nil || !strings.HasPrefix(err.Error(), "catalogue: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
