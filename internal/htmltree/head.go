// Insertion modes before and around the head.

package htmltree

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func (p *parser) startBeforeHTML() bool {
	if p.tag.atom == atom.Html {
		p.add()
		p.mode = beforeHead
		return false
	}
	return p.leave()
}

func (p *parser) startBeforeHead() bool {
	switch p.tag.atom {
	case atom.Html:
		return p.startInBody()
	case atom.Head:
		p.head = p.add()
		p.mode = inHead
		return false
	}
	return p.leave()
}

// endBeforeHead serves the modes before html and before head: only these end tags imply what is missing.
func (p *parser) endBeforeHead() bool {
	switch p.tag.atom {
	case atom.Head, atom.Body, atom.Html, atom.Br:
		return p.leave()
	}
	return false
}

func (p *parser) startInHead() bool {
	if p.tag.atom == atom.Html {
		return p.startInBody()
	}
	if p.tag.atom == atom.Noscript {
		p.add()
		p.mode = inHeadNoscript
		return false
	}
	if p.metadata() || p.tag.atom == atom.Head {
		return false
	}
	return p.leave()
}

// metadata handles the start tags that belong in the head wherever they stand.
func (p *parser) metadata() bool {
	switch p.tag.atom {
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta:
		p.addVoid()
	case atom.Title, atom.Script, atom.Style, atom.Noframes:
		p.addRaw()
	case atom.Template:
		p.add()
		p.marker()
		p.framesetOK = false
		p.mode = inTemplate
		p.templates = append(p.templates, inTemplate)
	default:
		return false
	}
	return true
}

func (p *parser) endInHead() bool {
	switch p.tag.atom {
	case atom.Head, atom.Body, atom.Html, atom.Br:
		p.leave()
		return p.tag.atom != atom.Head
	case atom.Template:
		p.endTemplate()
	}
	return false
}

func (p *parser) startInHeadNoscript() bool {
	switch p.tag.atom {
	case atom.Html:
		return p.startInBody()
	case atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Style:
		p.metadata()
		return false
	case atom.Head, atom.Noscript:
		return false
	}
	return p.leave()
}

func (p *parser) endInHeadNoscript() bool {
	switch p.tag.atom {
	case atom.Noscript:
		p.leave()
		return false
	case atom.Br:
		return p.leave()
	}
	return false
}

func (p *parser) startAfterHead() bool {
	switch p.tag.atom {
	case atom.Html:
		return p.startInBody()
	case atom.Body:
		p.add()
		p.framesetOK = false
		p.mode = inBody
		return false
	case atom.Frameset:
		p.add()
		p.mode = inFrameset
		return false
	case atom.Head:
		return false
	}
	// What belongs in the head goes there although that is closed.
	depth := len(p.open)
	p.push(p.head, kindOf(atom.Head))
	if p.metadata() {
		if i := p.indexOf(p.head); i >= 0 {
			p.remove(i)
		}
		return false
	}
	p.truncate(depth)
	return p.leave()
}

func (p *parser) endAfterHead() bool {
	switch p.tag.atom {
	case atom.Body, atom.Html, atom.Br:
		return p.leave()
	case atom.Template:
		p.endTemplate()
	}
	return false
}

// endTemplate closes the innermost template.
func (p *parser) endTemplate() {
	if len(p.templates) == 0 {
		return
	}
	for i := len(p.open) - 1; i >= 0; i-- {
		if e := p.open[i]; e.node.DataAtom == atom.Template && !e.is(inside) {
			p.truncate(i)
			break
		}
	}
	p.clearFormatting()
	p.templates = p.templates[:len(p.templates)-1]
	p.resetMode()
}

// resetMode sets the insertion mode by what is open.
func (p *parser) resetMode() {
	for i := len(p.open) - 1; i >= 0; i-- {
		e := p.open[i]
		if e.is(inside) {
			continue
		}
		switch e.node.DataAtom {
		case atom.Td, atom.Th:
			p.mode = inCell
		case atom.Tr:
			p.mode = inRow
		case atom.Tbody, atom.Thead, atom.Tfoot:
			p.mode = inTableBody
		case atom.Caption:
			p.mode = inCaption
		case atom.Colgroup:
			p.mode = inColumnGroup
		case atom.Table:
			p.mode = inTable
		case atom.Template:
			p.mode = p.templates[len(p.templates)-1]
		case atom.Head:
			p.mode = inHead
		case atom.Body:
			p.mode = inBody
		case atom.Frameset:
			p.mode = inFrameset
		case atom.Html:
			p.mode = afterHead
			if p.head == nil {
				p.mode = beforeHead
			}
		default:
			continue
		}
		return
	}
	p.mode = inBody
}

// end is the end of the source: what every page has is there even if nothing asked for it.
func (p *parser) end() {
	for len(p.templates) > 0 {
		p.endTemplate()
	}
	for p.mode < inBody {
		p.leave()
	}
}

// fill gives an element the attributes of the tag read last that it does not have.
func (p *parser) fill(n *html.Node) {
	for _, a := range p.tag.attrs {
		has := false
		for _, own := range n.Attr {
			has = has || own.Key == a.Key
		}
		if !has && len(n.Attr) < maxAttributes {
			n.Attr = append(n.Attr, a)
		}
	}
}
