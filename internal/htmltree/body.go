// Start tags in the body.

package htmltree

import (
	"strings"

	"golang.org/x/net/html/atom"
)

func (p *parser) startInBody() bool {
	switch p.tag.atom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Header, atom.Hgroup, atom.Main, atom.Menu, atom.Nav, atom.Ol,
		atom.P, atom.Search, atom.Section, atom.Summary, atom.Ul:
		p.close(buttonScope, atom.P)
		p.add()
	case atom.A:
		p.endOpenLink()
		p.reconstruct()
		p.addFormatting()
	case atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		p.reconstruct()
		p.addFormatting()
	case atom.Li:
		p.startItem(atom.Li, atom.Li)
	case atom.Dd, atom.Dt:
		p.startItem(atom.Dd, atom.Dt)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.close(buttonScope, atom.P)
		if p.top().is(heading) {
			p.pop()
		}
		p.add()
	case atom.Area, atom.Br, atom.Embed, atom.Img, atom.Keygen, atom.Wbr:
		p.reconstruct()
		p.addVoid()
		p.framesetOK = false
	case atom.Image: // the standard: "don't ask"
		p.tag.atom, p.tag.name = atom.Img, "img"
		return true
	case atom.Pre, atom.Listing:
		p.close(buttonScope, atom.P)
		p.add()
		p.skipFeed = true
		p.framesetOK = false
	case atom.Table:
		if !p.quirks {
			p.close(buttonScope, atom.P)
		}
		p.add()
		p.framesetOK = false
		p.mode = inTable
	case atom.Hr:
		p.close(buttonScope, atom.P)
		if p.inScope(anyScope, atom.Select) >= 0 {
			p.implyEnds(0)
		}
		p.addVoid()
		p.framesetOK = false
	case atom.Param, atom.Source, atom.Track:
		p.addVoid()
	case atom.Rb, atom.Rtc:
		if p.inScope(anyScope, atom.Ruby) >= 0 {
			p.implyEnds(0)
		}
		p.add()
	case atom.Rp, atom.Rt:
		if p.inScope(anyScope, atom.Ruby) >= 0 {
			p.implyEnds(atom.Rtc)
		}
		p.add()
	case atom.Math, atom.Svg:
		p.reconstruct()
		p.addForeign(p.tag.name)
	case atom.Caption, atom.Col, atom.Colgroup, atom.Frame, atom.Head, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
	case atom.Button, atom.Form, atom.Input, atom.Select, atom.Option, atom.Optgroup, atom.Textarea:
		p.startControl()
	default:
		p.startRare()
	}
	return false
}

// startItem opens an item of a list; one that is open closes, unless a block is open in it.
func (p *parser) startItem(name, other atom.Atom) {
	p.framesetOK = false
	for i := len(p.open) - 1; i >= 0; i-- {
		e := p.open[i]
		if a := e.node.DataAtom; (a == name || a == other) && !e.is(inside) {
			p.closeFrom(i)
			break
		} else if e.is(special) && a != atom.Address && a != atom.Div && a != atom.P {
			break
		}
	}
	p.close(buttonScope, atom.P)
	p.add()
}

// endOpenLink closes the link that is open, for links do not nest.
func (p *parser) endOpenLink() {
	f := p.formattingElement(atom.A)
	if f < 0 {
		return
	}
	n := p.formatting[f]
	p.endFormatting(atom.A)
	p.dropFormatting(n)
	if i := p.indexOf(n); i >= 0 {
		p.remove(i)
	}
}

// startControl opens a form or what stands in one.
func (p *parser) startControl() {
	switch p.tag.atom {
	case atom.Form:
		if p.form != nil && len(p.templates) == 0 {
			return
		}
		p.close(buttonScope, atom.P)
		n := p.add()
		if len(p.templates) == 0 {
			p.form = n
		}
	case atom.Button:
		if p.inScope(anyScope, atom.Button) >= 0 {
			p.implyEnds(0)
			p.close(anyScope, atom.Button)
		}
		p.reconstruct()
		p.add()
		p.framesetOK = false
	case atom.Input:
		p.close(anyScope, atom.Select)
		p.reconstruct()
		p.addVoid()
		if !p.hiddenInput() {
			p.framesetOK = false
		}
	case atom.Select:
		if p.close(anyScope, atom.Select) {
			return
		}
		p.reconstruct()
		p.add()
		p.framesetOK = false
	case atom.Option:
		p.startOption(atom.Optgroup)
	case atom.Optgroup:
		p.startOption(0)
	case atom.Textarea:
		p.framesetOK = false
		p.addRaw()
	}
}

// startOption opens an option or a group; what is open in the select closes, but for an element of the name except.
func (p *parser) startOption(except atom.Atom) {
	if p.inScope(anyScope, atom.Select) >= 0 {
		p.implyEnds(except)
	} else if p.top().node.DataAtom == atom.Option {
		p.pop()
	}
	p.reconstruct()
	p.add()
}

func (p *parser) hiddenInput() bool {
	for _, a := range p.tag.attrs {
		if a.Key == "type" {
			return strings.EqualFold(a.Val, "hidden")
		}
	}
	return false
}

// startRare handles the tags that bodies seldom hold, and those that mean nothing to the parser.
func (p *parser) startRare() {
	switch p.tag.atom {
	case atom.Html:
		if len(p.templates) == 0 {
			p.fill(p.open[0].node)
		}
	case atom.Body:
		if len(p.templates) == 0 && len(p.open) > 1 && p.open[1].node.DataAtom == atom.Body {
			p.framesetOK = false
			p.fill(p.open[1].node)
		}
	case atom.Frameset:
		if p.framesetOK && len(p.open) > 1 && p.open[1].node.DataAtom == atom.Body {
			detach(p.open[1].node)
			p.truncate(1)
			p.add()
			p.mode = inFrameset
		}
	case atom.Applet, atom.Marquee, atom.Object:
		p.reconstruct()
		p.add()
		p.marker()
		p.framesetOK = false
	case atom.Nobr:
		p.reconstruct()
		if p.inScope(anyScope, atom.Nobr) >= 0 {
			p.endFormatting(atom.Nobr)
			p.reconstruct()
		}
		p.addFormatting()
	case atom.Plaintext:
		p.close(buttonScope, atom.P)
		p.add()
		start := p.pos
		p.pos = len(p.src)
		if start < len(p.src) {
			p.reconstruct()
			p.addText(p.withoutNUL(p.src[start:]), -1)
		}
	case atom.Xmp:
		p.close(buttonScope, atom.P)
		p.reconstruct()
		p.framesetOK = false
		p.addRaw()
	case atom.Iframe:
		p.framesetOK = false
		p.addRaw()
	case atom.Noembed:
		p.addRaw()
	default:
		if !p.metadata() {
			p.reconstruct()
			p.add()
		}
	}
}
