// Controls that are no content: edit links and copy buttons, known by their class or by their words.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// control says that an element flagged as an edit link or a copy button is one: it is short, and a button or named
// like one.
func control(n *html.Node, t *facts.Traits) bool {
	text := strings.ToLower(facts.ShortText(n))
	if t.Is(facts.EditLink) {
		return len(text) < 40
	}
	return n.DataAtom == atom.Button || t.Role == "button" || text == "" || copies(text)
}

// copies says that a short text, in lower case, is a copy button's.
func copies(text string) bool {
	first, rest, _ := strings.Cut(strings.TrimRight(text, "!. "), " ")
	second, _, _ := strings.Cut(rest, " ")
	switch first {
	case "copied":
		return len(text) < 32
	case "copy":
		switch second {
		case "", "code", "to", "snippet", "link", "url", "text", "command", "page", "as", "this", "the", "item", "path", "markdown":
			return len(text) < 32
		}
	}
	return false
}

// edits says that a short text is that of a link to a page's source.
func edits(text string) bool {
	switch strings.ToLower(text) {
	case "edit this page", "edit this page on github", "edit on github", "edit on gitlab", "edit page", "edit source", "improve this page",
		"suggest an edit", "suggest edits":
		return true
	}
	return false
}

// button writes a button, unless it copies.
func (r *renderer) button(n *html.Node, t *facts.Traits) {
	name := t.Label
	if name == "" {
		name, _ = facts.Attribute(n, "title")
	}
	text := strings.ToLower(facts.ShortText(n))
	if t.Is(facts.CopyButton) || copies(text) || text == "" && copies(strings.ToLower(name)) {
		return
	}
	r.apart(n)
}
