package people

import (
	"slices"
	"strings"
	"testing"
)

// TestTM076WhoSeesWhichAgent is every role, list and state against an agent on the list and one that is not.
func TestTM076WhoSeesWhichAgent(t *testing.T) {
	const on, off = "agent_on", "agent_off"
	list, all, none := Agents{List: []string{"agent_other", on}}, Agents{All: true}, Agents{}
	for _, c := range []struct {
		role            Role
		agents          Agents
		disabled        bool
		seesOn, seesOff bool
		scope           []string
	}{
		{Owner, none, false, true, true, nil},
		{Owner, list, false, true, true, nil},
		{Owner, all, false, true, true, nil},
		{Owner, all, true, false, false, []string{}},
		{Operator, none, false, false, false, []string{}},
		{Operator, list, false, true, false, list.List},
		{Operator, all, false, true, true, nil},
		{Operator, all, true, false, false, []string{}},
		{Operator, list, true, false, false, []string{}},
		{Viewer, none, false, false, false, []string{}},
		{Viewer, list, false, true, false, list.List},
		{Viewer, all, false, true, true, nil},
		{Viewer, all, true, false, false, []string{}},
		{"", all, false, false, false, []string{}},
		{"Owner", all, false, false, false, []string{}},
		{"admin", list, false, false, false, []string{}},
	} {
		p := Person{ID: "person_1", Role: c.role, Agents: c.agents, Disabled: c.disabled}
		if p.Sees(on) != c.seesOn || p.Sees(off) != c.seesOff || p.Sees("") {
			t.Errorf("%q %+v disabled %v: sees %v, %v, nobody %v", c.role, c.agents, c.disabled, p.Sees(on), p.Sees(off), p.Sees(""))
		}
		if got := p.Scope(); !slices.Equal(got, c.scope) || (got == nil) != (c.scope == nil) {
			t.Errorf("%q %+v disabled %v: scope %v, want %v", c.role, c.agents, c.disabled, got, c.scope)
		}
		for _, agent := range []string{on, off} { // a list that Scope bounds holds what Sees shows
			if inScope := p.Scope() == nil || slices.Contains(p.Scope(), agent); inScope != p.Sees(agent) {
				t.Errorf("%q %+v: %s in scope %v, seen %v", c.role, c.agents, agent, inScope, p.Sees(agent))
			}
		}
		for rank, needed := range Roles() {
			has := slices.Index(Roles(), c.role)
			may := !c.disabled && has >= 0 && has <= rank
			if p.May(needed, "") != may || p.May(needed, on) != (may && c.seesOn) || p.May(needed, off) != (may && c.seesOff) {
				t.Errorf("%q %+v disabled %v: may as %s: %v, %v, %v", c.role, c.agents, c.disabled, needed, p.May(needed, ""), p.May(needed, on), p.May(needed, off))
			}
		}
		if p.May("root", "") || p.May("", "") {
			t.Errorf("%q has the rights of a role that is none", c.role)
		}
	}
}

func TestScopeIsNotTheListItself(t *testing.T) {
	p := Person{Role: Viewer, Agents: Agents{List: []string{"agent_1"}}}
	p.Scope()[0] = "agent_2"
	if !p.Sees("agent_1") {
		t.Fatal("whoever got the scope changed the person")
	}
}

func TestRolesAndNames(t *testing.T) {
	for _, r := range Roles() {
		if got, err := ParseRole(string(r)); err != nil || got != r {
			t.Errorf("%q: %v", r, err)
		}
	}
	for _, bad := range []string{"", "Owner", "owner ", "admin", strings.Repeat("x", 999)} {
		if _, err := ParseRole(bad); err == nil || !strings.Contains(err.Error(), "owner, operator, viewer") || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
	for _, good := range []string{"a", "anna", "anna.b", "a_b", "anna+ops@example.test", "0", strings.Repeat("a", MaxName)} {
		if err := CheckName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-a", ".a", "@a", "Anna", "a b", "a\n", "ánna", "a\u202eb", "a'b", strings.Repeat("a", MaxName+1)} {
		if err := CheckName(bad); err == nil || len(err.Error()) > 300 {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzName: what passes is safe wherever a name stands, and an error is one short line.
func FuzzName(f *testing.F) {
	for _, s := range []string{"anna", "", "a\x00", "\xff", "<img>", strings.Repeat("é", 64)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if err := CheckName(s); err == nil {
			if len(s) > MaxName || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._@+-") != "" {
				t.Fatalf("%q passed", s)
			}
		} else if len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Fatalf("%q: %q", s, err)
		}
		if l := plain(s); len([]rune(l)) > maxLabel || strings.ContainsAny(l, "\n\r\x1b\u202e\x00") {
			t.Fatalf("label %q of %q", l, s)
		}
		if a := addressSubject(s); !strings.HasPrefix(a, "from:") || len(a) > 64 {
			t.Fatalf("address %q of %q", a, s)
		}
		if n := nameSubject(s); len(n) != len("name:")+4 {
			t.Fatalf("name %q of %q", n, s)
		}
	})
}
