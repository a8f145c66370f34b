package charset

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// highBits are the bits that no byte of ASCII has.
const highBits = 0x8080808080808080

// asciiRun is the number of ASCII bytes that p begins with.
func asciiRun(p []byte) int {
	n := 0
	for len(p)-n >= 8 && binary.LittleEndian.Uint64(p[n:])&highBits == 0 {
		n += 8
	}
	for n < len(p) && p[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// countHigh is the number of bytes in p that are not ASCII.
func countHigh(p []byte) int {
	n := 0
	for ; len(p) >= 8; p = p[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(p) & highBits)
	}
	for _, b := range p {
		n += int(b >> 7)
	}
	return n
}

// decodeUTF8 copies what is valid. Go's own replacement writes one U+FFFD for every bad byte; the standard writes one
// for the longest beginning of a sequence that could have become valid.
func decodeUTF8(dst, src []byte) []byte {
	for len(src) > 0 {
		n := 0
		for n < len(src) {
			if src[n] < utf8.RuneSelf {
				n += asciiRun(src[n:])
				continue
			}
			_, size := utf8.DecodeRune(src[n:])
			if size == 1 {
				break
			}
			n += size
		}
		dst = append(dst, src[:n]...)
		src = src[n:]
		if len(src) > 0 {
			dst = appendBroken(dst)
			src = src[brokenLen(src):]
		}
	}
	return dst
}

// brokenLen is the length of the maximal subpart that p, which does not begin with a valid sequence, begins with.
func brokenLen(p []byte) int {
	low, high := byte(0x80), byte(0xBF)
	needed := 0
	switch b := p[0]; {
	case 0xC2 <= b && b <= 0xDF:
		needed = 1
	case 0xE0 <= b && b <= 0xEF:
		needed = 2
		switch b {
		case 0xE0:
			low = 0xA0 // shorter forms exist below
		case 0xED:
			high = 0x9F // surrogates above
		}
	case 0xF0 <= b && b <= 0xF4:
		needed = 3
		switch b {
		case 0xF0:
			low = 0x90
		case 0xF4:
			high = 0x8F // beyond U+10FFFF above
		}
	}
	n := 1
	for n <= needed && n < len(p) && low <= p[n] && p[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}

func decodeUTF16LE(dst, src []byte) []byte { return decodeUTF16(dst, src, binary.LittleEndian) }
func decodeUTF16BE(dst, src []byte) []byte { return decodeUTF16(dst, src, binary.BigEndian) }

// decodeUTF16 answers a lone surrogate with U+FFFD and reads on with the unit after it. What is cut at the end, be it
// half a unit, half a pair or both, is one U+FFFD.
func decodeUTF16(dst, src []byte, order binary.ByteOrder) []byte {
	for len(src) >= 2 {
		r := rune(order.Uint16(src))
		src = src[2:]
		switch {
		case !utf16.IsSurrogate(r):
			dst = utf8.AppendRune(dst, r)
		case isHighSurrogate(r) && len(src) < 2:
			return appendBroken(dst)
		case isHighSurrogate(r):
			pair := utf16.DecodeRune(r, rune(order.Uint16(src)))
			if pair != utf8.RuneError {
				src = src[2:]
			}
			dst = utf8.AppendRune(dst, pair)
		default:
			dst = appendBroken(dst)
		}
	}
	if len(src) > 0 {
		dst = appendBroken(dst)
	}
	return dst
}

func isHighSurrogate(r rune) bool { return 0xD800 <= r && r <= 0xDBFF }

func decodeUTF32LE(dst, src []byte) []byte { return decodeUTF32(dst, src, binary.LittleEndian) }
func decodeUTF32BE(dst, src []byte) []byte { return decodeUTF32(dst, src, binary.BigEndian) }

func decodeUTF32(dst, src []byte, order binary.ByteOrder) []byte {
	for ; len(src) >= 4; src = src[4:] {
		r := utf8.RuneError
		if u := order.Uint32(src); u <= utf8.MaxRune {
			r = rune(u)
		}
		dst = utf8.AppendRune(dst, r)
	}
	if len(src) > 0 {
		dst = appendBroken(dst)
	}
	return dst
}
