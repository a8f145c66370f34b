// Small things that belong to what is kept: notes that the text refers to, boxes that items begin with, pictures that are
// items.

package maincontent

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// ruleNotes: a footnote says by its role what it is, wherever it stands.
func (f *finder) ruleNotes(scores []float32) {
	sums, done := f.sumsOf(scores), int32(0)
	for i := range f.elements {
		e := &f.elements[i]
		if e.from < done || e.to == e.from || e.parent < 0 || len(e.node.Attr) == 0 || !isNote(e.node) {
			continue
		}
		done = e.to
		if sums.mean(&f.elements[0]) < leastCut { // nothing refers to it
			continue
		}
		for j := e.from; j < e.to; j++ {
			scores[j] = max(scores[j], 0.9)
		}
	}
}

// isNote says that an element is a footnote, or holds them, by its role or by what e-books call it.
func isNote(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Aside, atom.Section, atom.Div, atom.Li, atom.P, atom.Ol:
	default:
		return false
	}
	said, _ := facts.Attribute(n, "role")
	kind, _ := facts.Attribute(n, "epub:type")
	for word := range strings.FieldsSeq(said + " " + kind) {
		switch word {
		case "doc-footnote", "doc-endnote", "doc-endnotes", "footnote", "footnotes", "endnote", "endnotes", "rearnote", "rearnotes":
			return true
		}
	}
	return false
}

// items keeps the box of an item that is kept, which says whether it is done, and an item that is a picture alone among
// items that are kept.
func (f *finder) items(kept []bool) {
	for i := range kept {
		b := &f.blocks[i]
		if kept[i] || b.letters > 0 {
			continue
		}
		item := f.within(b.owner, tagItem)
		if item < 0 {
			continue
		}
		e := &f.elements[item]
		switch {
		case b.controls > 0:
			kept[i] = int32(i) == e.from && int32(i)+1 < e.to && kept[i+1] && f.boxed(b)
		case b.pictures > 0 && e.to-e.from == 1:
			kept[i] = (f.besides(i-1, e.parent, kept) || f.besides(i+1, e.parent, kept)) && f.spoken(b)
		}
	}
}

// besides says that a block is text that is kept and stands in an item of a list.
func (f *finder) besides(i int, list int32, kept []bool) bool {
	if i < 0 || i >= len(kept) || !kept[i] || f.blocks[i].letters == 0 {
		return false
	}
	item := f.within(f.blocks[i].owner, tagItem)
	return item >= 0 && f.elements[item].parent == list
}

// boxed says that a block is a box to tick.
func (f *finder) boxed(b *block) bool {
	n := f.leaves[b.from]
	kind, _ := facts.Attribute(n, "type")
	return n.DataAtom == atom.Input && strings.EqualFold(kind, "checkbox")
}

// spoken says that a picture has a text.
func (f *finder) spoken(b *block) bool {
	for _, n := range f.leaves[b.from:b.to] {
		if n.DataAtom == atom.Img && strings.TrimSpace(facts.FirstAttribute(n, "alt")) != "" {
			return true
		}
	}
	return false
}
