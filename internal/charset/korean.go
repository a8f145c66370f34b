package charset

import "unicode/utf8"

// decodeEUCKR decodes EUC-KR with the extension of Windows code page 949.
func decodeEUCKR(dst, src []byte) []byte {
	index := euckrIndex()
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
		var r uint16
		if 0x41 <= trail && trail <= 0xFE {
			r = index[int(b-0x81)*190+int(trail)-0x41]
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
