// Forms: labels, options and what is in text areas are text of the page. What a browser would send along unseen, or
// hides while it is typed, is not.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// input writes what an input shows: a task's box, a button's words, a value that stands in a text field.
func (r *renderer) input(n *html.Node) {
	kind, _ := attribute(n, "type")
	value, _ := attribute(n, "value")
	switch strings.ToLower(kind) {
	case "checkbox":
		if r.list == nil || r.open || len(r.markers) == 0 || r.list.from != len(r.out) {
			return
		}
		box := "[ ] "
		if _, checked := attribute(n, "checked"); checked {
			box = "[x] "
		}
		r.lead += box
	case "submit", "button", "reset", "text", "search", "email", "url", "number", "date", "time", "month", "week", "datetime-local", "":
		if strings.TrimSpace(value) != "" && !copyWords(strings.ToLower(strings.TrimSpace(value))) {
			r.part()
			r.text(value)
			r.part()
		}
	case "image":
		alt, _ := attribute(n, "alt")
		r.part()
		r.text(alt)
		r.part()
	}
}

// choice writes the options of a select, parted by commas; a group's name stands before its options.
func (r *renderer) choice(n *html.Node) {
	r.part()
	first := true
	r.options(n, &first)
	r.part()
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
		t := traitsOf(c)
		if s := stylesOf(t.style); r.hides(c, &t, s) {
			continue
		}
		switch c.DataAtom {
		case atom.Option:
			if text := strings.TrimSpace(plainText(c)); text != "" {
				r.option(text, first)
			} else if label, _ := attribute(c, "label"); label != "" {
				r.option(label, first)
			}
		case atom.Optgroup:
			if label, _ := attribute(c, "label"); label != "" {
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
	if !*first {
		r.out = append(r.out, ',')
	}
	*first = false
	r.space = true
	r.text(text)
}

// textarea writes what stands in a text area, line by line.
func (r *renderer) textarea(n *html.Node) {
	r.breakLeaf(1)
	keep := r.keepLines
	r.keepLines = true
	r.children(n)
	r.keepLines = keep
	r.breakLeaf(1)
}
