package weburl_test

// The case files of the repository, case by case.

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

func readCases[T any](t *testing.T, file string) []T {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Cases []T }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Cases
}

// strict names the cases of url-policy.json that are refused although they may be allowed, with the reason.
var strict = map[string]string{
	"https://x/?\x00y": "a NUL character is a mistake of whoever wrote the URL, and is told so",
}

func TestW124W143URLPolicyCases(t *testing.T) {
	type urlCase struct {
		URL, Verdict, Reason, Kind, Host, Href string
		MayRefuse                              bool `json:"may_refuse"`
	}
	cases := readCases[urlCase](t, "url-policy.json")
	if len(cases) != 427 {
		t.Errorf("read %d cases, want 427", len(cases))
	}
	for _, c := range cases {
		u, err := new(weburl.Policy).Check(c.URL)
		verdict := new(weburl.Policy).Judge(c.URL)
		if (verdict.Verdict == "allow") != (err == nil) {
			t.Errorf("%q: Check says %v, Judge says %s", c.URL, err, verdict.Verdict)
		}
		switch {
		case c.Verdict == "refuse" && err == nil:
			t.Errorf("let through: %q (%s), as %s", c.URL, c.Reason, u)
		case c.Verdict == "refuse":
		case err != nil && c.MayRefuse && strict[c.URL] != "":
		case err != nil:
			t.Errorf("refused: %q (%s): %v", c.URL, c.Kind, err)
		// The case's host keeps a trailing dot, ours is for comparing and does not. The length cases name no href.
		case u.Host() != strings.TrimSuffix(c.Host, "."), c.Href != "" && u.String() != c.Href, verdict.CanonicalURL != u.String():
			t.Errorf("%q read as host %s, %s; want %s, %s", c.URL, u.Host(), u, c.Host, c.Href)
		}
	}
}

// fetchCase is what a case of webfetch.json holds for this package.
type fetchCase struct {
	ID, Area string
	Input    struct {
		URL          json.RawMessage
		Options      caseOptions
		Pattern      *string
		AlsoSpelled  []string `json:"also_spelled"`
		From         string
		Location     *string
		AllowedHosts any `json:"allowed_hosts"`
	}
	Expected struct {
		Verdict, Code, Reason, Canonical string
		CanonicalURL                     string `json:"canonical_url"`
		NextURL                          string `json:"next_url"`
		All                              string
		Valid                            bool
	}
}

type caseOptions struct {
	AllowedHosts      []any `json:"allowed_hosts"`
	BlockedHosts      []any `json:"blocked_hosts"`
	AllowPrivateHosts bool  `json:"allow_private_hosts"`
}

// policy builds a policy from a case. A malformed pattern cannot stand in a Policy; it is left out, as the library
// check of the case file ignores it.
func (o caseOptions) policy() *weburl.Policy {
	patterns := func(list []any) (ps []weburl.HostPattern) {
		for _, entry := range list {
			if s, ok := entry.(string); ok {
				if p, err := weburl.ParseHostPattern(s); err == nil {
					ps = append(ps, p)
				}
			}
		}
		return ps
	}
	return &weburl.Policy{AllowedHosts: patterns(o.AllowedHosts), BlockedHosts: patterns(o.BlockedHosts), AllowPrivateHosts: o.AllowPrivateHosts}
}

// text joins the case's URL, a string or a list of strings and {text, times}. A value that is no string has none.
func (c fetchCase) text() (string, bool) {
	var s string
	if json.Unmarshal(c.Input.URL, &s) == nil && len(c.Input.URL) > 0 {
		return s, true
	}
	var parts []json.RawMessage
	if json.Unmarshal(c.Input.URL, &parts) != nil {
		return "", false
	}
	for _, part := range parts {
		var plain string
		var repeated struct {
			Text  string
			Times int
		}
		if json.Unmarshal(part, &plain) == nil {
			s += plain
		} else if json.Unmarshal(part, &repeated) == nil {
			s += strings.Repeat(repeated.Text, repeated.Times)
		}
	}
	return s, true
}

// caseReasons maps the case file's reasons to the rules that stand for them.
var caseReasons = map[string][]weburl.Rule{
	"invalid_url":          {weburl.RuleShape, weburl.RuleParse, weburl.RuleHost},
	"too_long":             {weburl.RuleLength},
	"unsupported_protocol": {weburl.RuleScheme},
	"credentials":          {weburl.RuleCredentials},
	"blocked_host":         {weburl.RuleBlocked},
	"host_not_allowed":     {weburl.RuleAllowed},
	"private_host":         {weburl.RulePrivate, weburl.RuleMetadata},
}

func TestURLCasesOfWebFetch(t *testing.T) {
	judged := 0
	for _, c := range readCases[fetchCase](t, "webfetch.json") {
		raw, isText := c.text()
		switch {
		case c.Area != "url_policy" && c.Area != "hardening" && c.Area != "redirect", !isText || c.Expected.Verdict == "" && c.Expected.All == "":
			continue
		}
		judged++
		for _, spelled := range append([]string{raw}, c.Input.AlsoSpelled...) {
			u, err := c.Input.Options.policy().Check(spelled)
			if c.Expected.Verdict == "allow" {
				if err != nil || c.Expected.CanonicalURL != "" && u.String() != c.Expected.CanonicalURL {
					t.Errorf("%s: %q: %v, %v; want %s", c.ID, spelled, u, err, c.Expected.CanonicalURL)
				}
				continue
			}
			refusal, _ := err.(*weburl.Error)
			if refusal == nil {
				t.Errorf("%s: let through: %q", c.ID, spelled)
				continue
			}
			if want := c.Expected.Code + c.Expected.All; want != "" && refusal.Kind.Code() != want {
				t.Errorf("%s: %q: code %s, want %s", c.ID, spelled, refusal.Kind.Code(), want)
			}
			if rules, known := caseReasons[c.Expected.Reason]; known && !contains(rules, refusal.Rule) {
				t.Errorf("%s: %q: rule %s, want %s", c.ID, spelled, refusal.Rule, c.Expected.Reason)
			}
		}
	}
	if judged < 80 {
		t.Errorf("only %d cases were judged, the file has more", judged)
	}
}

func TestRedirectTargetsOfWebFetch(t *testing.T) {
	judged := 0
	for _, c := range readCases[fetchCase](t, "webfetch.json") {
		if c.Input.From == "" || c.Input.Location == nil {
			continue
		}
		judged++
		from, err := weburl.Parse(c.Input.From)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		u, err := from.Resolve(*c.Input.Location)
		if err == nil {
			err = c.Input.Options.policy().CheckURL(u)
		}
		if c.Expected.NextURL != "" {
			if err != nil || u.String() != c.Expected.NextURL {
				t.Errorf("%s: %v, %v; want %s", c.ID, u, err, c.Expected.NextURL)
			}
			continue
		}
		refusal, _ := err.(*weburl.Error)
		if refusal == nil || !contains(caseReasons[c.Expected.Reason], refusal.Rule) {
			t.Errorf("%s: %v; want %s", c.ID, err, c.Expected.Reason)
		}
	}
	if judged == 0 {
		t.Error("no case was judged")
	}
}

func TestW020W022HostPatternCases(t *testing.T) {
	judged := 0
	for _, c := range readCases[fetchCase](t, "webfetch.json") {
		if c.Input.Pattern == nil {
			continue
		}
		judged++
		p, err := weburl.ParseHostPattern(*c.Input.Pattern)
		if (err == nil) != c.Expected.Valid || c.Expected.Canonical != "" && p.String() != c.Expected.Canonical {
			t.Errorf("%s: %q: %q, %v; want valid %v, %q", c.ID, *c.Input.Pattern, p, err, c.Expected.Valid, c.Expected.Canonical)
		}
	}
	if judged < 15 {
		t.Errorf("only %d patterns were judged", judged)
	}
}

func contains(rules []weburl.Rule, r weburl.Rule) bool {
	for _, rule := range rules {
		if rule == r {
			return true
		}
	}
	return false
}
