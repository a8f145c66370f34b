package numbers

import (
	"context"
	"encoding/binary"

	"github.com/wayleave/wayleave/internal/document/sheet"
)

// table is a table that is being read.
type table struct {
	*file
	strings map[uint32]string
	rich    map[uint32]uint64 // text storages by key
	formats map[uint32]message
	columns int
}

// table reads the cells of a table into a sheet.
func (f *file) table(ctx context.Context, s *sheet.Sheet, model message) {
	store := model.message(4)
	s.Table(model.number(9) > 0)
	rows, columns := int(min(model.number(6), maxRows)), int(min(model.number(7), maxColumns))
	t := table{file: f, columns: columns}
	t.strings, t.rich, t.formats = map[uint32]string{}, map[uint32]uint64{}, map[uint32]message{}
	t.list(store.reference(4), func(key uint32, entry message) {
		t.strings[key] = string(entry.bytes(3))
	})
	t.list(store.reference(17), func(key uint32, entry message) {
		payload := f.object(entry.reference(9), kindRichText)
		t.rich[key] = payload.reference(1)
	})
	t.list(store.reference(22), func(key uint32, entry message) { t.formats[key] = entry.message(6) })
	for bucket := range store.message(1).references(2) {
		hide(f.object(bucket, kindHeaders), rows, s.HideRows)
	}
	hide(f.object(store.reference(2), kindHeaders), columns, s.HideColumns)
	for m := range f.object(store.reference(13), kindMerges).fields() {
		if m.number == 1 && m.bytes != nil {
			merge(s, m.bytes)
		}
	}
	tiles := store.message(3)
	size := int(min(tiles.number(2), maxRows))
	if size == 0 {
		size = 256
	}
	for e := range tiles.fields() {
		if ctx.Err() != nil || f.steps < 0 {
			return
		}
		if e.number != 1 || e.bytes == nil {
			continue
		}
		id := message(e.bytes).number(1)
		if id > uint64(rows/size) {
			continue
		}
		tile := f.object(message(e.bytes).reference(2), kindTile)
		t.tile(s, tile, int(id)*size, rows)
	}
}

const (
	maxRows    = 1_000_000 // as many as Numbers lets a table have
	maxColumns = 1000
)

// list reads a list of values that cells refer to by key, and the segments that a long one is kept in.
func (t *table) list(id uint64, entry func(key uint32, entry message)) {
	list := t.object(id, kindList)
	each := func(m message) {
		for f := range m.fields() {
			if !t.spend(1) {
				return
			}
			if f.number == 3 && f.bytes != nil {
				entry(uint32(message(f.bytes).number(1)), f.bytes)
			}
		}
	}
	each(list)
	for segment := range list.references(4) {
		if t.steps < 0 {
			return
		}
		each(t.object(segment, kindSegment))
	}
}

// hide tells of rows or columns that are hidden.
func hide(headers message, most int, tell func(first, last int)) {
	for h := range headers.fields() {
		if h.number != 2 || h.bytes == nil {
			continue
		}
		header := message(h.bytes)
		if i := header.number(1); header.number(3) != 0 && i < uint64(most) {
			tell(int(i), int(i))
		}
	}
}

// merge reads a range of cells that are one: rows in the low half of a number, columns in the high one.
func merge(s *sheet.Sheet, m message) {
	origin, size := m.message(1).number(1), m.message(2).number(1)
	row, column := int(origin&0xffff), int(origin>>16&0xffff)
	rows, columns := int(size&0xffff), int(size>>16&0xffff)
	if rows > 0 && columns > 0 {
		s.Merge(row, column, row+rows-1, column+columns-1)
	}
}

// tile reads a stretch of rows.
func (t *table) tile(s *sheet.Sheet, tile message, first, rows int) {
	for f := range tile.fields() {
		if f.number != 5 || f.bytes == nil {
			continue
		}
		r := t.row(f.bytes)
		if !t.spend(1 + min(t.columns, len(r.offsets)/2)/4 + len(f.bytes)/stepBytes) {
			return
		}
		if r.index >= uint64(rows-first) {
			continue
		}
		row := first + int(r.index)
		for column := 0; column < t.columns && 2*column+1 < len(r.offsets); column++ {
			at := int(binary.LittleEndian.Uint16(r.offsets[2*column:]))
			if at == noCell {
				continue
			}
			if r.wide {
				at *= 4
			}
			if at >= len(r.cells) {
				continue
			}
			if v, ok := t.cell(r.cells[at:]); ok && v.Text != "" {
				s.Set(row, column, v)
			}
		}
	}
}

// noCell is the offset of a cell that is not there.
const noCell = 0xffff

// tileRow is a row of a tile.
type tileRow struct {
	index   uint64
	cells   []byte
	offsets []byte // of each column's cell, two bytes each
	wide    bool   // offsets count four bytes
}

// row reads the cells of a row in the newest of the forms that it has.
func (t *table) row(m message) tileRow {
	r := tileRow{index: m.number(1), cells: m.bytes(6), offsets: m.bytes(7), wide: m.number(8) != 0}
	if len(r.cells) == 0 || len(r.offsets) == 0 {
		r.cells, r.offsets, r.wide = m.bytes(3), m.bytes(4), false
	}
	return r
}
