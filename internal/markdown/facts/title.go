package facts

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Title is the text of the tree's first title element that is not an SVG's, white space collapsed and cut; empty for none.
func Title(root *html.Node) string {
	n := root
	for n != nil {
		if n.Type == html.ElementNode && n.DataAtom == atom.Title && n.Namespace == "" {
			return titleText(n)
		}
		n = Following(root, n)
	}
	return ""
}

// maxTitle is W-066's bound, in characters.
const maxTitle = 500

func titleText(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	s := strings.ToValidUTF8(strings.Join(strings.Fields(b.String()), " "), "\uFFFD")
	if utf8.RuneCountInString(s) > maxTitle {
		s = strings.TrimRight(string([]rune(s)[:maxTitle]), " ")
	}
	return s
}
