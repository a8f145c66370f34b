// Lines of the output: what parts blocks, what every line of a quote or an item begins with, and which characters
// mean something at the start of a line.

package scribe

import (
	"bytes"
	"strings"
	"unicode"
)

// lineage is where in quotes and lists the next line stands.
type lineage struct {
	prefix  []byte   // what a line begins with
	markers []marker // list and footnote markers that stand on the next line in place of a part of prefix
	common  int      // the shortest prefix since the last content: what a blank line in between begins with
	gap     int      // line feeds due before the next content: 0, 1 or 2
}

// marker replaces n bytes of the prefix at offset at, once.
type marker struct {
	at, n int
	text  string
}

// maxPrefix caps how deep quotes and lists are shown to nest, in bytes of prefix: past it their text goes on at the
// depth reached, so that the output stays in proportion to the page.
const maxPrefix = 40

// Depth is how long the prefix of lines is, to go back to with Pop.
func (w *Writer) Depth() int { return len(w.prefix) }

// Pending says that a marker waits for content: what comes stands on its line.
func (w *Writer) Pending() bool { return len(w.markers) > 0 }

// SetGap sets how many line feeds stand before what comes next: 1 for the next line, 2 for a blank line between.
func (w *Writer) SetGap(n int) { w.gap = n }

// Push lets the lines that follow begin with more, the first of them with first instead; false where that would be
// too deep, and nothing is pushed.
func (w *Writer) Push(more, first string) bool {
	if len(w.prefix)+len(more) > maxPrefix {
		return false
	}
	if first != more {
		w.markers = append(w.markers, marker{len(w.prefix), len(more), first})
	}
	w.prefix = append(w.prefix, more...)
	return true
}

// Pop takes back a Push: the prefix is n long again. A marker that no content followed goes without a trace.
func (w *Writer) Pop(n int) {
	w.prefix = w.prefix[:n]
	w.common = min(w.common, n)
	for len(w.markers) > 0 && w.markers[len(w.markers)-1].at >= n {
		w.markers = w.markers[:len(w.markers)-1]
	}
}

// newLine writes the gap that is due and the start of the line.
func (w *Writer) newLine() {
	if len(w.out) > 0 {
		if w.gap > 0 {
			w.out = append(w.out, '\n')
		}
		if w.gap > 1 {
			w.out = append(w.out, bytes.TrimRight(w.prefix[:w.common], " ")...)
			w.out = append(w.out, '\n')
		}
	}
	w.gap = 0
	w.common = len(w.prefix)
	w.linePrefix()
}

// linePrefix writes what the line begins with.
func (w *Writer) linePrefix() {
	if len(w.markers) == 0 {
		w.out = append(w.out, w.prefix...)
	} else {
		at := 0
		for _, m := range w.markers {
			w.out = append(w.out, w.prefix[at:m.at]...)
			w.out = append(w.out, m.text...)
			at = m.at + m.n
		}
		w.out = append(w.out, w.prefix[at:]...)
		w.markers = w.markers[:0]
	}
	w.lineStart = len(w.out)
}

// lineStarts guards the start of a line: where s, the text that comes now, would begin a block, it writes the first
// characters with a backslash and answers how many bytes of s it took.
func (w *Writer) lineStarts(s string) int {
	if n := len(w.out) - w.lineStart; n > 0 && n <= maxDigits && w.flat == inBlock && digit(w.out[len(w.out)-1]) {
		return w.numberGoesOn(s, n)
	}
	if len(w.out) != w.lineStart || w.flat != inBlock && (w.flat != inHeading || s[0] != '[') {
		return 0
	}
	continued := w.lineStart != w.leafStart // after a hard break: the line before could turn into a heading or a table
	escape := false
	switch c := s[0]; c {
	case '#':
		n := run(s, '#')
		escape = n <= 6 && ends(s, n)
	case '>':
		escape = true
	case '+':
		escape = ends(s, 1)
	case '-':
		escape = ends(s, 1) || only(s, "- ") || continued && only(s, "-|: ")
	case '*', '_': // tildes and backticks are escaped wherever they could begin a fence
		escape = ends(s, run(s, c)) && (c == '*' || ends(s, 1) || run(s, c) >= 3)
	case '=':
		escape = continued && only(s, "= ")
	case '|', ':':
		escape = continued && only(s, "-|: ")
	case '[':
		escape = taskBox(s)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return w.itemNumber(s, 0)
	}
	if !escape {
		return 0
	}
	w.out = append(w.out, '\\', s[0])
	return 1
}

// maxDigits is how many digits an item's number has at most.
const maxDigits = 9

// itemNumber guards a line whose first written digits are so many, and that s goes on with.
func (w *Writer) itemNumber(s string, written int) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	if written+n > maxDigits || n == len(s) || s[n] != '.' && s[n] != ')' || !ends(s, n+1) {
		return 0
	}
	w.out = append(w.out, s[:n]...)
	w.out = append(w.out, '\\', s[n])
	return n + 1
}

// numberGoesOn guards a line that another element has begun with a number, n bytes long so far.
func (w *Writer) numberGoesOn(s string, n int) int {
	if len(w.marks) > 0 || s[0] != '.' && s[0] != ')' && !digit(s[0]) {
		return 0
	}
	for _, c := range w.out[w.lineStart:] {
		if !digit(c) {
			return 0
		}
	}
	return w.itemNumber(s, n)
}

// taskBox says that s, which begins with a bracket, may read as the box of a task.
func taskBox(s string) bool {
	const longest = 16 // blanks collapse, so that a box may be written longer than it is
	end := strings.IndexByte(s[:min(len(s), longest)], ']')
	if end < 0 {
		return len(s) < longest
	}
	mark := strings.TrimFunc(s[1:end], func(c rune) bool { return unicode.IsSpace(c) || unseen(string(c)) })
	return end > 1 && (mark == "" || mark == "x" || mark == "X")
}

// run is how often c stands at the start of s.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// ends says that s is at its end after n bytes, or that what stands there is no visible character.
func ends(s string, n int) bool {
	if n >= len(s) {
		return true
	}
	switch class[s[n]] {
	case blank, control:
		return true
	case wide:
		_, what := wideChar(s[n:])
		return what != plain
	}
	return false
}

// only says that s holds no other visible characters than these.
func only(s, chars string) bool {
	for i := range len(s) {
		if s[i] < 0x80 && strings.IndexByte(chars, s[i]) < 0 && !ends(s, i) ||
			s[i] >= 0xC0 && !ends(s, i) {
			return false
		}
	}
	return true
}
