package apply_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/apply"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
)

// fresh is an install with one agent, a, that may read printer.lan.
func fresh(t *testing.T) *install.Install {
	t.Helper()
	folder, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := install.Open(t.Context(), install.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	a, _, err := in.Agents.EnsureAgent(t.Context(), "a", "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Allowed.Allow(t.Context(), "printer.lan", a.ID, "test"); err != nil {
		t.Fatal(err)
	}
	return in
}

func plan(t *testing.T, in *install.Install, file string) ([]apply.Change, error) {
	t.Helper()
	f, err := apply.Parse([]byte(file))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p, err := apply.Plan(t.Context(), f, apply.Install{Agents: in.Agents, Hosts: in.Allowed, Settings: in.Settings, Rules: in.Rules})
	return p.Changes, err
}

func do(t *testing.T, in *install.Install, file string) (did string) {
	t.Helper()
	changes, err := plan(t, in, file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var all []string
	for _, c := range changes {
		if err := c.Do(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		all = append(all, string(c.Kind)+" "+c.String())
	}
	return strings.Join(all, "; ")
}

// TestApplyMakesTheDifferenceAndNoMore: each file on an install of its own; applied again it changes nothing.
func TestApplyMakesTheDifferenceAndNoMore(t *testing.T) {
	for file, want := range map[string]string{
		`{}`:                                              "",
		`{"paused": false}`:                               "",
		`{"paused": true}`:                                "changed paused: false → true",
		`{"agents": {"a": {}}}`:                           "",
		`{"agents": {"b": {}}}`:                           "made agents.b",
		`{"allowed_hosts": []}`:                           "",
		`{"allowed_hosts": ["10.0.0.1"]}`:                 "added allowed_hosts: 10.0.0.1",
		`{"connections": {"read": {}}}`:                   "",
		`{"connections": {"read": {"mode": "auto"}}}`:     "",
		`{"connections": {"read": {"mode": "disabled"}}}`: "changed connections.read: auto → disabled",
		`{"connections": {"read": {"mode": "own", "provider": "direct"}}}`:                                                                 "changed connections.read: auto → own, direct",
		`{"agents": {"a": {"connections": {"read": {}}}}}`:                                                                                 "",
		`{"agents": {"a": {"connections": {"read": {"mode": "disabled"}}}}}`:                                                               "changed agents.a.connections.read: inherit → disabled",
		`{"agents": {"a": {"enabled": true, "paused": false, "elicitation": false}}}`:                                                      "",
		`{"agents": {"a": {"enabled": false, "paused": true, "elicitation": true}}}`:                                                       "changed agents.a.enabled: true → false; changed agents.a.paused: false → true; changed agents.a.elicitation: false → true",
		`{"agents": {"a": {"allowed_hosts": ["printer.lan"]}}}`:                                                                            "",
		`{"agents": {"a": {"allowed_hosts": []}}}`:                                                                                         "removed agents.a.allowed_hosts: printer.lan",
		`{"agents": {"a": {"allowed_hosts": ["wiki.lan"]}}}`:                                                                               "added agents.a.allowed_hosts: wiki.lan; removed agents.a.allowed_hosts: printer.lan",
		`{"agents": {"b": {"paused": true, "allowed_hosts": ["wiki.lan"], "connections": {"read": {"limits": {"requests_per_run": 5}}}}}}`: "made agents.b; changed agents.b.paused: false → true; added agents.b.allowed_hosts: wiki.lan; changed agents.b.connections.read: inherit → inherit, 5 a run",
		// The agent's limit is judged beside what the install's will be.
		`{"connections": {"read": {"limits": {"requests_per_run": 10}}}, "agents": {"a": {"connections": {"read": {"limits": {"requests_per_run": 10}}}}}}`: "changed connections.read: auto → auto, 10 a run; changed agents.a.connections.read: inherit → inherit, 10 a run",
	} {
		in := fresh(t)
		if got := do(t, in, file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
		if got := do(t, in, file); got != "" {
			t.Errorf("%s, again: %q", file, got)
		}
	}
}

func TestApplyJudgesEverythingFirst(t *testing.T) {
	in := fresh(t)
	for file, says := range map[string]string{
		`{"paused": true, "connections": {"mail": {}}}`:                                                                                                     "connections.mail: this build has no such capability",
		`{"paused": true, "connections": {"read": {"mode": "inherit"}}}`:                                                                                    "connections.read.mode: ",
		`{"paused": true, "connections": {"read": {"mode": "own"}}}`:                                                                                        "connections.read.provider: ",
		`{"paused": true, "agents": {"a": {"connections": {"read": {"mode": "auto"}}}}}`:                                                                    "agents.a.connections.read.mode: ",
		`{"paused": true, "agents": {"b": {"connections": {"mail": {}}}}}`:                                                                                  "agents.b.connections.mail: ",
		`{"paused": true, "agents": {"a": {"connections": {"read": {"limits": {"requests_per_minute": 5}}}}}}`:                                              "agents.a.connections.read.limits.requests_per_minute: ",
		`{"connections": {"read": {"limits": {"requests_per_run": 10}}}, "agents": {"a": {"connections": {"read": {"limits": {"requests_per_run": 11}}}}}}`: "agents.a.connections.read.limits.requests_per_run: ",
	} {
		changes, err := plan(t, in, file)
		if err == nil || changes != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v; want %q", file, changes, err, says)
		}
	}
}

func TestApplyBesideSomebodyElse(t *testing.T) {
	in := fresh(t)
	changes, err := plan(t, in, `{"connections": {"read": {"limits": {"requests_per_run": 10}}}, "agents": {"a": {"paused": true, "allowed_hosts": []}}}`)
	if err != nil || len(changes) != 3 {
		t.Fatalf("%v, %v", changes, err)
	}
	// Meanwhile another person does the like.
	limit := int64(20)
	if _, err := in.Settings.Put(t.Context(), connection.Change{Owner: binding.Install, Capability: "read", Mode: connection.Auto, RunLimit: &limit}, "other"); err != nil {
		t.Fatal(err)
	}
	a, err := in.Agents.BySlug(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Agents.Pause(t.Context(), a.ID, "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Allowed.Remove(t.Context(), "printer.lan", a.ID, "other"); err != nil {
		t.Fatal(err)
	}
	var conflict *connection.Conflict
	if err := changes[0].Do(t.Context(), "test"); !errors.As(err, &conflict) || !strings.Contains(err.Error(), "apply again") {
		t.Errorf("another's limit: %v", err)
	}
	for _, c := range changes[1:] {
		if err := c.Do(t.Context(), "test"); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
	if now, err := in.Agents.BySlug(context.Background(), "a"); err != nil || now.Paused.By != "other" {
		t.Errorf("the first who paused stays: %+v, %v", now.Paused, err)
	}
}

// Two lists that are applied at once: every change of both succeeds, and the list is neither. Whoever looks last is told.
func TestTwoFilesAtOnceAreNotBothSaidToHold(t *testing.T) {
	in := fresh(t)
	rows := apply.Install{Agents: in.Agents, Hosts: in.Allowed, Settings: in.Settings, Rules: in.Rules}
	files := make([]apply.File, 2)
	var all []apply.Change
	for i, text := range []string{`{"allowed_hosts": ["10.0.0.1"]}`, `{"allowed_hosts": ["10.0.0.2"]}`} {
		var err error
		if files[i], err = apply.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		planned, err := apply.Plan(t.Context(), files[i], rows)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, planned.Changes...)
	}
	for i, c := range all {
		if err := c.Do(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := apply.Held(t.Context(), files[0], rows); err != nil {
				t.Errorf("before the other's change: %v", err)
			}
		}
	}
	for i, f := range files {
		if err := apply.Held(t.Context(), f, rows); err == nil || !strings.Contains(err.Error(), "would be removed: allowed_hosts: 10.0.0.") {
			t.Errorf("file %d: %v", i, err)
		}
	}
}
