package webfetch

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What of a page may stand outside the wrapper: its address, cut; a media type that is one; and names, through
// quoteName. Everything else outside is our own words.

const (
	shownURLChars = 200 // in the header and in errors
	hostURLChars  = 500 // in structured content
	quotedChars   = 80
	maxLineBytes  = 400 // a note or a line of an error
)

// showURL gives an address as one word of at most limit characters, the last of them … where it was cut. What no
// canonical URL holds is percent-encoded, so a Source that gives another spelling cannot write words.
func showURL(url string, limit int) string {
	if strings.IndexFunc(url, func(r rune) bool { return !plainURL(r) }) >= 0 {
		var b strings.Builder
		for i := range len(url) {
			if c := url[i]; plainURL(rune(c)) {
				b.WriteByte(c)
			} else {
				b.WriteString("%" + string(upperHex[c>>4]) + string(upperHex[c&15]))
			}
		}
		url = b.String()
	}
	if escapeTags(url) != url { // spelled with references: &lt;/…
		url = strings.ReplaceAll(url, "&", "%26")
	}
	if len(url) > limit {
		url = url[:limit-1] + "…"
	}
	return url
}

const upperHex = "0123456789ABCDEF"

// plainURL tells the characters of a canonical URL.
func plainURL(r rune) bool {
	return '!' <= r && r <= '~' && r != '<' && r != '>' && r != '"' && r != '`' && r != '\\'
}

// quoteName is the one way for a name that a page, server or caller chose to stand outside the wrapper: on one line,
// without control and format characters, at most 80 characters, in quotation marks.
func quoteName(name string) string { return `"` + nameQuotes.Replace(plainName(name)) + `"` }

var nameQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// plainName is a name without quotation marks, for where it is a value of its own.
func plainName(name string) string {
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
		if chars++; chars > quotedChars {
			break
		}
	}
	return escapeTags(cutChars(b.String(), quotedChars))
}

// unprinted tells the characters that leave no mark of their own on a line.
func unprinted(r rune) bool {
	return unicode.IsControl(r) || r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// cutChars keeps at most limit characters of s, the last of them … where it was cut.
func cutChars(s string, limit int) string {
	if end := charIndex(s, limit); end == len(s) {
		return s
	}
	return s[:charIndex(s, limit-1)] + "…"
}

// oneLine makes a sentence of ours fit to stand on a line of its own, whatever a name in it holds: no line breaks or
// controls, at most maxLineBytes.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unprinted(r):
			return -1
		}
		return r
	}, s)
	s = escapeTags(s)
	if len(s) <= maxLineBytes {
		return s
	}
	end := maxLineBytes - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// showMediaType gives a media type only if it is one, which a Source need not have checked; else "".
func showMediaType(s string) string {
	if s = strings.ToLower(s); isMediaType(s) && escapeTags(s) == s {
		return s
	}
	return ""
}
