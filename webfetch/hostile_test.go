package webfetch

// Pages that are made to cost: through the whole pipeline, over a real socket, within time and memory.

import (
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/costtest"
	"github.com/wayleave/wayleave/internal/testsite"
)

// hostilePages are shapes that make parsers and converters explode, of about size bytes each.
func hostilePages(size int) map[string]string {
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	nest := func(open, close string) string {
		n := size / (len(open) + len(close))
		return strings.Repeat(open, n) + "text" + strings.Repeat(close, n)
	}
	deep := func(depth int, open, close string) string {
		return strings.Repeat(open, depth) + "text" + strings.Repeat(close, depth)
	}
	return map[string]string{
		"5,000 divs deep":            deep(5000, "<div>", "</div>"),
		"5,000 lists deep":           deep(5000, "<ul><li>", "</ul>"),
		"5,000 quotes deep":          deep(5000, "<blockquote>", "</blockquote>"),
		"5,000 tables deep":          deep(5000, "<table><tr><td>", "</table>"),
		"divs as deep as it goes":    nest("<div>", "</div>"),
		"spans as deep as it goes":   nest("<span>", "</span>"),
		"bold that is never closed":  fill("<b>"),
		"bold in paragraphs":         fill("<b><p>x"),
		"anchors that never close":   fill("<a href=x><p>"),
		"formatting crossed":         fill("<b><i><u></b></i>"),
		"fonts with new attributes":  fill("<font color=1><font size=2>"),
		"paragraphs only opened":     fill("<p>"),
		"end tags of nothing":        fill("</p></b></table>"),
		"tables only opened":         fill("<table>"),
		"text put before tables":     fill("<table>x"),
		"cells with large spans":     "<table>" + fill("<tr><td colspan=1000 rowspan=65534>x"),
		"one enormous span":          "<table><tr><td colspan=999999999 rowspan=999999999>x</table>",
		"selects in selects":         fill("<select><option>"),
		"forms in forms":             fill("<form><input>"),
		"templates in templates":     fill("<template>"),
		"scripts half closed":        fill("<script></scrip"),
		"comments half closed":       fill("<!--->-"),
		"a comment without an end":   "<!--" + fill("x"),
		"a title without an end":     "<title>" + fill("x"),
		"a text area without an end": "<textarea>" + fill("x"),
		"a tag without an end":       "<p " + fill("a=1 "),
		"an enormous attribute":      "<p title=\"" + fill("x") + "\">text</p>",
		"an enormous address":        "<a href=\"http://h.test/" + fill("x") + "\">text</a>",
		"an enormous tag name":       "<" + fill("x") + ">text",
		"as many attributes as fit":  "<p " + fill("a1=b c2 ") + ">text</p>",
		"references":                 fill("&amp;&#x41;&notit;&"),
		"references without an end":  fill("&aaaaaaaaaaaa"),
		"headings":                   fill("<h1>x"),
		"maths in svg in maths":      fill("<svg><math><mi><svg>"),
		"foreign content, crossed":   fill("<svg><p><math><b>"),
		"one line of text":           fill("x"),
		"blanks":                     fill(" \n"),
		"characters of Markdown":     fill("*_`[]()<>#+-!|~\\"),
		"backticks":                  "<code>" + fill("`") + "</code>",
		"code with fences":           "<pre>" + fill("```\n") + "</pre>",
		"links":                      fill("<a href=/x>y</a>"),
		"images":                     fill("<img src=x alt=y>"),
		"rules":                      fill("<hr>"),
		"definition lists":           fill("<dl><dt>x<dd>"),
		"ruby":                       fill("<ruby>x<rt>"),
		"details":                    fill("<details><summary>x"),
	}
}

func TestTM010HostilePagesStayInProportion(t *testing.T) {
	const size = 300_000
	for name, page := range hostilePages(size) {
		t.Run(name, func(t *testing.T) {
			testsite.LeavesNothing(t)
			var got *Page
			var err error
			var grown int64
			costtest.Within(t, name, soon, func() {
				grown = testsite.HeapGrowth(func() {
					got, err = answered(t, Options{}, Request{}, testsite.Answer{Fields: []string{"Content-Type: text/html; charset=utf-8"}, Body: page})
				})
			})
			t.Logf("the heap grew by %.1f MB", float64(grown)/(1<<20))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Content) > 20*size {
				t.Errorf("%d bytes of text came of %d", len(got.Content), len(page))
			}
			if grown > 200<<20 {
				t.Errorf("the heap grew by %d bytes", grown)
			}
		})
	}
}

func TestTM010HostilePagesEndAtTheDeadline(t *testing.T) {
	for name, page := range hostilePages(DefaultMaxBodyBytes - 100_000) {
		t.Run(name, func(t *testing.T) {
			testsite.LeavesNothing(t)
			costtest.Within(t, name, soon/2, func() { // an unstoppable conversion costs more
				_, err := answered(t, Options{Timeout: new(100 * time.Millisecond)}, Request{}, testsite.Answer{Fields: []string{"Content-Type: text/html; charset=utf-8"}, Body: page})
				if err != nil {
					wantCode(t, err, CodeTimeout)
				}
			})
		})
	}
}
