// Making nodes and putting them in their place.

package htmltree

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/htmltree/charref"
)

// newNode makes a node. Nodes come in slabs: one allocation for many.
func (p *parser) newNode(t html.NodeType) *html.Node {
	const smallest, largest = 32, 512
	if len(p.nodes) == 0 {
		p.nodes = p.room.nodes.Take(min(max(p.made, smallest), largest))
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	p.made++
	n.Type = t
	return n
}

// ownAttributes copies attributes to where the tree keeps them.
func (p *parser) ownAttributes(attrs []html.Attribute) []html.Attribute {
	const slab = 256
	n := len(attrs)
	if n == 0 {
		return nil
	}
	if len(p.attrs) < n {
		p.attrs = p.room.attrs.Take(max(n, min(slab, 16+p.made)))
	}
	own := p.attrs[:n:n]
	p.attrs = p.attrs[n:]
	copy(own, attrs)
	return own
}

// element makes an HTML element of the tag read last.
func (p *parser) element() *html.Node {
	n := p.newNode(html.ElementNode)
	n.DataAtom, n.Data = p.tag.atom, p.tag.name
	n.Attr = p.ownAttributes(p.tag.attrs)
	return n
}

// twin is a copy of an element without its children.
func (p *parser) twin(n *html.Node) *html.Node {
	p.copies--
	c := p.newNode(html.ElementNode)
	c.DataAtom, c.Data, c.Namespace = n.DataAtom, n.Data, n.Namespace
	c.Attr = n.Attr[:len(n.Attr):len(n.Attr)]
	return c
}

// add puts an element of the tag read last in its place and opens it.
func (p *parser) add() *html.Node {
	n := p.element()
	p.attach(n)
	p.push(n, kindOf(n.DataAtom))
	if p.streamed != nil {
		p.streamed.Note(n)
	}
	return n
}

// addVoid puts an element of the tag read last in its place; nothing can be in it.
func (p *parser) addVoid() {
	parent, before := p.place()
	insert(parent, p.element(), before)
}

// addRaw puts a raw-text element in its place, with the text up to its end tag.
func (p *parser) addRaw() {
	n := p.element()
	parent, before := p.place()
	insert(parent, n, before)
	a := n.DataAtom
	text, _ := p.rawText()
	if a == atom.Textarea && text != "" && text[0] == '\n' {
		text = text[1:]
	}
	if a == atom.Textarea || a == atom.Title {
		text = charref.Text(text)
	}
	if text = p.withoutNUL(text); text != "" {
		c := p.newNode(html.TextNode)
		c.Data = text
		insert(n, c, nil)
	}
}

// imply opens an element that the source leaves out.
func (p *parser) imply(name atom.Atom) *html.Node {
	n := p.newNode(html.ElementNode)
	n.DataAtom, n.Data = name, name.String()
	p.attach(n)
	p.push(n, kindOf(name))
	return n
}

// attach puts an element that is to be opened in its place. On a full stack that is beside the current node.
func (p *parser) attach(n *html.Node) {
	parent, before := p.place()
	if len(p.open) == maxOpen && parent == p.open[maxOpen-1].node {
		parent = p.open[maxOpen-2].node
	}
	insert(parent, n, before)
}

// place is where the next node goes: at the end of the current node, or before the table that has no room for it.
func (p *parser) place() (parent, before *html.Node) {
	e := p.top()
	if p.foster && e.is(fosters) {
		return p.fosterPlace()
	}
	return e.node, nil
}

// fosterPlace is the place before the innermost table, or within the template that is further in.
func (p *parser) fosterPlace() (parent, before *html.Node) {
	for i := len(p.open) - 1; i >= 0; i-- {
		n := p.open[i].node
		switch {
		case p.open[i].is(inside):
		case n.DataAtom == atom.Template:
			return n, nil
		case n.DataAtom == atom.Table:
			if n.Parent != nil {
				return n.Parent, n
			}
			return p.open[i-1].node, nil
		}
	}
	return p.open[0].node, nil
}

// insert makes n a child of parent, before the child given or else the last one.
func insert(parent, n, before *html.Node) {
	n.Parent = parent
	n.NextSibling = before
	if before != nil {
		n.PrevSibling = before.PrevSibling
		before.PrevSibling = n
	} else {
		n.PrevSibling = parent.LastChild
		parent.LastChild = n
	}
	if n.PrevSibling != nil {
		n.PrevSibling.NextSibling = n
	} else {
		parent.FirstChild = n
	}
}

// detach takes n away from its parent.
func detach(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}
