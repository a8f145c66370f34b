package layout

import (
	"slices"
	"strings"
	"unicode"
)

// segments are the pieces of a row that wide gaps part.
func segments(r *row) [][]word {
	var out [][]word
	start := 0
	for i := 1; i <= len(r.words); i++ {
		if i < len(r.words) && r.words[i].X0-r.words[i-1].X1 < 0.9*max(r.size, 1) {
			continue
		}
		out = append(out, r.words[start:i:i])
		start = i
	}
	return out
}

// alignedTable finds a table without drawn cells at the start of rows, which are one region's, and answers how many
// rows it takes; nil for none, and how many looked like one. mono says that the page is set in a monospaced font.
func alignedTable(all []row, bars []Rule, mono bool) (*table, int) {
	n := tabular(all)
	if n < 2 {
		return nil, n
	}
	t := tableOf(all[:n], bars, mono)
	// What stands below a table may leave its gaps free by chance, a heading or the items of a list.
	if m := leading(all[:n]); m < n {
		if upper := tableOf(all[:m], bars, mono); upper != nil && (t == nil || upper.columns() > t.columns()) {
			return upper, m
		}
	}
	return t, n
}

// leading is how many rows from the first have several pieces, where they are three or more and the next one, which has
// not, stands further below than they do below each other; else all of them.
func leading(all []row) int {
	var steps []float32
	for m := 1; m < len(all); m++ {
		step := all[m].base - all[m-1].base
		if len(segments(&all[m])) >= 2 {
			steps = append(steps, step)
			continue
		}
		if m >= 3 && step > 1.25*median(steps) {
			return m
		}
		break
	}
	return len(all)
}

// tableOf makes a table of rows; nil where they do not stand like one.
func tableOf(all []row, bars []Rule, mono bool) *table {
	gaps := sharedGaps(all)
	if len(gaps) == 0 {
		return nil
	}
	t := fillColumns(all, gaps)
	if !convincing(t, all, mono) {
		return nil
	}
	t.joinLines(all, bars)
	t.prune()
	return t
}

// tabular is how many rows from the first stand in columns: every row leaves the gaps between them free. One row may
// reach across, if more of the table follows.
func tabular(all []row) int {
	const most = 500
	if len(all) < 2 {
		return 0
	}
	free := gapsOf(&all[0])
	if len(free) == 0 {
		return 0
	}
	size := all[0].size
	n, last, bad := 1, 1, 0 // rows taken, up to the last with several pieces
	var steps []float32
	for i := 1; i < len(all) && i < most; i++ {
		r := &all[i]
		step := r.base - all[i-1].base
		usual := 1.5 * size
		if len(steps) > 0 {
			usual = median(steps)
		}
		if r.words[0].table != nil || step > max(2.1*size, 1.7*usual) || r.size > 1.25*size || r.size < 0.7*size {
			break
		}
		kept := narrowed(free, r, size)
		several := len(segments(r)) >= 2
		switch {
		case len(kept) == len(free), len(kept) > 0 && several && i <= 2:
			free, bad = kept, 0
		default:
			if bad++; bad > 1 || len(kept) == 0 && !several && last < 2 {
				return last
			}
		}
		steps = append(steps, step)
		n = i + 1
		if several && bad == 0 {
			last = n
		}
	}
	// Lines of a last cell may follow, close beneath.
	for last < n && len(segments(&all[last])) == 1 && len(narrowed(free, &all[last], size)) == len(free) && all[last].base-all[last-1].base < 1.5*size &&
		all[last].X0 > free[0].x0 {
		last++
	}
	return last
}

func median(values []float32) float32 {
	s := slices.Clone(values)
	slices.Sort(s)
	return s[len(s)/2]
}

// gapsOf are the stretches between the pieces of a row.
func gapsOf(r *row) []interval {
	var out []interval
	pieces := segments(r)
	for i := 1; i < len(pieces); i++ {
		out = append(out, interval{extent(pieces[i-1]).X1, extent(pieces[i]).X0})
	}
	return out
}

// narrowed are the gaps that a row leaves free, each by what it leaves of it.
func narrowed(gaps []interval, r *row, size float32) []interval {
	var out []interval
	for _, g := range gaps {
		// Words divide what is free of it; the widest piece counts.
		best, from := interval{}, g.x0
		try := func(to float32) {
			if to-from > best.x1-best.x0 {
				best = interval{from, to}
			}
		}
		for i := range r.words {
			w := &r.words[i]
			if w.X1 <= from || w.X0 >= g.x1 {
				continue
			}
			try(w.X0)
			from = max(from, w.X1)
		}
		try(g.x1)
		if best.x1-best.x0 >= 0.6*size {
			out = append(out, best)
		}
	}
	return out
}

// interval is a stretch along x.
type interval struct{ x0, x1 float32 }

// sharedGaps are the stretches in which almost no row has a word, and most rows have a gap.
func sharedGaps(all []row) []interval {
	strict := gapsWith(all, 0)
	// Rows that reach across columns: a title in the table, a note.
	if loose := gapsWith(all, len(all)/7); len(loose) > len(strict) {
		return loose
	}
	return strict
}

// gapsWith is sharedGaps where so many rows may have a word in a gap.
func gapsWith(all []row, most int) []interval {
	type event struct {
		x float32
		d int
	}
	var events []event
	size := medianSize(all)
	// What many rows leave free need not be much wider than a blank.
	least := 0.9 * size
	if len(all) > 2 {
		least = 0.5 * size
	}
	for i := range all {
		words := all[i].words
		for k := range words {
			r := words[k].Rect
			if k+1 < len(words) && words[k+1].X0-r.X1 < 0.36*size {
				r.X1 = words[k+1].X0 // a blank parts no columns
			}
			events = append(events, event{r.X0, 1}, event{r.X1, -1})
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		switch {
		case a.x != b.x && a.x < b.x:
			return -1
		case a.x != b.x:
			return 1
		}
		return b.d - a.d
	})
	var out []interval
	cover := 0
	for k, e := range events {
		cover += e.d
		if cover > most || k+1 == len(events) {
			continue
		}
		g := interval{e.x, events[k+1].x}
		if m := len(out); m > 0 && g.x0 <= out[m-1].x1+0.01 {
			out[m-1].x1 = g.x1
			continue
		}
		out = append(out, g)
	}
	narrow := func(g interval) bool { return g.x1-g.x0 < least }
	out = slices.DeleteFunc(out, func(g interval) bool {
		both, apart := sides(all, g, size)
		return both*2 < len(all) || narrow(g) && (apart < both || len(all) < 4 || g.x1-g.x0 < 0.1*size)
	})
	// Numbers that end at one place and a heading that begins at another leave little between them: a sheet's cells. Then
	// both columns have words in most rows; where not, the gap goes that fewer rows have.
	const mostNarrow = 32
	if len(out) > mostNarrow {
		return slices.DeleteFunc(out, narrow)
	}
	for {
		worst, fewest := -1, 0
		for i, g := range out {
			if !narrow(g) || filled(all, out, i)*5 >= 4*len(all) && filled(all, out, i+1)*5 >= 4*len(all) {
				continue
			}
			if both, _ := sides(all, g, size); worst < 0 || both < fewest {
				worst, fewest = i, both
			}
		}
		if worst < 0 {
			return out
		}
		out = slices.Delete(out, worst, worst+1)
	}
}

// sides is how many rows have words on both sides of a gap, and how many of them have none near it on one of them.
func sides(all []row, g interval, size float32) (both, apart int) {
	for i := range all {
		left, right := float32(-1e6), float32(1e6)
		for k := range all[i].words {
			w := &all[i].words[k]
			if w.X1 <= g.x0+1 {
				left = max(left, w.X1)
			}
			if w.X0 >= g.x1-1 {
				right = min(right, w.X0)
			}
		}
		if left > -1e6 && right < 1e6 {
			if both++; right-left >= 0.9*size {
				apart++
			}
		}
	}
	return both, apart
}

// filled is how many rows have a word in the column before the gap of this number.
func filled(all []row, gaps []interval, i int) int {
	from, to := float32(-1e6), float32(1e6)
	if i > 0 {
		from = gaps[i-1].x1 - 1
	}
	if i < len(gaps) {
		to = gaps[i].x0 + 1
	}
	n := 0
	for k := range all {
		if slices.ContainsFunc(all[k].words, func(w word) bool { return w.X0 >= from && w.X1 <= to }) {
			n++
		}
	}
	return n
}

// fillColumns puts the words of rows into the columns between gaps.
func fillColumns(all []row, gaps []interval) *table {
	t := &table{Rect: all[0].Rect}
	for i := range all {
		r := &all[i]
		t.Rect = t.union(r.Rect)
		cells := make([]cell, len(gaps)+1)
		for _, s := range segments(r) {
			e := extent(s)
			column, last := columnOf(gaps, e.X0), columnOf(gaps, e.X1)
			if last > column && len(s) > 1 {
				// It reaches across columns: each word goes to its own, if a blank falls into every gap.
				if split := splitAt(s, gaps[column:last]); split != nil {
					for k, part := range split {
						if len(part) > 0 {
							cells[column+k].add(r.of(part))
						}
					}
					continue
				}
			}
			cells[column].add(r.of(s))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// add puts words into a cell, into the row that is there already.
func (c *cell) add(r row) {
	if n := len(c.rows); n > 0 && c.rows[n-1].base == r.base {
		c.rows[n-1] = r.of(append(slices.Clip(c.rows[n-1].words), r.words...))
		return
	}
	c.rows = append(c.rows, r)
}

func columnOf(gaps []interval, x float32) int {
	for i, g := range gaps {
		if x <= (g.x0+g.x1)/2 {
			return i
		}
	}
	return len(gaps)
}

// splitAt splits words at gaps; nil where one stands across.
func splitAt(words []word, gaps []interval) [][]word {
	out := make([][]word, len(gaps)+1)
	for _, w := range words {
		k := columnOf(gaps, (w.X0+w.X1)/2)
		if k < len(gaps) && w.X1 > gaps[k].x1+1 || k > 0 && w.X0 < gaps[k-1].x0-1 {
			return nil
		}
		out[k] = append(out[k], w)
	}
	return out
}

// convincing says that what was put into columns is a table and not a text with gaps, a list or a contents page.
func convincing(t *table, all []row, mono bool) bool {
	columns := t.columns()
	full, led, many := 0, 0, 0
	for i, r := range t.rows {
		filled := 0
		for _, c := range r {
			if len(c.rows) > 0 {
				filled++
			}
		}
		if filled >= 2 {
			full++
		}
		if filled >= 3 {
			many++
		}
		if leader(all[i].words) {
			led++
		}
	}
	if full < 2 || columns == 2 && full < 3 || full*2 < len(t.rows) || led*2 > len(t.rows) {
		return false
	}
	markers, bulleted := 0, 0
	for _, r := range t.rows {
		for j := range r {
			if len(r[j].rows) > 0 {
				if mark, rest := bullet(plainText(r[j].rows[0].words)); mark != "" && rest != "" {
					bulleted++
				}
			}
		}
		if len(r[0].rows) > 0 && marker(plainText(r[0].rows[0].words)) {
			markers++
		}
	}
	if bulleted > len(t.rows) {
		return false // lists side by side
	}
	if markers*4 > full*3 && columns == 2 {
		return false // a list, or numbered headings
	}
	// Cells of a column begin, end or stand in the middle at one place. Where many columns keep free of each other for
	// several rows, numbers may be set by their points, too.
	good, long, said, cells := 0, 0, 0, 0
	for j := range columns {
		var left, right, mid []float32
		letters, n := 0, 0
		for _, r := range t.rows {
			if len(r[j].rows) == 0 {
				continue
			}
			e := r[j].rows[0].Rect
			left, right, mid = append(left, e.X0), append(right, e.X1), append(mid, (e.X0+e.X1)/2)
			letters += lettersOf(r[j].rows)
			n++
		}
		if n > 0 && letters > 45*n {
			long++
		}
		said += letters
		cells += n
		size := medianSize(all)
		if n > 0 && max(agreeing(left, 0.5*size), agreeing(right, 0.5*size), agreeing(mid, 0.6*size))*10 >= 6*n {
			good++
		}
	}
	if !mono && columns > 3 && many >= 3 && many*2 >= len(t.rows) && said <= 16*cells {
		return true
	}
	return good >= columns-1 && (long < 2 || columns > 2)
}

// justified says that rows from one to another are lines of a text whose blanks are stretched until they fill their
// column: they begin and end where the lines before or after them do, and what parts their words is as wide everywhere.
func justified(all []row, from, to int) bool {
	column := extent(all[from].words)
	for i := from + 1; i < to; i++ {
		column = column.union(all[i].Rect)
	}
	size := medianSize(all[from:to])
	fills, several := 0, 0
	for i := from; i < to; i++ {
		r := &all[i]
		if r.X0-column.X0 < 0.5*size && column.X1-r.X1 < 0.5*size && stretched(r) {
			if fills++; len(r.words) > 2 {
				several++
			}
		}
	}
	if fills*10 < 6*(to-from) || several*3 < fills {
		return false
	}
	beside := func(i, next int) bool {
		if i < 0 || i >= len(all) || all[i].words[0].table != nil || abs(all[i].base-all[next].base) > 1.8*size || !similar(all[i].size, size) {
			return false
		}
		r := &all[i]
		return r.X0 > column.X0-0.5*size && r.X0 < column.X0+3*size && r.X1 < column.X1+0.5*size && lettersOf([]row{*r}) > 8 &&
			(len(segments(r)) == 1 || column.X1-r.X1 < 0.5*size && stretched(r))
	}
	return beside(from-1, from) || beside(to, to-1)
}

// stretched says that the words of a row stand as far apart as one another.
func stretched(r *row) bool {
	least, widest := float32(1e6), float32(0)
	for i := 1; i < len(r.words); i++ {
		gap := r.words[i].X0 - r.words[i-1].X1
		least, widest = min(least, gap), max(widest, gap)
	}
	return len(r.words) > 1 && widest < 1.3*least+0.1*r.size
}

func lettersOf(rows []row) int {
	n := 0
	for i := range rows {
		for k := range rows[i].words {
			n += len(rows[i].words[k].inks)
		}
	}
	return n
}

// agreeing is how many of the values are within near of one place.
func agreeing(values []float32, near float32) int {
	slices.Sort(values)
	best, from := 0, 0
	for i := range values {
		for values[i]-values[from] > 2*near {
			from++
		}
		best = max(best, i-from+1)
	}
	return best
}

// leader says that a row of dots leads from one text to another, as on a contents page.
func leader(words []word) bool {
	dots, end := 0, float32(0)
	for i := range words {
		for n := range words[i].inks {
			k := &words[i].inks[n]
			if k.Rune != '.' && k.Rune != '…' && k.Rune != '·' && k.Rune != '_' {
				dots = 0
				continue
			}
			if k.X0-end > 1.5*k.size {
				dots = 0 // of another cell, which stand for nothing
			}
			if dots, end = dots+1, k.X1; dots >= 6 {
				return true
			}
		}
	}
	return false
}

func plainText(words []word) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, k := range words[i].inks {
			b.WriteRune(k.Rune)
		}
	}
	return b.String()
}

// joinLines makes one row of the lines of a table whose cells have several: rows between drawn lines, where there are
// enough of them, else rows that follow closer than others and have no first cell.
func (t *table) joinLines(all []row, bars []Rule) {
	var at []float32
	for i := range bars {
		b := &bars[i]
		if !b.Upright && b.Y0 > t.Y0-4 && b.Y1 < t.Y1+4 && b.X1-b.X0 > 0.2*(t.X1-t.X0) && b.X0 < t.X1 && b.X1 > t.X0 {
			at = append(at, (b.Y0+b.Y1)/2)
		}
	}
	at = snapped(at)
	ruled := len(at) >= 3 && len(all) < 5*len(at)
	var gaps []float32
	for i := 1; i < len(all); i++ {
		if len(t.rows[i][0].rows) > 0 {
			gaps = append(gaps, all[i].base-all[i-1].base)
		}
	}
	slices.Sort(gaps)
	var out [][]cell
	for i, r := range t.rows {
		joins := false
		if i > 0 {
			if ruled {
				joins = !slices.ContainsFunc(at, func(y float32) bool { return y > all[i-1].base && y < all[i].base })
			} else if len(gaps) > 0 && len(r[0].rows) == 0 {
				joins = all[i].base-all[i-1].base < 0.92*gaps[len(gaps)/2]
			}
		}
		if !joins {
			out = append(out, r)
			continue
		}
		last := out[len(out)-1]
		for j := range r {
			last[j].rows = append(last[j].rows, r[j].rows...)
		}
	}
	t.rows = out
}

// marker says that a text is the mark or number of an item.
func marker(s string) bool {
	if b, rest := bullet(s); b != "" {
		return strings.TrimSpace(rest) == ""
	}
	n, rest := enumerator(s)
	return n != "" && strings.TrimSpace(rest) == "" || isNumbering(s)
}

// isNumbering says that s is a number of a section, such as 2.1.
func isNumbering(s string) bool {
	digits := false
	for _, c := range s {
		if unicode.IsDigit(c) {
			digits = true
		} else if c != '.' {
			return false
		}
	}
	return digits && len(s) <= 9
}
