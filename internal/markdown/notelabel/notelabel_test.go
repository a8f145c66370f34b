package notelabel

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

func TestCut(t *testing.T) {
	for s, want := range map[string]struct {
		rest  string
		alone bool
	}{
		"1. Words": {" Words", false}, " [1] Words": {" Words", false}, "(1)": {"", false}, "1": {"", true}, "1) Words": {" Words", false}, "1: x": {" x", false},
		"1.5 metres": {"1.5 metres", false}, "10 things": {"10 things", false}, "[1 Words": {"[1 Words", false}, "[12] x": {"[12] x", false}, "Words": {"Words", false}, "": {"", false},
		"1\x1c": {"", true}, "1.\x1a Words": {" Words", false}, "\u200b1\u00ad. Words": {" Words", false}, "1\u200bst": {"1\u200bst", false},
	} {
		if rest, alone := Cut("1", s); rest != want.rest || alone != want.alone {
			t.Errorf("%q: %q, %t", s, rest, alone)
		}
	}
}

func TestAfterAlone(t *testing.T) {
	for s, want := range map[string]string{". Words": " Words", ".": "", ") x": " x", ".5 m": "1.5 m", ",000": "1,000", ", and": ", and", "st": "st", "": "", ".net": ".net"} {
		if got := AfterAlone("1", s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestCloses(t *testing.T) {
	for _, c := range []struct {
		open, s, rest string
		ok            bool
	}{{" [", "] Words", " Words", true}, {"(", " )", "", true}, {"[", ") x", ") x", false}, {"see [", "] x", "", false}, {"[", "x]", "x]", false}} {
		if rest, ok := Closes(c.open, c.s); ok != c.ok || ok && rest != c.rest {
			t.Errorf("%q, %q: %q, %t", c.open, c.s, rest, ok)
		}
	}
}

func TestSignsAreLabels(t *testing.T) {
	for _, c := range []struct{ label, s, rest string }{{"*", "* Star", " Star"}, {"*", "*Star", "Star"}, {"†", "† Dagger", " Dagger"}, {"a", "after", "after"}} {
		if rest, _ := Cut(c.label, c.s); rest != c.rest {
			t.Errorf("%q, %q: %q", c.label, c.s, rest)
		}
	}
}

func TestLeadsBack(t *testing.T) {
	for words, want := range map[string]bool{"Back": true, "↩ Return to text.": true, "Jump up": true, "back pain": false, "": false, "next": false} {
		if LeadsBack(words) != want {
			t.Errorf("%q: %t", words, !want)
		}
	}
}

func TestApart(t *testing.T) {
	for src, want := range map[string]string{
		`<p>[<a>1</a>] Words`:               " Words",
		`<p><b>[</b><a>1</a><i>]</i> Words`: "",
		`<p>[<a>1]</a> Words`:               "",
		`<p>(<a>1</a>) Words`:               " Words",
		`<p>[<a>2</a>] Words`:               "none",
		`<p>[<a>1</a>) Words`:               "none",
		`<p>see [<a>1</a>] Words`:           "none",
		`<p>[<a class=kept>1</a>] Words`:    "none",
		`<p>[`:                              "none",
		`<p>[<i></i><i></i><i></i><i></i><i></i><i></i><i></i><i></i><i></i>1]`: "none",
	} {
		root, err := html.Parse(strings.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		open := facts.Find(root, atom.P, 20).FirstChild
		if open.Type != html.TextNode {
			open = open.FirstChild
		}
		past, rest := Apart("1", open, func(n *html.Node) bool { return len(n.Attr) > 0 })
		if past == nil {
			rest = "none"
		}
		if rest != want {
			t.Errorf("%s: %q, want %q", src, rest, want)
		}
	}
}

func TestOnly(t *testing.T) {
	for line, want := range map[string]bool{"[^1]: [1]": true, "[^1]: **1**": true, `[^1]: \[1]`: true, "1.": true, "[1]": true, "[^1]: 1 mile": false, "[^1]: [2]": false, "": false, "[^1]: ": false} {
		if Only("1", line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}
