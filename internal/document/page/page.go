// Package page reads pages of HTML that stand in documents as what text documents are made of. It is for the few that a program
// put there: reading pages of the web is for others.
package page

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/document/prose"
	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Most is how many bytes of a page in a document are read.
const Most = 2 << 20

// Read gives the blocks of a page to out, whose errors it gives back, as it does the context's and the writer's, which counts what is
// kept. Of a page no more than Most bytes are read. However deep it is, all its text is: elements below some five hundred others are
// siblings, as in browsers.
func Read(ctx context.Context, body []byte, w *prose.Writer, out func(*prose.Block) error) error {
	root, err := htmltree.Parse(ctx, string(body[:min(len(body), Most)]))
	if err != nil {
		return err
	}
	p := &reader{w: w, out: out}
	p.walk(root, look{})
	p.end()
	if p.err == nil && len(body) > Most {
		return w.Cut()
	}
	return p.err
}

// look is how text looks where it stands.
type look struct {
	style prose.Style
	link  string
}

// reader makes blocks of HTML.
type reader struct {
	w     *prose.Writer
	out   func(*prose.Block) error
	err   error
	runs  []prose.Run
	block prose.Block // what the runs will be: its form, level and quotation
	item  *prose.Item // that the next block is in
	depth int         // of lists
}

// end gives the block whose runs were read.
func (p *reader) end() {
	b := p.block
	b.Runs = p.runs
	p.runs = nil
	if !shows(b.Runs) {
		return
	}
	if p.item != nil && b.Form != prose.Heading {
		it := *p.item
		b.Item = &it
		p.item.More = true
	}
	p.give(&b)
}

func (p *reader) give(b *prose.Block) {
	if p.err == nil {
		p.err = p.out(b)
	}
}

func (p *reader) add(run prose.Run) {
	if p.err == nil {
		p.err = p.w.Spend(1)
		p.runs = append(p.runs, run)
	}
}

func (p *reader) children(n *html.Node, l look) {
	for c := n.FirstChild; c != nil && p.err == nil; c = c.NextSibling {
		p.walk(c, l)
	}
}

// shows says that runs hold something to read.
func shows(runs []prose.Run) bool {
	for i := range runs {
		if r := &runs[i]; r.Kind == prose.Picture || r.Kind == prose.Words && strings.TrimSpace(r.Text) != "" {
			return true
		}
	}
	return false
}

// within reads an element as blocks of its own.
func (p *reader) within(n *html.Node, l look) {
	p.end()
	p.children(n, l)
	p.end()
}

func (p *reader) walk(n *html.Node, l look) {
	switch n.Type {
	case html.TextNode:
		p.add(prose.Run{Text: n.Data, Style: l.style, Link: l.link})
		return
	case html.ElementNode:
	default:
		p.children(n, l)
		return
	}
	if hides(n) {
		return
	}
	outer := p.block
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Head, atom.Template, atom.Noscript, atom.Iframe, atom.Svg, atom.Title, atom.Object:
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.end()
		p.block.Form, p.block.Level = prose.Heading, int(n.Data[1]-'0')
		p.within(n, l)
	case atom.Blockquote:
		p.end()
		p.block.Quote = true
		p.within(n, l)
	case atom.Pre:
		p.end()
		var text strings.Builder
		plain(n, &text)
		for line := range strings.Lines(strings.Trim(text.String(), "\n")) {
			p.block.Form = prose.Lines
			p.add(prose.Run{Text: strings.TrimRight(line, "\r\n")})
			p.end()
		}
	case atom.Ul, atom.Ol:
		p.list(n, l)
	case atom.Table:
		p.table(n)
	case atom.Br:
		p.add(prose.Run{Kind: prose.Break})
	case atom.Img:
		if alt := facts.FirstAttribute(n, "alt"); alt != "" {
			p.add(prose.Run{Kind: prose.Picture, Text: alt, Link: l.link})
		}
	case atom.A:
		if to := address.Elsewhere(facts.FirstAttribute(n, "href")); to != "" {
			l.link = to
		}
		p.children(n, l)
	case atom.B, atom.Strong, atom.I, atom.Em, atom.S, atom.Del, atom.Strike, atom.Code, atom.Tt, atom.Kbd, atom.Sup, atom.Sub:
		l.style |= styleOf(n.DataAtom)
		p.children(n, l)
	case atom.Span, atom.U, atom.Font, atom.Small, atom.Big, atom.Mark, atom.Abbr, atom.Q, atom.Cite, atom.Time, atom.Label, atom.Ins, atom.Dfn, atom.Var, atom.Samp, atom.Bdo, atom.Bdi:
		p.children(n, l)
	default:
		p.within(n, l)
	}
	p.block = outer
}

func styleOf(a atom.Atom) prose.Style {
	switch a {
	case atom.B, atom.Strong:
		return prose.Bold
	case atom.I, atom.Em:
		return prose.Italic
	case atom.S, atom.Del, atom.Strike:
		return prose.Struck
	case atom.Sup:
		return prose.Raised
	case atom.Sub:
		return prose.Lowered
	}
	return prose.Code
}

func (p *reader) list(n *html.Node, l look) {
	p.end()
	outer := p.item
	const most = 1_000_000
	number := 1
	if start, err := strconv.Atoi(facts.FirstAttribute(n, "start")); err == nil {
		number = min(max(start, 0), most)
	}
	for c := n.FirstChild; c != nil && p.err == nil; c = c.NextSibling {
		if c.Type == html.TextNode { // beside the items
			p.walk(c, l)
			continue
		}
		if c.Type != html.ElementNode || hides(c) {
			continue
		}
		p.end()
		p.item = &prose.Item{Level: p.depth}
		if n.DataAtom == atom.Ol {
			p.item.Label = strconv.Itoa(number) + "."
			number++
		}
		p.depth++
		p.within(c, l)
		p.depth--
		p.item = outer
	}
	p.end()
}

// table reads a table; its cells are blocks of their own.
func (p *reader) table(n *html.Node) {
	p.end()
	t := prose.Block{Form: prose.Table}
	p.rows(n, &t)
	if len(t.Rows) > 0 {
		p.give(&t)
	}
}

func (p *reader) rows(n *html.Node, t *prose.Block) {
	for c := n.FirstChild; c != nil && p.err == nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Thead, atom.Tbody, atom.Tfoot:
			p.rows(c, t)
		case atom.Caption:
			p.within(c, look{})
		case atom.Tr:
			p.row(c, t)
		}
	}
}

func (p *reader) row(n *html.Node, t *prose.Block) {
	var row prose.Row
	for c := n.FirstChild; c != nil && p.err == nil; c = c.NextSibling {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th || hides(c) {
			continue
		}
		var cell prose.Cell
		cell.Span, _ = strconv.Atoi(facts.FirstAttribute(c, "colspan"))
		inner := &reader{w: p.w, out: func(b *prose.Block) error {
			cell.Blocks = append(cell.Blocks, *b)
			return p.w.Spend(1)
		}}
		inner.within(c, look{})
		p.err = inner.err
		row.Cells = append(row.Cells, cell)
	}
	if len(row.Cells) > 0 {
		t.Rows = append(t.Rows, row)
	}
}

// hides says that nobody sees an element.
func hides(n *html.Node) bool {
	style := strings.ToLower(strings.Join(strings.Fields(facts.FirstAttribute(n, "style")), ""))
	return facts.Concealed(n) || strings.Contains(style, "visibility:hidden") || strings.Contains(style, "mso-hide:all")
}

// plain is the text of a node as it stands.
func plain(n *html.Node, out *strings.Builder) {
	switch {
	case n.Type == html.TextNode:
		out.WriteString(n.Data)
	case n.DataAtom == atom.Br:
		out.WriteByte('\n')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		plain(c, out)
	}
}
