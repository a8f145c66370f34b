// The page of Markdown, and its outline.

package structurecheck

import (
	"strings"
	"testing"
)

func TestPageIsWhatMarkdownSays(t *testing.T) {
	for markdown, want := range map[string]string{
		"# a *b* **c** ~~d~~ `e<`":           "<h1>a <em>b</em> <strong>c</strong> <del>d</del> <code>e&lt;</code></h1>\n",
		"3. a\n7. b":                         "<ol start=\"3\">\n<li value=\"3\"><p>a</p>\n</li>\n<li value=\"7\"><p>b</p>\n</li>\n</ol>\n",
		"- [x] a\n- [ ] b":                   "<ul>\n<li><input type=\"checkbox\" checked disabled><p>a</p>\n</li>\n<li><input type=\"checkbox\" disabled><p>b</p>\n</li>\n</ul>\n",
		"[a](https://b.example/é&)":          "<p><a href=\"https://b.example/é&amp;\">a</a></p>\n",
		"![](/a) ![b](/c)":                   "<p><img src=\"/a\"> <img src=\"/c\" alt=\"b\"></p>\n",
		"> a\\\n> b<br>c":                    "<blockquote>\n<p>a<br>\nb<br>c</p>\n</blockquote>\n",
		"```go\na\n```":                      "<pre><code class=\"language-go\">a\n</code></pre>\n",
		"| a |\n| - |\n| b |":                "<table>\n<thead><tr><th>a</th></tr></thead>\n<tr><td>b</td></tr>\n</table>\n",
		"a[^b]\n\n[^b]: c":                   "<p>a<sup><a href=\"#note-b\" role=\"doc-noteref\">b</a></sup></p>\n<ol><li id=\"note-b\">\n<p>c</p>\n</li></ol>\n",
		"a[^b]\n\n[^b]: c\n\nd":              "<p>a<sup><a href=\"#note-b\" role=\"doc-noteref\">b</a></sup></p>\n<ol><li id=\"note-b\">\n<p>c</p>\n</li></ol>\n<p>d</p>\n",
		"a[^b]\n\n[^b]: c\n\n# d\n\n[^e]: f": "<p>a<sup><a href=\"#note-b\" role=\"doc-noteref\">b</a></sup></p>\n<ol><li id=\"note-b\">\n<p>c</p>\n</li></ol>\n<h1>d</h1>\n<ol><li id=\"note-e\">\n<p>f</p>\n</li></ol>\n",
		"$a$ https://b.example":              "<p><script type=\"math/tex\">a</script> https://b.example</p>\n",
		"$$\na\n$$\n\n---":                   "<p><script type=\"math/tex; mode=display\">a\n</script></p>\n<hr>\n",
	} {
		page := Page(markdown, Reading{Math: true})
		_, body, _ := strings.Cut(page, "<body>\n")
		if body, _, _ = strings.Cut(body, "</body>"); body != want {
			t.Errorf("%q\ngot:\n%s\nwant:\n%s", markdown, body, want)
		}
	}
}

func TestOutlineTellsMeaningsApartAndNotSpellings(t *testing.T) {
	same := [][2]string{
		{"- a\n- b", "* a\n\n* b"}, {"a\\*b", "a*b"}, {"***a***", "<em><strong>a</strong></em>"},
		{"**a**<strong>b</strong>", "**ab**"}, {"<https://a.example>", "https://a.example"}, {"a\\\nb", "a<br>b"},
	}
	for _, pair := range same {
		if a, b := Outline(pair[0], Reading{}), Outline(pair[1], Reading{}); a != b {
			t.Errorf("%q and %q:\n%s%s", pair[0], pair[1], a, b)
		}
	}
	other := [][2]string{
		{"- a\n\nb", "- a\nb"}, {"a\n\nb", "a b"}, {"*a*", "**a**"}, {"*a*b", "*ab*"}, {"[a](/b)", "[a](/c)"}, {"`a`", "a"},
		{"![a](/b)", "![a](/c)"}, {"# a", "## a"}, {"1. a", "2. a"}, {"1. a\n2. b", "1. a\n3. b"}, {"- [x] a", "- [ ] a"},
		{"```a\nb\n```", "```c\nb\n```"}, {"a\\\nb", "a\nb"}, {"a[^b]\n\n[^b]: c", "a\\[^b]\n\n[^b]: c"}, {"$a$", "\\$a$"}, {"> a", "> > a"},
	}
	for _, pair := range other {
		if Outline(pair[0], Reading{Math: true}) == Outline(pair[1], Reading{Math: true}) {
			t.Errorf("%q and %q have one outline", pair[0], pair[1])
		}
	}
}
