// Going through what is below a node, and the text there.

package facts

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Following is the node after n in document order below root, nil at the end. Loops use it where recursion could
// run as deep as a hostile tree.
func Following(root, n *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return Skipping(root, n)
}

// Skipping is Following without what is below n.
func Skipping(root, n *html.Node) *html.Node {
	for n != root {
		if n.NextSibling != nil {
			return n.NextSibling
		}
		n = n.Parent
		if n == nil {
			return nil
		}
	}
	return nil
}

// ShortText is the text below n without blanks at its ends, as far as it is short; longer text comes back cut.
func ShortText(n *html.Node) string {
	const enough = 48
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return strings.TrimSpace(c.Data[:min(len(c.Data), enough)])
	}
	var b strings.Builder
	m := Following(n, n)
	for i := 0; m != nil && b.Len() < enough && i < enough; i++ {
		if m.Type == html.TextNode {
			b.WriteString(m.Data[:min(len(m.Data), enough)])
		} else if m.DataAtom == atom.Svg || m.DataAtom == atom.Style {
			m = Skipping(n, m)
			continue
		}
		m = Following(n, m)
	}
	return strings.TrimSpace(b.String())
}

// Find is the first element of this name below n, among its first nodes.
func Find(n *html.Node, name atom.Atom, look int) *html.Node {
	m := Following(n, n)
	for i := 0; m != nil && i < look; i++ {
		if m.Type == html.ElementNode && m.DataAtom == name {
			return m
		}
		m = Following(n, m)
	}
	return nil
}

// PlainText is all text below n as it stands.
func PlainText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for m := Following(n, n); m != nil; m = Following(n, m) {
		if m.Type == html.TextNode {
			b.WriteString(m.Data)
		}
	}
	return b.String()
}

// HeadingLevel is 1 to 6 for a heading, 0 for anything else.
func HeadingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}

// Blank says that a node shows nothing by itself: white space or a comment.
func Blank(n *html.Node) bool {
	return n.Type == html.CommentNode || n.Type == html.TextNode && Empty(n.Data)
}

// NextElement is the element after n among its siblings.
func NextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// FirstShown is the first child that is no white space.
func FirstShown(n *html.Node) *html.Node {
	c := n.FirstChild
	for c != nil && Blank(c) {
		c = c.NextSibling
	}
	return c
}

// Digits says that text holds digits and blanks only, and a digit at least.
func Digits(s string) bool {
	found := false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			found = true
		case c > ' ':
			return false
		}
	}
	return found
}

// ContentOf counts the bytes of text below n, and says whether a heading or a main part is among it.
func ContentOf(n *html.Node) (words int, heading bool) {
	for m := Following(n, n); m != nil; {
		switch {
		case m.Type == html.TextNode:
			words += len(strings.TrimSpace(m.Data))
		case m.DataAtom == atom.Script || m.DataAtom == atom.Style || m.DataAtom == atom.Template || m.DataAtom == atom.Noscript:
			m = Skipping(n, m)
			continue
		case m.DataAtom == atom.H1 || m.DataAtom == atom.H2 || m.DataAtom == atom.Main || m.DataAtom == atom.Article:
			heading = true
		}
		m = Following(n, m)
	}
	return words, heading || n.DataAtom == atom.Main || n.DataAtom == atom.Article
}

// HoldsLines says that an element holds lines of code, though no pre is around them.
func HoldsLines(n *html.Node) bool {
	const look = 12 // nodes; an editor wraps its lines
	m := Following(n, n)
	for i := 0; m != nil && i < look; i++ {
		if class, ok := Attribute(m, "class"); ok && ClassFlags(class)&CodeLine != 0 {
			return true
		}
		m = Following(n, m)
	}
	return false
}

// InLine says that what is below n stands in a line: nothing of it is a block, and it is no great part of the page.
func InLine(n *html.Node) bool {
	const look = 200 // nodes
	m := Following(n, n)
	for i := 0; m != nil; i++ {
		switch m.DataAtom {
		case atom.P, atom.Div, atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Table, atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext,
			atom.Blockquote, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.Section, atom.Article, atom.Aside, atom.Nav,
			atom.Header, atom.Footer, atom.Main, atom.Figure, atom.Figcaption, atom.Form, atom.Fieldset, atom.Details, atom.Summary,
			atom.Address, atom.Center, atom.Menu, atom.Dir, atom.Iframe:
			return false
		}
		if i == look {
			return false
		}
		m = Following(n, m)
	}
	return true
}
