// Strings and styles, which the sheets share.

package xlsx

import (
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document/numfmt"
	"github.com/wayleave/wayleave/internal/document/pack"
)

// maxStyles is how many formats of cells are kept; Excel allows 65,490.
const maxStyles = 100_000

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

// styles are the number formats of cells.
type styles struct {
	codes   map[int]string // of the workbook's own
	ids     []int          // by style
	formats map[int]*numfmt.Format
}

func (r *reader) readStyles() error {
	r.styles = styles{codes: map[int]string{}, formats: map[int]*numfmt.Format{}}
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
				if id, err := strconv.Atoi(x.Attr("numFmtId")); err == nil && name == "numFmt" && len(r.styles.codes) < maxStyles {
					r.styles.codes[id] = x.Attr("formatCode")
				}
				return nil
			})
		case "cellXfs":
			return x.Children(func(name string) error {
				if name == "xf" && len(r.styles.ids) < maxStyles {
					id, _ := strconv.Atoi(x.Attr("numFmtId"))
					r.styles.ids = append(r.styles.ids, id)
				}
				return nil
			})
		}
		return nil
	})
}

// format gives the number format of a style.
func (s *styles) format(style string) *numfmt.Format {
	id := 0
	if n, err := strconv.Atoi(style); err == nil && n >= 0 && n < len(s.ids) {
		id = s.ids[n]
	}
	f := s.formats[id]
	if f == nil {
		code, ok := s.codes[id]
		if !ok {
			code = numfmt.Builtin(id)
		}
		f = numfmt.Parse(code)
		s.formats[id] = f
	}
	return f
}
