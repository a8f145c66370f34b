// Package xlsx reads Excel's workbooks of XML parts, with macros or without, in both of the standard's namespaces.
//
// The one rule: what a person sees when the workbook opens is what is read. Formulas have the values that they had when it
// was saved; hidden sheets, rows and columns are left out; nothing outside of the archive is asked for.
package xlsx

import (
	"context"
	"strconv"
	"strings"

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
	missing   bool // a sheet has no part
	found     bool // a sheet has one
	styles    numfmt.Styles
	rich      *rich // nil until a cell asks for it
}

// entry is a sheet as the workbook lists it.
type entry struct {
	name, id string
	hidden   bool
}

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
	r := &reader{ctx: ctx, archive: archive, limits: limits, book: sheet.New(limits)}
	text, err := r.read()
	if err != nil {
		return document.Text{}, err
	}
	return text, nil
}

func (r *reader) read() (document.Text, error) {
	root, err := ooxml.RelationsOf(r.ctx, r.archive, "", r.limits)
	if err != nil {
		return document.Text{}, err
	}
	main := root.Part("officeDocument")
	if main == "" || !r.archive.Has(main) {
		main = "xl/workbook.xml"
	}
	if !r.archive.Has(main) {
		return document.Text{}, document.Fail(document.Damaged, "no workbook")
	}
	if r.rels, err = ooxml.RelationsOf(r.ctx, r.archive, main, r.limits); err != nil {
		return document.Text{}, err
	}
	sheets, err := r.workbook(main)
	if err != nil {
		return document.Text{}, err
	}
	if err := r.readStyles(); err != nil {
		return document.Text{}, err
	}
	if err := r.readStrings(); err != nil {
		return document.Text{}, err
	}
	for i, s := range sheets {
		if err := r.ctx.Err(); err != nil {
			return document.Text{}, err
		}
		if s.hidden {
			r.book.Hide(s.name)
			continue
		}
		if err := r.oneSheet(s, i); err != nil {
			return document.Text{}, err
		}
	}
	if r.missing && !r.found {
		return document.Text{}, document.Fail(document.Damaged, "no sheet has a part")
	}
	text, err := r.book.Text(r.ctx)
	if err != nil {
		return document.Text{}, err
	}
	text.Title, err = ooxml.Title(r.archive, root, r.limits)
	return text, err
}

// maxSheets is how many sheets a workbook may have.
const maxSheets = 10_000

// workbook reads the list of sheets.
func (r *reader) workbook(part string) ([]entry, error) {
	x, err := r.part(part)
	if err != nil {
		return nil, err
	}
	if x.Name != "workbook" {
		return nil, document.Fail(document.Unsupported, "the main part is a %q", x.Name)
	}
	var sheets []entry
	err = x.Children(func(name string) error {
		switch name {
		case "workbookPr":
			r.since1904 = truth(x.Attr("date1904"))
		case "sheets":
			return x.Children(func(name string) error {
				if name != "sheet" {
					return nil
				}
				if len(sheets) == maxSheets {
					return document.Fail(document.TooLarge, "more than %d sheets", maxSheets)
				}
				state := x.Attr("state")
				sheets = append(sheets, entry{name: x.Attr("name"), id: x.Attr("id"), hidden: state == "hidden" || state == "veryHidden"})
				return nil
			})
		}
		return nil
	})
	return sheets, err
}

// oneSheet reads a visible sheet, the i-th of all.
func (r *reader) oneSheet(e entry, i int) error {
	if !r.book.Room() {
		r.book.Skip()
		return nil
	}
	s := r.book.Sheet(e.name)
	part, instead := ooxml.Sheet(r.archive, r.rels, e.id, i, "xml")
	if instead != "" {
		r.missing = r.missing || part == "" // one of a list may be an oversight of its writer; a book without any sheet is none
		s.Instead(instead)
		return nil
	}
	r.found = true
	return r.cells(s, part)
}

// part opens a part up to its root element.
func (r *reader) part(name string) (*pack.XML, error) {
	x, err := r.archive.XML(name, r.limits)
	if err != nil {
		return nil, err
	}
	return x, x.Root()
}

// truth reads a boolean as XML Schema has it.
func truth(s string) bool { return s == "1" || s == "true" || s == "on" }

// unescape decodes the characters that strings hold as _xHHHH_.
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "_x")
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		if len(s) >= 7 && s[6] == '_' {
			if v, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
				if v != 0 && (v < 0xD800 || v > 0xDFFF) {
					b.WriteRune(rune(v))
				}
				s = s[7:]
				continue
			}
		}
		b.WriteString(s[:2])
		s = s[2:]
	}
	b.WriteString(s)
	return b.String()
}
