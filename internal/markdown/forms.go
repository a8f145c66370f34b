// Forms: labels, options and what is in text areas are text of the page. What a browser would send along unseen, or
// hides while it is typed, is not.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// input writes what an input shows: a task's box, a button's words, a value that stands in a text field.
func (r *renderer) input(n *html.Node) {
	kind, _ := facts.Attribute(n, "type")
	value, _ := facts.Attribute(n, "value")
	switch strings.ToLower(kind) {
	case "checkbox":
		if r.list == nil || r.w.Open() || !r.w.Pending() || r.list.from != r.w.Len() {
			return
		}
		box := "[ ] "
		if _, checked := facts.Attribute(n, "checked"); checked {
			box = "[x] "
		}
		r.w.Lead(box)
	case "submit", "button", "reset", "text", "search", "email", "url", "number", "date", "time", "month", "week", "datetime-local", "":
		if strings.TrimSpace(value) != "" && !facts.Copies(strings.ToLower(strings.TrimSpace(value))) {
			r.w.Space()
			r.w.Text(value)
			r.w.Space()
		}
	case "image":
		alt, _ := facts.Attribute(n, "alt")
		r.w.Space()
		r.w.Text(alt)
		r.w.Space()
	}
}

// choice writes the options of a select, parted by commas; a group's name stands before its options.
func (r *renderer) choice(n *html.Node) {
	r.w.Space()
	first := true
	r.options(n, &first)
	r.w.Space()
}

func (r *renderer) options(n *html.Node, first *bool) {
	if r.depth >= maxDepth {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	for c := n.FirstChild; c != nil && r.err == nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		t := facts.TraitsOf(c)
		if r.hides(c, &t) {
			continue
		}
		switch c.DataAtom {
		case atom.Option:
			if text := strings.TrimSpace(facts.PlainText(c)); text != "" {
				r.option(text, first)
			} else if label, _ := facts.Attribute(c, "label"); label != "" {
				r.option(label, first)
			}
		case atom.Optgroup:
			if label, _ := facts.Attribute(c, "label"); label != "" {
				r.option(label+":", first)
				*first = true
			}
			r.options(c, first)
		case atom.Script, atom.Style, atom.Template:
		default:
			r.options(c, first)
		}
	}
}

func (r *renderer) option(text string, first *bool) {
	if *first {
		r.w.Space()
	} else {
		r.w.Separate(",")
	}
	*first = false
	r.w.Text(text)
}

// textarea writes what stands in a text area, line by line.
func (r *renderer) textarea(n *html.Node) {
	r.w.Break(2)
	keep := r.w.KeepLines(true)
	r.children(n)
	r.w.KeepLines(keep)
	r.w.Break(2)
}

// button writes a button, unless it copies.
func (r *renderer) button(n *html.Node, t *facts.Traits) {
	name := t.Label
	if name == "" {
		name, _ = facts.Attribute(n, "title")
	}
	text := strings.ToLower(facts.ShortText(n))
	if t.Is(facts.CopyButton) || facts.Copies(text) || text == "" && facts.Copies(strings.ToLower(name)) {
		return
	}
	r.apart(n)
}
