package pagetext

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Finding a phrase in a page: letter case does not count, and any white space is one blank.

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
	f := foldText(t.text, t.ByteAt(offset))
	sought := foldText(strings.TrimSpace(phrase), 0).folded
	m := Matches{Further: []int{}}
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
func foldText(text string, searchFrom int) foldedText {
	f := foldedText{text: text, folded: make([]byte, 0, len(text)+len(text)/16)}
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
		if r = FoldCase(r); r < utf8.RuneSelf {
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
			m.folded += utf8.RuneLen(FoldCase(r))
		}
		if startsChar(f.text[m.Byte]) {
			m.Offset++
		}
		m.Byte += size
	}
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
