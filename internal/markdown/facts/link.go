// Links: what they show and what they are called.

package facts

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// LinkContent looks into a link: whether it holds words, and whether a heading with words is among them.
func LinkContent(n *html.Node) (words, heading bool) {
	const look = 200 // nodes; a card has fewer
	within := (*html.Node)(nil)
	m := Following(n, n)
	for i := 0; m != nil && i < look; i++ {
		switch {
		case m.Type == html.TextNode:
			if !Empty(m.Data) {
				words = true
				for p := m.Parent; p != nil && p != n; p = p.Parent {
					if p == within {
						return true, true
					}
				}
			}
		case HeadingLevel(m) > 0:
			within = m
		case m.DataAtom == atom.Script || m.DataAtom == atom.Style || m.DataAtom == atom.Template || m.DataAtom == atom.Svg:
			m = Skipping(n, m)
			continue
		}
		m = Following(n, m)
	}
	return words, false
}

// IconName is the accessible name of a link that shows only a drawing.
func IconName(n *html.Node, t *Traits) string {
	if t.Label != "" {
		return t.Label
	}
	if title, _ := Attribute(n, "title"); title != "" {
		return title
	}
	if svg := Find(n, atom.Svg, 8); svg != nil {
		if title := Find(svg, atom.Title, 8); title != nil {
			return ShortText(title)
		}
		label, _ := Attribute(svg, "aria-label")
		return label
	}
	return ""
}
