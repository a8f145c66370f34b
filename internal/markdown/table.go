// Tables: rows and columns of data are a GFM table, tables that only lay a page out are unfolded into its blocks.

package markdown

import (
	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/grid"
)

// table writes a table in whichever form fits it.
func (r *renderer) table(n *html.Node, t *facts.Traits) {
	if r.w.Flat() {
		r.tableInCell(n)
		return
	}
	s := grid.Of(n)
	switch {
	case s.Code:
		r.codeTable(n, &s)
	case len(s.Rows) == 0 || s.Layout(t.Role) || t.Is(facts.MathDisplay) || s.Nested && s.Alone():
		r.unfold(n)
	default:
		r.dataTable(n, &s)
	}
}

// unfold writes the cells of a layout table as blocks, in order. Small cells of a row stay in one line.
func (r *renderer) unfold(n *html.Node) {
	r.w.Break(2)
	small := false
	for m := facts.Following(n, n); m != nil && r.err == nil; {
		switch {
		case grid.IsPart(m) && r.leftOut(m):
			m = facts.Skipping(n, m)
			continue
		case grid.IsRow(m):
			r.w.Break(2)
			small = false
		case grid.IsCell(m):
			was := small
			small = smallCell(m)
			if !was && !small {
				r.w.Break(2)
			}
			r.apart(m)
			m = facts.Skipping(n, m)
			continue
		case m.Type == html.TextNode || m.Type == html.ElementNode && (!grid.IsPart(m) || grid.IsCaption(m)):
			r.node(m)
			m = facts.Skipping(n, m)
			continue
		}
		m = facts.Following(n, m)
	}
	r.w.Break(2)
}

// smallCell says that a cell holds a few words only.
func smallCell(n *html.Node) bool {
	const few = 40 // bytes
	return len(facts.ShortText(n)) < few
}

// dataTable writes a GFM table; one with a single cell that holds something is unfolded, too.
func (r *renderer) dataTable(n *html.Node, s *grid.Survey) {
	r.w.Break(2)
	before := r.w.Here()
	for _, c := range s.Captions {
		r.node(c)
	}
	list := r.list
	r.list = nil
	g := grid.New(s)
	rows := s.Rows
	rowsFrom, filled := r.w.Here(), 0
	if s.Header {
		filled = r.row(g.Place(rows[0]), g.Columns, true)
		rows = rows[1:]
	} else {
		r.row(nil, g.Columns, true)
	}
	r.w.DelimiterRow(g.Columns)
	for _, tr := range rows {
		if r.err != nil {
			break
		}
		if r.dropped(tr) {
			continue
		}
		cells := g.Place(tr)
		filled += r.row(cells, g.Fill(len(cells)), false)
	}
	r.w.SetGap(2)
	r.list = list
	switch {
	case filled == 0:
		r.w.BackTo(rowsFrom)
	case filled == 1 && !s.Nested && r.w.BackTo(before):
		r.unfold(n)
	}
}

// row writes the cells of one row, those under spans empty, and fills it up to so many columns; it answers how many
// cells hold something. Only the header may hold nothing.
func (r *renderer) row(cells []*html.Node, columns int, header bool) (filled int) {
	before := r.w.Here()
	r.w.BeginRow()
	for _, c := range cells {
		if c == nil || r.dropped(c) {
			r.w.EmptyCell()
			continue
		}
		r.w.BeginCell()
		r.children(c)
		if r.w.EndCell() {
			filled++
		}
	}
	for i := len(cells); i < columns; i++ {
		r.w.EmptyCell()
	}
	if filled == 0 && !header {
		r.w.BackTo(before)
	}
	return filled
}

// tableInCell writes a table where only one line is left: rows on lines of the cell, cells parted by commas.
func (r *renderer) tableInCell(n *html.Node) {
	r.w.Break(0)
	for m := facts.Following(n, n); m != nil && r.err == nil; {
		if grid.IsPart(m) && r.leftOut(m) {
			m = facts.Skipping(n, m)
			continue
		}
		if grid.IsRow(m) {
			r.w.Break(0)
			r.rowInCell(m)
			m = facts.Skipping(n, m)
			continue
		}
		if m.Type == html.ElementNode && (!grid.IsPart(m) || grid.IsCaption(m)) {
			r.node(m)
			m = facts.Skipping(n, m)
			continue
		}
		m = facts.Following(n, m)
	}
	r.w.Break(0)
}

func (r *renderer) rowInCell(tr *html.Node) {
	wrote := false
	for c := tr.FirstChild; c != nil && r.err == nil; c = c.NextSibling {
		if !grid.IsCell(c) || r.leftOut(c) {
			continue
		}
		if wrote && facts.ShortText(c) != "" {
			r.w.Separate(",")
		}
		from := r.w.Len()
		r.children(c)
		wrote = wrote || r.w.Len() > from
	}
	r.w.Break(0)
}
