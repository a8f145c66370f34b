package notelabel

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Apart finds the bracket that closes a note's label whose opening one is the whole of a text, while the label and the
// brackets stand in elements of their own. past is the text with the closing one, nil for none, and rest what that says after it.
// A label within what apart holds for is none.
func Apart(label string, open *html.Node, apart func(*html.Node) bool) (past *html.Node, rest string) {
	if s := strings.TrimSpace(open.Data); s != "[" && s != "(" {
		return nil, ""
	}
	number := nextText(open)
	if number == nil {
		return nil, ""
	}
	after, ok := Starts(label, number.Data)
	if !ok {
		return nil, ""
	}
	past = number
	if strings.TrimSpace(after) == "" {
		if past = nextText(number); past == nil {
			return nil, ""
		}
		after = past.Data
	}
	rest, ok = Closes(open.Data, after)
	if !ok {
		return nil, ""
	}
	for _, n := range []*html.Node{number, past} {
		for ; n != nil && n != open.Parent; n = n.Parent {
			if apart(n) || n.DataAtom == atom.Script || n.DataAtom == atom.Style {
				return nil, ""
			}
		}
	}
	return past, rest
}

// nextText is the next text that is not blank, among the few that follow.
func nextText(n *html.Node) *html.Node {
	const look = 8 // nodes
	root := n
	for root.Parent != nil {
		root = root.Parent
	}
	for range look {
		if n = facts.Following(root, n); n == nil {
			return nil
		}
		if n.Type == html.TextNode && !facts.Empty(n.Data) {
			return n
		}
	}
	return nil
}

// Within says that a node stands in an element.
func Within(n, element *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == element {
			return true
		}
	}
	return false
}
