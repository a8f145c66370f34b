// Formatting elements: they go on in the next block when an end tag is missing, and tags that cross are untangled by
// what the standard calls the adoption agency.

package htmltree

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// marker bounds the formatting elements of a cell, an object or a template.
func (p *parser) marker() { p.formatting = append(p.formatting, nil) }

// clearFormatting forgets formatting elements up to the last marker.
func (p *parser) clearFormatting() {
	for n := len(p.formatting); n > 0; n-- {
		last := p.formatting[n-1]
		p.formatting = p.formatting[:n-1]
		if last == nil {
			return
		}
	}
}

// addFormatting opens a formatting element of the tag read last.
func (p *parser) addFormatting() {
	n := p.add()
	same, since := 0, 0
	for i := len(p.formatting) - 1; i >= 0 && p.formatting[i] != nil; i-- {
		since++
		if f := p.formatting[i]; f.DataAtom == n.DataAtom && sameAttributes(f.Attr, n.Attr) {
			if same++; same >= 3 {
				p.formatting = slices.Delete(p.formatting, i, i+1)
				since--
			}
		}
	}
	if since >= maxFormatting {
		oldest := len(p.formatting) - since
		p.formatting = slices.Delete(p.formatting, oldest, oldest+1)
	}
	p.formatting = append(p.formatting, n)
}

func sameAttributes(a, b []html.Attribute) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !slices.Contains(b, a[i]) {
			return false
		}
	}
	return true
}

// reconstruct opens again the formatting elements that a block closed.
func (p *parser) reconstruct() {
	i := len(p.formatting)
	for i > 0 && p.formatting[i-1] != nil && p.indexOf(p.formatting[i-1]) < 0 {
		i--
	}
	for ; i < len(p.formatting); i++ {
		if p.copies <= 0 {
			p.formatting = p.formatting[:i]
			return
		}
		n := p.twin(p.formatting[i])
		p.attach(n)
		p.push(n, kindOf(n.DataAtom))
		p.formatting[i] = n
	}
}

// formattingElement is the index of the last formatting element of this name since the last marker, -1 for none.
func (p *parser) formattingElement(name atom.Atom) int {
	for i := len(p.formatting) - 1; i >= 0 && p.formatting[i] != nil; i-- {
		if p.formatting[i].DataAtom == name {
			return i
		}
	}
	return -1
}

func (p *parser) dropFormatting(n *html.Node) {
	if i := slices.Index(p.formatting, n); i >= 0 {
		p.formatting = slices.Delete(p.formatting, i, i+1)
	}
}

// endFormatting handles the end tag of a formatting element.
func (p *parser) endFormatting(name atom.Atom) {
	if top := p.top(); top.node.DataAtom == name && !top.is(inside) && !slices.Contains(p.formatting, top.node) {
		p.pop()
		return
	}
	const rounds = 8 // the standard's bound
	for range rounds {
		f := p.formattingElement(name)
		if f < 0 {
			p.endOther()
			return
		}
		element := p.formatting[f]
		at := p.indexOf(element)
		if at < 0 {
			p.formatting = slices.Delete(p.formatting, f, f+1)
			return
		}
		if p.inScope(anyScope, name) < 0 {
			return
		}
		block := at
		for block < len(p.open) && !p.open[block].is(special) {
			block++
		}
		if block == len(p.open) || p.copies <= 0 {
			p.closeFrom(at)
			p.dropFormatting(element)
			return
		}
		p.adopt(element, at, block)
	}
}

// adopt untangles one crossing: the formatting element at index at of the stack ends within the block at index block.
// What of the block comes before the end tag is put into a copy of the element, inside the block.
func (p *parser) adopt(element *html.Node, at, block int) {
	furthest := p.open[block].node
	ancestor := p.open[at-1]
	bookmark := slices.Index(p.formatting, element)
	last := furthest
	for i, inner := block-1, 1; p.open[i].node != element; i, inner = i-1, inner+1 {
		node := p.open[i].node
		f := slices.Index(p.formatting, node)
		if inner > 3 && f >= 0 {
			p.formatting = slices.Delete(p.formatting, f, f+1)
			if f < bookmark {
				bookmark--
			}
			f = -1
		}
		if f < 0 {
			p.open = append(p.open[:i], p.open[i+1:]...)
			block--
			continue
		}
		twin := p.twin(node)
		p.formatting[f] = twin
		p.open[i].node = twin
		if last == furthest {
			bookmark = f + 1
		}
		detach(last)
		insert(twin, last, nil)
		last = twin
	}
	detach(last)
	if ancestor.is(fosters) {
		parent, before := p.fosterPlace()
		insert(parent, last, before)
	} else {
		insert(ancestor.node, last, nil)
	}
	twin := p.twin(element)
	moveChildren(twin, furthest)
	insert(furthest, twin, nil)

	f := slices.Index(p.formatting, element)
	if f < bookmark {
		bookmark--
	}
	p.formatting = slices.Delete(p.formatting, f, f+1)
	p.formatting = slices.Insert(p.formatting, bookmark, twin)
	// The element itself leaves the stack, its copy goes above the block.
	copy(p.open[at:], p.open[at+1:block+1])
	p.open[block] = openElement{twin, kindOf(twin.DataAtom)}
	if len(p.open) < maxOpen {
		p.lost = p.lost[:0]
	}
}

// moveChildren gives the children of from to to, which has none.
func moveChildren(to, from *html.Node) {
	to.FirstChild, to.LastChild = from.FirstChild, from.LastChild
	from.FirstChild, from.LastChild = nil, nil
	for c := to.FirstChild; c != nil; c = c.NextSibling {
		c.Parent = to
	}
}
