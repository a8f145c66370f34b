// The survey: what has to be known of the whole page before its first word is written.

package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/tex"
)

// page is what the survey found.
type page struct {
	base     address.Base
	size     int              // bytes to make room for
	shadows  bool             // some element has a shadow tree
	typesets tex.Typeset      // what its scripts do with TeX in running text
	notes    map[string]*note // by the id that references lead to
	noteAt   map[*html.Node]*note
}

// note is a footnote that references lead to.
type note struct {
	label    string
	words    string // what its first reference shows: the note may begin with them
	placed   bool   // the block that holds it was found, after the first reference
	referred bool   // a reference to it is written, before it
	begun    bool   // it is being written, or was
	defined  bool   // it is written
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
		case atom.Script:
			text -= textBytes(n)
			if r.typesets < tex.Dollars {
				r.typesets = max(r.typesets, tex.TypesetBy(n))
			}
		case atom.Style:
			text -= textBytes(n)
		case atom.Template:
			if shadowRoot(n) {
				r.shadows = true
			} else {
				n = facts.Skipping(root, n)
				continue
			}
		case atom.A:
			if id := facts.ReferenceTarget(n); id != "" {
				if labels == nil {
					labels = map[string]int{}
					r.notes = map[string]*note{}
				}
				if r.notes[id] == nil {
					r.notes[id] = newNote(n, labels)
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

// newNote is the note that a reference leads to. Its label is the reference's own words where they can be one, with a
// number after them where they are taken.
func newNote(a *html.Node, taken map[string]int) *note {
	label := strings.Trim(facts.ShortText(a), "[]() \u00a0")
	words := label
	if len(label) == 0 || len(label) > 16 || strings.IndexFunc(label, notInLabel) >= 0 {
		label = "n"
	}
	unique := label
	for taken[unique] > 0 || unique == "n" {
		taken[label]++
		unique = label + "-" + strconv.Itoa(taken[label])
	}
	taken[unique]++
	return &note{label: unique, words: words}
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
	n = facts.NoteBlock(n)
	if n == nil || !facts.StandsFree(n) {
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
