// Raised and lowered text, quotations and ruby: what plain characters have to tell.

package markdown

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// raised writes sup. A power that loses its mark would be another number.
func (r *renderer) raised(n *html.Node, t *facts.Traits) {
	text := facts.ShortText(n)
	switch {
	case text == "" || !facts.InLine(n):
		r.children(n)
		return
	case t.Is(facts.EditLink) && facts.Control(n, t):
		return
	case len(r.notes) > 0 && r.onlyReferences(n):
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode {
				r.node(c)
			}
		}
		return
	case r.keepsLink(n), facts.Bracketed(text), facts.Ordinal(text):
		r.children(n)
		return
	}
	if facts.Simple(text) {
		r.w.Raw("^")
		r.w.Text(text)
		return
	}
	r.w.Raw("^(")
	r.children(n)
	r.w.Attach(")")
}

// keepsLink says that n holds a link that will be written, or a reference to a note.
func (r *renderer) keepsLink(n *html.Node) bool {
	a := n
	if n.DataAtom != atom.A {
		if a = facts.Find(n, atom.A, 8); a == nil {
			return false
		}
	}
	href, ok := facts.Attribute(a, "href")
	if !ok {
		return false
	}
	if _, note := r.noteLabel(href); note {
		return true
	}
	url := r.base.Resolve(href)
	return !address.Inert(url) && !r.base.SamePage(url)
}

// lowered writes sub: bare in a chemical formula, else after a low line.
func (r *renderer) lowered(n *html.Node) {
	text := facts.ShortText(n)
	last, _ := utf8.DecodeLastRune(r.w.Line())
	within := !r.w.SpaceDue() && (unicode.IsLetter(last) || unicode.IsDigit(last))
	switch {
	case text == "" || !within || !facts.InLine(n) || facts.Bracketed(text) || facts.Chemical(r.w.Line()) && facts.Digits(text) || r.keepsLink(n):
		r.children(n)
	case facts.Simple(text):
		r.w.Raw("_")
		r.w.Text(text)
	default:
		r.w.Raw("_(")
		r.children(n)
		r.w.Attach(")")
	}
}

// quotation writes q with its quotation marks, the inner ones single.
func (r *renderer) quotation(n *html.Node) {
	open, shut := "“", "”"
	if r.quotes%2 == 1 {
		open, shut = "‘", "’"
	}
	r.quotes++
	r.w.Raw(open)
	r.children(n)
	r.w.Attach(shut)
	r.quotes--
}

// ruby writes the reading of ruby text, in brackets after it.
func (r *renderer) ruby(n *html.Node) {
	if facts.ShortText(n) == "" {
		return
	}
	if !facts.InLine(n) {
		r.children(n)
		return
	}
	r.w.Attach("(")
	r.children(n)
	r.w.Attach(")")
}
