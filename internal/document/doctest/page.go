// What a person sees of a Markdown text.

package doctest

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// page is a text as it is seen. White space is single blanks everywhere.
type page struct {
	text      string
	headings  []string
	rows      [][]string // of all tables, in order
	addresses []string   // of links and images
}

func parse(markdown string) page {
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Footnote),
		goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	if err := md.Convert([]byte(markdown), &out); err != nil {
		return page{}
	}
	root, err := html.Parse(&out)
	if err != nil {
		return page{}
	}
	var p page
	p.walk(root)
	p.text = clean(visible(root))
	return p
}

func (p *page) walk(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.headings = append(p.headings, clean(visible(n)))
	case atom.Tr:
		var row []string
		for c := range n.ChildNodes() {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				row = append(row, clean(visible(c)))
			}
		}
		p.rows = append(p.rows, row)
	case atom.A, atom.Img:
		for _, a := range n.Attr {
			if a.Key == "href" || a.Key == "src" {
				p.addresses = append(p.addresses, a.Val)
			}
		}
	}
	for c := range n.ChildNodes() {
		p.walk(c)
	}
}

// visible is the text below a node. Blocks and breaks are line feeds.
func visible(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			b.WriteString(n.Data)
			return
		case html.CommentNode:
			return
		}
		apart := false
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Template, atom.Head:
			return
		case atom.Img:
			for _, a := range n.Attr {
				if a.Key == "alt" {
					b.WriteString(a.Val)
				}
			}
		case atom.A, atom.Em, atom.Strong, atom.Del, atom.Code, atom.Sup, atom.Sub, atom.Span, atom.B, atom.I, atom.U, atom.Mark:
		default:
			apart = true
		}
		if apart {
			b.WriteByte('\n')
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if apart {
			b.WriteByte('\n')
		}
	}
	walk(n)
	return b.String()
}

func clean(s string) string { return strings.Join(strings.Fields(s), " ") }
