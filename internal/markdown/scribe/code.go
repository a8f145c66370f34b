// Code: spans and fenced blocks.

package scribe

import (
	"bytes"
	"strings"
)

// codeSpan is a span that has been written.
type codeSpan struct {
	start, end int // in the output
	text       string
}

// Span writes a code span; text is one line, and begins and ends with a visible character.
func (w *Writer) Span(text string) {
	const longest = 256 // bytes up to which spans side by side become one
	if last := w.lastSpan; last.end == len(w.out) && last.end > 0 && w.open && !w.SpaceDue() && !w.waiting &&
		(len(w.marks) == 0 || w.marks[len(w.marks)-1].at < last.end) {
		// Their fences would melt into one another.
		if len(last.text) < longest {
			text = last.text + text
			w.out = w.out[:last.start]
		} else {
			w.space = true
		}
	}
	if strings.IndexByte(text, '@') >= 0 {
		w.breakMailbox("`" + text)
	}
	w.ready()
	w.breakAddress()
	start := len(w.out)
	fence := longestRun(text, '`') + 1
	pad := text[0] == '`' || text[len(text)-1] == '`'
	w.fence(fence)
	if pad {
		w.out = append(w.out, ' ')
	}
	w.verbatim(text)
	if pad {
		w.out = append(w.out, ' ')
	}
	w.fence(fence)
	w.lastSpan = codeSpan{start, len(w.out), text}
	w.textFrom = len(w.out)
}

// verbatim writes text in which only a cell's end is markup.
func (w *Writer) verbatim(text string) {
	if w.flat != inCell {
		w.out = append(w.out, text...)
		return
	}
	for i := range len(text) {
		if text[i] == '|' {
			w.out = append(w.out, '\\')
		}
		w.out = append(w.out, text[i])
	}
}

func (w *Writer) fence(n int) {
	for range n {
		w.out = append(w.out, '`')
	}
}

func longestRun(text string, c byte) int {
	longest := 0
	for i := strings.IndexByte(text, c); i >= 0 && i < len(text); i++ {
		n := run(text[i:], c)
		longest = max(longest, n)
		i += n
	}
	return longest
}

// Code writes a fenced block of these lines, lang after the fence; in a heading or a cell its lines are spans.
func (w *Writer) Code(text, lang string) {
	w.Break(2)
	if w.flat != inBlock {
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				w.Span(line)
				w.Break(0)
			}
		}
		return
	}
	fence := max(3, longestRun(text, '`')+1)
	w.newLine()
	w.fence(fence)
	w.out = append(w.out, lang...)
	w.lines(text)
	w.lines("")
	w.fence(fence)
	w.gap = 2
}

// lines goes on with lines as they are.
func (w *Writer) lines(text string) {
	for rest, more := text, true; more; {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		w.out = append(w.out, '\n')
		if line == "" && text != "" {
			w.out = append(w.out, bytes.TrimRight(w.prefix, " ")...)
			continue
		}
		w.out = append(w.out, w.prefix...)
		w.out = append(w.out, line...)
	}
}
