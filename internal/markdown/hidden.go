// What a page does not show: hidden elements, and the pages that hide all of themselves until a script runs.

package markdown

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// hides says that the page does not show n. Its root elements are always read.
func (r *renderer) hides(n *html.Node, t *facts.Traits) bool {
	if !t.Hidden && t.Styles&(facts.DisplayNone|facts.Invisible) == 0 {
		return false
	}
	if n.DataAtom == atom.Body || n.DataAtom == atom.Html || slices.Contains(r.revealed, n) {
		return false
	}
	if len(r.concealed) < maxConcealed && r.revealed == nil {
		r.concealed = append(r.concealed, n)
	}
	if !t.Hidden && t.Styles&facts.DisplayNone == 0 {
		r.visibleWithin(n)
	}
	return true
}

// visibleWithin writes what says of itself that it is visible in an element that is not.
func (r *renderer) visibleWithin(n *html.Node) {
	for m := facts.Following(n, n); m != nil && r.err == nil; {
		if style, ok := facts.Attribute(m, "style"); ok {
			switch s := facts.StylesOf(style); {
			case s&facts.DisplayNone != 0:
				m = facts.Skipping(n, m)
				continue
			case s&facts.Visible != 0:
				r.node(m)
				m = facts.Skipping(n, m)
				continue
			}
		}
		m = facts.Following(n, m)
	}
}

// maxConcealed bounds how many hidden parts are remembered for reveal.
const maxConcealed = 64

// reveal decides, after a page has been written, whether what it hides is the page itself: when nothing else is
// there, or next to nothing beside a part with a heading. Those parts are then shown.
func (r *renderer) reveal() bool {
	const trace = 48 // bytes: "Loading…"
	if len(r.concealed) == 0 || r.w.Len() > trace {
		return false
	}
	for _, n := range r.concealed {
		if words, heading := facts.ContentOf(n); r.w.Len() == 0 && words > 0 || heading && words >= 4*r.w.Len() {
			r.revealed = append(r.revealed, n)
		}
	}
	return len(r.revealed) > 0
}
