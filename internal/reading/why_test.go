package reading

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// TestWhyNamesTheRuleAndNothingThatAModelWrote: the record that it stands in is not sealed.
func TestWhyNamesTheRuleAndNothingThatAModelWrote(t *testing.T) {
	policy := &weburl.Policy{}
	fetcher, err := webfetch.Direct(webfetch.Options{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"http://127.0.0.1/canary":             "rule private, a host that is not public",
		"http://169.254.169.254/canary":       "rule metadata, an address of cloud metadata",
		"canary:canary":                       "rule scheme, a scheme that is not allowed there",
		"https://canary:canary@site.example/": "rule credentials, a user name or password in the address",
		"canary canary":                       "rule parse, no absolute address",
		"https://site.example:25/canary":      "rule port, a port that is not allowed",
		strings.Repeat("canary", 1000):        "rule length, longer than an address may be",
	} {
		err := fetcher.Check(webfetch.Request{URL: url})
		if got := whyOf(err); got != want || strings.Contains(got, "canary") {
			t.Errorf("%.40s: %q, want %q (%v)", url, got, want, err)
		}
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&webfetch.Error{Code: webfetch.CodeDisallowedRedirect, Host: "site.example", Target: "10.0.0.1", Reason: "canary", Message: "canary",
			Cause: &weburl.Error{Rule: weburl.RulePrivate, Host: "10.0.0.1", Reason: "canary"}}, "rule private, a host that is not public; a redirect of site.example led to 10.0.0.1"},
		{&webfetch.Error{Code: webfetch.CodeDisallowedRedirect, Host: "site.example", Cause: &weburl.Error{Rule: weburl.RuleParse}}, "rule parse, no absolute address; a redirect of site.example led to it"},
		{&webfetch.Error{Code: webfetch.CodeDisallowedURL, Cause: &weburl.Error{Rule: weburl.RuleAddress}}, "rule address, a name that resolves to an address that is refused"},
		{&webfetch.Error{Code: webfetch.CodeDisallowedURL, Cause: &weburl.Error{}}, "rule policy, no policy could judge the address"},
		{&webfetch.Error{Code: webfetch.CodeInvalidInput, Field: "max_bytes", Reason: "canary"}, "the argument max_bytes"},
		{&webfetch.Error{Code: webfetch.CodeInvalidInput, Field: "canary", Reason: "canary"}, ""},
		{&webfetch.Error{Code: webfetch.CodeHTTPError, Status: 404, Message: "canary"}, ""},
		{nil, ""},
	} {
		if got := whyOf(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// TestEveryRuleHasItsWords: a rule that is added to weburl says here what it found.
func TestEveryRuleHasItsWords(t *testing.T) {
	seen := make(map[string]weburl.Rule)
	for _, r := range []weburl.Rule{weburl.RulePolicy, weburl.RuleShape, weburl.RuleLength, weburl.RuleParse, weburl.RuleScheme, weburl.RuleCredentials, weburl.RuleHost,
		weburl.RuleBlocked, weburl.RuleAllowed, weburl.RuleMetadata, weburl.RulePrivate, weburl.RulePort, weburl.RuleOwn, weburl.RuleAddress} {
		words := ruled(r)
		if other, twice := seen[words]; twice {
			t.Errorf("%s and %s are both %q", r, other, words)
		}
		seen[words] = r
	}
}
