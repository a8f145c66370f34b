package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/pagetext"
)

// What strangers chose and may stand outside the wrapper: an address, cut, and names, in quotation marks. Everything else
// there is our own words.

const (
	// QuotedChars is the most characters of a name.
	QuotedChars = 80
	// MaxLineBytes is the most bytes of a note or of a line of an error.
	MaxLineBytes = 400
)

// URL gives an address as one word of at most limit characters, the last of them … where it was cut. What no
// canonical URL holds is percent-encoded, so a Source that gives another spelling cannot write words.
func URL(address string, limit int) string {
	if strings.IndexFunc(address, func(r rune) bool { return !plainURL(r) }) >= 0 {
		var b strings.Builder
		for i := range len(address) {
			if c := address[i]; plainURL(rune(c)) {
				b.WriteByte(c)
			} else {
				b.WriteString("%" + string(upperHex[c>>4]) + string(upperHex[c&15]))
			}
		}
		address = b.String()
	}
	if Escape(address) != address { // spelled with references: &lt;/…
		address = strings.ReplaceAll(address, "&", "%26")
	}
	if len(address) > limit {
		address = address[:limit-1] + "…"
	}
	return address
}

const upperHex = "0123456789ABCDEF"

// plainURL tells the characters of a canonical URL.
func plainURL(r rune) bool {
	return '!' <= r && r <= '~' && r != '<' && r != '>' && r != '"' && r != '`' && r != '\\'
}

// Quote is the one way for a name that a page, server or caller chose to stand outside the wrapper: on one line,
// without control and format characters, at most 80 characters, in quotation marks.
func Quote(name string) string { return `"` + nameQuotes.Replace(Plain(name)) + `"` }

var nameQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Plain is a name without quotation marks, for where it is a value of its own.
func Plain(name string) string {
	var b strings.Builder
	chars, blank := 0, false
	for _, r := range name {
		switch {
		case unicode.IsSpace(r):
			blank = chars > 0
			continue
		case unprinted(r):
			continue
		}
		if blank {
			b.WriteByte(' ')
			chars++
			blank = false
		}
		b.WriteRune(r)
		if chars++; chars > QuotedChars {
			break
		}
	}
	return Escape(cutChars(b.String(), QuotedChars))
}

// unprinted tells the characters that leave no mark of their own on a line.
func unprinted(r rune) bool {
	return unicode.IsControl(r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// cutChars keeps at most limit characters of s, the last of them … where it was cut.
func cutChars(s string, limit int) string {
	if end := pagetext.Index(s, limit); end == len(s) {
		return s
	}
	return s[:pagetext.Index(s, limit-1)] + "…"
}

// Line makes a sentence of ours fit to stand on a line of its own, whatever a name in it holds: no line breaks or
// controls, at most MaxLineBytes.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unprinted(r):
			return -1
		}
		return r
	}, s)
	s = Escape(s)
	if len(s) <= MaxLineBytes {
		return s
	}
	end := MaxLineBytes - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
