// Package pagetext knows places in a text of any size: counted in Unicode code points, as models are told them, and in
// bytes, as the text is stored. It cuts windows and finds phrases.
//
// The one rule: a place never lies inside a character, and windows that follow each other are the whole text. Bytes
// that are no UTF-8 belong to the code point before them, so the rule holds for any text.
package pagetext

import (
	"math/bits"
	"strings"
)

// Text is a text with its length. In a text of ASCII alone the two lengths are one, and so are all places.
type Text struct {
	text  string
	chars int
}

// Measure counts a text.
func Measure(text string) Text { return Text{text, Count(text)} }

// Chars is the length in code points.
func (t Text) Chars() int { return t.chars }

func (t Text) ascii() bool { return t.chars == len(t.text) }

// ByteAt is the byte where the code point number offset begins; the end of the text for one past it.
func (t Text) ByteAt(offset int) int {
	switch {
	case offset == 0:
		return 0
	case offset >= t.chars:
		return len(t.text)
	case t.ascii():
		return offset
	}
	return Index(t.text, offset)
}

// count is the number of code points of a part of the text.
func (t Text) count(part string) int {
	if t.ascii() {
		return len(part)
	}
	return Count(part)
}

// Place is a place in a text, in bytes and in code points.
type Place struct{ Byte, Offset int }

// Cut is the place where the window that begins at from ends: at most n code points and at most maxBytes bytes long,
// but at least one code point as long as there is one. If more follows, and a line feed stands in the last fifth of
// the window, that is just after the line feed.
func (t Text) Cut(from Place, n, maxBytes int) Place {
	rest := t.text[from.Byte:]
	n, limit := max(n, 1), min(max(maxBytes, 1), len(rest))
	size := min(n, limit)
	if !t.ascii() {
		size = Index(rest[:limit], n)
	}
	for 0 < size && size < len(rest) && !startsChar(rest[size]) {
		size--
	}
	chars := t.count(rest[:size])
	if chars == 0 {
		size = Index(rest, 1)
		chars = t.count(rest[:size])
	}
	to := Place{from.Byte + size, from.Offset + chars}
	if size == len(rest) {
		return to
	}
	if feed := strings.LastIndexByte(rest[:size], '\n') + 1; feed > 0 {
		for feed < size && !startsChar(rest[feed]) {
			feed++
		}
		if after := t.count(rest[feed:size]); after*5 <= chars {
			return Place{from.Byte + feed, to.Offset - after}
		}
	}
	return to
}

// startsChar tells whether b is the first byte of a code point.
func startsChar(b byte) bool { return b&0xC0 != 0x80 }

// Count is the number of code points of s.
func Count(s string) int {
	n := len(s)
	for ; len(s) >= 8; s = s[8:] {
		n -= continuations(s)
	}
	for i := range len(s) {
		if !startsChar(s[i]) {
			n--
		}
	}
	return n
}

// Index is the byte at which the code point number n of s begins; len(s) where there are no more than n.
func Index(s string, n int) int {
	if n == 0 {
		return 0
	}
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		starts := 8 - continuations(s[i:])
		if starts > n {
			break
		}
		n -= starts
	}
	for ; i < len(s); i++ {
		if startsChar(s[i]) {
			if n == 0 {
				break
			}
			n--
		}
	}
	return i
}

// continuations counts the bytes of the form 10xxxxxx among the first eight of s, all eight at once: pages are up to
// 100 MB, and every window of one is found by counting.
func continuations(s string) int {
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return bits.OnesCount64(x >> 7 &^ (x >> 6) & 0x0101010101010101)
}
