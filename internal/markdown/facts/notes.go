// Footnotes: what leads to one, and the block that one is.

package facts

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ReferenceTarget is the id that a footnote reference leads to; empty for any other link.
func ReferenceTarget(a *html.Node) string {
	href, role := "", ""
	var f Flags
	for i := range a.Attr {
		switch a.Attr[i].Key {
		case "href":
			href = a.Attr[i].Val
		case "role":
			role = a.Attr[i].Val
		case "class":
			f |= ClassFlags(a.Attr[i].Val)
		case "epub:type":
			if a.Attr[i].Val == "noteref" {
				f |= NoteRef
			}
		}
	}
	if len(href) < 2 || href[0] != '#' {
		return ""
	}
	raised := a.Parent != nil && a.Parent.DataAtom == atom.Sup
	if c := FirstShown(a); c != nil && c.DataAtom == atom.Sup && c.NextSibling == nil {
		raised = true
	}
	const longest = 32 // bytes; more are words of the text that lead to a note
	if len(ShortText(a)) > longest {
		return ""
	}
	if role == "doc-backlink" || f&NoteBack != 0 || !raised && role != "doc-noteref" && f&NoteRef == 0 {
		return ""
	}
	return href[1:]
}

// NoteBlock is the block that a note's id stands for: the element itself, or what it is the beginning of.
func NoteBlock(n *html.Node) *html.Node {
	const deep = 3 // li > p > a
	for range deep {
		inline := false
		switch n.DataAtom {
		case atom.Li, atom.Aside:
			return n
		case atom.P, atom.Div:
		case atom.A, atom.Span, atom.Sup, atom.B, atom.Strong:
			inline = true
		default:
			return nil
		}
		p := n.Parent
		if p == nil || FirstShown(p) != n || !inline && p.DataAtom != atom.Li {
			if inline {
				return nil
			}
			return n
		}
		n = p
	}
	return nil
}

// StandsFree says that n is in no quote, item or cell, where a note cannot stand.
func StandsFree(n *html.Node) bool {
	const far = 64 // a note deeper than that stays an ordinary block
	for p, i := n.Parent, 0; p != nil; p, i = p.Parent, i+1 {
		switch p.DataAtom {
		case atom.Li, atom.Blockquote, atom.Td, atom.Th, atom.Dd, atom.Dt, atom.Caption, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			return false
		}
		if i == far {
			return false
		}
	}
	return true
}
