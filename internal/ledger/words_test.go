package ledger_test

import (
	"testing"

	"github.com/wayleave/wayleave/internal/ledger"
)

func TestARefusalNamesItsRuleAndItsHost(t *testing.T) {
	for _, c := range []struct{ host, code, why, fact string }{
		{"shop.example", "rate_limit", "60 of 60 are used", "refused as rate_limit (host shop.example): 60 of 60 are used"},
		{"[::1]", "paused", "the install is paused since 2026-01-01T00:00:00Z", "refused as paused (host [::1]): the install is paused since 2026-01-01T00:00:00Z"},
		{"", "invalid_web_fetch_input", "the argument url", "refused as invalid_web_fetch_input: the argument url"},
		{"shop.example", "denied", "", "refused as denied (host shop.example)"},
	} {
		got := ledger.Ask{Source: ledger.Source{Host: c.host, URL: "https://canary.example/path"}}.Refused(c.code, c.why)
		if got != c.fact {
			t.Errorf("%q, want %q", got, c.fact)
		}
		if why := ledger.WhyRefused(got); why != c.why {
			t.Errorf("the why of %q is %q", got, why)
		}
	}
	for _, other := range []string{"", "60 of 60 are used", "not offered any more: off"} { // as an earlier version wrote
		if got := ledger.WhyRefused(other); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}
