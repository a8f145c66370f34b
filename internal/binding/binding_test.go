package binding

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/effect"
)

func whole() Binding {
	return Binding{Agent: "agent_1", GrantsVersion: 2, Capability: "read", ConnectionOwner: "agent_1", ConnectionVersion: 3, Provider: "direct",
		AccountOwner: Install, AccountVersion: "4", Profile: "5", Class: effect.Query, Meter: Install, RunLimit: 6, RunLimitOf: "agent", MinuteLimit: 7}
}

// TestF059FingerprintHoldsWhatAnOfferStandsOn: each change of what was offered changes it, and nothing else does.
func TestF059FingerprintHoldsWhatAnOfferStandsOn(t *testing.T) {
	if got := whole().Fingerprint(); got != whole().Fingerprint() || strings.ContainsAny(got, "\n\x00") {
		t.Fatalf("%q", got)
	}
	seen := map[string]string{whole().Fingerprint(): "nothing"}
	for name, change := range map[string]func(b *Binding){
		"agent":              func(b *Binding) { b.Agent = "agent_2" },
		"grants":             func(b *Binding) { b.GrantsVersion++ },
		"capability":         func(b *Binding) { b.Capability = "search" },
		"connection owner":   func(b *Binding) { b.ConnectionOwner = Install },
		"connection version": func(b *Binding) { b.ConnectionVersion++ },
		"automatic":          func(b *Binding) { b.ConnectionVersion = 0 },
		"provider":           func(b *Binding) { b.Provider = "other" },
		"account owner":      func(b *Binding) { b.AccountOwner = "agent_1" },
		"account version":    func(b *Binding) { b.AccountVersion = "5" },
		"no account version": func(b *Binding) { b.AccountVersion = "" },
		"profile":            func(b *Binding) { b.Profile = "6" },
	} {
		b := whole()
		change(&b)
		text := b.Fingerprint()
		if other, ok := seen[text]; ok {
			t.Errorf("%s looks like %s: %s", name, other, text)
		}
		seen[text] = name
	}
	for name, change := range map[string]func(b *Binding){
		"class":        func(b *Binding) { b.Class = effect.Observation },
		"meter":        func(b *Binding) { b.Meter = Uncounted },
		"run limit":    func(b *Binding) { b.RunLimit, b.RunLimitOf = 1, "connection" },
		"minute limit": func(b *Binding) { b.MinuteLimit = 0 },
	} {
		b := whole()
		change(&b)
		if b.Fingerprint() != whole().Fingerprint() {
			t.Errorf("%s changes the offer", name)
		}
	}
}

func TestCredentialOwnerNamesAKindAndNoId(t *testing.T) {
	for owner, want := range map[string]string{Install: Install, "none": "none", "agent_1": "agent"} {
		if got := (Binding{AccountOwner: owner}).CredentialOwner(); got != want {
			t.Errorf("%q: %q", owner, got)
		}
	}
}
