// Emphasis: strong, em and del are noted while a block is written and put in at its end, when both neighbours of each
// mark are known. CommonMark lets a run of stars open or close only between certain characters; where it would not,
// the mark moves off the punctuation at the edge, or becomes an HTML tag.

package scribe

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// emphasis is one end of an emphasised run.
type emphasis struct {
	at   int   // offset in the output
	pair int   // index of the other end
	kind uint8 // em, strong, del
	open bool
	tag  bool // written as an HTML tag
	gone bool
}

// ended says that a run of this kind ended just here, so that one that begins now goes on with it.
func (w *Writer) ended(kind uint8) bool {
	for i := len(w.marks) - 1; i >= 0 && w.marks[i].at == len(w.out) && !w.marks[i].open; i-- {
		if w.marks[i].kind == kind {
			return true
		}
	}
	return false
}

func (w *Writer) openMark(kind uint8) int {
	at := len(w.out)
	n := len(w.marks)
	w.turn(kind)
	if n > 0 && w.marks[n-1].at == at && w.marks[n-1].kind == kind && !w.marks[n-1].open {
		opener := w.marks[n-1].pair
		w.marks = w.marks[:n-1]
		return opener
	}
	// Where runs cross, the second half of one goes on as a tag, which may begin with a blank.
	w.marks = append(w.marks, emphasis{at: at, kind: kind, open: true, tag: w.ended(kind)})
	return n
}

// turn exchanges strong and em that hold the same text and have both just closed, where that lets a run of this kind go
// on: stars do not say which of the two is the outer one.
func (w *Writer) turn(kind uint8) {
	n := len(w.marks)
	if n < 4 || w.marks[n-2].at != len(w.out) {
		return
	}
	last, before := &w.marks[n-1], &w.marks[n-2]
	if last.open || before.open || before.kind != kind || last.kind == kind || last.kind == del || kind == del {
		return
	}
	outer, inner := &w.marks[last.pair], &w.marks[before.pair]
	if before.pair != last.pair+1 || outer.at != inner.at {
		return
	}
	last.kind, before.kind, outer.kind, inner.kind = before.kind, last.kind, inner.kind, outer.kind
	last.tag, before.tag, outer.tag, inner.tag = before.tag, last.tag, inner.tag, outer.tag
}

func (w *Writer) closeMark(kind uint8, opener int) {
	at := len(w.out)
	if opener == len(w.marks)-1 && w.marks[opener].at == at {
		w.marks = w.marks[:opener]
		return
	}
	w.marks[opener].pair = len(w.marks)
	w.marks = append(w.marks, emphasis{at: at, kind: kind, pair: opener, tag: w.marks[opener].tag})
}

// token is what an end is written as.
func (m *emphasis) token() string {
	if m.tag {
		switch {
		case m.kind == em && m.open:
			return "<em>"
		case m.kind == em:
			return "</em>"
		case m.kind == strong && m.open:
			return "<strong>"
		case m.kind == strong:
			return "</strong>"
		case m.open:
			return "<del>"
		}
		return "</del>"
	}
	switch m.kind {
	case em:
		return "*"
	case strong:
		return "**"
	}
	return "~~"
}

// resolveMarks puts the marks of the block that ends here into the output.
func (w *Writer) resolveMarks() {
	marks := w.marks
	if len(marks) == 0 {
		return
	}
	start := marks[0].at
	joinRuns(marks)
	if w.flat == inHeading {
		dropWhole(marks, w.leafStart, len(w.out))
	}
	// Each round turns what cannot stand into tags, which changes the neighbours of what is left. Few texts need a
	// second round; one that is not settled after the last is written in tags alone.
	const rounds = 6
	for round := 0; !w.settle(marks, start); round++ {
		if round == rounds {
			for i := range marks {
				marks[i].tag = true
			}
			break
		}
	}
	w.scratch = append(w.scratch[:0], w.out[start:]...)
	w.out = w.out[:start]
	done := start
	for i := range marks {
		m := &marks[i]
		if m.gone {
			continue
		}
		w.out = append(w.out, w.scratch[done-start:m.at-start]...)
		w.out = append(w.out, m.token()...)
		done = m.at
	}
	w.out = append(w.out, w.scratch[done-start:]...)
	w.marks = marks[:0]
}

// joinRuns lets a run of strong or em go on into one of its kind that begins where it ends, within one of the other kind that
// holds no more than it: stars do not say which of the two is the outer one.
func joinRuns(marks []emphasis) {
	for i := 0; i+2 < len(marks); i++ {
		ended, outer, inner := &marks[i], &marks[i+1], &marks[i+2]
		if ended.open || !outer.open || !inner.open || ended.at != outer.at || outer.at != inner.at ||
			ended.kind != inner.kind || outer.kind == inner.kind || ended.kind == del || outer.kind == del || ended.gone || outer.gone || inner.gone {
			continue
		}
		first, last := inner.pair, outer.pair // the ends of the inner and of the outer one
		if last != first+1 || marks[first].at != marks[last].at {
			continue
		}
		began := ended.pair
		marks[first] = emphasis{at: marks[first].at, pair: i + 1, kind: outer.kind, tag: outer.tag}
		marks[last] = emphasis{at: marks[last].at, pair: began, kind: ended.kind, tag: ended.tag}
		outer.pair, marks[began].pair = first, last
		ended.gone, inner.gone = true, true
	}
}

// dropWhole takes strong off a heading that is strong as a whole: it says nothing there.
func dropWhole(marks []emphasis, start, end int) {
	for i := range marks {
		m := &marks[i]
		if m.at != start {
			return
		}
		if m.kind == strong && m.open && marks[m.pair].at == end {
			m.gone, marks[m.pair].gone = true, true
			return
		}
	}
}

// settle checks every group of marks that stand together and repairs those that CommonMark would not read as meant;
// true when there was nothing to repair.
func (w *Writer) settle(marks []emphasis, start int) bool {
	settled := true
	stars := 0 // runs of stars that are open
	for i := 0; i < len(marks); {
		if marks[i].gone {
			i++
			continue
		}
		end := i + 1
		for end < len(marks) && marks[end].at == marks[i].at {
			end++
		}
		if !w.settleGroup(marks, i, end, start, stars) {
			settled = false
		}
		for ; i < end; i++ {
			if m := &marks[i]; m.kind == del || m.gone || m.tag {
				continue
			} else if m.open {
				stars++
			} else {
				stars--
			}
		}
	}
	return settled
}

// settleGroup checks the marks [i, end), which stand at one place.
func (w *Writer) settleGroup(marks []emphasis, i, end, start, stars int) bool {
	ok := partGroup(marks, i, end)
	at := marks[i].at
	before, after := w.runeBefore(at), w.runeAt(at)
	for j := i; j < end; {
		m := &marks[j]
		if m.gone || m.tag {
			j++
			continue
		}
		// The run: marks of one character side by side.
		k := j + 1
		for k < end && !marks[k].gone && !marks[k].tag && (marks[k].kind == del) == (m.kind == del) {
			k++
		}
		left, right := neighbour(marks[i:j], before, true), neighbour(marks[k:end], after, false)
		switch {
		case m.kind == del && (left == '~' || right == '~'), // one run for a parser, escaped or not
			m.open && m.kind != del && stars > 0 && mayOpen(right, left): // it would close what is open
			for ; j < k; j++ {
				marks[j].tag, marks[marks[j].pair].tag = true, true
			}
			ok = false
		case m.open && !canOpen(left, right) || !m.open && !canOpen(right, left):
			for ; j < k; j++ {
				w.mend(marks, j, start)
			}
			ok = false
		}
		j = k
	}
	return ok
}

// partGroup parts stars that close from stars that open at one place, which would be one run: the openers become
// tags. True when there were none.
func partGroup(marks []emphasis, i, end int) bool {
	ok := true
	var stars, tildes bool
	for ; i < end; i++ {
		m := &marks[i]
		closed := &stars
		if m.kind == del {
			closed = &tildes
		}
		switch {
		case m.gone || m.tag:
		case !m.open:
			*closed = true
		case *closed:
			m.tag, marks[m.pair].tag = true, true
			ok = false
		}
	}
	return ok
}

// canOpen is CommonMark's rule for a left-flanking run; with its neighbours exchanged it is the one for a
// right-flanking run. Parsers differ on whether symbols are punctuation, so that it has to hold either way.
func canOpen(before, after rune) bool {
	return !spaceRune(after) &&
		(!punctRune(after) || spaceRune(before) || punctRune(before)) &&
		(!strictPunct(after) || spaceRune(before) || strictPunct(before))
}

// mayOpen says that some parser lets a run open there.
func mayOpen(before, after rune) bool {
	return !spaceRune(after) &&
		(!punctRune(after) || spaceRune(before) || punctRune(before) ||
			!strictPunct(after) || strictPunct(before))
}

// neighbour is the character next to a run: of the nearest mark that is written between it and the text, or the
// text's.
func neighbour(between []emphasis, text rune, before bool) rune {
	for i := range between {
		m := &between[i]
		if before {
			m = &between[len(between)-1-i]
		}
		if m.gone {
			continue
		}
		token := m.token()
		if before {
			return rune(token[len(token)-1])
		}
		return rune(token[0])
	}
	return text
}

// mend repairs one end: it moves inwards, off the punctuation at the edge, or the pair becomes tags.
func (w *Writer) mend(marks []emphasis, j, start int) {
	m := &marks[j]
	if m.gone || m.tag {
		return
	}
	steps := w.moveIn(marks, j, start, maxShift)
	if steps == 0 {
		m.tag, marks[m.pair].tag = true, true
		return
	}
	// Quotation marks and the like stay together: the other end moves off what answers to them.
	w.moveIn(marks, m.pair, start, steps)
}

// moveIn moves one end inwards past at most most characters of punctuation and the blank after them, to where it can
// stand; it answers how many it passed.
func (w *Writer) moveIn(marks []emphasis, j, start, most int) int {
	m := &marks[j]
	at, steps := m.at, 0
	if m.open {
		next := j + 1
		for marks[next].gone {
			next++
		}
		limit := marks[next].at
		for steps < most && at < limit {
			c, size := utf8.DecodeRune(w.out[at:])
			if !movable(c) {
				break
			}
			at += size
			steps++
		}
		if steps > 0 && at < limit && w.out[at] == ' ' {
			at++
		}
		if steps == 0 || at >= limit || !canOpen(w.runeBefore(at), w.runeAt(at)) || breaks(w.out[at:], bytes.HasPrefix) {
			return 0
		}
	} else {
		last := j - 1
		for marks[last].gone {
			last--
		}
		limit := marks[last].at
		for steps < most && at > limit {
			c, size := utf8.DecodeLastRune(w.out[start:at])
			if !movable(c) || at-size > start && w.out[at-size-1] == '\\' {
				break
			}
			at -= size
			steps++
		}
		if steps > 0 && at > limit && w.out[at-1] == ' ' {
			at--
		}
		if steps == 0 || at <= limit || !canOpen(w.runeAt(at), w.runeBefore(at)) || breaks(w.out[start:at], bytes.HasSuffix) {
			return 0
		}
	}
	m.at = at
	return steps
}

// breaks says that a hard break stands at an end of what is written: no mark opens before one or closes after one.
func breaks(out []byte, at func(out, sign []byte) bool) bool {
	return at(out, []byte("<br>")) || at(out, []byte("\\\n"))
}

// maxShift is how many characters a mark moves at most: more at the edge is no punctuation of a word.
const maxShift = 4

// movable are the characters that a mark may step over: punctuation that no markup of ours begins or ends with.
func movable(c rune) bool {
	if c < 0x80 {
		return slices.Contains([]byte(`.,:;?"'%-/`), byte(c))
	}
	return punctRune(c)
}

func (w *Writer) runeBefore(at int) rune {
	if at <= w.leafStart {
		return ' '
	}
	c, _ := utf8.DecodeLastRune(w.out[w.leafStart:at])
	return c
}

func (w *Writer) runeAt(at int) rune {
	if at >= len(w.out) {
		return ' '
	}
	c, _ := utf8.DecodeRune(w.out[at:])
	return c
}
