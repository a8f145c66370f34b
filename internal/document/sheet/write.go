// Books as Markdown.

package sheet

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// writer writes a book.
type writer struct {
	*scribe.Writer
	limits document.Limits
	full   bool // the text is as long as it may be

	cutSheets, cutRows, cutColumns int // sheets that are cut, rows and columns that are not shown
	values                         bool
}

// Text lays the book out: every visible sheet with its name, its tables and what of it is not shown. The error is ctx's.
func (b *Book) Text(ctx context.Context) (document.Text, error) {
	w := &writer{Writer: scribe.New(ctx, 4096), limits: b.limits}
	w.KeepLines(true)
	if n := len(b.sheets); n > 0 {
		b.sheets[n-1].close()
	}
	shown := 0
	for _, s := range b.sheets {
		if err := ctx.Err(); err != nil {
			return document.Text{}, err
		}
		if w.full {
			break
		}
		shown++
		w.sheet(s)
	}
	if all := len(b.sheets) + b.skipped; shown < all {
		w.remark(fmt.Sprintf("Shown are %s of %s sheets.", thousands(shown), thousands(all)))
		w.cutSheets += all - shown
	}
	if !w.values {
		w.remark("No visible sheet of this workbook has a cell with content.")
	}
	b.writeHidden(w)
	text := document.Text{Markdown: w.String()}
	if err := w.Err(); err != nil {
		return document.Text{}, err
	}
	if b.nHid > 0 {
		text.Notes = append(text.Notes, document.Fact{Kind: document.NoteHiddenSheets, Words: plural(b.nHid, "sheet is", "sheets are") + " hidden and left out",
			Data: map[string]any{"sheets": b.nHid}})
	}
	if w.cutSheets > 0 {
		words := plural(w.cutSheets, "sheet is", "sheets are") + " cut"
		var lost []string
		if w.cutRows > 0 {
			lost = append(lost, plural(w.cutRows, "row", "rows"))
		}
		if w.cutColumns > 0 {
			lost = append(lost, plural(w.cutColumns, "column", "columns"))
		}
		if len(lost) > 0 {
			words += ": " + strings.Join(lost, " and ") + " are not shown"
		}
		text.Notes = append(text.Notes, document.Fact{Kind: document.NoteCut, Words: words,
			Data: map[string]any{"sheets": w.cutSheets, "rows": w.cutRows, "columns": w.cutColumns}})
	}
	return text, nil
}

func (b *Book) writeHidden(w *writer) {
	if b.nHid == 0 {
		return
	}
	w.Break(2)
	w.EnterMark(scribe.Em)
	w.Text("Hidden and left out: ")
	for i, name := range b.hidden {
		if i > 0 {
			w.Text(", ")
		}
		w.Text(name)
	}
	if more := b.nHid - len(b.hidden); more > 0 {
		w.Text(fmt.Sprintf(" and %s more", thousands(more)))
	}
	w.Text(".")
	w.Leave()
	w.Break(2)
}

// sheet writes one sheet.
func (w *writer) sheet(s *Sheet) {
	level := 2
	if s.part {
		level = 3
	}
	if w.BeginHeading(level) {
		w.Text(s.name)
		w.EndHeading()
	}
	for _, text := range s.texts {
		w.Break(2)
		w.Text(text)
		w.Break(2)
		w.values = true
	}
	s.sort()
	columns := s.cropColumns(w.limits.Columns)
	blocks := s.blocks()
	if len(blocks) == 0 {
		switch {
		case s.note != "":
			w.remark(s.note)
		case s.lost:
			w.remark("The cells of this sheet are not shown: the workbook has more than are read.")
			w.cutSheets++
			w.cutRows += s.rows.n
		case s.part:
			w.remark("This table is empty.")
		case s.hiddenWords() != "": // all that it has
			w.remark(s.hiddenWords())
		case s.drawn:
			w.remark("This sheet has drawings, such as charts or pictures, and no cells with content.")
		case !s.parted && len(s.texts) == 0:
			w.remark("This sheet is empty.")
		}
		return
	}
	w.values = true
	shown, all := map[int]bool{}, map[int]bool{}
	for _, b := range blocks {
		for _, r := range b.rows {
			all[r.at] = true
		}
		w.table(s, &b, shown)
	}
	s.cells, s.links = nil, nil
	rows := len(all) + s.rows.n - s.keptRows
	if s.lost {
		rows = max(rows, s.rows.n)
	}
	torn := w.full && len(shown) == rows
	if torn {
		w.remark("The last row is cut off.")
	}
	if w.cutLine(len(shown), rows, min(columns, w.limits.Columns), columns) || torn {
		w.cutSheets++
	}
	if hidden := s.hiddenWords(); hidden != "" {
		w.remark(hidden)
	}
}

// cropColumns drops the cells right of as many columns with values as may be shown, and tells how many have values.
func (s *Sheet) cropColumns(most int) int {
	if s.allColumns <= most || len(s.cells) == 0 {
		return s.allColumns
	}
	var all block
	for i := 0; i < len(s.cells); {
		j := i + 1
		for j < len(s.cells) && s.cells[j].row == s.cells[i].row {
			j++
		}
		all.rows = append(all.rows, row{int(s.cells[i].row), s.cells[i:j]})
		i = j
	}
	columns := blockOf(all.rows).columns
	if len(columns) > most {
		last := columns[most-1]
		s.cells = slices.DeleteFunc(s.cells, func(c cell) bool { return c.column > last })
	}
	return len(columns) + s.droppedColumns
}

// cutLine says what of a sheet is not shown, if anything is not.
func (w *writer) cutLine(rows, allRows, columns, allColumns int) bool {
	var parts []string
	if rows < allRows {
		parts = append(parts, fmt.Sprintf("%s of %s rows", thousands(rows), thousands(allRows)))
	}
	if columns < allColumns {
		parts = append(parts, fmt.Sprintf("%s of %s columns", thousands(columns), thousands(allColumns)))
	}
	if len(parts) == 0 {
		return false
	}
	w.remark("Shown are " + strings.Join(parts, " and ") + " with content.")
	w.cutRows += allRows - rows
	w.cutColumns += allColumns - columns
	return true
}

// hiddenWords tells of hidden rows and columns that have values.
func (s *Sheet) hiddenWords() string {
	var parts []string
	if n := s.outRows.n; n > 0 {
		parts = append(parts, plural(n, "row", "rows"))
	}
	if n := s.outColumns.n; n > 0 {
		parts = append(parts, plural(n, "column", "columns"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Hidden and left out: " + strings.Join(parts, " and ") + "."
}

// table writes a block, and notes which rows it showed.
func (w *writer) table(s *Sheet, b *block, shown map[int]bool) {
	w.Break(2)
	rows := b.rows
	if !b.header {
		w.row(s, row{}, b.columns)
		w.DelimiterRow(len(b.columns))
	}
	for i, r := range rows {
		if w.Len() >= w.limits.Text || w.Err() != nil {
			w.full = true
			break
		}
		w.row(s, r, b.columns)
		shown[r.at] = true
		if i == 0 && b.header {
			w.DelimiterRow(len(b.columns))
		}
	}
	w.SetGap(2)
}

func (w *writer) row(s *Sheet, r row, columns []uint16) {
	w.BeginRow()
	cells := r.cells
	for _, column := range columns {
		if w.Len() >= w.limits.Text {
			w.full = true // one row may be longer than all that is shown
		}
		if len(cells) == 0 || cells[0].column != column || w.full {
			w.EmptyCell()
			continue
		}
		c := cells[0]
		cells = cells[1:]
		w.BeginCell()
		if c.linked {
			w.EnterLink(scribe.Link{URL: s.links[place{c.row, c.column}], Words: true})
		}
		w.Text(c.text)
		if c.linked {
			w.Leave()
		}
		w.EndCell()
	}
}

// remark writes a line of ours.
func (w *writer) remark(words string) {
	w.Break(2)
	w.EnterMark(scribe.Em)
	w.Text(words)
	w.Leave()
	w.Break(2)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands is a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
