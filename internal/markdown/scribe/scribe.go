// Package scribe writes Markdown: CommonMark with GFM's tables, strike-through, task lists and footnotes, and math
// between dollars.
//
// The one rule: text that is given as text reads as that text, in every parser, and as nothing else. Whoever gives it
// says where blocks, lines and marks begin and end; the scribe finds the spelling. It writes into one buffer and goes
// back in it only within the block that is open.
package scribe

import (
	"context"
	"slices"
	"strings"
)

// Writer writes one document. Make it with New.
type Writer struct {
	ctx   context.Context
	err   error // ctx's, once it is done
	steps int

	out []byte
	lineage
	leaf
	opens   []inline   // inline elements open, outermost first
	waiting bool       // some of them may have to be written before the next content
	live    [link]bool // em, strong, del: written and not closed
	inLink  bool       // a link is written and not closed
	marks   []emphasis // of the block that is open, in the order of their places
	scratch []byte

	lastSpan codeSpan
	imageEnd int            // where the last image ended in out
	textFrom int            // where the last link, code, image or formula ended in out: text alone follows
	moves    int            // how often what was written has moved
	looked   int            // how far the current word has been looked through for an address
	links    Links          // how links and images give their addresses
	numbers  map[string]int // of the addresses, where links are numbered references
	numbered []string       // addresses by number, from 1
	formulas bool           // one is written: dollars of text are not to be read as those of another
	dollars  []stretch      // blocks of text that are closed, hold no formula and several dollars, in order
	run      addressRun
	runFrom  int // how much of the text was left where run begins; 0 for none
}

// New makes a writer of an empty document, with room for so many bytes. What it writes stops growing when ctx is
// done; Err tells.
func New(ctx context.Context, size int) *Writer {
	w := &Writer{}
	w.Restart(ctx, size)
	return w
}

// Restart makes w the writer of another empty document, as New makes one, in the memory that it has.
func (w *Writer) Restart(ctx context.Context, size int) {
	clear(w.opens[:cap(w.opens)]) // they know addresses
	again := Writer{ctx: ctx, out: w.out[:0], opens: w.opens[:0], marks: w.marks[:0], scratch: w.scratch[:0], dollars: w.dollars[:0]}
	again.prefix = w.prefix[:0]
	if cap(again.out) < size {
		again.out = make([]byte, 0, size)
	}
	*w = again
}

// Room is about how much memory the writer has, in bytes, to judge whether it is worth keeping for another document.
func (w *Writer) Room() int {
	const ofMark, ofInline, ofStretch = 32, 64, 16
	return cap(w.out) + cap(w.scratch) + ofMark*cap(w.marks) + ofInline*cap(w.opens) + ofStretch*cap(w.dollars)
}

// Err is ctx's error, once a long text has been cut short by it.
func (w *Writer) Err() error { return w.err }

// Links are ways in which links and images give their addresses.
type Links uint8

// The ways.
const (
	LinksInline     Links = iota // in the link
	LinksNone                    // not at all: a link is its words, an image its alternative text
	LinksReferences              // by a number; the addresses stand at the end of the document, each once
)

// WriteLinks says how the links and images that come give their addresses.
func (w *Writer) WriteLinks(l Links) {
	if w.links = l; l == LinksReferences {
		w.numbers = map[string]int{}
	}
}

// String ends the block that is open and answers the document, valid UTF-8 without a line feed at its end.
func (w *Writer) String() string {
	w.Break(0)
	w.escapeDollars()
	w.definitions()
	return strings.ToValidUTF8(string(w.out), "\uFFFD")
}

// Since is what is written from a place that [Writer.Len] gave; valid until more is.
func (w *Writer) Since(from int) []byte { return w.out[min(from, len(w.out)):] }

// Len is how many bytes are written. It grows with content only: what is opened and closed without any leaves it.
func (w *Writer) Len() int { return len(w.out) }

// Place is a place in the output that one may go back to.
type Place struct {
	at, gap, common      int
	moves                int
	leafStart, lineStart int
	open                 bool
	markers              []marker
}

// Here is the place where the next content goes.
func (w *Writer) Here() Place {
	return Place{len(w.out), w.gap, w.common, w.moves, w.leafStart, w.lineStart, w.open, slices.Clone(w.markers)}
}

// BackTo takes back what was written since a place in the block that is open or was the last one; false if that cannot
// be done: marks stand in it, or what is before it has moved.
func (w *Writer) BackTo(p Place) bool {
	if p.at > len(w.out) || p.moves != w.moves || len(w.marks) > 0 && w.marks[len(w.marks)-1].at > p.at {
		return false
	}
	w.out = w.out[:p.at]
	for len(w.dollars) > 0 && w.dollars[len(w.dollars)-1].end > p.at {
		w.dollars = w.dollars[:len(w.dollars)-1]
	}
	if p.open && !w.open {
		w.gap = 0
	}
	if !p.open {
		w.gap, w.common = p.gap, p.common
		w.markers = append(w.markers[:0], p.markers...)
	}
	w.open, w.leafStart, w.lineStart = p.open, p.leafStart, p.lineStart
	return true
}

// moved keeps what is remembered by its place in the output right, when what comes after offset at has moved.
func (w *Writer) moved(at, by int) {
	w.moves++
	for i := len(w.marks) - 1; i >= 0 && w.marks[i].at > at; i-- {
		w.marks[i].at += by
	}
	for i := range w.opens {
		if e := &w.opens[i]; e.kind == link && e.live && e.at > at {
			e.at += by
		}
	}
	for _, place := range []*int{&w.imageEnd, &w.lastSpan.start, &w.lastSpan.end, &w.textFrom} {
		if *place > at {
			*place += by
		}
	}
}

// insertByte puts a byte into text already written.
func (w *Writer) insertByte(at int, c byte) {
	w.out = slices.Insert(w.out, at, c)
	w.moved(at, 1)
}
