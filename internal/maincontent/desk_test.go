package maincontent

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// pagesOfDesks are of several sizes and shapes, so that what one leaves behind is another size than what the next takes.
func pagesOfDesks() []string {
	var long, list strings.Builder
	long.WriteString("<nav><a href=/a>One</a><a href=/b>Two</a></nav><article><h1>Of mills</h1>")
	for i := range 300 {
		fmt.Fprintf(&long, "<p class=c%d>Paragraph %d says that the old mill at the mouth of the <a href=/m>river</a> was rebuilt last winter, and that its wheel turns.</p>", i%7, i)
	}
	long.WriteString("</article><footer>Imprint</footer>")
	for i := range 200 {
		fmt.Fprintf(&list, `<div class="card"><a href="/p/%d"><img src="/i/%d.jpg"><h3>Chisel %d</h3></a><span class=price>€ %d</span></div>`, i, i, i, i)
	}
	return []string{"<p>One", long.String(), "<table><tr><th>a<td>1<tr><th>b<td>2</table>", list.String(), "", "<p>One<p>Two<p>Three"}
}

func TestAPageAtAUsedDeskIsJudgedAsAtANewOne(t *testing.T) {
	d := new(desk)
	for range 3 {
		for i, page := range pagesOfDesks() {
			root := parse(t, page)
			want := judged(root, new(desk))
			if got := judged(root, d); !reflect.DeepEqual(got, want) {
				t.Errorf("page %d: %v, want %v", i, got, want)
			}
			d.empty()
		}
	}
}

func judged(root *html.Node, d *desk) []float32 {
	f := newFinder(root, d)
	scores := f.scores()
	var out []float32
	for i, k := range f.decide(scores) {
		out = append(out, scores[i], f.page.kinds[i%countKinds])
		if k {
			out = append(out, 1)
		}
	}
	return out
}

func TestADeskThatIsLeftHoldsNothingOfItsPageAndStaysSmall(t *testing.T) {
	d := new(desk)
	pages := append(pagesOfDesks(), strings.Repeat("<p>the same", 3*keptThings), strings.Repeat("<b>", 300)+"x")
	var other strings.Builder
	for i := range 3 * keptKeys {
		fmt.Fprintf(&other, "<div class=c%d><p>%d</p></div>", i, i)
	}
	for i, page := range append(pages, other.String()) {
		judged(parse(t, page), d)
		d.empty()
		for _, e := range d.elements[:cap(d.elements)] {
			if e.node != nil {
				t.Fatalf("page %d: an element was left behind: %+v", i, e)
			}
		}
		for _, n := range d.leaves[:cap(d.leaves)] {
			if n != nil {
				t.Fatalf("page %d: a leaf was left behind", i)
			}
		}
		if most := max(cap(d.elements), cap(d.blocks), cap(d.leaves), cap(d.groups), cap(d.standings)); most > keptThings {
			t.Errorf("page %d: room for %d things is kept", i, most)
		}
		if most := max(len(d.ints.all), len(d.floats.all), len(d.doubles.all), len(d.texts.all), len(d.shares.all), len(d.flags.all)); most > keptNumbers {
			t.Errorf("page %d: room for %d numbers is kept", i, most)
		}
		if len(d.sorts)+len(d.hashes)+len(d.seen)+len(d.runs)+len(d.means) != 0 {
			t.Errorf("page %d: keys are kept", i)
		}
	}
}
