// Kinds: what sort of page this is, by its shape, for the judging of its blocks to go by.

package maincontent

import (
	"math"

	"github.com/wayleave/wayleave/internal/maincontent/declared"
	"github.com/wayleave/wayleave/internal/maincontent/forest"
)

// The kinds of page that the trees of forest.Kinds tell apart.
const (
	kindArticle = iota
	kindCollection
	kindDocumentation
	kindForum
	kindListing
	kindProduct
	kindService
	countKinds
)

// Where the page's features of each group begin.
const (
	pageOfShape  = 0
	pageOfNames  = pageOfShape + ofKinds - ofPage
	pageOfOther  = pageOfNames + countNames
	countPerPage = pageOfOther + 22
)

// pageFeatures are the numbers by which the page's kind is judged.
func (o *outline) pageFeatures(p *pageFacts, d *declared.Reader) *[countPerPage]float32 {
	var x [countPerPage]float32
	copy(x[:], p.shape[:])
	for k, n := range o.named {
		x[pageOfNames+k] = scale(n)
	}
	var prose, longest, times, signed, priced, heads, linked, cards int32
	for i := range o.blocks {
		b := &o.blocks[i]
		if running(b) {
			prose += b.letters
			longest = max(longest, b.letters)
		}
		times += b.times
		if b.signs > 0 {
			signed++
			if b.digits > 0 && b.letters < 30 {
				priced++
			}
		}
		if b.links*10 >= b.letters*8 && b.letters > 0 {
			linked++
			if b.letters >= 20 {
				cards++
			}
		}
		if o.elements[b.owner].is&tagHeading != 0 {
			heads++
		}
	}
	var most, mostLinked *group // the group with most text, and that with most text in links
	for i := range o.groups {
		g := &o.groups[i]
		if g.n < few {
			continue
		}
		if most == nil || g.letters > most.letters {
			most = g
		}
		if mostLinked == nil || g.links > mostLinked.links {
			mostLinked = g
		}
	}
	y := x[pageOfOther:]
	n := int32(len(o.blocks))
	y[0], y[1], y[2] = scale(prose), scale(longest), share(prose, p.letters)
	y[3], y[4], y[5], y[6] = scale(times), scale(signed), scale(priced), share(priced, n)
	y[7], y[8], y[9], y[10] = scale(heads), share(linked, n), scale(cards), share(cards, n)
	for k, g := range []*group{most, mostLinked} {
		if g == nil {
			continue
		}
		z := y[11+k*4:]
		z[0], z[1], z[2], z[3] = scale(g.n), scale(g.letters/g.n), share(g.links, g.letters), share(g.letters, p.letters)
	}
	y[19] = float32(min(len(d.Byline), 1))
	y[20] = float32(min(len(d.Date), 1))
	if p.surely {
		y[21] = share(int32(p.h1), n)
	} else {
		y[21] = -1
	}
	return &x
}

// kindsOf is how likely the page is of each kind; the sum is one.
func kindsOf(x *[countPerPage]float32) (kinds [countKinds]float32) {
	sum := 0.0
	var odds [countKinds]float64
	for k := range kinds {
		trees := forest.Kinds[k]
		for t := range trees {
			odds[k] += float64(trees[t].Of(x[:]))
		}
		odds[k] = 1 / (1 + math.Exp(-odds[k]))
		sum += odds[k]
	}
	for k := range kinds {
		kinds[k] = float32(odds[k] / sum)
	}
	return kinds
}
