// Package notelabel takes a note's own label off the text that begins with it, where Markdown writes it already.
package notelabel

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Cut takes a label, with brackets or a sign after it, off the start of a note's first text. alone says that nothing more is
// in that text: the sign may begin the next one, for [AfterAlone].
func Cut(label, s string) (rest string, alone bool) {
	text := strings.TrimLeftFunc(s, leading)
	bracket := text != "" && (text[0] == '[' || text[0] == '(')
	if bracket {
		text = text[1:]
	}
	rest, ok := strings.CutPrefix(text, label)
	switch {
	case !ok:
		return s, false
	case bracket && (rest == "" || rest[0] != ']' && rest[0] != ')'):
		return s, false
	case bracket:
		return rest[1:], false
	}
	rest = strings.TrimLeftFunc(rest, facts.LeftOut)
	if rest == "" {
		return "", true
	}
	if strings.IndexByte(".:)", rest[0]) >= 0 {
		rest = strings.TrimLeftFunc(rest[1:], facts.LeftOut)
	}
	if rest != "" && strings.IndexByte(" \t\n\r", rest[0]) < 0 && !sign(label) {
		return s, false
	}
	return rest, false
}

// Only says that a piece of Markdown, which may be a definition, holds a note's label and nothing else: a note that says nothing.
func Only(label, line string) bool {
	line = strings.TrimSpace(line)
	if _, after, ok := strings.Cut(line, "]:"); ok && strings.HasPrefix(line, "[^") {
		line = after
	}
	return strings.Trim(line, "[]()*_.:\\ \n") == label
}

// Starts says that a text begins with the label and nothing before it; after is what comes then.
func Starts(label, s string) (after string, ok bool) {
	after, ok = strings.CutPrefix(strings.TrimLeftFunc(s, leading), label)
	return strings.TrimLeftFunc(after, facts.LeftOut), ok
}

// leading are what a label may stand after: blanks, and what is unseen.
func leading(c rune) bool { return strings.ContainsRune(" \t\n\r\f", c) || facts.LeftOut(c) }

// sign says that a label is a sign such as an asterisk or a dagger, after which a word may follow at once.
func sign(label string) bool {
	c, _ := utf8.DecodeLastRuneInString(label)
	return !unicode.IsLetter(c) && !unicode.IsDigit(c)
}

// Arrow says that the text of a link is a sign for the way back.
func Arrow(text string) bool {
	switch text {
	case "↩", "↑", "⏎", "^", "↵", "⤴", "⇑", "▲":
		return true
	}
	return false
}

// Element says that n is of the kind that a note's label may stand in by itself.
func Element(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Span, atom.Sup, atom.B, atom.Strong, atom.Small, atom.Em, atom.I:
		return true
	}
	return false
}

// LeadsBack says that the words of a link in a note are those of the way back to the text.
func LeadsBack(words string) bool {
	switch strings.ToLower(strings.Trim(words, " .↩↑^\ufe0e\ufe0f")) {
	case "back", "return", "go back", "jump back", "jump up", "back to text", "return to text", "back to article", "return to article",
		"back to content", "back to top", "zurück", "retour", "volver", "torna":
		return true
	}
	return false
}

// AfterAlone takes the sign off a text that goes on after a label which stood alone. Before a number that goes on it was no
// label, and comes back.
func AfterAlone(label, s string) string {
	switch {
	case s == "" || strings.IndexByte(".,:)", s[0]) < 0:
		return s
	case len(s) > 1 && '0' <= s[1] && s[1] <= '9':
		return label + s
	case s[0] == ',' || len(s) > 1 && strings.IndexByte(" \t\n\r", s[1]) < 0:
		return s
	}
	return s[1:]
}

// Closes says that a text begins with the sign that closes the brackets which another text opens, and nothing else: then
// what stands between is a label's place. rest is what comes after.
func Closes(open, s string) (rest string, ok bool) {
	s = strings.TrimLeftFunc(s, leading)
	switch strings.TrimSpace(open) {
	case "[":
		return strings.CutPrefix(s, "]")
	case "(":
		return strings.CutPrefix(s, ")")
	}
	return "", false
}
