// Inline elements: emphasis and links, written only when content comes.

package scribe

// Mark is a kind of emphasis.
type Mark = uint8

// The marks.
const (
	Em Mark = iota
	Strong
	Del
)

const (
	em, strong, del = Em, Strong, Del
	link            = Del + 1
)

// inline is an open inline element. It is written only when content comes, so that blanks stay outside of it and an
// empty one leaves no trace.
type inline struct {
	kind   uint8
	live   bool // written, and to be closed
	silent bool // inside another one of its kind, or past its use: nothing is written for it
	at     int  // emphasis: index of its mark; link: offset of its bracket
	link   Link
}

// Link is a link to be written.
type Link struct {
	URL     string // absolute
	Words   bool   // it holds words somewhere, so that a block in it with only images stays bare
	Heading bool   // it waits for a heading that is in it
}

// EnterMark opens emphasis; Leave closes it.
func (w *Writer) EnterMark(kind Mark) { w.enter(inline{kind: kind}) }

// EnterLink opens a link; Leave closes it. One block in it carries it, the first with words.
func (w *Writer) EnterLink(l Link) {
	w.enter(inline{kind: link, link: l, silent: w.links == LinksNone})
}

// InLink says that text goes into a link.
func (w *Writer) InLink() bool { return w.inLink }

// Entered is how many inline elements are open.
func (w *Writer) Entered() int { return len(w.opens) }

// enter opens an inline element.
func (w *Writer) enter(e inline) {
	w.opens = append(w.opens, e)
	if e.kind != link && w.open && !w.space && w.breaks == 0 && !w.waiting && w.ended(e.kind) {
		w.activate() // it goes on with the run before it, blanks at its start included
		return
	}
	w.waiting = true
}

// Leave closes the inline element that was opened last.
func (w *Writer) Leave() {
	e := &w.opens[len(w.opens)-1]
	if e.live {
		w.shut(e)
	}
	w.opens = w.opens[:len(w.opens)-1]
}

// activate writes the open inline elements that have waited for content.
func (w *Writer) activate() {
	w.waiting = false
	for i := range w.opens {
		e := &w.opens[i]
		if e.live || e.silent {
			continue
		}
		if e.kind == link {
			if e.link.Heading && w.flat != inHeading {
				w.waiting = true
				continue
			}
			if w.inLink {
				e.silent = true
				continue
			}
			w.openBracket()
			e.at = len(w.out) - 1
			w.inLink = true
		} else {
			if w.live[e.kind] {
				e.silent = true
				continue
			}
			e.at = w.openMark(e.kind)
			w.live[e.kind] = true
		}
		e.live = true
	}
}

// suspend closes what is live at the end of a block; it opens again in the next one.
func (w *Writer) suspend() {
	for i := len(w.opens) - 1; i >= 0; i-- {
		e := &w.opens[i]
		if e.live {
			w.shut(e)
		}
		if e.kind != link {
			e.silent = false
		}
	}
	w.waiting = len(w.opens) > 0
}

// shut writes the end of a live inline element.
func (w *Writer) shut(e *inline) {
	e.live = false
	if e.kind == link {
		w.inLink = false
		w.closeLink(e)
		return
	}
	w.live[e.kind] = false
	w.closeMark(e.kind, e.at)
}
