// Package terminal makes text fit for a terminal (TM-077): it is shown and cannot command.
package terminal

import "strings"

// Inert removes what a terminal would obey: control characters but line feed and tab, whole escape sequences with
// their parameters, and the marks that reorder text.
func Inert(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == 0x1b || r >= 0x80 && r <= 0x9f:
			i += sequence(runes[i:]) - 1
		case r < ' ' || r == 0x7f || reorders(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxSequence bounds an unterminated control string, so that it cannot hide all that follows.
const maxSequence = 4096

// sequence is how many characters the escape sequence at the front has, at least 1.
func sequence(rs []rune) int {
	introducer, n := rs[0], 1
	if introducer == 0x1b {
		if len(rs) < 2 {
			return 1
		}
		// ESC with 0x40–0x5f is the seven-bit spelling of a C1 control.
		introducer, n = rs[1]+0x40, 2
		if rs[1] < 0x40 || rs[1] > 0x5f {
			if rs[1] < ' ' || rs[1] > '~' {
				return 1
			}
			return 2
		}
	}
	switch introducer {
	case 0x9b: // CSI: parameters, then one final byte
		for n < len(rs) && rs[n] >= 0x20 && rs[n] <= 0x3f {
			n++
		}
		if n < len(rs) && rs[n] >= 0x40 && rs[n] <= 0x7e {
			n++
		}
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f: // DCS, SOS, OSC, PM, APC: up to BEL or ST, and never over a line's end
		for start := n; n < len(rs) && n-start < maxSequence; n++ {
			switch {
			case rs[n] == '\n':
				return n
			case rs[n] == 0x07 || rs[n] == 0x9c:
				return n + 1
			case rs[n] == 0x1b && n+1 < len(rs) && rs[n+1] == '\\':
				return n + 2
			}
		}
	}
	return n
}

// reorders says whether a character changes the order in which others are shown, or is an invisible tag.
func reorders(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}
