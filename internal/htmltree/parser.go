// The parser's state and its main loop: text and tags from the source, one after the other, to the insertion mode
// that is on.

package htmltree

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/htmltree/streamed"
)

// mode is an insertion mode of the standard. There is none for text: raw text is read as soon as its element is made.
type mode uint8

const (
	initial mode = iota
	beforeHTML
	beforeHead
	inHead
	inHeadNoscript
	afterHead
	inBody
	inTable
	inCaption
	inColumnGroup
	inTableBody
	inRow
	inCell
	inTemplate
	afterBody
	inFrameset
	afterFrameset
	afterAfterBody
	afterAfterFrameset
)

type parser struct {
	ctx context.Context
	src string
	pos int  // of the next byte to read
	nul bool // src holds NUL bytes
	tag tag  // the tag read last

	doc        *html.Node
	mode       mode
	templates  []mode // insertion modes of the templates that are open
	head, form *html.Node
	framesetOK bool
	quirks     bool
	foster     bool // what cannot stand in a table goes before it
	skipFeed   bool // a line feed that comes next is not content: a pre or listing has just begun

	open       []openElement
	paragraphs int          // of them
	lost       []*html.Node // open elements that a deeper one has taken the place of, see push
	formatting []*html.Node // active formatting elements; nil is a marker

	streamed *streamed.Parts // nil for a page that has none

	text   pendingText
	room   *Room
	nodes  []html.Node // of it, for the next nodes
	attrs  []html.Attribute
	made   int // nodes so far
	copies int // copies that repairs may still make
}

// run reads the source to its end.
func (p *parser) run() error {
	const between = 256 // pieces of markup from one look at ctx to the next
	for count := 0; p.pos < len(p.src); count++ {
		if count%between == between-1 {
			if err := p.ctx.Err(); err != nil {
				return err
			}
		}
		start := p.pos
		if p.pos = p.nextMarkup(start); p.pos > start {
			p.characters(start, p.pos)
		}
		if p.pos < len(p.src) {
			p.markup()
		}
	}
	p.end()
	p.flushText()
	if p.streamed != nil {
		p.streamed.Fill()
	}
	return nil
}

// nextMarkup is the offset of the next "<" from offset i that begins markup, the end of the source if there is none.
func (p *parser) nextMarkup(i int) int {
	for {
		j := strings.IndexByte(p.src[i:], '<')
		if j < 0 {
			return len(p.src)
		}
		i += j + 1
		if i == len(p.src) {
			return i
		}
		switch c := p.src[i]; {
		case isLetter(c), c == '!', c == '?', c == '/' && i+1 < len(p.src):
			return i - 1
		}
	}
}

// markup reads what begins with "<" at pos.
func (p *parser) markup() {
	p.pos++
	switch c := p.src[p.pos]; {
	case isLetter(c):
		if p.readTag(true) {
			p.skipFeed = false
			p.startTag()
		}
	case c == '/' && isLetter(p.src[p.pos+1]):
		p.pos++
		if p.readTag(false) {
			p.skipFeed = false
			p.endTag()
		}
	case c == '!':
		p.skipFeed = false
		p.declaration()
	default: // what the standard calls a bogus comment
		p.skipFeed = false
		p.pos = p.after(p.pos, ">")
	}
}

// after is the offset after the next occurrence of s from offset i, the end of the source if there is none.
func (p *parser) after(i int, s string) int {
	if j := strings.Index(p.src[i:], s); j >= 0 {
		return i + j + len(s)
	}
	return len(p.src)
}

// startTag hands a start tag to the insertion mode, and again while that asks for it.
func (p *parser) startTag() {
	if p.made >= maxNodes {
		if isRaw(p.tag.atom) {
			p.rawText()
		}
		return
	}
	for again := true; again; {
		if p.startIsForeign() {
			again = p.startForeign()
		} else {
			again = p.start(p.mode)
		}
	}
}

// endTag hands an end tag to the insertion mode, and again while that asks for it.
func (p *parser) endTag() {
	if p.inForeign() && p.endForeign() {
		return
	}
	for p.endOf(p.mode) {
	}
}

// start handles a start tag by the rules of a mode; true asks for the rules of the mode that is on now.
func (p *parser) start(m mode) bool {
	switch m {
	case initial:
		p.quirks = true
		p.mode = beforeHTML
		return true
	case beforeHTML:
		return p.startBeforeHTML()
	case beforeHead:
		return p.startBeforeHead()
	case inHead:
		return p.startInHead()
	case inHeadNoscript:
		return p.startInHeadNoscript()
	case afterHead:
		return p.startAfterHead()
	case inTable:
		return p.startInTable()
	case inCaption:
		return p.startInCaption()
	case inColumnGroup:
		return p.startInColumnGroup()
	case inTableBody:
		return p.startInTableBody()
	case inRow:
		return p.startInRow()
	case inCell:
		return p.startInCell()
	case inTemplate:
		return p.startInTemplate()
	case inFrameset:
		return p.startInFrameset()
	case afterFrameset, afterAfterFrameset:
		return p.startAfterFrameset()
	case afterBody, afterAfterBody:
		return p.startAfterBody()
	}
	return p.startInBody()
}

// endOf is start for end tags.
func (p *parser) endOf(m mode) bool {
	switch m {
	case initial:
		p.quirks = true
		p.mode = beforeHTML
		return true
	case beforeHTML, beforeHead:
		return p.endBeforeHead()
	case inHead:
		return p.endInHead()
	case inHeadNoscript:
		return p.endInHeadNoscript()
	case afterHead:
		return p.endAfterHead()
	case inTable:
		return p.endInTable()
	case inCaption:
		return p.endInCaption()
	case inColumnGroup:
		return p.endInColumnGroup()
	case inTableBody:
		return p.endInTableBody()
	case inRow:
		return p.endInRow()
	case inCell:
		return p.endInCell()
	case inTemplate:
		if p.tag.atom == atom.Template {
			p.endTemplate()
		}
		return false
	case inFrameset, afterFrameset, afterAfterFrameset:
		return p.endInFrameset()
	case afterBody, afterAfterBody:
		return p.endAfterBody()
	}
	return p.endInBody()
}
