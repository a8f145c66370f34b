package charset

import "unicode/utf8"

// appendPair ends a two-byte sequence at i: its character, or for 0 U+FFFD. An ASCII trail byte of a broken pair is
// read again, so that a lead byte can never swallow markup.
func appendPair(dst []byte, r rune, trail byte, i int) ([]byte, int) {
	switch {
	case r != 0:
		return utf8.AppendRune(dst, r), i + 2
	case trail < utf8.RuneSelf:
		return appendBroken(dst), i + 1
	}
	return appendBroken(dst), i + 2
}
