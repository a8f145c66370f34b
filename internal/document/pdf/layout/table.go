package layout

import (
	"cmp"
	"maps"
	"slices"
)

// table is a table with the words of each cell. A cell that another one reaches over is empty.
type table struct {
	Rect
	rows [][]cell
}

// cell holds rows of words.
type cell struct {
	rows []row
}

func (t *table) columns() int {
	n := 0
	for _, r := range t.rows {
		n = max(n, len(r))
	}
	return n
}

// prune drops rows and columns without a word.
func (t *table) prune() {
	t.rows = slices.DeleteFunc(t.rows, func(r []cell) bool {
		return !slices.ContainsFunc(r, func(c cell) bool { return len(c.rows) > 0 })
	})
	for j := t.columns() - 1; j >= 0; j-- {
		used := slices.ContainsFunc(t.rows, func(r []cell) bool { return j < len(r) && len(r[j].rows) > 0 })
		if used {
			continue
		}
		for i := range t.rows {
			if j < len(t.rows[i]) {
				t.rows[i] = slices.Delete(t.rows[i], j, j+1)
			}
		}
	}
}

const (
	snap     = 2.5 // points within which lines are one
	maxLines = 400 // of a table along one axis
	maxCells = 20_000
)

// ruledTables takes the tables out of a page whose cells are drawn, and answers them with the characters that stand
// in none.
func ruledTables(p *Page, inks []ink) ([]*table, []ink) {
	const most = 64 // on a page
	var out []*table
	groups := linked(p.Rules)
	for _, group := range groups[:min(len(groups), most)] {
		g, ok := newGrid(group)
		if !ok || float64(g.Y1-g.Y0) > 0.985*p.Height && float64(g.X1-g.X0) > 0.985*p.Width {
			continue
		}
		var in, rest []ink
		for _, k := range inks {
			if g.holds((k.X0+k.X1)/2, (k.Y0+k.Y1)/2) {
				in = append(in, k)
			} else {
				rest = append(rest, k)
			}
		}
		if len(in) == 0 {
			continue
		}
		t := g.fill(in)
		t.prune()
		if !plausible(t) {
			continue
		}
		out, inks = append(out, t), rest
	}
	return out, inks
}

// taggedTables takes the tables out of a page that the file's own structure names, and answers them with the characters
// that stand in none.
func taggedTables(p *Page, inks []ink) ([]*table, []ink) {
	const most = 1000 // rows, and columns
	byTable := map[uint16][]ink{}
	var rest []ink
	for _, k := range inks {
		if c := p.Styles[k.Style].Cell; c.Table > 0 && c.Row > 0 && c.Column > 0 && c.Row <= most && c.Column <= most {
			byTable[c.Table] = append(byTable[c.Table], k)
		} else {
			rest = append(rest, k)
		}
	}
	var out []*table
	for _, id := range slices.Sorted(maps.Keys(byTable)) {
		if t := taggedTable(p, byTable[id]); t != nil {
			out = append(out, t)
		} else {
			rest = append(rest, byTable[id]...)
		}
	}
	slices.SortStableFunc(rest, func(a, b ink) int { return cmp.Compare(a.seq, b.seq) })
	return out, rest
}

// taggedTable makes a table of characters whose cells are known; nil where they do not stand like one.
func taggedTable(p *Page, inks []ink) *table {
	cells := map[[2]uint16][]ink{}
	rowsN, columns := uint16(0), uint16(0)
	t := &table{Rect: inks[0].Rect}
	for _, k := range inks {
		c := p.Styles[k.Style].Cell
		cells[[2]uint16{c.Row, c.Column}] = append(cells[[2]uint16{c.Row, c.Column}], k)
		rowsN, columns = max(rowsN, c.Row), max(columns, c.Column)
		t.Rect = t.union(k.Rect)
	}
	if columns < 2 || rowsN < 2 || int(rowsN)*int(columns) > maxCells {
		return nil
	}
	cells = settleColumns(cells, rowsN, columns)
	bottom := t.Y0
	for i := uint16(1); i <= rowsN; i++ {
		line := make([]cell, columns)
		top, low := t.Y1, t.Y0
		for j := uint16(1); j <= columns; j++ {
			in := cells[[2]uint16{i, j}]
			if len(in) == 0 {
				continue
			}
			line[j-1].rows = rows(in)
			for k := range in {
				top, low = min(top, in[k].Y0), max(low, in[k].Y1)
			}
		}
		// Rows follow one another down the page; a table that is only a list of parts of the page does not.
		if low > t.Y0 && top < bottom-0.5*inks[0].size && i > 1 {
			return nil
		}
		bottom = max(bottom, low)
		t.rows = append(t.rows, line)
	}
	t.prune()
	if !plausible(t) {
		return nil
	}
	return t
}

// settleColumns puts cells of rows that lack some into the columns that they stand in: a cell without text is none in
// the file's structure.
func settleColumns(cells map[[2]uint16][]ink, rows, columns uint16) map[[2]uint16][]ink {
	at := make([]interval, columns+1)
	known := make([]bool, columns+1)
	count := func(i uint16) (n uint16) {
		for j := uint16(1); j <= columns; j++ {
			if len(cells[[2]uint16{i, j}]) > 0 {
				n++
			}
		}
		return n
	}
	for i := uint16(1); i <= rows; i++ {
		if count(i) < columns {
			continue
		}
		for j := uint16(1); j <= columns; j++ {
			for _, k := range cells[[2]uint16{i, j}] {
				if !known[j] {
					at[j], known[j] = interval{k.X0, k.X1}, true
				}
				at[j] = interval{min(at[j].x0, k.X0), max(at[j].x1, k.X1)}
			}
		}
	}
	if !known[1] {
		return cells
	}
	out := map[[2]uint16][]ink{}
	for i := uint16(1); i <= rows; i++ {
		n := count(i)
		next := uint16(1)
		for j := uint16(1); j <= columns; j++ {
			in := cells[[2]uint16{i, j}]
			if len(in) == 0 {
				continue
			}
			n-- // how many follow, which need room
			to := next
			if n+next < columns || j != to {
				x0, x1 := in[0].X0, in[0].X1
				for _, k := range in {
					x0, x1 = min(x0, k.X0), max(x1, k.X1)
				}
				best := float32(-1)
				for c := next; c+n <= columns; c++ {
					if d := min(x1, at[c].x1) - max(x0, at[c].x0); best < 0 && d > -1e6 || d > best {
						best, to = max(d, 0), c
					}
				}
			}
			out[[2]uint16{i, to}] = in
			next = to + 1
		}
	}
	return out
}

// plausible says that a grid is a table and not a frame around a text or a drawing.
func plausible(t *table) bool {
	if len(t.rows) < 1 || t.columns() < 2 || len(t.rows) == 1 && t.columns() == 2 {
		return false
	}
	filled, all := 0, 0
	for _, r := range t.rows {
		for _, c := range r {
			all++
			if len(c.rows) > 0 {
				filled++
			}
		}
	}
	return filled >= 2 && filled*8 >= all
}

// linked puts lines that touch one another into groups.
func linked(rules []Rule) [][]Rule {
	parent := make([]int, len(rules))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	order := make([]int, len(rules))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rules[a].X0, rules[b].X0) })
	var live []int // that may still touch what comes
	steps := 0
	for _, i := range order {
		r := &rules[i]
		kept := live[:0]
		for _, j := range live {
			o := &rules[j]
			if o.X1 < r.X0-snap {
				continue
			}
			kept = append(kept, j)
			if steps++; steps < 4_000_000 && o.Y0 <= r.Y1+snap && o.Y1 >= r.Y0-snap {
				parent[find(i)] = find(j)
			}
		}
		live = append(kept, i)
	}
	byRoot := map[int][]Rule{}
	var roots []int
	for i := range rules {
		if !finite(rules[i].Rect) {
			continue
		}
		root := find(i)
		if byRoot[root] == nil {
			roots = append(roots, root)
		}
		byRoot[root] = append(byRoot[root], rules[i])
	}
	var out [][]Rule
	for _, root := range roots {
		out = append(out, byRoot[root])
	}
	// The bigger first: a table in a frame is looked for in the frame's group.
	slices.SortStableFunc(out, func(a, b []Rule) int { return cmp.Compare(len(b), len(a)) })
	return out
}

// grid is a table's lines.
type grid struct {
	Rect
	xs, ys []float32
	right  [][]bool // a line is drawn at the right of the cell [row][column]
	below  [][]bool
}

// newGrid makes a grid of lines that touch; false where they are none.
func newGrid(rules []Rule) (*grid, bool) {
	var xs, ys []float32
	for _, r := range rules {
		if r.Upright {
			xs = append(xs, (r.X0+r.X1)/2)
		} else {
			ys = append(ys, (r.Y0+r.Y1)/2)
		}
	}
	xs, ys = snapped(xs), snapped(ys)
	if len(xs) < 2 || len(ys) < 2 || len(xs) > maxLines || len(ys) > maxLines || len(xs)*len(ys) > maxCells {
		return nil, false
	}
	// Tables without lines at their sides: the level lines reach beyond the upright ones.
	left, right := xs[0], xs[len(xs)-1]
	for _, r := range rules {
		if !r.Upright {
			left, right = min(left, r.X0), max(right, r.X1)
		}
	}
	const side = 12
	if left < xs[0]-side {
		xs = slices.Insert(xs, 0, left)
	}
	if right > xs[len(xs)-1]+side {
		xs = append(xs, right)
	}
	g := &grid{Rect: Rect{xs[0], ys[0], xs[len(xs)-1], ys[len(ys)-1]}, xs: xs, ys: ys}
	if len(xs) < 3 && len(ys) < 3 {
		return nil, false
	}
	n, m := len(ys)-1, len(xs)-1
	g.right, g.below = make([][]bool, n), make([][]bool, n)
	for i := range n {
		g.right[i], g.below[i] = make([]bool, m), make([]bool, m)
	}
	for _, r := range rules {
		if r.Upright {
			j := nearest(xs, (r.X0+r.X1)/2) - 1
			for i := 0; i < n && j >= 0 && j < m; i++ {
				if mid := (ys[i] + ys[i+1]) / 2; r.Y0 <= mid && r.Y1 >= mid {
					g.right[i][j] = true
				}
			}
			continue
		}
		i := nearest(ys, (r.Y0+r.Y1)/2) - 1
		for j := 0; j < m && i >= 0 && i < n; j++ {
			if mid := (xs[j] + xs[j+1]) / 2; r.X0 <= mid && r.X1 >= mid {
				g.below[i][j] = true
			}
		}
	}
	return g, true
}

// snapped sorts places, and makes one of those that are near each other.
func snapped(at []float32) []float32 {
	slices.Sort(at)
	var out []float32
	for _, v := range at {
		if n := len(out); n == 0 || v-out[n-1] > snap {
			out = append(out, v)
		}
	}
	return out
}

func nearest(at []float32, v float32) int {
	i, _ := slices.BinarySearch(at, v)
	if i == len(at) || i > 0 && v-at[i-1] < at[i]-v {
		i--
	}
	return i
}

func (g *grid) holds(x, y float32) bool {
	return x > g.X0 && x < g.X1 && y > g.Y0 && y < g.Y1
}

// fill puts characters into cells. Cells without a line between them are one, whose words stand in the first of them.
func (g *grid) fill(inks []ink) *table {
	n, m := len(g.ys)-1, len(g.xs)-1
	owner := make([]int, n*m)
	for i := range owner {
		owner[i] = i
	}
	find := func(i int) int {
		for owner[i] != i {
			owner[i] = owner[owner[i]]
			i = owner[i]
		}
		return i
	}
	for i := range n {
		for j := range m {
			if j+1 < m && !g.right[i][j] {
				a, b := find(i*m+j), find(i*m+j+1)
				owner[max(a, b)] = min(a, b)
			}
			if i+1 < n && !g.below[i][j] {
				a, b := find(i*m+j), find((i+1)*m+j)
				owner[max(a, b)] = min(a, b)
			}
		}
	}
	cells := make([][]ink, n*m)
	for _, k := range inks {
		x, y := (k.X0+k.X1)/2, (k.Y0+k.Y1)/2
		i, _ := slices.BinarySearch(g.ys, y)
		j, _ := slices.BinarySearch(g.xs, x)
		at := find(min(max(i-1, 0), n-1)*m + min(max(j-1, 0), m-1))
		cells[at] = append(cells[at], k)
	}
	t := &table{Rect: g.Rect}
	for i := range n {
		r := make([]cell, m)
		for j := range m {
			if len(cells[i*m+j]) > 0 {
				r[j].rows = rows(cells[i*m+j])
			}
		}
		t.rows = append(t.rows, r)
	}
	t.split()
	return t
}

// split makes rows of the lines of a table whose rows are not drawn: where all its cells are one row, and each has
// as many lines as the others.
func (t *table) split() {
	var out [][]cell
	for _, r := range t.rows {
		n, filled, even := 0, 0, true
		for _, c := range r {
			if len(c.rows) == 0 {
				continue
			}
			if filled++; n == 0 {
				n = len(c.rows)
			}
			even = even && len(c.rows) == n
		}
		if !even || n < 3 || filled < 2 || !aligned(r, n) {
			out = append(out, r)
			continue
		}
		for i := range n {
			line := make([]cell, len(r))
			for j, c := range r {
				if len(c.rows) > 0 {
					line[j].rows = c.rows[i : i+1]
				}
			}
			out = append(out, line)
		}
	}
	t.rows = out
}

// aligned says that the n lines of all cells stand at the same heights.
func aligned(cells []cell, n int) bool {
	for i := range n {
		base := float32(-1)
		for _, c := range cells {
			if len(c.rows) == 0 {
				continue
			}
			if base < 0 {
				base = c.rows[i].base
			}
			if abs(c.rows[i].base-base) > 2 {
				return false
			}
		}
	}
	return true
}
