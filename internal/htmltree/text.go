// Text: the nodes that runs of characters become.

package htmltree

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/htmltree/charref"
)

// pendingText is the text node added last; what follows it directly is added to it.
type pendingText struct {
	node       *html.Node
	start, end int    // the part of the source that it is, as long as it is one
	buf        []byte // its text otherwise, put into the node when it is complete
}

// characters handles the text between two tags: bytes start to end of the source.
func (p *parser) characters(start, end int) {
	s := p.src[start:end]
	if strings.IndexByte(s, '&') >= 0 {
		s, start = charref.Text(s), -1
	}
	if p.skipFeed {
		p.skipFeed = false
		if s[0] == '\n' {
			s = s[1:]
			if start >= 0 {
				start++
			}
		}
	}
	if p.textIsForeign() {
		p.foreignText(s, start)
		return
	}
	if p.nul && strings.IndexByte(s, 0) >= 0 {
		if s, start = strings.ReplaceAll(s, "\x00", ""), -1; s == "" {
			return
		}
	}
	for s != "" {
		s, start = p.textIn(s, start)
	}
}

// textIn handles text by the mode that is on; what it answers is left for the mode that is on then.
func (p *parser) textIn(s string, start int) (string, int) {
	switch p.mode {
	case initial, beforeHTML, beforeHead, inHead, inHeadNoscript, afterHead, inColumnGroup:
		rest := strings.TrimLeft(s, " \t\n\f")
		if n := len(s) - len(rest); n > 0 {
			if p.mode > beforeHead {
				p.addText(s[:n], start)
			}
			if s = rest; start >= 0 {
				start += n
			}
			if s == "" {
				return "", start
			}
		}
		if !p.leave() {
			return "", start
		}
		return s, start
	case inTable, inTableBody, inRow:
		if p.top().is(fosters) {
			if strings.Trim(s, " \t\n\f") == "" {
				p.addText(s, start)
				return "", start
			}
		}
		p.foster = true
		p.bodyText(s, start)
		p.foster = false
	case inFrameset, afterFrameset, afterAfterFrameset:
	case afterBody, afterAfterBody:
		if strings.Trim(s, " \t\n\f") != "" {
			p.mode = inBody
		}
		p.bodyText(s, start)
	default:
		p.bodyText(s, start)
	}
	return "", start
}

// leave takes a mode around the head, or that of a column group, to the next one: what comes does not belong there.
// False says that it belongs nowhere.
func (p *parser) leave() bool {
	switch p.mode {
	case initial:
		p.quirks = true
		p.mode = beforeHTML
	case beforeHTML:
		p.imply(atom.Html)
		p.mode = beforeHead
	case beforeHead:
		p.head = p.imply(atom.Head)
		p.mode = inHead
	case inHead:
		p.pop()
		p.mode = afterHead
	case inHeadNoscript:
		p.pop()
		p.mode = inHead
	case afterHead:
		p.imply(atom.Body)
		p.mode = inBody
	case inColumnGroup:
		if p.top().node.DataAtom != atom.Colgroup {
			return false
		}
		p.pop()
		p.mode = inTable
	}
	return true
}

func (p *parser) bodyText(s string, start int) {
	p.reconstruct()
	p.addText(s, start)
	if p.framesetOK && strings.Trim(s, " \t\n\f") != "" {
		p.framesetOK = false
	}
}

// addText adds text to the current node. start is where it stands in the source, -1 if it does not stand there.
func (p *parser) addText(s string, start int) {
	parent, before := p.place()
	last := parent.LastChild
	if before != nil {
		last = before.PrevSibling
	}
	t := &p.text
	if last == nil || last != t.node {
		p.flushText()
		n := p.newNode(html.TextNode)
		n.Data = s
		insert(parent, n, before)
		*t = pendingText{node: n, start: start, end: start + len(s), buf: t.buf[:0]}
		if start < 0 {
			t.end = -1
		}
		return
	}
	if start >= 0 && start == t.end {
		t.end += len(s)
		t.node.Data = p.src[t.start:t.end]
		return
	}
	if len(t.buf) == 0 {
		t.buf = append(t.buf, t.node.Data...)
	}
	t.buf = append(t.buf, s...)
	t.end = -1
}

// flushText gives the text node added last its whole text.
func (p *parser) flushText() {
	if len(p.text.buf) > 0 {
		p.text.node.Data = string(p.text.buf)
		p.text.buf = p.text.buf[:0]
	}
	p.text.node = nil
}
