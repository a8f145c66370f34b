// Stability: Markdown that is read and converted again is the Markdown that it was.

package markdown

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/structurecheck"
)

// stable checks that the Markdown of a page says what we meant by it. It is read by a Markdown parser, written as HTML
// and converted again. What a reader sees, the outline, must be the same: text, blocks, the marks and links on each
// word. So must the Markdown, but for what is named below, and after a few turns more it is the same to the byte. A sign
// that a parser takes otherwise than it was meant, an escape too few, a block that runs into the next, all come out as
// a difference.
//
// What is in a page and cannot be in its Markdown does not come back:
//   - where one text ends and the next begins. A sign that may go on with what comes next is escaped, an address with
//     such signs put in angle brackets or kept from being one, and a mark beside it may have to be a tag;
//   - which of two marks on the same words is the outer one, and so which of them goes on;
//   - that a list holds the definitions of the term above it: it comes back as a list below a paragraph, a blank line
//     apart;
//   - whether $5 and $6 is money or a formula, in a page without formulas, where dollars are not escaped. One of both
//     readings has to be stable: that of a parser that knows formulas, where the page has some.
//
// For the first two the Markdown is compared without escapes and marks, for the third without blank lines.
func stable(t *testing.T, page string) {
	t.Helper()
	first := convert(t, page)
	why := ""
	for _, r := range []structurecheck.Reading{{}, {Math: true}} {
		if r.Math && !strings.Contains(first, "$") {
			break
		}
		found := unstable(t, page, first, r)
		if found == "" {
			return
		}
		why += found
	}
	t.Errorf("page:\n%s\n%q\nfirst:\n%s\n%s", page, page, first, why)
}

func unstable(t *testing.T, page, first string, r structurecheck.Reading) string {
	t.Helper()
	last, outline := first, structurecheck.Outline(first, r)
	const turns = 3
	for range turns {
		next := convert(t, structurecheck.Page(last, r))
		if next == last {
			return ""
		}
		if again := structurecheck.Outline(next, r); again != outline {
			return "then:\n" + next + "\noutline:\n" + outline + "then:\n" + again
		}
		a, b := bare(last), bare(next)
		if definitions.MatchString(page) {
			a, b = strings.ReplaceAll(a, "\n\n", "\n"), strings.ReplaceAll(b, "\n\n", "\n")
		}
		if a != b {
			return "then:\n" + next
		}
		last = next
	}
	return "and on without end:\n" + last
}

var (
	escapes     = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	marks       = regexp.MustCompile(`</?(?:em|strong|del)>|[*~]`)
	brackets    = regexp.MustCompile(`(?i)<(https?://[^\s<>]*)>`)
	definitions = regexp.MustCompile(`(?i)<d[td]`)
)

// bare is Markdown without escapes and marks.
func bare(markdown string) string {
	return marks.ReplaceAllString(brackets.ReplaceAllString(escapes.ReplaceAllString(markdown, "$1"), "$1"), "")
}

func TestStructureCasesAreStable(t *testing.T) {
	for _, c := range structureCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			if len(c.HTML) < 200_000 {
				stable(t, c.HTML)
			}
		})
	}
}

func TestRandomPagesAreStable(t *testing.T) {
	pages := uint64(1500)
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		pages = 300_000
	}
	for seed := range pages {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 13))}
		for range 1 + a.IntN(3) {
			a.block(2)
		}
		if stable(t, a.page.String()); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzStability(f *testing.F) {
	for _, c := range structureCases(f) {
		if len(c.HTML) < 4000 {
			f.Add(c.HTML)
		}
	}
	for seed := range uint64(20) {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 17))}
		a.block(2)
		f.Add(a.page.String())
	}
	f.Fuzz(func(t *testing.T, page string) {
		if len(page) <= 4000 {
			stable(t, strings.ToValidUTF8(page, "\uFFFD")) // as charset hands pages on
		}
	})
}

// What once came back as something else, each with the Markdown that it is.
func TestWhatDidNotComeBackDoesNow(t *testing.T) {
	for page, want := range map[string]string{
		// Lists: what ends, goes on or begins one.
		`<ul><li>a<ul><li>b</ul></ul>`:                                 "- a\n  - b",
		`<ul><li>a</li><ul><li>b</li></ul><li>c</ul>`:                  "- a\n  - b\n- c",
		`<ul><li>a</li><li></li>b</ul>`:                                "- a\n\nb",
		`<ul><li>a</li>b<li></li><li>c</ul>`:                           "- a\n\nb\n\n- c",
		`<dl><dt>a<dd></dd>b<dd>c</dl>`:                                "a\n\nb\n\n- c",
		`<ul><li>a</li>b</ul><li>c`:                                    "- a\n\nb\n\n- c",
		`<ul>a<ul><li>b</ul><li>c</ul>`:                                "a\n\n- b\n- c",
		`<ul><li>a</ul><ul><li>b</li>c<li>d</ul>`:                      "- a\n\n* b\n\nc\n\n- d",
		`<ul><li>a<ul><li>b</li>c<li>d</ul></ul>`:                      "- a\n  - b\n\n  c\n  - d",
		`<ul><li>a<table><li>b</table></ul>`:                           "- a\n  - b",
		`<ul><li>a<ul>b<ul><li>c</ul></ul></ul>`:                       "- a\n\n  b\n  - c",
		`<ol><li>a<li value=-5>b<li value=9>c</ol>`:                    "1. a\n\n- -5\\. b\n\n9. c",
		`<ol reversed><li>a<li>b</ol><ul><li>c</ul>`:                   "- 2\\. a\n- 1\\. b\n\n* c",
		`<ul><li>a</ul><ol reversed><li>b</ol>`:                        "- a\n\n* 1\\. b",
		`<ul><li><table><tr><td><br><tr><td><br></table>a</ul>`:        "- a",
		`<table><tr><th>a<tr><td></table>`:                             "a",
		`<table role=grid><tr><td>a</table>`:                           "a",
		`<table><caption>a</caption><tr><th>b<th><tr><td><td></table>`: "a\n\nb",
		`<p>a</p><table><tr><td><br><td><tr><td><td></table><p>b</p>`:  "a\n\nb",

		"<table><tr><th>a<tr><td><pre>b  c\n\td</pre></table>": "| a |\n| --- |\n| `b  c`<br>`d` |",
		`<p><code style="white-space:pre"> a  b </code>c`:      "`a  b` c",

		// Addresses that are their own text, and those that lead elsewhere than they say.
		`<p><a href="https://a.example/_b_*c*">https://a.example/_b_*c*</a>`:         "<https://a.example/_b_*c*>",
		`<p><a href="https://a.example/?b&amp;copy;">https://a.example/?b&amp;copy;`: "[https://a.example/?b\\&copy;](https://a.example/?b\\&copy;)",
		`<p><a href="https://a.example/c"><b>https</b>://a.example/c</a>`:            "[**https**://a.example/c](https://a.example/c)",
		"<p><a href=\"https://a.example/`c`\">https://a.example/<code>c</code>":      "[https://a.example/`c`](https://a.example/%60c%60)",
		`<p>https://a.example/_b_\c`:                                                 `https\://a.example/\_b\_\c`,
		`<p>https://a.example/./_b_ httPS://a.example/_b_ https:///a.example/_b_`:    `https\://a.example/./\_b\_ httPS\://a.example/\_b\_ https\:///a.example/\_b\_`,
		`<base href="https://"><p><a href="b">a</a>`:                                 "[a](https://docs.example/guide/b)",

		// Marks.
		`<table><tr><td>a<td>x<b>: <br><i>b</i></b><tr><td>c<td>d</table>`: "| | |\n| --- | --- |\n| a | x<strong>:<br>*b*</strong> |\n| c | d |",
		`<p><strong><i>a</i></strong><i><code>b</code></i>`:                "***a**`b`*",

		`<p><b>c</b><i><code>a</code> words</i><b><i>。**(</i></b></p>`: "**c**<em>`a` words。**\\*\\*(**</em>",

		// Signs that what is not seen keeps apart.
		"<p>&lt;\u00adb> &amp;\u200bamp; &amp;am\u00adp;": `\<b> \&amp; \&amp;`,
		"<ul><li>[\u00adx] a</ul>":                        `- \[x] a`,

		"<p>&lt;1@b.example> &lt;.a+b@c> 1 &lt;2 &lt;3": `\<1@b.example> \<.a+b@c> 1 <2 <3`,

		// Marks in characters, which are for what stands in a line.
		`<p>a<sup>1b</p><p>c</p><p>2`:             "a^1b\n\nc\n\n2",
		`<sup>1: b<p>c</p>2`:                      "1: b\n\nc\n\n2",
		`<p>x<sub>1 b<ul><li>c</li></ul>2</sub>d`: "x_(1 b)\n\n- c\n\n2d",
		`<ruby>a<rt><p>b</p>2</ruby>`:             "a\n\nb\n\n2",

		"<p>&lt;24<tt>v@td></tt>, &lt;3<i>b</i>@td>":      "\\<24`v@td>`, \\<3*b*@td>",
		"<p>&lt;^<b></b>@e> &lt;#<i></i>\u00ada<i></i>@e": `\<^@e> \<#a@e`,

		// Notes: both ends of one, or none.
		`<p>a<sup><a href="#n">1</a></sup><p hidden id="n">b`:                                             "a^1",
		`<p hidden>a<sup><a href="#n">1</a></sup></p><p id="n">b`:                                         "b",
		`<p>a<code><sup><a href="#n">1</a></sup></code><p id="n">b`:                                       "a`1`\n\nb",
		`<p>a<a role="doc-noteref" href="#n">b is what a reader may find at the end</a><p id="n">c`:       "ab is what a reader may find at the end\n\nc",
		`<p>a<sup><a href="#n">1</a></sup></p><p id="n"><sup><a href="#n">1</a></sup></p><p hidden>b</p>`: "a[^1]\n\n[^1]: [^1]",
	} {
		if got := convert(t, page); got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", page, got, want)
		}
		stable(t, page)
	}
}
