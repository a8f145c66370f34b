package facts

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// HoldsShadow says that an element may have a shadow tree (DOM Standard, attachShadow): elements that pages make up, and some of
// HTML's. Within others a template that asks for one is a template, and what stands beside it is shown.
func HoldsShadow(n *html.Node) bool {
	if n == nil || n.Type != html.ElementNode || n.Namespace != "" {
		return false
	}
	switch n.DataAtom {
	case atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Div, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Header, atom.Main, atom.Nav, atom.P, atom.Section, atom.Span:
		return true
	}
	return n.DataAtom == 0 && strings.Contains(n.Data, "-")
}
