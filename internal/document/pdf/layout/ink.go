package layout

import (
	"cmp"
	"slices"
)

// ink is a character in a row.
type ink struct {
	Glyph
	size  float32
	seq   int32 // its place in the file's order
	raise int8  // 1 for above the line, -1 for below it
}

// chunk is a run of characters as the file writes them, on one line.
type chunk struct {
	Rect
	base, size float32
	inks       []ink
	raise      int8
}

// row is what stands on one line across a region.
type row struct {
	Rect
	base, size float32
	words      []word
}

// word is what stands in a row without a gap, from left to right; or a table that was found by its lines, which takes
// part in the order of the page as one big word.
type word struct {
	Rect
	base, size float32
	inks       []ink
	first      int32 // of its characters in the file's order
	last       int32
	table      *table
}

// maxFontSize is the biggest size that tells anything of its line's neighbours.
const maxFontSize = 400

// clean drops what nobody can see on the page, and answers the characters by their turn.
func clean(p *Page) (turned [5][]ink) {
	seenText := slices.ContainsFunc(p.Glyphs, func(g Glyph) bool {
		return int(g.Style) < len(p.Styles) && !p.Styles[g.Style].Unseen && !p.Styles[g.Style].Pale
	})
	for i := range p.Glyphs {
		g := p.Glyphs[i]
		if int(g.Style) >= len(p.Styles) || g.Turn > Slanting || !finite(g.Rect) || !finite(Rect{g.Base, g.X, 0, 0}) {
			continue
		}
		x, y := (g.X0+g.X1)/2, (g.Y0+g.Y1)/2
		if x < 0 || y < 0 || float64(x) > p.Width || float64(y) > p.Height {
			continue
		}
		// Text without ink is what was read in a scan, if it stands on one; white text is seen on what is coloured.
		look := &p.Styles[g.Style]
		if look.Unseen && seenText && !within(p.Images, x, y) ||
			look.Pale && !look.Unseen && (seenText || p.Drawn == 0) && !within(p.Images, x, y) && !within(p.Fills, x, y) {
			continue
		}
		if !(look.Size > 0 && look.Size < 10*maxFontSize) { // not a number either
			continue
		}
		size := min(max(look.Size, 1), maxFontSize)
		turned[g.Turn] = append(turned[g.Turn], ink{Glyph: g, size: size, seq: int32(i)})
	}
	return turned
}

func within(rects []Rect, x, y float32) bool {
	return slices.ContainsFunc(rects, func(r Rect) bool { return x >= r.X0 && x <= r.X1 && y >= r.Y0 && y <= r.Y1 })
}

func finite(r Rect) bool {
	const far = 1e7
	for _, v := range [4]float32{r.X0, r.Y0, r.X1, r.Y1} {
		if !(v > -far && v < far) { // not a number either
			return false
		}
	}
	return true
}

func abs(v float32) float32 { return max(v, -v) }

// chunks joins characters that the file writes one after the other.
func chunks(inks []ink) []chunk {
	var out []chunk
	start := 0
	for i := 1; i <= len(inks); i++ {
		if i < len(inks) && follows(&inks[i-1], &inks[i]) {
			continue
		}
		if i > start {
			out = append(out, newChunk(inks[start:i]))
		}
		start = i
	}
	return out
}

// follows says that b goes on with the line of a.
func follows(a, b *ink) bool {
	size := min(a.size, b.size)
	return abs(a.Base-b.Base) <= 0.12*size && max(a.size, b.size) <= 1.34*size &&
		b.X0 < a.X1+2*size && b.X1 > a.X0-2*size
}

func newChunk(inks []ink) chunk {
	c := chunk{Rect: inks[0].Rect, base: inks[0].Base, inks: inks}
	for i := range inks {
		c.Rect = c.union(inks[i].Rect)
		c.size = max(c.size, inks[i].size)
	}
	return c
}

func (r Rect) union(o Rect) Rect {
	return Rect{min(r.X0, o.X0), min(r.Y0, o.Y0), max(r.X1, o.X1), max(r.Y1, o.Y1)}
}

// line is chunks on one base line.
type line struct {
	base, size float32
	chunks     []chunk
}

// rows puts characters into lines from top to bottom, raised and lowered ones beside what they belong to.
func rows(inks []ink) []row {
	all := chunks(inks)
	slices.SortStableFunc(all, func(a, b chunk) int { return cmp.Compare(a.base, b.base) })
	var lines []line
	for _, c := range all {
		if n := len(lines); n > 0 {
			l := &lines[n-1]
			if abs(l.base-c.base) <= 0.2*min(l.size, c.size) {
				l.chunks = append(l.chunks, c)
				l.size = max(l.size, c.size)
				continue
			}
		}
		lines = append(lines, line{base: c.base, size: c.size, chunks: []chunk{c}})
	}
	for i := range lines {
		slices.SortStableFunc(lines[i].chunks, func(a, b chunk) int { return cmp.Compare(a.X0, b.X0) })
	}
	attach(lines)
	var out []row
	for _, l := range lines {
		if r, ok := newRow(l); ok {
			out = append(out, r)
		}
	}
	return out
}

// attach moves small chunks that stand raised or lowered beside bigger ones into those' lines.
func attach(lines []line) {
	added := make([][]chunk, len(lines))
	for i := range lines {
		kept := lines[i].chunks[:0:0]
		moved := false
		for _, c := range lines[i].chunks {
			if to, raise := bearer(lines, i, c); to >= 0 {
				for j := range c.inks {
					c.inks[j].raise = raise
				}
				c.raise = raise
				added[to] = append(added[to], c)
				moved = true
			} else {
				kept = append(kept, c)
			}
		}
		if moved {
			lines[i].chunks = kept
		}
	}
	for i := range lines {
		lines[i].chunks = append(lines[i].chunks, added[i]...)
	}
}

// bearer finds the line that a small chunk of line i is raised or lowered beside; -1 for none.
func bearer(lines []line, i int, c chunk) (int, int8) {
	const reach = 12 // lines up and down that are looked at
	for d := 1; d <= reach; d++ {
		for _, j := range [2]int{i + d, i - d} {
			if j < 0 || j >= len(lines) {
				continue
			}
			l := &lines[j]
			if l.size < 1.18*c.size || c.base < l.base-0.75*l.size || c.base > l.base+0.4*l.size || !beside(l.chunks, c) {
				continue
			}
			switch {
			case c.base < l.base-0.12*l.size:
				return j, 1
			case c.base > l.base+0.06*l.size:
				return j, -1
			}
			return j, 0
		}
	}
	return -1, 0
}

// beside says that a bigger chunk of the line ends where c begins, or begins where c ends.
func beside(line []chunk, c chunk) bool {
	at, _ := slices.BinarySearchFunc(line, c.X0, func(a chunk, x float32) int { return cmp.Compare(a.X0, x) })
	for k := max(0, at-2); k < min(len(line), at+2); k++ {
		a := &line[k]
		if a.raise != 0 || a.size < 1.18*c.size {
			continue
		}
		if len(a.inks) <= 2 && len(c.inks) > 4 && a.size > 1.7*c.size {
			continue // the first letter of a text, set over several of its lines
		}
		near := 0.45 * a.size
		if c.X0 > a.X1-near && c.X0 < a.X1+near || c.X1 > a.X0-near && c.X1 < a.X0+near && c.X0 < a.X0 || c.X0 >= a.X0 && c.X1 <= a.X1 {
			return true
		}
	}
	return false
}

// single drops characters that are drawn over the same one, a hair beside it: bold is sometimes made so. inks go from
// left to right.
func single(inks []ink) []ink {
	out := inks[:0]
	for i := range inks {
		k := &inks[i]
		twin := false
		for j := len(out) - 1; j >= 0 && j >= len(out)-3 && !twin; j-- {
			o := &out[j]
			// Letters of one sign, such as a ligature, share its place and follow each other.
			twin = o.Rune == k.Rune && k.Rune != '.' && max(o.seq-k.seq, k.seq-o.seq) > 2 &&
				abs(o.X0-k.X0) < 0.15*k.size && abs(o.Y0-k.Y0) < 0.15*k.size
		}
		if !twin {
			out = append(out, *k)
		}
	}
	return out
}

// newRow makes words of a line.
func newRow(l line) (row, bool) {
	var inks []ink
	for _, c := range l.chunks {
		inks = append(inks, c.inks...)
	}
	if len(inks) == 0 {
		return row{}, false
	}
	slices.SortStableFunc(inks, func(a, b ink) int { return cmp.Compare(a.X0+a.X1, b.X0+b.X1) })
	inks = single(inks)
	settleShared(inks)
	settleMarks(inks)
	inks = overstruck(inks)
	r := row{base: l.base, size: mainSize(inks)}
	start := 0
	for i := 1; i <= len(inks); i++ {
		if i < len(inks) && !parted(&inks[i-1], &inks[i]) {
			continue
		}
		r.words = append(r.words, newWord(inks[start:i], l.base))
		start = i
	}
	r.Rect = extent(r.words)
	return r, true
}

// mainSize is the size that most of the characters on the line have.
func mainSize(inks []ink) float32 {
	counts := map[float32]int{}
	best := inks[0].size
	for i := range inks {
		if inks[i].raise == 0 {
			counts[inks[i].size]++
		}
	}
	for s, n := range counts {
		if n > counts[best] || n == counts[best] && s > best {
			best = s
		}
	}
	return best
}

func newWord(inks []ink, base float32) word {
	w := word{Rect: inks[0].Rect, base: base, size: mainSize(inks), inks: inks, first: inks[0].seq, last: inks[0].seq}
	for i := range inks {
		w.Rect = w.union(inks[i].Rect)
		w.first, w.last = min(w.first, inks[i].seq), max(w.last, inks[i].seq)
	}
	return w
}

func extent(words []word) Rect {
	r := words[0].Rect
	for i := range words {
		r = r.union(words[i].Rect)
	}
	return r
}

// parted says that a blank stands between two characters side by side.
func parted(a, b *ink) bool {
	gap, size := b.X0-a.X1, max(a.size, b.size)
	if a.raise != b.raise {
		size = min(a.size, b.size)
	}
	if strength(a.Rune) < 0 || strength(b.Rune) < 0 {
		// The engine's order is not always that of the file there, so that the gap has more to say.
		switch {
		case b.seq == a.seq+1 && b.Blank == Written, a.seq == b.seq+1 && a.Blank == Written:
			return gap > -0.1*size // letters may reach under their neighbours
		case b.seq == a.seq+1 && b.Blank != NoBlank, a.seq == b.seq+1 && a.Blank != NoBlank:
			return gap > 0.1*size
		case max(b.seq-a.seq, a.seq-b.seq) <= 3: // letters of one sign may stand between
			return gap > 0.22*size
		}
		return gap > 0.16*size
	}
	blank := NoBlank
	switch {
	case b.seq == a.seq+1:
		blank = b.Blank
	case a.seq == b.seq+1:
		blank = a.Blank // written from right to left
	default:
		// Pieces that the file writes apart.
		return gap > 0.13*size && (!wide(a.Rune) || !wide(b.Rune)) || gap > 0.6*size
	}
	if wide(a.Rune) && wide(b.Rune) {
		// The ink of their punctuation is narrow in a square that is full.
		return blank == Written && gap > 0.1*size || b.X-a.X > 1.9*size && gap > 0.8*size
	}
	switch blank {
	case Written:
		return gap > -0.2*size
	case Guessed:
		if a.raise != b.raise {
			return gap > 0.25*size // the engine sees one wherever a base line changes
		}
		return gap > 0.08*size
	}
	return gap > 0.5*size
}
