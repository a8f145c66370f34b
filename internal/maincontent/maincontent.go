// Package maincontent says which part of a page is what its reader came for, and what the page declares of itself. It
// looks at the one parsed tree and changes nothing: the answer is the nodes that are left out.
//
// The rule that must not be broken: where it is not sure, it keeps. A menu too many costs tokens; a lost paragraph costs
// the answer. So [Selection.Thin] says when the part looks too small to be the page.
package maincontent

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/maincontent/declared"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// finder works on one page.
type finder struct {
	outline
	page  *pageFacts
	says  declared.Reader
	ruled bool // the rules for small pages or for articles hold: they know better than the scores
	room  sums // see sumsOf
	seen  int  // parts named as comments that were looked at
}

func newFinder(root *html.Node, d *desk) *finder {
	body := find(root, atom.Body)
	if body == nil {
		body = root
	}
	d.sorts, d.seen = mapFor(d.sorts, 0), mapFor(d.seen, 0)
	f := &finder{outline: outline{desk: d, v: vocabulary{words: meaningOf, seen: d.seen}}}
	f.says.ReadHead(root)
	f.outline.read(body)
	for _, n := range f.scripts {
		f.says.Script(n)
	}
	f.says.Finish(titleOf(root))
	f.readTold()
	f.page = f.facts(&f.says)
	return f
}

func find(root *html.Node, a atom.Atom) *html.Node {
	for n := root; n != nil; n = facts.Following(root, n) {
		if n.Type == html.ElementNode && n.DataAtom == a {
			return n
		}
	}
	return nil
}
