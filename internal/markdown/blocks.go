// Blocks: headings, quotes, rules, definition lists and the plain containers between them.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
	"github.com/wayleave/wayleave/internal/markdown/tex"
)

// block writes an element whose content stands on lines of its own.
func (r *renderer) block(n *html.Node, t *facts.Traits) {
	if len(n.Attr) > 0 && r.special(n, t) || r.noteDefinition(n) {
		return
	}
	r.w.Break(2)
	if t.Styles&facts.Preserved != 0 {
		keep := r.w.KeepLines(true)
		r.children(n)
		r.w.Break(2)
		r.w.KeepLines(keep)
		return
	}
	r.children(n)
	r.w.Break(2)
}

// special writes an element whose attributes make it something else than its name says; false for an ordinary one.
func (r *renderer) special(n *html.Node, t *facts.Traits) bool {
	switch {
	case t.Role == "heading":
		level, ok := facts.Number(n, "aria-level")
		if !ok {
			level = 2
		}
		r.heading(n, min(max(level, 1), 6))
		return true
	case t.Role == "cell" || t.Role == "gridcell" || t.Role == "columnheader" || t.Role == "rowheader":
		r.apart(n)
		return true
	case t.Is(facts.NoteBack) && len(facts.ShortText(n)) < 40:
		return true
	case t.TeX != "" && r.formula(t.TeX, t.Is(facts.MathDisplay)):
		return true
	case t.Flags == 0:
		return false
	case t.Is(facts.EditLink|facts.CopyButton) && facts.Control(n, t):
		return true
	case t.Is(facts.MathDrawn|facts.MathSource|facts.MathDisplay) && r.drawn(n, t):
		return true
	case t.Is(facts.EditorGutter):
		return true
	case t.Is(facts.CodeLines) && !r.bare && facts.HoldsLines(n):
		r.codeBlock(n)
		return true
	}
	return false
}

func (r *renderer) heading(n *html.Node, level int) {
	if !r.w.BeginHeading(level) {
		r.children(n)
		r.w.Break(0)
		return
	}
	r.inHeading = true
	r.children(n)
	r.inHeading = false
	r.w.EndHeading()
}

func (r *renderer) quote(n *html.Node) {
	if r.w.Flat() {
		r.w.Break(0)
		r.children(n)
		r.w.Break(0)
		return
	}
	r.w.Break(2)
	depth := r.w.Depth()
	r.w.Push("> ", "> ")
	list := r.list
	r.list = nil
	r.children(n)
	r.w.Break(2)
	r.list = list
	r.w.Pop(depth)
}

// term writes dt: a paragraph. The definitions follow as a list under it.
func (r *renderer) term(n *html.Node) {
	r.w.Break(2)
	r.children(n)
	if line := r.w.Line(); len(line) > 0 && line[len(line)-1] == ':' && briefDefinition(n) {
		r.w.Space() // "Width: 18 mm"
		r.joined = true
		return
	}
	r.w.Break(2)
	r.termEnd = r.w.Len()
}

// briefDefinition says that the one definition of a term is a few words, which fit into the term's own line.
func briefDefinition(dt *html.Node) bool {
	dd := facts.NextElement(dt)
	if dd == nil || dd.DataAtom != atom.Dd || dd.FirstChild == nil || len(facts.ShortText(dd)) > 40 {
		return false
	}
	if next := facts.NextElement(dd); next != nil && next.DataAtom == atom.Dd {
		return false
	}
	const look = 12 // nodes
	m := facts.Following(dd, dd)
	for i := 0; m != nil; i++ {
		if kind := m.DataAtom; i == look || kind == atom.P || kind == atom.Div || kind == atom.Ul || kind == atom.Ol || kind == atom.Dl ||
			kind == atom.Pre || kind == atom.Table || kind == atom.Blockquote {
			return false
		}
		m = facts.Following(dd, m)
	}
	return true
}

func (r *renderer) definition(n *html.Node) {
	if r.joined {
		r.joined = false
		r.children(n)
		r.w.Break(2)
		return
	}
	r.w.Break(2)
	if r.w.Flat() {
		r.children(n)
		r.w.Break(0)
		return
	}
	if r.termEnd == r.w.Len() {
		r.w.SetGap(1)
	} else {
		r.w.SetGap(2)
	}
	depth := r.w.Depth()
	if c := facts.FirstShown(n); c == nil || c.DataAtom != atom.Ul && c.DataAtom != atom.Ol {
		r.w.Push("  ", "- ") // a list is the definition's items already
	}
	list := r.list
	r.list = nil
	r.children(n)
	r.w.Break(2)
	r.list = list
	r.w.Pop(depth)
	r.w.Break(2)
	r.termEnd = r.w.Len()
}

// generic writes an element without a meaning of its own: span and the like, and those that pages make up.
func (r *renderer) generic(n *html.Node, t *facts.Traits) {
	if len(n.Attr) > 0 && (r.special(n, t) || t.AriaHidden && tex.BesideMath(n)) || n.Data == "clipboard-copy" {
		return
	}
	if t.Styles&facts.DisplayBlock != 0 {
		r.w.Break(2)
		r.styled(n, t.Styles)
		r.w.Break(2)
		return
	}
	if n.Data == "math-renderer" {
		r.typeset = tex.Dollars
	}
	madeUp := n.DataAtom == 0 && strings.IndexByte(n.Data, '-') > 0
	if madeUp && r.amp(n, t) {
		return
	}
	if madeUp {
		r.w.Space() // its style, which is not known here, sets it apart more often than not
	}
	r.styled(n, t.Styles)
	if madeUp {
		r.w.Space()
	}
}

// styled writes what is in an element with the emphasis that its inline style puts on it.
func (r *renderer) styled(n *html.Node, s facts.Styles) {
	open := r.w.Entered()
	if s&facts.Bold != 0 {
		r.w.EnterMark(scribe.Strong)
	}
	if s&facts.Italic != 0 {
		r.w.EnterMark(scribe.Em)
	}
	if s&facts.Struck != 0 {
		r.w.EnterMark(scribe.Del)
	}
	r.children(n)
	for r.w.Entered() > open {
		r.w.Leave()
	}
}

// apart writes an element whose content keeps a blank's distance from what is around it.
func (r *renderer) apart(n *html.Node) {
	r.w.Space()
	r.children(n)
	r.w.Space()
}

// unseen writes an element that is not seen but heard, apart from the words around it.
func (r *renderer) unseen(n *html.Node) {
	r.w.Space()
	r.children(n)
	if facts.Follows(n) {
		r.w.Space()
	}
}

// marked writes an element that emphasises its content.
func (r *renderer) marked(n *html.Node, kind scribe.Mark) {
	r.w.EnterMark(kind)
	r.children(n)
	r.w.Leave()
}

// noscript is content, since no script runs.
func (r *renderer) noscript(n *html.Node) {
	within := r.noScript
	r.noScript = true
	r.children(n)
	r.noScript = within
}
