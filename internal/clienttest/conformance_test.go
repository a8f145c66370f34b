package clienttest

// The protocol's own conformance suite: all of it against the real transport with the suite's fixtures, and what needs
// no fixture against the product as it ships, in both protocol eras.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An era is how the suite is told which protocol revision to speak.
var (
	legacyEra = []string{"--spec-version", "2025-11-25"}
	modernEra = []string{"--requirements", "2026-07-28"}
)

func TestConformanceSuitePassesWithFixturesInBothEras(t *testing.T) {
	t.Parallel()
	fixtures, err := shop.fixture()
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, fixtures)
	// The least number of scenarios: a suite that ran nothing has not passed.
	for name, era := range map[string]struct {
		args  []string
		least int
	}{"2025-11-25": {legacyEra, 31}, "2026-07-28": {modernEra, 50}} {
		t.Run(name, func(t *testing.T) {
			checks := conformance(t, s, era.args)
			scenarios := map[string]bool{}
			for _, c := range checks {
				scenarios[c.scenario] = true
			}
			if len(scenarios) < era.least {
				t.Errorf("%d scenarios ran, want %d or more", len(scenarios), era.least)
			}
			compare(t, "fixtures", checks)
		})
	}
}

func TestConformanceOfTheProductInBothEras(t *testing.T) {
	t.Parallel()
	s := serve(t, program(t))
	for name, era := range map[string]struct {
		args    []string
		generic []string // scenarios that ask for no tool, resource or prompt of the suite's own
	}{
		"2025-11-25": {legacyEra, []string{
			"server-initialize", "server-session-lifecycle", "ping", "tools-list", "server-sse-multiple-streams",
			"dns-rebinding-protection"}},
		"2026-07-28": {modernEra, []string{
			"server-stateless", "tools-list", "server-sse-multiple-streams", "sep-2164-resource-not-found",
			"dns-rebinding-protection", "caching", "http-header-validation", "input-required-result-missing-input-response",
			"input-required-result-unsupported-methods", "input-required-result-ignore-extra-params",
			"input-required-result-validate-input"}},
	} {
		t.Run(name, func(t *testing.T) {
			var checks []check
			for _, c := range conformance(t, s, era.args) {
				if slices.Contains(era.generic, c.scenario) {
					checks = append(checks, c)
				}
			}
			for _, scenario := range era.generic {
				if !slices.ContainsFunc(checks, func(c check) bool { return c.scenario == scenario && c.Status == "SUCCESS" }) {
					t.Errorf("%s: nothing of it passed", scenario)
				}
			}
			compare(t, "product", checks)
		})
	}
}

// scenarioTimeout is for a machine that has much else to do: a scenario takes a tenth of a second on an idle one.
const scenarioTimeout = 2 * time.Minute

// check is one thing that the suite looked at.
type check struct {
	scenario     string
	ID           string
	Status       string
	ErrorMessage string
}

var resultFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$`)

// conformance runs the suite in one era and gives every check of it.
func conformance(t *testing.T, s *server, era []string) []check {
	t.Helper()
	out := t.TempDir()
	r := runNode(t, "", nil, installed(t, "@modelcontextprotocol/conformance/dist/index.js"),
		append([]string{"server", "--url", withToken(t, s), "-o", out, "--timeout", strconv.FormatInt(scenarioTimeout.Milliseconds(), 10)}, era...)...)
	folders, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	var all []check
	for _, folder := range folders {
		m := resultFolder.FindStringSubmatch(folder.Name())
		if m == nil {
			t.Fatalf("the suite wrote %q, which is no result", folder.Name())
		}
		text, err := os.ReadFile(filepath.Join(out, folder.Name(), "checks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", folder.Name(), err)
		}
		for _, c := range checks {
			c.scenario = m[1]
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		t.Fatalf("the suite reported nothing\n%s\n%s", r.stdout, r.stderr)
	}
	return all
}

// compare holds what failed against the list of known failures, both ways.
func compare(t *testing.T, build string, checks []check) {
	t.Helper()
	known := knownFailures(t, build)
	passed, used := 0, map[string]bool{}
	ran := map[string]bool{}
	for _, c := range checks {
		ran[c.scenario] = true
		switch c.Status {
		case "SUCCESS":
			passed++
		case "FAILURE", "WARNING":
			line := c.scenario + " " + c.ID
			if !known[line] {
				line = c.scenario + " *"
			}
			if !known[line] {
				t.Errorf("%s: %s: %s: %s", c.scenario, c.ID, c.Status, c.ErrorMessage)
			}
			used[line] = true
		}
	}
	for line := range known {
		scenario, _, _ := strings.Cut(line, " ")
		if ran[scenario] && !used[line] {
			t.Errorf("testdata/conformance.txt: %s %s does not fail any more; take the line out", build, line)
		}
	}
	t.Logf("%d scenarios, %d checks passed, %d known failures", len(ran), passed, len(used))
}

func knownFailures(t *testing.T, build string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/conformance.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) < 4 {
			t.Fatalf("testdata/conformance.txt: %q has no reason", strings.TrimSpace(line))
		}
		if fields[0] == build {
			known[fields[1]+" "+fields[2]] = true
		}
	}
	return known
}

// withToken is an address that adds the token to each request, since the suite cannot send one. A Host that the suite
// made up goes through as it is.
func withToken(t *testing.T, s *server) string {
	t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // streams end when the suite has seen enough
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = target.Scheme, target.Host, target.Path
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+s.token)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, fmt.Sprintf("the server gave no answer: %v", err), http.StatusBadGateway)
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A body that is still attached to its connection is closed when the answer begins, and a stream that began
		// at once would be cut by the proxy's last look for more of it.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + target.Path
}
