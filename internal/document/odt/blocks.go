package odt

import (
	"errors"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// emit takes blocks in their order.
type emit func(*prose.Block) error

// blocks reads paragraphs, lists, tables and whatever holds them below the element that started.
func (r *reader) blocks(x *pack.XML, out emit) error {
	return x.Children(func(name string) error { return r.block(x, name, out) })
}

func (r *reader) block(x *pack.XML, name string, out emit) error {
	switch name {
	case "p", "h":
		return r.paragraph(x, name == "h", out)
	case "list":
		return r.readList(x, out)
	case "table":
		return r.table(x, out)
	case "section":
		if x.Attr("display") == "none" || x.Attr("is-hidden") == "true" {
			return nil
		}
		return r.blocks(x, out)
	case "numbered-paragraph", "table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index", "bibliography",
		"index-body", "index-title":
		return r.blocks(x, out)
	case "frame", "custom-shape", "rect", "ellipse", "circle", "line", "polygon", "path", "g", "a", "connector", "caption":
		p := &paragraph{style: &style{}}
		if err := r.inline(x, name, p, look{}); err != nil {
			return err
		}
		return p.write(prose.Block{}, out)
	}
	return nil // tracked changes hold what was deleted; declarations, forms and the like hold no text
}

// paragraph is a paragraph that is being read.
type paragraph struct {
	style *style
	runs  []prose.Run
	open  prose.Run // words that are still added to, which are text
	text  []byte
	after []prose.Block // frames of text that hang on it
}

func (p *paragraph) flush() {
	if len(p.text) > 0 {
		p.open.Text = string(p.text)
		p.runs = append(p.runs, p.open)
		p.text = p.text[:0]
	}
}

// write gives a paragraph as the block that it is, and what hangs on it.
func (p *paragraph) write(b prose.Block, out emit) error {
	p.flush()
	if b.Runs == nil {
		b.Runs = p.runs
	}
	if err := out(&b); err != nil {
		return err
	}
	for i := range p.after {
		p.after[i].Under(b.Item)
		if err := out(&p.after[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) paragraph(x *pack.XML, heading bool, out emit) error {
	level := number(x.Attr("outline-level"), 1)
	unnumbered := x.Attr("is-list-header") == "true"
	restart := -1
	if x.Attr("restart-numbering") == "true" {
		restart = number(x.Attr("start-value"), -1)
	}
	p := &paragraph{style: r.styles.paragraph(x.Attr("style-name"))}
	err := r.inlines(x, p, look{hidden: p.style.hidden == on, signs: p.style.signs})
	p.flush()
	if errors.Is(err, prose.ErrFull) { // what fits of it is shown
		return errors.Join(out(&prose.Block{Runs: p.runs}), err)
	}
	if err != nil {
		return err
	}
	var b prose.Block
	switch shown := words(p.runs); {
	case heading && shown:
		b.Form, b.Level = prose.Heading, level
		switch {
		case unnumbered:
		case r.list != nil: // numbered as an item of a list
			if it := r.item(); it != nil {
				b.Label = it.Label
			}
		case level >= 1 && level <= levels:
			b.Label, _ = r.saved.heading.next(&r.styles.outline, level-1, restart)
		}
	case p.style.purpose == titled && shown:
		b.Form, b.Level = prose.Heading, 1
	case p.style.purpose == headed && shown && r.list == nil:
		b.Form, b.Level = prose.Heading, p.style.level
	case p.style.purpose == contents:
		b.Item = &prose.Item{Level: p.style.level - 1}
		b.Runs = prose.WithoutPageNumber(p.runs)
	case r.list != nil && (shown || len(p.runs) > 0):
		b.Item = r.item()
		if p.style.purpose == code {
			b.Form = prose.Lines
		}
	case p.style.purpose == code:
		b.Form = prose.Lines
	case p.style.purpose == quoted:
		b.Quote = true
	}
	return p.write(b, out)
}

// words says that runs hold something to read.
func words(runs []prose.Run) bool {
	for i := range runs {
		if r := &runs[i]; r.Kind == prose.Formula || r.Kind == prose.Mark || r.Kind == prose.Words && strings.TrimSpace(r.Text) != "" {
			return true
		}
	}
	return false
}
