package charset

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// The indexes of the Encoding Standard: pointer to character, 0 for none. x/text was made from the same indexes, but for
// the private characters of gb18030, so each is read out of its decoder at first use instead of lying here a second
// time: a few milliseconds once, and at most 80 kB each from then on.
var (
	gb18030Index = sync.OnceValue(func() []uint16 {
		index := readIndex(simplifiedchinese.GBK, 126*190, func(p int, b []byte) []byte {
			return append(b, byte(p/190+0x81), skipDEL(p%190+0x40))
		})
		completeGB18030(index)
		return index
	})
	euckrIndex = sync.OnceValue(func() []uint16 {
		return readIndex(korean.EUCKR, 126*190, func(p int, b []byte) []byte {
			return append(b, byte(p/190+0x81), byte(p%190+0x41))
		})
	})
	jis0208Index = sync.OnceValue(func() []uint16 {
		return readIndex(japanese.ShiftJIS, 60*188, func(p int, b []byte) []byte {
			lead := p/188 + 0x81
			if lead > 0x9F {
				lead += 0x40
			}
			return append(b, byte(lead), skipDEL(p%188+0x40))
		})
	})
	jis0212Index = sync.OnceValue(func() []uint16 {
		return readIndex(japanese.EUCJP, 94*94, func(p int, b []byte) []byte {
			return append(b, 0x8F, byte(p/94+0xA1), byte(p%94+0xA1))
		})
	})
	big5Index = sync.OnceValue(func() []rune {
		index := make([]rune, 126*157)
		read(traditionalchinese.Big5, len(index), func(p int, b []byte) []byte {
			trail := p%157 + 0x40
			if trail > 0x7E {
				trail += 0x22
			}
			return append(b, byte(p/157+0x81), byte(trail))
		}, func(p int, r rune) { index[p] = r })
		return index
	})
)

// skipDEL makes a trail byte of an offset in the encodings that leave 0x7F out.
func skipDEL(trail int) byte {
	if trail >= 0x7F {
		trail++
	}
	return byte(trail)
}

// readIndex reads an index whose characters are all below U+10000.
func readIndex(e encoding.Encoding, size int, appendBytes func(pointer int, b []byte) []byte) []uint16 {
	index := make([]uint16, size)
	read(e, size, appendBytes, func(p int, r rune) { index[p] = uint16(r) })
	return index
}

// read calls set for each pointer below size whose bytes are one character, and only one, to e.
func read(e encoding.Encoding, size int, appendBytes func(pointer int, b []byte) []byte, set func(pointer int, r rune)) {
	decode := e.NewDecoder()
	var text, sequence [16]byte
	for p := range size {
		src := appendBytes(p, sequence[:0])
		decode.Reset()
		n, used, err := decode.Transform(text[:], src, true)
		r, width := utf8.DecodeRune(text[:n])
		if err == nil && used == len(src) && width == n && r != utf8.RuneError {
			set(p, r)
		}
	}
}
