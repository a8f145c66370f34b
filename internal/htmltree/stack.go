// The stack of open elements and the questions that are asked of it: what is in scope, what an end tag implies.

package htmltree

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// kind is what the standard says of an element by its name, as bits.
type kind uint32

const (
	special     kind = 1 << iota
	scopeEnd         // ends every scope
	listEnd          // ends list-item scope too
	buttonEnd        // ends button scope too
	tableEnd         // ends table scope
	rowContext       // tr, template, html
	bodyContext      // tbody, thead, tfoot, template, html
	implied          // an end tag further out closes it
	heading          // h1 to h6
	fosters          // table, tbody, thead, tfoot, tr: what is no table's part goes before the table
	rowGroup         // tbody, thead, tfoot
	cell             // td, th
	textPoint        // MathML text integration point
	htmlPoint        // HTML integration point
	inside           // of another namespace than HTML's
	paragraph        // p
)

// Scopes: what ends them.
const (
	anyScope    = scopeEnd
	listScope   = scopeEnd | listEnd
	buttonScope = scopeEnd | buttonEnd
	tableScope  = tableEnd
)

// openElement is an element on the stack with its kind, which is asked for more often than it is pushed.
type openElement struct {
	node *html.Node
	kind kind
}

func (e openElement) is(k kind) bool { return e.kind&k != 0 }

// kindOf is the kind of an HTML element.
func kindOf(a atom.Atom) kind {
	switch a {
	case atom.P:
		return special | implied | paragraph
	case atom.Li, atom.Dd, atom.Dt:
		return special | implied
	case atom.Optgroup, atom.Option, atom.Rb, atom.Rp, atom.Rt, atom.Rtc:
		return implied
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return special | heading
	case atom.Ol, atom.Ul:
		return special | listEnd
	case atom.Button:
		return special | buttonEnd
	case atom.Applet, atom.Marquee, atom.Object, atom.Select, atom.Caption:
		return special | scopeEnd
	case atom.Html:
		return special | scopeEnd | tableEnd | rowContext | bodyContext
	case atom.Template:
		return special | scopeEnd | tableEnd | rowContext | bodyContext
	case atom.Table:
		return special | scopeEnd | tableEnd | fosters
	case atom.Td, atom.Th:
		return special | scopeEnd | cell
	case atom.Tr:
		return special | rowContext | fosters
	case atom.Tbody, atom.Thead, atom.Tfoot:
		return special | bodyContext | fosters | rowGroup
	case atom.Address, atom.Area, atom.Article, atom.Aside, atom.Base, atom.Basefont, atom.Bgsound, atom.Blockquote, atom.Body,
		atom.Br, atom.Center, atom.Col, atom.Colgroup, atom.Details, atom.Dir, atom.Div, atom.Dl, atom.Embed, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frame, atom.Frameset, atom.Head, atom.Header, atom.Hgroup,
		atom.Hr, atom.Iframe, atom.Img, atom.Input, atom.Keygen, atom.Link, atom.Listing, atom.Main, atom.Menu, atom.Meta,
		atom.Nav, atom.Noembed, atom.Noframes, atom.Noscript, atom.Param, atom.Plaintext, atom.Pre, atom.Script, atom.Section,
		atom.Source, atom.Style, atom.Summary, atom.Textarea, atom.Title, atom.Track, atom.Wbr, atom.Xmp:
		return special
	}
	return 0
}

func (p *parser) top() openElement {
	if len(p.open) == 0 {
		return openElement{node: p.doc}
	}
	return p.open[len(p.open)-1]
}

// push opens an element. On a full stack it takes the place of the deepest one, which waits in lost until it closes.
func (p *parser) push(n *html.Node, k kind) {
	if k&paragraph != 0 {
		p.paragraphs++
	}
	if len(p.open) == maxOpen {
		p.lost = append(p.lost, p.open[maxOpen-1].node)
		p.closed(maxOpen - 1)
		p.open[maxOpen-1] = openElement{n, k}
		return
	}
	p.open = append(p.open, openElement{n, k})
}

// closed takes the element at index i of the stack out of what is counted.
func (p *parser) closed(i int) {
	if p.open[i].is(paragraph) {
		p.paragraphs--
	}
}

// pop closes the element opened last.
func (p *parser) pop() {
	last := len(p.open) - 1
	p.closed(last)
	if len(p.lost) == 0 {
		p.open = p.open[:last]
		return
	}
	// What waited for its place goes on as a copy after what had it, so that the text keeps its order.
	waiting := p.lost[len(p.lost)-1]
	p.lost = p.lost[:len(p.lost)-1]
	if p.copies > 0 {
		waiting = p.twin(waiting)
		insert(p.open[last-1].node, waiting, nil)
	}
	p.open = p.open[:last]
	p.push(waiting, nodeKind(waiting))
}

// truncate closes all elements from index i of the stack on.
func (p *parser) truncate(i int) {
	if i < len(p.open) {
		for j := i; j < len(p.open); j++ {
			p.closed(j)
		}
		p.open = p.open[:i]
		p.lost = p.lost[:0]
	}
}

// remove takes the element at index i off the stack, those above it stay open.
func (p *parser) remove(i int) {
	if i == len(p.open)-1 {
		p.pop()
		return
	}
	p.closed(i)
	p.open = append(p.open[:i], p.open[i+1:]...)
	p.lost = p.lost[:0]
}

// indexOf is the index of a node on the stack, -1 if it is not open.
func (p *parser) indexOf(n *html.Node) int {
	for i := len(p.open) - 1; i >= 0; i-- {
		if p.open[i].node == n {
			return i
		}
	}
	return -1
}

// inScope is the index of the innermost open HTML element of this name, -1 if none is in the scope.
func (p *parser) inScope(scope kind, name atom.Atom) int {
	if name == atom.P && p.paragraphs == 0 {
		return -1 // asked of every block
	}
	for i := len(p.open) - 1; i >= 0; i-- {
		e := p.open[i]
		if e.node.DataAtom == name && e.kind&inside == 0 {
			return i
		}
		if e.kind&scope != 0 {
			return -1
		}
	}
	return -1
}

// kindInScope is inScope for elements of a kind.
func (p *parser) kindInScope(scope, k kind) int {
	for i := len(p.open) - 1; i >= 0; i-- {
		e := p.open[i]
		if e.kind&k != 0 {
			return i
		}
		if e.kind&scope != 0 {
			return -1
		}
	}
	return -1
}

// close closes the innermost element of this name with all in it, if it is in the scope.
func (p *parser) close(scope kind, name atom.Atom) bool {
	i := p.inScope(scope, name)
	if i < 0 {
		return false
	}
	p.closeFrom(i)
	return true
}

func (p *parser) closeKind(scope, k kind) bool {
	i := p.kindInScope(scope, k)
	if i < 0 {
		return false
	}
	p.closeFrom(i)
	return true
}

// closeFrom closes the element at index i of the stack and all in it.
func (p *parser) closeFrom(i int) {
	if i == len(p.open)-1 {
		p.pop()
		return
	}
	p.truncate(i)
}

// closeTo closes elements until one of this context is the current one.
func (p *parser) closeTo(context kind) {
	for i := len(p.open) - 1; i >= 0; i-- {
		if p.open[i].is(context) {
			p.truncate(i + 1)
			return
		}
	}
}

// implyEnds closes the elements that close by themselves, but for one of the name except.
func (p *parser) implyEnds(except atom.Atom) {
	i := len(p.open)
	for i > 0 && p.open[i-1].is(implied) && p.open[i-1].node.DataAtom != except {
		i--
	}
	p.truncate(i)
}
