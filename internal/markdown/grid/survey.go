// Package grid says what a table is made of: its rows in the order in which they are shown, whether it holds data or
// only lays a page out, and in which columns its cells stand.
package grid

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Survey is what one look through a table's own cells found. Tables within its cells are not looked into.
type Survey struct {
	Rows     []*html.Node // header rows first, footer rows last
	Captions []*html.Node
	Header   bool // the first row is the header
	Code     bool // lines of code beside their numbers
	Nested   bool // a table in a cell

	cells, heads int  // td and th
	widest       int  // cells in the longest row
	headings     bool // a heading or a rule in a cell
	blocks       bool // other blocks in a cell
	active       bool // links, pictures or form controls in a cell
	sections     bool // parts of a page in a cell: navigation, forms, articles
}

// IsCell says that an element is a cell.
func IsCell(n *html.Node) bool { return n.DataAtom == atom.Td || n.DataAtom == atom.Th }

// IsRow says that an element is a row.
func IsRow(n *html.Node) bool { return n.DataAtom == atom.Tr }

// IsCaption says that an element is a table's caption.
func IsCaption(n *html.Node) bool { return n.DataAtom == atom.Caption }

// IsPart says that an element is a part of a table.
func IsPart(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Col, atom.Colgroup:
		return true
	}
	return false
}

// Of looks through a table once.
func Of(table *html.Node) (s Survey) {
	var head, foot []*html.Node
	for n := facts.Following(table, table); n != nil; {
		if n.Type != html.ElementNode {
			n = facts.Following(table, n)
			continue
		}
		if IsPart(n) && facts.Concealed(n) {
			n = facts.Skipping(table, n)
			continue
		}
		switch n.DataAtom {
		case atom.Tr:
			switch section := n.Parent; {
			case section != nil && section.DataAtom == atom.Thead:
				head = append(head, n)
			case section != nil && section.DataAtom == atom.Tfoot:
				foot = append(foot, n)
			default:
				s.Rows = append(s.Rows, n)
			}
			s.surveyRow(n)
		case atom.Caption:
			s.Captions = append(s.Captions, n)
			n = facts.Skipping(table, n)
			continue
		case atom.Table:
			s.Nested = true
			n = facts.Skipping(table, n)
			continue
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr:
			s.headings = true
		case atom.P, atom.Div, atom.Ul, atom.Ol, atom.Blockquote, atom.Dl, atom.Center:
			s.blocks = true
		case atom.Pre, atom.Nav, atom.Form, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Aside, atom.Section, atom.Iframe,
			atom.Fieldset, atom.Textarea:
			s.sections = true
		case atom.A, atom.Img, atom.Input, atom.Select, atom.Button:
			s.active = true
		case atom.Script, atom.Style, atom.Template:
			n = facts.Skipping(table, n)
			continue
		}
		n = facts.Following(table, n)
	}
	s.Header = len(head) > 0
	if !s.Header && len(s.Rows) > 0 {
		s.Header = headerRow(s.Rows[0]) || len(s.Rows) > 1 && boldRow(s.Rows[0]) && !boldRow(s.Rows[1])
	}
	s.Rows = append(append(head, s.Rows...), foot...)
	return s
}

// surveyRow counts the cells of one row, and knows code by the numbers beside it.
func (s *Survey) surveyRow(tr *html.Node) {
	n := 0
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Th:
			s.heads++
		case atom.Td:
			s.cells++
			s.Code = s.Code || numbersLines(c)
		default:
			continue
		}
		n++
	}
	s.widest = max(s.widest, n)
}

// numbersLines says that a cell holds the numbers of the lines beside it.
func numbersLines(td *html.Node) bool {
	class, ok := facts.Attribute(td, "class")
	if !ok || facts.ClassFlags(class)&(facts.Gutter|facts.MaybeGutter) == 0 {
		return false
	}
	text := facts.ShortText(td)
	if text == "" {
		_, ok = facts.Attribute(td, "data-line-number")
		return ok
	}
	return facts.Digits(text)
}

// boldRow says that a row is a header by its looks: two cells or more, and all of each is bold.
func boldRow(tr *html.Node) bool {
	cells := 0
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		if !IsCell(c) {
			continue
		}
		if cells++; !bold(c) {
			return false
		}
	}
	return cells > 1
}

// bold says that all that a cell shows is in one bold element.
func bold(cell *html.Node) bool {
	const deep = 4 // td > p > span > b
	n := cell
	for range deep {
		c := facts.FirstShown(n)
		if c == nil {
			return false
		}
		for next := c.NextSibling; next != nil; next = next.NextSibling {
			if !facts.Blank(next) {
				return false
			}
		}
		switch c.DataAtom {
		case atom.B, atom.Strong:
			return true
		case atom.P, atom.Span, atom.Font, atom.Div, atom.Center:
			n = c
		default:
			return false
		}
	}
	return false
}

// headerRow says that a row names the columns: header cells only, an empty corner aside.
func headerRow(tr *html.Node) bool {
	heads := 0
	for c := tr.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Th:
			heads++
		case atom.Td:
			if heads > 0 || facts.ShortText(c) != "" {
				return false
			}
		}
	}
	return heads > 0
}

// Layout says that the table only lays out what is in it.
func (s *Survey) Layout(role string) bool {
	switch strings.ToLower(role) {
	case "presentation", "none":
		return true
	case "table", "grid", "treegrid":
		return false
	}
	if s.heads > 0 || len(s.Captions) > 0 {
		return s.cells+s.heads == 1 || s.sections && s.heads == 0
	}
	switch {
	case s.headings, s.Nested, s.sections, s.cells <= 1:
		return true
	case s.widest == 1:
		return s.blocks
	}
	return len(s.Rows) == 1 && (s.blocks || s.active)
}

// Alone says that at most one cell holds something. It is asked of tables that hold others: to write them and then once more
// as blocks would take twice as long at every level.
func (s *Survey) Alone() bool {
	holding := 0
	for _, tr := range s.Rows {
		for c := tr.FirstChild; c != nil && holding < 2; c = c.NextSibling {
			if IsCell(c) && holds(c) {
				holding++
			}
		}
	}
	return holding < 2
}

// holds says that a cell holds text or a picture, or so much that it may.
func holds(cell *html.Node) bool {
	const look = 64 // nodes
	n := facts.Following(cell, cell)
	for range look {
		if n == nil {
			return false
		}
		switch n.DataAtom {
		case atom.Title, atom.Script, atom.Style, atom.Template, atom.Head:
			n = facts.Skipping(cell, n)
			continue
		case atom.Img, atom.Picture, atom.Video, atom.Audio, atom.Iframe, atom.Input, atom.Math:
			return true
		}
		if n.Type == html.TextNode && !facts.Empty(n.Data) {
			return true
		}
		n = facts.Following(cell, n)
	}
	return true
}
