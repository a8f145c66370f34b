package pdf

import (
	"fmt"
	"math"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pdf/layout"
)

const (
	maxGlyphs = 100_000 // of a page that are read; a dense page of a newspaper has 20,000
	maxStyles = 4096    // of a page; what comes then looks like the last of them
)

// pageReader reads one page after another.
type pageReader struct {
	*guest
	doc    uint64
	tagged bool
	fonts  map[uint64]font // of the page that is open, by its place in the engine's memory
	// t1 and ot1 count what speaks for TeX's encodings.
	t1, ot1 int
	keys    map[string]uint64 // names of entries in the engine's memory
}

// font is what a font says of itself.
type font struct {
	name               string // made up where it has none
	bold, italic, mono bool
	none               bool // it has no name
}

// frame turns places of the file into places of the page as shown.
type frame struct {
	left, bottom, right, top float64 // of what is shown, in the file's coordinates
	turn                     int     // quarters clockwise
}

func (f frame) size() (width, height float64) {
	if f.turn%2 == 1 {
		return f.top - f.bottom, f.right - f.left
	}
	return f.right - f.left, f.top - f.bottom
}

// point is where a point of the file is shown.
func (f frame) point(x, y float64) (float64, float64) {
	switch f.turn {
	case 1:
		return y - f.bottom, x - f.left
	case 2:
		return f.right - x, y - f.bottom
	case 3:
		return f.top - y, f.right - x
	}
	return x - f.left, f.top - y
}

// rect is where a rectangle of the file is shown.
func (f frame) rect(x0, y0, x1, y1 float64) layout.Rect {
	x0, y0 = f.point(x0, y0)
	x1, y1 = f.point(x1, y1)
	return layout.Rect{
		X0: float32(min(x0, x1)), Y0: float32(min(y0, y1)),
		X1: float32(max(x0, x1)), Y1: float32(max(y0, y1)),
	}
}

// read reads a page; false where the file has none that can be read.
func (r *pageReader) read(index int) (p layout.Page, ok bool) {
	page := r.work(r.fn("FPDF_LoadPage"), r.doc, uint64(index))
	if page == 0 {
		return p, false
	}
	defer func() { r.call(r.fn("FPDF_ClosePage"), page) }()
	f, ok := r.frame(page)
	if !ok {
		return p, false
	}
	p.Number = index + 1
	p.Width, p.Height = f.size()
	r.fonts = map[uint64]font{}
	r.links(page, f, &p)
	var added []addedText
	stamped := r.stamped(page)
	if stamped {
		added = r.fields(page, f)
	}
	if stamped && r.work(r.fn("FPDFPage_Flatten"), page, 0) == flattened {
		// What fields and notes show is a part of the page now, as soon as it is read again.
		r.call(r.fn("FPDF_ClosePage"), page)
		if page = r.work(r.fn("FPDF_LoadPage"), r.doc, uint64(index)); page == 0 {
			return p, false
		}
	}
	roles := r.roles(page)
	r.text(page, f, roles, &p)
	r.drawings(page, f, &roles, &p)
	set(&p, append(added, roles.pictures...))
	return p, r.err == nil
}

const flattened = 1

// Kinds of annotations.
const (
	linkNote  = 2
	popupNote = 16
)

// stamped says that something is laid over the page that may show text, such as the fields of a form.
func (r *pageReader) stamped(page uint64) bool {
	const most = 2000
	n := min(int(int32(r.call(r.fn("FPDFPage_GetAnnotCount"), page))), most)
	for i := range n {
		note := r.call(r.fn("FPDFPage_GetAnnot"), page, uint64(i))
		if note == 0 {
			continue
		}
		kind := r.call(r.fn("FPDFAnnot_GetSubtype"), note)
		r.call(r.fn("FPDFPage_CloseAnnot"), note)
		if kind != linkNote && kind != popupNote {
			return true
		}
	}
	return false
}

// frame reads what part of a page is shown, and how it is turned.
func (r *pageReader) frame(page uint64) (frame, bool) {
	if r.call(r.fn("FPDF_GetPageBoundingBox"), page, uint64(r.scratch)) == 0 {
		return frame{}, false
	}
	f := frame{
		left: r.float32At(r.scratch), top: r.float32At(r.scratch + 4),
		right: r.float32At(r.scratch + 8), bottom: r.float32At(r.scratch + 12),
		turn: int(r.call(r.fn("FPDFPage_GetRotation"), page) & 3),
	}
	for _, v := range []float64{f.left, f.top, f.right, f.bottom} {
		if math.IsNaN(v) || math.Abs(v) > 1e7 {
			return frame{}, false
		}
	}
	return f, f.right > f.left && f.top > f.bottom
}

// glyphReader reads the characters of a page.
type glyphReader struct {
	*pageReader
	text, page uint64
	frame      frame
	roles      roles
	out        *layout.Page

	object uint64 // of the last character
	look   look
	runs   map[uint64]*codeRun // by font
	odd    bool                // there is an f whose bytes are exchanged
	widths map[uint64]*widths  // by font
	looks  map[uint64]look
	styles map[layout.Style]uint16
}

// look is what all characters of one piece of text share.
type look struct {
	style uint16
	font  uint64
	bare  bool    // its font has no name
	wide  *widths // nil where the font's name tells that it is monospaced
	turn  layout.Turn
	base  float32 // of its line, where it is upright
	even  bool    // its font's characters are all as wide
	none  bool    // no characters that can be placed
}

func (r *pageReader) text(page uint64, f frame, roles roles, out *layout.Page) {
	text := r.work(r.fn("FPDFText_LoadPage"), page)
	if text == 0 {
		return
	}
	defer r.call(r.fn("FPDFText_ClosePage"), text)
	count := int(int32(r.call(r.fn("FPDFText_CountChars"), text)))
	if r.err != nil || count <= 0 {
		return
	}
	count = min(count, maxGlyphs)
	out.Glyphs = make([]layout.Glyph, 0, count)
	g := glyphReader{
		pageReader: r, text: text, page: page, frame: f, roles: roles, out: out,
		looks: map[uint64]look{}, styles: map[layout.Style]uint16{}, runs: map[uint64]*codeRun{}, widths: map[uint64]*widths{},
	}
	g.read(count)
	g.mono()
	r.decode(out, g.runs)
	if g.odd {
		swapped(out)
	}
}

func (g *glyphReader) read(count int) {
	var (
		unicode = g.fn("FPDFText_GetUnicode")
		box     = g.fn("FPDFText_GetCharBox")
		origin  = g.fn("FPDFText_GetCharOrigin")
		object  = g.fn("FPDFText_GetTextObject")
	)
	at := g.scratch
	made := g.fn("FPDFText_IsGenerated")
	blank := layout.NoBlank
	var high rune // the first half of a pair
	for i := range count {
		if g.err != nil {
			return
		}
		if i%4096 == 0 && g.ctx.Err() != nil {
			g.err = ended(g.ctx)
			return
		}
		c := rune(uint32(g.call(unicode, g.text, uint64(i))))
		raw := c < ' ' && c >= 0 && g.raw(i)
		switch {
		case raw:
		case c == ' ' || c == 0xA0 || c == '\r' || c == '\n' || c == '\t' || c == 0x3000:
			if g.call(made, g.text, uint64(i)) == 1 {
				blank = max(blank, layout.Guessed)
			} else {
				blank = layout.Written
			}
			continue
		case c == 0xFFFE || c == 2: // a hyphen at the end of a line, as the engine marks it
			c = '-'
		case c >= 0xD800 && c < 0xDC00:
			high = c
			continue
		case c >= 0xDC00 && c < 0xE000:
			if high == 0 {
				continue
			}
			c = (high-0xD800)<<10 | (c - 0xDC00) + 0x10000
		case c < ' ', c == 0xFFFF, c == 0xFFFD, c == 0x7F, c > 0x10FFFF:
			continue
		}
		high = 0
		g.odd = g.odd || c == 'f'<<8
		o := g.call(object, g.text, uint64(i))
		if o == 0 {
			continue // made up by the engine
		}
		if o != g.object {
			g.object = o
			g.look = g.lookOf(o, i)
		}
		if g.look.none || g.call(box, g.text, uint64(i), uint64(at), uint64(at+8), uint64(at+16), uint64(at+24)) == 0 {
			continue
		}
		left, right, bottom, top := g.float64At(at), g.float64At(at+8), g.float64At(at+16), g.float64At(at+24)
		glyph := layout.Glyph{
			Rect: g.frame.rect(left, bottom, right, top), Base: g.look.base,
			Rune: c, Style: g.look.style, Turn: g.look.turn, Blank: blank,
		}
		glyph.X = glyph.X0
		// A piece of upright text stands on one line, and where a character begins matters where all are as wide.
		if glyph.Turn != layout.Upright || g.look.even || c >= 0x2E80 {
			g.call(origin, g.text, uint64(i), uint64(at), uint64(at+8))
			x, y := g.frame.point(g.float64At(at), g.float64At(at+8))
			glyph.X, glyph.Base = float32(x), float32(y)
			if glyph.Turn == layout.Up || glyph.Turn == layout.Down {
				glyph.Base, glyph.X = glyph.X, glyph.Base
			}
		}
		if raw || g.look.bare {
			run := g.runs[g.look.font]
			if run == nil {
				run = &codeRun{named: !g.look.bare}
				g.runs[g.look.font] = run
			}
			run.glyphs = append(run.glyphs, len(g.out.Glyphs))
		}
		if g.look.wide != nil {
			g.look.wide.see(c, glyph.X0, g.out.Styles[g.look.style].Size, blank != layout.NoBlank)
		}
		blank = layout.NoBlank
		g.out.Glyphs = append(g.out.Glyphs, glyph)
	}
}

// raw says that the character at an index, a control character, is the code that the file has: its font does not tell
// what it means.
func (g *glyphReader) raw(i int) bool {
	return g.call(g.fn("FPDFText_IsGenerated"), g.text, uint64(i)) == 0 && g.call(g.fn("FPDFText_HasUnicodeMapError"), g.text, uint64(i)) == 1
}

// lookOf reads how a piece of text looks, of which the character at index i is one.
func (g *glyphReader) lookOf(object uint64, i int) look {
	if l, ok := g.looks[object]; ok {
		return l
	}
	l := g.readLook(object, i)
	g.looks[object] = l
	return l
}

func (g *glyphReader) readLook(object uint64, i int) look {
	at := g.scratch
	size := math.Float64frombits(g.call(g.fn("FPDFText_GetFontSize"), g.text, uint64(i)))
	if g.call(g.fn("FPDFText_GetMatrix"), g.text, uint64(i), uint64(at)) == 0 {
		return look{none: true}
	}
	a, b := g.float32At(at), g.float32At(at+4)
	c, d := g.float32At(at+8), g.float32At(at+12)
	size *= math.Hypot(c, d)
	if math.IsNaN(size) || size <= 0.5 || size > 4000 {
		return look{none: true} // nothing that anybody could read
	}
	fontAt := g.call(g.fn("FPDFTextObj_GetFont"), object)
	f := g.font(fontAt)
	mode := int32(g.call(g.fn("FPDFTextObj_GetTextRenderMode"), object))
	style := layout.Style{
		Font: f.name, Size: float32(math.Round(size*10) / 10), Bold: f.bold, Italic: f.italic, Mono: f.mono,
		Unseen: mode == 3 || mode == 7,
	}
	style.Pale = g.pale("FPDFPageObj_GetFillColor", object) && mode != 1 // whose outline alone is drawn
	if style.Unseen {
		style.Mono = false // what a program that read a scan has set says nothing of the scan
	}
	if math.Abs(c) > 0.15*math.Abs(d) && math.Abs(b) < 0.01*math.Abs(a) {
		style.Italic = true // slanted by its matrix
	}
	g.roles.mark(g, object, &style)
	n, ok := g.styles[style]
	if !ok {
		n = uint16(len(g.out.Styles))
		if n < maxStyles {
			g.out.Styles = append(g.out.Styles, style)
		} else {
			n--
		}
		g.styles[style] = n
	}
	var seen *widths
	if !style.Mono && !style.Unseen && !f.none {
		if seen = g.widths[fontAt]; seen == nil {
			seen = &widths{}
			g.widths[fontAt] = seen
		}
		seen.add(n)
	}
	l := look{style: n, wide: seen, turn: g.frame.direction(a, b), even: style.Mono || f.none, font: fontAt, bare: f.none}
	if dx, dy := g.frame.along(a, b); l.turn == layout.Upright && math.Abs(dy) > 0.002*math.Abs(dx) {
		l.even = true // a little slanted: each character has a line of its own
	}
	g.call(g.fn("FPDFText_GetCharOrigin"), g.text, uint64(i), uint64(at), uint64(at+8))
	_, y := g.frame.point(g.float64At(at), g.float64At(at+8))
	l.base = float32(y)
	return l
}

// pale says that an object's colour is as good as white, or leaves almost no ink.
func (r *pageReader) pale(which string, object uint64) bool {
	at := uint64(r.scratch)
	if r.call(r.fn(which), object, at, at+4, at+8, at+12) == 0 {
		return false
	}
	c := r.bytesAt(r.scratch, 16)
	return c[12] < 12 || c[0] > 245 && c[4] > 245 && c[8] > 245
}

// direction is the turn of text that goes along (a, b) in the file's coordinates.
func (f frame) direction(a, b float64) layout.Turn {
	const near = 0.18 // some 10°
	dx, dy := f.along(a, b)
	long := math.Hypot(dx, dy)
	switch {
	case long == 0 || math.Abs(dy) < near*long && dx > 0:
		return layout.Upright
	case math.Abs(dy) < near*long:
		return layout.Over
	case math.Abs(dx) < near*long && dy > 0:
		return layout.Down
	case math.Abs(dx) < near*long:
		return layout.Up
	}
	return layout.Slanting
}

// along is a direction of the file as it is shown.
func (f frame) along(a, b float64) (dx, dy float64) {
	x0, y0 := f.point(0, 0)
	x1, y1 := f.point(a, b)
	return x1 - x0, y1 - y0
}

// Flags of a font's descriptor.
const (
	fixedPitch = 1 << 0
	italicFlag = 1 << 6
	forceBold  = 1 << 18
)

// font reads a font's name and kind.
func (r *pageReader) font(at uint64) font {
	if at == 0 {
		return font{}
	}
	if f, ok := r.fonts[at]; ok {
		return f
	}
	flags := uint32(r.call(r.fn("FPDFFont_GetFlags"), at))
	if flags == math.MaxUint32 {
		flags = 0
	}
	weight := int32(r.call(r.fn("FPDFFont_GetWeight"), at))
	name := strings.ToValidUTF8(r.latin(r.fn("FPDFFont_GetBaseFontName"), at), "")
	if tag, rest, ok := strings.Cut(name, "+"); ok && len(tag) == 6 {
		name = rest
	}
	low := strings.ToLower(name)
	f := font{
		name: name, none: name == "",
		bold:   flags&forceBold != 0 || heavy(weight, low) || named(low, "bold", "black", "heavy", "semibold", "demi", "-bd", "cmbx", "sfbx"),
		italic: flags&italicFlag != 0 || named(low, "italic", "oblique", "slanted", "cmti", "sfti", "-it"),
		mono: flags&fixedPitch != 0 || named(low, "mono", "courier", "consol", "menlo", "typewriter", "cmtt", "sftt", "fixed", "nimbusmon", "inconsolata",
			"lettergothic", "sourcecode", "firacode", "cascadia", "sometype", "lucidaconsole", "andale"),
	}
	if f.none {
		f.name = fmt.Sprintf("#%d", len(r.fonts)) // no other font's
	}
	r.fonts[at] = f
	return f
}

// heavy says that a font without a word for its weight in its name is bold by its stems. What the engine makes of them
// is far off for many fonts, so that only much counts.
func heavy(weight int32, name string) bool {
	return weight >= 800 && weight <= 1000 && !named(name, "regular", "roman", "book", "light", "medium", "normal")
}

func named(font string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(font, p) {
			return true
		}
	}
	return false
}
