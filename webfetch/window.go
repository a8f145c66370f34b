package webfetch

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// Windows: which part of a page's text is shown at once. Everything is counted in Unicode code points, so no window
// begins or ends inside a character, and following NextOffset from 0 gives the text exactly once.

// NewWindow cuts the window at offset, a number of code points, that is at most n code points long. If more follows,
// and a line feed stands in the last fifth of the window, it ends just after that line feed. A negative offset counts
// as 0, an n below 1 as 1; an offset at or past the end is kept and gives an empty window. p is not changed.
func NewWindow(p *Page, offset, n int) *Window {
	t := measure(p.Content)
	offset = max(offset, 0)
	start := t.byteAt(offset)
	end, _ := t.cut(start, n, len(p.Content))
	return makeWindow(p, t, offset, start, end)
}

// NewByteWindow is NewWindow for a window that is as many code points long as fit maxBytes of UTF-8, and at least one.
func NewByteWindow(p *Page, offset, maxBytes int) *Window {
	t := measure(p.Content)
	offset = max(offset, 0)
	start := t.byteAt(offset)
	end, _ := t.cut(start, t.chars, maxBytes)
	return makeWindow(p, t, offset, start, end)
}

// makeWindow shows the bytes start to end of p's text, which begin at the code point offset.
func makeWindow(p *Page, t measured, offset, start, end int) *Window {
	w := &Window{
		RequestedURL: p.RequestedURL, FinalURL: p.FinalURL, Status: p.Status, ContentType: p.ContentType, Via: p.Via,
		Title: p.Title, Content: t.text[start:end], ContentKind: p.ContentKind, TotalChars: t.chars,
		FullChars: max(p.FullChars, t.chars), Offset: offset, RetrievedAt: p.RetrievedAt, Headers: maps.Clone(p.Headers),
		Bytes: p.Bytes, Redirects: slices.Clone(p.Redirects), Provider: p.Provider, Thin: slices.Clone(p.Thin),
		Notes: pageNotes(p, Abilities{}),
	}
	if end < len(t.text) {
		next := offset + t.count(start, end)
		w.NextOffset = &next
	}
	w.Truncated = p.Truncated || offset > 0 || w.NextOffset != nil
	return w
}

// measured is a text with its length. In a text of ASCII alone the two lengths are one, and so are all positions.
type measured struct {
	text  string
	chars int
}

func measure(text string) measured { return measured{text, countChars(text)} }

func (t measured) ascii() bool { return t.chars == len(t.text) }

// byteAt is where the code point number offset begins; the end of the text for one past it.
func (t measured) byteAt(offset int) int {
	switch {
	case offset == 0:
		return 0
	case offset >= t.chars:
		return len(t.text)
	case t.ascii():
		return offset
	}
	return charIndex(t.text, offset)
}

// count is the number of code points between two bytes at which code points begin.
func (t measured) count(start, end int) int {
	if t.ascii() {
		return end - start
	}
	return countChars(t.text[start:end])
}

// cut finds the end, in bytes, of the window that begins at the byte start, and its length in code points: at most n
// of them and at most maxBytes bytes, but at least one as long as there is one.
func (t measured) cut(start, n, maxBytes int) (end, chars int) {
	rest := t.text[start:]
	n, maxBytes = max(n, 1), max(maxBytes, 1)
	size := min(n, len(rest))
	if !t.ascii() {
		size = charIndex(rest, n)
	}
	if size > maxBytes {
		for size = maxBytes; size > 0 && !startsChar(rest[size]); size-- {
		}
	}
	if chars = t.count(start, start+size); chars == 0 {
		size = charIndex(rest, 1)
		chars = t.count(start, start+size)
	}
	if size == len(rest) {
		return start + size, chars
	}
	if feed := strings.LastIndexByte(rest[:size], '\n') + 1; feed > 0 {
		for feed < size && !startsChar(rest[feed]) {
			feed++
		}
		if after := t.count(start+feed, start+size); after*5 <= chars {
			return start + feed, chars - after
		}
	}
	return start + size, chars
}

// startsChar tells whether b is the first byte of a code point. Bytes that are no UTF-8 belong to the code point
// before them, so that windows tile any text.
func startsChar(b byte) bool { return b&0xC0 != 0x80 }

// countChars is the number of code points of s.
func countChars(s string) int {
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

// charIndex is the byte at which the code point number n of s begins; len(s) where there are no more than n.
func charIndex(s string, n int) int {
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
