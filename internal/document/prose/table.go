package prose

// Tables: rows and columns are a GFM table, a table that only lays a page out is unfolded into its blocks.

// maxColumns is how many columns of a table are written.
const maxColumns = 256

func (w *Writer) table(b *Block) {
	if layout(b) || frames(b) {
		w.unfold(b)
		return
	}
	columns := 0
	for i := range b.Rows {
		columns = max(columns, b.Rows[i].columns())
	}
	if columns > maxColumns {
		columns, w.cut = maxColumns, true
	}
	rows := b.Rows
	for len(rows) > 1 && rows[0].blank() {
		rows = rows[1:]
	}
	w.w.Break(2)
	w.row(&rows[0], columns, true)
	w.w.DelimiterRow(columns)
	for i := range rows[1:] {
		if w.w.Err() != nil || w.w.Len() > w.limits.Text {
			break
		}
		w.row(&rows[1+i], columns, false)
	}
	w.w.SetGap(2)
}

// layout says that a table has no columns or no rows of data: a frame around text, or pages side by side.
func layout(b *Block) bool {
	if len(b.Rows) == 1 && len(b.Rows[0].Cells) == 1 {
		return true
	}
	narrow := len(b.Rows) == 1
	if !narrow {
		narrow = true
		for i := range b.Rows {
			narrow = narrow && len(b.Rows[i].Cells) <= 1
		}
	}
	if !narrow {
		return false
	}
	for i := range b.Rows {
		for j := range b.Rows[i].Cells {
			if rich(b.Rows[i].Cells[j].Blocks) {
				return true
			}
		}
	}
	return false
}

// frames says that a table with columns and rows is a page's frame all the same: nearly all its words stand in cells with headings or
// tables of their own, and hardly a row of data beside them.
func frames(b *Block) bool {
	const least, share = 1000, 70 // bytes, percent
	all, framed, rows := 0, 0, 0
	for i := range b.Rows {
		filled, frame := 0, false
		for j := range b.Rows[i].Cells {
			c := &b.Rows[i].Cells[j]
			n := size(c.Blocks)
			if n == 0 {
				continue
			}
			all += n
			filled++
			if structured(c.Blocks) {
				framed += n
				frame = true
			}
		}
		if filled > 1 && !frame {
			rows++
		}
	}
	return framed >= least && framed*100 >= all*share && rows <= 1
}

// size is how many bytes of words blocks have.
func size(blocks []Block) int {
	n := 0
	for i := range blocks {
		for _, run := range blocks[i].Runs {
			if run.Kind == Words && visible(run.Text) {
				n += len(run.Text)
			}
		}
		for j := range blocks[i].Rows {
			for k := range blocks[i].Rows[j].Cells {
				n += size(blocks[i].Rows[j].Cells[k].Blocks)
			}
		}
	}
	return n
}

// structured says that blocks hold headings or tables.
func structured(blocks []Block) bool {
	for i := range blocks {
		if b := &blocks[i]; (b.Form == Heading || b.Form == Table) && !b.blank() {
			return true
		}
	}
	return false
}

// rich says that blocks are more than a cell of data holds.
func rich(blocks []Block) bool {
	paragraphs := 0
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.Form == Heading, b.Form == Table, b.Form == Lines, b.Item != nil:
			return true
		case !b.blank():
			paragraphs++
		}
	}
	return paragraphs > 1
}

func (w *Writer) unfold(b *Block) {
	for i := range b.Rows {
		for j := range b.Rows[i].Cells {
			blocks := b.Rows[i].Cells[j].Blocks
			for k := range blocks {
				inner := blocks[k]
				if b.Item != nil && inner.Item == nil {
					inner.Item = &Item{Level: b.Item.Level, More: true}
				}
				inner.Quote = inner.Quote || b.Quote
				w.block(&inner)
			}
			w.leaveItems(len(w.items))
		}
	}
}

// columns is how many columns the cells of a row take.
func (r *Row) columns() int {
	n := 0
	for i := range r.Cells {
		n += r.Cells[i].span()
	}
	return n
}

func (c *Cell) span() int { return min(max(c.Span, 1), maxColumns+1) }

// row writes a row, cells under others empty, and fills it up to so many columns. Only the header may hold nothing.
func (w *Writer) row(r *Row, columns int, header bool) {
	if !header && r.blank() {
		return
	}
	strip := header && r.bold()
	w.w.BeginRow()
	at := 0
	for i := range r.Cells {
		c := &r.Cells[i]
		if at >= columns {
			break
		}
		if c.Below || c.blank() {
			w.w.EmptyCell()
		} else {
			w.w.BeginCell()
			for j := range c.Blocks {
				block := &c.Blocks[j]
				if block.blank() {
					continue
				}
				if strip {
					plain := *block
					plain.Runs = withoutCommon(block.Runs)
					block = &plain
				}
				w.flatBlock(block)
			}
			w.w.EndCell()
		}
		for n := 1; n < c.span() && at+n < columns; n++ {
			w.w.EmptyCell()
		}
		at += c.span()
	}
	for ; at < columns; at++ {
		w.w.EmptyCell()
	}
}

// bold says that all words of a row are: it is how a header looks.
func (r *Row) bold() bool {
	for i := range r.Cells {
		for j := range r.Cells[i].Blocks {
			for _, run := range r.Cells[i].Blocks[j].Runs {
				if run.Kind == Words && visible(run.Text) && run.Style&Bold == 0 {
					return false
				}
			}
		}
	}
	return true
}

// flatTable writes a table where one line is left: rows on lines of the cell, cells parted by commas.
func (w *Writer) flatTable(b *Block) {
	for i := range b.Rows {
		w.w.Break(0)
		wrote := false
		for j := range b.Rows[i].Cells {
			c := &b.Rows[i].Cells[j]
			if c.Below || c.blank() {
				continue
			}
			if wrote {
				w.w.Separate(",")
			}
			wrote = true
			for k := range c.Blocks {
				inner := &c.Blocks[k]
				switch {
				case inner.blank():
				case inner.Form == Table:
					w.flatTable(inner)
				default:
					if k > 0 {
						w.w.Space()
					}
					w.runs(inner.Runs)
				}
			}
		}
		w.w.Break(0)
	}
}
