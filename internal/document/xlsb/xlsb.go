// Package xlsb reads Excel's workbooks of binary parts.
//
// The one rule: a record is what its own bytes hold; what a count says sets nothing aside.
package xlsb

import (
	"context"
	"strconv"

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
	codes     map[int]string // of formats
	styles    []int          // numbers of formats
	formats   map[int]*numfmt.Format
	sheets    []entry
	missing   bool // a sheet has no part
	found     bool // a sheet has one
}

// entry is a sheet as the workbook lists it.
type entry struct {
	name, id string
	hidden   bool
}

// Bounds of what a workbook lists.
const (
	maxSheets = 10_000
	maxStyles = 100_000
)

// Read reads a workbook. Its errors are *document.Error and the context's.
func Read(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	if compound.Encrypted(body) {
		return document.Text{}, document.Fail(document.Encrypted, "an encrypted package")
	}
	archive, err := pack.Open(body, limits)
	if err != nil {
		return document.Text{}, err
	}
	r := &reader{ctx: ctx, archive: archive, limits: limits, book: sheet.New(limits), codes: map[int]string{}, formats: map[int]*numfmt.Format{}}
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
		r.since1904 = rec.u32(0)&1 != 0
	case recSheet:
		if len(r.sheets) == maxSheets {
			return document.Fail(document.TooLarge, "more than %d sheets", maxSheets)
		}
		id, at := rec.text(8)
		name, _ := rec.text(at)
		r.sheets = append(r.sheets, entry{name: name, id: id, hidden: rec.u32(0) != 0})
	}
	return nil
}

// style gives what reads the records of the styles' part.
func (r *reader) style() func(record) error {
	cells := false // styles of cells, and not those that they are made of
	return func(rec record) error {
		switch rec.id {
		case recFormat:
			if len(r.codes) < maxStyles {
				r.codes[rec.u16(0)], _ = rec.text(2)
			}
		case recCellStyles:
			cells = true
		case recCellStylesEnd:
			cells = false
		case recStyle:
			if cells && len(r.styles) < maxStyles {
				r.styles = append(r.styles, rec.u16(2))
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
	rel, ok := r.rels.ByID(e.id)
	if !ok || !r.archive.Has(rel.Target) {
		rel = ooxml.Relation{Kind: "worksheet", Target: "xl/worksheets/sheet" + strconv.Itoa(i+1) + ".bin"}
	}
	switch rel.Kind {
	case "chartsheet":
		s.Instead("This sheet is a chart.")
		return nil
	case "dialogsheet":
		s.Instead("This sheet is a dialog.")
		return nil
	}
	if !r.archive.Has(rel.Target) {
		// A list that names more than there is may be an oversight of its writer; a book without any sheet is none.
		r.missing = true
		s.Instead("The file holds nothing for this sheet.")
		return nil
	}
	r.found = true
	c := &cells{reader: r, sheet: s, part: rel.Target}
	return r.walk(rel.Target, c.record)
}

// format gives the number format of a style.
func (r *reader) format(style int) *numfmt.Format {
	id := 0
	if style >= 0 && style < len(r.styles) {
		id = r.styles[style]
	}
	f := r.formats[id]
	if f == nil {
		code, ok := r.codes[id]
		if !ok {
			code = numfmt.Builtin(id)
		}
		f = numfmt.Parse(code)
		r.formats[id] = f
	}
	return f
}
