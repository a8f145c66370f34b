package layout

import (
	"cmp"
	"slices"
)

// addDots makes marks of items of the small shapes that stand before words: browsers draw them. rows go from top to
// bottom.
func addDots(all []row, dots []Dot) {
	const most = 2000
	for _, d := range dots[:min(len(dots), most)] {
		if !finite(d.Rect) {
			continue
		}
		y := (d.Y0 + d.Y1) / 2
		at, _ := slices.BinarySearchFunc(all, y, func(r row, y float32) int { return cmp.Compare(r.base, y) })
		for i := max(at-1, 0); i < min(at+3, len(all)); i++ {
			r := &all[i]
			if y > r.base-0.05*r.size || y < r.base-0.75*r.size || d.X1-d.X0 > 0.75*r.size || d.Y1-d.Y0 > 0.75*r.size {
				continue
			}
			if r.mark(d) {
				break
			}
		}
	}
}

// mark puts a mark before the word that a dot stands right before.
func (r *row) mark(d Dot) bool {
	const most = 300 // words of a row that has items
	if len(r.words) > most {
		return false
	}
	k := 0
	for k < len(r.words) && r.words[k].X0 < d.X1 {
		k++
	}
	if last := &r.words[len(r.words)-1]; k == len(r.words) && last.backward() && d.X0-last.X1 > 0.1*r.size && d.X0-last.X1 < 2.5*r.size {
		r.insert(k, last.inks[0], d)
		return true
	}
	if k == len(r.words) || r.words[k].X0-d.X1 > 2.5*r.size || k > 0 && d.X0-r.words[k-1].X1 < 1.5*r.size {
		return false
	}
	r.insert(k, r.words[k].inks[0], d)
	return true
}

// insert puts a mark that looks like a character before word k.
func (r *row) insert(k int, next ink, d Dot) {
	c := '•'
	switch {
	case d.Square:
		c = '▪'
	case d.Hollow:
		c = '◦'
	}
	one := next
	one.Rect, one.Rune, one.X, one.seq, one.raise = d.Rect, c, d.X0, next.seq, 0
	w := newWord([]ink{one}, r.base)
	w.size = r.size
	r.words = slices.Insert(r.words, k, w)
	r.Rect = r.union(d.Rect)
}
