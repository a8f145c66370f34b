// What a table is made of: its rows in the order in which they are shown, the columns that its cells take, and whether
// it holds data at all.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tableSurvey is what one look through a table's own cells found. Tables within its cells are not looked into.
type tableSurvey struct {
	rows     []*html.Node // header rows first, footer rows last
	captions []*html.Node
	header   bool // the first row is the header
	code     bool // lines of code beside their numbers

	cells, heads int  // td and th
	widest       int  // cells in the longest row
	nested       bool // a table in a cell
	headings     bool // a heading or a rule in a cell
	blocks       bool // other blocks in a cell
	sections     bool // parts of a page in a cell: navigation, forms, articles
}

func isCell(n *html.Node) bool    { return n.DataAtom == atom.Td || n.DataAtom == atom.Th }
func isRow(n *html.Node) bool     { return n.DataAtom == atom.Tr }
func isCaption(n *html.Node) bool { return n.DataAtom == atom.Caption }

func isTablePart(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Col, atom.Colgroup:
		return true
	}
	return false
}

func surveyTable(table *html.Node) (s tableSurvey) {
	var head, foot []*html.Node
	for n := following(table, table); n != nil; {
		if n.Type != html.ElementNode {
			n = following(table, n)
			continue
		}
		if isTablePart(n) && concealed(n) {
			n = skipping(table, n)
			continue
		}
		switch n.DataAtom {
		case atom.Tr:
			switch section := n.Parent; {
			case section != nil && section.DataAtom == atom.Thead:
				head = append(head, n)
			case section != nil && section.DataAtom == atom.Tfoot:
				foot = append(foot, n)
			default:
				s.rows = append(s.rows, n)
			}
			s.surveyRow(n)
		case atom.Caption:
			s.captions = append(s.captions, n)
			n = skipping(table, n)
			continue
		case atom.Table:
			s.nested = true
			n = skipping(table, n)
			continue
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr:
			s.headings = true
		case atom.P, atom.Div, atom.Ul, atom.Ol, atom.Blockquote, atom.Dl, atom.Center:
			s.blocks = true
		case atom.Pre, atom.Nav, atom.Form, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Aside, atom.Section, atom.Iframe,
			atom.Fieldset, atom.Textarea:
			s.sections = true
		case atom.Script, atom.Style, atom.Template:
			n = skipping(table, n)
			continue
		}
		n = following(table, n)
	}
	s.header = len(head) > 0
	if !s.header && len(s.rows) > 0 {
		s.header = headerRow(s.rows[0])
	}
	s.rows = append(append(head, s.rows...), foot...)
	return s
}

// surveyRow counts the cells of one row, and knows code by the numbers beside it.
func (s *tableSurvey) surveyRow(tr *html.Node) {
	n := 0
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Th:
			s.heads++
		case atom.Td:
			s.cells++
			s.code = s.code || numbersLines(c)
		default:
			continue
		}
		n++
	}
	s.widest = max(s.widest, n)
}

// numbersLines says that a cell holds the numbers of the lines beside it.
func numbersLines(td *html.Node) bool {
	class, ok := attribute(td, "class")
	if !ok || classFlags(class)&(gutter|maybeGutter) == 0 {
		return false
	}
	text := strings.Join(strings.Fields(shortText(td)), "")
	if text == "" {
		_, ok = attribute(td, "data-line-number")
		return ok
	}
	return digits(text)
}

// headerRow says that a row names the columns: header cells only, an empty corner aside.
func headerRow(tr *html.Node) bool {
	heads := 0
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Th:
			heads++
		case atom.Td:
			if heads > 0 || shortText(c) != "" {
				return false
			}
		}
	}
	return heads > 0
}

// layout says that the table only lays out what is in it.
func (s *tableSurvey) layout(role string) bool {
	switch strings.ToLower(role) {
	case "presentation", "none":
		return true
	case "table", "grid", "treegrid":
		return false
	}
	if s.heads > 0 || len(s.captions) > 0 {
		return s.cells+s.heads == 1 || s.sections && s.heads == 0
	}
	switch {
	case s.headings, s.nested, s.sections, s.cells <= 1:
		return true
	case s.widest == 1:
		return s.blocks
	}
	return len(s.rows) == 1 && s.blocks
}

// grid places cells in columns.
type grid struct {
	columns int
	widest  int          // cells in the longest row: no span is wider
	below   []int        // by column: rows below that a cell reaches into
	open    int          // columns for which below is not 0
	budget  int          // places under spans that may still be kept free
	cells   []*html.Node // of the row placed last
	group   *html.Node   // its row group, which no span reaches out of
}

// What a page claims to span costs it nothing, and would cost us every place under it: at most this many places are
// kept free under spans, and those in far columns are not followed.
const (
	maxFreePerCell   = 4
	maxFree          = 1000
	maxSpannedColumn = 256
)

func gridOf(s *tableSurvey) grid {
	g := grid{widest: s.widest, budget: maxFree + maxFreePerCell*(s.cells+s.heads)}
	budget := g.budget
	for _, tr := range s.rows {
		g.columns = max(g.columns, len(g.place(tr)))
	}
	g.group, g.budget = nil, budget
	return g
}

// place answers the cells of a row by column; nil is a place under a span. Places under spans after the last cell are
// left out. The answer holds until the next call.
func (g *grid) place(tr *html.Node) []*html.Node {
	if tr.Parent != g.group {
		clear(g.below)
		g.open, g.group = 0, tr.Parent
	}
	g.cells = g.cells[:0]
	last := 0
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if !isCell(c) || concealed(c) {
			continue
		}
		for g.spanned(len(g.cells)) && g.budget > 0 {
			g.cover(len(g.cells))
		}
		across, down := spanOf(c, "colspan"), spanOf(c, "rowspan")
		g.reach(len(g.cells), down-1)
		g.cells = append(g.cells, c)
		last = len(g.cells)
		for i := 1; i < min(across, g.widest) && g.budget > 0 && !g.spanned(len(g.cells)); i++ {
			g.budget--
			g.reach(len(g.cells), down-1)
			g.cells = append(g.cells, nil)
		}
	}
	if g.open > 0 {
		for col := len(g.cells); col < len(g.below); col++ {
			if g.below[col] > 0 {
				g.lower(col)
			}
		}
	}
	return g.cells[:last]
}

// fill is how many columns a row with so many cells gets: all of them, as long as the table may hold empty places.
func (g *grid) fill(cells int) int {
	missing := max(0, g.columns-cells)
	if missing > g.budget {
		return cells
	}
	g.budget -= missing
	return g.columns
}

func (g *grid) spanned(col int) bool { return col < len(g.below) && g.below[col] > 0 }

// cover keeps the place in column col free for the cell above it.
func (g *grid) cover(col int) {
	g.budget--
	g.lower(col)
	g.cells = append(g.cells, nil)
}

func (g *grid) lower(col int) {
	if g.below[col]--; g.below[col] == 0 {
		g.open--
	}
}

// reach notes that the cell in column col reaches into so many rows below.
func (g *grid) reach(col, rows int) {
	if rows <= 0 || col >= maxSpannedColumn {
		return
	}
	for len(g.below) <= col {
		g.below = append(g.below, 0)
	}
	g.below[col] = rows
	g.open++
}

// spanOf is how many rows or columns a cell says to take; nought means all that are left.
func spanOf(c *html.Node, key string) int {
	const all = 65534 // HTML's own bound on rows
	if len(c.Attr) == 0 {
		return 1
	}
	n, ok := number(c, key)
	switch {
	case !ok || n < 0:
		return 1
	case n == 0 && key == "rowspan":
		return all
	}
	return min(max(n, 1), all)
}

// concealed says that a row or a cell is not there for a reader.
func concealed(n *html.Node) bool {
	if len(n.Attr) == 0 {
		return false
	}
	t := traitsOf(n)
	return t.hiddenAttr || stylesOf(t.style)&displayNone != 0
}
