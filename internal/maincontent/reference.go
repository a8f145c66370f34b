// References: pages of documentation that are looked things up in, rather than read.

package maincontent

import (
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// ruleReference keeps the whole main part of a reference but for furniture and links: what is left out of it for being short,
// formal and like a hundred others is what somebody came to look up.
func (f *finder) ruleReference(scores []float32, standings []standing) {
	// The scores of what is kept, of its letters those in links, in per cent.
	const least, leastHeading, mostLinks = 0.15, 0.1, 75
	if f.page.kinds[kindDocumentation] < 0.3 {
		return
	}
	part := f.mainPart(scores)
	if part == nil || !f.listsPlaces() {
		return
	}
	for i := part.from; i < part.to; i++ {
		b := &f.blocks[i]
		is := f.elements[b.owner].is
		if b.letters == 0 || standings[b.owner].gone || is&tagButton != 0 {
			continue
		}
		if is&tagHeading != 0 && scores[i] >= leastHeading || scores[i] >= least && b.links*100 <= b.letters*mostLinks {
			scores[i] = max(scores[i], 0.55)
		}
	}
}

// mainPart is the element that the page calls its main part, if nearly all that the trees would keep is in it; nil for none.
func (f *finder) mainPart(scores []float32) *element {
	sum := f.ints.take(len(scores) + 1)
	for i, s := range scores {
		sum[i+1] = sum[i]
		if s >= 0.5 {
			sum[i+1] += f.blocks[i].letters
		}
	}
	for i := range f.elements {
		e := &f.elements[i]
		if e.is&tagMain != 0 && sum[len(scores)] > 0 && (sum[e.to]-sum[e.from])*10 >= sum[len(scores)]*9 {
			return e
		}
	}
	return nil
}

// listsPlaces says that the page's links lead to many places in it, as the list of contents of a reference does.
func (f *finder) listsPlaces() bool {
	const many = 40
	root := f.elements[0].node
	places := make(map[string]struct{}, many)
	for n := root; n != nil; n = facts.Following(root, n) {
		if n.DataAtom != atom.A {
			continue
		}
		if href, _ := facts.Attribute(n, "href"); len(href) > 1 && href[0] == '#' {
			if places[href] = struct{}{}; len(places) == many {
				return true
			}
		}
	}
	return false
}

// keepsHome says that nearly all of the element is kept that the page calls its main part.
func (f *finder) keepsHome(kept []bool) bool {
	home := f.home()
	if home == nil {
		return false
	}
	letters := int32(0)
	for i := home.from; i < home.to; i++ {
		if kept[i] {
			letters += f.blocks[i].letters
		}
	}
	return letters*5 >= home.letters*4
}

// listings keeps code that stands right after a text that is kept, on pages of running text: it is what that speaks of.
func (f *finder) listings(scores []float32, kept []bool) {
	const least = 0.15
	if p := f.page; p.kinds[kindDocumentation]+p.kinds[kindArticle] < 0.5 {
		return
	}
	done := int32(0)
	for i := range f.elements {
		e := &f.elements[i]
		if e.node.DataAtom != atom.Pre || e.from < done || e.from == 0 || e.to == e.from {
			continue
		}
		done = e.to
		if kept[e.from] || scores[e.from] < least || f.standings[i].gone || f.blocks[e.from].letters == 0 {
			continue
		}
		if before := &f.blocks[e.from-1]; kept[e.from-1] && before.letters > 0 && f.elements[before.owner].is&tagHeading == 0 {
			for j := e.from; j < e.to; j++ {
				kept[j] = true
			}
		}
	}
}
