// Package docx reads Word documents: WordprocessingML in both of its namespaces, as Word, LibreOffice, Google Docs and
// others write it.
//
// The one rule: nothing outside of the archive is ever asked for. A document reads as its author sees it once every
// tracked change is accepted: comments, hidden text, headers and footers are no part of it.
package docx

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// reader reads one document.
type reader struct {
	archive *pack.Archive
	limits  document.Limits
	w       *prose.Writer
	styles  *styles
	lists   *lists
	rels    relations // of the part that is being read
	main    string    // name of the main part

	fields []field
	carry  []prose.Run // of a paragraph whose end is deleted: the next one goes on with it
	notes  []noteRef   // in the order of their references
	labels map[string]string
	quiet  int // > 0 within a note: references in it lead nowhere
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
	r := &reader{archive: archive, limits: limits, w: prose.New(ctx, limits), labels: map[string]string{}}
	text, err := r.read()
	if err != nil {
		return document.Text{}, err
	}
	return text, ctx.Err()
}

func (r *reader) read() (document.Text, error) {
	root, err := r.relations("")
	if err != nil {
		return document.Text{}, err
	}
	r.main = root.target("officeDocument")
	if r.main == "" || !r.archive.Has(r.main) {
		r.main = "word/document.xml"
	}
	if !r.archive.Has(r.main) {
		return document.Text{}, document.Fail(document.Damaged, "no main part")
	}
	if r.rels, err = r.relations(r.main); err != nil {
		return document.Text{}, err
	}
	if r.styles, err = r.readStyles(); err != nil {
		return document.Text{}, err
	}
	if r.lists, err = r.readLists(); err != nil {
		return document.Text{}, err
	}
	if err := r.body(); err != nil && !errors.Is(err, prose.ErrFull) {
		return document.Text{}, err
	}
	if err := r.readNotes(); err != nil && !errors.Is(err, prose.ErrFull) {
		return document.Text{}, err
	}
	title := r.title(root.target("core-properties"))
	if title == "" {
		title = r.w.FirstHeading()
	}
	markdown, facts := r.w.Finish()
	return document.Text{Markdown: markdown, Title: title, Notes: facts}, nil
}

func (r *reader) body() error {
	x, err := r.part(r.main)
	if err != nil {
		return err
	}
	if x.Name != "document" && x.Name != "glossaryDocument" {
		return document.Fail(document.Unsupported, "the main part is a %q", x.Name)
	}
	seen, held := false, r.w.Spent()
	err = x.Children(func(name string) error {
		if name != "body" {
			return nil
		}
		seen = true
		return r.blocks(x, func(b *prose.Block) error {
			err := r.w.Block(b)
			r.w.Release(held)
			return err
		})
	})
	if err == nil && !seen {
		return document.Fail(document.Damaged, "part %q has no body", r.main)
	}
	return err
}

// part opens a part up to its root element.
func (r *reader) part(name string) (*pack.XML, error) {
	data, err := r.archive.Read(name)
	if err != nil {
		return nil, err
	}
	x := pack.NewXML(name, data, r.limits)
	return x, x.Root()
}

// title reads the core properties.
func (r *reader) title(part string) (title string) {
	if part == "" {
		part = "docProps/core.xml"
	}
	if !r.archive.Has(part) {
		return ""
	}
	x, err := r.part(part)
	if err != nil {
		return ""
	}
	// What is wrong with the properties is no reason not to read the text.
	_ = x.Children(func(name string) (err error) {
		if name == "title" && title == "" {
			title, err = x.AllText()
			title = strings.Join(strings.Fields(title), " ")
		}
		return err
	})
	return title
}

// relation is what a part refers to.
type relation struct {
	kind     string // the last step of its type, the same in all namespaces
	target   string // name of a part, or an address
	external bool
}

// relations are a part's, by id.
type relations struct {
	byID  map[string]relation
	first map[string]string // target of the first of each kind within the archive
}

func (r relations) target(kind string) string { return r.first[kind] }

// relations reads what a part refers to; "" is the archive itself.
func (r *reader) relations(part string) (relations, error) {
	out := relations{map[string]relation{}, map[string]string{}}
	folder, file := path.Split(part)
	name := folder + "_rels/" + file + ".rels"
	if !r.archive.Has(name) {
		return out, nil
	}
	x, err := r.part(name)
	if err != nil {
		return out, err
	}
	err = x.Children(func(name string) error {
		if name != "Relationship" {
			return nil
		}
		rel := relation{kind: path.Base(x.Attr("Type")), target: x.Attr("Target"), external: x.Attr("TargetMode") == "External"}
		if !rel.external && !strings.HasPrefix(rel.target, "#") {
			if strings.HasPrefix(rel.target, "/") {
				rel.target = path.Clean(rel.target)[1:]
			} else {
				rel.target = path.Join(folder, rel.target)
			}
			if out.first[rel.kind] == "" {
				out.first[rel.kind] = rel.target
			}
		}
		out.byID[x.Attr("Id")] = rel
		return r.w.Spend(1)
	})
	if errors.Is(err, prose.ErrFull) {
		err = nil
	}
	return out, err
}
