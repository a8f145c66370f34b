// What small text, raised or lowered, is.

package facts

import (
	"unicode"
	"unicode/utf8"
)

// Bracketed says that text, which is not empty, stands in brackets.
func Bracketed(s string) bool {
	return s[0] == '[' && s[len(s)-1] == ']' || s[0] == '(' && s[len(s)-1] == ')'
}

// Ordinal says that raised text is only typography: 1st, 2e, N°, a trade mark.
func Ordinal(s string) bool {
	switch s {
	case "st", "nd", "rd", "th", "er", "re", "ère", "e", "ème", "è", "o", "a", "os", "as", "ª", "º", "°", "TM", "tm", "SM", "®",
		"(R)", "©", "™", "℠", "*", "†", "‡", "†††", "**", "***":
		return true
	}
	return false
}

// Simple says that text needs no brackets to be told as one raised piece.
func Simple(s string) bool {
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

// Chemical says that a line ends like a chemical formula: H, Ca, OH.
func Chemical(line []byte) bool {
	c, size := utf8.DecodeLastRune(line)
	if unicode.IsUpper(c) {
		return true
	}
	before, _ := utf8.DecodeLastRune(line[:len(line)-size])
	return unicode.IsLower(c) && unicode.IsUpper(before)
}
