// Code: spans and blocks, with exactly the text that the page shows as code. Line numbers and buttons are no part of
// it.

package markdown

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// codeSpan is a span that has been written.
type codeSpan struct {
	start, end int // in the output
	text       string
}

// codeText collects the text of code.
type codeText struct {
	buf     []byte
	newLine bool // a line element ended: the next content stands on a new line
	table   bool // within a table of lines: cells that hold digits only are line numbers
	depth   int
}

// code writes an inline code element.
func (r *renderer) code(n *html.Node, t *traits, s styles) {
	if r.bare || find(n, atom.Pre, 8) != nil {
		r.children(n)
		return
	}
	c := r.gatherCode(n)
	if r.flat == inBlock && bytes.IndexByte(bytes.TrimSpace(c), '\n') >= 0 && (s&preserved != 0 || find(n, atom.Br, 200) != nil) &&
		r.aloneInBlock(n) {
		r.writeCode(c, language(n, t))
		return
	}
	text := strings.Join(strings.Fields(string(c)), " ")
	if text == "" {
		r.space = r.space || len(c) > 0
		r.textless(n)
		return
	}
	// Blanks at its ends stand outside of the span.
	r.space = r.space || class[c[0]] == blank
	trailing := class[c[len(c)-1]] == blank
	defer func() { r.space = r.space || trailing }()
	if a := onlyAnchor(n); a != nil && !r.inLink {
		href, _ := attribute(a, "href")
		if url := r.base.resolve(href); !inert(url) && !r.base.samePage(url) {
			r.enter(inline{kind: link, url: url, words: true})
			r.span(text)
			r.leave()
			return
		}
	}
	r.span(text)
}

// onlyAnchor is the link that is all there is in n.
func onlyAnchor(n *html.Node) *html.Node {
	c := firstShown(n)
	if c == nil || c.DataAtom != atom.A {
		return nil
	}
	for next := c.NextSibling; next != nil; next = next.NextSibling {
		if !blankNode(next) {
			return nil
		}
	}
	if _, ok := attribute(c, "href"); !ok {
		return nil
	}
	return c
}

// aloneInBlock says that n is all that its parent shows, so that it can be a block.
func (r *renderer) aloneInBlock(n *html.Node) bool {
	if r.open || r.inLink {
		return false
	}
	for c := n.NextSibling; c != nil; c = c.NextSibling {
		if !blankNode(c) {
			return c.DataAtom == atom.Br || c.DataAtom == atom.Div || c.DataAtom == atom.P
		}
	}
	return true
}

// span writes one code span; text is not empty and begins and ends with a visible character.
func (r *renderer) span(text string) {
	const longest = 256 // bytes up to which spans side by side become one
	if last := r.codeEnd; last.end == len(r.out) && last.end > 0 && r.open && !r.space && r.breaks == 0 && !r.waiting &&
		(len(r.marks) == 0 || r.marks[len(r.marks)-1].at < last.end) {
		// Their fences would melt into one another.
		if len(last.text) < longest {
			text = last.text + text
			r.out = r.out[:last.start]
		} else {
			r.space = true
		}
	}
	r.ready()
	r.breakAddress()
	start := len(r.out)
	fence := longestRun(text, '`') + 1
	pad := text[0] == '`' || text[len(text)-1] == '`'
	r.fence(fence)
	if pad {
		r.out = append(r.out, ' ')
	}
	if r.flat == inCell {
		for i := range len(text) {
			if text[i] == '|' {
				r.out = append(r.out, '\\')
			}
			r.out = append(r.out, text[i])
		}
	} else {
		r.out = append(r.out, text...)
	}
	if pad {
		r.out = append(r.out, ' ')
	}
	r.fence(fence)
	r.codeEnd = codeSpan{start, len(r.out), text}
	r.textFrom = len(r.out)
}

func (r *renderer) fence(n int) {
	for range n {
		r.out = append(r.out, '`')
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

// codeBlock writes an element that holds preformatted text.
func (r *renderer) codeBlock(n *html.Node, t *traits) {
	if r.bare {
		r.block(n, t, 0)
		return
	}
	c := r.gatherCode(n)
	if len(bytes.TrimSpace(c)) == 0 {
		r.breakLeaf(2)
		r.textless(n)
		r.breakLeaf(2)
		return
	}
	r.writeCode(c, language(n, t))
}

// textless writes code that holds no text: a picture, perhaps.
func (r *renderer) textless(n *html.Node) {
	bare := r.bare
	r.bare = true
	r.children(n)
	r.bare = bare
}

// writeCode writes a fenced block; in a cell or a heading its lines are spans.
func (r *renderer) writeCode(code []byte, lang string) {
	for len(code) > 0 {
		line, rest, ok := bytes.Cut(code, []byte("\n"))
		if !ok || len(bytes.TrimSpace(line)) > 0 {
			break
		}
		code = rest
	}
	text := string(bytes.TrimRight(code, " \t\n"))
	r.breakLeaf(2)
	if r.flat != inBlock {
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				r.span(line)
				r.breakLeaf(0)
			}
		}
		return
	}
	fence := max(3, longestRun(text, '`')+1)
	r.newLine()
	r.fence(fence)
	r.out = append(r.out, lang...)
	for rest, more := text, true; more; {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		r.out = append(r.out, '\n')
		if line == "" {
			r.out = append(r.out, bytes.TrimRight(r.prefix, " ")...)
			continue
		}
		r.out = append(r.out, r.prefix...)
		r.out = append(r.out, line...)
	}
	r.out = append(r.out, '\n')
	r.out = append(r.out, r.prefix...)
	r.fence(fence)
	r.gap = 2
}

// gatherCode is the text of code below n. The bytes hold until the next call.
func (r *renderer) gatherCode(n *html.Node) []byte {
	c := codeText{buf: r.codeBuf[:0], table: n.DataAtom == atom.Table}
	r.gather(&c, n)
	r.codeBuf = c.buf
	return c.buf
}

func (r *renderer) gather(c *codeText, n *html.Node) {
	for m := n.FirstChild; m != nil && r.err == nil; m = m.NextSibling {
		if r.steps++; r.steps%128 == 0 {
			r.err = r.ctx.Err()
		}
		switch m.Type {
		case html.TextNode:
			c.write(m.Data)
		case html.ElementNode:
			r.gatherElement(c, m)
		}
	}
}

func (r *renderer) gatherElement(c *codeText, n *html.Node) {
	switch n.DataAtom {
	case atom.Br:
		c.newLine = false
		c.buf = append(c.buf, '\n')
		return
	case atom.Script, atom.Style, atom.Template, atom.Button, atom.Svg, atom.Select, atom.Input:
		return
	}
	line := false
	switch n.DataAtom {
	case atom.Div, atom.P, atom.Li, atom.Tr, atom.Section, atom.Table, atom.Ol, atom.Ul, atom.Pre:
		line = true
	}
	if len(n.Attr) > 0 {
		t := traitsOf(n)
		s := stylesOf(t.style)
		if s&(displayNone|invisible) != 0 || t.hiddenAttr || r.lineNumber(c, n, &t) {
			return
		}
		line = line || s&displayBlock != 0 || t.is(codeLine)
	} else if c.table && n.DataAtom == atom.Td && digits(strings.Join(strings.Fields(shortText(n)), "")) {
		return
	}
	if c.depth >= maxDepth {
		c.write(plainText(n))
		return
	}
	c.depth++
	if line {
		c.line()
		from := len(c.buf)
		if from > 0 && c.buf[from-1] != '\n' {
			c.buf = append(c.buf, '\n')
			from++
		}
		r.gather(c, n)
		// An element that ended its line itself, and one around lines, end no further one.
		c.newLine = len(c.buf) == from || c.buf[len(c.buf)-1] != '\n'
	} else {
		r.gather(c, n)
	}
	c.depth--
}

// lineNumber says that an element of code is a line number, a button or the like.
func (r *renderer) lineNumber(c *codeText, n *html.Node, t *traits) bool {
	switch {
	case t.is(gutter), t.is(copyButton) && r.control(n, t):
		return true
	case !t.is(maybeGutter) && !t.ariaHidden && !(c.table && n.DataAtom == atom.Td) && !strings.Contains(t.style, "user-select"):
		return false
	}
	return digits(strings.Join(strings.Fields(shortText(n)), ""))
}

// line ends the line that is due to end.
func (c *codeText) line() {
	if c.newLine {
		c.newLine = false
		c.buf = append(c.buf, '\n')
	}
}

// write adds text as code shows it: no-break spaces are blanks, what cannot be seen is left out.
func (c *codeText) write(s string) {
	if s == "" {
		return
	}
	if c.newLine {
		if strings.TrimLeft(s, " \t\n\r") == "" && strings.IndexByte(s, '\n') < 0 {
			return // blanks between two lines' elements
		}
		if s[0] != '\n' {
			c.buf = append(c.buf, '\n')
		}
		c.newLine = false
	}
	for i := 0; i < len(s); {
		switch k := class[s[i]]; {
		case k == control, s[i] == '\r', s[i] == '\f':
			i++
		case k == wide:
			n, what := wideChar(s[i:])
			if what == blank {
				c.buf = append(c.buf, ' ')
			} else if what == plain {
				c.buf = append(c.buf, s[i:i+n]...)
			}
			i += n
		default:
			j := i + 1
			for j < len(s) && class[s[j]] != control && class[s[j]] != wide && s[j] != '\r' && s[j] != '\f' {
				j++
			}
			c.buf = append(c.buf, s[i:j]...)
			i = j
		}
	}
}
