// Strings and styles, which the sheets share.

package xlsx

import (
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
)

func (r *reader) readStrings() error {
	part := r.rels.Part("sharedStrings")
	if part == "" || !r.archive.Has(part) {
		part = "xl/sharedStrings.xml"
	}
	if !r.archive.Has(part) {
		return nil
	}
	x, err := r.part(part)
	if err != nil {
		return err
	}
	full := false
	return x.Children(func(name string) error {
		if name != "si" || full {
			return nil
		}
		if r.strings.Len()%4096 == 0 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		err := richText(x, &r.strings.Next)
		full = !r.strings.Add()
		return err
	})
}

// maxText is how many bytes of a text are of use: more than a cell may have.
const maxText = 128 << 10

// richText reads the text of the element that started: its own and its runs', without how it is pronounced.
func richText(x *pack.XML, b *strings.Builder) error {
	end := b.Len() + maxText
	write := func() error {
		text, err := x.TextUpTo(maxText)
		if b.Len() < end {
			b.WriteString(unescape(text))
		}
		return err
	}
	return x.Children(func(name string) error {
		switch name {
		case "t":
			return write()
		case "r":
			return x.Children(func(name string) error {
				if name != "t" {
					return nil
				}
				return write()
			})
		}
		return nil
	})
}

func (r *reader) readStyles() error {
	part := r.rels.Part("styles")
	if part == "" || !r.archive.Has(part) {
		part = "xl/styles.xml"
	}
	if !r.archive.Has(part) {
		return nil
	}
	x, err := r.part(part)
	if err != nil {
		return err
	}
	return x.Children(func(name string) error {
		switch name {
		case "numFmts":
			return x.Children(func(name string) error {
				if id, err := strconv.Atoi(x.Attr("numFmtId")); err == nil && name == "numFmt" {
					r.styles.Code(id, x.Attr("formatCode"))
				}
				return nil
			})
		case "cellXfs":
			return x.Children(func(name string) error {
				if name == "xf" {
					id, _ := strconv.Atoi(x.Attr("numFmtId"))
					r.styles.Style(id)
				}
				return nil
			})
		}
		return nil
	})
}
