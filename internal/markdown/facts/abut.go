// Elements side by side that a page's styles set apart, though nothing stands between them.

package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Melts says that the words of an element and of the one right before it would run into one another, and that no page
// means that: two times, a label of several words and a capital after it.
func Melts(b *html.Node) bool {
	a := b.PrevSibling
	if a == nil || a.Type != html.ElementNode || !mayMelt(a) || !mayMelt(b) {
		return false
	}
	last := edge(a, false)
	if !wordRune(last) {
		return false
	}
	first := edge(b, true)
	if !wordRune(first) {
		return false
	}
	if a.DataAtom == atom.Time && b.DataAtom == atom.Time {
		return true
	}
	return unicode.IsUpper(first) && (unicode.IsLower(last) || unicode.IsDigit(last)) && (severalWords(a) || severalWords(b))
}

// mayMelt says that an element is one that styles set apart. Links and emphasis are not: half a word may be either.
func mayMelt(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Time, atom.Span, atom.Small:
		return true
	}
	return false
}

func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

func severalWords(n *html.Node) bool {
	return strings.ContainsAny(ShortText(n), " \n\t\u00a0")
}

// edge is the first or the last character of n's text, if that begins or ends with text; else a blank.
func edge(n *html.Node, first bool) rune {
	const deep = 8
	for range deep {
		c := n.LastChild
		if first {
			c = n.FirstChild
		}
		for c != nil && c.Type == html.CommentNode {
			if first {
				c = c.NextSibling
			} else {
				c = c.PrevSibling
			}
		}
		switch {
		case c == nil:
			return ' '
		case c.Type == html.TextNode && first:
			r, _ := utf8.DecodeRuneInString(c.Data)
			return r
		case c.Type == html.TextNode:
			r, _ := utf8.DecodeLastRuneInString(c.Data)
			return r
		}
		n = c
	}
	return ' '
}

// Follows says that a word or a bracket comes right after n.
func Follows(n *html.Node) bool {
	next := n.NextSibling
	for next != nil && next.Type == html.CommentNode {
		next = next.NextSibling
	}
	if next == nil {
		return false
	}
	var r rune
	if next.Type == html.TextNode {
		r, _ = utf8.DecodeRuneInString(next.Data)
	} else {
		r = edge(next, true)
	}
	return wordRune(r) || unicode.In(r, unicode.Sc, unicode.Ps)
}
