// The page that Markdown describes: HTML to convert again, and an outline of it to compare.

package structurecheck

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// Reading is how a Markdown parser takes what CommonMark leaves open.
type Reading struct {
	Math      bool // text between dollars is a formula
	Addresses bool // bare addresses are links, as GFM has them
}

// Page is the HTML of Markdown as a parser reads it. What Markdown can say and HTML can is in it as Markdown says it: the
// number of each item, addresses as they are written, no alternative text where there is none. A footnote is, as
// renderers of Markdown write it, the item of a list that references lead to by its id, and does not show its label; a
// formula is a script of TeX.
func Page(markdown string, r Reading) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html><head></head><body>\n")
	for _, kid := range parseTree(markdown, r).kids {
		kid.writeHTML(&b)
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

func (n *node) writeHTML(b *strings.Builder) {
	switch n.kind {
	case "text":
		b.WriteString(html.EscapeString(n.value))
	case "break":
		b.WriteString("<br>\n")
	case "html":
		b.WriteString(n.value)
	case "inlineCode":
		style := ""
		if strings.Join(strings.Fields(n.value), " ") != n.value {
			style = ` style="white-space: pre"` // HTML shows several blanks as one
		}
		b.WriteString("<code" + style + ">" + html.EscapeString(n.value) + "</code>")
	case "code":
		lang := ""
		if n.lang != "" {
			lang = ` class="language-` + html.EscapeString(n.lang) + `"`
		}
		b.WriteString("<pre><code" + lang + ">" + html.EscapeString(n.value) + "</code></pre>\n")
	case "math":
		b.WriteString(`<p><script type="math/tex; mode=display">` + n.value + "</script></p>\n")
	case "inlineMath":
		b.WriteString(`<script type="math/tex">` + n.value + "</script>")
	case "image":
		alt := ""
		if text := plain(n.kids); text != "" {
			alt = ` alt="` + html.EscapeString(text) + `"`
		}
		b.WriteString(`<img src="` + html.EscapeString(n.url) + `"` + alt + ">")
	case "footnoteReference":
		fmt.Fprintf(b, `<sup><a href="#note-%s" role="doc-noteref">%s</a></sup>`, n.label, n.label)
	case "thematicBreak":
		b.WriteString("<hr>\n")
	case "definition":
		// Not shown.
	default:
		open, shut := n.tags()
		b.WriteString(open)
		for _, kid := range n.kids {
			kid.writeHTML(b)
		}
		b.WriteString(shut)
	}
}

// tags are those around the content of a node that holds others.
func (n *node) tags() (open, shut string) {
	switch n.kind {
	case "heading":
		level := strconv.Itoa(n.depth)
		return "<h" + level + ">", "</h" + level + ">\n"
	case "blockquote":
		return "<blockquote>\n", "</blockquote>\n"
	case "list":
		if n.ordered {
			return `<ol start="` + strconv.Itoa(n.start) + "\">\n", "</ol>\n"
		}
		return "<ul>\n", "</ul>\n"
	case "listItem":
		open = "<li>"
		if n.number != "" {
			open = `<li value="` + n.number + `">`
		}
		if n.checked != nil {
			box := `<input type="checkbox" disabled>`
			if *n.checked {
				box = `<input type="checkbox" checked disabled>`
			}
			open += box
		}
		return open, "</li>\n"
	case "footnoteDefinition":
		return `<ol><li id="note-` + n.label + "\">\n", "</li></ol>\n"
	case "table":
		return "<table>\n", "</table>\n"
	case "tableRow":
		if n.header {
			return "<thead><tr>", "</tr></thead>\n"
		}
		return "<tr>", "</tr>\n"
	case "tableCell":
		if n.header {
			return "<th>", "</th>"
		}
		return "<td>", "</td>"
	case "link":
		return `<a href="` + html.EscapeString(n.url) + `">`, "</a>"
	case "emphasis":
		return "<em>", "</em>"
	case "strong":
		return "<strong>", "</strong>"
	case "delete":
		return "<del>", "</del>"
	}
	return "<p>", "</p>\n"
}

// Outline is what a reader of Markdown sees, one line for each block: what kind of block it is, how deep it stands, and
// its text with the marks on it. Markdown of one outline means one thing, however it is spelled. A bare address is text:
// parsers differ on whether it is a link.
func Outline(markdown string, r Reading) string {
	var b strings.Builder
	parseTree(markdown, r).outline(&b, "")
	return b.String()
}

func (n *node) outline(b *strings.Builder, indent string) {
	b.WriteString(indent + n.kind)
	switch n.kind {
	case "list":
		fmt.Fprintf(b, " ordered=%t start=%d", n.ordered, n.start)
	case "listItem":
		if n.checked != nil {
			fmt.Fprintf(b, " checked=%t", *n.checked)
		}
		b.WriteString(n.number)
	case "code":
		fmt.Fprintf(b, " %s %q\n", n.lang, outerLinesCut(n.value))
		return
	case "math", "html":
		fmt.Fprintf(b, " %q\n", n.value)
		return
	case "heading":
		fmt.Fprintf(b, " %d", n.depth)
	case "footnoteDefinition":
		b.WriteString(" " + n.label)
	case "table":
		fmt.Fprintf(b, " %d", n.width)
	}
	if n.kind == "paragraph" || n.kind == "heading" || n.kind == "tableCell" {
		for _, r := range joined(inlineRuns(n.kids)) {
			b.WriteString(" " + r.String())
		}
		b.WriteByte('\n')
		return
	}
	b.WriteByte('\n')
	for _, kid := range n.kids {
		kid.outline(b, indent+"  ")
	}
}

// joined are runs with those of the same marks made one.
func joined(runs []run) []run {
	var out []run
	for _, r := range runs {
		if r.link != nil && r.link.bare {
			r.link = nil
		}
		if len(out) > 0 && r.note == nil && !r.hard {
			last := &out[len(out)-1]
			if marks := *last; marks.note == nil && !marks.hard {
				if marks.text = r.text; marks == r {
					last.text += r.text
					continue
				}
			}
		}
		out = append(out, r)
	}
	return out
}

func (r run) String() string {
	var marks string
	for _, m := range []struct {
		on   bool
		name string
	}{{r.strong, "strong "}, {r.em, "em "}, {r.del, "del "}, {r.sup, "sup "}, {r.code, "code "}, {r.math, "math "}, {r.hard, "break "}} {
		if m.on {
			marks += m.name
		}
	}
	if r.link != nil {
		marks += "to " + r.link.url + " "
	}
	if r.image != nil {
		marks += "image " + r.image.url + " "
	}
	if r.note != nil {
		marks += "note " + r.note.label + " "
	}
	return marks + strconv.Quote(r.text)
}
