package docx

import (
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// table reads w:tbl.
func (r *reader) table(x *pack.XML, out emit) error {
	t := prose.Block{Form: prose.Table}
	if err := r.rows(x, &t); err != nil && len(t.Rows) == 0 {
		return err
	} else if err != nil {
		_ = out(&t) // what fits is shown
		return err
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return out(&t)
}

func (r *reader) rows(x *pack.XML, t *prose.Block) error {
	return x.Children(func(name string) error {
		switch name {
		case "tr":
			return r.row(x, t)
		case "sdt", "sdtContent", "customXml", "ins", "moveTo":
			return r.rows(x, t)
		}
		return nil
	})
}

func (r *reader) row(x *pack.XML, t *prose.Block) error {
	var row prose.Row
	deleted := false
	after := 0
	err := r.cells(x, &row, func(name string) error {
		if name != "trPr" {
			return nil
		}
		return x.Children(func(name string) error {
			switch name {
			case "tblHeader":
				row.Header = truth(x.Attr("val")) == on
			case "del":
				deleted = true
			case "gridBefore":
				for range min(max(number(x.Attr("val"), 0), 0), 63) {
					row.Cells = append(row.Cells, prose.Cell{Below: true})
				}
			case "gridAfter":
				after = min(max(number(x.Attr("val"), 0), 0), 63)
			}
			return nil
		})
	})
	for range after {
		row.Cells = append(row.Cells, prose.Cell{Below: true})
	}
	if !deleted && len(row.Cells) > 0 && (err == nil || len(t.Rows) > 0) {
		t.Rows = append(t.Rows, row)
	}
	if err != nil {
		return err
	}
	return r.w.Spend(1)
}

// cells reads the cells below the element that started; other is called for what is not a cell.
func (r *reader) cells(x *pack.XML, row *prose.Row, other func(name string) error) error {
	return x.Children(func(name string) error {
		switch name {
		case "tc":
			return r.cell(x, row)
		case "sdt", "sdtContent", "customXml":
			return r.cells(x, row, func(string) error { return nil })
		}
		return other(name)
	})
}

func (r *reader) cell(x *pack.XML, row *prose.Row) error {
	var c prose.Cell
	deleted := false
	outer := r.carry
	r.carry = nil
	items := r.items
	r.items = nil
	err := x.Children(func(name string) error {
		if name != "tcPr" {
			return r.block(x, name, func(b *prose.Block) error {
				c.Blocks = append(c.Blocks, *b)
				return r.w.Spend(1)
			})
		}
		return x.Children(func(name string) error {
			switch name {
			case "gridSpan":
				c.Span = min(max(number(x.Attr("val"), 1), 1), 63)
			case "vMerge", "hMerge":
				c.Below = x.Attr("val") != "restart"
			case "cellDel":
				deleted = true
			}
			return nil
		})
	})
	if r.carry != nil { // the end of a cell cannot be deleted
		c.Blocks = append(c.Blocks, prose.Block{Runs: r.carry})
	}
	r.carry, r.items = outer, items
	if !deleted {
		row.Cells = append(row.Cells, c)
	}
	if err != nil {
		return err
	}
	return r.w.Spend(1)
}
