// The rows and cells of one sheet.

package ods

import (
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/numfmt"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// table reads one sheet.
type table struct {
	*reader
	x           *pack.XML
	sheet       *sheet.Sheet
	row, column int // where the next of each stands
	columns     int // columns that were declared
}

// Places beyond these are no places.
const (
	maxRow    = 1 << 24
	maxColumn = 1 << 16
)

// maxText is how many bytes of a cell's text are of use.
const maxText = 128 << 10

// part reads an element of a table: columns, rows, or groups of either.
func (t *table) part(name string) error {
	switch name {
	case "table-column":
		n := t.repeated("number-columns-repeated", maxColumn)
		if t.collapsed() {
			t.sheet.HideColumns(t.columns, t.columns+n-1)
		}
		t.columns = min(t.columns+n, maxColumn)
	case "table-row":
		return t.oneRow()
	case "shapes":
		t.sheet.Drawn()
	case "table-columns", "table-header-columns", "table-column-group", "table-rows", "table-header-rows", "table-row-group":
		return t.x.Children(t.part)
	}
	return nil
}

// repeated reads how often an element stands for itself, at least once and at most so often.
func (t *table) repeated(attribute string, most int) int { return min(t.times(attribute), most) }

// times is repeated as the file has it.
func (t *table) times(attribute string) int {
	n, err := strconv.Atoi(t.x.Attr(attribute))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// collapsed tells whether a row or column is hidden, by itself or by a filter.
func (t *table) collapsed() bool {
	v := t.x.Attr("visibility")
	return v != "" && v != "visible"
}

// filled is a cell with a value, and how often it stands there.
type filled struct {
	column, times int
	value         sheet.Value
}

func (t *table) oneRow() error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	times := t.times("number-rows-repeated")
	first := t.row
	t.row = min(t.row+min(times, maxRow), maxRow)
	t.column = 0
	if t.collapsed() {
		t.sheet.HideRows(first, t.row-1)
	}
	var cells []filled
	err := t.x.Children(func(name string) error {
		if name != "table-cell" && name != "covered-table-cell" {
			return nil
		}
		across := t.times("number-columns-repeated")
		n := min(across, maxColumn)
		at := t.column
		t.column = min(t.column+n, maxColumn)
		if name == "covered-table-cell" {
			return nil
		}
		columns, rows := t.repeated("number-columns-spanned", maxColumn), t.repeated("number-rows-spanned", maxRow)
		t.sheet.Merge(first, at, first+rows-1, at+columns-1)
		v, err := t.value()
		switch {
		case err != nil || v.Text == "":
		case across > maxColumn || times > maxRow: // no program has a sheet for it
			return document.Fail(document.TooLarge, "a value is repeated %d times in %d rows", across, times)
		case len(cells) < t.limits.Cells:
			cells = append(cells, filled{at, n, v})
		}
		return err
	})
	if err != nil || len(cells) == 0 {
		return err
	}
	for row := first; row < t.row; row++ {
		for _, c := range cells {
			for column := c.column; column < c.column+c.times; column++ {
				if t.budget--; t.budget < 0 && (row > first || column > c.column) {
					break
				}
				t.sheet.Set(row, column, c.value)
			}
		}
		if t.budget < 0 {
			break
		}
	}
	return nil
}

// value reads a cell.
func (t *table) value() (sheet.Value, error) {
	x := t.x
	kind, number := x.Attr("value-type"), x.Attr("value")
	date, time, truth := x.Attr("date-value"), x.Attr("time-value"), x.Attr("boolean-value")
	text, formula := x.Attr("string-value"), x.Attr("formula")
	var v sheet.Value
	var shown strings.Builder
	paragraphs := 0
	err := x.Children(func(name string) error {
		switch name {
		case "p", "h":
		case "frame", "g", "custom-shape", "control":
			t.sheet.Drawn()
			return nil
		default:
			return nil // remarks, tables in the cell
		}
		if paragraphs++; paragraphs > 1 {
			shown.WriteByte('\n')
		}
		return t.paragraph(&shown, &v.Link)
	})
	v.Text = shown.String()
	switch kind {
	case "float", "percentage", "currency":
		v.Kind = sheet.Number
		if n, err := strconv.ParseFloat(number, 64); err == nil && v.Text == "" && paragraphs == 0 {
			v.Text = numfmt.General(n)
			if kind == "percentage" {
				v.Text = numfmt.General(n*100) + "%"
			}
		}
	case "date":
		v.Kind = sheet.Moment
		if date != "" && (v.Text != "" || paragraphs == 0) {
			v.Text = dateShown(v.Text, numfmt.ISO(date))
		}
	case "time":
		v.Kind = sheet.Moment
		halves := strings.ContainsAny(v.Text, "AMPamp") // of a day
		if clock, ok := duration(time, halves); ok && (v.Text == "" && paragraphs == 0 || halves) {
			v.Text = clock
		}
	case "boolean":
		v.Kind = sheet.Truth
		if v.Text = "FALSE"; truth == "true" {
			v.Text = "TRUE"
		}
	default:
		if v.Text == "" && paragraphs == 0 {
			v.Text = text
		}
		if strings.HasPrefix(v.Text, "#") && formula != "" {
			v.Kind = sheet.Fault
		}
	}
	if _, code, ok := strings.Cut(formula, "="); ok && kind == "" && v.Text == "" {
		v.Text = "=" + code
	}
	return v, err
}

// paragraph writes the text of the element that started; the first link in it is the cell's.
func (t *table) paragraph(b *strings.Builder, link *string) error {
	x := t.x
	for depth := x.Depth(); ; {
		if err := x.Next(); err != nil {
			return err
		}
		switch {
		case x.Kind == pack.End && x.Depth() < depth:
			return nil
		case b.Len() > maxText: // more than a cell may have
		case x.Kind == pack.Chars:
			b.WriteString(x.Text)
		case x.Kind == pack.Start:
			switch x.Name {
			case "s":
				n := t.repeated("c", 100)
				b.WriteString(strings.Repeat(" ", n))
			case "tab":
				b.WriteByte('\t')
			case "line-break":
				b.WriteByte('\n')
			case "a":
				if *link == "" {
					*link = x.Attr("href")
				}
			case "annotation", "ruby-text", "note", "frame":
				if err := x.Skip(); err != nil {
					return err
				}
			}
		}
	}
}

// dateShown is a date as far as its text shows it: without the time of day, or as the time alone. The name of a month or of a day
// and a year alone stand as they are.
func dateShown(text, iso string) string {
	day, clock, both := strings.Cut(iso, " ")
	digits := strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	switch {
	case text == "":
		return iso
	case len(digits) == 0, len(digits) == 1 && len(digits[0]) == 4 && strings.HasPrefix(day, digits[0]):
		return text
	case !strings.Contains(text, ":"):
		return day
	case both && len(digits) <= 3 && strings.Count(text, ":") == len(digits)-1:
		return clock
	}
	return iso
}

// duration makes a span such as PT14H30M00S a time as clocks show it; ofDay is for one whose whole days are not shown.
func duration(s string, ofDay bool) (string, bool) {
	s, ok := strings.CutPrefix(s, "PT")
	if !ok {
		return "", false
	}
	var parts [3]string
	for i, unit := range []string{"H", "M", "S"} {
		n, rest, found := strings.Cut(s, unit)
		if !found {
			n = "0"
		} else {
			s = rest
		}
		if n, _, _ = strings.Cut(strings.Replace(n, ",", ".", 1), "."); n == "" || strings.Trim(n, "0123456789") != "" {
			return "", false
		}
		if hours, err := strconv.Atoi(n); err == nil && i == 0 && ofDay {
			n = strconv.Itoa(hours % 24)
		}
		parts[i] = strings.Repeat("0", max(0, 2-len(n))) + n
	}
	if parts[2] == "00" {
		return parts[0] + ":" + parts[1], true
	}
	return parts[0] + ":" + parts[1] + ":" + parts[2], true
}
