package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// kind is what a block is.
type kind uint8

const (
	paragraph kind = iota
	item
	code
	tabular2D
)

// block is a paragraph, an item of a list, code or a table.
type block struct {
	kind   kind
	page   int
	lines  []textLine
	depth  int    // of an item: 1 for the outermost
	number string // of an item: "3." or another label; empty for a bullet
	cells  [][][]textLine
	gap    float32 // above it, in lines; 0 where it begins a region
	width  float32 // of its page
	start  bool    // it begins a region
	middle bool    // its lines are centred
	foot   bool    // a note at the foot of a page
	// contents says that it is an entry of a contents page.
	contents bool
	barred   bool   // a short line is drawn above it
	note     string // its label, where something refers to it
}

// grouper puts the rows of regions into blocks.
type grouper struct {
	liner
	bars  []Rule
	out   []block
	lists []level // of the list that is open, outermost first
	index outlineIndex
	// allMono says that most of the page is set in a monospaced font, so that it tells no code.
	allMono bool
}

// level is one level of the list that is open.
type level struct {
	x    float32
	kind string
}

// region makes blocks of rows that are read one after another.
func (g *grouper) region(all []row) {
	slices.SortStableFunc(all, func(a, b row) int {
		switch {
		case a.base < b.base:
			return -1
		case a.base > b.base:
			return 1
		}
		return 0
	})
	var lines []textLine
	flush := func() {
		g.paragraphs(lines)
		lines = nil
	}
	isCode := make([]bool, len(all))
	for i := range all {
		isCode[i] = !g.allMono && all[i].words[0].table == nil && g.preformatted(all[i].words) != ""
	}
	again := 0 // the row from which a table is looked for
	for i := 0; i < len(all); {
		if t := all[i].words[0].table; t != nil {
			flush()
			g.table(t)
			i++
			continue
		}
		if !isCode[i] && i >= again {
			// In code blanks are a part of the text.
			const most = 600 // rows of a table
			end := i
			for end < len(all) && end < i+most && !isCode[end] {
				end++
			}
			t, tried := alignedTable(all[i:end], g.bars, g.allMono)
			if t != nil && !justified(all, i, i+tried) {
				flush()
				g.table(t)
				i += tried
				continue
			}
			again = i + max(1, tried/4) // many rows that are none are not tried from each of them
		}
		lines = append(lines, g.line(all[i]))
		i++
	}
	flush()
}

// table makes a block of a table.
func (g *grouper) table(t *table) {
	b := block{kind: tabular2D, page: g.page.Number}
	for _, r := range t.rows {
		cells := make([][]textLine, len(r))
		for j, c := range r {
			to := j
			if g.backwards {
				to = len(r) - 1 - j
			}
			for _, row := range c.rows {
				if row.words[0].table == nil {
					cells[to] = append(cells[to], g.line(row))
				}
			}
		}
		b.cells = append(b.cells, cells)
	}
	if len(b.cells) > 0 {
		g.out = append(g.out, b)
		g.lists = nil
	}
}

// measures of a run of lines, in the direction in which they are read.
type measures struct {
	end   float32 // where the longest ends
	start float32
	pitch float32 // between base lines, in sizes
	size  float32 // of most of its letters
	loose bool    // the lines are those of an address or a poem: none is filled
}

func measureLines(lines []textLine) measures {
	m := measures{start: lines[0].starts(), pitch: 1.2}
	sizes, most := map[float32]int{}, 0
	for i := range lines {
		if sizes[lines[i].size] += lines[i].letters; sizes[lines[i].size] > most {
			m.size, most = lines[i].size, sizes[lines[i].size]
		}
	}
	var pitches, ends []float32
	for i := range lines {
		m.start = min(m.start, lines[i].starts())
		if lines[i].pre == "" {
			ends = append(ends, lines[i].ends())
		}
		if i > 0 {
			if d := (lines[i].base - lines[i-1].base) / max(lines[i].size, 1); d > 0.8 && d < 2.2 && similar(lines[i].size, lines[i-1].size) {
				pitches = append(pitches, d)
			}
		}
	}
	// The end that lines share: one line that sticks out is none.
	slices.Sort(ends)
	if n := len(ends); n > 0 {
		m.end = ends[n-1]
		for i := n - 1; i > 0 && n-1-i <= max(1, n/10); i-- {
			if ends[i]-ends[i-1] <= lines[0].size {
				m.end = ends[i]
				break
			}
		}
	}
	m.loose = loose(lines, m)
	if len(pitches) > 0 {
		slices.Sort(pitches)
		m.pitch = pitches[len(pitches)/2]
		// A page of single lines apart is none of lines at that pitch.
		if low := pitches[len(pitches)/5]; m.pitch > 1.3*low {
			m.pitch = low
		}
	}
	return m
}

// loose says that lines are few and short and end here and there.
func loose(lines []textLine, m measures) bool {
	const (
		most  = 8
		least = 3 // lines like the last
	)
	last := &lines[len(lines)-1]
	n, fill := 0, float32(0)
	for i := range lines {
		l := &lines[i]
		if l.letters > 34 || l.pre != "" || len(lines) > most {
			return false
		}
		if similar(l.size, last.size) && i < len(lines)-1 {
			n++
			fill += (l.X1 - l.X0) / max(m.end-m.start, 1)
		}
	}
	return n+1 >= least && fill/float32(n) < 0.82
}

func similar(a, b float32) bool { return abs(a-b) <= 0.08*max(a, b) }

// starts and ends are places along the direction in which a line is read.
func (l *textLine) starts() float32 {
	if l.backwards {
		return l.axis - l.X1
	}
	return l.X0
}

func (l *textLine) ends() float32 {
	if l.backwards {
		return l.axis - l.X0
	}
	return l.X1
}

// paragraphs puts lines into blocks.
func (g *grouper) paragraphs(lines []textLine) {
	if len(lines) == 0 {
		return
	}
	whole := lines[0].Rect
	for i := range lines {
		whole = whole.union(lines[i].Rect)
	}
	for i := range lines {
		lines[i].axis = whole.X0 + whole.X1
	}
	m := measureLines(lines)
	var b *block
	for i := range lines {
		l := &lines[i]
		l.marked = g.index.lookup(l.text(), g.page.Number) > 0
		label, n := g.label(lines, i, m)
		var prev *textLine
		if i > 0 {
			prev = &lines[i-1]
		}
		if b != nil && b.contents && !leaderLine(prev) && leaderLine(l) {
			b.lines = append(b.lines, *l) // its second line has the number
			continue
		}
		if b != nil && label == "" && g.goesOn(b, prev, lines, i, m) {
			if b.kind != code && brokenOff(prev, l, m) {
				l.hard = true
			}
			b.lines = append(b.lines, *l)
			continue
		}
		next := block{kind: paragraph, page: g.page.Number, width: float32(g.page.Width), start: i == 0, barred: g.barred(l)}
		if prev != nil {
			next.gap = (l.base - prev.base) / (m.pitch * max(l.size, 1))
		}
		switch {
		case l.pre != "":
			next.kind = code
			g.lists = nil
		case label != "":
			next.kind = item
			next.depth = g.depth(l, label)
			next.contents = label == leaders
			switch {
			case strings.HasSuffix(label, ".") || strings.HasSuffix(label, ")"):
				next.number = label
			case label123(label):
				next.number = label + "."
			}
			l.take(n)
		default:
			next.middle = centred(l, m)
			if len(g.lists) > 0 && l.starts() < g.lists[0].x+0.8*l.size {
				g.lists = nil
			}
		}
		next.lines = []textLine{*l}
		g.out = append(g.out, next)
		b = &g.out[len(g.out)-1]
	}
}

// barred says that a short line is drawn right above a line, where it begins, as above notes.
func (g *grouper) barred(l *textLine) bool {
	from, _ := slices.BinarySearchFunc(g.bars, l.base-2.8*l.size, func(r Rule, y float32) int { return cmp.Compare(r.Y0, y) })
	return slices.ContainsFunc(g.bars[from:min(len(g.bars), from+100)], func(r Rule) bool {
		return r.Y0 > l.base-2.8*l.size && r.Y0 < l.base-0.6*l.size && abs(r.X0-l.X0) < 2*l.size && r.X1-r.X0 > 20 && r.X1-r.X0 < 260
	})
}

// centred says that a line stands in the middle of its region.
func centred(l *textLine, m measures) bool {
	before, after := l.starts()-m.start, m.end-l.ends()
	return before > 1.5*l.size && abs(before-after) < 0.6*l.size+0.02*(m.end-m.start)
}

// label is the mark or number that makes line i an item, and its bytes with the blank after it; empty for none.
func (g *grouper) label(lines []textLine, i int, m measures) (string, int) {
	l := &lines[i]
	if l.mono && l.pre != "" || l.level > 0 {
		return "", 0
	}
	text := l.text()
	if leaderLine(l) || i > 0 && i+1 < len(lines) && leaderLine(&lines[i-1]) && leaderLine(&lines[i+1]) && similar(l.size, lines[i+1].size) {
		return leaders, 0
	}
	mark, rest := bullet(text)
	if mark != "" {
		if rest == "" && i+1 < len(lines) && abs(lines[i+1].base-l.base) > 0.5*l.size {
			return "", 0
		}
		switch mark {
		case "☐", "☑", "☒": // says whether something is chosen
			return "☐", 0
		}
		return mark, len(text) - len(rest)
	}
	mark, rest = enumerator(text)
	if mark == "" {
		mark, rest = g.bareNumber(lines, i, m)
	}
	if mark == "" || rest == "" {
		return "", 0
	}
	if l.bold {
		return "", 0 // a heading
	}
	// A line may begin with a number because the one before it ended there.
	if i > 0 {
		p := &lines[i-1]
		wrapped := similar(p.size, l.size) && l.base-p.base < 1.25*m.pitch*l.size && abs(l.starts()-p.starts()) < 0.5*l.size && !g.fits(p, l, m)
		if wrapped && (len(g.lists) == 0 || kindOf(mark) != g.lists[len(g.lists)-1].kind) {
			return "", 0
		}
	}
	// A letter with a dot may be a name's initial, unless the next of the list follows or a list goes on.
	if c := strings.Trim(mark, "()."); !label123(c) && (len(g.lists) == 0 || g.lists[len(g.lists)-1].kind != kindOf(mark)) && !followed(lines, i, mark) {
		return "", 0
	}
	return mark, len(text) - len(rest)
}

// fits says that the first word of l would have had room on p, so that the line was ended on purpose.
func (g *grouper) fits(p, l *textLine, m measures) bool {
	return brokenOff(p, l, m)
}

func brokenOff(p, l *textLine, m measures) bool {
	if hyphened(p) {
		return false
	}
	if m.loose {
		return true
	}
	if abs(l.ends()-p.ends()) < 0.3*l.size && abs(l.starts()-p.starts()) > 2*l.size && min(l.starts(), p.starts()) > m.start+2*l.size && max(l.letters, p.letters) < 40 {
		return true // lines that are set to end at one place
	}
	if abs(l.ends()-p.ends()) < 0.4*l.size && l.letters > 25 && !ended(p) {
		return false // both end at one place: it is the text's
	}
	room := m.end - p.ends()
	if centred(p, m) && centred(l, m) {
		room *= 2
	}
	return room > max(2.5*l.size, 0.12*(m.end-m.start)) && room > l.first+0.9*l.size
}

// hyphened says that a line ends with a hyphen, so that its last word goes on.
func hyphened(l *textLine) bool {
	t := l.text()
	return strings.HasSuffix(t, "-") || strings.HasSuffix(t, "\u00ad") || strings.HasSuffix(t, "‐")
}

// lowerFirst says that a line begins with a small letter.
func lowerFirst(l *textLine) bool {
	c, _ := utf8.DecodeRuneInString(l.text())
	return lower(c)
}

// noteMark says that a raised text is the number or sign of a note.
func noteMark(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && len(s) <= 3 && strings.Trim(s, "0123456789*†‡§¶") == ""
}

// anyMono says that something on the line is set in a monospaced font, whose size often differs from the text's.
func (l *textLine) anyMono() bool {
	return slices.ContainsFunc(l.spans, func(s span) bool { return s.mono })
}

// depth is the level of an item, by where its mark stands and what it is.
func (g *grouper) depth(l *textLine, label string) int {
	x, k := l.starts(), kindOf(label)
	near := 0.45 * l.size
	for len(g.lists) > 0 && g.lists[len(g.lists)-1].x > x+near {
		g.lists = g.lists[:len(g.lists)-1]
	}
	if n := len(g.lists); n > 0 && abs(g.lists[n-1].x-x) <= near {
		// At one place a different mark tells the level.
		for i := n - 1; i >= 0 && abs(g.lists[i].x-x) <= near; i-- {
			if g.lists[i].kind == k {
				g.lists = g.lists[:i+1]
				return i + 1
			}
		}
		if counted(g.lists[n-1].kind) != counted(k) {
			g.lists[n-1].kind = k // another list
			return n
		}
	}
	const most = 8
	if len(g.lists) < most {
		g.lists = append(g.lists, level{x, k})
	}
	return len(g.lists)
}

// counted says that a kind of items is one with numbers or letters.
func counted(kind string) bool {
	return kind == "1" || strings.HasSuffix(kind, ".") || strings.HasSuffix(kind, ")")
}

// goesOn says that line i goes on with block b, whose last line is prev.
func (g *grouper) goesOn(b *block, prev *textLine, lines []textLine, i int, m measures) bool {
	l := &lines[i]
	first := &b.lines[0]
	d := l.base - prev.base
	if l.pre != "" || prev.pre != "" {
		return l.pre != "" && prev.pre != "" && b.kind == code && d < 3.6*m.pitch*l.size && similar(l.size, prev.size)
	}
	if l.marked || prev.marked {
		return false // headings of their own, by the outline
	}
	if !similar(l.size, prev.size) && !(abs(l.size-prev.size) <= 0.16*l.size && (l.anyMono() || prev.anyMono())) || l.level != prev.level || l.backwards != prev.backwards && min(l.letters, prev.letters) > 2 {
		return false
	}
	pitch := m.pitch * l.size
	if hyphened(prev) && lowerFirst(l) && d > 0.3*l.size && d < 1.6*pitch && l.starts()-prev.starts() < 3*l.size {
		return true // in the middle of a word
	}
	if len(b.lines) > 1 {
		// The block's own pitch, where it is set tighter.
		pitch = min(pitch, 1.12*(prev.base-b.lines[len(b.lines)-2].base))
	}
	far := float32(1.3)
	if l.size > 1.14*m.size {
		far = 1.22 // headings below one another
	}
	if d > far*pitch && d > 1.15*l.size || d < 0.3*l.size {
		return false
	}
	if l.level > 0 {
		return true
	}
	short := brokenOff(prev, l, m)
	if short && len(l.spans) > 1 && l.spans[0].raise > 0 && b.kind != item && noteMark(l.spans[0].text) {
		return false // the next note
	}
	if l.bold != prev.bold && min(l.letters, prev.letters) > 1 && (short || len(b.lines) == 1 || d > 1.1*pitch) {
		if prev.bold && allBold(b) || l.bold && short {
			return false
		}
	}
	near := 0.6 * l.size
	in := l.starts() - prev.starts()
	if b.kind == item {
		if in > near || l.starts() > first.starts()+near {
			return true // under the item's text
		}
		return len(b.lines) > 1 && abs(in) <= near || abs(in) <= near && !short || l.starts() > first.starts()-near && !short
	}
	switch {
	case b.middle && centred(l, m) && abs(in) > 0.3*l.size:
		return true
	case in > near && len(b.lines) == 1 && strings.HasPrefix(first.text(), "[") && strings.Contains(first.text(), "] "):
		return true // the second line of an entry of a bibliography
	case in > near: // farther in
		return len(b.lines) == 1 && !short && !ended(prev) || hanging(lines, i, near)
	case in < -near && short && centred(prev, m) && !centred(l, m):
		return false // a title, and what is below it
	case in < -near: // farther out: the second line of a paragraph whose first is set in
		return len(b.lines) == 1 || l.starts() > first.starts()+near
	}
	if len(b.lines) > 1 && l.starts() < first.starts()+near && prev.starts() < first.starts()+near && b.lines[1].starts() > first.starts()+near {
		return false
	}
	return !short || !ended(prev) || !prose(b)
}

// hanging says that line i and the one after it stand farther in than the one before: the lines of an entry under
// its first.
func hanging(lines []textLine, i int, near float32) bool {
	return i+1 < len(lines) && abs(lines[i+1].starts()-lines[i].starts()) <= near && !ended(&lines[i-1])
}

// prose says that a block has lines that are filled, so that a short one ends a paragraph.
func prose(b *block) bool {
	return len(b.lines) > 1 || b.lines[0].letters > 25
}

// ended says that a line ends a sentence.
func ended(l *textLine) bool {
	t := strings.TrimRight(l.text(), " ”’\"')]»")
	return strings.HasSuffix(t, ".") || strings.HasSuffix(t, "!") || strings.HasSuffix(t, "?") || strings.HasSuffix(t, ":") || strings.HasSuffix(t, ";") ||
		strings.HasSuffix(t, "。") || strings.HasSuffix(t, "！") || strings.HasSuffix(t, "？") || strings.HasSuffix(t, "؟") || strings.HasSuffix(t, "։") || strings.HasSuffix(t, "।")
}

func allBold(b *block) bool {
	return !slices.ContainsFunc(b.lines, func(l textLine) bool { return !l.bold })
}

// leaders is what dots that lead from a text to its page's number become. Lines with them are a list.
const leaders = "…"

// leaderLine says that a line of a contents page ends with its page's number.
func leaderLine(l *textLine) bool {
	t := strings.TrimRight(l.text(), " ")
	i := strings.LastIndex(t, " "+leaders+" ")
	return i >= 0 && len(t)-i < 14 && len(t) > i+5
}

// shortLeaders makes one sign of a row of dots.
func shortLeaders(s string) string {
	if strings.Count(s, ".") < 4 && !strings.Contains(s, "……") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		dots, j, end := 0, i, i
		for j < len(s) {
			switch {
			case s[j] == '.':
				dots, j = dots+1, j+1
				end = j
				continue
			case s[j] == ' ':
				j++
				continue
			case strings.HasPrefix(s[j:], leaders):
				dots, j = dots+3, j+len(leaders)
				end = j
				continue
			}
			break
		}
		if dots >= 4 {
			out.WriteString(" " + leaders + " ")
			i = max(end, j)
			continue
		}
		n := max(j-i, 1)
		out.WriteString(s[i : i+n])
		i += n
	}
	return out.String()
}
