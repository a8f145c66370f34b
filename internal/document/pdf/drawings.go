package pdf

import (
	"math"

	"github.com/wayleave/wayleave/internal/document/pdf/layout"
)

const (
	maxObjects   = 30_000 // of a page that are looked at, those of its forms included
	maxRules     = 8_000  // of a page that are kept
	maxShapes    = 2_000  // of each kind
	maxFormDepth = 8
	maxSegments  = 64 // of a path that are looked at: more is a drawing
	thick        = 6  // points from which a line is a shape
)

// Kinds of objects on a page.
const (
	pathObject  = 2
	imageObject = 3
	shading     = 4
	formObject  = 5
)

// matrix maps places of a form to those of the page: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix struct{ a, b, c, d, e, f float64 }

func (m matrix) point(x, y float64) (float64, float64) {
	return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f
}

// within is the matrix of what stands in something that stands in m.
func (m matrix) within(n matrix) matrix {
	return matrix{
		n.a*m.a + n.b*m.c, n.a*m.b + n.b*m.d,
		n.c*m.a + n.d*m.c, n.c*m.b + n.d*m.d,
		n.e*m.a + n.f*m.c + m.e, n.e*m.b + n.f*m.d + m.f,
	}
}

// drawingReader reads lines and images of a page.
type drawingReader struct {
	*pageReader
	frame frame
	out   *layout.Page
	roles *roles
	left  int // objects that may still be looked at
	// crowded says that there are more shapes than are kept.
	crowded bool
}

func (r *pageReader) drawings(page uint64, f frame, roles *roles, out *layout.Page) {
	d := drawingReader{pageReader: r, frame: f, out: out, roles: roles, left: maxObjects}
	n := int(int32(r.call(r.fn("FPDFPage_CountObjects"), page)))
	get := r.fn("FPDFPage_GetObject")
	for i := 0; i < n && d.left > 0 && r.err == nil; i++ {
		d.object(r.call(get, page, uint64(i)), matrix{a: 1, d: 1}, 0)
	}
	if d.left <= 0 || d.crowded {
		out.Fills = append(out.Fills, layout.Rect{X1: float32(out.Width), Y1: float32(out.Height)}) // nobody knows
	}
}

func (d *drawingReader) object(o uint64, m matrix, depth int) {
	d.left--
	if o == 0 {
		return
	}
	kind := d.call(d.fn("FPDFPageObj_GetType"), o)
	if depth == 0 && len(d.roles.figures) > 0 && kind >= pathObject && kind <= formObject {
		if id := int32(d.call(d.fn("FPDFPageObj_GetMarkedContentID"), o)); id >= 0 {
			if at, ok := d.bounds(o, m); ok {
				d.roles.picture(id, at)
			}
		}
	}
	switch kind {
	case pathObject:
		d.path(o, m)
	case imageObject:
		d.out.Drawn++
		if r, ok := d.bounds(o, m); ok && len(d.out.Images) < maxShapes {
			d.out.Images = append(d.out.Images, r)
		}
	case shading:
		d.out.Drawn++
		d.fill(o, m)
	case formObject:
		if depth >= maxFormDepth {
			return
		}
		own := m.within(d.matrixOf(o))
		n := int(int32(d.call(d.fn("FPDFFormObj_CountObjects"), o)))
		get := d.fn("FPDFFormObj_GetObject")
		for i := 0; i < n && d.left > 0 && d.err == nil; i++ {
			d.object(d.call(get, o, uint64(i)), own, depth+1)
		}
	}
}

// bounds is where an object is shown.
func (d *drawingReader) bounds(o uint64, m matrix) (layout.Rect, bool) {
	at := uint64(d.scratch)
	if d.call(d.fn("FPDFPageObj_GetBounds"), o, at, at+4, at+8, at+12) == 0 {
		return layout.Rect{}, false
	}
	x0, y0 := m.point(d.float32At(d.scratch), d.float32At(d.scratch+4))
	x1, y1 := m.point(d.float32At(d.scratch+8), d.float32At(d.scratch+12))
	return d.frame.rect(x0, y0, x1, y1), true
}

// fill keeps a shape that white text may be seen on.
func (d *drawingReader) fill(o uint64, m matrix) {
	if len(d.out.Fills) >= maxShapes {
		d.crowded = true
		return
	}
	if r, ok := d.bounds(o, m); ok {
		d.out.Fills = append(d.out.Fills, r)
	}
}

func (d *drawingReader) matrixOf(o uint64) matrix {
	at := d.scratch
	if d.call(d.fn("FPDFPageObj_GetMatrix"), o, uint64(at)) == 0 {
		return matrix{a: 1, d: 1}
	}
	return matrix{d.float32At(at), d.float32At(at + 4), d.float32At(at + 8), d.float32At(at + 12), d.float32At(at + 16), d.float32At(at + 20)}
}

// Kinds of a path's segments.
const (
	lineTo   = 0
	bezierTo = 1
	moveTo   = 2
)

// path keeps the lines along an axis that a path draws: those it strokes, thin boxes that it fills, and the sides of
// boxes.
func (d *drawingReader) path(o uint64, m matrix) {
	d.out.Drawn++
	at := uint64(d.scratch)
	if d.call(d.fn("FPDFPath_GetDrawMode"), o, at, at+4) == 0 {
		return
	}
	mode := d.bytesAt(d.scratch, 8)
	filled, stroked := mode[0] != 0, mode[4] != 0
	width := 0.0
	if stroked && d.call(d.fn("FPDFPageObj_GetStrokeWidth"), o, at) != 0 {
		width = d.float32At(d.scratch) * math.Hypot(m.a, m.b)
	}
	if filled && !d.pale("FPDFPageObj_GetFillColor", o) || stroked && width >= thick && !d.pale("FPDFPageObj_GetStrokeColor", o) {
		d.fill(o, m)
	}
	if len(d.out.Rules) >= maxRules {
		return
	}
	n := int(int32(d.call(d.fn("FPDFPath_CountSegments"), o)))
	if n < 2 || n > maxSegments {
		return
	}
	if !filled && !stroked {
		return
	}
	m = m.within(d.matrixOf(o))
	segment, point, kind, closes := d.fn("FPDFPath_GetPathSegment"), d.fn("FPDFPathSegment_GetPoint"), d.fn("FPDFPathSegment_GetType"), d.fn("FPDFPathSegment_GetClose")
	var xs, ys []float64 // of the figure that is being drawn
	curved := false
	flush := func(closed bool) {
		if len(xs) > 2 {
			d.dot(xs, ys, curved, filled)
		}
		if len(xs) > 1 && !curved {
			d.figure(xs, ys, filled, stroked && width < thick, closed)
		}
		xs, ys, curved = xs[:0], ys[:0], false
	}
	for i := range n {
		s := d.call(segment, o, uint64(i))
		if s == 0 || d.call(point, s, at, at+4) == 0 {
			continue
		}
		x, y := m.point(d.float32At(d.scratch), d.float32At(d.scratch+4))
		x, y = d.frame.point(x, y)
		k := int32(d.call(kind, s))
		if k == moveTo {
			flush(filled)
		}
		curved = curved || k == bezierTo
		xs, ys = append(xs, x), append(ys, y)
		if d.call(closes, s) != 0 {
			flush(true)
		}
	}
	flush(filled)
}

// dot keeps a small shape that is about as wide as high.
func (d *drawingReader) dot(xs, ys []float64, curved, filled bool) {
	const (
		least = 1.2 // points
		most  = 9.0
	)
	x0, y0, x1, y1 := bounds(xs, ys)
	w, h := x1-x0, y1-y0
	if len(d.out.Dots) < maxShapes && w >= least && h >= least && w <= most && h <= most && max(w, h) < 1.4*min(w, h) {
		d.out.Dots = append(d.out.Dots, layout.Dot{
			Rect:   layout.Rect{X0: float32(x0), Y0: float32(y0), X1: float32(x1), Y1: float32(y1)},
			Square: !curved, Hollow: !filled,
		})
	}
}

// figure keeps the lines of one figure, whose corners are given as shown.
func (d *drawingReader) figure(xs, ys []float64, filled, stroked, closed bool) {
	const thin = 3.0 // points up to which a filled box is a line
	x0, y0, x1, y1 := bounds(xs, ys)
	if filled && (x1-x0 <= thin) != (y1-y0 <= thin) {
		d.keep(x0, y0, x1, y1)
	}
	if !stroked {
		return
	}
	for i := range xs {
		j := i + 1
		if j == len(xs) {
			if !closed {
				return
			}
			j = 0
		}
		d.keep(min(xs[i], xs[j]), min(ys[i], ys[j]), max(xs[i], xs[j]), max(ys[i], ys[j]))
	}
}

// keep keeps a line if it is one along an axis, and long enough to be meant as such.
func (d *drawingReader) keep(x0, y0, x1, y1 float64) {
	const (
		thin  = 3.0
		short = 4.0
	)
	long := max(x1-x0, y1-y0)
	if len(d.out.Rules) >= maxRules || !(long >= short) || min(x1-x0, y1-y0) > thin || long > 1e6 {
		return
	}
	d.out.Rules = append(d.out.Rules, layout.Rule{
		Rect:    layout.Rect{X0: float32(x0), Y0: float32(y0), X1: float32(x1), Y1: float32(y1)},
		Upright: y1-y0 > x1-x0,
	})
}

func bounds(xs, ys []float64) (x0, y0, x1, y1 float64) {
	x0, x1, y0, y1 = xs[0], xs[0], ys[0], ys[0]
	for i := range xs {
		x0, x1 = min(x0, xs[i]), max(x1, xs[i])
		y0, y1 = min(y0, ys[i]), max(y1, ys[i])
	}
	return x0, y0, x1, y1
}
