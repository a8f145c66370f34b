// What belongs together on a sheet: tables, and the titles above them.

package sheet

import (
	"cmp"
	"slices"
	"strconv"
)

// row is the cells of one row, or some neighbours among them, by column.
type row struct {
	at    int
	cells []cell
}

// block is what becomes one table. Its rows have cells, in order.
type block struct {
	rows    []row
	columns []uint16 // that have cells
	header  bool     // its first row names the columns
	joined  bool     // of several
}

func blockOf(rows []row) block {
	b := block{rows: rows}
	if len(rows) == 0 {
		return b
	}
	low, high := rows[0].cells[0].column, uint16(0)
	for _, r := range rows {
		low, high = min(low, r.cells[0].column), max(high, r.cells[len(r.cells)-1].column)
	}
	low /= 64
	taken := make([]uint64, high/64-low+1)
	for _, r := range rows {
		for _, c := range r.cells {
			taken[c.column/64-low] |= 1 << (c.column % 64)
		}
	}
	for i, w := range taken {
		for bit := 0; w != 0; bit, w = bit+1, w>>1 {
			if w&1 != 0 {
				b.columns = append(b.columns, (uint16(i)+low)*64+uint16(bit))
			}
		}
	}
	return b
}

func (b *block) single() bool { return len(b.columns) == 1 }

// blocks parts the cells of the sheet.
func (s *Sheet) blocks() []block {
	rows := s.shownRows()
	if s.table && len(rows) > 0 {
		b := blockOf(rows)
		b.header = len(rows) == 1 || s.named || s.headerLike(rows, len(b.columns))
		return []block{b}
	}
	var out []block
	for _, band := range s.bands(rows) {
		for _, side := range s.sides(band) {
			out = append(out, side...)
		}
	}
	out = s.join(out)
	for i := range out {
		b := &out[i]
		b.header = len(b.rows) == 1 || s.headerLike(b.rows, len(b.columns))
	}
	return out
}

// shownRows gives the rows of the cells, without those under merged ones.
func (s *Sheet) shownRows() []row {
	s.sort()
	s.uncover()
	var rows []row
	for i := 0; i < len(s.cells); {
		j := i + 1
		for j < len(s.cells) && s.cells[j].row == s.cells[i].row {
			j++
		}
		rows = append(rows, row{int(s.cells[i].row), s.cells[i:j]})
		i = j
	}
	return rows
}

// maxActive is how many merged areas are looked at for one row.
const maxActive = 256

// uncover drops the cells that merged ones cover.
func (s *Sheet) uncover() {
	if len(s.merges) == 0 {
		return
	}
	slices.SortFunc(s.merges, func(x, y area) int {
		return cmp.Or(cmp.Compare(x.row, y.row), cmp.Compare(x.column, y.column))
	})
	var active []area
	next := 0
	out := s.cells[:0]
	for i := 0; i < len(s.cells); i++ {
		c := s.cells[i]
		if i == 0 || c.row != s.cells[i-1].row {
			for ; next < len(s.merges) && s.merges[next].row <= int(c.row); next++ {
				if len(active) == maxActive {
					active = ended(active, int(c.row))
				}
				if len(active) < maxActive {
					active = append(active, s.merges[next])
				}
			}
			active = ended(active, int(c.row))
		}
		if !covered(active, c) {
			out = append(out, c)
		}
	}
	s.cells = out
}

// ended drops the areas that end above a row.
func ended(areas []area, row int) []area {
	return slices.DeleteFunc(areas, func(a area) bool { return a.lastRow < row })
}

func covered(areas []area, c cell) bool {
	for _, a := range areas {
		if int(c.column) >= a.column && int(c.column) <= a.lastColumn && (int(c.row) > a.row || int(c.column) > a.column) {
			return true
		}
	}
	return false
}

// mergeAt gives the merged area that begins at a cell.
func (s *Sheet) mergeAt(c cell) (area, bool) {
	i, ok := slices.BinarySearchFunc(s.merges, c, func(a area, c cell) int {
		return cmp.Or(cmp.Compare(a.row, int(c.row)), cmp.Compare(a.column, int(c.column)))
	})
	if !ok {
		return area{}, false
	}
	return s.merges[i], true
}

// bottom is the last row that a row reaches into by merged cells.
func (s *Sheet) bottom(r row) int {
	last := r.at
	if len(s.merges) > 0 {
		for _, c := range r.cells {
			if a, ok := s.mergeAt(c); ok {
				last = max(last, a.lastRow)
			}
		}
	}
	return last
}

// bands parts rows where blank ones are between them.
func (s *Sheet) bands(rows []row) [][]row {
	var out [][]row
	from, last := 0, 0
	for i, r := range rows {
		if i > from && s.hiddenRows.between(last, r.at) > 0 {
			out = append(out, rows[from:i])
			from = i
		}
		last = max(last, s.bottom(r))
	}
	if from < len(rows) {
		out = append(out, rows[from:])
	}
	return out
}

// sides parts a band into tables that stand side by side, and takes titles off them. A blank column alone parts nothing:
// many tables have some for looks. It does where a whole table stands on either side of it.
func (s *Sheet) sides(rows []row) [][]block {
	whole := blockOf(rows)
	var out [][]block
	for {
		cut, ok := s.cut(whole)
		if !ok {
			return append(out, s.titles(whole))
		}
		left, right := split(whole.rows, cut)
		out = append(out, s.tables(left))
		whole = blockOf(right)
	}
}

// tables gives the blocks of one side of a band, which may have blank rows that the other side fills.
func (s *Sheet) tables(rows []row) []block {
	var out []block
	for _, band := range s.bands(rows) {
		out = append(out, s.titles(blockOf(band))...)
	}
	return out
}

// maxSides is how many blank columns of one band are tried as an edge between tables.
const maxSides = 16

// cut finds the first column of the second of two tables that stand side by side.
func (s *Sheet) cut(b block) (uint16, bool) {
	if len(b.columns) < 4 || len(b.rows) < 3 {
		return 0, false
	}
	tried := 0
	for i := 2; i+2 <= len(b.columns) && tried < maxSides; i++ {
		if s.hiddenColumns.between(int(b.columns[i-1]), int(b.columns[i])) == 0 {
			continue
		}
		tried++
		left, right := split(b.rows, b.columns[i])
		l := blockOf(left)
		if len(left) >= 2 && len(right) >= 2 && len(l.columns) == i && s.headed(left, i) && s.headed(right, len(b.columns)-i) {
			return b.columns[i], true
		}
	}
	return 0, false
}

// headed says that rows begin with one that names all their columns, which others follow that do not.
func (s *Sheet) headed(rows []row, columns int) bool {
	first := rows[0]
	if len(first.cells) < min(columns, 2) || !allWords(first) {
		return false
	}
	return !allWords(rows[1]) || len(first.cells) == columns
}

// split parts rows at a column, which goes to the right. Rows without cells on a side are not there.
func split(rows []row, column uint16) (left, right []row) {
	for _, r := range rows {
		at, _ := slices.BinarySearchFunc(r.cells, column, func(c cell, column uint16) int { return cmp.Compare(c.column, column) })
		if at > 0 {
			left = append(left, row{r.at, r.cells[:at]})
		}
		if at < len(r.cells) {
			right = append(right, row{r.at, r.cells[at:]})
		}
	}
	return left, right
}

// maxTitles is how many rows above a header may be its title.
const maxTitles = 4

// titles takes the rows of one cell each above a header off its table.
func (s *Sheet) titles(b block) []block {
	n := 0
	for n < len(b.rows) && n <= maxTitles && len(b.rows[n].cells) == 1 && b.rows[n].cells[0].kind == Words {
		n++
	}
	if n == 0 || n > maxTitles || len(b.rows)-n < 2 || len(b.columns) < 2 {
		return []block{b}
	}
	rest := blockOf(b.rows[n:])
	across := false
	for _, r := range b.rows[:n] {
		a, ok := s.mergeAt(r.cells[0])
		across = across || ok && a.lastColumn > a.column && a.lastRow == a.row
	}
	if len(rest.rows[0].cells) < 2 || !across && !s.headerLike(rest.rows, len(rest.columns)) {
		return []block{b}
	}
	return []block{blockOf(b.rows[:n]), rest}
}

// headerLike says that the first of these rows reads as the names of so many columns, or of all that the next row has.
func (s *Sheet) headerLike(rows []row, columns int) bool {
	words := 0
	for _, c := range rows[0].cells {
		switch {
		case c.kind == Words:
			words++
		case c.kind == Moment, c.kind == Number && year(c.text):
		default:
			return false
		}
	}
	n := len(rows[0].cells)
	return words > 0 && (2*n > columns || n > 1 && len(rows) > 1 && n >= len(rows[1].cells))
}

func allWords(r row) bool {
	return !slices.ContainsFunc(r.cells, func(c cell) bool { return c.kind != Words })
}

// year says that a number may stand for a year, as in the header of a table of years.
func year(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1900 && n <= 2100
}

// join puts back together what one blank row parted: rows below a table, such as its sum, that are within its columns and have no
// header of their own.
func (s *Sheet) join(blocks []block) []block {
	var out []block
	for i, b := range blocks {
		if len(out) > 0 && s.continues(&out[len(out)-1], &b, blocks[i+1:]) {
			last := &out[len(out)-1]
			if !last.joined {
				last.rows, last.joined = slices.Clip(last.rows), true
			}
			last.rows = append(last.rows, b.rows...)
			last.columns = union(last.columns, b.columns)
			continue
		}
		out = append(out, b)
	}
	return out
}

// union is what is in either of two lists in order.
func union(a, b []uint16) []uint16 {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// continues says that block b goes on with block a. What follows b tells whether it is the title of that.
func (s *Sheet) continues(a, b *block, after []block) bool {
	end := a.rows[len(a.rows)-1]
	gap := s.hiddenRows.between(s.bottom(end), b.rows[0].at)
	if end.at >= b.rows[0].at || gap != 1 {
		return false
	}
	if b.columns[0] < a.columns[0] || b.columns[len(b.columns)-1] > a.columns[len(a.columns)-1] {
		return false
	}
	if b.single() && a.single() {
		return true
	}
	if len(a.rows) == 1 || len(b.rows) > 1 && s.headerLike(b.rows, len(b.columns)) {
		return false
	}
	return len(b.rows) > 1 || len(b.rows[0].cells) > 1 || len(after) == 0 || !s.title(b, &after[0])
}

// title says that a lone cell stands above a table as its title.
func (s *Sheet) title(b, table *block) bool {
	gap := s.hiddenRows.between(s.bottom(b.rows[len(b.rows)-1]), table.rows[0].at)
	return gap <= 2 && len(table.columns) > 1
}
