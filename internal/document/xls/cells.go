// The cells of one sheet.

package xls

import (
	"bytes"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/biff"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// waiting is a formula whose text follows in a record of its own.
type waiting struct {
	row, column, style int
	open               bool
}

// sheet reads the records of one sheet from an offset on.
func (r *reader) sheet(s *sheet.Sheet, at int64) error {
	recs := &records{data: r.data, at: at}
	first, err := recs.next()
	if err != nil {
		return err
	}
	switch first.id {
	case recBOF, recBOF2, recBOF3, recBOF4:
	default:
		return document.Fail(document.Damaged, "no sheet at %d", at)
	}
	var text waiting
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		rec, err := recs.next()
		if err != nil {
			return err
		}
		switch rec.id {
		case recEOF:
			return nil
		case recBOF, recBOF3, recBOF4: // a chart on the sheet
			if err := within(recs); err != nil {
				return err
			}
		case recString, recString2:
			if text.open {
				s.Set(text.row, text.column, sheet.Value{Text: r.styles.Format(text.style).Words(r.formulaText(rec, recs))})
			}
			text.open = false
		case recFormula2, recFormula3, recFormula4:
			text = r.formula(s, rec)
		case recMergeCells:
			for i := range rec.U16(0) {
				if o := 2 + 8*i; o+8 <= len(rec.Fields) {
					s.Merge(rec.U16(o), rec.U16(o+4), rec.U16(o+2), rec.U16(o+6))
				}
			}
		case recObject:
			const remark, filter = 0x19, 0x14 // kinds that are no drawings: the second is an arrow of a filter, or a list
			if kind := rec.U16(4); r.version == 8 && kind != remark && kind != filter || r.version == 5 {
				s.Drawn()
			}
		case recHLink:
			if address := address(rec.From(8)); address != "" {
				s.Link(rec.U16(0), rec.U16(4), rec.U16(2), rec.U16(6), address)
			}
		case recColInfo:
			if rec.U16(8)&1 != 0 || rec.U16(4) == 0 && len(rec.Fields) >= 10 {
				s.HideColumns(rec.U16(0), min(rec.U16(2), 255))
			}
		case recRow:
			if rec.U32(12)&0x20 != 0 {
				s.HideRows(rec.U16(0), rec.U16(0))
			}
		default:
			if !r.cell(s, rec) {
				if err := r.shared(rec, recs); err != nil {
					return err
				}
			}
		}
	}
}

// within reads to the end of what has a beginning of its own. Such things lie in one another no deeper than their records say.
func within(recs *records) error {
	for depth := 1; depth > 0; {
		rec, err := recs.next()
		if err != nil {
			return err
		}
		switch rec.id {
		case recBOF, recBOF3, recBOF4:
			depth++
		case recEOF:
			depth--
		}
	}
	return nil
}

// cell reads a record of cells; false if it is none.
func (r *reader) cell(s *sheet.Sheet, rec record) bool {
	row, column, style := rec.U16(0), rec.U16(2), rec.U16(4)
	switch rec.id {
	case recNumber:
		r.number(s, row, column, style, rec.F64(6))
	case recRK:
		r.number(s, row, column, style, biff.Packed(rec.U32(6)))
	case recMulRK:
		for i := 4; i+6 < len(rec.Fields); i += 6 {
			r.number(s, row, column, rec.U16(i), biff.Packed(rec.U32(i+2)))
			column++
		}
	case recLabelSST:
		if text, ok := r.strings.At(int(rec.U32(6))); ok {
			s.Set(row, column, sheet.Value{Text: r.styles.Format(style).Words(text)})
		}
	case recLabel, recRString:
		s.Set(row, column, sheet.Value{Text: r.styles.Format(style).Words(r.short(rec.From(6), 2))})
	case recBoolErr:
		s.Set(row, column, truthOrFault(rec.Byte(6), rec.Byte(7)))
	case recNumber2:
		r.number(s, row, column, style2(rec), rec.F64(7))
	case recInteger2:
		r.number(s, row, column, style2(rec), float64(rec.U16(7)))
	case recLabel2:
		s.Set(row, column, sheet.Value{Text: r.short(rec.From(7), 1)})
	case recBoolErr2:
		s.Set(row, column, truthOrFault(rec.Byte(7), rec.Byte(8)))
	default:
		return false
	}
	return true
}

// style2 is the style of a cell of the first version.
func style2(rec record) int { return int(rec.Byte(4) & 0x3F) }

func (r *reader) number(s *sheet.Sheet, row, column, style int, v float64) {
	if !s.Keeps(row, column) {
		return
	}
	shown := r.styles.Format(style).Number(v, r.since1904)
	kind := sheet.Number
	if shown.Moment {
		kind = sheet.Moment
	}
	s.Set(row, column, sheet.Value{Text: shown.Text, Kind: kind})
}

func truthOrFault(value, fault byte) sheet.Value {
	switch {
	case fault != 0:
		return sheet.Value{Text: biff.Fault(value), Kind: sheet.Fault}
	case value != 0:
		return sheet.Value{Text: "TRUE", Kind: sheet.Truth}
	}
	return sheet.Value{Text: "FALSE", Kind: sheet.Truth}
}

// formula reads a formula's value; a text that follows waits.
func (r *reader) formula(s *sheet.Sheet, rec record) waiting {
	row, column, style, at := rec.U16(0), rec.U16(2), rec.U16(4), 6
	if r.version == 2 {
		style, at = style2(rec), 7
	}
	if rec.U16(at+6) != 0xFFFF {
		r.number(s, row, column, style, rec.F64(at))
		return waiting{}
	}
	switch rec.Byte(at) {
	case 0:
		return waiting{row, column, style, true}
	case 1:
		s.Set(row, column, truthOrFault(rec.Byte(at+2), 0))
	case 2:
		s.Set(row, column, truthOrFault(rec.Byte(at+2), 1))
	}
	return waiting{}
}

// formulaText reads the text of a formula, which may go on in further records.
func (r *reader) formulaText(rec record, recs *records) string {
	if r.version < 8 {
		count := 2
		if rec.id == recString2 {
			count = 1
		}
		return r.short(rec.Fields, count)
	}
	var b strings.Builder
	p := pieces{left: recs.continued(rec)}
	p.unicode(&b, 2)
	return b.String()
}

// address reads where a link leads; "" for places in the workbook and for files.
func address(b []byte) string {
	rec := record{Fields: b}
	flags := rec.U32(20) // after the link's class and a version
	at := 24
	for _, bit := range []uint32{0x10, 0x80} { // what it shows, the frame it is for
		if flags&bit != 0 {
			at = after(rec, at, 2)
		}
		if at < 0 {
			return ""
		}
	}
	if flags&1 == 0 {
		return ""
	}
	if flags&0x100 != 0 { // the address as a string
		end := after(rec, at, 2)
		if end < 0 {
			return ""
		}
		return wideText(b[at+4 : end])
	}
	const url = "\xE0\xC9\xEA\x79\xF9\xBA\xCE\x11\x8C\x82\x00\xAA\x00\x4B\xA9\x0B" // the class of URLs
	if !bytes.HasPrefix(rec.From(at), []byte(url)) {
		return ""
	}
	at += len(url)
	end := after(rec, at, 1)
	if end < 0 {
		return ""
	}
	return wideText(b[at+4 : end])
}

// after gives the offset after a string at an offset, whose length is in units of so many bytes; -1 if it is cut off.
func after(rec record, at, unit int) int {
	n := int64(rec.U32(at))*int64(unit) + int64(at) + 4
	if n > int64(len(rec.Fields)) {
		return -1
	}
	return int(n)
}

// wideText decodes characters up to the first that is 0.
func wideText(b []byte) string {
	for i := 0; i+2 <= len(b); i += 2 {
		if b[i] == 0 && b[i+1] == 0 {
			b = b[:i]
			break
		}
	}
	var out strings.Builder
	writeChars(&out, b, true)
	return out.String()
}
