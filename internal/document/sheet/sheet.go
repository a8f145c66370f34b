// Package sheet lays spreadsheets out as Markdown: what every reader of them shares. A reader sets the cells that a person
// would see, in whatever order its format has them; what is hidden it leaves out and says so here.
//
// The one rule: a book costs what its filled cells cost, never what its sheets could hold. A cell in the last row and
// column is one cell.
package sheet

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/document"
)

// Kind is what a value is. It decides which row reads as a header.
type Kind uint8

// Kinds of values.
const (
	Words Kind = iota
	Number
	Moment // a date, a time of day, a span of time
	Truth  // TRUE or FALSE
	Fault  // an error, such as #N/A
)

// Value is what a cell shows.
type Value struct {
	Text string
	Kind Kind
	Link string // an absolute address; others are dropped. Empty for none
}

// Bounds of what is kept beside cells. A book has fewer in honest work, by far.
const (
	maxCellText = 32767  // bytes of one cell; Excel holds as many characters
	maxMerges   = 50_000 // of one sheet
	maxLooks    = 300_000
	maxSheets   = 1000   // that are read; of more it is said that they are there
	maxBands    = 50_000 // hidden runs of rows, and of columns, of one sheet
	maxNames    = 100    // of hidden sheets that are named
	maxRow      = 1<<24 - 1
	maxColumn   = 1<<16 - 1
	spare       = 4 // times the columns that are shown are kept, for cropping goes from the left
)

// Book is a spreadsheet that is being collected.
type Book struct {
	limits document.Limits
	sheets []*Sheet
	hidden []string // names, at most maxNames
	nHid   int

	skipped int // visible sheets
	left    int // cells that may yet be kept
	looks   int // cells that may yet be looked at for links
	bytes   int // of text that may yet be kept; more than is shown, for cropping takes some away
}

// New makes an empty book.
func New(limits document.Limits) *Book {
	limits = limits.WithDefaults()
	return &Book{limits: limits, left: limits.Cells, bytes: spare * limits.Text, looks: maxLooks}
}

// Sheet adds a visible sheet behind those that are there, whose cells are all set by then.
func (b *Book) Sheet(name string) *Sheet {
	if n := len(b.sheets); n > 0 {
		b.sheets[n-1].close()
	}
	s := &Sheet{book: b, name: name, lastRow: -1}
	b.sheets = append(b.sheets, s)
	return s
}

// Part adds a table with a name of its own below the sheet that was added last.
func (b *Book) Part(name string) *Sheet {
	if n := len(b.sheets); n > 0 {
		b.sheets[n-1].parted = true
	}
	s := b.Sheet(name)
	s.part = true
	return s
}

// Room tells whether another sheet is worth reading: what is kept of it could be shown.
func (b *Book) Room() bool { return len(b.sheets) < maxSheets && b.left > 0 && b.bytes > 0 }

// Skip tells of a visible sheet that is not read, for want of room.
func (b *Book) Skip() { b.skipped++ }

// close lets go of what is needed for setting cells alone.
func (s *Sheet) close() {
	s.allColumns, s.droppedColumns = s.columns.n, s.columns.n-s.columns.keptCount()
	for _, set := range []*seen{&s.rows, &s.columns, &s.outRows, &s.outColumns} {
		set.pieces = nil
	}
}

// Hide tells of a sheet that is hidden and left out.
func (b *Book) Hide(name string) {
	b.nHid++
	if len(b.hidden) < maxNames {
		b.hidden = append(b.hidden, name)
	}
}

// Say adds a text that stands on the sheet beside its cells. It is the document's own.
func (s *Sheet) Say(text string) { s.texts = append(s.texts, text) }

// Table tells that the cells of the sheet are one table, whatever gaps are in it, and whether its first row names the columns.
func (s *Sheet) Table(headed bool) { s.table, s.named = true, headed }

// Sheet is one visible sheet.
type Sheet struct {
	book    *Book
	name    string
	note    string // said in place of cells
	part    bool   // a table of the sheet before it
	parted  bool   // its tables follow it as parts
	drawn   bool   // charts or pictures stand on it
	texts   []string
	table   bool // its cells are one table
	named   bool // the first row of which names the columns
	cells   []cell
	links   map[place]string
	sorted  bool // as cells stand; kept by Set
	lastRow int

	rows, columns  seen // with a value
	keptRows       int
	allColumns     int // with a value; this and what follows are known when the sheet is closed
	droppedColumns int // that were not kept
	merges         []area
	hiddenRows     bands
	hiddenColumns  bands
	outRows        seen // hidden, and with values
	outColumns     seen
	lost           bool // cells were left out because the book has too many
}

type cell struct {
	text   string
	row    int32
	column uint16
	kind   Kind
	linked bool
}

type place struct {
	row    int32
	column uint16
}

// area is a rectangle of cells, its ends included.
type area struct{ row, column, lastRow, lastColumn int }

// Instead lets a sheet without cells say what it is, such as a chart; the words are ours.
func (s *Sheet) Instead(words string) { s.note = words }

// Drawn tells that charts, pictures or other drawings stand on the sheet. They are no text, but a sheet with them is not empty.
func (s *Sheet) Drawn() { s.drawn = true }

// Bare tells whether no cell of the sheet is set by now.
func (s *Sheet) Bare() bool { return len(s.cells) == 0 }

// Keeps tells whether a value at this place, counted from 0, would be kept: it is not hidden, and there is room. Where it would not
// be it is counted all the same, so that a reader need not make the text of what is not shown.
func (s *Sheet) Keeps(row, column int) bool {
	if row < 0 || column < 0 || row > maxRow || column > maxColumn {
		return false
	}
	if s.leavesOut(row, column) {
		return false
	}
	if row != s.lastRow {
		s.lastRow = row
		if s.rows.add(row, s.keptRows < s.book.limits.Rows) {
			s.keptRows++
		}
	}
	if !s.columns.kept(column) {
		s.columns.add(column, s.columns.n < spare*s.book.limits.Columns)
	}
	if !s.rows.kept(row) || !s.columns.kept(column) {
		return false
	}
	if s.book.left == 0 || s.book.bytes <= 0 {
		s.lost = true
		return false
	}
	return true
}

// Set gives a cell its value; rows and columns are counted from 0. A blank value is none. Of two values for one cell the later
// counts.
func (s *Sheet) Set(row, column int, v Value) {
	text := strings.TrimFunc(v.Text, unicode.IsSpace)
	if text == "" || !s.Keeps(row, column) {
		return
	}
	s.book.left--
	if len(text) > maxCellText {
		end := maxCellText
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	s.book.bytes -= len(text)
	c := cell{text: text, row: int32(row), column: uint16(column), kind: v.Kind}
	if n := len(s.cells); n == 0 {
		s.sorted = true
	} else if compare(s.cells[n-1], c) >= 0 {
		s.sorted = false
	}
	if v.Link != "" && absolute(v.Link) {
		c.linked = true
		if s.links == nil {
			s.links = map[place]string{}
		}
		s.links[place{c.row, c.column}] = v.Link
	}
	s.cells = append(s.cells, c)
}

// Link gives the cells of an area an address, those that are set by then.
func (s *Sheet) Link(row, column, lastRow, lastColumn int, address string) {
	if !absolute(address) || row < 0 || column < 0 {
		return
	}
	s.sort()
	from, _ := slices.BinarySearchFunc(s.cells, cell{row: int32(min(row, maxRow)), column: uint16(min(column, maxColumn))}, compare)
	for i := from; i < len(s.cells) && int(s.cells[i].row) <= lastRow && s.book.looks > 0; i++ {
		s.book.looks--
		c := &s.cells[i]
		if int(c.column) < column || int(c.column) > lastColumn {
			continue
		}
		if s.links == nil {
			s.links = map[place]string{}
		}
		c.linked = true
		s.links[place{c.row, c.column}] = address
	}
}

// Merge makes one cell of an area, its ends included: only its first one is shown.
func (s *Sheet) Merge(row, column, lastRow, lastColumn int) {
	if len(s.merges) < maxMerges && row >= 0 && column >= 0 && lastRow >= row && lastColumn >= column && (lastRow > row || lastColumn > column) {
		s.merges = append(s.merges, area{row, column, lastRow, lastColumn})
	}
}

// HideRows tells of rows that are hidden, from first to last. Values that are set in them afterwards are left out, and the row
// counts as one that has values.
func (s *Sheet) HideRows(first, last int) { s.hiddenRows.add(first, min(last, maxRow)) }

// HideColumns is HideRows for columns.
func (s *Sheet) HideColumns(first, last int) { s.hiddenColumns.add(first, min(last, maxColumn)) }

// leavesOut tells whether a value at a place is hidden, and counts what hides it.
func (s *Sheet) leavesOut(row, column int) bool {
	switch {
	case s.hiddenRows.holds(row):
		s.outRows.add(row, false)
	case s.hiddenColumns.holds(column):
		s.outColumns.add(column, false)
	default:
		return false
	}
	return true
}

func compare(a, b cell) int {
	if c := cmp.Compare(a.row, b.row); c != 0 {
		return c
	}
	return cmp.Compare(a.column, b.column)
}

// sort puts the cells in their order; of those at one place the last stays.
func (s *Sheet) sort() {
	if s.sorted || len(s.cells) == 0 {
		return
	}
	slices.SortStableFunc(s.cells, compare)
	out := s.cells[:0]
	for i, c := range s.cells {
		if i+1 < len(s.cells) && compare(c, s.cells[i+1]) == 0 {
			continue
		}
		out = append(out, c)
	}
	s.cells, s.sorted = out, true
}

// absolute says that an address leads out of the book.
func absolute(address string) bool {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp":
		return strings.HasPrefix(rest, "//") && len(address) < 4096
	case "mailto":
		return rest != "" && len(address) < 4096
	}
	return false
}
