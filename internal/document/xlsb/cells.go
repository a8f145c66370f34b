// The cells of one sheet.

package xlsb

import (
	"github.com/wayleave/wayleave/internal/document/biff"
	"github.com/wayleave/wayleave/internal/document/ooxml"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// cells reads the records of one sheet.
type cells struct {
	*reader
	sheet *sheet.Sheet
	part  string

	row, column int
	links       *ooxml.Relations
}

func (c *cells) record(rec record) error {
	switch {
	case rec.id == recRow:
		c.row, c.column = int(rec.U32(0)), -1
		if rec.Byte(11)&0x10 != 0 {
			c.sheet.HideRows(c.row, c.row)
		}
	case rec.id >= recBlank && rec.id <= recShortShared || rec.id == recRichText:
		at := 8 // of the value, after the column and the style
		style := int(rec.U32(4) & 0xFFFFFF)
		if rec.id >= recShortBlank && rec.id <= recShortShared {
			c.column++
			at, style = 4, int(rec.U32(0)&0xFFFFFF)
		} else {
			c.column = int(rec.U32(0))
		}
		c.cell(rec, style, at)
	case rec.id == recColumns:
		if rec.U16(16)&1 != 0 {
			c.sheet.HideColumns(int(rec.U32(0)), int(rec.U32(4)))
		}
	case rec.id == recMerge:
		c.sheet.Merge(int(rec.U32(0)), int(rec.U32(8)), int(rec.U32(4)), int(rec.U32(12)))
	case rec.id == recDrawing && c.sheet.Bare():
		id, _ := rec.text(0)
		drawn, err := ooxml.Draws(c.ctx, c.archive, c.part, id, c.limits)
		if drawn {
			c.sheet.Drawn()
		}
		return err
	case rec.id == recLink:
		return c.link(rec)
	}
	return nil
}

// cell sets the value of a cell, which begins at an offset of the record.
func (c *cells) cell(rec record, style, at int) {
	if rec.id == recBlank || rec.id == recShortBlank || !c.sheet.Keeps(c.row, c.column) {
		return
	}
	var v sheet.Value
	switch rec.id {
	case recRK, recShortRK:
		v = c.number(style, biff.Packed(rec.U32(at)))
	case recReal, recShortReal, recFormulaNumber:
		v = c.number(style, rec.F64(at))
	case recBool, recShortBool, recFormulaBool:
		v = sheet.Value{Text: "FALSE", Kind: sheet.Truth}
		if rec.Byte(at) != 0 {
			v.Text = "TRUE"
		}
	case recError, recShortError, recFormulaError:
		v = sheet.Value{Text: biff.Fault(rec.Byte(at)), Kind: sheet.Fault}
	case recShared, recShortShared:
		text, ok := c.strings.At(int(rec.U32(at)))
		if !ok {
			return
		}
		v.Text = c.styles.Format(style).Words(text)
	case recText, recShortText, recFormulaText:
		text, _ := rec.text(at)
		v.Text = c.styles.Format(style).Words(text)
	case recRichText:
		text, _ := rec.text(at + 1)
		v.Text = c.styles.Format(style).Words(text)
	}
	c.sheet.Set(c.row, c.column, v)
}

func (c *cells) number(style int, n float64) sheet.Value {
	shown := c.styles.Format(style).Number(n, c.since1904)
	if shown.Moment {
		return sheet.Value{Text: shown.Text, Kind: sheet.Moment}
	}
	return sheet.Value{Text: shown.Text, Kind: sheet.Number}
}

// link gives cells the address that a relation of the sheet has.
func (c *cells) link(rec record) error {
	if c.links == nil {
		rels, err := ooxml.RelationsOf(c.ctx, c.archive, c.part, c.limits)
		if err != nil {
			return err
		}
		c.links = &rels
	}
	id, _ := rec.text(16)
	if rel, ok := c.links.ByID(id); ok && rel.External {
		c.sheet.Link(int(rec.U32(0)), int(rec.U32(8)), int(rec.U32(4)), int(rec.U32(12)), rel.Target)
	}
	return nil
}
