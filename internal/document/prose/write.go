package prose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// ErrFull says that the document is longer than is read of one: its reader stops, and Finish says so.
var ErrFull = errors.New("the document is longer than is read")

// Writer writes one document.
type Writer struct {
	ctx    context.Context
	w      *scribe.Writer
	limits document.Limits
	pieces int // kept by the reader so far
	full   bool
	over   bool // a text was cut
	cut    bool // columns of a table were left out

	base     int // length of the prefix around all items: a note's
	items    []item
	last     lastItem
	quote    bool
	code     []string
	codeSize int    // bytes of it
	codeAt   int    // level of the item that the code is in; -1 for none
	title    string // of the first heading
}

// New makes a writer of an empty document.
func New(ctx context.Context, limits document.Limits) *Writer {
	return &Writer{ctx: ctx, w: scribe.New(ctx, 4<<10), limits: limits.WithDefaults()}
}

// Spend counts what a reader keeps in memory: runs, cells, blocks. ErrFull: no more.
func (w *Writer) Spend(pieces int) error {
	if w.pieces += pieces; w.pieces > w.limits.Cells {
		w.full = true
		return ErrFull
	}
	return nil
}

// Cut says that the reader leaves out the rest of the document. It gives ErrFull.
func (w *Writer) Cut() error {
	w.full = true
	return ErrFull
}

// Spent is what Spend has counted.
func (w *Writer) Spent() int { return w.pieces }

// Release goes back to what Spent was, once what was read since is written and gone.
func (w *Writer) Release(to int) { w.pieces = to }

// Block writes a block. Its errors are ErrFull and the context's.
func (w *Writer) Block(b *Block) error {
	if w.over || w.w.Len() > w.limits.Text {
		return ErrFull
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.block(b)
	if w.over || w.w.Len()+w.codeSize > w.limits.Text {
		w.full = true
		return errors.Join(w.w.Err(), ErrFull)
	}
	return w.w.Err()
}

// Note writes the note of a label. Its errors are Block's.
func (w *Writer) Note(label string, blocks []Block) error {
	w.close()
	w.w.Break(2)
	w.w.Push(scribe.NoteMarker(label))
	w.base = w.w.Depth()
	var err error
	for i := range blocks {
		b := blocks[i]
		if b.Form == Heading {
			b.Form = Paragraph
		}
		if err = w.Block(&b); err != nil {
			break
		}
	}
	w.close()
	w.base = 0
	w.w.Break(2)
	w.w.Pop(0)
	return err
}

// FirstHeading is the words of the first heading; empty for none.
func (w *Writer) FirstHeading() string { return w.title }

// Finish gives the document, and what of it was left out.
func (w *Writer) Finish() (markdown string, notes []document.Fact) {
	w.close()
	if w.full {
		notes = append(notes, document.Fact{Kind: document.NoteCut,
			Words: fmt.Sprintf("the document is long; the rest after its first %d bytes of text is left out", w.w.Len()),
			Data:  map[string]any{"bytes": w.w.Len()}})
	}
	if w.cut {
		notes = append(notes, document.Fact{Kind: document.NoteCut,
			Words: fmt.Sprintf("a table has more than %d columns; the others are left out", maxColumns),
			Data:  map[string]any{"columns": maxColumns}})
	}
	return w.w.String(), notes
}

func (w *Writer) block(b *Block) {
	if b.blank() {
		return
	}
	b = w.typewritten(b)
	if b.Form == Lines && w.code != nil && b.Quote == w.quote && goesOn(b.Item, w.codeAt) {
		w.codeLine(b)
		return
	}
	w.flushCode()
	if w.w.Flat() {
		w.flatBlock(b)
		return
	}
	if b.Quote != w.quote {
		w.close()
		if w.quote = b.Quote; w.quote {
			w.w.Break(2)
			w.w.Push("> ", "> ")
			w.base = w.w.Depth()
		}
	}
	label := ""
	if b.Item != nil {
		label = w.enterItem(b.Item)
	} else {
		w.leaveItems(0)
	}
	w.w.Break(2)
	if label != "" {
		w.w.Text(label + " ")
	}
	if b.Item != nil && !b.Item.More && b.Form == Paragraph {
		switch b.Item.Task {
		case ToDo:
			w.w.Lead("[ ] ")
		case Done:
			w.w.Lead("[x] ")
		}
	}
	switch b.Form {
	case Paragraph:
		w.runs(b.Runs)
		w.w.Break(2)
		w.w.Unlead()
	case Heading:
		w.heading(b)
	case Lines:
		w.codeLine(b)
	case Table:
		w.table(b)
	}
}

// heading writes a heading, without the emphasis that all of it has.
func (w *Writer) heading(b *Block) {
	if w.title == "" {
		w.title = strings.Join(strings.Fields(b.PlainText()), " ")
	}
	if !w.w.BeginHeading(min(max(b.Level, 1), 6)) {
		return
	}
	if b.Label != "" {
		w.w.Text(b.Label + " ")
	}
	w.runs(withoutCommon(b.Runs))
	w.w.EndHeading()
}

// withoutCommon gives runs without the emphasis that every one of them with words has.
func withoutCommon(runs []Run) []Run {
	common := Bold | Italic
	for i := range runs {
		if runs[i].Kind == Words && visible(runs[i].Text) {
			common &= runs[i].Style
		}
	}
	if common == 0 {
		return runs
	}
	bare := make([]Run, len(runs))
	for i, r := range runs {
		r.Style &^= common
		bare[i] = r
	}
	return bare
}

// codeLine takes a paragraph of code, which is one with those before it.
func (w *Writer) codeLine(b *Block) {
	var line []byte
	for i := range b.Runs {
		switch r := &b.Runs[i]; r.Kind {
		case Words:
			line = scribe.AppendVisible(line, w.fitting(r.Text, w.w.Len()+w.codeSize+len(line)))
		case Break:
			line = append(line, '\n')
		}
	}
	w.code = append(w.code, strings.TrimRight(string(line), " \t\n"))
	w.codeSize += len(w.code[len(w.code)-1]) + 1
	if w.codeAt = -1; b.Item != nil {
		w.codeAt = b.Item.Level
	}
}

// goesOn says that a line of code stands where the one before it does.
func goesOn(i *Item, level int) bool {
	if i == nil {
		return level < 0
	}
	return i.More && i.Level == level
}

// typewritten tells a paragraph that is set in a font of code from one that is code: lines of code are a block, and what is a
// sentence in such a font is a sentence.
func (w *Writer) typewritten(b *Block) *Block {
	if b.Form != Paragraph || b.Item != nil || b.Quote {
		return b
	}
	var text []byte
	for i := range b.Runs {
		switch r := &b.Runs[i]; {
		case r.Kind == Break:
			text = append(text, '\n')
		case r.Kind != Words || r.Link != "" || r.Style&(Raised|Lowered) != 0 || r.Style&Code == 0 && visible(r.Text):
			return b
		default:
			text = append(text, r.Text...)
		}
	}
	const few = 4 // words, of which a line of code without a sign of code has no more
	out := *b
	switch words := len(bytes.Fields(text)); {
	case looksLikeCode(text), words > 0 && words <= few && (w.code != nil && w.codeAt < 0 || text[0] >= 'a' && text[0] <= 'z'):
		out.Form = Lines
	case words > few:
		out.Runs = make([]Run, len(b.Runs))
		for i, r := range b.Runs {
			r.Style &^= Code
			out.Runs[i] = r
		}
	}
	return &out
}

// looksLikeCode says that text begins with blanks, as a program's lines do, or has as many signs of code as a sentence has not.
func looksLikeCode(text []byte) bool {
	const oneIn = 30
	if len(text) == 0 {
		return false
	}
	signs := 0
	for i, c := range text {
		switch c {
		case '{', '}', '[', ']', '<', '>', '=', '|', '\\', '$', '_', '#':
			signs++
		case '(':
			if i > 0 && (text[i-1]|0x20 >= 'a' && text[i-1]|0x20 <= 'z' || text[i-1] == '_') {
				signs++
			}
		case ';':
			if i == len(text)-1 || text[i+1] == '\n' {
				signs++
			}
		}
	}
	return text[0] == ' ' || text[0] == '\t' || signs*oneIn >= len(text)
}

func (w *Writer) flushCode() {
	if w.code == nil {
		return
	}
	code := strings.Trim(strings.Join(w.code, "\n"), "\n")
	w.code, w.codeSize = nil, 0
	if code != "" {
		w.w.Code(code, "")
	}
}

// close ends the items, the code and the quotation that are open.
func (w *Writer) close() {
	w.flushCode()
	w.leaveItems(0)
	if w.quote {
		w.quote = false
		w.base -= len("> ")
		w.w.Break(2)
		w.w.Pop(w.base)
	}
}

// flatBlock writes a block in a cell, where nothing but a line is left to it.
func (w *Writer) flatBlock(b *Block) {
	w.w.Break(0)
	if b.Item != nil && !b.Item.More {
		switch {
		case b.Item.Label != "":
			w.w.Text(b.Item.Label + " ")
		case b.Item.Task == ToDo:
			w.w.Text("☐ ")
		case b.Item.Task == Done:
			w.w.Text("☒ ")
		}
	}
	if b.Label != "" {
		w.w.Text(b.Label + " ")
	}
	if b.Form == Table {
		w.flatTable(b)
	} else {
		w.runs(b.Runs)
	}
	w.w.Break(0)
}

// fitting is what of a text is written after so many bytes: a text alone may be longer than the document may.
func (w *Writer) fitting(text string, after int) string {
	room := w.limits.Text - max(w.w.Len(), after)
	if len(text) <= room {
		return text
	}
	w.over = true
	room = max(room, 0)
	for room > 0 && !utf8.RuneStart(text[room]) {
		room--
	}
	return text[:room]
}

func visible(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsSpace(c) && c != '\u200b' && c != '\ufeff' && c != '\u00ad' })
}
