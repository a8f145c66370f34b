// Footnotes: a reference that leads to a note on the page becomes [^label], the note its definition.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/notelabel"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// noteLabel is the label of the note that an address leads to.
func (r *renderer) noteLabel(href string) (string, bool) {
	if len(r.notes) == 0 || len(href) < 2 || href[0] != '#' {
		return "", false
	}
	note := r.notes[href[1:]]
	if note == nil || !note.placed {
		return "", false
	}
	return note.label, true
}

// noteReference writes an anchor that is a footnote reference.
func (r *renderer) noteReference(a *html.Node, href string) bool {
	label, ok := r.noteLabel(href)
	if !ok || facts.ReferenceTarget(a) == "" {
		return false
	}
	if note := r.notes[href[1:]]; !note.begun {
		note.referred = true
	}
	r.w.NoteReference(label)
	return true
}

// noteDefinition writes n if it is a note that a reference leads to.
func (r *renderer) noteDefinition(n *html.Node) bool {
	if len(r.noteAt) == 0 {
		return false
	}
	note := r.noteAt[n]
	if note == nil || !note.placed || r.w.Flat() || r.w.Depth() > 0 {
		return false
	}
	r.w.Break(2)
	note.begun = true
	r.w.Push(scribe.NoteMarker(note.label))
	if n.DataAtom != atom.Li {
		r.label = note.words
	}
	list, from := r.list, r.w.Len()
	r.list, r.inNote = nil, true
	r.children(n)
	r.w.Break(2)
	said := r.w.Since(from)
	note.defined = len(said) > 0 && (len(said) > shortNote || !notelabel.Only(note.words, string(said)))
	r.list, r.inNote = list, false
	r.label, r.point, r.past, r.rest = "", "", nil, ""
	r.w.Pop(0)
	return true
}

// shortNote is how many bytes a note may have that is looked at for its label alone.
const shortNote = 60

// unpair takes the notes that were written without their reference, and those that were referred to and not written,
// for ordinary text; false if there are none. Either may be hidden, dropped or within code.
func (r *renderer) unpair() (found bool) {
	for _, note := range r.notes {
		if note.placed && (note.referred || note.begun) && !(note.referred && note.defined) {
			note.placed, found = false, true
		}
	}
	return found
}

// labelApart says that a text is the bracket before a note's label, which stands in an element or several of their own,
// such as a link that leads nowhere else. The walk goes on after the closing one then, wherever it stands.
func (r *renderer) labelApart(text *html.Node) bool {
	past, rest := notelabel.Apart(r.label, text, func(n *html.Node) bool { return r.dropped(n) || n.DataAtom == atom.A && r.keepsLink(n) })
	if past == nil {
		return false
	}
	r.label, r.past, r.rest = "", past, rest
	return true
}

// labelElement says that an element which begins a note is no more than the note's label, in brackets or not.
func (r *renderer) labelElement(n *html.Node) bool {
	if !notelabel.Element(n) {
		return false
	}
	text := facts.ShortText(n)
	bare := strings.TrimSpace(strings.Trim(text, "[]().: \u00a0"))
	if bare != r.label || r.w.Open() || r.keepsLink(n) {
		return false
	}
	if r.label = ""; bare == text {
		r.point = bare // which may follow
	}
	return true
}

// onlyReferences says that raised text is references to notes, in brackets or parted by commas: the notes' own brackets do.
func (r *renderer) onlyReferences(sup *html.Node) bool {
	bracketed, found := false, false
	for c := sup.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case facts.Blank(c):
		case c.Type == html.TextNode && strings.Trim(c.Data, "[](), \t\n;") == "":
			bracketed = true
		case c.DataAtom == atom.A && facts.ReferenceTarget(c) != "":
			href, _ := facts.Attribute(c, "href")
			if _, ok := r.noteLabel(href); !ok {
				return false
			}
			found = true
		default:
			return false
		}
	}
	return bracketed && found
}

// backlink says that an anchor only leads back from a note to its reference.
func (r *renderer) backlink(a *html.Node, t *facts.Traits, href string) bool {
	if len(href) == 0 || href[0] != '#' {
		return false
	}
	if t.Is(facts.NoteBack) || t.Role == "doc-backlink" {
		return true
	}
	text := strings.Trim(facts.ShortText(a), "[]() \ufe0e\ufe0f")
	return notelabel.Arrow(text) || r.inNote && notelabel.LeadsBack(text)
}
