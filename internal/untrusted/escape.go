// Package untrusted keeps what a page, a server or a vendor wrote from being read as ours: inside the wrapper by
// escaping its tags, outside it by letting only names and addresses through, and those cut down.
//
// The one rule: text that strangers chose stands inside the wrapper, or went through Quote, Plain, Line or URL.
package untrusted

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wayleave/wayleave/internal/pagetext"
)

// The wrapper's tags, and how a page is kept from writing them. A page may spell a tag so that our own search would
// not find it and a model would still read it; so the search is done on folded text: compatibility forms and letters that
// look the same become plain ones, characters that are not seen are left out, and the words may stand apart in any way. What is shown stays as it
// was, but for the one character that opens the tag.
//
// OpenTag and CloseTag stand on lines of their own around a body that went through Escape.
const (
	OpenTag  = "<untrusted_web_content>"
	CloseTag = "</untrusted_web_content>"
)

// tagName is the name as folded text has it, without what stands between its words; two words end before wordEnds.
const tagName = "untrustedwebcontent"

var wordEnds = [len(tagName)]bool{9: true, 12: true}

// Escape writes &lt; for every < that opens a spelling of one of the tags, and &amp; for an & with which such a <
// is spelled. It takes time in proportion to the text: no two openers look at the same byte, since looking ends at
// the next opener.
func Escape(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !mayOpen[s[i]] || !opensWith(s, i) {
			i++
			continue
		}
		o := openerAt(s, i)
		if o.size == 0 || !nameFollows(s[o.end:]) {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(o.escaped)
		done = i + o.size
		i = done
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// mayOpen are the first bytes of the characters that openerAt knows: most of a text is passed with one look-up a byte.
var mayOpen = [256]bool{'<': true, '&': true, 0xCB: true, 0xE1: true, 0xE2: true, 0xE3: true, 0xEF: true}

// opensWith looks at one more byte, which spares most tags of HTML and most references the full look.
func opensWith(s string, i int) bool {
	if i+1 == len(s) {
		return false
	}
	switch next := s[i+1]; s[i] {
	case '<':
		return !isLetter(rune(next)) || next|0x20 == tagName[0]
	case '&': // the names of the signs that open a tag begin with l or n, in some case
		return !isLetter(rune(next)) || next|0x20 == 'l' || next|0x20 == 'n'
	}
	return true
}

// opener is a character that begins a tag: size bytes that are written as escaped, and the byte after the whole
// spelling. No size: there is none.
type opener struct {
	size    int
	end     int
	escaped string
}

func openerAt(s string, i int) opener {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case isLess(r):
		return opener{size, i + size, "&lt;"}
	case isAmpersand(r):
		if spelled, width := reference(s[i:]); isLess(spelled) {
			return opener{size, i + width, "&amp;"}
		}
	}
	return opener{}
}

// isLess tells the less-than sign and what looks like it.
func isLess(r rune) bool {
	switch r {
	case '<', '\uFF1C', '\uFE64', // its full-width and small forms
		'\u226E',                     // with a stroke, which folds away as a mark
		'\u2039', '\u02C2', '\u1438', // quotation mark, modifier letter, syllabics pa
		'\u2329', '\u3008', '\u27E8', '\uFE3F', // angle brackets
		'\u276C', '\u276E', '\u2770': // ornaments
		return true
	}
	return false
}

// isAmpersand tells the ampersand and its full-width and small forms.
func isAmpersand(r rune) bool { return r == '&' || r == '\uFF06' || r == '\uFE60' }

// isSlash tells what may stand for the slash of a closing tag.
func isSlash(r rune) bool {
	switch r {
	case '/', '\\', '\u2044', '\u2215', '\u2216', '\u29F5', '\u29F8', '\u2571', '\u2572':
		return true
	}
	return false
}

// joins tells what may stand between two words of the name: blanks, dashes, low lines, and what Markdown puts before
// them.
func joins(r rune) bool {
	switch r {
	case '_', '-', '\\', '.', '\u2212', '\u02CD':
		return true
	}
	return unicode.IsSpace(r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Pd, unicode.Pc)
}

// nameFollows tells whether s, once folded, begins with white space and slashes in any number and then the name.
func nameFollows(s string) bool {
	matched := 0 // letters of tagName
	for len(s) > 0 && matched < len(tagName) {
		r, size := utf8.DecodeRuneInString(s)
		if isAmpersand(r) {
			if r, size = reference(s); size == 0 {
				return false
			}
		}
		var form []byte // r decomposed, where it can be
		if r >= utf8.RuneSelf {
			form = norm.NFKD.PropertiesString(string(r)).Decomposition()
		}
		if form == nil && !takes(&matched, r) {
			return false
		}
		for len(form) > 0 && matched < len(tagName) {
			part, width := utf8.DecodeRune(form)
			if !takes(&matched, part) {
				return false
			}
			form = form[width:]
		}
		s = s[size:]
	}
	return matched == len(tagName)
}

// takes tells whether r may come after so many matched letters of the name, and counts it if it is the next.
func takes(matched *int, r rune) bool {
	switch n := *matched; {
	case pagetext.FoldCase(r) == rune(tagName[n]), lookalike(unicode.ToLower(r)) == rune(tagName[n]):
		*matched++
		return true
	case n == 0:
		return unicode.IsSpace(r) || isSlash(r) || unseen(r) || decorates(r)
	default:
		return unseen(r) || decorates(r) || wordEnds[n] && joins(r)
	}
}

// decorates tells what Markdown writes around words, and so within one of which a page makes a part bold: a reader
// looks past it.
func decorates(r rune) bool { return r == '*' || r == '`' || r == '~' }

// unseen tells the characters that change nothing that a reader would name: controls, format characters, marks on
// another character, and what Unicode calls default ignorable.
func unseen(r rune) bool {
	if unicode.IsControl(r) {
		return !unicode.IsSpace(r)
	}
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// longestReference is the longest name of a character reference that is looked up; HTML's longest has 31 letters.
const longestReference = 32

// reference reads the character reference with which s begins, past unseen characters and full-width forms like
// everything else, and its width in bytes; width 0: it is none. The first character of s is an ampersand. Of names
// without a semicolon only lt is known, since it opens a tag.
func reference(s string) (r rune, width int) {
	name := make([]byte, 0, longestReference)
	ltEnd := 0           // after "&lt"
	number, base := 0, 0 // of a numeric reference; base 0: it is none
	_, i := utf8.DecodeRuneInString(s)
	for i < len(s) {
		c, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if unseen(c) {
			continue
		}
		if '\uFF01' <= c && c <= '\uFF5E' {
			c += '!' - '\uFF01'
		}
		digit := digitValue(c)
		switch {
		case c == ';' && base == 0:
			return named(string(name)), i
		case c == ';':
			return rune(number), i
		case c == '#' && base == 0 && len(name) == 0:
			base = 10
		case c|0x20 == 'x' && base == 10 && number == 0:
			base = 16
		case digit < base:
			number = min(number*base+digit, unicode.MaxRune)
		case base > 0:
			return rune(number), i - size
		case len(name) == longestReference || digit == noDigit && !isLetter(c):
			return lessAt(ltEnd)
		default:
			name = append(name, byte(c))
			if strings.EqualFold(string(name), "lt") {
				ltEnd = i
			}
		}
	}
	if base > 0 {
		return rune(number), len(s)
	}
	return lessAt(ltEnd)
}

func lessAt(end int) (rune, int) {
	if end == 0 {
		return 0, 0
	}
	return '<', end
}

const noDigit = 99

// digitValue is the value of a decimal or hexadecimal digit, or noDigit.
func digitValue(c rune) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return noDigit
}

func isLetter(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// named is the character of a named reference, or 0. Letter case does not count for lt alone, which opens a tag.
func named(name string) rune {
	if strings.EqualFold(name, "lt") {
		return '<'
	}
	spelled := "&" + name + ";"
	text := html.UnescapeString(spelled)
	if text == spelled {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r
}
