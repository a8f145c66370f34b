// Code: spans and blocks, with exactly the text that the page shows as code. Line numbers and buttons are no part of
// it.

package markdown

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/grid"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// codeText collects the text of code.
type codeText struct {
	buf     []byte
	newLine bool // a line element ended: the next content stands on a new line
	table   bool // within a table of lines: cells that hold digits only are line numbers
	apart   bool // a blank parts each line from its number
	number  bool // a line number was left out, and nothing followed it
	depth   int
}

// code writes an inline code element.
func (r *renderer) code(n *html.Node, t *facts.Traits) {
	if r.bare || facts.Find(n, atom.Pre, 8) != nil {
		r.children(n)
		return
	}
	if len(n.Attr) > 0 && r.codedFormula(n, t) {
		return
	}
	c := r.gatherCode(n)
	if !r.w.Flat() && bytes.IndexByte(bytes.TrimSpace(c), '\n') >= 0 && (t.Styles&facts.Preserved != 0 || facts.Find(n, atom.Br, 200) != nil) &&
		r.aloneInBlock(n) {
		r.writeCode(c, facts.Language(n))
		return
	}
	text := strings.Join(strings.Fields(string(c)), " ")
	if t.Styles&facts.Preserved != 0 {
		text = strings.TrimSpace(strings.ReplaceAll(string(c), "\n", " "))
	}
	if text == "" {
		if len(c) > 0 {
			r.w.Space()
		}
		r.textless(n)
		return
	}
	// Blanks at its ends stand outside of the span.
	first, last := c[0], c[len(c)-1]
	if first <= ' ' {
		r.w.Space()
	}
	r.codeText(n, text)
	if last <= ' ' {
		r.w.Space()
	}
}

// codeText writes the text of an inline code element, as a link if that is all there is in it.
func (r *renderer) codeText(n *html.Node, text string) {
	if a := onlyAnchor(n); a != nil && !r.w.InLink() {
		href, _ := facts.Attribute(a, "href")
		if url := r.base.Resolve(href); !address.Inert(url) && !r.base.SamePage(url) {
			r.w.EnterLink(scribe.Link{URL: url, Words: true})
			r.w.Span(text)
			r.w.Leave()
			return
		}
	}
	r.w.Span(text)
}

// onlyAnchor is the link that is all there is in n.
func onlyAnchor(n *html.Node) *html.Node {
	c := facts.FirstShown(n)
	if c == nil || c.DataAtom != atom.A {
		return nil
	}
	for next := c.NextSibling; next != nil; next = next.NextSibling {
		if !facts.Blank(next) {
			return nil
		}
	}
	if _, ok := facts.Attribute(c, "href"); !ok {
		return nil
	}
	return c
}

// aloneInBlock says that n is all that its parent shows, so that it can be a block.
func (r *renderer) aloneInBlock(n *html.Node) bool {
	if r.w.Open() || r.w.InLink() {
		return false
	}
	for c := n.NextSibling; c != nil; c = c.NextSibling {
		if !facts.Blank(c) {
			return c.DataAtom == atom.Br || c.DataAtom == atom.Div || c.DataAtom == atom.P
		}
	}
	return true
}

// codeBlock writes an element that holds preformatted text.
func (r *renderer) codeBlock(n *html.Node) {
	if r.bare {
		r.block(n, &facts.Traits{})
		return
	}
	if len(n.Attr) > 0 && r.codedFormula(n, &facts.Traits{}) {
		return
	}
	c := r.gatherCode(n)
	if len(bytes.TrimSpace(c)) == 0 {
		r.w.Break(2)
		r.textless(n)
		r.w.Break(2)
		return
	}
	r.writeCode(c, facts.Language(n))
}

// codeTable writes a table of lines of code beside their numbers. What a row of it calls them stands above.
func (r *renderer) codeTable(n *html.Node, s *grid.Survey) {
	for _, tr := range s.Rows {
		if th := facts.FirstShown(tr); th != nil && th.DataAtom == atom.Th && facts.NextElement(th) == nil && !r.leftOut(th) {
			r.w.Break(2)
			r.children(th)
			r.w.Break(2)
		}
	}
	r.codeBlock(n)
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
	r.w.Code(string(bytes.TrimRight(code, " \t\n")), lang)
}

// gatherCode is the text of code below n. The bytes hold until the next call.
func (r *renderer) gatherCode(n *html.Node) []byte {
	class, _ := facts.Attribute(n, "class")
	c := codeText{buf: r.codeBuf[:0], table: n.DataAtom == atom.Table, apart: class == "fragment"}
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
			if !r.dropped(m) {
				r.gatherElement(c, m)
			}
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
	case atom.Th:
		if c.table {
			return // numbers, or the file's name, which stands above
		}
	case atom.A:
		if name := facts.CutName(n); name != "" {
			c.write(name)
			return
		}
	}
	line := facts.EndsCodeLine(n)
	if len(n.Attr) > 0 {
		t := facts.TraitsOf(n)
		s := facts.StylesOf(t.Style)
		if s&(facts.DisplayNone|facts.Invisible) != 0 || t.Hidden || r.lineNumber(c, n, &t) {
			return
		}
		line = line || s&facts.DisplayBlock != 0 || t.Is(facts.CodeLine)
	} else if c.table && n.DataAtom == atom.Td && facts.Digits(facts.ShortText(n)) {
		return
	}
	if c.depth >= maxDepth {
		c.write(facts.PlainText(n))
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
func (r *renderer) lineNumber(c *codeText, n *html.Node, t *facts.Traits) bool {
	switch {
	case t.Is(facts.Gutter):
		c.number = c.apart
		return true
	case t.Is(facts.CopyButton) && facts.Control(n, t):
		return true
	case !t.Is(facts.MaybeGutter) && !t.AriaHidden && !(c.table && n.DataAtom == atom.Td) && !strings.Contains(t.Style, "user-select"):
		return false
	}
	return facts.Digits(facts.ShortText(n))
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
	if c.number && s[0] == ' ' {
		s = s[1:]
	}
	c.number = false
	c.buf = scribe.AppendVisible(c.buf, s)
}
