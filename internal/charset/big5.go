package charset

import "unicode/utf8"

// decodeBig5 decodes Big5 with the Hong Kong characters.
func decodeBig5(dst, src []byte) []byte {
	index := big5Index()
	for i := 0; i < len(src); {
		b := src[i]
		switch {
		case b < utf8.RuneSelf:
			n := asciiRun(src[i:])
			dst = append(dst, src[i:i+n]...)
			i += n
			continue
		case b == 0x80 || b == 0xFF:
			dst = appendBroken(dst)
			i++
			continue
		case i+1 == len(src):
			return appendBroken(dst)
		}
		trail := src[i+1]
		pointer := -1
		switch {
		case 0x40 <= trail && trail <= 0x7E:
			pointer = int(b-0x81)*157 + int(trail) - 0x40
		case 0xA1 <= trail && trail <= 0xFE:
			pointer = int(b-0x81)*157 + int(trail) - 0x62
		}
		var r rune
		switch pointer {
		case -1:
		case 1133, 1135, 1164, 1166:
			dst = append(dst, big5Double(pointer)...)
			i += 2
			continue
		default:
			r = index[pointer]
		}
		if r == 0 {
			dst, i = appendBrokenPair(dst, trail, i)
			continue
		}
		dst = utf8.AppendRune(dst, r)
		i += 2
	}
	return dst
}

// big5Double gives the four pointers that mean a letter with a combining mark.
func big5Double(pointer int) string {
	switch pointer {
	case 1133:
		return "\u00CA\u0304"
	case 1135:
		return "\u00CA\u030C"
	case 1164:
		return "\u00EA\u0304"
	}
	return "\u00EA\u030C"
}
