// Package streamed puts what a server sends later into the place it belongs in. A page made with React keeps a template
// with the id B:1 or P:1 where a part is missing, and sends the part after it as a hidden div with the id S:1, which an
// inline script moves there at once. No script runs here, so the parser moves it: the reader of a browser sees it there.
package streamed

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Parts collects the parts and their places while a page is read. Make it with [New].
type Parts struct {
	parts  map[string]*html.Node
	places []place
	open   []int // the boundaries that are open: their places, -1 for one without
}

// place is a template that a part takes the place of, with what was shown until then.
type place struct {
	template *html.Node
	last     *html.Node // the last sibling that is shown until then; nil for none
	number   string
}

// most bounds how many parts are moved.
const most = 512

// Note remembers an element that was opened where it is a part or a place.
func (s *Parts) Note(n *html.Node) {
	if n.DataAtom != atom.Div && n.DataAtom != atom.Template || len(s.places) > most {
		return
	}
	id, hidden := "", false
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "id":
			id = n.Attr[i].Val
		case "hidden":
			hidden = true
		}
	}
	if len(id) < 3 || id[1] != ':' {
		return
	}
	switch {
	case n.DataAtom == atom.Div && hidden && id[0] == 'S':
		if _, ok := s.parts[id[2:]]; !ok {
			s.parts[id[2:]] = n
		}
	case n.DataAtom == atom.Template && (id[0] == 'B' || id[0] == 'P'):
		if id[0] == 'B' && len(s.open) > 0 {
			s.open[len(s.open)-1] = len(s.places)
		}
		s.places = append(s.places, place{template: n, number: id[2:]})
	}
}

// Comment hears of a comment, while current is the open element: React marks where a boundary begins and ends.
func (s *Parts) Comment(text string, current *html.Node) {
	switch {
	case text == "/$":
		s.end(current)
	case (text == "$" || text == "$?" || text == "$!") && len(s.open) < most:
		s.open = append(s.open, -1)
	}
}

// end closes the innermost boundary: what stands in current after its template is shown until the part is there.
func (s *Parts) end(current *html.Node) {
	if len(s.open) == 0 {
		return
	}
	at := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if at < 0 {
		return
	}
	if p := &s.places[at]; p.template.Parent == current {
		p.last = current.LastChild
	}
}

// Fill moves the parts to their places.
func (s *Parts) Fill() {
	for i := range s.places {
		at := &s.places[i]
		part := s.parts[at.number]
		if part == nil || at.template.Parent == nil || within(at.template, part) {
			continue
		}
		delete(s.parts, at.number)
		parent := at.template.Parent
		if at.last != nil && at.last != at.template && at.last.Parent == parent {
			for n := at.template.NextSibling; n != nil; {
				next := n.NextSibling
				last := n == at.last
				parent.RemoveChild(n)
				if last {
					break
				}
				n = next
			}
		}
		for c := part.FirstChild; c != nil; c = part.FirstChild {
			part.RemoveChild(c)
			parent.InsertBefore(c, at.template)
		}
		parent.RemoveChild(at.template)
		if part.Parent != nil {
			part.Parent.RemoveChild(part)
		}
	}
}

// within says that n is below a.
func within(n, a *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == a {
			return true
		}
	}
	return false
}

// New is nil where a page has no parts to move.
func New(src string) *Parts {
	const mark = `id="S:`
	if !strings.Contains(src, mark) {
		return nil
	}
	return &Parts{parts: map[string]*html.Node{}}
}
