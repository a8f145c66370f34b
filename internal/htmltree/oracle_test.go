// The oracle: x/net's parser, which makes the standard's tree of what it does not refuse.

package htmltree

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// outline writes a tree as text, without what the two parsers may differ in: comments and the doctype, how text is
// parted, blanks around frames, the order of attributes and the case of their names.
func outline(root *html.Node) string {
	var b strings.Builder
	depth, text := 0, ""
	flush := func() {
		if text != "" {
			b.WriteString(strings.Repeat(" ", depth) + "\"" + text + "\"\n")
			text = ""
		}
	}
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			if a := n.Parent.DataAtom; a != atom.Frameset && a != atom.Html && a != atom.Head && a != atom.Noscript {
				text += n.Data
			}
			return
		case html.CommentNode, html.DoctypeNode:
			return
		}
		flush()
		b.WriteString(strings.Repeat(" ", depth) + "<" + n.Namespace + " " + n.Data + " " + n.DataAtom.String())
		var attrs []string
		for _, a := range n.Attr {
			attrs = append(attrs, a.Namespace+":"+strings.ToLower(a.Key)+"="+a.Val)
		}
		slices.Sort(attrs)
		b.WriteString(" " + strings.Join(attrs, " ") + "\n")
		depth++
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
		flush()
		depth--
	}
	visit(root)
	return b.String()
}

// differs compares our tree with x/net's; empty for the same or where x/net refuses.
func differs(t *testing.T, src string) string {
	t.Helper()
	ours, err := Parse(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := html.ParseWithOptions(strings.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		return ""
	}
	got, want := strings.Split(outline(ours), "\n"), strings.Split(outline(theirs), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			from := max(0, i-4)
			return "ours:\n" + strings.Join(got[from:min(len(got), i+6)], "\n") + "\ntheirs:\n" + strings.Join(want[from:min(len(want), i+6)], "\n")
		}
	}
	return ""
}
