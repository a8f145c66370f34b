// Raised and lowered text, quotations and ruby: what plain characters have to tell.

package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// raised writes sup. A power that loses its mark would be another number.
func (r *renderer) raised(n *html.Node, t *traits) {
	text := shortText(n)
	switch {
	case text == "":
		r.children(n)
		return
	case t.is(editLink) && r.control(n, t):
		return
	case r.label != "" && !r.open && strings.Trim(text, "[]()") == r.label:
		r.label = "" // a note's own label
		return
	case r.keepsLink(n), bracketed(text), ordinal(text):
		r.children(n)
		return
	}
	r.space = r.space && r.open
	r.ready()
	r.out = append(r.out, '^')
	if simple(text) {
		r.text(text)
		return
	}
	r.out = append(r.out, '(')
	r.children(n)
	r.space, r.breaks = false, 0
	r.ready()
	r.out = append(r.out, ')')
}

// keepsLink says that n holds a link that will be written, or a reference to a note.
func (r *renderer) keepsLink(n *html.Node) bool {
	a := find(n, atom.A, 8)
	if a == nil {
		return false
	}
	href, ok := attribute(a, "href")
	if !ok {
		return false
	}
	if _, note := r.noteLabel(href); note {
		return true
	}
	url := r.base.resolve(href)
	return !inert(url) && !r.base.samePage(url)
}

func bracketed(s string) bool {
	return s[0] == '[' && s[len(s)-1] == ']' || s[0] == '(' && s[len(s)-1] == ')'
}

// ordinal says that raised text is only typography: 1st, 2e, N°, a trade mark.
func ordinal(s string) bool {
	switch s {
	case "st", "nd", "rd", "th", "er", "re", "ère", "e", "ème", "è", "o", "a", "os", "as", "ª", "º", "°", "TM", "tm", "SM", "®",
		"(R)", "©", "™", "℠", "*", "†", "‡", "†††", "**", "***":
		return true
	}
	return false
}

// simple says that text needs no brackets to be told as one raised piece.
func simple(s string) bool {
	if len(s) > 16 {
		return false
	}
	for i, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !(i == 0 && (c == '-' || c == '+' || c == '−')) {
			return false
		}
	}
	return true
}

// lowered writes sub: bare in a chemical formula, else after a low line.
func (r *renderer) lowered(n *html.Node) {
	text := shortText(n)
	if text == "" || !simple(text) || !r.open || r.space || !wordRune(r.lastRune()) || r.formulaBefore() && digits(text) || r.keepsLink(n) {
		r.children(n)
		return
	}
	r.ready()
	r.out = append(r.out, '_')
	r.text(text)
}

// formulaBefore says that the line ends like a chemical formula: H, Ca, OH.
func (r *renderer) formulaBefore() bool {
	c, size := utf8.DecodeLastRune(r.out[r.lineStart:])
	if unicode.IsUpper(c) {
		return true
	}
	before, _ := utf8.DecodeLastRune(r.out[r.lineStart : len(r.out)-size])
	return unicode.IsLower(c) && unicode.IsUpper(before)
}

func digits(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return s != ""
}

// quotation writes q with its quotation marks, the inner ones single.
func (r *renderer) quotation(n *html.Node) {
	open, shut := "“", "”"
	if r.quotes%2 == 1 {
		open, shut = "‘", "’"
	}
	r.quotes++
	r.ready()
	r.out = append(r.out, open...)
	r.children(n)
	r.space = false
	r.ready()
	r.out = append(r.out, shut...)
	r.quotes--
}

// ruby writes the reading of ruby text, in brackets after it.
func (r *renderer) ruby(n *html.Node) {
	if shortText(n) == "" {
		return
	}
	r.space = false
	r.ready()
	r.out = append(r.out, '(')
	r.children(n)
	r.space = false
	r.ready()
	r.out = append(r.out, ')')
}
