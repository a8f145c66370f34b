// Looking at nodes: attributes, what an element's attributes say about it, text below it.

package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// traits are what an element's common attributes say, read in one pass.
type traits struct {
	style, role, label     string
	tex                    string // source of a formula
	hiddenAttr, ariaHidden bool
	flags                  flags
}

func (t *traits) is(f flags) bool { return t.flags&f != 0 }

func traitsOf(n *html.Node) (t traits) {
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "class":
			t.flags = classFlags(a.Val)
		case "style":
			t.style = a.Val
		case "data-tex", "data-latex", "data-formula", "data-math", "data-katex":
			t.tex = a.Val
		case "role":
			t.role = a.Val
		case "hidden":
			t.hiddenAttr = !strings.EqualFold(a.Val, "until-found")
		case "aria-hidden":
			t.ariaHidden = a.Val == "true"
		case "aria-label":
			t.label = a.Val
		}
	}
	return t
}

func attribute(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// firstAttribute is the value of the first of these attributes that is there and not blank.
func firstAttribute(n *html.Node, keys ...string) string {
	for _, key := range keys {
		if v, ok := attribute(n, key); ok {
			if v = strings.TrimSpace(v); v != "" {
				return v
			}
		}
	}
	return ""
}

// number is an attribute's value as HTML reads integers: blanks, a sign, digits, and whatever follows ignored.
func number(n *html.Node, key string) (int, bool) {
	v, ok := attribute(n, key)
	if !ok {
		return 0, false
	}
	v = strings.TrimLeft(v, " \t\n\f\r")
	end := 0
	if end < len(v) && (v[end] == '-' || v[end] == '+') {
		end++
	}
	for end < len(v) && end < 10 && digit(v[end]) {
		end++
	}
	i, err := strconv.Atoi(v[:end])
	return i, err == nil
}

// find is the first element of this name below n, among its first nodes.
func find(n *html.Node, name atom.Atom, look int) *html.Node {
	m := following(n, n)
	for i := 0; m != nil && i < look; i++ {
		if m.Type == html.ElementNode && m.DataAtom == name {
			return m
		}
		m = following(n, m)
	}
	return nil
}

// plainText is all text below n as it stands.
func plainText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for m := following(n, n); m != nil; m = following(n, m) {
		if m.Type == html.TextNode {
			b.WriteString(m.Data)
		}
	}
	return b.String()
}

// headingLevel is 1 to 6 for a heading, 0 for anything else.
func headingLevel(n *html.Node) int {
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

// blankNode says that a node shows nothing by itself: white space or a comment.
func blankNode(n *html.Node) bool {
	return n.Type == html.CommentNode || n.Type == html.TextNode && strings.TrimSpace(n.Data) == ""
}

// nextElement is the element after n among its siblings.
func nextElement(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// firstShown is the first child that is no white space.
func firstShown(n *html.Node) *html.Node {
	c := n.FirstChild
	for c != nil && blankNode(c) {
		c = c.NextSibling
	}
	return c
}
