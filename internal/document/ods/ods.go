// Package ods reads OpenDocument spreadsheets, in an archive or as one flat file.
//
// The one rule: what is repeated is never spelled out further than it is shown. A row that stands for a million costs one.
package ods

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// reader reads one spreadsheet.
type reader struct {
	ctx    context.Context
	limits document.Limits
	book   *sheet.Book
	hidden map[string]bool // styles of tables that are not shown
	budget int             // values that repetition may yet make
	body   bool
	title  string
}

// maxHidden is how many styles of hidden tables are kept.
const maxHidden = 100_000

// Read reads a spreadsheet. Its errors are *document.Error and the context's.
func Read(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	r := &reader{ctx: ctx, limits: limits, book: sheet.New(limits), hidden: map[string]bool{}, budget: 4 * limits.Cells}
	var err error
	if bytes.HasPrefix(body, []byte("PK")) {
		err = r.archive(body)
	} else {
		err = r.part(pack.NewXML("document", body, limits))
	}
	if err == nil && !r.body {
		err = document.Fail(document.Damaged, "no spreadsheet")
	}
	if err != nil {
		return document.Text{}, err
	}
	text, err := r.book.Text(ctx)
	text.Title = r.title
	return text, err
}

func (r *reader) archive(body []byte) error {
	a, err := pack.Open(body, r.limits)
	if err != nil {
		return err
	}
	if err := r.encrypted(a); err != nil {
		return err
	}
	if !a.Has("content.xml") {
		return document.Fail(document.Damaged, "no content")
	}
	x, err := a.XML("content.xml", r.limits)
	if err != nil {
		return err
	}
	if err := r.part(x); err != nil || !a.Has("meta.xml") {
		return err
	}
	if x, err = a.XML("meta.xml", r.limits); err != nil {
		return err
	}
	err = r.part(x)
	var failed *document.Error
	if errors.As(err, &failed) && failed.Reason == document.Damaged {
		err = nil // the title is all that it has
	}
	return err
}

// encrypted refuses an archive whose manifest says how its parts are encrypted.
func (r *reader) encrypted(a *pack.Archive) error {
	if a.Has("encrypted-package") && !a.Has("content.xml") {
		return document.Fail(document.Encrypted, "an encrypted package")
	}
	data, err := a.Optional("META-INF/manifest.xml")
	if err != nil || data == nil {
		return err
	}
	x := pack.NewXML("META-INF/manifest.xml", data, r.limits)
	if err := x.Root(); err != nil {
		return nil // the parts can be read without it
	}
	err = x.Children(func(string) error {
		return x.Children(func(name string) error {
			if name == "encryption-data" {
				return document.Fail(document.Encrypted, "the manifest")
			}
			return nil
		})
	})
	var failed *document.Error
	if errors.As(err, &failed) && failed.Reason == document.Damaged {
		err = nil
	}
	return err
}

// part reads what is of interest in any of the parts, and all of it in a flat file.
func (r *reader) part(x *pack.XML) error {
	if err := x.Root(); err != nil {
		return err
	}
	if !strings.HasPrefix(x.Name, "document") {
		return document.Fail(document.Unsupported, "the root is a %q", x.Name)
	}
	return x.Children(func(name string) error {
		switch name {
		case "meta":
			return x.Children(func(name string) error {
				if name != "title" {
					return nil
				}
				text, err := x.AllText()
				r.title = strings.Join(strings.Fields(text), " ")
				return err
			})
		case "automatic-styles", "styles":
			return r.styles(x)
		case "body":
			return x.Children(func(name string) error {
				if name != "spreadsheet" {
					return nil
				}
				r.body = true
				return x.Children(func(name string) error {
					if name != "table" {
						return nil
					}
					return r.table(x)
				})
			})
		}
		return nil
	})
}

// styles notes which styles hide a table.
func (r *reader) styles(x *pack.XML) error {
	return x.Children(func(name string) error {
		if name != "style" || x.Attr("family") != "table" {
			return nil
		}
		style := x.Attr("name")
		return x.Children(func(name string) error {
			if name == "table-properties" && x.Attr("display") == "false" && len(r.hidden) < maxHidden {
				r.hidden[style] = true
			}
			return nil
		})
	})
}

// table reads a sheet.
func (r *reader) table(x *pack.XML) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	name, style := x.Attr("name"), x.Attr("style-name")
	switch {
	case style == "ta_extref": // what another file held when it was last looked at
		return nil
	case r.hidden[style], x.Attr("display") == "false":
		r.book.Hide(name)
		return nil
	case !r.book.Room():
		r.book.Skip()
		return nil
	}
	t := &table{reader: r, x: x, sheet: r.book.Sheet(name)}
	return x.Children(t.part)
}
