// Package rtf reads the text of RTF that stands in documents: paragraphs, headings, items, tables, bold and italics. What else
// RTF can say (pictures, objects, places on the page) says nothing here.
//
// The one rule: it is read once, from left to right, and keeps no more than a paragraph, a table and the groups that are open.
package rtf

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/net/html/charset"

	"github.com/wayleave/wayleave/internal/document/prose"
)

// Most is how many bytes are read.
const Most = 2 << 20

// maxGroups is how deep groups nest that have looks of their own; what is deeper looks as what is around it.
const maxGroups = 512

// Is says that bytes are RTF.
func Is(body []byte) bool { return len(body) >= 5 && string(body[:5]) == `{\rtf` }

// Read gives the blocks of RTF to out, whose errors it gives back, as it does the context's and the writer's, which counts what
// is kept. No more than Most bytes are read. What is damaged is read as far as it goes.
func Read(ctx context.Context, body []byte, w *prose.Writer, out func(*prose.Block) error) error {
	r := &reader{ctx: ctx, s: body[:min(len(body), Most)], w: w, out: out, page: "windows-1252", fonts: map[int]string{}}
	r.groups = []group{{skip: 1}}
	r.run()
	r.endParagraph()
	r.endTable()
	if r.err == nil && len(body) > Most {
		return w.Cut()
	}
	return r.err
}

// group is how what stands in braces is read and looks.
type group struct {
	quiet  dest
	style  prose.Style
	hidden bool
	font   int
	skip   int // characters after a \u, for readers that do not know it
}

// dest is what a group's text is for.
type dest uint8

const (
	shown   dest = iota
	note         // a footnote, which stands in brackets where it is referred to
	silent       // nobody reads it
	fonts        // the table of fonts
	listing      // the sign or number of an item
)

// paragraph is how the paragraph that is being read looks.
type paragraph struct {
	level   int // of a heading; 0 for none
	depth   int // of an item's list
	inTable bool
}

type reader struct {
	ctx context.Context
	s   []byte
	at  int
	w   *prose.Writer
	out func(*prose.Block) error
	err error

	groups []group // open; the last is the one that is being read
	deeper int     // groups beyond maxGroups

	page     string         // the document's encoding
	fonts    map[int]string // encodings of fonts that have one of their own
	high     uint16         // the first half of a character that was written in two
	drop     int            // characters to leave out after a \u
	pending  []byte         // text in the font's encoding
	runs     []prose.Run
	label    strings.Builder // of an item
	item     bool
	is       paragraph
	cell     []prose.Block // paragraphs of the cell that is being read
	row      prose.Row
	table    prose.Block
	startsAt bool // the group has just begun: a \* makes it one that may be ignored
}

func (r *reader) top() *group { return &r.groups[len(r.groups)-1] }

func (r *reader) run() {
	const between = 4096
	for steps := 0; r.at < len(r.s) && r.err == nil; steps++ {
		if steps%between == 0 {
			if r.err = r.ctx.Err(); r.err != nil {
				return
			}
		}
		c := r.s[r.at]
		r.at++
		switch c {
		case '{':
			r.flush()
			r.drop = 0
			if len(r.groups) < maxGroups {
				r.groups = append(r.groups, *r.top())
			} else {
				r.deeper++
			}
			r.startsAt = true
			continue
		case '}':
			r.endGroup()
		case '\\':
			r.control()
			continue
		case '\r', '\n':
			continue
		default:
			r.literal(c)
		}
		r.startsAt = false
	}
	r.flush()
}

// endGroup goes back to what is around a group. What follows the outermost is no part of the document.
func (r *reader) endGroup() {
	r.flush()
	r.drop = 0
	if r.deeper > 0 {
		r.deeper--
		return
	}
	if r.top().quiet == note && r.around() != note {
		r.say(")")
	}
	if r.groups = r.groups[:len(r.groups)-1]; len(r.groups) <= 1 {
		r.at = len(r.s)
	}
	if len(r.groups) == 0 {
		r.groups = []group{{skip: 1}}
	}
}

// speaks says that a group's text is read in its place.
func (g *group) speaks() bool { return g.quiet <= note && !g.hidden }

// literal takes one byte of text.
func (r *reader) literal(c byte) {
	if r.drop > 0 {
		r.drop--
		return
	}
	if g := r.top(); g.speaks() || g.quiet == listing {
		r.pending = append(r.pending, c)
	}
}

// control reads what follows a backslash.
func (r *reader) control() {
	if r.at >= len(r.s) {
		return
	}
	c := r.s[r.at]
	if c|0x20 < 'a' || c|0x20 > 'z' {
		r.at++
		r.symbol(c)
		return
	}
	from := r.at
	for r.at < len(r.s) && r.s[r.at]|0x20 >= 'a' && r.s[r.at]|0x20 <= 'z' {
		r.at++
	}
	word := string(r.s[from:r.at])
	from = r.at
	if r.at < len(r.s) && r.s[r.at] == '-' {
		r.at++
	}
	for r.at < len(r.s) && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
		r.at++
	}
	n, err := strconv.Atoi(string(r.s[from:r.at]))
	given := err == nil
	if r.at < len(r.s) && r.s[r.at] == ' ' {
		r.at++
	}
	starts := r.startsAt
	r.startsAt = false
	r.word(word, n, given, starts)
}

// symbol is a control of one character that is no letter.
func (r *reader) symbol(c byte) {
	starts := r.startsAt
	r.startsAt = false
	switch c {
	case '\'':
		if r.at+2 > len(r.s) {
			return
		}
		n, err := strconv.ParseUint(string(r.s[r.at:r.at+2]), 16, 8)
		if r.at += 2; err == nil {
			r.literal(byte(n))
		}
	case '\\', '{', '}':
		r.literal(c)
	case '*':
		if starts {
			r.top().quiet = max(r.top().quiet, silent)
			r.startsAt = true // what it is comes now
		}
	case '~':
		r.say("\u00a0")
	case '_':
		r.say("\u2011")
	case '\r', '\n':
		r.word("par", 0, false, false)
	}
}

// say adds text that needs no decoding.
func (r *reader) say(text string) {
	if r.drop > 0 {
		r.drop--
		return
	}
	r.flush()
	switch g := r.top(); {
	case g.quiet == listing:
		r.label.WriteString(text)
	case g.speaks():
		r.add(prose.Run{Text: text, Style: g.style})
	}
}

// flush decodes the text that waits.
func (r *reader) flush() {
	if len(r.pending) == 0 {
		return
	}
	text := r.decoded()
	r.pending = r.pending[:0]
	if r.top().quiet == listing {
		r.label.WriteString(text)
		return
	}
	r.add(prose.Run{Text: text, Style: r.top().style})
}

// decoded is the text that waits, in the encoding of its font or else of the document.
func (r *reader) decoded() string {
	if !slices.ContainsFunc(r.pending, func(c byte) bool { return c >= 0x80 }) {
		return string(r.pending)
	}
	page := r.page
	if own := r.fonts[r.top().font]; own != "" {
		page = own
	}
	text := string(r.pending)
	if enc, _ := charset.Lookup(page); enc != nil {
		if decoded, err := enc.NewDecoder().Bytes(r.pending); err == nil {
			text = string(decoded)
		}
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

func (r *reader) add(run prose.Run) {
	if r.err == nil {
		r.err = r.w.Spend(1)
		r.runs = append(r.runs, run)
	}
}

// unicode is a character by its number; those beyond 16 bits come as two.
func (r *reader) unicode(n int) {
	r.drop = 0
	unit := uint16(n)
	switch {
	case utf16.IsSurrogate(rune(unit)) && unit < 0xdc00:
		r.high = unit
	case utf16.IsSurrogate(rune(unit)):
		r.say(string(utf16.DecodeRune(rune(r.high), rune(unit))))
		r.high = 0
	case unit != 0:
		r.say(string(rune(unit)))
	}
	r.drop = r.top().skip
}

// endParagraph gives the paragraph that was read, or makes it one of its cell.
func (r *reader) endParagraph() {
	r.flush()
	runs := r.runs
	r.runs = nil
	b := prose.Block{Runs: runs}
	label := strings.TrimSpace(r.label.String())
	switch {
	case r.is.level > 0:
		b.Form, b.Level, b.Label = prose.Heading, r.is.level, label
	case r.item && label != "":
		b.Item = &prose.Item{Level: r.is.depth}
		if strings.ContainsFunc(label, func(c rune) bool { return unicode.IsDigit(c) || unicode.IsLetter(c) && label != "o" }) {
			b.Item.Label = label
		}
	}
	r.label.Reset()
	r.item = false
	shows := false
	for i := range runs {
		shows = shows || strings.TrimSpace(runs[i].Text) != ""
	}
	switch {
	case !shows:
	case r.is.inTable:
		r.cell = append(r.cell, b)
	default:
		r.endTable()
		r.give(&b)
	}
}

func (r *reader) give(b *prose.Block) {
	if r.err == nil {
		r.err = r.out(b)
	}
}

func (r *reader) endCell() {
	before := r.is.inTable
	r.is.inTable = true
	r.endParagraph()
	r.is.inTable = before
	r.row.Cells = append(r.row.Cells, prose.Cell{Blocks: r.cell})
	r.cell = nil
	if r.err == nil {
		r.err = r.w.Spend(1)
	}
}

func (r *reader) endRow() {
	if len(r.cell) > 0 || len(r.runs) > 0 || len(r.pending) > 0 {
		r.endCell()
	}
	if len(r.row.Cells) > 0 {
		r.table.Rows = append(r.table.Rows, r.row)
	}
	r.row = prose.Row{}
}

func (r *reader) endTable() {
	r.endRow()
	if len(r.table.Rows) > 0 {
		r.table.Form = prose.Table
		r.give(&r.table)
	}
	r.table = prose.Block{}
}
