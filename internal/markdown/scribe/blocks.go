// Blocks that are not plain text: headings, rules, formulas, tables.

package scribe

import "strings"

var hashes = [7]string{"", "# ", "## ", "### ", "#### ", "##### ", "###### "}

// BeginHeading lets a heading of this level, 1 to 6, hold what comes until EndHeading. Where all stands on one line it
// is a part of that.
func (w *Writer) BeginHeading(level int) (ok bool) {
	w.Break(2)
	if w.flat != inBlock {
		return false
	}
	w.lead = hashes[level]
	w.flat = inHeading
	return true
}

// EndHeading ends the heading that BeginHeading began. One without content leaves no trace.
func (w *Writer) EndHeading() {
	if w.open {
		w.suspend()
		w.guardClosing()
		w.resolveMarks()
		w.noteDollars()
		w.open = false
	}
	w.flat = inBlock
	w.lead = ""
	w.Break(2)
}

// guardClosing keeps number signs at the end of a heading from being read as its closing sequence.
func (w *Writer) guardClosing() {
	i := len(w.out)
	for i > w.leafStart && w.out[i-1] == '#' {
		i--
	}
	if i < len(w.out) && (i == w.leafStart || w.out[i-1] == ' ') {
		w.insertByte(len(w.out)-1, '\\')
	}
}

// Rule writes a thematic break.
func (w *Writer) Rule() {
	w.Break(2)
	if w.flat != inBlock {
		return
	}
	// Dashes would be front matter at the very start, and together with an item's marker a rule in place of the item.
	line := "---"
	if len(w.out) == 0 || len(w.markers) > 0 {
		line = "___"
	}
	w.newLine()
	w.out = append(w.out, line...)
	w.gap = 2
}

// Formula writes TeX on one line, between dollars; display sets it on lines of its own.
func (w *Writer) Formula(tex string, display bool) {
	w.formulas = true
	if !display || w.flat != inBlock {
		if w.math && w.textFrom == len(w.out) && w.last() == '$' {
			w.space = true // two formulas side by side would melt into one another
		}
		if strings.IndexByte(tex, '@') >= 0 {
			w.breakMailbox("$" + tex)
		}
		w.ready()
		w.breakAddress()
		w.guardDollars()
		w.out = append(w.out, '$')
		w.verbatim(tex)
		w.out = append(w.out, '$')
		w.textFrom = len(w.out)
		return
	}
	w.Break(2)
	w.newLine()
	w.out = append(w.out, "$$"...)
	w.lines(tex)
	w.lines("$$")
	w.gap = 2
}

// BeginRow begins a row of a table. Cells follow, nothing else.
func (w *Writer) BeginRow() {
	w.newLine()
	w.out = append(w.out, '|')
	w.gap = 1
}

// EmptyCell writes a cell without content.
func (w *Writer) EmptyCell() { w.out = append(w.out, " |"...) }

// DelimiterRow writes the row under a table's header.
func (w *Writer) DelimiterRow(columns int) {
	w.BeginRow()
	for range columns {
		w.out = append(w.out, " --- |"...)
	}
}

// BeginCell lets a cell hold what comes until EndCell.
func (w *Writer) BeginCell() {
	w.out = append(w.out, ' ')
	w.leaf = leaf{open: true, leafStart: len(w.out), lineStart: len(w.out), flat: inCell, keepLines: w.keepLines}
}

// EndCell ends the cell that BeginCell began; false if it holds nothing.
func (w *Writer) EndCell() (filled bool) {
	w.suspend()
	w.resolveMarks()
	w.noteDollars()
	filled = len(w.out) > w.leafStart
	if !filled {
		w.out = w.out[:len(w.out)-1]
	}
	w.out = append(w.out, " |"...)
	w.leaf = leaf{keepLines: w.keepLines}
	return filled
}
