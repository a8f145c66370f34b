package webfetch

// Each kind of the closed list of thin kinds, through the tool: a page that is thin with what shows it and the way on,
// and pages that only look it.

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
)

// thinKinds is the list of the contract.
var thinKinds = []string{"js_shell", "consent_wall", "login_wall", "paywall", "bot_challenge", "payment_required", "soft_404", "no_text_layer", "thin_extract"}

func TestW122EveryKindIsToldAndItsNearMissIsNot(t *testing.T) {
	const html, text, data, pdf = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json", "application/pdf"
	article := "<article><h1>Mill</h1><p>" + strings.Repeat("The old tide mill at the mouth of the river was rebuilt last winter, and its wheel turns twice a day. ", 24) + "</p></article>"
	opts := Options{Documents: documentsFunc(func(_ string, body []byte) (Document, error) {
		if string(body) == "scan" {
			return Document{Markdown: "*1 page without a text layer*", Thin: []Thin{{Kind: "no_text_layer", Fact: "no page of 1 has a text layer: it may be a scan"}}}, nil
		}
		return Document{Markdown: "# Report", Notes: []Note{{Kind: "no_text_pages", Fact: "page 2 has no text layer"}}}, nil
	})}
	const menus = `<nav><a href="/a">Flour and bran</a> <a href="/b">Bread and rolls</a></nav><footer><a href="/c">Imprint of us</a> <a href="/d">Opening hours</a></footer>`
	told := map[string]bool{}
	for _, c := range []struct {
		name, mediaType, body string
		status                int
		arguments             string // beside the URL
		note                  string // empty: nothing is thin
	}{
		{"a shell", html, `<title>App</title><div id="root"></div><script src="/a.js"></script>`, 200, "",
			"js_shell: 0 words of text and 1 script, root element empty; a browser would run the scripts, or another source has the text"},
		{"an article that mentions it", html, article + `<p>Please enable JavaScript to run this app, said the noscript of 2015.</p><noscript>You need to enable JavaScript.</noscript><script src="/a.js"></script>`, 200, "", ""},
		{"a file that says what it needs", text, "This program requires JavaScript 1.5 or later.", 200, "", ""},
		{"a shell that is asked for as sent", html, `<title>App</title><div id="root"></div><script src="/a.js"></script>`, 200, `,"format":"raw"`, ""},
		{"a wall of consent", html, `<div class="consent"><h1>Before you continue</h1><p>We and our 842 partners use cookies.</p><button>Accept all</button></div>`, 200, "",
			"consent_wall: a consent box with 1 button; 0 words besides it; a person's browser may get past it, or use another source"},
		{"a banner over an article", html, `<div class="cookie-banner">We use cookies. <button>Accept all</button></div>` + article, 200, "", ""},
		{"a wall to sign in at", html, `<h1>Sign in to continue</h1><form><input type="email"><input type="password"><button>Go</button></form>`, 200, "",
			"login_wall: a password field and a demand to sign in; 4 words besides the form; it takes an account; use another source"},
		{"the same as text", text, "You must be logged in to view this page.", 200, "",
			"login_wall: a demand to sign in, and 9 words in all; it takes an account; use another source"},
		{"comments need an account", html, article + `<p>You must be logged in to post a comment.</p><form><input type="password"></form>`, 200, "", ""},
		{"a text that is cut", html, `<article><h1>Mill</h1><p>It turns twice a day.</p><div class="paywall"><h2>Subscribe to keep reading</h2><button>Subscribe</button></div></article>`, 200, "",
			"paywall: an offer to subscribe stands where the text ends, after 10 words; it takes an account; use another source"},
		{"an article about paywalls", html, article + `<p>Subscribe to keep reading, they say.</p>`, 200, "", ""},
		{"a challenge", html, `<h1>Access denied</h1><div id="px-captcha"></div>`, 403, "",
			"bot_challenge: marks of a challenge by HUMAN; 2 words of text; a person's browser may get past it, or use another source"},
		{"an edge's line", text, "error code: 1020", 403, "",
			"bot_challenge: a block page by Cloudflare; nothing but an error code; a person's browser may get past it, or use another source"},
		{"a challenge for programs", data, `{"url":"https://geo.captcha-delivery.com/captcha/"}`, 403, "",
			"bot_challenge: marks of a challenge by DataDome in the answer's data; a person's browser may get past it, or use another source"},
		{"an article about robots", html, article + `<p>Please verify that you are human.</p>`, 200, "", ""},
		{"payment", html, `<h1>Payment required</h1>`, 402, "", "payment_required: the answer has status 402; it takes an account; use another source"},
		{"payment for data", data, `{"price":"0.002"}`, 402, "", "payment_required: the answer has status 402; it takes an account; use another source"},
		{"payment, raw", html, `<h1>Payment required</h1>`, 402, `,"format":"raw"`, "payment_required: the answer has status 402; it takes an account; use another source"},
		{"payment at the desk", html, `<h1>Payment required</h1><p>Pay at the desk before you board.</p>`, 200, "", ""},
		{"not found with success", html, `<h1>Page not found</h1><p>It may have been moved.</p>`, 200, "",
			"soft_404: a heading or the title says it was not found, with 8 words besides, and the status is a success; check the address, or search for where the page went"},
		{"the same as text", text, "Not Found", 200, "",
			"soft_404: the text says it was not found, 2 words in all, and the status is a success; check the address, or search for where the page went"},
		{"not found by its status", html, `<h1>Page not found</h1>`, 404, "", ""},
		{"an article about it", html, `<h1>Page not found: the story of 404</h1>` + article, 200, "", ""},
		{"a scan", pdf, "scan", 200, "", "no_text_layer: no page of 1 has a text layer: it may be a scan; only pictures of text are there; look for another form of it"},
		{"a document with one scanned page", pdf, "mixed", 200, "", ""},
		{"no main part", html, menus, 200, "",
			"thin_extract: no main content was found in 147 characters; the whole page is shown"},
		{"the whole page is asked for", html, menus, 200, `,"content":"full"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := testsite.Answer{Status: c.status, Fields: []string{"Content-Type: " + c.mediaType}, Body: c.body}
			source := siteWorld(testsite.Serve(t, testsite.Always(a))).fetcher(t, opts)
			result := call(t, mustTool(t, ToolOptions{Source: source, Abilities: Abilities{MainContent: true, Documents: true}}), `{"url":"http://site.test/"`+c.arguments+`}`)
			if result.Failure != nil {
				t.Fatal(result.Failure)
			}
			var notes []string
			head, _, _ := strings.Cut(result.Text(), "\n<untrusted_web_content>")
			for line := range strings.SplitSeq(head, "\n") {
				if note, is := strings.CutPrefix(line, "note: thin · "); is {
					notes = append(notes, note)
				}
			}
			var keys struct{ Notes []struct{ Kind, Thin string } }
			if err := json.Unmarshal(result.Structured, &keys); err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(c.note, ":")
			told[kind] = true
			var want []string
			if c.note != "" {
				want = []string{c.note}
				if !slices.ContainsFunc(keys.Notes, func(n struct{ Kind, Thin string }) bool { return n.Kind == "thin" && n.Thin == kind }) {
					t.Errorf("keys %s", result.Structured)
				}
			}
			if !slices.Equal(notes, want) {
				t.Errorf("notes %q\nwant  %q", notes, want)
			}
		})
	}
	for _, kind := range thinKinds {
		if !told[kind] {
			t.Errorf("no page of kind %s", kind)
		}
	}
}

// TestThinWaysNameATool only where it is offered.
func TestThinWaysNameATool(t *testing.T) {
	for _, kind := range thinKinds {
		thin := Thin{Kind: kind, Fact: "it shows"}
		plain, offered := thinNote(thin, Abilities{}), thinNote(thin, Abilities{Browser: true})
		if searching := thinNote(thin, Abilities{WebSearch: true}); strings.Contains(searching.Fact, "web_search") != (kind == "soft_404") {
			t.Errorf("%s, with a search: %s", kind, searching.Fact)
		}
		if strings.Contains(plain.Fact, "browser_navigate") || strings.Contains(plain.Fact, "web_search") {
			t.Errorf("%s names a tool that is not offered: %s", kind, plain.Fact)
		}
		opens := kind == "js_shell" || kind == "consent_wall" || kind == "bot_challenge"
		if strings.Contains(offered.Fact, "browser_navigate opens it in a browser") != opens {
			t.Errorf("%s, with a browser: %s", kind, offered.Fact)
		}
	}
}
