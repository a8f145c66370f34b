// Inline content: where a block of text begins and ends, the blanks and breaks in it, and the elements around it.

package markdown

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
	keepLines bool   // line feeds in the source are breaks
}

// Kinds of inline elements that mark what is in them.
const (
	em = iota
	strong
	del
	link
)

// inline is an open inline element. It is written only when content comes, so that blanks stay outside of it and an
// empty one leaves no trace.
type inline struct {
	kind    uint8
	live    bool   // written, and to be closed
	silent  bool   // inside another one of its kind, or past its use: nothing is written for it
	heading bool   // link: waits for the heading in it
	words   bool   // link: holds words somewhere, so that a block with only images in it stays bare
	at      int    // em, strong, del: index of its mark; link: offset of its bracket
	url     string // link
}

// ready makes the output ready for inline content: it starts the block if there is none, writes the blank or break
// that is due, and the inline elements that have waited for content.
func (r *renderer) ready() {
	switch {
	case !r.open:
		r.newLine()
		r.out = append(r.out, r.lead...)
		r.lead = ""
		r.open = true
		r.leafStart, r.lineStart = len(r.out), len(r.out)
	case r.breaks > 0:
		r.hardBreak()
	case r.space && len(r.out) > r.lineStart:
		r.out = append(r.out, ' ')
	}
	r.space, r.breaks = false, 0
	if r.waiting {
		r.activate()
	}
}

// hardBreak writes a break within the block.
func (r *renderer) hardBreak() {
	switch {
	case len(r.out) == r.lineStart:
	case r.flat == inCell:
		r.out = append(r.out, "<br>"...)
	case r.flat == inHeading:
		r.out = append(r.out, ' ')
	default:
		r.settleBackslashes()
		r.out = append(r.out, '\\', '\n')
		r.linePrefix()
	}
}

// settleBackslashes makes references of the backslashes at the end of a line: some parsers read three of them wrongly.
func (r *renderer) settleBackslashes() {
	text := bytes.TrimRight(r.out, `\`)
	n := (len(r.out) - len(text)) / 2
	if n == 0 {
		return
	}
	end := len(text)
	r.out = text
	for range n {
		r.out = append(r.out, "&#92;"...)
	}
	for i := len(r.marks) - 1; i >= 0 && r.marks[i].at > end; i-- {
		r.marks[i].at = len(r.out)
	}
}

// lineBreak is a break that the page makes. Two in a row part paragraphs.
func (r *renderer) lineBreak() {
	switch {
	case !r.open:
	case r.breaks > 0 && r.flat == inBlock:
		r.breakLeaf(2)
	default:
		r.breaks = 1
	}
}

// breakLeaf ends the block of text, if one is open; at least gap line feeds stand before what comes next. Inline
// elements that are open go on in the next block.
func (r *renderer) breakLeaf(gap int) {
	if r.flat != inBlock {
		if r.open {
			r.breaks = 1
		}
		return
	}
	if r.open {
		r.suspend()
		r.resolveMarks()
		r.open = false
	}
	r.space, r.breaks = false, 0
	r.gap = max(r.gap, gap)
}

// part keeps two pieces of inline content apart by a blank.
func (r *renderer) part() { r.space = true }

// enter opens an inline element.
func (r *renderer) enter(e inline) {
	r.opens = append(r.opens, e)
	if e.kind != link && r.open && !r.space && r.breaks == 0 && !r.waiting && r.ended(e.kind) {
		r.activate() // it goes on with the run before it, blanks at its start included
		return
	}
	r.waiting = true
}

// leave closes the inline element that was opened last.
func (r *renderer) leave() {
	e := &r.opens[len(r.opens)-1]
	if e.live {
		r.shut(e)
	}
	r.opens = r.opens[:len(r.opens)-1]
}

// activate writes the open inline elements that have waited for content.
func (r *renderer) activate() {
	r.waiting = false
	for i := range r.opens {
		e := &r.opens[i]
		if e.live || e.silent {
			continue
		}
		if e.kind == link {
			if e.heading && r.flat != inHeading {
				r.waiting = true
				continue
			}
			if r.inLink {
				e.silent = true
				continue
			}
			r.openBracket()
			e.at = len(r.out) - 1
			r.inLink = true
		} else {
			if r.live[e.kind] {
				e.silent = true
				continue
			}
			e.at = r.openMark(e.kind)
			r.live[e.kind] = true
		}
		e.live = true
	}
}

// openBracket writes the bracket that begins a link; a literal exclamation mark before it must not make an image of it.
func (r *renderer) openBracket() {
	r.breakAddress()
	if r.last() == '!' && !r.markHere() {
		r.out = append(r.out[:len(r.out)-1], '\\', '!')
	}
	r.out = append(r.out, '[')
}

// suspend closes what is live at the end of a block; it opens again in the next one.
func (r *renderer) suspend() {
	for i := len(r.opens) - 1; i >= 0; i-- {
		e := &r.opens[i]
		if e.live {
			r.shut(e)
		}
		if e.kind != link {
			e.silent = false
		}
	}
	r.waiting = len(r.opens) > 0
}

// shut writes the end of a live inline element.
func (r *renderer) shut(e *inline) {
	e.live = false
	if e.kind == link {
		r.inLink = false
		r.closeLink(e)
		return
	}
	r.live[e.kind] = false
	r.closeMark(e.kind, e.at)
}
