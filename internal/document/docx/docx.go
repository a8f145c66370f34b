// Package docx reads Word documents: WordprocessingML in both of its namespaces, as Word, LibreOffice, Google Docs and
// others write it.
//
// The one rule: nothing outside of the archive is ever asked for. A document reads as its author sees it once every
// tracked change is accepted: comments, hidden text, headers and footers are no part of it.
package docx

import (
	"context"
	"errors"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/ooxml"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// reader reads one document.
type reader struct {
	ctx     context.Context
	archive *pack.Archive
	limits  document.Limits
	w       *prose.Writer
	styles  *styles
	lists   *lists
	rels    ooxml.Relations // of the part that is being read
	main    string          // name of the main part

	fields   []field
	contents bool        // a table of contents began in this paragraph
	items    []openItem  // of the lists that the last paragraph stands in
	carry    []prose.Run // of a paragraph whose end is deleted: the next one goes on with it
	notes    []noteRef   // in the order of their references
	labels   map[string]string
	quiet    int  // > 0 within a note: references in it lead nowhere
	chunks   int  // that were read
	unread   int  // chunks that were not
	chunked  bool // it reads a chunk itself
}

// noteRef is a note that was referred to.
type noteRef struct{ kind, id string }

// Read reads a document. Its errors are *document.Error and the context's.
func Read(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	archive, err := pack.Open(body, limits)
	if err != nil {
		return document.Text{}, err
	}
	r := &reader{ctx: ctx, archive: archive, limits: limits, w: prose.New(ctx, limits), labels: map[string]string{}}
	text, err := r.read()
	if err != nil {
		return document.Text{}, err
	}
	return text, ctx.Err()
}

// open reads what is beside the text of the main part, and gives the archive's relations.
func (r *reader) open() (ooxml.Relations, error) {
	root, err := r.relations("")
	if lost(err) != nil {
		return root, err
	}
	r.main = root.Part("officeDocument")
	if r.main == "" || !r.archive.Has(r.main) {
		r.main = "word/document.xml"
	}
	if !r.archive.Has(r.main) {
		return root, document.Fail(document.Damaged, "no main part")
	}
	if r.rels, err = r.relations(r.main); lost(err) != nil {
		return root, err
	}
	if r.styles, err = r.readStyles(); lost(err) != nil {
		return root, err
	}
	r.lists, err = r.readLists()
	return root, lost(err)
}

func (r *reader) read() (document.Text, error) {
	root, err := r.open()
	if err != nil {
		return document.Text{}, err
	}
	held := r.w.Spent()
	err = r.body(func(b *prose.Block) error {
		err := r.w.Block(b)
		r.w.Release(held)
		return err
	})
	if err != nil && !errors.Is(err, prose.ErrFull) {
		return document.Text{}, err
	}
	if err := r.readNotes(); lost(err) != nil && !errors.Is(err, prose.ErrFull) {
		return document.Text{}, err
	}
	title, err := ooxml.Title(r.archive, root, r.limits)
	if err != nil {
		return document.Text{}, err
	}
	if title == "" {
		title = r.w.FirstHeading()
	}
	markdown, facts := r.w.Finish()
	return document.Text{Markdown: markdown, Title: title, Notes: append(facts, r.unreadChunks()...)}, nil
}

// lost is an error of a part beside the text: that it is damaged is no reason not to read the text.
func lost(err error) error {
	if errors.Is(err, &document.Error{Reason: document.Damaged}) {
		return nil
	}
	return err
}

// body gives the blocks of the main part.
func (r *reader) body(out emit) error {
	x, err := r.part(r.main)
	if err != nil {
		return err
	}
	if x.Name != "document" && x.Name != "glossaryDocument" {
		return document.Fail(document.Unsupported, "the main part is a %q", x.Name)
	}
	seen := false
	err = x.Children(func(name string) error {
		if name != "body" {
			return nil
		}
		seen = true
		return r.blocks(x, out)
	})
	if err == nil && !seen {
		return document.Fail(document.Damaged, "part %q has no body", r.main)
	}
	return err
}

// part opens a part up to its root element.
func (r *reader) part(name string) (*pack.XML, error) {
	x, err := r.archive.XML(name, r.limits)
	if err != nil {
		return nil, err
	}
	return x, x.Root()
}

func (r *reader) relations(part string) (ooxml.Relations, error) {
	return ooxml.RelationsOf(r.ctx, r.archive, part, r.limits)
}

// relation is the id of a relation that an element names. Most documents call that namespace r; some have names such as ns1.
func relation(x *pack.XML, local string) string {
	if id := x.AttrIn("r", local); id != "" {
		return id
	}
	return x.Attr(local)
}
