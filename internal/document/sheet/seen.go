// Sets of rows and of columns that cost what is in them.

package sheet

import (
	"cmp"
	"math/bits"
	"slices"
)

// page is how many numbers one piece of a seen holds.
const page = 1024

// seen is a set of numbers, some of them kept. The zero value is empty.
type seen struct {
	pieces map[int]*piece
	n      int // numbers in it
}

type piece struct{ all, kept [page / 64]uint64 }

// add puts a number in; keep is for one that is new. It tells whether it was new and is kept.
func (s *seen) add(i int, keep bool) bool {
	if s.pieces == nil {
		s.pieces = map[int]*piece{}
	}
	p := s.pieces[i/page]
	if p == nil {
		p = new(piece)
		s.pieces[i/page] = p
	}
	word, bit := i%page/64, uint64(1)<<(i%64)
	if p.all[word]&bit != 0 {
		return false
	}
	p.all[word] |= bit
	s.n++
	if keep {
		p.kept[word] |= bit
	}
	return keep
}

// kept tells whether a number was put in to be kept.
func (s *seen) kept(i int) bool {
	p := s.pieces[i/page]
	return p != nil && p.kept[i%page/64]&(1<<(i%64)) != 0
}

// keptCount is how many numbers are kept.
func (s *seen) keptCount() int {
	n := 0
	for _, p := range s.pieces {
		for _, w := range p.kept {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// bands are runs of hidden rows or columns. Files have them in their order; some that are not are borne.
type bands struct {
	runs   []band
	strays int // runs that came out of order
	mixed  bool
	at     int // the run that was asked for last
}

type band struct{ first, last int }

func (b *bands) add(first, last int) {
	const maxStrays = 1000 // each costs a sort
	first = max(first, 0)
	n := len(b.runs)
	switch {
	case last < first:
	case n > 0 && first > b.runs[n-1].last, n == 0:
		if n > 0 && b.runs[n-1].last == first-1 {
			b.runs[n-1].last = last
		} else if n < maxBands {
			b.runs = append(b.runs, band{first, last})
		}
	case first >= b.runs[n-1].first:
		b.runs[n-1].last = max(b.runs[n-1].last, last)
	case n < maxBands && b.strays < maxStrays:
		b.runs = append(b.runs, band{first, last})
		b.mixed = true
		b.strays++
	}
}

// tidy puts the runs in order and joins what touches.
func (b *bands) tidy() {
	if !b.mixed {
		return
	}
	b.mixed, b.at = false, 0
	slices.SortFunc(b.runs, func(x, y band) int { return cmp.Compare(x.first, y.first) })
	out := b.runs[:0]
	for _, r := range b.runs {
		if n := len(out); n > 0 && r.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, r.last)
			continue
		}
		out = append(out, r)
	}
	b.runs = out
}

func (b *bands) holds(i int) bool {
	if len(b.runs) == 0 {
		return false
	}
	b.tidy()
	if r := b.runs[b.at]; r.first > i || r.last < i {
		b.at, _ = slices.BinarySearchFunc(b.runs, i, func(r band, i int) int { return cmp.Compare(r.last, i) })
		if b.at == len(b.runs) {
			b.at = 0
			return false
		}
	}
	return b.runs[b.at].first <= i && i <= b.runs[b.at].last
}

// between is how many numbers after low and before high are in no run.
func (b *bands) between(low, high int) int {
	n := high - low - 1
	if n <= 0 || len(b.runs) == 0 {
		return max(n, 0)
	}
	b.tidy()
	at, _ := slices.BinarySearchFunc(b.runs, low+1, func(r band, i int) int { return cmp.Compare(r.last, i) })
	for ; at < len(b.runs) && b.runs[at].first < high; at++ {
		n -= min(b.runs[at].last, high-1) - max(b.runs[at].first, low+1) + 1
	}
	return n
}
