// Pages of which only the text is there.

package thin

import (
	"strings"
	"testing"
)

func TestTextsWithoutATree(t *testing.T) {
	prose := strings.Repeat("The old tide mill at the mouth of the river was rebuilt last winter and turns twice a day.\n\n", 12)
	for _, c := range []struct {
		name, text, kind string
		status           int
	}{
		{"an edge's refusal", "error code: 1020", BotChallenge, 403},
		{"with a line feed", "error code: 1015\n", BotChallenge, 429},
		{"a block page as Markdown", "# Sorry, you have been blocked\n\nYou are unable to access mill.example", BotChallenge, 403},
		{"a doubt, refused", "# Access denied\n\nPlease verify that you are human.", BotChallenge, 403},
		{"402", prose, PaymentRequired, 402},
		{"402 with nothing", "", PaymentRequired, 402},
		{"plain not found", "Not Found", Soft404, 200},
		{"not found as Markdown", "# Page not found\n\nIt may have been moved. [Start page](https://mill.example/)", Soft404, 200},
		{"not found, nobody knows the status", "# 404\n\nNothing lives here.", Soft404, 0},
		{"a demand to sign in", "# Members\n\nYou must be logged in to view this page. [Log in](https://mill.example/login)", LoginWall, 200},
		{"401", "Unauthorized", LoginWall, 401},
		{"a shell's noscript", "You need to enable JavaScript to run this app.", JSShell, 200},
		{"the same in German", "Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen.", JSShell, 0},

		{"an article", "# Mill\n\n" + prose, "", 200},
		{"an article on scripts", "# How to enable JavaScript\n\n" + prose + "Then enable JavaScript in the settings.", "", 200},
		{"a short answer on scripts", "# JavaScript\n\nTo enable JavaScript, open the settings.", "", 200},
		{"an article on blocks", "# Sorry, you have been blocked: what the page means\n\n" + prose, "", 200},
		{"an article on not found", "# Page not found: the story of 404\n\n" + prose, "", 200},
		{"an article that ends on a demand", prose + "You must be logged in to post a comment.", "", 200},
		{"an error code of another kind", "error code: 521", "", 521},
		{"the code in a table of them", "| error code: 1020 | access denied |\n", "", 200},
		{"the code with success", "error code: 1020", "", 200},
		{"a server's own words for its status", "Not Found", "", 404},
		{"a reference entry", "# 404 Not Found\n\nThe server cannot find it.\n\n```\nHTTP/1.1 404 Not Found\n```\n", "", 200},
		{"a refusal that says nothing", "Forbidden", "", 403},
		{"short", "pong", "", 200},
		{"nothing", "", "", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts := Text(c.text, Page{Status: c.status})
			got := ""
			if len(facts) > 0 {
				got = facts[0].Kind
			}
			if got != c.kind || len(facts) > 1 {
				t.Errorf("facts %+v, want kind %q", facts, c.kind)
			}
		})
	}
}

// TestTextThatWasServedAsSuchIsNoShell: a file may say what it needs.
func TestTextThatWasServedAsSuchIsNoShell(t *testing.T) {
	const needs = "This program requires JavaScript 1.5 or later."
	if facts := Text(needs, Page{Status: 200, Plain: true}); len(facts) != 0 {
		t.Errorf("served: %+v", facts)
	}
	if facts := Text(needs, Page{Status: 200}); len(facts) != 1 || facts[0].Kind != JSShell {
		t.Errorf("made of a page: %+v", facts)
	}
	if facts := Text("Not Found", Page{Status: 200, Plain: true}); len(facts) != 1 {
		t.Errorf("the other kinds: %+v", facts)
	}
}

func TestDataOfChallenges(t *testing.T) {
	for _, c := range []struct {
		name, body, kind string
		status           int
	}{
		{"an address of a challenge", `{"url":"https://geo.captcha-delivery.com/captcha/?x=1"}`, BotChallenge, 403},
		{"402", `{"error":"pay"}`, PaymentRequired, 402},
		{"the address in data that were given", `{"url":"https://geo.captcha-delivery.com/captcha/?x=1"}`, "", 200},
		{"an ordinary error", `{"error":"unauthorized"}`, "", 401},
	} {
		facts := Data(c.body, Page{Status: c.status})
		if got := append(facts, Fact{})[0].Kind; got != c.kind {
			t.Errorf("%s: facts %+v, want kind %q", c.name, facts, c.kind)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("# Page not found\n\nx", 200)
	f.Add("error code: 1020", 403)
	f.Add("```\n~~~\n| a |", 402)
	f.Fuzz(func(t *testing.T, src string, status int) {
		for _, facts := range [][]Fact{Text(src, Page{Status: status}), Data(src, Page{Status: status})} {
			if len(facts) > 1 || len(facts) == 1 && (facts[0].Kind == "" || facts[0].Text == "" || len(facts[0].Text) > 200) {
				t.Fatalf("facts %+v", facts)
			}
		}
	})
}
