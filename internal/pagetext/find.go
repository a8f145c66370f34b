package pagetext

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Finding a phrase in a page: letter case does not count, quotation marks, dashes and full-width signs are those of a keyboard, and any
// white space is one blank. Where a phrase does not stand so, the signs of Markdown within it do not count either.

// MaxFurther is how many matches after the first are told by their offsets.
const MaxFurther = 10

// Matches are the places of a phrase at or after an offset. Total 0 means that there are none.
type Matches struct {
	First   Place
	Further []int // offsets, at most MaxFurther; never nil
	Total   int   // with the first
}

// Find looks for phrase, which is not blank, from an offset on. Matches do not overlap.
func (t Text) Find(phrase string, offset int) Matches {
	m := t.find(phrase, offset, false)
	if m.Total == 0 {
		m = t.find(phrase, offset, true)
	}
	return m
}

// find looks for phrase; bare says that signs of Markdown do not count.
func (t Text) find(phrase string, offset int, bare bool) Matches {
	m := Matches{Further: []int{}}
	sought := bytes.TrimSpace(foldText(strings.TrimSpace(phrase), 0, bare).folded)
	if len(sought) == 0 {
		return m
	}
	f := foldText(t.text, t.ByteAt(offset), bare)
	last := f.marks[0]
	for at := f.start; ; {
		i := bytes.Index(f.folded[at:], sought)
		if i < 0 {
			return m
		}
		at += i
		if m.Total <= MaxFurther {
			last = f.locate(at, last)
			if m.Total == 0 {
				m.First = last.Place
			} else {
				m.Further = append(m.Further, last.Offset)
			}
		}
		m.Total++
		at += len(sought)
	}
}

// foldedText is a text as it is searched, with marks from which places in the text can be found again.
type foldedText struct {
	text   string
	bare   bool // without signs of Markdown
	folded []byte
	marks  []mark
	start  int // where the search begins in folded
}

// mark says how much of the text was folded when a place was reached, and whether white space was still to be written.
type mark struct {
	Place
	folded int
	blank  bool
}

// markEvery is the distance of two marks in bytes: finding a match again reads at most so much.
const markEvery = 16 << 10

// foldText folds a text of which the bytes from searchFrom on are searched.
func foldText(text string, searchFrom int, bare bool) foldedText {
	f := foldedText{text: text, bare: bare, folded: make([]byte, 0, len(text)+len(text)/16)}
	for m := (mark{}); ; {
		f.marks = append(f.marks, m)
		if m.Byte == len(text) {
			f.start = min(f.start, len(f.folded))
			return f
		}
		end := min(m.Byte+markEvery, len(text))
		if m.Byte < searchFrom && searchFrom <= end {
			m = f.fold(m, searchFrom)
			if f.start = m.folded; m.blank {
				f.start++
			}
		}
		m = f.fold(m, end)
	}
}

// fold goes on from m to the first character at or after the byte until.
func (f *foldedText) fold(m mark, until int) mark {
	i, offset, blank, folded := m.Byte, m.Offset, m.blank, f.folded
	for i < until {
		if n, parts := f.signs(i); n > 0 {
			offset += utf8.RuneCountInString(f.text[i : i+n])
			i += n
			blank = blank || parts
			continue
		}
		r, size := rune(f.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(f.text[i:])
		}
		if startsChar(f.text[i]) {
			offset++
		}
		i += size
		if unicode.IsSpace(r) {
			blank = true
			continue
		}
		if blank {
			folded = append(folded, ' ')
			blank = false
		}
		if r = foldSign(r); r < utf8.RuneSelf {
			folded = append(folded, byte(r))
		} else {
			folded = utf8.AppendRune(folded, r)
		}
	}
	f.folded = folded
	return mark{Place{i, offset}, len(folded), blank}
}

// locate finds the place of the text that the byte at of the folded text came from; at begins a character that is not
// white space. from is a mark at or before it.
func (f foldedText) locate(at int, from mark) mark {
	later := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].folded > at })
	if later > 0 && f.marks[later-1].folded > from.folded {
		from = f.marks[later-1]
	}
	for m := from; ; {
		if n, parts := f.signs(m.Byte); n > 0 {
			m.Offset += utf8.RuneCountInString(f.text[m.Byte : m.Byte+n])
			m.Byte += n
			m.blank = m.blank || parts
			continue
		}
		r, size := utf8.DecodeRuneInString(f.text[m.Byte:])
		if unicode.IsSpace(r) {
			m.blank = true
		} else {
			if m.blank {
				m.folded++
				m.blank = false
			}
			if m.folded == at {
				return m
			}
			m.folded += utf8.RuneLen(foldSign(r))
		}
		if startsChar(f.text[m.Byte]) {
			m.Offset++
		}
		m.Byte += size
	}
}

// signs tells how many bytes at i are signs of Markdown, and whether they part words.
func (f *foldedText) signs(i int) (n int, parts bool) {
	if !f.bare {
		return 0, false
	}
	s := f.text[i:]
	switch s[0] {
	case '*', '_', '`', '~', '[':
		return 1, false
	case '!':
		if strings.HasPrefix(s, "![") {
			return 2, false
		}
	case ']':
		if strings.HasPrefix(s, "](") {
			return 1 + destination(s[1:]), false
		}
		return 1, false
	case '\\':
		if len(s) < 2 || s[1] != '\n' && (s[1] <= ' ' || s[1] >= utf8.RuneSelf || isAlphanumeric(s[1])) {
			return 0, false
		}
		if n := alone(f.text, i, i+1); n > 0 {
			return 1 + n, true
		}
		return 1, false
	case '|':
		return 1, true
	case '#', '>', '-', '+':
		n = alone(f.text, i, i)
		return n, n > 0
	}
	return 0, false
}

// alone is how many signs at i are those of a heading, a quote or an item, with nothing but white space beside them; begin is where what
// escapes them begins.
func alone(text string, begin, i int) int {
	c, n := text[i], 1
	if begin > 0 && !isBlank(text[begin-1]) || c != '#' && c != '>' && c != '-' && c != '+' {
		return 0
	}
	for i+n < len(text) && n < 6 && text[i+n] == c {
		n++
	}
	if i+n < len(text) && !isBlank(text[i+n]) {
		return 0
	}
	return n
}

// destination is how many bytes the address of a link takes, with its brackets; 0 where it has no end in its line.
func destination(s string) int {
	depth := 0
	for i := 0; i < len(s) && i < 4096 && s[i] != '\n'; i++ {
		switch s[i] {
		case ']':
			if strings.HasPrefix(s[i:], "](") { // another link: nothing is read twice
				return 0
			}
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// foldSign gives one character for all that a keyboard has one for: of either case, and of several forms.
func foldSign(r rune) rune {
	switch {
	case r < 0x2010:
	case r == 0x2018 || r == 0x2019 || r == 0x201B || r == 0x2032:
		return '\''
	case r >= 0x201C && r <= 0x201F || r == 0x2033:
		return '"'
	case r <= 0x2015 || r == 0x2212:
		return '-'
	case r >= 0xFF01 && r <= 0xFF5E:
		r -= 0xFF01 - '!'
	}
	return FoldCase(r)
}

// FoldCase gives one character for all that differ in case alone.
func FoldCase(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf, 0x2E80 <= r && r < 0xA640, 0xAC00 <= r && r < 0xD7A4: // no case in CJK, kana and Hangul
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
