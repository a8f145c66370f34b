// Raised and lowered text, quotations and ruby: what plain characters have to tell.

package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// raised writes sup. A power that loses its mark would be another number.
func (r *renderer) raised(n *html.Node, t *facts.Traits) {
	text := facts.ShortText(n)
	switch {
	case text == "":
		r.children(n)
		return
	case t.Is(facts.EditLink) && control(n, t):
		return
	case r.label != "" && !r.w.Open() && strings.Trim(text, "[]()") == r.label && !r.keepsLink(n):
		r.label = "" // a note's own label
		return
	case r.keepsLink(n), bracketed(text), ordinal(text):
		r.children(n)
		return
	}
	if simple(text) {
		r.w.Raw("^")
		r.w.Text(text)
		return
	}
	r.w.Raw("^(")
	r.children(n)
	r.w.Attach(")")
}

// keepsLink says that n holds a link that will be written, or a reference to a note.
func (r *renderer) keepsLink(n *html.Node) bool {
	a := facts.Find(n, atom.A, 8)
	if a == nil {
		return false
	}
	href, ok := facts.Attribute(a, "href")
	if !ok {
		return false
	}
	if _, note := r.noteLabel(href); note {
		return true
	}
	url := r.base.Resolve(href)
	return !address.Inert(url) && !r.base.SamePage(url)
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
	text := facts.ShortText(n)
	last, _ := utf8.DecodeLastRune(r.w.Line())
	within := !r.w.SpaceDue() && (unicode.IsLetter(last) || unicode.IsDigit(last))
	switch {
	case text == "" || !within || bracketed(text) || formula(r.w.Line()) && facts.Digits(text) || r.keepsLink(n):
		r.children(n)
	case simple(text):
		r.w.Raw("_")
		r.w.Text(text)
	default:
		r.w.Raw("_(")
		r.children(n)
		r.w.Attach(")")
	}
}

// formula says that a line ends like a chemical formula: H, Ca, OH.
func formula(line []byte) bool {
	c, size := utf8.DecodeLastRune(line)
	if unicode.IsUpper(c) {
		return true
	}
	before, _ := utf8.DecodeLastRune(line[:len(line)-size])
	return unicode.IsLower(c) && unicode.IsUpper(before)
}

// quotation writes q with its quotation marks, the inner ones single.
func (r *renderer) quotation(n *html.Node) {
	open, shut := "“", "”"
	if r.quotes%2 == 1 {
		open, shut = "‘", "’"
	}
	r.quotes++
	r.w.Raw(open)
	r.children(n)
	r.w.Attach(shut)
	r.quotes--
}

// ruby writes the reading of ruby text, in brackets after it.
func (r *renderer) ruby(n *html.Node) {
	if facts.ShortText(n) == "" {
		return
	}
	r.w.Attach("(")
	r.children(n)
	r.w.Attach(")")
}
