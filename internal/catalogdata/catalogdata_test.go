package catalogdata

import (
	"slices"
	"testing"
)

// TestDefaultLimitsFollowWhoPays: keyless providers 600 a minute and no limit a run, others 60 a minute and 100 a run.
func TestDefaultLimitsFollowWhoPays(t *testing.T) {
	for _, p := range Built().Providers {
		run, minute := int64(0), int64(600)
		if p.NeedsAccount {
			run, minute = 100, 60
		}
		counted := slices.ContainsFunc(Built().Classes, func(c Class) bool { return c.Provider == p.Name && c.Metered })
		if counted && (p.RunLimit != run || p.MinuteLimit != minute) {
			t.Errorf("%s: %d a run, %d a minute", p.Name, p.RunLimit, p.MinuteLimit)
		}
	}
}

// TestF006EachToolHasOneClassAtAProvider; and each provider offers something.
func TestF006EachToolHasOneClassAtAProvider(t *testing.T) {
	seen, offers := map[[2]string]bool{}, map[string]bool{}
	for _, c := range Built().Classes {
		if key := [2]string{c.Tool, c.Provider}; seen[key] {
			t.Errorf("%v has two classes", key)
		} else {
			seen[key] = true
		}
		offers[c.Provider] = true
	}
	for _, p := range Built().Providers {
		if !offers[p.Name] {
			t.Errorf("provider %s offers no tool", p.Name)
		}
	}
}

func TestBuiltIsACopy(t *testing.T) {
	Built().Providers[0].MinuteLimit, Built().Classes[0].Class = 1, "effect"
	if Built().Providers[0].MinuteLimit == 1 || Built().Classes[0].Class == "effect" {
		t.Fatal("whoever read the catalogue changed it for everybody")
	}
}
