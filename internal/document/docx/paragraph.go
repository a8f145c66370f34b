package docx

import (
	"errors"
	"strings"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// emit takes blocks in their order.
type emit func(*prose.Block) error

// properties are what pPr says.
type properties struct {
	style   string
	list    string // numId; "0" takes a paragraph out of its style's list
	depth   int    // ilvl; -1 for unsaid
	outline int    // from 1; 0 for unsaid, noLevel for body text
	indent  int    // on the side where lines begin, in twentieths of a point; -1 for unsaid
	merged  bool   // the paragraph's end is deleted, or it is a large initial: what follows is one with it
	mark    looks  // of the paragraph's end
}

func readProperties(x *pack.XML) (properties, error) {
	p := properties{depth: -1, indent: -1}
	err := x.Children(func(name string) error {
		switch name {
		case "pStyle":
			p.style = x.Attr("val")
		case "numPr":
			return x.Children(func(name string) error {
				switch name {
				case "ilvl":
					p.depth = number(x.Attr("val"), -1)
				case "numId":
					p.list = x.Attr("val")
				}
				return nil
			})
		case "ind":
			p.indent = number(x.Attr("start"), number(x.Attr("left"), -1))
		case "framePr":
			p.merged = p.merged || x.Attr("dropCap") == "drop" || x.Attr("dropCap") == "margin"
		case "outlineLvl":
			p.outline = min(max(number(x.Attr("val"), noLevel-1), 0)+1, noLevel)
		case "rPr":
			return x.Children(func(name string) error {
				switch name {
				case "del", "moveFrom":
					p.merged = true
				case "vanish":
					p.mark.hidden = truth(x.Attr("val"))
				}
				return nil
			})
		}
		return nil
	})
	return p, err
}

// blocks reads paragraphs and tables below the element that started.
func (r *reader) blocks(x *pack.XML, out emit) error {
	return x.Children(func(name string) error { return r.block(x, name, out) })
}

func (r *reader) block(x *pack.XML, name string, out emit) error {
	switch name {
	case "p":
		return r.paragraph(x, out)
	case "tbl":
		return r.table(x, out)
	case "sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag":
		return r.blocks(x, out)
	case "altChunk":
		return r.chunk(x, out)
	case "AlternateContent":
		return r.alternate(x, out)
	case "oMathPara", "oMath":
		p := &paragraph{}
		if err := r.formula(x, p, name == "oMathPara"); err != nil {
			return err
		}
		p.flush()
		return out(&prose.Block{Runs: p.runs})
	}
	return nil
}

// alternate reads blocks of which a document has two forms: the first that says something.
func (r *reader) alternate(x *pack.XML, out emit) error {
	done := false
	return x.Children(func(name string) error {
		if done || name != "Choice" && name != "Fallback" {
			return nil
		}
		return r.blocks(x, func(b *prose.Block) error {
			done = true
			return out(b)
		})
	})
}

// paragraph is a paragraph that is being read.
type paragraph struct {
	style *style
	runs  []prose.Run
	open  prose.Run // words that are still added to, which are text
	text  []byte
	after []prose.Block // text boxes that hang on it
}

func (r *reader) paragraph(x *pack.XML, out emit) error {
	p := &paragraph{runs: r.carry}
	r.carry = nil
	props := properties{depth: -1, indent: -1}
	p.style = r.styles.paragraph("")
	inContents := r.inContents()
	r.contents = false
	err := x.Children(func(name string) (err error) {
		if name == "pPr" {
			props, err = readProperties(x)
			p.style = r.styles.paragraph(props.style)
			return err
		}
		return r.inline(x, name, p, "")
	})
	p.flush()
	if errors.Is(err, prose.ErrFull) { // what fits of it is shown
		return errors.Join(out(&prose.Block{Runs: p.runs}), err)
	}
	if err != nil {
		return err
	}
	r.endFields()
	if props.merged {
		if r.carry = p.runs; len(p.after) == 0 {
			return nil
		}
		p.runs = nil
	}
	b := prose.Block{Runs: p.runs}
	r.place(&b, p, props, inContents || r.contents)
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

// place says what a paragraph is: heading, item, code, quotation or nothing of these. inContents tells that it is part of a
// table of contents.
func (r *reader) place(b *prose.Block, p *paragraph, props properties, inContents bool) {
	if !words(p.runs) && !hasPicture(p.runs) {
		return
	}
	st := p.style
	purpose, level := st.purpose, st.level
	if props.outline != 0 && purpose != contents {
		if props.outline < noLevel && purpose != titled {
			purpose, level = heading, props.outline
		} else if props.outline == noLevel && purpose == heading {
			purpose = ordinary
		}
	}
	c, listed := r.number(st, props)
	open := r.items
	r.items = r.items[:0]
	switch {
	case (purpose == heading || purpose == titled) && words(p.runs):
		b.Form, b.Level = prose.Heading, level
		if !c.bullet {
			b.Label = c.label
		}
	case purpose == contents:
		b.Item = &prose.Item{Level: min(level-1, levels)}
		b.Runs = prose.WithoutPageNumber(b.Runs)
	case inContents && prose.EndsInPageNumber(b.Runs):
		b.Item = &prose.Item{Level: c.depth}
		b.Runs = prose.WithoutPageNumber(b.Runs)
	case listed && c.blank:
		b.Item = &prose.Item{Level: c.depth, More: true}
		r.items = open
	case listed && (c.bullet || c.label != ""):
		b.Item = &prose.Item{Level: c.depth, Label: c.label}
		if c.bullet {
			b.Item.Label, b.Item.Task = "", prose.TaskOf(c.label)
		}
		if props.indent >= 0 {
			c.indent = props.indent
		}
		r.items = append(above(open, c.depth), openItem{c.depth, c.indent})
	case purpose == quoted:
		b.Quote = true
	case purpose == continued:
		b.Item = &prose.Item{Level: levels, More: true}
		r.items = open
	case len(open) > 0:
		indent := props.indent
		if indent < 0 {
			indent = st.indent
		}
		if r.items = under(open, indent); len(r.items) > 0 {
			b.Item = &prose.Item{Level: r.items[len(r.items)-1].depth, More: true}
		}
	}
	if purpose == code && b.Form == prose.Paragraph && !b.Quote {
		b.Form = prose.Lines
	}
}

// openItem is an item that a paragraph which is indented as its text is may go on with.
type openItem struct{ depth, indent int }

// above is the items whose level is above a depth.
func above(items []openItem, depth int) []openItem {
	for len(items) > 0 && items[len(items)-1].depth >= depth {
		items = items[:len(items)-1]
	}
	return items
}

// under is the items whose text is indented no more than a paragraph is.
func under(items []openItem, indent int) []openItem {
	for len(items) > 0 && (items[len(items)-1].indent <= 0 || items[len(items)-1].indent > indent) {
		items = items[:len(items)-1]
	}
	return items
}

// number counts a paragraph in its list; false for one in none.
func (r *reader) number(st *style, props properties) (count, bool) {
	id, depth := props.list, props.depth
	if id == "" {
		id = st.list
		if at := r.lists.depthOf(id, props.style); at >= 0 && depth < 0 {
			depth = at
		}
		if depth < 0 {
			depth = st.depth
		}
	}
	if id == "" || id == "0" {
		return count{}, false
	}
	c, ok := r.lists.next(id, max(depth, 0))
	if c.depth == 0 { // each of Word's styles for deeper lists is a list of its own
		c.depth = st.nested
	}
	return c, ok
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

func hasPicture(runs []prose.Run) bool {
	for i := range runs {
		if runs[i].Kind == prose.Picture {
			return true
		}
	}
	return false
}

// add appends a run, or goes on with the last one where nothing differs.
func (r *reader) add(p *paragraph, run prose.Run) error {
	if run.Kind == prose.Words {
		if len(p.text) > 0 && p.open.Style == run.Style && p.open.Link == run.Link {
			p.text = append(p.text, run.Text...)
			return nil
		}
		p.flush()
		p.open, p.text = run, append(p.text, run.Text...)
		return r.w.Spend(1)
	}
	p.flush()
	p.runs = append(p.runs, run)
	return r.w.Spend(1)
}

// flush ends the run that words are added to.
func (p *paragraph) flush() {
	if len(p.text) > 0 {
		p.open.Text = string(p.text)
		p.runs = append(p.runs, p.open)
		p.text = p.text[:0]
	}
}
