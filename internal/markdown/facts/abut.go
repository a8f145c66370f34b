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
// means that: two times, two years, several words and a capital in what is beside them, a name and its measure, a price. Two
// single words may be one.
func Melts(b *html.Node) bool {
	a := b.PrevSibling
	if a == nil || a.Type != html.ElementNode || !mayMelt(a) || !mayMelt(b) {
		return false
	}
	last, first := edge(a, false), edge(b, true)
	if priced(a, last, first, b) {
		return true
	}
	if !wordRune(last) || !wordRune(first) {
		return false
	}
	switch {
	case a.DataAtom == atom.Time && b.DataAtom == atom.Time:
		return true
	case a.DataAtom == atom.A && b.DataAtom == atom.A && leads(a) && leads(b):
		return false
	case unicode.IsDigit(last) && unicode.IsDigit(first):
		return a.DataAtom == atom.Span && b.DataAtom == atom.Span && year(a) && year(b)
	}
	if unicode.IsDigit(first) && unicode.IsLetter(last) && (severalWords(b) || cents(ShortText(b))) && letters(a) >= fewLetters {
		return true
	}
	return unicode.IsUpper(first) && (unicode.IsLower(last) || unicode.IsDigit(last)) && (severalWords(a) || severalWords(b))
}

// fewLetters is how many a name has at least; fewer may be a part of what they stand beside.
const fewLetters = 3

// priced says that b begins with an amount of money and that a is a name or another amount.
func priced(a *html.Node, last, first rune, b *html.Node) bool {
	amount := ShortText(a)
	switch {
	case unicode.Is(unicode.Sc, first) && wordRune(last):
		_, size := utf8.DecodeRuneInString(ShortText(b))
		rest := strings.TrimLeft(ShortText(b)[size:], " \u00a0")
		return rest != "" && rest[0] >= '0' && rest[0] <= '9' && (letters(a) >= fewLetters || strings.ContainsFunc(amount, unicode.IsDigit))
	case unicode.Is(unicode.Sc, last) && unicode.IsDigit(first):
		return strings.ContainsFunc(amount, unicode.IsDigit)
	}
	return false
}

// cents says that a text is a number with two decimals, as prices have.
func cents(s string) bool {
	n := len(s)
	return n >= 4 && (s[n-3] == '.' || s[n-3] == ',') && Digits(s[n-2:]) && Digits(s[:n-3])
}

// letters is how many letters the text of an element has, of its first ones.
func letters(n *html.Node) (count int) {
	for _, c := range ShortText(n) {
		if unicode.IsLetter(c) {
			count++
		}
	}
	return count
}

// leads says that a link leads to another page. Half a word may be such a link, and Markdown tells two of them apart.
func leads(a *html.Node) bool {
	href, has := Attribute(a, "href")
	return has && href != "" && href[0] != '#' && !strings.HasPrefix(strings.ToLower(href), "javascript:")
}

// year says that an element holds four digits and nothing else.
func year(n *html.Node) bool {
	text := ShortText(n)
	return len(text) == 4 && Digits(text) && !strings.Contains(text, " ")
}

// mayMelt says that an element is one that styles set apart. Emphasis is not: half a word may be emphasised.
func mayMelt(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Time, atom.Span, atom.Small, atom.A:
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
