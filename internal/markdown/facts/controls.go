// Controls that are no content: edit links and copy buttons, known by their class or by their words.

package facts

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Control says that an element flagged as an edit link or a copy button is one: it is short, and a button or named
// like one.
func Control(n *html.Node, t *Traits) bool {
	text := strings.ToLower(ShortText(n))
	if t.Is(EditLink) {
		return len(text) < 40
	}
	return n.DataAtom == atom.Button || t.Role == "button" || text == "" || Copies(text)
}

// Copies says that a short text, in lower case, is a copy button's.
func Copies(text string) bool {
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

// Edits says that a short text is that of a link to a page's source.
func Edits(text string) bool {
	switch strings.ToLower(text) {
	case "edit this page", "edit this page on github", "edit on github", "edit on gitlab", "edit page", "edit source", "improve this page",
		"suggest an edit", "suggest edits":
		return true
	}
	return false
}
