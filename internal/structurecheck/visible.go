// What a reader sees of a tree: leaf blocks, lines, and inline text with the marks on it.

package structurecheck

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

// run is a piece of inline text under the same marks.
type run struct {
	text            string
	strong, em, del bool
	sup             bool
	code, math      bool
	image           *node // the image whose alternative text it is
	link            *node // the link around it
	note            *node // a footnote reference; its text is empty
	hard            bool  // a hard line break; its text is one blank
}

// leaf is a block that holds no blocks: paragraph, heading, code, html, tableCell, math.
type leaf struct {
	kind string
	runs []run
}

// text of the leaf as seen, white space collapsed.
func (l leaf) text() string {
	var b strings.Builder
	for _, r := range l.runs {
		b.WriteString(r.text)
	}
	return normal(b.String())
}

// lines of the leaf, empty ones left out.
func (l leaf) lines() []string {
	var b strings.Builder
	for _, r := range l.runs {
		switch {
		case r.hard:
			b.WriteByte('\n')
		case l.kind == "code" || l.kind == "math" || l.kind == "html":
			b.WriteString(r.text)
		default:
			b.WriteString(strings.ReplaceAll(r.text, "\n", " "))
		}
	}
	var lines []string
	for line := range strings.SplitSeq(b.String(), "\n") {
		if line = normal(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// leaves of n in document order; what lies under a kind in except is left out.
func (n *node) leaves(except ...string) []leaf {
	var found []leaf
	for _, kid := range n.kids {
		kid.walk(func(m *node) bool {
			for _, kind := range except {
				if m.kind == kind {
					return false
				}
			}
			switch m.kind {
			case "code", "math":
				found = append(found, leaf{m.kind, []run{{text: m.value}}})
			case "html":
				found = append(found, leaf{m.kind, []run{{text: tagless(m.value)}}})
			case "paragraph", "heading", "tableCell":
				found = append(found, leaf{m.kind, inlineRuns(m.kids)})
			default:
				return true
			}
			return false
		})
	}
	if n.kind == "tableCell" || n.kind == "paragraph" || n.kind == "heading" {
		return []leaf{{n.kind, inlineRuns(n.kids)}}
	}
	return found
}

// visible text of n: leaf blocks are a blank apart.
func (n *node) visible(except ...string) string {
	var b strings.Builder
	for _, l := range n.leaves(except...) {
		b.WriteString(l.text())
		b.WriteByte('\n')
	}
	return normal(b.String())
}

// lines of n, across its blocks.
func (n *node) lines() []string {
	var lines []string
	for _, l := range n.leaves() {
		lines = append(lines, l.lines()...)
	}
	return lines
}

// paras are the texts of the leaf blocks of n, empty ones left out.
func (n *node) paras(except ...string) []string {
	var paras []string
	for _, l := range n.leaves(except...) {
		if t := l.text(); t != "" {
			paras = append(paras, t)
		}
	}
	return paras
}

var inlineTag = regexp.MustCompile(`^<(/?)([A-Za-z][A-Za-z0-9]*)`)

// inlineRuns flattens inline nodes. HTML tags among them put marks on like Markdown does, and show nothing.
func inlineRuns(nodes []*node) []run {
	f := flattener{}
	for _, n := range nodes {
		f.node(n, run{})
	}
	return f.runs
}

type flattener struct {
	runs                 []run
	strong, em, del, sup int // open HTML tags
}

func (f *flattener) node(n *node, marks run) {
	switch n.kind {
	case "text", "inlineCode", "inlineMath":
		marks.code, marks.math = n.kind == "inlineCode", n.kind == "inlineMath"
		f.add(n.value, marks)
		return
	case "break":
		marks.hard = true
		f.add(" ", marks)
		return
	case "html":
		f.tag(n.value, marks)
		return
	case "footnoteReference":
		marks.note = n
		f.add("", marks)
		return
	case "strong":
		marks.strong = true
	case "emphasis":
		marks.em = true
	case "delete":
		marks.del = true
	case "link":
		marks.link = n
	case "image":
		marks.image = n
	}
	for _, kid := range n.kids {
		f.node(kid, marks)
	}
}

func (f *flattener) add(text string, marks run) {
	marks.text = text
	marks.strong = marks.strong || f.strong > 0
	marks.em = marks.em || f.em > 0
	marks.del = marks.del || f.del > 0
	marks.sup = marks.sup || f.sup > 0
	f.runs = append(f.runs, marks)
}

func (f *flattener) tag(value string, marks run) {
	m := inlineTag.FindStringSubmatch(value)
	if m == nil {
		return
	}
	step := 1
	if m[1] == "/" {
		step = -1
	}
	switch strings.ToLower(m[2]) {
	case "br":
		marks.hard = true
		f.add(" ", marks)
	case "b", "strong":
		f.strong = max(0, f.strong+step)
	case "i", "em":
		f.em = max(0, f.em+step)
	case "del", "s", "strike":
		f.del = max(0, f.del+step)
	case "sup":
		f.sup = max(0, f.sup+step)
	}
}

var anyTag = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

// tagless is the text of a block of HTML: a tag shows nothing, but parts what it stands between.
func tagless(value string) string {
	return html.UnescapeString(anyTag.ReplaceAllString(value, " "))
}

// normal is text as it is compared: white space of every width is one blank, marks without width are gone.
func normal(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == '\u00ad', r == '\u200b', r == '\ufeff', r == '\u200e', r == '\u200f', r == '\u061c',
			r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
