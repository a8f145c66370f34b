// Package maincontent says which part of a page is what its reader came for. It looks at the one parsed tree and changes
// nothing: the answer is a root and the elements below it that are left out.
//
// The rule that must not be broken: where it is not sure, it keeps. A menu too many costs tokens; a lost paragraph costs
// the answer. So nothing that holds most of the page's text is ever left out, and [Selection.Thin] says when the part
// looks too small to be the page.
package maincontent

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Selection is the main content of one page.
type Selection struct {
	// Root holds all of the main content; it is the page's body where no smaller element does.
	Root *html.Node
	// Chars and PageChars are the characters of visible text (white space apart) in the selection and on the page.
	Chars, PageChars int

	above   map[*html.Node]bool // the elements that Root stands in
	dropped map[*html.Node]bool
	prose   int // characters of the whole page outside links and boilerplate elements
}

// Drop tells whether n and all below it are left out: what was dropped below Root, and whatever is beside it. It may be
// asked of every node of the page, parents before children.
func (s Selection) Drop(n *html.Node) bool {
	return s.dropped[n] || n != s.Root && s.above[n.Parent] && !s.above[n]
}

// Thin tells that the selection holds under a third of the page's running text, so that the whole page is the safer
// answer.
func (s Selection) Thin() bool { return s.Chars*3 < s.prose }

// Find looks for the main content below root. It visits each node a fixed number of times, whatever the page.
func Find(root *html.Node) Selection {
	body := find(root, atom.Body)
	if body == nil {
		body = root
	}
	f := &finder{marks: map[*html.Node]*mark{}, dropped: map[*html.Node]bool{}}
	f.measure(body)
	total := f.marks[body]
	if total == nil || total.text == 0 {
		return Selection{Root: body, above: above(body), dropped: f.dropped}
	}
	f.total = *total
	f.descend(body, nil)
	f.dropBoilerplate(body)
	f.remeasure(body)
	f.descend(body, nil)
	top := f.chooseRoot(body)
	f.descend(body, top)
	f.dropReadersComments(top)
	f.remeasure(body)
	return Selection{Root: top, above: above(top), Chars: f.marks[top].kept, PageChars: total.text, dropped: f.dropped, prose: f.prose(body)}
}

func above(n *html.Node) map[*html.Node]bool {
	m := map[*html.Node]bool{}
	for p := n.Parent; p != nil; p = p.Parent {
		m[p] = true
	}
	return m
}

// finder works on one page.
type finder struct {
	marks   map[*html.Node]*mark
	order   []*html.Node // elements, children before parents
	dropped map[*html.Node]bool
	total   mark
}

// mark is what was counted below one element. Characters are runes other than white space.
type mark struct {
	text  int // visible text
	links int // of it, in links
	kept  int // of text, outside dropped elements
	prose int // of kept, outside links
	h1    int // first-level headings

	controls int // buttons and inputs

	gone      bool // in a dropped element, or one itself
	inArticle bool // below an article
	ofPost    bool // below what has headers and footers of its own
	under     bool // below the root that was chosen
}

// prose is the page's running text: what a reader could have come for. Text in links counts a little, since a listing is
// made of links.
func (f *finder) prose(body *html.Node) int {
	m := f.marks[body]
	return m.prose + (m.kept-m.prose)/4
}

// chooseRoot looks for the smallest element that still holds nearly all that was kept.
func (f *finder) chooseRoot(body *html.Node) *html.Node {
	all := f.marks[body]
	if n := f.declared(body, all); n != nil {
		return n
	}
	n := body
	for {
		next := f.heaviest(n)
		if next == nil || f.marks[next].kept*100 < all.kept*85 || f.marks[next].h1 < all.h1 && all.h1 <= 2 {
			return n
		}
		if !container(next) {
			return n
		}
		n = next
	}
}

// declared finds what the page itself calls its main part: one main element, else the articles together.
func (f *finder) declared(body *html.Node, all *mark) *html.Node {
	var mains, articles []*html.Node
	for _, n := range f.order {
		m := f.marks[n]
		switch {
		case m.gone:
		case n.DataAtom == atom.Main || attribute(n, "role") == "main":
			mains = append(mains, n)
		case n.DataAtom == atom.Article && !m.inArticle:
			articles = append(articles, n)
		}
	}
	if n := common(mains); n != nil && f.marks[n].kept*2 >= all.kept {
		if len(articles) == 1 && below(articles[0], n) && f.marks[articles[0]].kept*10 >= f.marks[n].kept*8 && f.marks[articles[0]].h1 >= f.marks[n].h1 {
			return articles[0]
		}
		return n
	}
	if n := common(articles); n != nil && f.marks[n].kept*10 >= all.kept*7 {
		return n
	}
	return nil
}

// common is the lowest element that holds all of nodes, which stand in document order: that of the first and the last.
func common(nodes []*html.Node) *html.Node {
	if len(nodes) == 0 {
		return nil
	}
	over := above(nodes[0])
	over[nodes[0]] = true
	for p := nodes[len(nodes)-1]; p != nil; p = p.Parent {
		if over[p] {
			return p
		}
	}
	return nil
}

func (f *finder) heaviest(n *html.Node) *html.Node {
	var best *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if m := f.marks[c]; m != nil && !f.dropped[c] && (best == nil || m.kept > f.marks[best].kept) {
			best = c
		}
	}
	return best
}

// container tells the elements that may be a root: a part of a table or list alone would lose its meaning.
func container(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Center, atom.Form, atom.Body, atom.Span, atom.Font:
		return true
	}
	return n.DataAtom == 0 // custom elements
}

func below(n, top *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p == top {
			return true
		}
	}
	return false
}

func find(root *html.Node, a atom.Atom) *html.Node {
	for n := root; n != nil; {
		if n.Type == html.ElementNode && n.DataAtom == a {
			return n
		}
		if n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
		}
		if n == root {
			return nil
		}
		n = n.NextSibling
	}
	return nil
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}
