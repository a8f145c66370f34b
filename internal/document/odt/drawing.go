package odt

import (
	"errors"
	"path"
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
	"github.com/wayleave/wayleave/internal/markdown/tex"
)

// drawn is what a frame or a shape says.
type drawn struct {
	picture     bool
	title, desc string
	formula     string
	link        string
	boxes       []prose.Block
}

// drawing reads a frame or a shape: what is said in place of its picture, its formula, the text in it.
func (r *reader) drawing(x *pack.XML, p *paragraph, l look) error {
	d := drawn{link: l.link}
	beside := false // it stands beside the text, not in it
	switch x.Attr("anchor-type") {
	case "paragraph", "char", "page", "frame":
		beside = true
	}
	list := r.list
	r.list = nil
	err := r.shape(x, &d)
	r.list = list
	if err != nil {
		return err
	}
	alt := strings.TrimSpace(d.desc)
	if alt == "" {
		alt = strings.TrimSpace(d.title)
	}
	switch {
	case d.formula != "":
		if err := r.put(p, prose.Run{Kind: prose.Formula, Text: d.formula}, l); err != nil {
			return err
		}
	case alt == "" || !d.picture && len(d.boxes) > 0:
	case beside:
		p.after = append(p.after, prose.Block{Runs: []prose.Run{{Kind: prose.Picture, Text: alt, Link: d.link}}})
		if err := r.w.Spend(2); err != nil {
			return err
		}
	default:
		if err := r.put(p, prose.Run{Kind: prose.Picture, Text: alt, Link: d.link}, l); err != nil {
			return err
		}
	}
	p.after = append(p.after, d.boxes...)
	return nil
}

func (r *reader) shape(x *pack.XML, d *drawn) error {
	keep := func(b *prose.Block) error {
		d.boxes = append(d.boxes, *b)
		return r.w.Spend(1)
	}
	return x.Children(func(name string) (err error) {
		switch name {
		case "title":
			d.title, err = x.AllText()
			return err
		case "desc":
			d.desc, err = x.AllText()
			return err
		case "image":
			d.picture = true
			return nil
		case "text-box":
			return r.blocks(x, keep)
		case "p", "list":
			return r.block(x, name, keep)
		case "object":
			return r.object(x, d, keep)
		case "object-ole", "plugin", "applet", "floating-frame":
			d.picture = true
			return nil
		case "g", "frame", "custom-shape", "rect", "ellipse", "circle", "a":
			return r.shape(x, d)
		}
		return nil
	})
}

// object reads an object of the archive, or one that stands in place: a formula, or a chart's table.
func (r *reader) object(x *pack.XML, d *drawn, keep emit) error {
	d.picture = true
	name := strings.TrimPrefix(x.Attr("href"), "./")
	if name == "" {
		return x.Children(func(child string) error { return r.embedded(x, child, d, keep) })
	}
	if r.archive == nil {
		return nil
	}
	part := path.Join(name, "content.xml")
	if !r.archive.Has(part) {
		return nil
	}
	// An object that cannot be read is no reason not to read the text around it.
	inner, err := r.archive.XML(part, r.limits)
	if err == nil {
		err = inner.Root()
	}
	if err == nil {
		err = r.embedded(inner, inner.Name, d, keep)
	}
	if errors.Is(err, prose.ErrFull) {
		return err
	}
	return nil
}

func (r *reader) embedded(x *pack.XML, name string, d *drawn, keep emit) error {
	switch name {
	case "math":
		root, err := formulaTree(x)
		if err == nil {
			d.formula = tex.Tidy(tex.FromMathML(root))
		}
		return err
	case "document-content", "document", "body", "chart":
		return x.Children(func(name string) error { return r.embedded(x, name, d, keep) })
	case "table":
		return r.table(x, keep)
	case "text", "spreadsheet":
		return r.blocks(x, keep)
	}
	return nil
}

// maxFormulaNodes is how many elements of a formula are read.
const maxFormulaNodes = 5000

// formulaTree makes the tree that formulas are read from of the element that started.
func formulaTree(x *pack.XML) (*html.Node, error) {
	root := &html.Node{Type: html.ElementNode, Data: "math"}
	at, nodes := root, 0
	for inside := x.Depth(); ; {
		if err := x.Next(); err != nil {
			return nil, err
		}
		switch {
		case x.Depth() < inside:
			return root, nil
		case x.Kind == pack.Start:
			n := &html.Node{Type: html.ElementNode, Data: x.Name}
			for _, key := range []string{"open", "close", "separators", "encoding"} {
				if x.Has(key) {
					n.Attr = append(n.Attr, html.Attribute{Key: key, Val: x.Attr(key)})
				}
			}
			if nodes++; nodes > maxFormulaNodes {
				return root, x.Skip()
			}
			at.AppendChild(n)
			at = n
		case x.Kind == pack.End:
			at = at.Parent
		case x.Kind == pack.Chars && strings.TrimSpace(x.Text) != "":
			at.AppendChild(&html.Node{Type: html.TextNode, Data: x.Text})
		}
	}
}
