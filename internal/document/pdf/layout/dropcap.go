package layout

import (
	"slices"
	"unicode"
)

// joinDropCaps puts letters that are set over several lines of their text before the first of these, and lets all of
// them begin where the letter does. rows go from top to bottom.
func joinDropCaps(all []row) []row {
	const reach = 8 // lines
	for j := 0; j < len(all); j++ {
		for m := 0; m < len(all[j].words); m++ {
			w := &all[j].words[m]
			if len(w.inks) > 2 && unicode.IsUpper(w.inks[0].Rune) && w.inks[0].size > 1.7*w.inks[1].size && w.inks[0].raise == 0 && w.inks[1].raise == 0 {
				head, tail := newWord(w.inks[:1:1], w.base), newWord(w.inks[1:], w.base)
				all[j].words = slices.Replace(all[j].words, m, m+1, head, tail)
				w = &all[j].words[m]
			}
			if w.table != nil || len(w.inks) != 1 || !unicode.IsUpper(w.inks[0].Rune) {
				continue
			}
			first, at := -1, 0
			last := min(j+1, len(all)-1) // the letter may stand a little above the last line's base
			for k := max(0, j-reach); k <= last; k++ {
				if n := besideCap(&all[k], w, k == j); n >= 0 {
					if first < 0 {
						first = k
					}
					at++
				}
			}
			if first < 0 || first >= j || at < 2 {
				continue
			}
			letter := *w
			n := besideCap(&all[first], &letter, false)
			for k := first; k <= last; k++ {
				if i := besideCap(&all[k], &letter, k == j); i >= 0 {
					all[k].words[i].X0 = letter.X0
					all[k].Rect = extent(all[k].words)
				}
			}
			to := &all[first].words[n]
			one := to.inks[0]
			one.Rune, one.X0, one.X1, one.raise, one.seq, one.Blank = letter.inks[0].Rune, letter.X0, to.inks[0].X0, 0, letter.first, letter.inks[0].Blank
			one.X = one.X0
			if to.inks[0].Blank == Written {
				// A word of one letter.
				head := newWord([]ink{one}, to.base)
				head.X1 = to.inks[0].X0 - 0.3*to.size
				to.X0 = to.inks[0].X0
				all[first].words = slices.Insert(all[first].words, n, head)
			} else {
				to.inks = append([]ink{one}, to.inks...)
				to.first = min(to.first, letter.first)
			}
			if first == j {
				continue
			}
			all[j].words = slices.Delete(all[j].words, m, m+1)
			if len(all[j].words) == 0 {
				all = slices.Delete(all, j, j+1)
				j--
				break
			}
			all[j] = all[j].of(all[j].words)
			m--
		}
	}
	return all
}

// besideCap is the word of a row that stands right beside a big letter, within its height; -1 for none. own says that
// the letter is in the row itself.
func besideCap(r *row, letter *word, own bool) int {
	for i := range r.words {
		w := &r.words[i]
		if w.table != nil || w.size*1.7 > letter.inks[0].size || w.X0 < letter.X1-0.1*w.size || w.X0 > letter.X1+1.2*w.size {
			continue
		}
		if r.base < letter.Y0+0.3*w.size || r.base > letter.base+0.3*w.size && !own {
			continue
		}
		return i
	}
	return -1
}
