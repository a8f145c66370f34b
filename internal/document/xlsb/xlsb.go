// Package xlsb reads Excel's workbooks of binary parts.
//
// The one rule: a record is what its own bytes hold; what a count says sets nothing aside.
package xlsb

import (
	"context"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/compound"
	"github.com/wayleave/wayleave/internal/document/numfmt"
	"github.com/wayleave/wayleave/internal/document/ooxml"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// reader reads one workbook.
type reader struct {
	ctx       context.Context
	archive   *pack.Archive
	limits    document.Limits
	book      *sheet.Book
	rels      ooxml.Relations // of the workbook
	since1904 bool
	strings   sheet.Shared
	styles    numfmt.Styles
	sheets    []entry
	missing   bool // a sheet has no part
	found     bool // a sheet has one
}

// entry is a sheet as the workbook lists it.
type entry struct {
	name, id string
	hidden   bool
}

// maxSheets is how many sheets a workbook may have.
const maxSheets = 10_000

// streamed is how much more than of other documents may be unpacked: the large parts are never in memory, records cost a third of what
// elements do, and texts that cells hold themselves have two bytes a character.
const streamed = 2

// Read reads a workbook. Its errors are *document.Error and the context's.
func Read(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	if compound.Encrypted(body) {
		return document.Text{}, document.Fail(document.Encrypted, "an encrypted package")
	}
	limits.Unpacked *= streamed
	archive, err := pack.Open(body, limits)
	if err != nil {
		return document.Text{}, err
	}
	r := &reader{ctx: ctx, archive: archive, limits: limits, book: sheet.New(limits)}
	root, err := ooxml.RelationsOf(ctx, archive, "", limits)
	if err != nil {
		return document.Text{}, err
	}
	if err := r.read(root.Part("officeDocument")); err != nil {
		return document.Text{}, err
	}
	text, err := r.book.Text(ctx)
	if err != nil {
		return document.Text{}, err
	}
	if text.Title, err = ooxml.Title(archive, root, limits); err != nil {
		return document.Text{}, err
	}
	return text, nil
}

func (r *reader) read(main string) (err error) {
	if main == "" || !r.archive.Has(main) {
		main = "xl/workbook.bin"
	}
	if !r.archive.Has(main) {
		return document.Fail(document.Damaged, "no workbook")
	}
	if r.rels, err = ooxml.RelationsOf(r.ctx, r.archive, main, r.limits); err != nil {
		return err
	}
	if err := r.walk(main, r.workbook); err != nil {
		return err
	}
	if len(r.sheets) == 0 {
		return document.Fail(document.Damaged, "no sheets")
	}
	for _, p := range []struct {
		kind, name string
		visit      func(record) error
	}{{"styles", "xl/styles.bin", r.style()}, {"sharedStrings", "xl/sharedStrings.bin", r.shared}} {
		part := r.rels.Part(p.kind)
		if part == "" || !r.archive.Has(part) {
			part = p.name
		}
		if !r.archive.Has(part) {
			continue
		}
		if err := r.walk(part, p.visit); err != nil {
			return err
		}
	}
	for i, e := range r.sheets {
		if err := r.oneSheet(e, i); err != nil {
			return err
		}
	}
	if r.missing && !r.found {
		return document.Fail(document.Damaged, "no sheet has a part")
	}
	return nil
}

// workbook reads a record of the workbook's part.
func (r *reader) workbook(rec record) error {
	switch rec.id {
	case recWorkbookProperties:
		r.since1904 = rec.U32(0)&1 != 0
	case recSheet:
		if len(r.sheets) == maxSheets {
			return document.Fail(document.TooLarge, "more than %d sheets", maxSheets)
		}
		id, at := rec.text(8)
		name, _ := rec.text(at)
		r.sheets = append(r.sheets, entry{name: name, id: id, hidden: rec.U32(0) != 0})
	}
	return nil
}

// style gives what reads the records of the styles' part.
func (r *reader) style() func(record) error {
	cells := false // styles of cells, and not those that they are made of
	return func(rec record) error {
		switch rec.id {
		case recFormat:
			code, _ := rec.text(2)
			r.styles.Code(rec.U16(0), code)
		case recCellStyles:
			cells = true
		case recCellStylesEnd:
			cells = false
		case recStyle:
			if cells {
				r.styles.Style(rec.U16(2))
			}
		}
		return nil
	}
}

// shared reads a record of the part of shared strings.
func (r *reader) shared(rec record) error {
	if rec.id == recString {
		text, _ := rec.text(1)
		r.strings.Next.WriteString(text)
		r.strings.Add()
	}
	return nil
}

func (r *reader) oneSheet(e entry, i int) error {
	if e.hidden {
		r.book.Hide(e.name)
		return nil
	}
	if !r.book.Room() {
		r.book.Skip()
		return nil
	}
	s := r.book.Sheet(e.name)
	part, instead := ooxml.Sheet(r.archive, r.rels, e.id, i, "bin")
	if instead != "" {
		r.missing = r.missing || part == "" // one of a list may be an oversight of its writer; a book without any sheet is none
		s.Instead(instead)
		return nil
	}
	r.found = true
	c := &cells{reader: r, sheet: s, part: part}
	return r.walk(part, c.record)
}
