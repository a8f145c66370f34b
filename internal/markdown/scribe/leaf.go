// Blocks of text: where one begins and ends, and the blanks and breaks in it.

package scribe

import "bytes"

// Where text stands that has to stay on one line.
const (
	inBlock   = iota // anywhere: blocks may follow
	inHeading        // breaks and blocks are blanks
	inCell           // breaks and blocks are <br>
	inWords          // an alternative text: no line's start
)

// leaf is the block of text that is being written: a paragraph, a heading, a cell.
type leaf struct {
	open      bool   // something of it is written
	leafStart int    // offset of its first content
	lineStart int    // offset of the first content of its current line
	space     bool   // a blank is due before the next content
	breaks    int    // hard breaks due before the next content: 0 or 1
	lead      string // what stands before its content: "## ", "[x] "
	flat      int    // inBlock, inHeading or inCell
	keepLines bool   // line feeds in text are breaks
	math      bool   // a formula stands in it: dollars in its text are escaped
}

// Open says that something of a block of text is written, which Break would end.
func (w *Writer) Open() bool { return w.open }

// Flat says that all stands on one line, in a heading or a cell: no block can begin.
func (w *Writer) Flat() bool { return w.flat != inBlock }

// Line is what is written of the line that the next text goes on.
func (w *Writer) Line() []byte {
	if !w.open {
		return nil
	}
	return w.out[w.lineStart:]
}

// SpaceDue says that a blank will part the next content from what is written.
func (w *Writer) SpaceDue() bool { return w.space || w.breaks > 0 }

// Space keeps what comes apart from what is written by a blank.
func (w *Writer) Space() { w.space = true }

// KeepLines makes line feeds in text breaks, or no longer, and answers how it was.
func (w *Writer) KeepLines(keep bool) (was bool) {
	was, w.keepLines = w.keepLines, keep
	return was
}

// Lead puts a task's box or an item's number before the first text of the block that comes, as it is spelled.
func (w *Writer) Lead(s string) { w.lead += s }

// Unlead drops what Lead had for a block that did not come.
func (w *Writer) Unlead() { w.lead = "" }

// Raw writes characters that nothing makes markup of.
func (w *Writer) Raw(s string) {
	w.ready()
	if s[0] == '^' && w.last() == '[' {
		w.out = append(w.out, '\\') // else a footnote reference where a link begins
	}
	w.out = append(w.out, s...)
}

// Attach writes characters that nothing makes markup of right after what is written, before a blank that is due.
func (w *Writer) Attach(s string) {
	if !w.open {
		w.ready()
	}
	w.out = append(w.out, s...)
}

// Separate writes a separator right after what is written, and lets a blank follow it in place of a break that is due.
func (w *Writer) Separate(s string) {
	w.Attach(s)
	w.space, w.breaks = true, 0
}

// Start makes the output ready for content and answers the place where that begins.
func (w *Writer) Start() Place {
	w.ready()
	return w.Here()
}

// ready makes the output ready for inline content: it starts the block if there is none, writes the blank or break
// that is due, and the inline elements that have waited for content.
func (w *Writer) ready() {
	switch {
	case !w.open:
		w.newLine()
		w.out = append(w.out, w.lead...)
		w.lead = ""
		w.open, w.math = true, false
		w.leafStart, w.lineStart = len(w.out), len(w.out)
	case w.breaks > 0:
		w.hardBreak()
	case w.space && len(w.out) > w.lineStart:
		w.out = append(w.out, ' ')
	}
	w.space, w.breaks = false, 0
	if w.waiting {
		w.activate()
	}
}

// hardBreak writes a break within the block.
func (w *Writer) hardBreak() {
	switch {
	case len(w.out) == w.lineStart:
	case w.flat == inCell:
		w.out = append(w.out, "<br>"...)
	case w.flat == inHeading:
		w.out = append(w.out, ' ')
	default:
		w.settleBackslashes()
		w.out = append(w.out, '\\', '\n')
		w.linePrefix()
	}
}

// settleBackslashes makes references of the backslashes at the end of a line: some parsers read three of them wrongly.
func (w *Writer) settleBackslashes() {
	text := bytes.TrimRight(w.out, `\`)
	n := (len(w.out) - len(text)) / 2
	if n == 0 {
		return
	}
	end := len(text)
	w.out = text
	for range n {
		w.out = append(w.out, "&#92;"...)
	}
	for i := len(w.marks) - 1; i >= 0 && w.marks[i].at > end; i-- {
		w.marks[i].at = len(w.out)
	}
}

// LineBreak is a break within a block. Two in a row part paragraphs.
func (w *Writer) LineBreak() {
	switch {
	case !w.open:
	case w.breaks > 0 && w.flat == inBlock:
		w.Break(2)
	default:
		w.breaks = 1
	}
}

// Break ends the block of text, if one is open; at least gap line feeds stand before what comes next. Inline elements
// that are open go on in the next block. Where all stands on one line it is a break in that.
func (w *Writer) Break(gap int) {
	if w.flat != inBlock {
		if w.open {
			w.breaks = 1
		}
		return
	}
	if w.open {
		w.suspend()
		w.resolveMarks()
		w.noteDollars()
		w.open = false
	}
	w.space, w.breaks = false, 0
	if len(w.markers) == 0 { // the first thing after a marker stands on its line
		w.gap = max(w.gap, gap)
	}
}
