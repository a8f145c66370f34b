// TM-010: pages made to explode. Twice the page costs at most two and a half times the time, and memory and output
// stay in proportion.

package markdown

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/costtest"
	"github.com/wayleave/wayleave/internal/htmltree"
)

// shape is a hostile page of about n bytes.
type shape struct {
	name string
	page func(n int) string
}

func repeated(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)+1) }
}

func numbered(format string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
}

func between(open, middle, shut string) func(int) string {
	return func(n int) string {
		times := n / (len(open) + len(shut) + 1)
		return strings.Repeat(open, times) + middle + strings.Repeat(shut, times)
	}
}

func wrapped(open string, middle func(int) string, shut string) func(int) string {
	return func(n int) string { return open + middle(n) + shut }
}

var shapes = []shape{
	{"deep div", between("<div>", "x", "</div>")},
	{"deep quotes", between("<blockquote>", "x", "</blockquote>")},
	{"deep lists", repeated("<ul><li>x")},
	{"deep tables", repeated("<table><tr><td>x")},
	{"deep spans", between("<span>", "x", "</span>")},
	{"deep sup", between("<sup>", "x", "</sup>")},
	{"deep code", between("<code>", "x", "</code>")},
	{"deep pre", between("<pre>", "x", "</pre>")},
	{"deep svg", between("<svg>", "x", "</svg>")},
	{"deep math", between("<math><mi>", "x", "</mi></math>")},
	{"deep templates", repeated("<template>")},
	{"deep select", repeated("<select><option>x<optgroup>")},
	{"deep sections and end tags of others", func(n int) string { return strings.Repeat("<section>", n/18) + strings.Repeat("</article>", n/20) }},
	{"unclosed b", repeated("<b>x")},
	{"unclosed b in paragraphs", repeated("<p><b>x")},
	{"unclosed fonts", numbered("<p><font size=%d>x")},
	{"unclosed links", repeated("<a href=x>y")},
	{"unclosed links around blocks", repeated("<a href=x><div>y")},
	{"crossed tags", repeated("<b><p>x</b>y</p>")},
	{"crossed blocks", repeated("<b><div><i><section></b>x</i>")},
	{"nobr", repeated("<nobr><div>x")},
	{"addresses without end", repeated("https://")},
	{"addresses with signs without end", repeated("https://a|")},
	{"addresses with marks without end", repeated("https://a*_b")},
	{"foster parents", wrapped("<table>", repeated("x<tr>"), "")},
	{"foster parents with tags", wrapped("<table>", repeated("<b>x<tr>"), "")},
	{"cells that are not closed", repeated("<td>x")},
	{"table starts", repeated("<table>")},
	{"end tags", repeated("</p>")},
	{"end tags of nothing", repeated("</x>")},
	{"break end tags", repeated("</br>")},
	{"attributes", wrapped("<p ", numbered("a%d=b "), ">x")},
	{"same attribute", wrapped("<p ", repeated("a=b "), ">x")},
	{"many attributes on many", repeated("<p a b c d e f g h i j k l m n o p q r s t u v w x y z>")},
	{"huge attribute", wrapped(`<p title="`, repeated("x"), `">x`)},
	{"huge class", wrapped(`<p class="`, repeated("copy "), `">x`)},
	{"huge style", wrapped(`<p style="`, repeated("display:none;display:block;"), `">x`)},
	{"huge address", wrapped(`<a href="/`, repeated("../(("), `">x</a>`)},
	{"open quote", repeated(`<a b="`)},
	{"open tags", repeated("<a ")},
	{"comments", repeated("<!--x")},
	{"dashes", wrapped("<!--", repeated("--!"), "")},
	{"scripts", repeated("<script><!--<script>")},
	{"titles", repeated("<title>")},
	{"entities", repeated("&amp;&lt;&notin;&#65;")},
	{"open entities", wrapped("&", repeated("a"), "")},
	{"entity names", repeated("&CounterClockwiseContourIntegral")},
	{"numbers", wrapped("&#", repeated("1"), ";")},
	{"stars", repeated("*")},
	{"stars apart", repeated(" * *a")},
	{"underscores", repeated("_a_._")},
	{"backticks", repeated("`x` ``")},
	{"backslashes", repeated(`\`)},
	{"brackets", repeated("[](!")},
	{"addresses", repeated("http://a.b/_*")},
	{"www", repeated("www.a_*")},
	{"dashes at line starts", repeated("<br>- - -")},
	{"line breaks", repeated("<br>x")},
	{"emphasis", repeated("<b>x</b>")},
	{"emphasis side by side", repeated("<b>a</b><i>b</i>")},
	{"emphasis and punctuation", repeated("a<b>.b.</b>c")},
	{"emphasis on blanks", repeated("<b> </b>")},
	{"code side by side", repeated("<code>a</code>")},
	{"code of backticks", repeated("<code>`</code>")},
	{"long code of backticks", wrapped("<code>", repeated("` "), "</code>")},
	{"pre lines", wrapped("<pre>", repeated("<div>x</div>"), "</pre>")},
	{"links", repeated("<a href=/x>y</a>")},
	{"links on blocks", repeated("<a href=/x><p>y</p><h2>z</h2></a>")},
	{"images", repeated("<img src=/x alt=y>")},
	{"images in noscript", repeated("<img class=lazy src=/x alt=y><noscript><img src=/z alt=y></noscript>")},
	{"list items", wrapped("<ol>", repeated("<li>x"), "</ol>")},
	{"list children", wrapped("<ul>", repeated("<ul><li>x</li></ul>"), "</ul>")},
	{"many short lists", repeated("<ul><li>x</ul>")},
	{"definitions", wrapped("<dl>", repeated("<dt>x<dd>y"), "</dl>")},
	{"wide row", wrapped("<table><tr>", repeated("<td>x"), "</table>")},
	{"wide row and many rows", func(n int) string {
		return "<table><tr>" + strings.Repeat("<td>x", n/10) + strings.Repeat("<tr><td>y", n/18) + "</table>"
	}},
	{"spans", wrapped("<table>", repeated("<tr><td colspan=1000 rowspan=1000>x<td>y"), "</table>")},
	{"wide spans", wrapped("<table><tr>", func(n int) string {
		return strings.Repeat("<td rowspan=60000>x", n/38) + strings.Repeat("<tr><td>y", n/18)
	}, "</table>")},
	{"table in table", repeated("<table><tr><th>x<td><table><tr><td>y</table></table>")},
	{"options", wrapped("<select>", repeated("<option>x"), "</select>")},
	{"footnotes", numbered(`<sup><a href="#n%[1]d">%[1]d</a></sup><p id="n%[1]d">x</p>`)},
	{"footnotes of one label", numbered(`<sup><a href="#n%[1]d">1</a></sup><p id="n%[1]d">x</p>`)},
	{"notes far below", func(n int) string {
		return strings.Repeat("<div>", 400) + numbered(`<sup><a href="#n%[1]d">1</a></sup><p id="n%[1]d">x</p>`)(n)
	}},
	{"hidden", repeated("<div hidden><h1>x</h1></div>")},
	{"hidden in hidden", between("<div style=visibility:hidden>", "x", "</div>")},
	{"shadow trees", repeated("<x-a><template shadowrootmode=open><slot></slot></template>y</x-a>")},
	{"slots", wrapped("<x-a><template shadowrootmode=open>", numbered("<slot name=s%d></slot>"), "</template><p slot=s1>y</p></x-a>")},
	{"shadow trees in one another", between("<x-a><template shadowrootmode=open><slot></slot></template>", "x", "</x-a>")},
	{"frames", wrapped(`<iframe srcdoc="`, repeated("&lt;b&gt;x"), `"></iframe>`)},
	{"MathML", wrapped("<math>", repeated("<mfrac><mi>a</mi>"), "</math>")},
	{"katex", repeated(`<span class="katex"><math><mi>x</mi></math></span><span class="katex-html" aria-hidden="true">x</span>`)},
	{"drawn formulas in one another", between(`<span class="MathJax">`, "x", "</span>")},
	{"textarea", wrapped("<textarea>", repeated("x\n"), "</textarea>")},
	{"plaintext", wrapped("<plaintext>", repeated("<b>"), "")},
	{"NUL", repeated("\x00<\x00")},
	{"permalinks", repeated(`<h2>x<a class="anchor" href="#y">#</a></h2>`)},
	{"rubies", repeated("<ruby>x<rt>y")},
	{"quotations", between("<q>", "x", "</q>")},
}

// cost is what one conversion takes: the least CPU time of some runs, and the bytes allocated and written. The
// collector rests meanwhile: what it does when is nobody's proportion.
func cost(t *testing.T, page string) (cpu time.Duration, allocated uint64, written int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const runs = 3
	cpu = time.Hour
	for range runs {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := costtest.Thread()
		written = len(convert(t, page))
		cpu = min(cpu, costtest.Thread()-start)
		runtime.ReadMemStats(&after)
		allocated = after.TotalAlloc - before.TotalAlloc
	}
	return cpu, allocated, written
}

func TestTM010HostileShapesCostInProportion(t *testing.T) {
	const (
		perByte   = 120                   // bytes allocated; a node is 104 and may stand for three bytes
		output    = 8                     // bytes written for each of the page
		spread    = 2.5                   // times the time for twice the page
		countable = 60 * time.Millisecond // below it caches and page faults make the ratio; what grows by the square is far above
		tries     = 5                     // other work on the machine makes a single ratio mean little
	)
	size := 128 << 10
	if raceDetector {
		size /= 8
	}
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for try := 1; ; try++ {
				once, _, _ := cost(t, s.page(size))
				twice, allocated, written := cost(t, s.page(2*size))
				if allocated > uint64(2*size*perByte+1<<20) {
					t.Errorf("%d bytes allocated for each", allocated/2/uint64(size))
				}
				if written > 2*size*output {
					t.Errorf("%d bytes written for each", written/2/size)
				}
				if twice <= countable || float64(twice) <= spread*float64(once) {
					return
				}
				if try == tries {
					t.Fatalf("%v for %d bytes, %v for twice as many", once, size, twice)
				}
			}
		})
	}
}

// TestTM010TreesOfOthersMayBeDeep: a tree need not come from our parser.
func TestTM010TreesOfOthersMayBeDeep(t *testing.T) {
	for _, name := range []atom.Atom{atom.Div, atom.B, atom.Blockquote, atom.Ul, atom.Sup, atom.Pre, atom.Table, atom.Select, atom.Math} {
		root := &html.Node{Type: html.DocumentNode}
		deepest := root
		for range 100_000 {
			n := &html.Node{Type: html.ElementNode, DataAtom: name, Data: name.String()}
			if name == atom.Math {
				n.Namespace = "math"
			}
			deepest.AppendChild(n)
			deepest = n
		}
		deepest.AppendChild(&html.Node{Type: html.TextNode, Data: "bottom"})
		text, err := Render(t.Context(), root, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if name != atom.Select && name != atom.Math && !strings.Contains(text, "bottom") {
			t.Errorf("%s: the text at the bottom is lost in %q", name, shorten(text))
		}
		if len(text) > 100_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

// countdown is a context that is done after it has been asked so many times.
type countdown struct {
	context.Context
	left, asked int
}

func (c *countdown) Err() error {
	c.asked++
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestTM010CancellingStopsTheWalk(t *testing.T) {
	for name, page := range map[string]string{
		"nodes": strings.Repeat("<p>x", 50_000),
		"code":  "<pre>" + strings.Repeat("<b>x</b>", 50_000) + "</pre>",
		"rows":  "<table>" + strings.Repeat("<tr><td>x<td>y", 20_000) + "</table>",
		"marks": strings.Repeat("*a", 50_000),
	} {
		root, err := htmltree.Parse(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		whole := &countdown{Context: t.Context(), left: 1 << 30}
		if _, err := Render(whole, root, Options{}); err != nil {
			t.Fatal(err)
		}
		if whole.asked < 200 {
			t.Errorf("%s: asked %d times", name, whole.asked)
		}
		for _, left := range []int{0, 1, whole.asked / 2, whole.asked - 1} {
			ctx := &countdown{Context: t.Context(), left: left}
			text, err := Render(ctx, root, Options{})
			if !errors.Is(err, context.Canceled) || text != "" {
				t.Errorf("%s: done after %d questions: %d bytes, %v", name, left, len(text), err)
			}
			if ctx.asked > left+2 {
				t.Errorf("%s: asked %d times, and was done after %d", name, ctx.asked, left)
			}
		}
	}
}
