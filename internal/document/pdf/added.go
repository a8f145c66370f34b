package pdf

import (
	"strings"

	"github.com/wayleave/wayleave/internal/document/pdf/layout"
)

// Texts that a page has without drawing them: what was filled into a form whose writer left the drawing to the reader,
// and what stands for a picture. They are set into their places, so that they are read where they belong.

const (
	maxFields   = 2_000 // of a page
	maxAltBytes = 1_000
	fieldNote   = 20 // an annotation that is a field
	stringValue = 3  // the kind of object that a text is
	nameValue   = 4  // and a name
	hiddenFlags = 1<<1 | 1<<5
	password    = 1 << 13
)

// addedText is a text and where it belongs.
type addedText struct {
	layout.Rect
	text string
	alt  bool // it stands for a picture
}

// fields are the texts that the fields of a page have.
func (r *pageReader) fields(page uint64, f frame) []addedText {
	var out []addedText
	n := min(int(int32(r.call(r.fn("FPDFPage_GetAnnotCount"), page))), maxFields)
	for i := range n {
		note := r.call(r.fn("FPDFPage_GetAnnot"), page, uint64(i))
		if note == 0 {
			continue
		}
		if t, ok := r.field(note, f); ok {
			out = append(out, t)
		}
		r.call(r.fn("FPDFPage_CloseAnnot"), note)
	}
	return out
}

func (r *pageReader) field(note uint64, f frame) (t addedText, ok bool) {
	at := uint64(r.scratch)
	if r.call(r.fn("FPDFAnnot_GetSubtype"), note) != fieldNote || r.call(r.fn("FPDFAnnot_GetFlags"), note)&hiddenFlags != 0 {
		return t, false
	}
	key := r.key("V")
	if state := r.key("AS"); int32(r.call(r.fn("FPDFAnnot_GetValueType"), note, state)) == nameValue {
		// A box, or a button of several of which one is chosen: the names of states are the file's, but for this one.
		if t.text = "☒"; r.wide(r.fn("FPDFAnnot_GetStringValue"), note, state) == "Off" {
			t.text = "☐"
		}
		ok = r.placed(note, f, &t)
		return t, ok
	}
	if int32(r.call(r.fn("FPDFAnnot_GetValueType"), note, key)) != stringValue {
		return t, false // a button that is pressed, or none
	}
	if t.text = strings.TrimSpace(r.wide(r.fn("FPDFAnnot_GetStringValue"), note, key)); t.text == "" {
		return t, false
	}
	if key = r.key("Ff"); r.call(r.fn("FPDFAnnot_GetNumberValue"), note, key, at) != 0 && uint32(r.float32At(r.scratch))&password != 0 {
		return t, false
	}
	ok = r.placed(note, f, &t)
	return t, ok
}

// placed gives a text the place of its annotation; false where that has none.
func (r *pageReader) placed(note uint64, f frame, t *addedText) bool {
	at := uint64(r.scratch)
	if r.call(r.fn("FPDFAnnot_GetRect"), note, at) == 0 {
		return false
	}
	t.Rect = f.rect(r.float32At(r.scratch), r.float32At(r.scratch+4), r.float32At(r.scratch+8), r.float32At(r.scratch+12))
	return true
}

// key puts the name of an entry of a dictionary where calls find it, beyond what they write.
func (r *pageReader) key(name string) uint64 {
	if r.keys == nil {
		r.keys = map[string]uint64{}
	}
	at, ok := r.keys[name]
	if !ok {
		p := r.alloc(len(name) + 1)
		r.put(p, append([]byte(name), 0))
		at = uint64(p)
		r.keys[name] = at
	}
	return at
}

// attachments is how many files are attached to the document.
func (r *pageReader) attachments() int {
	return int(int32(r.call(r.fn("FPDFDoc_GetAttachmentCount"), r.doc)))
}

// dynamicForm says that what is shown of the document is made by a program in it, of data that no page has.
func (r *pageReader) dynamicForm() bool {
	const full = 2
	return r.call(r.fn("FPDF_GetFormType"), r.doc) == full
}

// set puts texts that are drawn nowhere into their places: characters of a plain font in lines from the top of the
// place, as small as they have to be. A place where something is written keeps what it has.
func set(p *layout.Page, texts []addedText) {
	const most = 200 // texts whose places are looked at
	for _, t := range texts[:min(len(texts), most)] {
		if taken(p, t) {
			continue
		}
		width, height := t.X1-t.X0, t.Y1-t.Y0
		if !(width > 1 && height > 1) {
			continue
		}
		text := strings.Join(strings.Fields(strings.ToValidUTF8(t.text, "")), " ")
		size := min(max(0.75*height, 3), 10)
		for size > 3 && float32(len([]rune(text)))*0.55*size/width > max(height/(1.2*size), 1) {
			size *= 0.85
		}
		n := uint16(len(p.Styles))
		if n >= maxStyles {
			return
		}
		p.Styles = append(p.Styles, layout.Style{Font: "#added", Size: size, Italic: t.alt})
		setLines(p, t, text, size, n)
	}
}

func setLines(p *layout.Page, t addedText, text string, size float32, style uint16) {
	x, base := t.X0+1, t.Y0+0.95*size
	if lines := float32(len([]rune(text))) * 0.55 * size / (t.X1 - t.X0); lines <= 1 && (t.Y1-t.Y0 < 2*size || len([]rune(text)) == 1) {
		base = beside(p, t, (t.Y0+t.Y1)/2+0.35*size)
	}
	blank := layout.NoBlank
	for word := range strings.FieldsSeq(text) {
		if long := 0.5 * size * float32(len([]rune(word))); x > t.X0+1 && x+long > t.X1 && base+1.2*size < t.Y1 {
			x, base = t.X0+1, base+1.2*size
		}
		for _, c := range word {
			p.Glyphs = append(p.Glyphs, layout.Glyph{
				Rect: layout.Rect{X0: x, Y0: base - 0.7*size, X1: x + 0.48*size, Y1: base}, Base: base, X: x, Rune: c, Style: style, Blank: blank,
			})
			x += 0.5 * size
			blank = layout.NoBlank
		}
		x += 0.3 * size
		blank = layout.Written
	}
}

// beside is the base line of what is written beside a text's place, so that a field stands on the line of its name; base
// where nothing is.
func beside(p *layout.Page, t addedText, base float32) float32 {
	best, near := base, 0.6*(t.Y1-t.Y0)
	for i := range p.Glyphs {
		if g := &p.Glyphs[i]; g.Turn == layout.Upright && max(g.Base-base, base-g.Base) < near {
			best, near = g.Base, max(g.Base-base, base-g.Base)
		}
	}
	return best
}

// taken says that something is written at a text's place already: for a picture, much of it.
func taken(p *layout.Page, t addedText) bool {
	n := 0
	for i := range p.Glyphs {
		g := &p.Glyphs[i]
		if x, y := (g.X0+g.X1)/2, (g.Y0+g.Y1)/2; x > t.X0-1 && x < t.X1+1 && y > t.Y0-1 && y < t.Y1+1 && !p.Styles[g.Style].Unseen {
			if n++; !t.alt || n > 40 {
				return true
			}
		}
	}
	return false
}
