package pdf

import (
	"strings"

	"github.com/wayleave/wayleave/internal/document/pdf/layout"
)

const (
	maxElements  = 20_000 // of a page's structure that are looked at
	maxRoleDepth = 48
)

// roles is what the file's own structure says of a page's pieces of text, by their number.
type roles struct {
	pieces   map[int32]role
	pictures []addedText   // what stands for pictures
	figures  map[int32]int // which picture a piece is of
	tagged   bool
}

// role is what an element is to the text in it.
type role struct {
	level uint8 // of a heading
	cell  layout.Cell
}

// roles reads the structure of a page.
func (r *pageReader) roles(page uint64) roles {
	if !r.tagged {
		return roles{}
	}
	tree := r.work(r.fn("FPDF_StructTree_GetForPage"), page)
	if tree == 0 {
		return roles{tagged: true}
	}
	defer r.call(r.fn("FPDF_StructTree_Close"), tree)
	w := roleReader{pageReader: r, out: map[int32]role{}, figures: map[int32]int{}, left: maxElements}
	n := int(int32(r.call(r.fn("FPDF_StructTree_CountChildren"), tree)))
	child := r.fn("FPDF_StructTree_GetChildAtIndex")
	for i := 0; i < n && w.left > 0 && r.err == nil; i++ {
		w.element(r.call(child, tree, uint64(i)), role{}, 0)
	}
	return roles{pieces: w.out, pictures: w.pictures, figures: w.figures, tagged: true}
}

type roleReader struct {
	*pageReader
	out      map[int32]role
	pictures []addedText
	figures  map[int32]int
	left     int
	tables   uint16
}

// element notes the numbers under an element that are a heading's or a cell's.
func (w *roleReader) element(e uint64, is role, depth int) {
	w.left--
	if e == 0 || w.left < 0 || depth > maxRoleDepth || w.err != nil {
		return
	}
	name := w.wide(w.fn("FPDF_StructElement_GetType"), e)
	if is.level == 0 {
		is.level = headingLevel(name)
	}
	if name == "Figure" {
		w.figure(e)
	}
	// The text of a table in a table is the outer cell's.
	if name == "Table" && is.cell.Column == 0 && w.tables < 1<<15 {
		w.tables++
		is.cell = layout.Cell{Table: w.tables}
	}
	w.children(e, &is, depth)
}

// figure notes what stands for a picture, and the numbers of its pieces.
func (w *roleReader) figure(e uint64) {
	const most = 200 // of a page
	alt := strings.TrimSpace(w.wide(w.fn("FPDF_StructElement_GetAltText"), e))
	if alt == "" || len(w.pictures) >= most || fileName(alt) {
		return
	}
	if len(alt) > maxAltBytes {
		alt = strings.ToValidUTF8(alt[:maxAltBytes], "") + "…"
	}
	n := int(int32(w.call(w.fn("FPDF_StructElement_CountChildren"), e)))
	for i := 0; i < n && i < most && w.err == nil; i++ {
		if id := int32(w.call(w.fn("FPDF_StructElement_GetChildMarkedContentID"), e, uint64(i))); id >= 0 {
			w.figures[id] = len(w.pictures)
		}
	}
	w.pictures = append(w.pictures, addedText{text: alt, alt: true})
}

// fileName says that what stands for a picture is only its file's name.
func fileName(alt string) bool {
	if strings.ContainsAny(alt, " \n") {
		return false
	}
	low := strings.ToLower(alt)
	return strings.HasSuffix(low, ".png") || strings.HasSuffix(low, ".jpg") || strings.HasSuffix(low, ".jpeg") || strings.HasSuffix(low, ".gif") || strings.HasSuffix(low, ".svg")
}

// picture makes the place of a picture bigger by one of its pieces.
func (r *roles) picture(id int32, at layout.Rect) {
	n, ok := r.figures[id]
	if !ok {
		return
	}
	p := &r.pictures[n]
	if p.Rect != (layout.Rect{}) {
		at = layout.Rect{X0: min(at.X0, p.X0), Y0: min(at.Y0, p.Y0), X1: max(at.X1, p.X1), Y1: max(at.Y1, p.Y1)}
	}
	p.Rect = at
}

// children reads what an element has in it. Rows of a table count up as they come, cells of a row as well.
func (w *roleReader) children(e uint64, is *role, depth int) {
	n := int(int32(w.call(w.fn("FPDF_StructElement_CountChildren"), e)))
	ids, children := w.fn("FPDF_StructElement_GetChildMarkedContentID"), w.fn("FPDF_StructElement_GetChildAtIndex")
	for i := 0; i < n && w.left > 0 && w.err == nil; i++ {
		c := w.call(children, e, uint64(i))
		if c == 0 {
			w.left--
			if id := int32(w.call(ids, e, uint64(i))); id >= 0 && (is.level > 0 || is.cell.Column > 0) {
				w.out[id] = *is
			}
			continue
		}
		if is.cell.Table == 0 || is.cell.Column > 0 {
			w.element(c, *is, depth+1)
			continue
		}
		w.left--
		switch name := w.wide(w.fn("FPDF_StructElement_GetType"), c); name {
		case "THead", "TBody", "TFoot":
			if depth < maxRoleDepth {
				w.children(c, is, depth+1)
			}
		case "TR":
			is.cell.Row++
			is.cell.Column = 0
			w.cells(c, is.cell, depth+1)
		default: // a caption
			w.element(c, role{}, depth+1)
		}
	}
}

// cells reads the cells of a row.
func (w *roleReader) cells(row uint64, at layout.Cell, depth int) {
	n := int(int32(w.call(w.fn("FPDF_StructElement_CountChildren"), row)))
	children := w.fn("FPDF_StructElement_GetChildAtIndex")
	for i := 0; i < n && w.left > 0 && w.err == nil; i++ {
		if c := w.call(children, row, uint64(i)); c != 0 {
			at.Column++
			w.element(c, role{cell: at}, depth+1)
		}
	}
}

// headingLevel is the level of a heading by the name of its element; 0 for another element.
func headingLevel(name string) uint8 {
	switch {
	case name == "Title", name == "H":
		return 1
	case len(name) == 2 && name[0] == 'H' && name[1] >= '1' && name[1] <= '6':
		return name[1] - '0'
	}
	return 0
}

// mark puts what the structure says of a piece of text into its style.
func (r roles) mark(g *glyphReader, object uint64, style *layout.Style) {
	if !r.tagged {
		return
	}
	if id := int32(g.call(g.fn("FPDFPageObj_GetMarkedContentID"), object)); id >= 0 {
		style.Level, style.Cell = r.pieces[id].level, r.pieces[id].cell
		return
	}
	n := min(int(int32(g.call(g.fn("FPDFPageObj_CountMarks"), object))), 8)
	for i := range n {
		mark := g.call(g.fn("FPDFPageObj_GetMark"), object, uint64(i))
		// The name's length in bytes goes after the scratch's use for it.
		if mark != 0 && g.markName(mark) == "Artifact" {
			style.Artifact = true
		}
	}
}

// markName is the name of a mark, whose call gives the length by its last argument.
func (g *glyphReader) markName(mark uint64) string {
	const room = 256
	length := g.scratch + room
	if g.call(g.fn("FPDFPageObjMark_GetName"), mark, uint64(g.scratch), room, uint64(length)) == 0 {
		return ""
	}
	n, _ := g.memory.ReadUint32Le(length)
	data := g.bytesAt(g.scratch, int(min(n, room)))
	var name []byte
	for i := 0; i+1 < len(data) && data[i] != 0; i += 2 {
		name = append(name, data[i])
	}
	return string(name)
}
