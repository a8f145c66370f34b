package main

// What the process is told by its operator, and how it is judged (TM-118, TM-051), in this process.

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/cli/place"
)

// commandLine runs one and gives what it said.
func commandLine(t *testing.T, stdin string, environ []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, problems bytes.Buffer
	code = run(args, append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, environ...), strings.NewReader(stdin), &out, &problems)
	return out.String(), problems.String(), code
}

// TestTM118WhatNobodyReadsLoosensNothing: each of these means to narrow what may be read. None may be taken for nothing.
func TestTM118WhatNobodyReadsLoosensNothing(t *testing.T) {
	const elsewhere = "http://elsewhere.example/"
	for _, c := range []struct{ file, variable, says string }{
		{`{"alowed_hosts":["a.example"]}`, "", "alowed_hosts"},
		{`{"allowed-hosts":["a.example"]}`, "", "allowed-hosts"},
		{`{"Allowed_Hosts":["a.example"]}`, "", "Allowed_Hosts"},
		{`{"policy":{"allowed_hosts":["a.example"]}}`, "", "policy"},
		{`{"allowed_hosts":null}`, "", "null"},
		{`{"allowed_hosts":"a.example"}`, "", "must be a list"},
		{`{"allowed_hosts":{"a.example":true}}`, "", "must be a list"},
		{`{"allowed_hosts":[["a.example"]]}`, "", "must be a list of texts"},
		{`{"allowed_hosts":[""]}`, "", "allowed-hosts"},
		{`{"blocked_hosts":[""]}`, "", "blocked-hosts"},
		{`{"allowed_ports":[""]}`, "", "allowed-ports"},
		{`{"allowed_hosts":["http://a.example/"]}`, "", "allowed-hosts"},
		{`{"allowed_hosts":["a.example"],"allowed_hosts":[]}`, "", "stands twice"},
		{`{"blocked_networks":["10.0.0.0/33"]}`, "", "blocked-networks"},
		{`{"allow_private_hosts":"no"}`, "", "must be true or false"},
		{`{"allowed_hosts":["a.example"]`, "", "configuration file"},
		{"", "", "configuration file"},
		{"null", "", "is not one object"},
		{"[]", "", "is not one object"},
		{"\xff{}", "", "not UTF-8"},
		{"{}", "WAYLEAVE_ALOWED_HOSTS=a.example", "WAYLEAVE_ALOWED_HOSTS"},
		{"{}", "WAYLEAVE_BLOCKED_HOST=elsewhere.example", "WAYLEAVE_BLOCKED_HOST"},
		{"{}", "WAYLEAVE_ALLOWED_HOSTS=http://a.example/", "allowed-hosts"},
		{"{}", "WAYLEAVE_ALLOWED_HOSTS=,", "allowed-hosts"},
		{"{}", "WAYLEAVE_CONFIG=none.jsonc", ""}, // the flag names a file that is there
	} {
		file := filepath.Join(t.TempDir(), "wayleave.jsonc")
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		environ := []string{}
		if c.variable != "" {
			environ = append(environ, c.variable)
		}
		stdout, stderr, code := commandLine(t, "", environ, "check-url", "--config", file, elsewhere)
		if c.says == "" {
			if code != cli.ExitDone || !strings.Contains(stdout, `"verdict":"allow"`) {
				t.Errorf("%s, %s: exit %d %s%s", c.file, c.variable, code, stdout, stderr)
			}
			continue
		}
		if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%s, %s: exit %d, %s, %q; want that it names %q", c.file, c.variable, code, stdout, stderr, c.says)
		}
	}
	missing := filepath.Join(t.TempDir(), "none.jsonc")
	for says, given := range map[string][]string{
		missing: {"check-url", "--config", missing, elsewhere}, filepath.Base(missing): {"check-url", "--config=" + missing, elsewhere},
		"--allowed-hosts": {"check-url", "--allowed-hosts=", elsewhere}, "allowed-hosts \"\"": {"check-url", "--allowed-hosts=,", elsewhere},
		"--blocked-networks": {"check-url", "--blocked-networks=", elsewhere}, "--allowed-ports": {"check-url", "--allowed-ports=", elsewhere},
	} {
		if stdout, stderr, code := commandLine(t, "", nil, given...); code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, says) {
			t.Errorf("%q: exit %d, %s, %q", given, code, stdout, stderr)
		}
	}
	// What is understood counts, and a variable that is set to nothing takes nothing away from it.
	file := filepath.Join(t.TempDir(), "wayleave.jsonc")
	if err := os.WriteFile(file, []byte("// ours\n{\"allowed_hosts\": [\"a.example\",],}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"X=y", "WAYLEAVE_ALLOWED_HOSTS=", "WAYLEAVE_ALLOWED_HOSTS=b.example"} {
		if stdout, _, code := commandLine(t, "", []string{variable}, "check-url", "--config", file, elsewhere); code != cli.ExitDone || !strings.Contains(stdout, `"verdict":"refuse"`) {
			t.Errorf("a sound list and %s: exit %d, %s", variable, code, stdout)
		}
	}
}

// TestTM051ListenerBeyondLoopbackNeedsACover: the token would cross a network in the clear. Nothing is opened or made.
func TestTM051ListenerBeyondLoopbackNeedsACover(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "[2001:db8::1]:0", "wayleave.example:0", "127.0.0.1.example:0", "[::ffff:192.0.2.1]:0", "*:0"} {
		data := filepath.Join(t.TempDir(), "data")
		stdout, stderr, code := commandLine(t, "", nil, "serve", "--listen", listen, "--data", data)
		if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, "--behind-proxy") {
			t.Errorf("%s: exit %d, %s, %q", listen, code, stdout, stderr)
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%s: a data folder was made", listen)
		}
	}
	for listen, want := range map[string]bool{"127.0.0.1": true, "127.8.9.1": true, "::1": true, "::ffff:127.0.0.1": true, "localhost": true,
		"": false, "0.0.0.0": false, "::": false, "localhost.example": false, "x.localhost": false, "10.0.0.1": false, "127.0.0.1.example": false} {
		if place.Loopback(listen) != want {
			t.Errorf("%q is loopback: %v", listen, !want)
		}
	}
}

// TestW143JudgesEachLineInOrder: 427 URLs in, 427 verdicts out, the same as of the case file.
func TestW143JudgesEachLineInOrder(t *testing.T) {
	text, err := os.ReadFile("../../testdata/url-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			URL, Verdict string
			MayRefuse    bool `json:"may_refuse"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var in strings.Builder
	for _, c := range file.Cases {
		line, err := json.Marshal(c.URL)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	stdout, stderr, code := commandLine(t, in.String(), nil, "check-url", "-")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if code != cli.ExitDone || len(lines) != len(file.Cases) || len(lines) != 427 || stderr != "" {
		t.Fatalf("exit %d, %d lines for %d URLs, %q", code, len(lines), len(file.Cases), stderr)
	}
	for i, c := range file.Cases {
		var got struct {
			URL, Verdict, Code string
			CanonicalURL       string `json:"canonical_url"`
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatalf("%s: %v", lines[i], err)
		}
		allowed := got.Verdict == "allow"
		if got.URL != c.URL || !c.MayRefuse && got.Verdict != c.Verdict || allowed && c.Verdict == "refuse" {
			t.Errorf("%q: %s, want %s", c.URL, lines[i], c.Verdict)
		}
		if allowed != (got.CanonicalURL != "") || allowed == (got.Code != "") {
			t.Errorf("%q: %s", c.URL, lines[i])
		}
	}
}
