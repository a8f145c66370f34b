// TM-010: pages made to explode. Twice the page costs at most two and a half times the time, and memory and output
// stay in proportion.

package markdown

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

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

func convertTimed(t *testing.T, page string) (time.Duration, int, uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := cpuTime()
	text := convert(t, page)
	took := cpuTime() - start
	runtime.ReadMemStats(&after)
	return took, len(text), after.TotalAlloc - before.TotalAlloc
}

func TestDevHostile(t *testing.T) {
	const size = 1 << 19
	for _, s := range shapes {
		a, la, ma := convertTimed(t, s.page(size))
		b, lb, mb := convertTimed(t, s.page(2*size))
		flag := ""
		if b > 150*time.Millisecond || float64(mb)/2/size > 60 || float64(lb) > 20*size {
			flag = "  <<<<<"
		}
		if b > 100*time.Millisecond && float64(b) > 2.5*float64(a) {
			flag += " QUADRATIC?"
		}
		fmt.Printf("%-40s %8s %8s out %5.1f/B mem %6.1f/B%s\n", s.name, a.Round(time.Millisecond), b.Round(time.Millisecond), float64(lb)/2/size, float64(mb)/2/size, flag)
		_ = la
		_ = ma
	}
}

var _ = context.Background
var _ = htmltree.Parse
