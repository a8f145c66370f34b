package layout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
)

// Builder makes one document of its pages. Make it with New, add the pages in their order, and take the text.
type Builder struct {
	Title     string // that the file declares
	Bookmarks []Bookmark
	Pages     int // of the file, those that are not added included
	// Attached is how many files are attached, and Dynamic says that a program draws what the pages show.
	Attached int
	Dynamic  bool

	limit  int // bytes of text
	bytes  int
	blocks []block
	links  []string
	known  map[string]int32
	words  vocabulary
	index  outlineIndex // of Bookmarks, once it is made
	added  int
	bare   []int        // pages with something on them and no text
	drawn  map[int]bool // pages with pictures, or as much drawn as letters take
	empty  int          // pages with nothing on them
}

// New makes a builder of a document of at most so many bytes of text.
func New(limit int) *Builder {
	return &Builder{limit: limit, known: map[string]int32{}, words: vocabulary{}, drawn: map[int]bool{}}
}

// Full says that no more pages are needed: what they say would be cut.
func (b *Builder) Full() bool { return b.bytes > b.limit }

// Add takes what stands on a page.
func (b *Builder) Add(p *Page) {
	b.added++
	if !(p.Width > 0 && p.Height > 0 && p.Width < 1e7 && p.Height < 1e7) {
		b.empty++
		return
	}
	setUpright(p)
	turned := clean(p)
	if up := mainTurn(turned); up != Upright {
		turn(p, up)
		turned = clean(p)
	}
	g := grouper{liner: liner{page: p}, index: b.outline()}
	for _, k := range p.Links {
		n, ok := b.known[k.URL]
		if !ok {
			n = int32(len(b.links))
			b.known[k.URL] = n
			b.links = append(b.links, k.URL)
		}
		g.links = append(g.links, n)
	}
	g.upright(turned[Upright])
	for _, t := range []Turn{Down, Over, Up} {
		if len(turned[t]) == 0 {
			continue
		}
		// What stands sideways is read after the rest, as if the page were turned for it.
		side := *p
		side.Rules, side.Images, side.Fills, side.Dots, side.Drawn = nil, nil, nil, nil, 1 // what is seen is settled
		side.Styles = seenStyles(p.Styles)
		side.Links, side.Glyphs = slices.Clone(p.Links), make([]Glyph, 0, len(turned[t]))
		for _, k := range turned[t] {
			side.Glyphs = append(side.Glyphs, k.Glyph)
		}
		turn(&side, t)
		h := grouper{liner: liner{page: &side, links: g.links}, index: g.index}
		h.upright(clean(&side)[Upright])
		g.out = append(g.out, h.out...)
	}
	g.slanting(turned[Slanting])
	said := 0
	for i := range g.out {
		g.out[i].each(func(l *textLine) {
			text := l.text()
			said += len(strings.TrimSpace(text))
			b.bytes += len(text) + 1
			b.words.learn(text)
		})
	}
	if len(p.Images) > 0 || p.Drawn > 20 {
		b.drawn[p.Number] = true
	}
	switch {
	case said > 0:
		b.blocks = append(b.blocks, g.out...)
	case len(p.Images) > 0 || p.Drawn > 20 || len(p.Glyphs) > 0:
		b.bare = append(b.bare, p.Number)
	default:
		b.empty++
	}
}

// seenStyles are styles that no character is dropped for.
func seenStyles(styles []Style) []Style {
	out := slices.Clone(styles)
	for i := range out {
		out[i].Unseen, out[i].Pale = false, false
	}
	return out
}

// each calls f for all lines of a block.
func (b *block) each(f func(*textLine)) {
	for i := range b.lines {
		f(&b.lines[i])
	}
	for _, r := range b.cells {
		for _, c := range r {
			for i := range c {
				f(&c[i])
			}
		}
	}
}

// mainTurn is the turn that most characters have.
func mainTurn(turned [5][]ink) Turn {
	best, all := Upright, 0
	for t := range turned {
		all += len(turned[t])
		if t != int(Slanting) && len(turned[t]) > len(turned[best]) {
			best = Turn(t)
		}
	}
	if len(turned[best])*4 < 3*all {
		return Upright
	}
	return best
}

// turn turns a page so that text with a turn stands upright.
func turn(p *Page, t Turn) {
	w, h := float32(p.Width), float32(p.Height)
	point := func(x, y float32) (float32, float32) {
		switch t {
		case Down:
			return y, w - x
		case Up:
			return h - y, x
		case Over:
			return w - x, h - y
		}
		return x, y
	}
	rect := func(r Rect) Rect {
		x0, y0 := point(r.X0, r.Y0)
		x1, y1 := point(r.X1, r.Y1)
		return Rect{min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)}
	}
	for i := range p.Glyphs {
		g := &p.Glyphs[i]
		// Base and X are y and x of the origin, exchanged where the text is upright or not.
		x, y := g.X, g.Base
		if g.Turn == Up || g.Turn == Down {
			x, y = g.Base, g.X
		}
		x, y = point(x, y)
		g.Rect = rect(g.Rect)
		switch g.Turn {
		case Slanting:
		default:
			g.Turn = (g.Turn + 4 - t) % 4
		}
		g.X, g.Base = x, y
		if g.Turn == Up || g.Turn == Down {
			g.X, g.Base = y, x
		}
	}
	for i := range p.Rules {
		p.Rules[i].Rect = rect(p.Rules[i].Rect)
		if t != Over {
			p.Rules[i].Upright = !p.Rules[i].Upright
		}
	}
	for i := range p.Images {
		p.Images[i] = rect(p.Images[i])
	}
	for i := range p.Dots {
		p.Dots[i].Rect = rect(p.Dots[i].Rect)
	}
	for i := range p.Fills {
		p.Fills[i] = rect(p.Fills[i])
	}
	for i := range p.Links {
		p.Links[i].Rect = rect(p.Links[i].Rect)
	}
	if t != Over {
		p.Width, p.Height = p.Height, p.Width
	}
}

// upright reads the upright text of the page.
func (g *grouper) upright(inks []ink) {
	if len(inks) == 0 {
		return
	}
	// Lines tell which cells span others; the file's structure tells the rest.
	tables, rest := ruledTables(g.page, inks)
	tagged, rest := taggedTables(g.page, rest)
	tables = append(tables, tagged...)
	all := joinDropCaps(dropLineNumbers(rows(rest)))
	addDots(all, g.page.Dots)
	g.backwards = false
	n := 0
	for i := range all {
		for k := range all[i].words {
			for _, c := range all[i].words[k].inks {
				n += strength(c.Rune)
			}
		}
	}
	for _, t := range tables {
		for _, r := range t.rows {
			for _, c := range r {
				for k := range c.rows {
					for _, w := range c.rows[k].words {
						for _, i := range w.inks {
							n += strength(i.Rune)
						}
					}
				}
			}
		}
	}
	g.backwards = n < 0
	mono := 0
	for i := range inks {
		if g.page.Styles[inks[i].Style].Mono {
			mono++
		}
	}
	g.allMono = mono*10 > 8*len(inks)
	for _, t := range tables {
		all = append(all, t.row())
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.base, b.base) })
	edges := markEdges(all, g.page.Height)
	for _, r := range g.page.Rules {
		inTable := slices.ContainsFunc(tables, func(t *table) bool {
			return r.X0 > t.X0-snap && r.X1 < t.X1+snap && r.Y0 > t.Y0-snap && r.Y1 < t.Y1+snap
		})
		if !r.Upright && !inTable && finite(r.Rect) {
			g.bars = append(g.bars, r)
		}
	}
	slices.SortStableFunc(g.bars, func(a, b Rule) int { return cmp.Compare(a.Y0, b.Y0) })
	from := len(g.out)
	arrange(all, g.bars, g.backwards, 0, g.region)
	for i := from; i < len(g.out); i++ {
		g.out[i].each(func(l *textLine) { l.edge = edges[l.base] })
	}
}

// row is a row with the table as its one word.
func (t *table) row() row {
	size := float32(10)
	w := word{Rect: t.Rect, size: size, table: t, first: -1, last: -1}
	for _, r := range t.rows {
		for _, c := range r {
			for i := range c.rows {
				size = c.rows[i].size
				for _, k := range c.rows[i].words {
					if w.first < 0 || k.first < w.first {
						w.first = k.first
					}
					w.last = max(w.last, k.last)
				}
			}
		}
	}
	w.size, w.base = size, min(t.Y0+0.9*size, t.Y1)
	return row{Rect: t.Rect, base: w.base, size: size, words: []word{w}}
}

// slanting reads text that goes along no axis, such as a stamp across a page: each piece as a line.
func (g *grouper) slanting(inks []ink) {
	if len(inks) == 0 {
		return
	}
	g.page = &Page{Number: g.page.Number, Styles: g.page.Styles, Width: g.page.Width, Height: g.page.Height}
	start := 0
	for i := 1; i <= len(inks); i++ {
		if i < len(inks) && inks[i].seq == inks[i-1].seq+1 && inks[i].Style == inks[i-1].Style {
			continue
		}
		var words []word
		from := start
		for k := start + 1; k <= i; k++ {
			if k == i || inks[k].Blank != NoBlank {
				words = append(words, newWord(inks[from:k], inks[from].Base))
				from = k
			}
		}
		r := row{base: inks[start].Base, size: inks[start].size, words: words, Rect: extent(words)}
		l := g.line(r)
		l.edge = edge{top: 1} // it repeats like a running line
		g.out = append(g.out, block{kind: paragraph, page: g.page.Number, lines: []textLine{l}, start: true})
		start = i
	}
}

// Text is the whole document. Where ctx is done before it is written, the error is TooCostly or ctx's.
func (b *Builder) Text(ctx context.Context) (document.Text, error) {
	var out document.Text
	b.settle()
	text, cut, err := b.write(ctx)
	if err == nil && strings.TrimSpace(text) == "" && len(b.blocks) > 0 {
		b.blocks = nil // marks of items alone, or what cannot be seen
		text, cut, err = b.write(ctx)
	}
	if err != nil {
		return document.Text{}, err
	}
	out.Markdown = text
	out.Title = b.title()
	switch {
	case len(b.blocks) == 0:
		out.Facts = append(out.Facts, document.Fact{
			Kind: document.ThinNoTextLayer, Words: fmt.Sprintf("no page of %d has a text layer: it may be a scan", b.added),
			Data: map[string]any{"pages": b.added},
		})
	case len(b.bare) > 0:
		out.Notes = append(out.Notes, document.Fact{
			Kind: document.NoteNoTextPages, Words: pagesWords(b.bare), Data: map[string]any{"pages": b.bare},
		})
	}
	if b.Attached > 0 {
		words := "1 attached file is left out"
		if b.Attached > 1 {
			words = fmt.Sprintf("%d attached files are left out", b.Attached)
		}
		out.Notes = append(out.Notes, document.Fact{Kind: document.NoteAttachments, Words: words, Data: map[string]any{"files": b.Attached}})
	}
	if b.Dynamic {
		out.Notes = append(out.Notes, document.Fact{
			Kind: document.NoteDynamicForm, Words: "it is a form (XFA) that a program in it draws: its fields and what is filled in are not read", Data: map[string]any{},
		})
	}
	if cut || b.added < b.Pages {
		out.Notes = append(out.Notes, document.Fact{
			Kind: document.NoteCut, Words: fmt.Sprintf("%d of %d pages are read", b.added, b.Pages), Data: map[string]any{"read": b.added, "pages": b.Pages},
		})
	}
	return out, nil
}

// pagesWords names pages, runs of them as such, and no more than fit a line.
func pagesWords(pages []int) string {
	var parts []string
	for i := 0; i < len(pages); {
		j := i
		for j+1 < len(pages) && pages[j+1] == pages[j]+1 {
			j++
		}
		if len(parts) == 12 {
			parts = append(parts, fmt.Sprintf("and %d more", len(pages)-i))
			break
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d–%d", pages[i], pages[j]))
		} else {
			parts = append(parts, fmt.Sprint(pages[i]))
		}
		i = j + 1
	}
	if len(pages) == 1 {
		return "page " + parts[0] + " has no text layer"
	}
	return "pages " + strings.Join(parts, ", ") + " have no text layer"
}
