// The cells of one sheet.

package xlsx

import (
	"math"
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document/numfmt"
	"github.com/wayleave/wayleave/internal/document/ooxml"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// cells reads the part of a sheet.
func (r *reader) cells(s *sheet.Sheet, part string) error {
	x, err := r.part(part)
	if err != nil {
		return err
	}
	switch x.Name {
	case "chartsheet":
		s.Instead("This sheet is a chart.")
		return nil
	case "dialogsheet":
		s.Instead("This sheet is a dialog.")
		return nil
	}
	return x.Children(func(name string) error {
		switch name {
		case "cols":
			return x.Children(func(string) error {
				first, err1 := strconv.Atoi(x.Attr("min"))
				last, err2 := strconv.Atoi(x.Attr("max"))
				if err1 == nil && err2 == nil && (truth(x.Attr("hidden")) || x.Attr("width") == "0") {
					s.HideColumns(first-1, last-1)
				}
				return nil
			})
		case "sheetData":
			return r.rows(s, x)
		case "mergeCells":
			return x.Children(func(string) error {
				if row, column, lastRow, lastColumn, ok := area(x.Attr("ref")); ok {
					s.Merge(row, column, lastRow, lastColumn)
				}
				return nil
			})
		case "hyperlinks":
			return r.links(s, x, part)
		case "drawing":
			if id := x.Attr("id"); s.Bare() {
				drawn, err := ooxml.Draws(r.ctx, r.archive, part, id, r.limits)
				if drawn {
					s.Drawn()
				}
				return err
			}
		}
		return nil
	})
}

func (r *reader) rows(s *sheet.Sheet, x *pack.XML) error {
	row := -1
	return x.Children(func(name string) error {
		if name != "row" {
			return nil
		}
		row++
		if n, err := strconv.Atoi(x.Attr("r")); err == nil && n >= 1 {
			row = n - 1
		}
		if row%256 == 0 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		if truth(x.Attr("hidden")) || x.Attr("ht") == "0" {
			s.HideRows(row, row)
		}
		column := -1
		return x.Children(func(name string) error {
			if name != "c" {
				return nil
			}
			column++
			at := row
			if ref := x.Attr("r"); ref != "" {
				if rr, cc, ok := place(ref); ok {
					at, column = rr, cc
				}
			}
			return r.cell(s, x, at, column)
		})
	})
}

// cell reads the element of a cell.
func (r *reader) cell(s *sheet.Sheet, x *pack.XML, row, column int) error {
	kind, style, held := x.Attr("t"), x.Attr("s"), x.Attr("vm")
	var value, formula string
	hasValue := false
	err := x.Children(func(name string) (err error) {
		switch name {
		case "v":
			value, err = x.TextUpTo(maxText)
			hasValue = true
		case "f":
			formula, err = x.TextUpTo(maxText)
		case "is":
			var b strings.Builder
			err = richText(x, &b)
			value, hasValue = b.String(), true
		}
		return err
	})
	if err != nil || !hasValue && formula == "" || !s.Keeps(row, column) {
		return err
	}
	v := sheet.Value{Link: linkOf(formula)}
	number, err := strconv.Atoi(style)
	if err != nil {
		number = -1 // of no style
	}
	format := r.styles.Format(number)
	if value == "" && formula != "" && (kind == "" || kind == "n") {
		// Some producers write formulas without their values: the formula says more than nothing.
		v.Text = "=" + formula
		s.Set(row, column, v)
		return nil
	}
	switch kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(value))
		text, ok := r.strings.At(i)
		if err != nil || !ok {
			return nil
		}
		v.Text = format.Words(text)
	case "str":
		v.Text = format.Words(unescape(value))
	case "inlineStr":
		v.Text = format.Words(value)
	case "b":
		v.Kind = sheet.Truth
		if v.Text = "FALSE"; truth(strings.TrimSpace(value)) {
			v.Text = "TRUE"
		}
	case "e":
		v.Text, v.Kind = value, sheet.Fault
		if held != "" && value == "#VALUE!" {
			now, ok, err := r.richCell(held)
			if err != nil {
				return err
			}
			if ok {
				v.Text, v.Kind = now.Text, now.Kind
			}
			if v.Text == "" {
				s.Drawn()
			}
		}
	case "d":
		v.Text, v.Kind = format.ISO(value), sheet.Moment
	default:
		v.Text, v.Kind = r.number(value, format)
	}
	s.Set(row, column, v)
	return nil
}

// number shows a number, or the text that stands in its place.
func (r *reader) number(value string, format *numfmt.Format) (string, sheet.Kind) {
	value = strings.TrimSpace(value)
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return value, sheet.Words
	}
	shown := format.Number(n, r.since1904)
	if shown.Moment {
		return shown.Text, sheet.Moment
	}
	return shown.Text, sheet.Number
}

// links reads the sheet's links. Those into the workbook itself lead nowhere in a text.
func (r *reader) links(s *sheet.Sheet, x *pack.XML, part string) error {
	rels, err := ooxml.RelationsOf(r.ctx, r.archive, part, r.limits)
	if err != nil {
		return err
	}
	return x.Children(func(string) error {
		rel, ok := rels.ByID(x.Attr("id"))
		if !ok || !rel.External {
			return nil
		}
		if row, column, lastRow, lastColumn, ok := area(x.Attr("ref")); ok {
			s.Link(row, column, lastRow, lastColumn, rel.Target)
		}
		return nil
	})
}

// linkOf gives the address of a formula HYPERLINK("address", …); "" for other formulas.
func linkOf(formula string) string {
	const name = "HYPERLINK("
	if len(formula) < len(name) || !strings.EqualFold(formula[:len(name)], name) {
		return ""
	}
	rest := strings.TrimLeft(formula[len(name):], " ")
	if rest == "" || rest[0] != '"' {
		return ""
	}
	address, after, ok := strings.Cut(rest[1:], `"`)
	after = strings.TrimLeft(after, " ")
	if !ok || after == "" || after[0] != ',' && after[0] != ')' { // a computed address
		return ""
	}
	return address
}

// place reads a reference such as B12 or $B$12 as row and column, counted from 0.
func place(ref string) (row, column int, ok bool) {
	ref = strings.TrimPrefix(ref, "$")
	i := 0
	for ; i < len(ref) && i < 4; i++ {
		c := ref[i] &^ 0x20 // in upper case
		if c < 'A' || c > 'Z' {
			break
		}
		column = column*26 + int(c-'A') + 1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(ref[i:], "$"))
	if err != nil || n < 1 || column < 1 {
		return 0, 0, false
	}
	return n - 1, column - 1, true
}

// area reads a reference such as A1:B2 or A1.
func area(ref string) (row, column, lastRow, lastColumn int, ok bool) {
	first, last, two := strings.Cut(ref, ":")
	if row, column, ok = place(first); !ok {
		return 0, 0, 0, 0, false
	}
	lastRow, lastColumn = row, column
	if two {
		lastRow, lastColumn, ok = place(last)
	}
	return row, column, lastRow, lastColumn, ok
}
