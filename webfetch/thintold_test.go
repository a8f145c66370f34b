package webfetch

// W-122: a page that is hardly a page is no silent success: what shows it and what to do stand before its text.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
)

func TestW122ThinPagesAreToldWithTheFactAndAWayOn(t *testing.T) {
	const prose = `<p>The old tide mill at the mouth of the river was rebuilt last winter, and its wheel turns twice a day.</p>`
	for _, c := range []struct {
		name, kind string
		status     int
		body       string
	}{
		{"a shell that scripts fill", "js_shell", 200, `<title>App</title><div id="root"></div><script src="/a.js"></script>`},
		{"a demand for consent", "consent_wall", 200, `<h1>Before you continue</h1><p>We and our 842 partners use cookies and personal data.</p><button>Accept all</button><button>Manage options</button>`},
		{"a demand to sign in", "login_wall", 200, `<h1>Sign in to continue</h1><form><input type="email"><input type="password"><button>Go</button></form>`},
		{"a status that demands it", "login_wall", 401, `<h1>Authorization required</h1><p>This server could not verify you.</p>`},
		{"a challenge", "bot_challenge", 403, `<h1>Access to this page has been denied</h1><div id="px-captcha"></div><p>Please verify that you are human.</p>`},
		{"a text that is cut", "paywall", 200, `<article><h1>Mill</h1>` + prose + `<div class="paywall"><h2>Subscribe to keep reading</h2><button>Subscribe</button></div></article>`},
		{"a demand for payment", "payment_required", 402, `<h1>Payment required</h1>`},
		{"a not-found that claims success", "soft_404", 200, `<h1>Page not found</h1><p>It may have been moved.</p>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := testsite.Answer{Status: c.status, Fields: []string{"Content-Type: text/html; charset=utf-8"}, Body: c.body}
			result := readThrough(t, a)
			first, rest, _ := strings.Cut(result.text, "\n")
			note, _, _ := strings.Cut(rest, "\n")
			want := "note: thin · " + c.kind + ": "
			if !strings.HasPrefix(note, want) || !strings.HasSuffix(note, "; "+wayOn(c.kind)) || len(note) <= len(want)+2+len(wayOn(c.kind)) {
				t.Errorf("after %s\n%s\nwant a note that begins %q, says what shows it, and ends with the way on", first, note, want)
			}
			if !strings.Contains(string(result.structured), fmt.Sprintf(`{"kind":"thin","thin":%q}`, c.kind)) {
				t.Errorf("keys %s", result.structured)
			}
		})
	}
	for name, body := range map[string]string{"an ordinary page": "<h1>Mill</h1>" + prose, "a short one": "<h1>OK</h1><p>pong</p>"} {
		if result := readThrough(t, ofType("text/html", body)); strings.Contains(result.text, "\nnote: ") {
			t.Errorf("%s: %s", name, result.text)
		}
	}
}

// toldResult is a success as the tool gives it.
type toldResult struct {
	text       string
	structured json.RawMessage
}

// readThrough reads one answer through the tool.
func readThrough(t *testing.T, a testsite.Answer) toldResult {
	t.Helper()
	source := siteWorld(testsite.Serve(t, testsite.Always(a))).fetcher(t, Options{})
	result := call(t, mustTool(t, ToolOptions{Source: source}), `{"url":"http://site.test/"}`)
	if result.Failure != nil {
		t.Fatalf("it failed: %v", result.Failure)
	}
	return toldResult{result.Text(), result.Structured}
}
