// Tables: rows and columns of data are a GFM table, tables that only lay a page out are unfolded into its blocks.

package markdown

import (
	"golang.org/x/net/html"
)

// table writes a table in whichever form fits it.
func (r *renderer) table(n *html.Node, t *traits) {
	if r.flat != inBlock {
		r.tableInCell(n)
		return
	}
	s := surveyTable(n)
	switch {
	case s.code:
		r.codeBlock(n, t)
	case len(s.rows) == 0 || s.layout(t.role):
		r.unfold(n)
	default:
		r.dataTable(&s)
	}
}

// unfold writes the cells of a layout table as blocks, in order. Small cells of a row stay in one line.
func (r *renderer) unfold(n *html.Node) {
	r.breakLeaf(2)
	list := r.list
	r.list = nil
	small := false
	for m := following(n, n); m != nil && r.err == nil; {
		switch {
		case isRow(m):
			r.breakLeaf(2)
			small = false
		case isCell(m):
			was := small
			small = smallCell(m)
			if !was && !small {
				r.breakLeaf(2)
			}
			r.layoutCell(m)
			m = skipping(n, m)
			continue
		case m.Type == html.TextNode || m.Type == html.ElementNode && (!isTablePart(m) || isCaption(m)):
			r.node(m)
			m = skipping(n, m)
			continue
		}
		m = following(n, m)
	}
	r.breakLeaf(2)
	r.list = list
}

func (r *renderer) layoutCell(n *html.Node) {
	t := traitsOf(n)
	if !r.hides(n, &t, stylesOf(t.style)) {
		r.apart(n)
	}
}

// smallCell says that a cell holds a few words only.
func smallCell(n *html.Node) bool {
	const few = 40 // bytes
	return len(shortText(n)) < few
}

// dataTable writes a GFM table.
func (r *renderer) dataTable(s *tableSurvey) {
	r.breakLeaf(2)
	for _, c := range s.captions {
		r.node(c)
	}
	list := r.list
	r.list = nil
	grid := gridOf(s)
	rows := s.rows
	if s.header {
		r.row(grid.place(rows[0]), grid.columns, true)
		rows = rows[1:]
	} else {
		r.row(nil, grid.columns, true)
	}
	r.rowStart()
	for range grid.columns {
		r.out = append(r.out, " --- |"...)
	}
	for _, tr := range rows {
		if r.err != nil {
			break
		}
		cells := grid.place(tr)
		r.row(cells, grid.fill(len(cells)), false)
	}
	r.gap = 2
	r.list = list
}

// rowStart begins a line of a table.
func (r *renderer) rowStart() {
	r.newLine()
	r.out = append(r.out, '|')
	r.gap = 1
}

// row writes the cells of one row, those under spans empty, and fills it up to so many columns. Only the header may
// hold nothing.
func (r *renderer) row(cells []*html.Node, columns int, header bool) {
	line, gap := len(r.out), r.gap
	r.rowStart()
	blank := true
	for _, c := range cells {
		if c != nil {
			from := len(r.out)
			r.cell(c)
			blank = blank && len(r.out) == from
		}
		r.out = append(r.out, " |"...)
	}
	for i := len(cells); i < columns; i++ {
		r.out = append(r.out, " |"...)
	}
	if blank && !header {
		r.out, r.gap = r.out[:line], gap
	}
}

// cell writes the content of one cell after a blank.
func (r *renderer) cell(n *html.Node) {
	from := len(r.out)
	r.out = append(r.out, ' ')
	outer := r.leaf
	r.leaf = leaf{open: true, leafStart: len(r.out), lineStart: len(r.out), flat: inCell}
	r.children(n)
	r.suspend()
	r.resolveMarks()
	empty := len(r.out) == from+1
	r.leaf = outer
	if empty {
		r.out = r.out[:from]
	}
}

// tableInCell writes a table where only one line is left: rows on lines of the cell, cells parted by commas.
func (r *renderer) tableInCell(n *html.Node) {
	r.breakLeaf(0)
	for m := following(n, n); m != nil && r.err == nil; {
		if m.Type == html.ElementNode && isRow(m) {
			r.breakLeaf(0)
			r.rowInCell(m)
			m = skipping(n, m)
			continue
		}
		if m.Type == html.ElementNode && (!isTablePart(m) || isCaption(m)) {
			r.node(m)
			m = skipping(n, m)
			continue
		}
		m = following(n, m)
	}
	r.breakLeaf(0)
}

func (r *renderer) rowInCell(tr *html.Node) {
	wrote := false
	for c := tr.FirstChild; c != nil && r.err == nil; c = c.NextSibling {
		if !isCell(c) {
			continue
		}
		if wrote && shortText(c) != "" {
			r.out = append(r.out, ',')
			r.space, r.breaks = true, 0
		}
		from := len(r.out)
		r.children(c)
		wrote = wrote || len(r.out) > from
	}
	r.breakLeaf(0)
}
