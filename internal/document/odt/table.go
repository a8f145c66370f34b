package odt

import (
	"errors"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// table reads table:table.
func (r *reader) table(x *pack.XML, out emit) error {
	list := r.list
	var item *prose.Item
	if list != nil {
		if item = r.item(); item != nil {
			item.More = true
		}
	}
	r.list = nil
	t := prose.Block{Form: prose.Table, Item: item}
	err := r.rows(x, &t, &covered{}, false)
	r.list = list
	if len(t.Rows) == 0 || err != nil && !errors.Is(err, prose.ErrFull) {
		return err
	}
	return errors.Join(out(&t), err)
}

// covered is how many of the rows that follow a cell of a row above reaches over, for each column.
type covered [maxRowCells]int

// pass takes a row off the columns from one on.
func (c *covered) pass(from int) {
	for i := from; i < len(c); i++ {
		c[i] = max(c[i]-1, 0)
	}
}

func (r *reader) rows(x *pack.XML, t *prose.Block, over *covered, header bool) error {
	return x.Children(func(name string) error {
		switch name {
		case "table-header-rows":
			return r.rows(x, t, over, true)
		case "table-rows", "table-row-group":
			return r.rows(x, t, over, header)
		case "table-row":
			return r.row(x, t, over, header)
		}
		return nil
	})
}

const (
	maxRowCells = 256 // of a row, repeated ones counted
	maxRepeated = 100 // times that one row with text in it is shown
)

func (r *reader) row(x *pack.XML, t *prose.Block, over *covered, header bool) error {
	if v := x.Attr("visibility"); v == "collapse" || v == "filter" {
		over.pass(0)
		return nil
	}
	repeated := min(number(x.Attr("number-rows-repeated"), maxRepeated), maxRepeated)
	if !x.Has("number-rows-repeated") {
		repeated = 1
	}
	row := prose.Row{Header: header}
	filled := false
	under := 0 // cells that should be there under the one before
	err := x.Children(func(name string) error {
		if name != "table-cell" && name != "covered-table-cell" {
			return nil
		}
		times := 1
		if x.Has("number-columns-repeated") {
			times = number(x.Attr("number-columns-repeated"), maxRowCells)
		}
		c := prose.Cell{Below: name == "covered-table-cell"}
		if c.Below {
			for i := len(row.Cells); i < min(len(row.Cells)+times, maxRowCells); i++ {
				if under > 0 {
					under--
				} else {
					over[i] = max(over[i]-1, 0)
				}
			}
		} else {
			// Some programs leave out the cells that others reach over.
			for len(row.Cells) < maxRowCells && (under > 0 || over[len(row.Cells)] > 0) {
				if under > 0 {
					under--
				} else {
					over[len(row.Cells)]--
				}
				row.Cells = append(row.Cells, prose.Cell{Below: true})
				if err := r.w.Spend(1); err != nil {
					return err
				}
			}
			wide := max(min(number(x.Attr("number-columns-spanned"), 1), maxRowCells-len(row.Cells)), 1)
			under = wide - 1
			if deep := number(x.Attr("number-rows-spanned"), 1); deep > 1 {
				for i := len(row.Cells); i < min(len(row.Cells)+wide, maxRowCells); i++ {
					over[i] = deep - 1
				}
			}
		}
		if err := r.blocks(x, func(b *prose.Block) error {
			c.Blocks = append(c.Blocks, *b)
			return r.w.Spend(1)
		}); err != nil {
			return err
		}
		if c.Below {
			c.Blocks = nil
		}
		filled = filled || len(c.Blocks) > 0
		times = min(times, maxRowCells-len(row.Cells))
		for range times {
			row.Cells = append(row.Cells, c)
		}
		return r.w.Spend(times)
	})
	if err != nil && !errors.Is(err, prose.ErrFull) {
		return err
	}
	over.pass(min(len(row.Cells)+under, maxRowCells))
	if !filled {
		repeated = min(repeated, 1)
	}
	if len(row.Cells) > 0 {
		for range repeated {
			t.Rows = append(t.Rows, row)
		}
	}
	return errors.Join(err, r.w.Spend(repeated))
}
