package untrusted

import (
	"strings"
	"unicode/utf8"
)

// DropInvisible leaves out the characters that no reader sees and that can carry or turn words: the bidirectional
// controls and the tag characters. dropped is their number. Text without them is given back as it is.
func DropInvisible(text string) (shown string, dropped int) {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		// All of them begin with one of these three bytes; the rest of a text is passed a byte at a time.
		if c := text[i]; c != 0xD8 && c != 0xE2 && c != 0xF3 {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if isBidiControl(r) || isTagCharacter(r) {
			b.WriteString(text[done:i])
			done = i + size
			dropped++
		}
		i += size
	}
	if dropped == 0 {
		return text, 0
	}
	b.WriteString(text[done:])
	return b.String(), dropped
}

// isBidiControl tells the characters with the Unicode property Bidi_Control, and the deprecated ones beside them.
func isBidiControl(r rune) bool {
	switch {
	case r == '\u061C', r == '\u200E', r == '\u200F', '\u202A' <= r && r <= '\u202E', '\u2066' <= r && r <= '\u206F':
		return true
	}
	return false
}

// isTagCharacter tells the block of invisible copies of ASCII.
func isTagCharacter(r rune) bool { return 0xE0000 <= r && r <= 0xE007F }
