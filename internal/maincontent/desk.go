// Desks: what is noted of a page while it is judged, in memory that is used for one page after another.

package maincontent

import (
	"sync"

	"golang.org/x/net/html"
)

// desk is the memory of one finder. Its zero value is an empty one.
type desk struct {
	elements  []element    // in document order
	most      int          // elements that there were at once
	blocks    []block      // and these
	leaves    []*html.Node // what the blocks are made of
	groups    []group
	standings []standing
	runs      []run

	ints    pile[int32]
	floats  pile[float32]
	doubles pile[float64]
	texts   pile[text]
	shares  pile[[2]float32]
	flags   pile[bool]

	sorts  map[uint64]int32 // how many elements are of each sort
	hashes map[uint64]int32 // how often each text stands on the page
	seen   map[string]spelled
	means  map[uint64][2]float32 // see context
	places map[uint64]int32      // the number of each place in the page's structure
}

// What a desk is kept with at most, by the number of things; what a larger page takes is left to the collector, so that no page
// makes the process larger than it was. All together that is some 2 MB.
const (
	keptThings  = 4 << 10
	keptNumbers = 24 << 10
	keptKeys    = 2 << 10
)

// desks are those that nobody works at.
var desks = sync.Pool{New: func() any { return new(desk) }}

// leave gives the desk up. No slice or map of it may be looked at any more.
func (d *desk) leave() {
	d.empty()
	desks.Put(d)
}

// empty holds on to nothing of the page.
func (d *desk) empty() {
	if cap(d.blocks) > keptThings { // then these have much room, too, however few keys
		d.hashes = nil
	}
	d.elements, d.most = emptied(d.elements[:d.most]), 0
	d.blocks, d.leaves = emptied(d.blocks), emptied(d.leaves)
	d.groups, d.standings, d.runs = emptied(d.groups), emptied(d.standings), emptied(d.runs)
	d.ints.empty()
	d.floats.empty()
	d.doubles.empty()
	d.texts.empty()
	d.shares.empty()
	d.flags.empty()
	d.sorts, d.hashes, d.seen = emptiedMap(d.sorts), emptiedMap(d.hashes), emptiedMap(d.seen)
	d.means, d.places = emptiedMap(d.means), emptiedMap(d.places)
}

// emptied is s without what is in it; nothing of a large one.
func emptied[T any](s []T) []T {
	if cap(s) > keptThings {
		return nil
	}
	clear(s)
	return s[:0]
}

func emptiedMap[K comparable, V any](m map[K]V) map[K]V {
	if len(m) > keptKeys {
		return nil
	}
	clear(m)
	return m
}

// withRoom is s, which is empty, with room for n.
func withRoom[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n)
	}
	return s
}

// mapFor is m, which is empty, or one with room for n.
func mapFor[K comparable, V any](m map[K]V, n int) map[K]V {
	if m == nil {
		return make(map[K]V, n)
	}
	return m
}

// pile is memory for slices of one type, which are all given back at once.
type pile[T any] struct {
	all  []T
	used int
}

// take gives n of them, zero. What was given before stays good.
func (p *pile[T]) take(n int) []T {
	const ahead = 4 // whoever takes some will take more
	if len(p.all)-p.used < n {
		if ahead*n > keptNumbers {
			return make([]T, n)
		}
		p.all, p.used = make([]T, min(max(ahead*n, 2*len(p.all)), keptNumbers)), 0
	}
	p.used += n
	return p.all[p.used-n : p.used : p.used]
}

func (p *pile[T]) empty() {
	clear(p.all[:p.used])
	p.used = 0
}
