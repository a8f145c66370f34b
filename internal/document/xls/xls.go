// Package xls reads Excel's binary workbooks, from the first version's to that of Excel 2003.
//
// The one rule: a record is what its own bytes hold. What it says of sizes elsewhere sets nothing aside.
package xls

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/compound"
	"github.com/wayleave/wayleave/internal/document/numfmt"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// reader reads one workbook.
type reader struct {
	ctx       context.Context
	book      *sheet.Book
	data      []byte // the stream of records
	version   int    // 2, 3, 4, 5 (which is 7 as well) or 8
	text      encoding.Encoding
	unlocked  bool // data was encrypted, under the password that is nobody's
	since1904 bool
	strings   sheet.Shared
	styles    numfmt.Styles
	sheets    []entry
}

// entry is a sheet as the workbook lists it.
type entry struct {
	at     uint32
	hidden bool
	kind   byte
	name   string
}

// Read reads a workbook. Its errors are *document.Error and the context's.
func Read(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	r := &reader{ctx: ctx, book: sheet.New(limits), text: charmap.Windows1252}
	data, err := stream(body)
	if err != nil {
		return document.Text{}, err
	}
	r.data = data
	if err := r.read(); err != nil {
		return document.Text{}, err
	}
	return r.book.Text(ctx)
}

// stream finds the records in a body: in a compound file, or as they are.
func stream(body []byte) ([]byte, error) {
	if !compound.Is(body) {
		if version(body) == 0 {
			return nil, document.Fail(document.Damaged, "no workbook")
		}
		return body, nil
	}
	f, err := compound.Open(body)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Workbook", "Book"} {
		data, err := f.Stream(name)
		switch {
		case err == nil && version(data) > 0:
			return data, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	switch {
	case f.Has("EncryptedPackage"):
		return nil, document.Fail(document.Encrypted, "an encrypted package")
	case f.Has("Workbook") || f.Has("Book"):
		return nil, document.Fail(document.Damaged, "a workbook that does not begin as one")
	}
	return nil, document.Fail(document.Unsupported, "a compound file without a workbook")
}

// version tells which version's records a stream begins with; 0 for none.
func version(data []byte) int {
	if len(data) < 8 {
		return 0
	}
	id := int(data[0]) | int(data[1])<<8
	switch {
	case data[2] < 4 || data[2] > 32 || data[3] != 0:
		return 0
	case id == 0x0009:
		return 2
	case id == 0x0209:
		return 3
	case id == 0x0409:
		return 4
	case id == 0x0809 && data[5] == 6:
		return 8
	case id == 0x0809:
		return 5
	}
	return 0
}

func (r *reader) read() error {
	r.version = version(r.data)
	if r.version < 5 {
		// The one sheet has everything in it.
		return r.sheet(r.book.Sheet("Sheet1"), 0)
	}
	if err := r.globals(); err != nil {
		return err
	}
	if len(r.sheets) == 0 {
		return document.Fail(document.Damaged, "no sheets")
	}
	for _, e := range r.sheets {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		switch {
		case e.kind == 6: // a module of macros
			continue
		case e.hidden:
			r.book.Hide(e.name)
			continue
		case !r.book.Room():
			r.book.Skip()
			continue
		}
		s := r.book.Sheet(e.name)
		if e.kind == 2 {
			s.Instead("This sheet is a chart.")
			continue
		}
		if err := r.sheet(s, int64(e.at)); err != nil {
			return err
		}
	}
	return nil
}

// narrow decodes text of one byte a character, or of the workbook's code page.
func (r *reader) narrow(b []byte) string {
	b = bytes.TrimRight(b, "\x00")
	out, err := r.text.NewDecoder().Bytes(b)
	if err != nil {
		return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
	}
	return string(out)
}
