// Package odt reads OpenDocument texts, in an archive or as one flat file, as LibreOffice, Google Docs, Word and others
// write them.
//
// The one rule: nothing outside of the archive is ever asked for. A document reads as its author sees it once every
// tracked change is accepted: annotations, hidden text, headers and footers are no part of it.
package odt

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// reader reads one document.
type reader struct {
	archive *pack.Archive // nil for a flat document
	limits  document.Limits
	w       *prose.Writer
	styles  styles
	saved   lists
	list    *place // the list that is being read; nil outside of lists

	notes []note
	held  int // what was spent on what stays: styles and notes
	body  bool
	title string
}

// note is a note, which is written at the end.
type note struct {
	label  string
	blocks []prose.Block
}

// Read reads a document. Its errors are *document.Error and the context's.
func Read(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	r := &reader{limits: limits, w: prose.New(ctx, limits), styles: newStyles(), saved: newLists()}
	var err error
	if bytes.HasPrefix(body, []byte("PK")) {
		err = r.readArchive(body)
	} else {
		err = r.readPart(pack.NewXML("document", body, limits), "document")
	}
	if err == nil && !r.body {
		err = document.Fail(document.Damaged, "no body of text")
	}
	if errors.Is(err, prose.ErrFull) {
		err = nil
	}
	if err != nil {
		return document.Text{}, err
	}
	for _, n := range r.notes {
		if err := r.w.Note(n.label, n.blocks); err != nil && !errors.Is(err, prose.ErrFull) {
			return document.Text{}, err
		}
	}
	if r.title == "" {
		r.title = r.w.FirstHeading()
	}
	markdown, facts := r.w.Finish()
	return document.Text{Markdown: markdown, Title: r.title, Notes: facts}, ctx.Err()
}

func (r *reader) readArchive(body []byte) error {
	var err error
	if r.archive, err = pack.Open(body, r.limits); err != nil {
		return err
	}
	if err := encrypted(r.archive, r.limits); lost(err) != nil {
		return err
	}
	for _, name := range []string{"meta.xml", "styles.xml", "content.xml"} {
		if !r.archive.Has(name) {
			continue
		}
		x, err := r.archive.XML(name, r.limits)
		if err == nil {
			err = r.readPart(x, name)
		}
		switch {
		case name == "meta.xml": // what is wrong with the title is no reason not to read the text
		case name == "styles.xml" && lost(err) != nil, name == "content.xml" && err != nil:
			return err
		}
	}
	return nil
}

// lost is an error of a part beside the text: that it is damaged is no reason not to read the text.
func lost(err error) error {
	if errors.Is(err, &document.Error{Reason: document.Damaged}) {
		return nil
	}
	return err
}

// encrypted refuses an archive whose manifest says how its parts are encrypted.
func encrypted(a *pack.Archive, limits document.Limits) error {
	const manifest = "META-INF/manifest.xml"
	if !a.Has(manifest) {
		return nil
	}
	x, err := a.XML(manifest, limits)
	if err != nil {
		return err
	}
	if err := x.Root(); err != nil {
		return err
	}
	return x.Children(func(string) error {
		return x.Children(func(name string) error {
			if name == "encryption-data" {
				return document.Fail(document.Encrypted, "manifest")
			}
			return nil
		})
	})
}

// readPart reads styles.xml, content.xml, meta.xml, or a flat document, which has all of them in one.
func (r *reader) readPart(x *pack.XML, name string) error {
	if err := x.Root(); err != nil {
		return err
	}
	if !strings.HasPrefix(x.Name, "document") {
		return document.Fail(document.Unsupported, "the root of %q is a %q", name, x.Name)
	}
	return x.Children(func(name string) error {
		switch name {
		case "meta":
			return x.Children(func(name string) (err error) {
				if name == "title" && r.title == "" {
					var title string
					title, err = x.AllText()
					r.title = strings.Join(strings.Fields(title), " ")
				}
				return err
			})
		case "font-face-decls":
			if err := r.readFonts(x); !errors.Is(err, prose.ErrFull) {
				return err
			}
		case "styles", "automatic-styles":
			return r.readStyles(x)
		case "body":
			return r.readBody(x)
		}
		return nil
	})
}

func (r *reader) readBody(x *pack.XML) error {
	r.styles.settle()
	r.held = r.w.Spent()
	return x.Children(func(name string) error {
		if name != "text" {
			return nil
		}
		r.body = true
		return r.blocks(x, func(b *prose.Block) error {
			err := r.w.Block(b)
			r.w.Release(r.held)
			return err
		})
	})
}
