package approval_test

import (
	"testing"

	"github.com/wayleave/wayleave/internal/approval"
)

func TestPolicyDecidesFromTierAndMode(t *testing.T) {
	read, sensitive := &approval.Facts{Tier: approval.Read}, &approval.Facts{Tier: approval.Sensitive}
	for _, c := range []struct {
		mode  approval.Mode
		facts *approval.Facts
		want  approval.Verdict
	}{
		{"", nil, approval.Allow},
		{approval.ModeClosed, nil, approval.Allow},
		{"", read, approval.Allow},
		{"", sensitive, approval.Ask},
		{approval.ModeAsk, &approval.Facts{Tier: "unheard of"}, approval.Ask},
		{approval.ModeOpen, sensitive, approval.Allow},
		{approval.ModeClosed, read, approval.Refuse},
		{"unheard of", read, approval.Refuse},
		{approval.ModeOpen, &approval.Facts{Tier: approval.Read, Declared: true}, approval.Ask},
		{approval.ModeClosed, &approval.Facts{Tier: approval.Read, Declared: true}, approval.Ask},
	} {
		if got := approval.Decide(approval.Policy{Browser: c.mode}, c.facts); got.Verdict != c.want || got.Why == "" {
			t.Errorf("mode %q, facts %+v: %+v, want %s", c.mode, c.facts, got, c.want)
		}
	}
}
