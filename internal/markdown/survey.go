// The survey: what has to be known of the whole page before its first word is written.

package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// page is what the survey found.
type page struct {
	base    address.Base
	size    int              // bytes to make room for
	shadows bool             // some element has a shadow tree
	notes   map[string]*note // by the id that references lead to
	noteAt  map[*html.Node]*note
}

// note is a footnote that references lead to.
type note struct {
	label             string
	placed            bool // the block that holds it was found, after the first reference
	referred, defined bool // a reference to it is written; it is
}

// survey visits every node once.
func (r *renderer) survey(root *html.Node, pageURL string) {
	r.base = address.New(pageURL)
	rebased := false
	text := 0
	labels := map[string]int(nil)
	for n := root; n != nil; {
		if r.steps++; r.steps%128 == 0 {
			if r.err = r.ctx.Err(); r.err != nil {
				return
			}
		}
		if n.Type == html.TextNode {
			text += len(n.Data)
		}
		switch n.DataAtom {
		case atom.Base:
			if href, ok := facts.Attribute(n, "href"); ok && !rebased {
				r.base, rebased = r.base.Rebased(href), true
			}
		case atom.Script, atom.Style:
			text -= textBytes(n)
		case atom.Template:
			if shadowRoot(n) {
				r.shadows = true
			} else {
				n = facts.Skipping(root, n)
				continue
			}
		case atom.A:
			if id := referenceTarget(n); id != "" {
				if labels == nil {
					labels = map[string]int{}
					r.notes = map[string]*note{}
				}
				if r.notes[id] == nil {
					r.notes[id] = &note{label: newLabel(n, labels)}
				}
			}
		}
		if len(r.notes) > 0 && len(n.Attr) > 0 && n.Type == html.ElementNode {
			r.placeNote(n)
		}
		n = facts.Following(root, n)
	}
	const marks = 8 // markup adds about an eighth
	r.size = text + text/marks + 64
}

func textBytes(n *html.Node) int {
	total := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		total += len(c.Data)
	}
	return total
}

// referenceTarget is the id that a footnote reference leads to; empty for any other link.
func referenceTarget(a *html.Node) string {
	href, role := "", ""
	var f facts.Flags
	for i := range a.Attr {
		switch a.Attr[i].Key {
		case "href":
			href = a.Attr[i].Val
		case "role":
			role = a.Attr[i].Val
		case "class":
			f |= facts.ClassFlags(a.Attr[i].Val)
		case "epub:type":
			if a.Attr[i].Val == "noteref" {
				f |= facts.NoteRef
			}
		}
	}
	if len(href) < 2 || href[0] != '#' {
		return ""
	}
	raised := a.Parent != nil && a.Parent.DataAtom == atom.Sup
	if c := facts.FirstShown(a); c != nil && c.DataAtom == atom.Sup && c.NextSibling == nil {
		raised = true
	}
	const longest = 32 // bytes; more are words of the text that lead to a note
	if len(facts.ShortText(a)) > longest {
		return ""
	}
	if role == "doc-backlink" || f&facts.NoteBack != 0 || !raised && role != "doc-noteref" && f&facts.NoteRef == 0 {
		return ""
	}
	return href[1:]
}

// newLabel is the label of the note that a reference leads to: the reference's own words where they can be one, with a
// number after them where they are taken.
func newLabel(a *html.Node, taken map[string]int) string {
	label := strings.Trim(facts.ShortText(a), "[]() \u00a0")
	if len(label) == 0 || len(label) > 16 || strings.IndexFunc(label, notInLabel) >= 0 {
		label = "n"
	}
	unique := label
	for taken[unique] > 0 || unique == "n" {
		taken[label]++
		unique = label + "-" + strconv.Itoa(taken[label])
	}
	taken[unique]++
	return unique
}

func notInLabel(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
}

// placeNote remembers n, or the block that it begins, as the note whose id it bears.
func (r *renderer) placeNote(n *html.Node) {
	id := ""
	var found *note
	for i := range n.Attr {
		if key := n.Attr[i].Key; key == "id" || key == "name" {
			id = n.Attr[i].Val
			if found = r.notes[id]; found != nil {
				break
			}
		}
	}
	if found == nil || found.placed {
		return
	}
	n = noteBlock(n)
	if n == nil || !standsFree(n) {
		return
	}
	if other := r.noteAt[n]; other != nil {
		r.notes[id] = other // two ids in one note
		return
	}
	if r.noteAt == nil {
		r.noteAt = map[*html.Node]*note{}
	}
	found.placed = true
	r.noteAt[n] = found
}

// noteBlock is the block that a note's id stands for: the element itself, or what it is the beginning of.
func noteBlock(n *html.Node) *html.Node {
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
		if p == nil || facts.FirstShown(p) != n || !inline && p.DataAtom != atom.Li {
			if inline {
				return nil
			}
			return n
		}
		n = p
	}
	return nil
}

// standsFree says that n is in no quote, item or cell, where a note cannot stand.
func standsFree(n *html.Node) bool {
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
