package reading

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

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

// TestWhyTellsWhatARobotsTxtSaid and not what it holds.
func TestWhyTellsWhatARobotsTxtSaid(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	verdict := func(allowed bool, status, line int, asked bool) webfetch.RobotsVerdict {
		return webfetch.RobotsVerdict{Host: "site.example", Allowed: allowed, Status: status, Line: line, Rule: map[bool]string{true: "canary"}[line > 0], Read: at, Asked: asked}
	}
	for _, c := range []struct {
		v    webfetch.RobotsVerdict
		want string
	}{
		{verdict(true, 200, 0, true), "robots.txt of site.example says nothing of it (status 200, asked for now)"},
		{verdict(true, 200, 7, false), "robots.txt of site.example allows it in line 7 (status 200, read at 03:04:05 UTC and kept)"},
		{verdict(false, 200, 7, false), "robots.txt of site.example disallows it in line 7 (status 200, read at 03:04:05 UTC and kept)"},
		{verdict(true, 404, 0, true), "robots.txt of site.example is not there, which allows everything (status 404, asked for now)"},
		{verdict(false, 503, 0, true), "robots.txt of site.example was not given, which refuses everything (status 503, asked for now)"},
	} {
		if got := ofRobots(c.v); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
		refused := &webfetch.Error{Code: webfetch.CodeDisallowedURL, Cause: &webfetch.RobotsRefusal{RobotsVerdict: c.v}}
		if got := whyOf(refused); got != "rule robots, "+c.want {
			t.Errorf("%q", got)
		}
	}
	refused := &webfetch.Error{Code: webfetch.CodeDisallowedRedirect, Host: "a.example", Cause: &webfetch.RobotsRefusal{RobotsVerdict: verdict(false, 200, 1, true)}}
	if got := whyOf(refused); !strings.HasSuffix(got, "; a redirect of a.example led there") {
		t.Errorf("%q", got)
	}
	if got := whyRead(&webfetch.Page{Robots: []webfetch.RobotsVerdict{verdict(true, 404, 0, true), verdict(true, 200, 0, true)}}); strings.Count(got, "robots.txt of") != 2 {
		t.Errorf("%q", got)
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

// TestSumIsThatOfTheWholeText, however it falls into blocks.
func TestSumIsThatOfTheWholeText(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, 4097, 8192, 10000} {
		text := strings.Repeat("ä", n/2) + strings.Repeat("x", n%2)
		want := sha256.Sum256([]byte(text))
		if got := Sum(&webfetch.Page{Content: text}); got != hex.EncodeToString(want[:]) {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
}
