package layout

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	maxHeadingLines   = 4
	maxHeadingLetters = 220
)

// settle drops running lines, and says which paragraphs are headings.
func (b *Builder) settle() {
	b.drop(b.notRunning(runningLines(b.blocks, b.added)))
	b.plainCode()
	b.headings()
	b.footnotes(b.bodySize())
}

// drop takes lines out.
func (b *Builder) drop(lines map[*textLine]bool) {
	if len(lines) == 0 {
		return
	}
	keep := func(list []textLine) []textLine {
		out := list[:0:0]
		for i := range list {
			if !lines[&list[i]] {
				out = append(out, list[i])
			}
		}
		return out
	}
	var out []block
	starts := false
	for i := range b.blocks {
		k := &b.blocks[i]
		if k.kind == tabular2D {
			for r := range k.cells {
				if !runningRow(k.cells[r], lines) {
					continue // a number in a cell is no page's, and a head may be repeated
				}
				for c := range k.cells[r] {
					k.cells[r][c] = keep(k.cells[r][c])
				}
			}
			k.cells = slices.DeleteFunc(k.cells, func(r [][]textLine) bool {
				return !slices.ContainsFunc(r, func(c []textLine) bool { return len(c) > 0 })
			})
			if len(k.cells) > 0 {
				out = append(out, *k)
			}
			continue
		}
		if k.lines = keep(k.lines); len(k.lines) > 0 {
			k.start = k.start || starts
			out = append(out, *k)
			starts = false
		} else {
			starts = starts || k.start // what comes now begins the region
		}
	}
	b.blocks = out
}

// runningRow says that a row of a table is a running line that was taken for one: all of it repeats, and a page's number
// is in it.
func runningRow(cells [][]textLine, lines map[*textLine]bool) bool {
	number := false
	for c := range cells {
		for i := range cells[c] {
			l := &cells[c][i]
			if !lines[l] {
				return false
			}
			number = number || l.artifact || pageNumberText(runningText(l.text()))
		}
	}
	return number
}

// plainCode makes paragraphs of code where the whole document is set in a monospaced font.
func (b *Builder) plainCode() {
	mono, all := 0, 0
	for i := range b.blocks {
		for k := range b.blocks[i].lines {
			l := &b.blocks[i].lines[k]
			all += l.letters
			if l.pre != "" {
				mono += l.letters
			}
		}
	}
	if all == 0 || mono*10 < 8*all {
		return
	}
	for i := range b.blocks {
		k := &b.blocks[i]
		for n := range k.lines {
			for s := range k.lines[n].spans {
				k.lines[n].spans[s].mono = false
			}
		}
		if k.kind == code && !aligns(k) {
			k.kind = paragraph
			for n := 1; n < len(k.lines); n++ {
				k.lines[n].hard = k.lines[n-1].X1 < 0.75*maxX(k)
			}
		}
	}
}

// aligns says that blanks within the lines of a block put things in columns, or that indents vary as those of code.
func aligns(k *block) bool {
	n := 0
	for i := range k.lines {
		if strings.Contains(strings.TrimSpace(k.lines[i].pre), "   ") {
			n++
		}
	}
	return n*3 > len(k.lines)
}

func maxX(k *block) float32 {
	x := k.lines[0].X1
	for i := range k.lines {
		x = max(x, k.lines[i].X1)
	}
	return x
}

// look is what headings of one level have in common.
type headingLook struct {
	size float32 // rounded to half a point
	bold bool
}

func lookOf(k *block) headingLook {
	return headingLook{half(k.lines[0].size), allBold(k)}
}

func half(size float32) float32 { return float32(math.Round(float64(size)*2) / 2) }

// bodySize is the size that most letters of the text have.
func (b *Builder) bodySize() float32 {
	counts := map[float32]int{}
	for i := range b.blocks {
		k := &b.blocks[i]
		k.each(func(l *textLine) {
			n := l.letters
			if k.kind == tabular2D {
				n = n/4 + 1
			}
			counts[half(l.size)] += n
		})
	}
	best, most := float32(10), 0
	for s, n := range counts {
		if n > most || n == most && s < best {
			best, most = s, n
		}
	}
	return best
}

// headings sets the level of the lines of paragraphs that are headings, and 0 for all others. What the file says of
// itself goes first: its structure, then its outline; then sizes and bold type, by what the outline's headings look
// like.
func (b *Builder) headings() {
	body := b.bodySize()
	outline := b.outline()
	known := map[headingLook]map[uint8]int{}
	structured := 0
	var open []int // blocks that look like headings, of a level that is not known yet
	for i := range b.blocks {
		k := &b.blocks[i]
		if k.kind != paragraph && k.kind != item {
			continue
		}
		level := k.lines[0].level
		if k.kind == item {
			k.clearLevels()
			continue
		}
		if level == 0 {
			level = outline.level(k)
		}
		k.clearLevels()
		if !headingShaped(k) {
			continue
		}
		if level > 0 {
			structured++
			k.lines[0].level = level
			l := lookOf(k)
			if known[l] == nil {
				known[l] = map[uint8]int{}
			}
			known[l][level]++
			continue
		}
		if b.looksLikeHeading(i, body, structured > 2) {
			open = append(open, i)
		}
	}
	b.rank(slices.DeleteFunc(open, func(i int) bool { return b.byline(i, body) }), known, body)
}

// byline says that a block is of those that stand between a document's title and its text, such as its authors and its
// date: in the middle, not bold, and smaller than the title right above them.
func (b *Builder) byline(i int, body float32) bool {
	const most = 10 // blocks from the title on
	k := &b.blocks[i]
	size := k.lines[0].size
	if k.page != b.blocks[0].page || allBold(k) || size >= 1.45*body || !k.middle && !k.spread() || sectionNumber(k.lines[0].text()) > 0 {
		return false
	}
	for j := i - 1; j >= 0 && j >= i-most; j-- {
		switch a := &b.blocks[j]; {
		case a.kind != paragraph:
			return false
		case a.lines[0].size >= 1.14*size:
			return a.lines[0].size >= 1.4*body && (j == 0 || b.blocks[j-1].lines[0].size <= a.lines[0].size)
		case len(a.lines) > 4:
			return false
		}
	}
	return false
}

// spread says that a block is one line or a few in the middle of the page.
func (k *block) spread() bool {
	x0, x1 := k.lines[0].X0, k.lines[0].X1
	for i := range k.lines {
		if abs(k.lines[i].X0+k.lines[i].X1-x0-x1) > k.lines[i].size {
			return false
		}
	}
	return k.width > 0 && abs(x0+x1-k.width) < 0.06*k.width
}

func (k *block) clearLevels() {
	for i := range k.lines {
		k.lines[i].level = 0
	}
}

// headingShaped says that a block is short enough for a heading.
func headingShaped(k *block) bool {
	letters := 0
	for i := range k.lines {
		letters += k.lines[i].letters
	}
	return letters > 0 && len(k.lines) <= maxHeadingLines && letters <= maxHeadingLetters
}

// looksLikeHeading judges a block by its type: bigger than the text's, or bold on lines of its own.
func (b *Builder) looksLikeHeading(i int, body float32, strict bool) bool {
	k := &b.blocks[i]
	size := k.lines[0].size
	text := strings.TrimSpace(k.lines[0].text())
	last := strings.TrimSpace(k.lines[len(k.lines)-1].text())
	if k.lines[0].unseen {
		return size > 1.6*body && len(k.lines) == 1 && k.lines[0].letters > 4 // sizes are guesses there
	}
	if size >= 1.14*body && (!strict || size >= 1.3*body) {
		return !(size < 1.4*body && !allBold(k) && ended(&k.lines[len(k.lines)-1]) && len(k.lines) > 1)
	}
	if size < 0.93*body || len(k.lines) > 2 || strict {
		return false
	}
	numbered := sectionNumber(text) > 0
	if strings.HasSuffix(last, ".") && !numbered || strings.HasSuffix(last, ",") || strings.HasSuffix(last, ";") {
		return false
	}
	letters := 0
	for n := range k.lines {
		letters += k.lines[n].letters
	}
	if letters > 110 || letters < 2 {
		return false
	}
	follows := i+1 < len(b.blocks) && !(b.blocks[i+1].kind == paragraph && allBold(&b.blocks[i+1]) && b.blocks[i+1].lines[0].size == size && b.blocks[i+1].gap < 1.3)
	if allBold(k) {
		return numbered || follows
	}
	return len(k.lines) == 1 && letters >= 5 && letters <= 60 && capitals(text) && follows && (k.gap > 1.2 || k.start) && b.blocks[i+1].kind == paragraph && !capitals(b.blocks[i+1].lines[0].text())
}

// capitals says that all letters of a text are capitals.
func capitals(s string) bool {
	n := 0
	for _, c := range s {
		if unicode.IsLower(c) || unicode.IsLetter(c) && !unicode.IsUpper(c) {
			return false
		}
		if unicode.IsUpper(c) {
			n++
		}
	}
	return n > 3
}

// rank gives headings their levels: those whose look is known that one's, the others by size among them all.
func (b *Builder) rank(open []int, known map[headingLook]map[uint8]int, body float32) {
	common := map[headingLook]uint8{}
	for l, levels := range known {
		best := uint8(0)
		for n := uint8(1); n <= 6; n++ {
			if levels[n] > levels[best] {
				best = n
			}
		}
		common[l] = best
	}
	var sizes []float32
	for _, i := range open {
		if l := lookOf(&b.blocks[i]); common[l] == 0 && l.size >= 1.14*body {
			sizes = append(sizes, l.size)
		}
	}
	for l := range common {
		if l.size >= 1.14*body {
			sizes = append(sizes, l.size)
		}
	}
	slices.SortFunc(sizes, func(a, b float32) int {
		if a > b {
			return -1
		}
		return 1
	})
	var steps []float32
	for _, s := range sizes {
		if n := len(steps); n == 0 || steps[n-1]-s > 0.04*s {
			steps = append(steps, s)
		}
	}
	for _, i := range open {
		k := &b.blocks[i]
		look := lookOf(k)
		level := int(common[look])
		if level == 0 {
			if look.size >= 1.14*body {
				for level = 0; level < len(steps) && steps[level]-look.size > 0.04*look.size; level++ {
				}
				level++
				// A look that is known at a size nearby bounds it.
				for l, n := range common {
					if l.size > look.size && level <= int(n) {
						level = int(n) + 1
					}
				}
			} else {
				level = len(steps) + 1
				for _, n := range common {
					level = max(level, min(int(n)+1, 4))
				}
				level = max(level, 2)
				if d := sectionNumber(strings.TrimSpace(k.lines[0].text())); d > 1 {
					level += d - 1
				}
			}
		}
		k.lines[0].level = uint8(min(level, 6))
	}
}

// outlineIndex finds the bookmark of a heading.
type outlineIndex map[string][]Bookmark

func (b *Builder) outline() outlineIndex {
	if b.index != nil {
		return b.index
	}
	out := outlineIndex{}
	b.index = out
	const most = 200 // of one title
	for _, m := range b.Bookmarks {
		if k := plainKey(m.Title); k != "" && len(out[k]) < most {
			out[k] = append(out[k], m)
			if bare := strings.TrimLeft(k, "0123456789"); bare != k && bare != "" {
				out[bare] = append(out[bare], m)
			}
		}
	}
	return out
}

// plainKey is a text without blanks and signs, in small letters.
func plainKey(s string) string {
	var out strings.Builder
	for _, c := range strings.ToLower(compose(s)) {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			out.WriteRune(c)
		}
		if out.Len() > 300 {
			break
		}
	}
	return out.String()
}

// level is the level of the bookmark that a block's text is the title of; 0 for none.
func (o outlineIndex) level(k *block) uint8 {
	if len(o) == 0 || !headingShaped(k) {
		return 0
	}
	var text strings.Builder
	for i := range k.lines {
		text.WriteString(k.lines[i].text())
	}
	return o.lookup(text.String(), k.page)
}

// lookup is the level of the bookmark to a page that has a text as its title; 0 for none. A number may stand in one
// of them alone.
func (o outlineIndex) lookup(text string, page int) uint8 {
	if len(o) == 0 || len(text) > 2*maxHeadingLetters {
		return 0
	}
	key := plainKey(text)
	try := []string{key, strings.TrimLeft(key, "0123456789")}
	for _, word := range []string{"chapter", "section", "appendix", "part"} {
		if rest, ok := strings.CutPrefix(key, word); ok {
			try = append(try, strings.TrimLeft(rest, "0123456789"))
		}
	}
	for _, t := range try {
		if t == "" {
			continue
		}
		for _, m := range o[t] {
			if m.Page == 0 || m.Page == page {
				return uint8(min(max(m.Level, 1), 6))
			}
		}
	}
	return 0
}

// title is the document's title: the one that it declares, if that is one, else its first biggest heading on the first
// page with text.
func (b *Builder) title() string {
	const longest = 300
	if t := strings.Join(strings.Fields(compose(b.Title)), " "); t != "" && len(t) <= longest && !fileName(t) {
		return t
	}
	best, at := uint8(7), -1
	for i := range b.blocks {
		k := &b.blocks[i]
		if k.page != b.blocks[0].page {
			break
		}
		if k.kind == paragraph && k.lines[0].level > 0 && k.lines[0].level < best {
			best, at = k.lines[0].level, i
		}
	}
	if at < 0 {
		return ""
	}
	var text strings.Builder
	for i := range b.blocks[at].lines {
		text.WriteString(b.blocks[at].lines[i].text() + " ")
	}
	t := strings.Join(strings.Fields(text.String()), " ")
	if len(t) > longest {
		return ""
	}
	return t
}

// fileName says that a title is only what a program put there: a file's name, or a word for none.
func fileName(t string) bool {
	low := strings.ToLower(t)
	switch low {
	case "untitled", "untitled document", "title", "document", "pdf", "none", "null", "no title", "(anonymous)", "unknown", "slide 1", "powerpoint presentation", "presentation", "word document":
		return true
	}
	if strings.HasPrefix(low, "microsoft word -") || strings.HasPrefix(low, "microsoft powerpoint -") {
		return true
	}
	for _, end := range []string{".doc", ".docx", ".dvi", ".tex", ".pdf", ".indd", ".qxd", ".ps", ".eps", ".odt", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf", ".txt", ".html", ".htm", ".fm", ".pages"} {
		if strings.HasSuffix(low, end) && !strings.Contains(strings.TrimSuffix(low, end), ". ") {
			return true
		}
	}
	return !strings.ContainsFunc(t, unicode.IsLetter)
}
