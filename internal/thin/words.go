// Counting words of any script, and folding texts for comparison.

package thin

import (
	"strings"
	"unicode"
)

// unspaced are scripts that write words without blanks between them; two of their characters count as a word.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// countWords of a text: runs of letters and digits.
func countWords(s string) int {
	words, characters := 0, 0
	within := false
	for _, r := range s {
		switch {
		case r < 0x80:
			letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
			// An apostrophe or a hyphen does not end a word.
			if letter && !within {
				words++
			}
			within = letter || within && (r == '\'' || r == '-')
		case r >= 0xe00 && unicode.In(r, unspaced...):
			characters++
			within = false
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if !within {
				words++
			}
			within = true
		default:
			within = within && (unicode.IsMark(r) || r == '’' || r == '\u00ad')
		}
	}
	return words + (characters+1)/2
}

// fold makes a text comparable: lower case, one blank for white space, line ends kept, plain apostrophes.
func fold(s string) string {
	var b strings.Builder
	gap := byte(0) // what stands between the last character and the next one
	for _, r := range strings.ToLower(s) {
		switch r {
		case '\n':
			gap = '\n'
			continue
		case '\u00ad', '\u200b':
			continue
		case '’', '‘':
			r = '\''
		}
		if unicode.IsSpace(r) {
			if gap == 0 {
				gap = ' '
			}
			continue
		}
		if gap != 0 && b.Len() > 0 {
			b.WriteByte(gap)
		}
		gap = 0
		b.WriteRune(r)
	}
	return b.String()
}

// tagless drops what stands between angle brackets.
func tagless(s string) string {
	if !strings.ContainsRune(s, '<') {
		return s
	}
	var b strings.Builder
	inTag := false
	for _, r := range s {
		switch {
		case r == '<':
			inTag = true
			b.WriteByte(' ')
		case r == '>':
			inTag = false
		case !inTag:
			b.WriteRune(r)
		}
	}
	return b.String()
}
