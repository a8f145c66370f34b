// Package numbers reads Apple Numbers documents of 2013 and later: objects of protocol buffers in Snappy chunks in a ZIP
// archive.
//
// The one rule: what is shown is what the file keeps of each cell, values of formulas too; nothing is computed.
package numbers

import (
	"context"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/sheet"
)

// Read reads a document. Its errors are *document.Error and the context's.
func Read(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	f, err := open(body, limits)
	if err != nil {
		return document.Text{}, err
	}
	root := f.object(f.root, kindDocument)
	book := sheet.New(limits)
	sheets := 0
	seen := map[uint64]bool{}
	for id := range root.references(1) {
		if seen[id] {
			continue
		}
		seen[id] = true
		s := f.object(id, kindSheet, kindFormSheet)
		if s == nil {
			continue
		}
		if f.objects[id].kind == kindFormSheet { // a form over a table of another sheet
			continue
		}
		if sheets++; sheets > maxSheets {
			break
		}
		if err := ctx.Err(); err != nil {
			return document.Text{}, err
		}
		f.sheet(ctx, book, s)
		if f.steps < 0 {
			return document.Text{}, document.Fail(document.TooLarge, "more than %d steps", maxSteps)
		}
	}
	if sheets == 0 {
		return document.Text{}, document.Fail(document.Unsupported, "no sheets")
	}
	if err := ctx.Err(); err != nil {
		return document.Text{}, err
	}
	return book.Text(ctx)
}

const (
	maxSheets = 1000
	maxTables = 1000 // of a sheet
	maxTexts  = 1000 // of a sheet
)

// sheet adds a sheet: its tables, and the texts that stand beside them.
func (f *file) sheet(ctx context.Context, book *sheet.Book, s message) {
	name := string(s.bytes(1))
	if s.number(25) != 0 {
		book.Hide(name)
		return
	}
	var d drawables
	f.collect(s, 2, 0, &d)
	if len(d.texts) == 0 && len(d.tables) == 1 && plainName(d.tables[0].model) {
		f.captioned(ctx, book.Sheet(name), d.tables[0])
		return
	}
	top := book.Sheet(name)
	for _, text := range d.texts {
		top.Say(text)
	}
	for _, t := range d.tables {
		if ctx.Err() != nil {
			return
		}
		f.captioned(ctx, book.Part(string(t.model.bytes(8))), t)
	}
}

// captioned reads a table and the caption that is shown with it.
func (f *file) captioned(ctx context.Context, s *sheet.Sheet, t placed) {
	if t.caption != "" {
		s.Say(t.caption)
	}
	f.table(ctx, s, t.model)
}

// plainName says that a table has no name that a person gave it, or shows none.
func plainName(model message) bool {
	name := string(model.bytes(8))
	shown := true
	for f := range model.fields() {
		if f.number == 22 && f.bytes == nil {
			shown = f.value != 0
		}
	}
	rest, numbered := strings.CutPrefix(name, "Table ")
	return !shown || name == "" || numbered && strings.Trim(rest, "0123456789") == ""
}

// placed is a table as it stands on a sheet.
type placed struct {
	model   message
	caption string
}

// drawables are what stands on a sheet.
type drawables struct {
	tables []placed
	texts  []string
	groups map[uint64]bool // that were gone through
}

// collect finds the tables and texts that a field refers to, those in groups too.
func (f *file) collect(in message, field, depth int, d *drawables) {
	const deepest = 8
	if depth > deepest {
		return
	}
	for id := range in.references(field) {
		if f.steps < 0 {
			return
		}
		o := f.get(id)
		switch o.kind {
		case kindTable:
			if model := f.object(o.reference(2), kindModel); model != nil && len(d.tables) < maxTables {
				t := placed{model: model}
				if drawn := o.message.message(1); drawn.number(13) == 0 { // not hidden
					t.caption = f.shapeText(f.object(drawn.reference(11), kindCaption).message(1))
				}
				d.tables = append(d.tables, t)
			}
		case kindShape:
			if text := f.shapeText(o.message); text != "" && len(d.texts) < maxTexts {
				d.texts = append(d.texts, text)
			}
		case kindGroup:
			if d.groups[id] {
				continue
			}
			if d.groups == nil {
				d.groups = map[uint64]bool{}
			}
			d.groups[id] = true
			f.collect(o.message, 2, depth+1, d)
		}
	}
}

// shapeText is the text in a shape.
func (f *file) shapeText(shape message) string {
	for _, storage := range []int{4, 2} {
		if id := shape.reference(storage); id != 0 {
			if text := strings.TrimSpace(f.text(id)); text != "" {
				return text
			}
		}
	}
	return ""
}

// text is what a text storage holds. Marks of places in it, such as of pictures, are left out.
func (f *file) text(id uint64) string {
	o := f.get(id)
	if o.kind < kindText || o.kind > kindTextLast {
		return ""
	}
	var b strings.Builder
	for part := range o.fields() {
		if part.number == 3 && part.bytes != nil {
			b.Write(part.bytes)
		}
	}
	return strings.Map(func(c rune) rune {
		switch c {
		case '\ufffc', '\u0004', '\u000e':
			return -1
		case '\u2028', '\u2029', '\u0005':
			return '\n'
		}
		return c
	}, b.String())
}
