package layout

import (
	"cmp"
	"math"
	"slices"
)

const (
	maxColumnDepth = 10 // columns within columns
	maxGutters     = 32 // of a region that are tried
)

// gutter is an upright strip without a word, beside which rows from one to another stand.
type gutter struct {
	x0, x1   float32
	from, to int // rows, the last one not included
	left     int // rows with words on that side
	right    int
}

func (g *gutter) mid() float32 { return (g.x0 + g.x1) / 2 }

// arrange gives the regions of a page in the order in which they are read: each is rows that are read one after
// another. Where columns stand side by side, the first is read to its end; what spans them is read where it stands.
func arrange(all []row, bars []Rule, backwards bool, depth int, emit func([]row)) {
	if len(all) == 0 {
		return
	}
	if depth < maxColumnDepth && len(all) > 1 {
		if g, ok := findGutter(all, bars); ok {
			arrange(all[:g.from], bars, backwards, depth+1, emit)
			left, right := parts(all[g.from:g.to], g.mid())
			if backwards {
				left, right = right, left
			}
			arrange(left, bars, backwards, depth+1, emit)
			arrange(right, bars, backwards, depth+1, emit)
			arrange(all[g.to:], bars, backwards, depth+1, emit)
			return
		}
	}
	emit(all)
}

// parts splits rows at x.
func parts(all []row, x float32) (left, right []row) {
	for _, r := range all {
		i := 0
		for i < len(r.words) && r.words[i].X0+r.words[i].X1 < 2*x {
			i++
		}
		if i > 0 {
			left = append(left, r.of(r.words[:i:i]))
		}
		if i < len(r.words) {
			right = append(right, r.of(r.words[i:]))
		}
	}
	return left, right
}

// of is the row with these of its words alone.
func (r row) of(words []word) row {
	out := row{base: r.base, size: words[0].size, words: words, Rect: extent(words)}
	letters := 0
	for i := range words {
		if len(words[i].inks) > letters {
			letters, out.size = len(words[i].inks), words[i].size
		}
	}
	return out
}

// findGutter finds the strip that parts most rows into columns.
func findGutter(all []row, bars []Rule) (best gutter, ok bool) {
	size := medianSize(all)
	least := max(0.7*size, 4)
	tried := candidates(all, least)
	for _, strict := range [2]bool{true, false} {
		for _, c := range tried {
			for g := range c.grown(all, bars, least, strict) {
				g.trim(all)
				if !g.columns(all, strict) {
					continue
				}
				if n, m := min(g.left, g.right), min(best.left, best.right); !ok || n > m || n == m && g.x1-g.x0 > best.x1-best.x0 {
					best, ok = g, true
				}
			}
		}
		if ok {
			return best, true
		}
	}
	return best, false
}

func medianSize(all []row) float32 {
	sizes := make([]float32, len(all))
	for i := range all {
		sizes[i] = all[i].size
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}

// candidate is a strip that rows leave free side by side.
type candidate struct {
	x0, x1 float32
	rows   []int // those that do, the first maxSeeds of them
	n      int   // how many do
}

const (
	maxSeeds  = 200 // rows of a candidate that are kept
	maxGrowth = 4   // of them that a gutter is grown from
)

// grown are the gutters that grow from a candidate's rows: a line that is drawn across, or a row that reaches over the
// strip, parts one from the next.
func (c *candidate) grown(all []row, bars []Rule, least float32, strict bool) func(func(gutter) bool) {
	return func(yield func(gutter) bool) {
		tried, done := 0, 0
		for _, i := range c.rows {
			if i < done {
				continue
			}
			if tried++; tried > maxGrowth {
				return
			}
			g := gutter{x0: c.x0, x1: c.x1, from: i, to: i + 1}.grow(all, bars, least, strict)
			done = max(g.to, i+1)
			if !yield(g) {
				return
			}
		}
	}
}

// candidates are gaps between words side by side, those first that most rows have. Rows of columns need not stand on
// one line, so that words of neighbouring rows count as side by side, too.
func candidates(all []row, least float32) []candidate {
	var found []candidate
	add := func(i int, x0, x1 float32) {
		if x1-x0 < least {
			return
		}
		for k := range found {
			f := &found[k]
			if a, b := max(f.x0, x0), min(f.x1, x1); b-a >= least {
				f.x0, f.x1 = a, b
				if f.n++; len(f.rows) < maxSeeds && f.rows[len(f.rows)-1] != i {
					f.rows = append(f.rows, i)
				}
				return
			}
		}
		if len(found) < 16*maxGutters {
			found = append(found, candidate{x0, x1, []int{i}, 1})
		}
	}
	for i := range all {
		words := all[i].words
		for k := 1; k < len(words); k++ {
			if words[k].X0-words[k-1].X1 >= 0.7*all[i].size { // more than a blank of a big title
				add(i, words[k-1].X1, words[k].X0)
			}
		}
		if i+1 < len(all) && all[i+1].base-all[i].base < 1.2*all[i].size {
			a, b := all[i].Rect, all[i+1].Rect
			if a.X0 > b.X0 {
				a, b = b, a
			}
			add(i, a.X1, b.X0)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.n, a.n) })
	return found[:min(len(found), maxGutters)]
}

// grow stretches a gutter up and down as far as no word stands in it. If strict, a row ends it that the file writes
// from one side to the other: it is a line of a text or a table across both.
func (g gutter) grow(all []row, bars []Rule, least float32, strict bool) gutter {
	for g.to < len(all) && g.take(&all[g.to], bars, all[g.to-1].base, all[g.to].base, least, strict) {
		g.to++
	}
	for g.from > 0 && g.take(&all[g.from-1], bars, all[g.from-1].base, all[g.from].base, least, strict) {
		g.from--
	}
	// The row that it began with has to pass like the others.
	first := g
	for i := g.from; i < g.to; i++ {
		if !first.take(&all[i], nil, 0, 0, least, strict) {
			return gutter{}
		}
	}
	return first
}

// take narrows a gutter by a row; false where the row ends it.
func (g *gutter) take(r *row, bars []Rule, from, to, least float32, strict bool) bool {
	x0, x1, mid := g.x0, g.x1, g.mid()
	var before, after *word
	for i := range r.words {
		w := &r.words[i]
		switch {
		case w.X1 <= mid:
			x0, before = max(x0, w.X1), w
		case w.X0 >= mid:
			if after == nil {
				after = w
			}
			x1 = min(x1, w.X0)
		default:
			return false
		}
	}
	if x1-x0 < least || before != nil && after != nil && after.X0-before.X1 < 0.7*r.size {
		return false
	}
	if strict && before != nil && after != nil && after.first-before.last >= 0 && after.first-before.last <= 2 {
		return false
	}
	// bars go from top to bottom.
	i, _ := slices.BinarySearchFunc(bars, from, func(b Rule, y float32) int { return cmp.Compare(b.Y0, y) })
	for ; i < len(bars) && bars[i].Y0 < to; i++ {
		if b := &bars[i]; b.Y0 > from && b.X0 < x0-2*least && b.X1 > x1+2*least {
			return false // a line drawn across
		}
	}
	g.x0, g.x1 = x0, x1
	return true
}

// side tells on which sides of the gutter a row has words.
func (g *gutter) side(r *row) (left, right bool) {
	mid := g.mid()
	return r.X0 < mid, r.X1 > mid
}

// trim takes rows off the ends that stand on one side alone and belong to what is above or below the columns.
func (g *gutter) trim(all []row) {
	if g.to-g.from < 2 {
		return
	}
	// Where one column ends, the other goes on; unless a gap follows, and what comes is written after both.
	last := [2]int{-1, -1} // the last row of each side
	for i := g.from; i < g.to; i++ {
		left, right := g.side(&all[i])
		if left {
			last[0] = i
		}
		if right {
			last[1] = i
		}
	}
	if last[0] < 0 || last[1] < 0 {
		return
	}
	end := min(last[0], last[1]) // both columns reach here
	start := g.begin(all)
	if start > end {
		return
	}
	pitch := g.pitch(all[start : end+1])
	// A line above the second column that is written before the first is of neither, such as a page's number.
	first := g.oldest(all)
	for i := start - 1; i >= g.from; i-- {
		words := all[i].words
		if n := g.next(all, i); n > 0 && all[n].base-all[i].base > 1.4*pitch && words[len(words)-1].last < first {
			g.from = i + 1
			break
		}
	}
	// A row or two far above or below are a running line.
	for i := g.from + 1; i < min(g.from+3, g.to); i++ {
		if all[i].base-all[i-1].base > 3*pitch {
			g.from = i
			break
		}
	}
	for i := g.to - 1; i > max(g.to-3, g.from); i-- {
		if all[i].base-all[i-1].base > 3*pitch {
			g.to = i
			break
		}
	}
	end = min(end, g.to-1)
	newest := int32(-1) // the last character of the column that ends first
	short := 0
	if last[1] < last[0] {
		short = 1
	}
	for i := g.from; i <= end; i++ {
		for k := range all[i].words {
			w := &all[i].words[k]
			if (w.X0 > g.mid()) == (short == 1) {
				newest = max(newest, w.last)
			}
		}
	}
	for i := end + 1; i < g.to; i++ {
		gap := all[i].base - all[i-1].base // from here on all stand on one side
		if gap > 1.5*pitch && all[i].words[0].first > newest || gap > 4*pitch || all[i].size > 1.15*all[i-1].size && gap > 1.2*pitch && all[i].words[0].first > newest {
			g.to = i
			break
		}
	}
}

// begin is the first row beside which something stands on the other side, in it or in the row before.
func (g *gutter) begin(all []row) int {
	first := [2]int{-1, -1}
	for i := g.from; i < g.to && (first[0] < 0 || first[1] < 0); i++ {
		left, right := g.side(&all[i])
		if left && first[0] < 0 {
			first[0] = i
		}
		if right && first[1] < 0 {
			first[1] = i
		}
	}
	late := max(first[0], first[1])
	if late > g.from && all[late].base-all[late-1].base < 0.9*all[late].size {
		late--
	}
	return late
}

// oldest is the first character that both columns have, in the file's order.
func (g *gutter) oldest(all []row) int32 {
	left, right := parts(all[g.begin(all):g.to], g.mid())
	oldest := int32(math.MaxInt32)
	for _, side := range [2][]row{left, right} {
		for i := range side {
			for k := range side[i].words {
				oldest = min(oldest, side[i].words[k].first)
			}
		}
	}
	return oldest
}

// next is the next row after i with words on a side where row i has some; 0 for none.
func (g *gutter) next(all []row, i int) int {
	left, right := g.side(&all[i])
	for n := i + 1; n < g.to; n++ {
		if l, r := g.side(&all[n]); l && left || r && right {
			return n
		}
	}
	return 0
}

// pitch is the distance between lines of a side that most of its rows have.
func (g *gutter) pitch(all []row) float32 {
	var gaps []float32
	left, right := parts(all, g.mid())
	for _, side := range [2][]row{left, right} {
		for i := 1; i < len(side); i++ {
			if d := side[i].base - side[i-1].base; d > 0.5*side[i].size {
				gaps = append(gaps, d)
			}
		}
	}
	if len(gaps) == 0 {
		return 1.2 * medianSize(all)
	}
	return median(gaps)
}

// columns says that what stands on both sides is text in columns, and not a table or labels with what they name.
func (g *gutter) columns(all []row, strict bool) bool {
	if g.to-g.from < 2 {
		return false
	}
	left, right := parts(all[g.from:g.to], g.mid())
	g.left, g.right = len(left), len(right)
	if g.left < 2 || g.right < 2 {
		return false
	}
	if g.tabled(all) {
		return false
	}
	whole := min(measure(left).total, measure(right).total)
	if strict {
		if both, _ := parts(all[g.begin(all):g.to], g.mid()); len(both) > 0 {
			left = both
		}
		if _, both := parts(all[g.begin(all):g.to], g.mid()); len(both) > 0 {
			right = both
		}
	}
	l, r := measure(left), measure(right)
	if strict {
		// The file itself writes one side after the other.
		switch {
		case !apart(left, right):
			return min(l.letters, r.letters) >= 14 && min(l.fill, r.fill) > 0.5 && min(g.left, g.right) >= 4
		case l.items > 1 && r.items > 1:
			return true // lists side by side
		case max(l.letters, r.letters) < 14 && g.paired(all):
			return false // a table that is written column by column
		}
		return min(l.letters, r.letters) >= 5 && (min(l.fill, r.fill) > 0.4 || min(g.left, g.right) >= 5) && whole >= 20
	}
	return min(l.letters, r.letters) >= 18 && min(l.fill, r.fill) > 0.55 && min(g.left, g.right) >= 4 &&
		5*min(g.left, g.right) > max(g.left, g.right)
}

// tabled says that rows go on beyond the gutter on the same lines, in several pieces of which many are short: cells.
func (g *gutter) tabled(all []row) bool {
	const short = 10 // letters
	both, pieces, few, many := 0, 0, 0, 0
	start := g.begin(all)
	for i := start; i < g.to; i++ {
		if left, right := g.side(&all[i]); !left || !right {
			continue
		}
		both++
		all := segments(&all[i])
		if len(all) >= 3 {
			many++
		}
		for _, s := range all {
			letters := 0
			for k := range s {
				letters += len(s[k].inks)
				if s[k].table != nil {
					return false
				}
			}
			pieces++
			if letters <= short {
				few++
			}
		}
	}
	return both >= 3 && both*10 >= 6*(g.to-start) && many*2 > both && few*10 >= 4*pieces
}

// paired says that almost all rows have words on both sides.
func (g *gutter) paired(all []row) bool {
	both := 0
	for i := g.begin(all); i < g.to; i++ {
		if left, right := g.side(&all[i]); left && right {
			both++
		}
	}
	return both > 3 && both*10 >= 8*(g.to-g.begin(all))
}

// apart says that all of one side is written before the other.
func apart(left, right []row) bool {
	span := func(rows []row) (first, last int32) {
		first = rows[0].words[0].first
		for i := range rows {
			for k := range rows[i].words {
				first, last = min(first, rows[i].words[k].first), max(last, rows[i].words[k].last)
			}
		}
		return first, last
	}
	l0, l1 := span(left)
	r0, r1 := span(right)
	return l1 < r0 || r1 < l0
}

// measured is how a side looks: letters of a row and how much of the side's width it fills, both on average.
type measured struct {
	letters, fill float32
	total, items  int
}

func measure(all []row) measured {
	var m measured
	x0, x1 := all[0].X0, all[0].X1
	for i := range all {
		x0, x1 = min(x0, all[i].X0), max(x1, all[i].X1)
	}
	n := float32(0)
	for i := range all {
		r := &all[i]
		letters := 0
		for k := range r.words {
			letters += len(r.words[k].inks)
			for _, c := range r.words[k].inks {
				if wide(c.Rune) {
					letters++
				}
			}
			if r.words[k].table != nil {
				letters += 40
			}
		}
		m.total += letters
		if mark, _ := bullet(plainText(r.words[:min(2, len(r.words))])); mark != "" {
			m.items++
		}
		m.letters += float32(letters)
		if x1 > x0 {
			m.fill += (r.X1 - r.X0) / (x1 - x0)
		}
		n++
	}
	m.letters /= n
	m.fill /= n
	return m
}
