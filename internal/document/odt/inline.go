package odt

import (
	"strconv"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
	"github.com/wayleave/wayleave/internal/markdown/address"
)

// look is how words look where they stand.
type look struct {
	style  prose.Style
	link   string
	hidden bool
	signs  string // the font, where its characters are signs of its own
}

// inlines reads the text and the elements in the element that started.
func (r *reader) inlines(x *pack.XML, p *paragraph, l look) error {
	for inside := x.Depth(); ; {
		if err := x.Next(); err != nil {
			return err
		}
		switch {
		case x.Depth() < inside:
			return nil
		case x.Kind == pack.Chars:
			if err := r.words(p, x.Text, l); err != nil {
				return err
			}
		case x.Kind == pack.Start:
			if err := r.inline(x, x.Name, p, l); err != nil {
				return err
			}
			for x.Depth() > inside { // what was passed over
				if err := x.Next(); err != nil {
					return err
				}
			}
		}
	}
}

// words adds text. White space in it is what the file's lines are broken with.
func (r *reader) words(p *paragraph, text string, l look) error {
	if l.hidden || text == "" {
		return nil
	}
	if strings.ContainsAny(text, "\n\r\t") {
		text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' || c == '\t' }), " ")
		if text == "" {
			text = " "
		}
	}
	return r.add(p, prose.PlainSigns(l.signs, text), l)
}

func (r *reader) add(p *paragraph, text string, l look) error {
	if l.hidden || text == "" {
		return nil
	}
	if p.style.purpose == code {
		l.style &^= prose.Code
	}
	if len(p.text) > 0 && p.open.Style == l.style && p.open.Link == l.link {
		p.text = append(p.text, text...)
		return nil
	}
	p.flush()
	p.open, p.text = prose.Run{Style: l.style, Link: l.link}, append(p.text, text...)
	return r.w.Spend(1)
}

func (r *reader) put(p *paragraph, run prose.Run, l look) error {
	if l.hidden {
		return nil
	}
	p.flush()
	p.runs = append(p.runs, run)
	return r.w.Spend(1)
}

// inline reads one element in a paragraph.
func (r *reader) inline(x *pack.XML, name string, p *paragraph, l look) error {
	switch name {
	case "span":
		return r.inlines(x, p, l.over(r.styles.byName["text "+x.Attr("style-name")]))
	case "a":
		if to := address.Elsewhere(x.Attr("href")); to != "" {
			l.link = to
		}
		return r.inlines(x, p, l)
	case "s":
		n := 1
		if x.Has("c") {
			n = number(x.Attr("c"), 1)
		}
		return r.add(p, strings.Repeat(" ", min(n, 100)), l)
	case "tab":
		return r.add(p, "\t", l)
	case "line-break":
		return r.put(p, prose.Run{Kind: prose.Break}, l)
	case "note":
		return r.note(x, p, l)
	case "ruby":
		return r.ruby(x, p, l)
	case "frame", "custom-shape", "rect", "ellipse", "circle", "line", "polygon", "path", "connector", "caption", "g":
		if l.hidden {
			return nil
		}
		return r.drawing(x, p, l)
	case "annotation", "annotation-end", "note-citation", "number", "script", "hidden-text", "tracked-changes", "change", "change-start", "change-end",
		"bookmark", "bookmark-start", "bookmark-end", "reference-mark", "reference-mark-start", "reference-mark-end", "soft-page-break",
		"toc-mark", "toc-mark-start", "toc-mark-end", "alphabetical-index-mark", "alphabetical-index-mark-start", "alphabetical-index-mark-end",
		"user-index-mark", "user-index-mark-start", "user-index-mark-end", "event-listeners", "control", "title", "desc":
		return nil
	case "hidden-paragraph":
		return nil
	case "fieldmark":
		return r.form(x, p, l)
	case "placeholder", "p":
		return r.inlines(x, p, l)
	}
	return r.inlines(x, p, l) // fields show what they hold
}

// form reads a field of a form that has no text: a box, or a list to choose from.
func (r *reader) form(x *pack.XML, p *paragraph, l look) error {
	kind := x.Attr("type")
	box, chosen := "☐", 0
	var entries []string
	err := x.Children(func(name string) error {
		if name != "param" {
			return nil
		}
		switch value := x.Attr("value"); x.Attr("name") {
		case "Checkbox_Checked":
			if value == "true" {
				box = "☒"
			}
		case "Dropdown_Selected":
			chosen = number(value, 0)
		case "Dropdown_ListEntry":
			entries = append(entries, value)
			return r.w.Spend(1)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case strings.HasSuffix(kind, ".FORMCHECKBOX"):
		return r.add(p, box, l)
	case strings.HasSuffix(kind, ".FORMDROPDOWN") && chosen < len(entries):
		return r.add(p, entries[chosen], l)
	}
	return nil
}

// maxNotes is how many notes a document may have.
const maxNotes = 50_000

// note reads a note, which is written after the text.
func (r *reader) note(x *pack.XML, p *paragraph, l look) error {
	if l.hidden {
		return nil
	}
	list := r.list
	r.list = nil
	n := note{label: strconv.Itoa(len(r.notes) + 1)}
	before := r.w.Spent()
	err := x.Children(func(name string) error {
		if name != "note-body" {
			return nil
		}
		return r.blocks(x, func(b *prose.Block) error {
			n.blocks = append(n.blocks, *b)
			return r.w.Spend(1)
		})
	})
	r.held += r.w.Spent() - before
	r.list = list
	if err != nil {
		return err
	}
	if len(r.notes) >= maxNotes {
		return document.Fail(document.TooLarge, "more than %d notes", maxNotes)
	}
	r.notes = append(r.notes, n)
	return r.put(p, prose.Run{Kind: prose.Mark, Text: n.label}, l)
}

// ruby writes the reading of ruby text in brackets after it.
func (r *reader) ruby(x *pack.XML, p *paragraph, l look) error {
	return x.Children(func(name string) error {
		switch name {
		case "ruby-base":
			return r.inlines(x, p, l)
		case "ruby-text":
			text, err := x.AllText()
			if text = strings.TrimSpace(text); text != "" && err == nil {
				return r.add(p, "("+text+")", l)
			}
			return err
		}
		return nil
	})
}
