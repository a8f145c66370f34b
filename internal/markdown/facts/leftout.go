package facts

import (
	"strings"
	"unicode"
)

// LeftOut says that a character is left out of Markdown: a word with one is the same word.
func LeftOut(c rune) bool {
	switch c {
	case '\t', '\n', '\r', '\f':
		return false
	case 0xAD, 0x200B, 0x2060, 0xFEFF:
		return true
	}
	return unicode.IsControl(c)
}

// Empty says that a text has nothing that is shown.
func Empty(s string) bool {
	for _, c := range s {
		if !unicode.IsSpace(c) && !LeftOut(c) {
			return false
		}
	}
	return true
}

// Seen is s without what is left out.
func Seen(s string) string {
	if strings.IndexFunc(s, LeftOut) < 0 {
		return s
	}
	return strings.Map(func(c rune) rune {
		if LeftOut(c) {
			return -1
		}
		return c
	}, s)
}
