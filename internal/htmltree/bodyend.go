// End tags in the body, and what follows it.

package htmltree

import "golang.org/x/net/html/atom"

func (p *parser) endInBody() bool {
	name := p.tag.atom
	switch name {
	case atom.P:
		if p.inScope(buttonScope, atom.P) < 0 {
			p.imply(atom.P)
		}
		p.close(buttonScope, atom.P)
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong,
		atom.Tt, atom.U:
		p.endFormatting(name)
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Button, atom.Center, atom.Details, atom.Dialog, atom.Dir,
		atom.Div, atom.Dl, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Header, atom.Hgroup, atom.Listing,
		atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Pre, atom.Search, atom.Section, atom.Select, atom.Summary, atom.Ul:
		p.close(anyScope, name)
	case atom.Li:
		p.close(listScope, atom.Li)
	case atom.Dd, atom.Dt:
		p.close(anyScope, name)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.closeKind(anyScope, heading)
	case atom.Form:
		p.endForm()
	case atom.Applet, atom.Marquee, atom.Object:
		if p.close(anyScope, name) {
			p.clearFormatting()
		}
	case atom.Br: // read as a start tag
		p.reconstruct()
		p.tag.attrs = p.tag.attrs[:0]
		p.addVoid()
		p.framesetOK = false
	case atom.Body, atom.Html:
		if p.inScope(anyScope, atom.Body) >= 0 {
			p.mode = afterBody
			return name == atom.Html
		}
	case atom.Template:
		p.endTemplate()
	default:
		p.endOther()
	}
	return false
}

// endForm closes the form; what is open in it stays open.
func (p *parser) endForm() {
	if len(p.templates) > 0 {
		if i := p.inScope(anyScope, atom.Form); i >= 0 {
			p.implyEnds(0)
			p.close(anyScope, atom.Form)
		}
		return
	}
	n := p.form
	p.form = nil
	i := p.inScope(anyScope, atom.Form)
	if n == nil || i < 0 || p.open[i].node != n {
		return
	}
	p.implyEnds(0)
	if i = p.indexOf(n); i >= 0 {
		p.remove(i)
	}
}

// endOther handles an end tag without rules of its own: it closes the element of its name, unless a block is open in
// that.
func (p *parser) endOther() {
	for i := len(p.open) - 1; i >= 0; i-- {
		e := p.open[i]
		if !e.is(inside) && e.node.DataAtom == p.tag.atom && (p.tag.atom != 0 || e.node.Data == p.tag.name) {
			p.closeFrom(i)
			return
		}
		if e.is(special) {
			return
		}
	}
}

// After the body whatever comes goes into it all the same.

func (p *parser) startAfterBody() bool {
	if p.tag.atom == atom.Html {
		return p.startInBody()
	}
	p.mode = inBody
	return true
}

func (p *parser) endAfterBody() bool {
	if p.tag.atom == atom.Html && p.mode == afterBody {
		p.mode = afterAfterBody
		return false
	}
	p.mode = inBody
	return true
}

// Frames: a page made of others.

func (p *parser) startInFrameset() bool {
	switch p.tag.atom {
	case atom.Html:
		return p.startInBody()
	case atom.Frameset:
		p.add()
	case atom.Frame:
		p.addVoid()
	case atom.Noframes:
		p.metadata()
	}
	return false
}

func (p *parser) startAfterFrameset() bool {
	switch p.tag.atom {
	case atom.Html:
		return p.startInBody()
	case atom.Noframes:
		p.metadata()
	}
	return false
}

func (p *parser) endInFrameset() bool {
	switch {
	case p.mode == inFrameset && p.tag.atom == atom.Frameset && p.top().node.DataAtom != atom.Html:
		p.pop()
		if p.top().node.DataAtom != atom.Frameset {
			p.mode = afterFrameset
		}
	case p.mode == afterFrameset && p.tag.atom == atom.Html:
		p.mode = afterAfterFrameset
	}
	return false
}
