// Blocks: headings, quotes, rules, definition lists and the plain containers between them.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// block writes an element whose content stands on lines of its own.
func (r *renderer) block(n *html.Node, t *traits, s styles) {
	if len(n.Attr) > 0 && r.special(n, t, s) || r.noteDefinition(n) {
		return
	}
	r.breakLeaf(2)
	keep := r.keepLines
	r.keepLines = keep || s&preserved != 0
	r.children(n)
	r.breakLeaf(2)
	r.keepLines = keep
}

// special writes an element whose attributes make it something else than its name says; false for an ordinary one.
func (r *renderer) special(n *html.Node, t *traits, s styles) bool {
	switch {
	case t.role == "heading":
		level, ok := number(n, "aria-level")
		if !ok {
			level = 2
		}
		r.heading(n, min(max(level, 1), 6))
		return true
	case t.is(noteBack) && len(shortText(n)) < 40:
		return true
	case t.tex != "" && r.formula(t.tex, t.is(mathDisplay)):
		return true
	case t.flags == 0:
		return false
	case t.is(editLink|copyButton) && r.control(n, t):
		return true
	case t.is(mathDrawn|mathSource|mathDisplay) && r.drawn(n, t):
		return true
	}
	return false
}

var hashes = [7]string{"", "# ", "## ", "### ", "#### ", "##### ", "###### "}

func (r *renderer) heading(n *html.Node, level int) {
	if r.flat != inBlock {
		r.breakLeaf(0)
		r.children(n)
		r.breakLeaf(0)
		return
	}
	r.breakLeaf(2)
	r.lead = hashes[level]
	r.flat = inHeading
	r.children(n)
	if r.open {
		r.suspend()
		r.guardClosing()
		r.resolveMarks()
		r.open = false
	}
	r.flat = inBlock
	r.lead = ""
	r.breakLeaf(2)
}

// guardClosing keeps number signs at the end of a heading from being read as its closing sequence.
func (r *renderer) guardClosing() {
	i := len(r.out)
	for i > r.leafStart && r.out[i-1] == '#' {
		i--
	}
	if i < len(r.out) && (i == r.leafStart || r.out[i-1] == ' ') {
		r.insertByte(len(r.out)-1, '\\')
	}
}

func (r *renderer) quote(n *html.Node) {
	if r.flat != inBlock {
		r.breakLeaf(0)
		r.children(n)
		r.breakLeaf(0)
		return
	}
	r.breakLeaf(2)
	depth := len(r.prefix)
	r.push("> ", "> ")
	list := r.list
	r.list = nil
	r.children(n)
	r.breakLeaf(2)
	r.list = list
	r.pop(depth)
}

func (r *renderer) rule() {
	r.breakLeaf(2)
	if r.flat != inBlock {
		return
	}
	// Dashes would be front matter at the very start, and together with an item's marker a rule in place of the item.
	line := "---"
	if len(r.out) == 0 || len(r.markers) > 0 {
		line = "___"
	}
	r.newLine()
	r.out = append(r.out, line...)
	r.gap = 2
}

// term writes dt: a paragraph. The definitions follow as a list under it.
func (r *renderer) term(n *html.Node) {
	r.breakLeaf(2)
	r.children(n)
	if r.open && r.last() == ':' && briefDefinition(n) {
		r.part() // "Width: 18 mm"
		r.joined = true
		return
	}
	r.breakLeaf(1)
	r.termEnd = len(r.out)
}

// briefDefinition says that the one definition of a term is a few words, which fit into the term's own line.
func briefDefinition(dt *html.Node) bool {
	dd := nextElement(dt)
	if dd == nil || dd.DataAtom != atom.Dd || dd.FirstChild == nil || len(shortText(dd)) > 40 {
		return false
	}
	if next := nextElement(dd); next != nil && next.DataAtom == atom.Dd {
		return false
	}
	const look = 12 // nodes
	m := following(dd, dd)
	for i := 0; m != nil; i++ {
		if kind := m.DataAtom; i == look || kind == atom.P || kind == atom.Div || kind == atom.Ul || kind == atom.Ol || kind == atom.Dl ||
			kind == atom.Pre || kind == atom.Table || kind == atom.Blockquote {
			return false
		}
		m = following(dd, m)
	}
	return true
}

func (r *renderer) definition(n *html.Node) {
	if r.joined {
		r.joined = false
		r.children(n)
		r.breakLeaf(2)
		return
	}
	r.breakLeaf(1)
	if r.flat != inBlock {
		r.children(n)
		r.breakLeaf(0)
		return
	}
	if r.termEnd == len(r.out) {
		r.gap = 1
	} else {
		r.gap = 2
	}
	depth := len(r.prefix)
	if c := firstShown(n); c == nil || c.DataAtom != atom.Ul && c.DataAtom != atom.Ol {
		r.push("  ", "- ") // a list is the definition's items already
	}
	list := r.list
	r.list = nil
	r.children(n)
	r.breakLeaf(2)
	r.list = list
	r.pop(depth)
	r.termEnd = len(r.out)
}

// generic writes an element without a meaning of its own: span and the like, and those that pages make up.
func (r *renderer) generic(n *html.Node, t *traits, s styles) {
	if len(n.Attr) > 0 && (r.special(n, t, s) || t.ariaHidden && besideMath(n)) {
		return
	}
	if s&displayBlock != 0 {
		r.breakLeaf(2)
		defer r.breakLeaf(2)
	}
	open := len(r.opens)
	if s&bold != 0 {
		r.enter(inline{kind: strong})
	}
	if s&italic != 0 {
		r.enter(inline{kind: em})
	}
	if s&struck != 0 {
		r.enter(inline{kind: del})
	}
	madeUp := n.DataAtom == 0 && strings.IndexByte(n.Data, '-') > 0
	if madeUp {
		r.part() // its style, which is not known here, sets it apart more often than not
	}
	r.children(n)
	for len(r.opens) > open {
		r.leave()
	}
	if madeUp {
		r.part()
	}
}

// control says that an element flagged as an edit link or a copy button is one: it is short, and a button or named
// like one.
func (r *renderer) control(n *html.Node, t *traits) bool {
	text := strings.ToLower(shortText(n))
	if t.is(editLink) {
		return len(text) < 40
	}
	return n.DataAtom == atom.Button || t.role == "button" || n.Data == "clipboard-copy" || copyWords(text)
}

// copyWords says that a short text is a copy button's.
func copyWords(text string) bool {
	return text == "" || len(text) < 32 && (strings.HasPrefix(text, "copy") || strings.HasPrefix(text, "copied"))
}

func (r *renderer) button(n *html.Node, t *traits) {
	name := strings.ToLower(t.label)
	if name == "" {
		title, _ := attribute(n, "title")
		name = strings.ToLower(title)
	}
	text := strings.ToLower(shortText(n))
	if t.is(copyButton) || copyWords(text) && (text != "" || strings.HasPrefix(name, "copy")) {
		return
	}
	r.apart(n)
}

// apart writes an element whose content keeps a blank's distance from what is around it.
func (r *renderer) apart(n *html.Node) {
	r.part()
	r.children(n)
	r.part()
}

// marked writes an element that emphasises its content.
func (r *renderer) marked(n *html.Node, kind uint8) {
	r.enter(inline{kind: kind})
	r.children(n)
	r.leave()
}

// noscript is content, since no script runs.
func (r *renderer) noscript(n *html.Node) {
	within := r.noScript
	r.noScript = true
	r.children(n)
	r.noScript = within
}
