// Where the cells of each row stand.

package grid

import (
	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Grid places cells in columns.
type Grid struct {
	Columns int
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

// New makes the grid of a table, its first row next.
func New(s *Survey) Grid {
	g := Grid{widest: s.widest, budget: maxFree + maxFreePerCell*(s.cells+s.heads)}
	budget := g.budget
	for _, tr := range s.Rows {
		g.Columns = max(g.Columns, len(g.Place(tr)))
	}
	g.group, g.budget = nil, budget
	return g
}

// Place answers the cells of a row by column; nil is a place under a span. Places under spans after the last cell are
// left out. The answer holds until the next call.
func (g *Grid) Place(tr *html.Node) []*html.Node {
	if tr.Parent != g.group {
		clear(g.below)
		g.open, g.group = 0, tr.Parent
	}
	g.cells = g.cells[:0]
	last := 0
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if !IsCell(c) || facts.Concealed(c) {
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

// Fill is how many columns a row with so many cells gets: all of them, as long as the table may hold empty places.
func (g *Grid) Fill(cells int) int {
	missing := max(0, g.Columns-cells)
	if missing > g.budget {
		return cells
	}
	g.budget -= missing
	return g.Columns
}

func (g *Grid) spanned(col int) bool { return col < len(g.below) && g.below[col] > 0 }

// cover keeps the place in column col free for the cell above it.
func (g *Grid) cover(col int) {
	g.budget--
	g.lower(col)
	g.cells = append(g.cells, nil)
}

func (g *Grid) lower(col int) {
	if g.below[col]--; g.below[col] == 0 {
		g.open--
	}
}

// reach notes that the cell in column col reaches into so many rows below.
func (g *Grid) reach(col, rows int) {
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
	n, ok := facts.Number(c, key)
	switch {
	case !ok || n < 0:
		return 1
	case n == 0 && key == "rowspan":
		return all
	}
	return min(max(n, 1), all)
}
