package webfetch

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Finding a phrase in a page: letter case does not count, and any white space is one blank.

// maxFurther is how many further matches are told by their offsets.
const maxFurther = 10

// matches are the places of a phrase at or after an offset. total 0 means that there are none.
type matches struct {
	first   place
	further []int // offsets in code points, at most maxFurther
	total   int   // with the first
}

// place is a position in a text, in bytes and in code points.
type place struct{ byteAt, offset int }

// findIn looks for phrase, which is not blank, from offset on. Matches do not overlap.
func findIn(text, phrase string, offset int) matches {
	f := foldText(text, measure(text).byteAt(offset))
	sought := foldText(strings.TrimSpace(phrase), 0).folded
	m := matches{further: []int{}}
	last := f.marks[0]
	for at := f.start; ; {
		i := bytes.Index(f.folded[at:], sought)
		if i < 0 {
			return m
		}
		at += i
		if m.total <= maxFurther {
			last = f.locate(at, last)
			if m.total == 0 {
				m.first = last.place
			} else {
				m.further = append(m.further, last.offset)
			}
		}
		m.total++
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
	place
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
		if m.byteAt == len(text) {
			f.start = min(f.start, len(f.folded))
			return f
		}
		end := min(m.byteAt+markEvery, len(text))
		if m.byteAt < searchFrom && searchFrom <= end {
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
	i, offset, blank, folded := m.byteAt, m.offset, m.blank, f.folded
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
		if r = foldCase(r); r < utf8.RuneSelf {
			folded = append(folded, byte(r))
		} else {
			folded = utf8.AppendRune(folded, r)
		}
	}
	f.folded = folded
	return mark{place{i, offset}, len(folded), blank}
}

// locate finds the place of the text that the byte at of the folded text came from; at begins a character that is not
// white space. from is a mark at or before it.
func (f foldedText) locate(at int, from mark) mark {
	later := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].folded > at })
	if later > 0 && f.marks[later-1].folded > from.folded {
		from = f.marks[later-1]
	}
	for m := from; ; {
		r, size := utf8.DecodeRuneInString(f.text[m.byteAt:])
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
			m.folded += utf8.RuneLen(foldCase(r))
		}
		if startsChar(f.text[m.byteAt]) {
			m.offset++
		}
		m.byteAt += size
	}
}

// note tells where the phrase stands. offset is where the search began.
func (m matches) note(phrase string, offset int) Note {
	quoted := quoteName(phrase)
	if m.total == 0 {
		return Note{
			Kind: "no_match",
			Fact: fmt.Sprintf("%s does not stand at or after offset %d", quoted, offset),
			Data: map[string]any{"from": offset},
		}
	}
	fact := fmt.Sprintf("%s at %d and nowhere after it", quoted, m.first.offset)
	if len(m.further) > 0 {
		offsets := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.further), " ", ", "), "[]")
		fact = quoted + " also at " + offsets
		if rest := m.total - 1 - len(m.further); rest > 0 {
			fact += fmt.Sprintf(" and %d more", rest)
		}
	}
	return Note{Kind: "matches", Fact: fact, Data: map[string]any{
		"first": m.first.offset, "further": m.further, "total": m.total,
	}}
}
