// Foreign content: SVG and MathML within the page, and the points where HTML goes on within them.

package htmltree

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	svg    = "svg"
	mathML = "math"
)

// nodeKind is the kind of an element of any namespace.
func nodeKind(n *html.Node) kind {
	switch n.Namespace {
	case svg:
		switch n.Data {
		case "foreignObject", "desc", "title":
			return inside | special | scopeEnd | htmlPoint
		}
		return inside
	case mathML:
		switch n.Data {
		case "mi", "mo", "mn", "ms", "mtext":
			return inside | special | scopeEnd | textPoint
		case "annotation-xml":
			k := inside | special | scopeEnd
			for _, a := range n.Attr {
				if a.Key == "encoding" && (strings.EqualFold(a.Val, "text/html") || strings.EqualFold(a.Val, "application/xhtml+xml")) {
					k |= htmlPoint
				}
			}
			return k
		}
		return inside
	}
	return kindOf(n.DataAtom)
}

// inForeign says that the current node is foreign.
func (p *parser) inForeign() bool {
	return len(p.open) > 0 && p.open[len(p.open)-1].is(inside)
}

// startIsForeign says that the start tag read last is foreign content.
func (p *parser) startIsForeign() bool {
	if !p.inForeign() {
		return false
	}
	e := p.top()
	switch {
	case e.is(htmlPoint):
		return false
	case e.is(textPoint):
		return p.tag.atom == atom.Mglyph || p.tag.atom == atom.Malignmark
	case p.tag.atom == atom.Svg:
		return !(e.node.Namespace == mathML && e.node.Data == "annotation-xml")
	}
	return true
}

// textIsForeign says that text here is foreign content.
func (p *parser) textIsForeign() bool {
	return p.inForeign() && !p.top().is(htmlPoint|textPoint)
}

func (p *parser) foreignText(s string, start int) {
	if p.nul && strings.IndexByte(s, 0) >= 0 {
		s, start = p.withoutNUL(s), -1
	}
	if s == "" {
		return
	}
	if p.framesetOK && strings.Trim(s, " \t\n\f\uFFFD") != "" {
		p.framesetOK = false
	}
	p.addText(s, start)
}

// startForeign handles a start tag in foreign content; true says that it has ended that and is to be handled as HTML.
func (p *parser) startForeign() bool {
	if p.breaksOut() {
		p.breakOut()
		return true
	}
	p.addForeign(p.top().node.Namespace)
	return false
}

// breakOut closes foreign elements up to a point where HTML goes on.
func (p *parser) breakOut() {
	for p.textIsForeign() {
		p.pop()
	}
}

// addForeign opens a foreign element of the tag read last.
func (p *parser) addForeign(namespace string) {
	n := p.element()
	n.Namespace = namespace
	if namespace == svg {
		if name, ok := svgName(n.Data); ok {
			n.Data = name
			n.DataAtom = atom.Lookup([]byte(name))
		}
	}
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "xlink:actuate", "xlink:arcrole", "xlink:href", "xlink:role", "xlink:show", "xlink:title", "xlink:type", "xml:lang",
			"xml:space", "xmlns:xlink":
			a.Namespace, a.Key, _ = strings.Cut(a.Key, ":")
		case "definitionurl":
			if namespace == mathML {
				a.Key = "definitionURL"
			}
		}
	}
	if p.tag.selfClosing {
		parent, before := p.place()
		insert(parent, n, before)
		return
	}
	p.attach(n)
	p.push(n, nodeKind(n))
}

// endForeign handles an end tag in foreign content; false leaves it to the insertion mode.
func (p *parser) endForeign() bool {
	if p.tag.atom == atom.P || p.tag.atom == atom.Br {
		p.breakOut()
		return false
	}
	for i := len(p.open) - 1; i > 0; i-- {
		if strings.EqualFold(p.open[i].node.Data, p.tag.name) {
			p.closeFrom(i)
			return true
		}
		if !p.open[i-1].is(inside) {
			return false
		}
	}
	return false
}

// breaksOut says that a start tag is HTML's wherever it stands.
func (p *parser) breaksOut() bool {
	switch p.tag.atom {
	case atom.B, atom.Big, atom.Blockquote, atom.Body, atom.Br, atom.Center, atom.Code, atom.Dd, atom.Div, atom.Dl, atom.Dt, atom.Em,
		atom.Embed, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head, atom.Hr, atom.I, atom.Img, atom.Li, atom.Listing,
		atom.Menu, atom.Meta, atom.Nobr, atom.Ol, atom.P, atom.Pre, atom.Ruby, atom.S, atom.Small, atom.Span, atom.Strong, atom.Strike,
		atom.Sub, atom.Sup, atom.Table, atom.Tt, atom.U, atom.Ul, atom.Var:
		return true
	case atom.Font:
		for _, a := range p.tag.attrs {
			if a.Key == "color" || a.Key == "face" || a.Key == "size" {
				return true
			}
		}
	}
	return false
}

// svgName is the spelling of an SVG element with capitals in its name.
func svgName(s string) (string, bool) {
	for _, name := range []string{"altGlyph", "altGlyphDef", "altGlyphItem", "animateColor", "animateMotion", "animateTransform",
		"clipPath", "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting",
		"feDisplacementMap", "feDistantLight", "feFlood", "feFuncA", "feFuncB", "feFuncG", "feFuncR", "feGaussianBlur", "feImage",
		"feMerge", "feMergeNode", "feMorphology", "feOffset", "fePointLight", "feSpecularLighting", "feSpotLight", "feTile",
		"feTurbulence", "foreignObject", "glyphRef", "linearGradient", "radialGradient", "textPath"} {
		if len(name) == len(s) && strings.EqualFold(name, s) {
			return name, true
		}
	}
	return "", false
}
