package mdtext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitleOfHTMLSource(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"plain", "<title>A page</title>", "A page"},
		{"none", "<p>no title</p>", ""},
		{"empty", "<title> \n </title><title>second</title>", ""},
		{"blanks collapsed", "<title>\n  A\tpage \u00a0 here\r\n</title>", "A page here"},
		{"references", "<title>A &amp; B &copy; &#8212; C&#x21; &Eacute;&notanentity;</title>", "A & B \u00a9 \u2014 C! \u00c9\u00acanentity;"},
		{"attributes and case", `<TITLE data-x="a>b">Up</TITLE >`, "Up"},
		{"tags inside are text", "<title>a <b>b</b></title>", "a <b>b</b>"},
		{"another name", "<titles>no</titles><title>yes</title>", "yes"},
		{"in a comment", "<!-- <title>no</title> --><title>yes</title>", "yes"},
		{"in a script", "<script>'<title>no</title>'</script><title>yes</title>", "yes"},
		{"in a drawing", "<svg><title>icon</title></svg><title>yes</title>", "yes"},
		{"in a drawing alone", "<svg><title>icon</title></svg>", ""},
		{"in an attribute", `<p data-x="<title>no</title>"><title>yes</title>`, "yes"},
		{"not closed", "<title>never ends", ""},
		{"cut in its end tag", "<title>never ends</titl", ""},
		{"closed in reach", "<title>x</title>" + strings.Repeat(" ", maxTitleReach), "x"},
		{"out of reach", strings.Repeat(" ", maxTitleReach) + "<title>x</title>", ""},
		{"closed out of reach", "<title>" + strings.Repeat("x", maxTitleReach) + "</title>", ""},
		{"reach counts characters", strings.Repeat("é", maxTitleReach-30) + "<title>x</title>", "x"},
		{"too long", "<title>" + strings.Repeat("é", 60_000) + "</title>", strings.Repeat("é", maxTitleChars)},
		{"cut at a blank", "<title>" + strings.Repeat("x", maxTitleChars-1) + " y</title>", strings.Repeat("x", maxTitleChars-1)},
	} {
		if got := HTMLTitle(c.src); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTitleOfMarkdown(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"first line", "# Title\n\ntext", "Title"},
		{"later", "intro\n## Sub\n# Main #\n# Second", "Main"},
		{"none", "no heading\n", ""},
		{"no blank", "#hash\n", ""},
		{"second level", "## Sub\n", ""},
		{"empty heading", "#\n# \n# Real", "Real"},
		{"only marks", "# ##\n# Real", "Real"},
		{"tab, blanks and CRLF", "   #\t A  title   \r\n", "A title"},
		{"closing marks", "# Title ## \n", "Title"},
		{"marks of a name", "# C#\n", "C#"},
		{"indented code", "    # comment\n", ""},
		{"references", "# A &amp; B\n", "A & B"},
		{"in back ticks", "```sh\n# comment\n```\n# Real\n", "Real"},
		{"in tildes", "~~~~\n# a\n~~~\n# b\n~~~~  \n# Real\n", "Real"},
		{"fence that holds the other", "```\n~~~\n# a\n```\n# Real\n", "Real"},
		{"fence without end", "```\n# comment\n", ""},
		{"inline code is no fence", "``` `x` ```\n# Real\n", "Real"},
		{"front matter", "---\n# comment\ntitle: x\n---\n# Real\n", "Real"},
		{"front matter with dots", "---\n# comment\n...\n# Real\n", "Real"},
		{"TOML front matter", "+++\n# comment\n+++\n# Real\n", "Real"},
		{"front matter alone", "---\n# comment\n---", ""},
		{"front matter without end", "---\n# Real\n", "Real"},
		{"a rule further down", "text\n---\n# Real\n---\n", "Real"},
		{"too long", "# " + strings.Repeat("é", 10_000), strings.Repeat("é", maxTitleChars)},
	} {
		if got := MarkdownTitle(c.src); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzTitle(f *testing.F) {
	for _, seed := range []string{"<title>x</title>", "<svg><title>a</title></svg><title>&amp;", "# A #\n", "---\n---\n# x", "```\n# x\n```\n# y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, title := range []string{HTMLTitle(src), MarkdownTitle(src), ClipTitle(src)} {
			if utf8.RuneCountInString(title) > maxTitleChars {
				t.Fatalf("%d characters", utf8.RuneCountInString(title))
			}
			if title != strings.Join(strings.Fields(title), " ") {
				t.Fatalf("%q: white space is not collapsed", title)
			}
		}
	})
}
