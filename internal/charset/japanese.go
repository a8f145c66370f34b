package charset

import "unicode/utf8"

// halfKatakana is the first of the 63 half-width katakana, which all three Japanese encodings have as one byte.
const halfKatakana = 0xFF61

// decodeShiftJIS decodes Shift_JIS with the extensions of Windows code page 932.
func decodeShiftJIS(dst, src []byte) []byte {
	index := jis0208Index()
	for i := 0; i < len(src); {
		b := src[i]
		switch {
		case b < utf8.RuneSelf:
			n := asciiRun(src[i:])
			dst = append(dst, src[i:i+n]...)
			i += n
			continue
		case b == 0x80:
			dst = utf8.AppendRune(dst, 0x80)
			i++
			continue
		case 0xA1 <= b && b <= 0xDF:
			dst = appendBMP(dst, halfKatakana+uint16(b-0xA1))
			i++
			continue
		case b == 0xA0 || b > 0xFC:
			dst = appendBroken(dst)
			i++
			continue
		case i+1 == len(src):
			return appendBroken(dst)
		}
		trail := src[i+1]
		r := shiftJISRune(index, b, trail)
		if r == 0 {
			dst, i = appendBrokenPair(dst, trail, i)
			continue
		}
		dst = appendBMP(dst, r)
		i += 2
	}
	return dst
}

// shiftJISRune gives the character of a pair; 0 for none.
func shiftJISRune(index []uint16, lead, trail byte) uint16 {
	const privateFirst, privateLast = 8836, 10715 // pointers of the end-user-defined characters
	if trail < 0x40 || trail == 0x7F || trail > 0xFC {
		return 0
	}
	row := int(lead) - 0x81
	if lead >= 0xE0 {
		row = int(lead) - 0xC1
	}
	pointer := row*188 + int(trail) - 0x40
	if trail > 0x7F {
		pointer--
	}
	if privateFirst <= pointer && pointer <= privateLast {
		return uint16(0xE000 + pointer - privateFirst)
	}
	return index[pointer]
}

// decodeEUCJP decodes EUC-JP with its three-byte supplementary set.
func decodeEUCJP(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		b := src[i]
		if b < utf8.RuneSelf {
			n := asciiRun(src[i:])
			dst = append(dst, src[i:i+n]...)
			i += n
			continue
		}
		if b != 0x8E && b != 0x8F && !isEUC(b) {
			dst = appendBroken(dst)
			i++
			continue
		}
		index := jis0208Index
		if b == 0x8F && i+1 < len(src) && isEUC(src[i+1]) {
			index = jis0212Index
			i++ // the pair begins with the second byte
		}
		if i+1 == len(src) {
			return appendBroken(dst)
		}
		lead, trail := src[i], src[i+1]
		var r uint16
		switch {
		case lead == 0x8E && 0xA1 <= trail && trail <= 0xDF:
			r = halfKatakana + uint16(trail-0xA1)
		case isEUC(lead) && isEUC(trail):
			r = index()[int(lead-0xA1)*94+int(trail-0xA1)]
		}
		if r == 0 {
			dst, i = appendBrokenPair(dst, trail, i)
			continue
		}
		dst = appendBMP(dst, r)
		i += 2
	}
	return dst
}

// isEUC tells whether b is a byte of a two-byte character in EUC-JP.
func isEUC(b byte) bool { return 0xA1 <= b && b <= 0xFE }

// jpState is what an escape sequence of ISO-2022-JP switched to.
type jpState int

const (
	jpASCII jpState = iota
	jpRoman
	jpKatakana
	jpDouble // two bytes a character
)

// decodeISO2022JP decodes ISO-2022-JP. An escape sequence with no character since the one before it is a U+FFFD of its
// own, so that empty sequences cannot cut a word in a way that only some readers see.
func decodeISO2022JP(dst, src []byte) []byte {
	state, escaped := jpASCII, false
	for i := 0; i < len(src); {
		b := src[i]
		if b == 0x1B {
			next, ok := jpEscape(src[i+1:])
			if !ok {
				dst, escaped = appendBroken(dst), false
				i++
				continue
			}
			if escaped {
				dst = appendBroken(dst)
			}
			state, escaped = next, true
			i += 3
			continue
		}
		escaped = false
		if state == jpDouble && 0x21 <= b && b <= 0x7E {
			var size int
			dst, size = appendJPDouble(dst, src[i:])
			i += size
			continue
		}
		dst = utf8.AppendRune(dst, jpSingle(state, b))
		i++
	}
	return dst
}

// jpEscape reads what follows the escape byte.
func jpEscape(p []byte) (jpState, bool) {
	if len(p) < 2 {
		return 0, false
	}
	switch string(p[:2]) {
	case "(B":
		return jpASCII, true
	case "(J":
		return jpRoman, true
	case "(I":
		return jpKatakana, true
	case "$@", "$B":
		return jpDouble, true
	}
	return 0, false
}

// appendJPDouble reads the pair that p begins with. A trail byte that can be none is gone with its lead byte, but for
// an escape byte.
func appendJPDouble(dst, p []byte) (out []byte, size int) {
	if len(p) == 1 || p[1] == 0x1B {
		return appendBroken(dst), 1
	}
	var r uint16
	if 0x21 <= p[1] && p[1] <= 0x7E {
		r = jis0208Index()[int(p[0]-0x21)*94+int(p[1]-0x21)]
	}
	if r == 0 {
		return appendBroken(dst), 2
	}
	return appendBMP(dst, r), 2
}

// jpSingle gives the character of a byte outside pairs.
func jpSingle(state jpState, b byte) rune {
	const shiftOut, shiftIn = 0x0E, 0x0F
	switch {
	case state == jpKatakana && 0x21 <= b && b <= 0x5F:
		return halfKatakana + rune(b-0x21)
	case state == jpKatakana || state == jpDouble || b >= utf8.RuneSelf || b == shiftOut || b == shiftIn:
		return utf8.RuneError
	case state == jpRoman && b == '\\':
		return '¥'
	case state == jpRoman && b == '~':
		return '‾'
	}
	return rune(b)
}
