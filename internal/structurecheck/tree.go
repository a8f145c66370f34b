// The tree that checks look at: the parser's own tree, reduced to the node names of mdast.

package structurecheck

import (
	"bufio"
	"bytes"
	"html"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// node is one mdast node.
type node struct {
	kind    string
	value   string // text, code, inlineCode, html, math, inlineMath
	depth   int    // heading level
	url     string // link, image
	bare    bool   // link: an address that stands for itself
	lang    string // code
	ordered bool   // list
	start   int    // list
	checked *bool  // listItem
	number  string // listItem of an ordered list: as it is written
	header  bool   // tableRow, tableCell
	width   int    // table: number of columns that its delimiter row states
	label   string // footnoteReference, footnoteDefinition
	kids    []*node
}

// walk visits n and all below it in document order; below returning false leaves out what is under a node.
func (n *node) walk(visit func(*node) (below bool)) {
	if !visit(n) {
		return
	}
	for _, kid := range n.kids {
		kid.walk(visit)
	}
}

// all lists the nodes of a kind in document order, n included.
func (n *node) all(kind string) []*node {
	var found []*node
	n.walk(func(m *node) bool {
		if m.kind == kind {
			found = append(found, m)
		}
		return true
	})
	return found
}

// parser of CommonMark + GFM. The footnote extension is taken apart: its tree transformer drops notes that
// nothing refers to, and what is dropped could not be judged.
func newParser(r Reading) parser.Parser {
	block := []util.PrioritizedValue{util.Prioritized(extension.NewFootnoteBlockParser(), 999)}
	inline := []util.PrioritizedValue{util.Prioritized(extension.NewFootnoteParser(), 101)}
	if r.Math {
		block = append(block, util.Prioritized(mathBlockParser{}, 701))
		inline = append(inline, util.Prioritized(mathInlineParser{}, 102))
	}
	extensions := []goldmark.Extender{extension.Table, extension.Strikethrough, extension.TaskList}
	if r.Addresses {
		extensions = append(extensions, extension.Linkify)
	}
	return goldmark.New(
		goldmark.WithExtensions(extensions...),
		goldmark.WithParserOptions(parser.WithBlockParsers(block...), parser.WithInlineParsers(inline...)),
	).Parser()
}

func parseTree(markdown string, r Reading) *node {
	c := converter{source: []byte(markdown)}
	root := newParser(r).Parse(text.NewReader(c.source))
	c.notes(root)
	return c.node(root)[0]
}

type converter struct {
	source []byte
	labels map[int]string // footnote index to label
}

func (c *converter) notes(root ast.Node) {
	c.labels = map[int]string{}
	// The visitor never answers an error.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if f, ok := n.(*extast.Footnote); ok && entering {
			c.labels[f.Index] = string(f.Ref)
		}
		return ast.WalkContinue, nil
	})
}

func (c *converter) kids(n ast.Node) []*node {
	var kids []*node
	for kid := n.FirstChild(); kid != nil; kid = kid.NextSibling() {
		kids = append(kids, c.node(kid)...)
	}
	return kids
}

// inPlace are the blocks of a document as they stand in it. The parser gathers all notes at the place of the first.
func (c *converter) inPlace(root ast.Node) []*node {
	var blocks []ast.Node
	for kid := root.FirstChild(); kid != nil; kid = kid.NextSibling() {
		if _, ok := kid.(*extast.FootnoteList); !ok {
			blocks = append(blocks, kid)
			continue
		}
		for note := kid.FirstChild(); note != nil; note = note.NextSibling() {
			blocks = append(blocks, note)
		}
	}
	slices.SortStableFunc(blocks, func(a, b ast.Node) int { return a.Pos() - b.Pos() })
	var kids []*node
	for _, b := range blocks {
		kids = append(kids, c.node(b)...)
	}
	return kids
}

// node answers the mdast nodes of one parser node: none, one, or a text and the break that ends it.
func (c *converter) node(n ast.Node) []*node {
	one := func(m *node) []*node { return []*node{m} }
	switch n := n.(type) {
	case *ast.Document:
		return one(&node{kind: "root", kids: c.inPlace(n)})
	case *ast.Paragraph, *ast.TextBlock:
		return one(c.paragraph(n))
	case *ast.Heading:
		return one(&node{kind: "heading", depth: n.Level, kids: c.kids(n)})
	case *ast.ThematicBreak:
		return one(&node{kind: "thematicBreak"})
	case *ast.CodeBlock:
		return one(&node{kind: "code", value: c.lines(n)})
	case *ast.FencedCodeBlock:
		return one(&node{kind: "code", value: c.lines(n), lang: c.resolve(n.Language(c.source))})
	case *ast.HTMLBlock:
		value := c.lines(n)
		if n.HasClosure() {
			value += string(n.ClosureLine.Value(c.source))
		}
		return one(&node{kind: "html", value: value})
	case *ast.Blockquote:
		return one(&node{kind: "blockquote", kids: c.kids(n)})
	case *ast.List:
		return one(&node{kind: "list", ordered: n.IsOrdered(), start: n.Start, kids: c.kids(n)})
	case *ast.ListItem:
		return one(c.listItem(n))
	case *extast.Table:
		return one(&node{kind: "table", width: len(n.Alignments), kids: c.kids(n)})
	case *extast.TableHeader, *extast.TableRow:
		_, header := n.(*extast.TableHeader)
		return one(&node{kind: "tableRow", header: header, kids: c.kids(n)})
	case *extast.TableCell:
		// The parser fills short rows up with cells that have no source; other parsers do not. An empty cell that
		// is written has at least one blank in it: the parser takes "||" at the end of a row for one pipe.
		if n.Lines().Len() == 0 {
			return nil
		}
		_, header := n.Parent().(*extast.TableHeader)
		return one(&node{kind: "tableCell", header: header, kids: c.kids(n)})
	case *extast.FootnoteList:
		return c.kids(n)
	case *extast.Footnote:
		return one(&node{kind: "footnoteDefinition", label: string(n.Ref), kids: c.kids(n)})
	case *ast.LinkReferenceDefinition:
		return one(&node{kind: "definition"})
	case *mathBlock:
		return one(&node{kind: "math", value: c.lines(n)})
	}
	return c.inline(n)
}

func (c *converter) inline(n ast.Node) []*node {
	one := func(m *node) []*node { return []*node{m} }
	switch n := n.(type) {
	case *ast.Text:
		nodes := one(&node{kind: "text", value: c.resolve(n.Segment.Value(c.source))})
		if n.HardLineBreak() {
			nodes = append(nodes, &node{kind: "break"})
		} else if n.SoftLineBreak() {
			nodes[0].value += "\n"
		}
		return nodes
	case *ast.String:
		return one(&node{kind: "text", value: string(n.Value)})
	case *ast.CodeSpan:
		return one(&node{kind: "inlineCode", value: c.raw(n)})
	case *ast.Emphasis:
		kind := "emphasis"
		if n.Level == 2 {
			kind = "strong"
		}
		return one(&node{kind: kind, kids: c.kids(n)})
	case *extast.Strikethrough:
		return one(&node{kind: "delete", kids: c.kids(n)})
	case *ast.Link:
		return one(&node{kind: "link", url: c.resolve(n.Destination), kids: c.kids(n)})
	case *ast.Image:
		alt := &node{kind: "text", value: plain(c.kids(n))}
		return one(&node{kind: "image", url: c.resolve(n.Destination), kids: []*node{alt}})
	case *ast.AutoLink:
		label := &node{kind: "text", value: string(n.Label(c.source))}
		return one(&node{kind: "link", url: autoURL(n, c.source), bare: true, kids: []*node{label}})
	case *ast.RawHTML:
		return one(&node{kind: "html", value: string(n.Segments.Value(c.source))})
	case *extast.FootnoteLink:
		return one(&node{kind: "footnoteReference", label: c.labels[n.Index]})
	case *extast.TaskCheckBox, *extast.FootnoteBacklink:
		return nil
	case *mathInline:
		return one(&node{kind: "inlineMath", value: n.tex})
	}
	// A parser node that nobody knows must not vanish: it counts as a kind of its own.
	return one(&node{kind: n.Kind().String(), kids: c.kids(n)})
}

// paragraph trims the blanks that mdast leaves out at the ends, a task's box included.
func (c *converter) paragraph(n ast.Node) *node {
	p := &node{kind: "paragraph", kids: c.kids(n)}
	if len(p.kids) > 0 && p.kids[0].kind == "text" {
		p.kids[0].value = strings.TrimLeft(p.kids[0].value, " \t")
	}
	return p
}

func (c *converter) listItem(n *ast.ListItem) *node {
	item := &node{kind: "listItem", kids: c.kids(n)}
	if list, ok := n.Parent().(*ast.List); ok && list.IsOrdered() {
		from, to := n.Pos(), n.Pos()
		for to < len(c.source) && c.source[to] >= '0' && c.source[to] <= '9' {
			to++
		}
		item.number = string(c.source[from:to])
	}
	if first := n.FirstChild(); first != nil {
		if box, ok := first.FirstChild().(*extast.TaskCheckBox); ok {
			item.checked = &box.IsChecked
		}
	}
	return item
}

func (c *converter) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(c.source))
	}
	return b.String()
}

// raw is the text of a code span: line ends are blanks, nothing is resolved.
func (c *converter) raw(n ast.Node) string {
	var b strings.Builder
	for kid := n.FirstChild(); kid != nil; kid = kid.NextSibling() {
		if t, ok := kid.(*ast.Text); ok {
			b.Write(t.Segment.Value(c.source))
		} else if s, ok := kid.(*ast.String); ok {
			b.Write(s.Value)
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// resolve takes backslash escapes and character references away, as the parser's own renderer does.
func (c *converter) resolve(raw []byte) string {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	gmhtml.DefaultWriter.Write(w, raw)
	_ = w.Flush() // a bytes.Buffer takes everything
	return html.UnescapeString(out.String())
}

func autoURL(n *ast.AutoLink, source []byte) string {
	url := string(n.URL(source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(url), "mailto:") {
		return "mailto:" + url
	}
	return url
}

// plain is the text of inline nodes without their marks.
func plain(nodes []*node) string {
	var b strings.Builder
	for _, n := range nodes {
		n.walk(func(m *node) bool {
			switch m.kind {
			case "text", "inlineCode", "inlineMath":
				b.WriteString(m.value)
			case "break":
				b.WriteByte('\n')
			}
			return true
		})
	}
	return b.String()
}
