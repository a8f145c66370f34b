// SVG and MathML in the page: text drawn in an SVG is text, its paths are nothing.

package markdown

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// foreign writes an element of another vocabulary than HTML's.
func (r *renderer) foreign(n *html.Node, t *facts.Traits) {
	switch {
	case n.Namespace == "math":
		if n.DataAtom == atom.Math {
			r.mathML(n, r.display)
		}
		return
	case n.Namespace != "svg":
		r.children(n)
		return
	}
	switch n.Data {
	case "style", "script", "title", "desc", "defs", "metadata", "path", "symbol", "clipPath", "mask", "pattern", "filter":
	case "text", "foreignObject":
		r.apart(n)
	case "tspan":
		if moves(n) {
			r.w.Space()
		}
		r.children(n)
	case "a":
		r.drawnLink(n)
	default:
		r.svgChildren(n)
	}
}

// svgChildren writes the elements in a drawing; white space and words between them are not drawn.
func (r *renderer) svgChildren(n *html.Node) {
	for c := n.FirstChild; c != nil && r.err == nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			r.node(c)
		}
	}
}

// moves says that a piece of drawn text stands at a place of its own.
func moves(n *html.Node) bool {
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "x", "y", "dy":
			return true
		}
	}
	return false
}

// drawnLink writes a link within a drawing.
func (r *renderer) drawnLink(n *html.Node) {
	href, _ := facts.Attribute(n, "href")
	url := r.base.Resolve(href)
	if href == "" || address.Inert(url) || r.base.SamePage(url) || r.w.InLink() {
		r.svgChildren(n)
		return
	}
	r.w.EnterLink(scribe.Link{URL: url})
	r.svgChildren(n)
	r.w.Leave()
}
