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
	"https://x/?\x00y": "a NUL character is a mistake of whoever wrote the URL, and says so",
}

func TestURLPolicyCases(t *testing.T) {
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
		case c.Verdict == "allow" && err != nil && c.MayRefuse && strict[c.URL] != "":
		case c.Verdict == "allow" && err != nil:
			t.Errorf("refused: %q (%s): %v", c.URL, c.Kind, err)
		case c.Verdict == "allow" && (u.Host() != strings.TrimSuffix(c.Host, ".") || u.String() != c.Href && c.Href != "" || verdict.CanonicalURL != u.String()):
			t.Errorf("%q read as host %s, %s; want %s, %s", c.URL, u.Host(), u, c.Host, c.Href)
		}
	}
}
