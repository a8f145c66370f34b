// The judge of blocks: headings, tables, lists, definitions, code, quotes.

package structurecheck

import (
	"fmt"
	"slices"
	"strings"
)

func (d document) headingList() []wantHeading {
	var got []wantHeading
	for _, n := range d.root.all("heading") {
		got = append(got, wantHeading{n.depth, n.visible()})
	}
	return got
}

func (w wantHeading) matches(got wantHeading) bool {
	return (w.level == 0 || w.level == got.level) && normal(w.text) == got.text
}

func (d document) heading(want wantHeading) string {
	got := d.headingList()
	if !slices.ContainsFunc(got, want.matches) {
		return fmt.Sprintf("headings are %v", got)
	}
	return ""
}

func (d document) headings(want []wantHeading) string {
	got := d.headingList()
	if !slices.EqualFunc(want, got, wantHeading.matches) {
		return fmt.Sprintf("headings are %v", got)
	}
	return ""
}

// table compares the grid. Without header cells in the page, an empty header row and a promoted first row are both right.
func (d document) table(n *node, want wantTable) string {
	if len(n.kids) == 0 {
		return "a table without rows"
	}
	header, body := n.kids[0].kids, n.kids[1:]
	rows := want.Rows
	switch {
	case want.Header != nil:
		if why := d.row(header, n.width, want.Header); why != "" {
			return "header: " + why
		}
	case !blank(header):
		if len(rows) == 0 {
			return "a header, and nothing to promote"
		}
		if why := d.row(header, n.width, rows[0]); why != "" {
			return "promoted header: " + why
		}
		rows = rows[1:]
	}
	if len(body) != len(rows) {
		return fmt.Sprintf("%d rows, not %d", len(body), len(rows))
	}
	for i, row := range body {
		if why := d.row(row.kids, n.width, rows[i]); why != "" {
			return fmt.Sprintf("row %d: %s", i+1, why)
		}
	}
	return ""
}

func blank(cells []*node) bool {
	return !slices.ContainsFunc(cells, func(cell *node) bool { return cell.visible() != "" })
}

// row compares cells. A row has to have them all: parsers differ on what a short one means.
func (d document) row(cells []*node, width int, want []wantCell) string {
	if width != len(want) || len(cells) != len(want) {
		return fmt.Sprintf("%d cells in %d columns, not %d", len(cells), width, len(want))
	}
	for i, w := range want {
		if why := d.cell(cells[i], w); why != "" {
			return fmt.Sprintf("cell %d: %s", i+1, why)
		}
	}
	return ""
}

func (d document) cell(n *node, want wantCell) string {
	text := n.visible()
	switch {
	case want.Text != nil && text != normal(*want.Text):
		return same("text", text, normal(*want.Text))
	case want.Covered != nil && text != "" && text != normal(*want.Covered):
		return fmt.Sprintf("text is %q, neither empty nor %q", text, *want.Covered)
	case want.Any != nil && !slices.ContainsFunc(want.Any, func(t string) bool { return normal(t) == text }):
		return fmt.Sprintf("text is %q, none of %q", text, want.Any)
	}
	for _, t := range want.HasText {
		if !strings.Contains(text, normal(t)) {
			return fmt.Sprintf("text %q lacks %q", text, t)
		}
	}
	return d.within(n).all(want.Has)
}

func (d document) list(n *node, want wantList) string {
	switch {
	case want.Ordered != nil && *want.Ordered != n.ordered:
		return fmt.Sprintf("ordered is %t", n.ordered)
	case want.Start != nil && (!n.ordered || *want.Start != n.start):
		return fmt.Sprintf("starts at %d", n.start)
	case len(n.kids) != len(want.Items):
		return fmt.Sprintf("%d items, not %d", len(n.kids), len(want.Items))
	}
	for i, item := range n.kids {
		if why := d.item(item, want.Items[i]); why != "" {
			return fmt.Sprintf("item %d: %s", i+1, why)
		}
	}
	return ""
}

func (d document) item(n *node, want wantItem) string {
	// Nested lists are not part of an item's own text; code is not where the case states it by itself.
	apart := []string{"list"}
	if want.Code != nil {
		apart = append(apart, "code")
	}
	own := n.visible(apart...)
	nested := childLists(n)
	switch {
	case want.Text != nil && own != normal(*want.Text):
		return same("own text", own, normal(*want.Text))
	case want.Starts != nil && !strings.HasPrefix(own, normal(*want.Starts)):
		return fmt.Sprintf("own text %q does not start so", own)
	case want.Checked != nil && (n.checked == nil || *n.checked != *want.Checked):
		return "its box is not so"
	case want.Paras != nil && !slices.EqualFunc(n.paras(apart...), want.Paras, func(a, b string) bool { return a == normal(b) }):
		return fmt.Sprintf("paragraphs are %q", n.paras(apart...))
	}
	if want.Code != nil {
		if why := nearest("code block", n.all("code"), func(m *node) string { return codeBlock(m, *want.Code) }); why != "" {
			return why
		}
	}
	wanted := want.Lists
	if want.List != nil {
		wanted = []wantList{*want.List}
	}
	if wanted != nil {
		if len(nested) != len(wanted) {
			return fmt.Sprintf("%d nested lists, not %d", len(nested), len(wanted))
		}
		for i, w := range wanted {
			if why := d.list(nested[i], w); why != "" {
				return "nested list: " + why
			}
		}
	}
	return d.within(n).all(want.Has)
}

// childLists are the lists of an item that stand directly in it.
func childLists(item *node) []*node {
	var lists []*node
	for _, kid := range item.kids {
		if kid.kind == "list" {
			lists = append(lists, kid)
		}
	}
	return lists
}

// defList: a term starts a line, its first definition follows apart from it in that line or starts the next one,
// further definitions start the lines after it.
func defList(lines []string, want [][]string) string {
	at := 0
	for _, entry := range want {
		term, definitions := normal(entry[0]), entry[1:]
		for at < len(lines) && !termStarts(lines, at, term, definitions) {
			at++
		}
		if at == len(lines) {
			return fmt.Sprintf("%q with its definitions is not in lines %q", term, lines)
		}
		at++
	}
	return ""
}

func termStarts(lines []string, at int, term string, definitions []string) bool {
	rest, found := strings.CutPrefix(lines[at], term)
	if !found {
		return false
	}
	following := lines[at+1:]
	for i, definition := range definitions {
		definition = normal(definition)
		if i == 0 && strings.Trim(rest, " :") != "" {
			apart := strings.TrimLeft(rest, " :")
			if apart == rest || !strings.HasPrefix(apart, definition) {
				return false
			}
			continue
		}
		if len(following) == 0 || !strings.HasPrefix(strings.TrimLeft(following[0], " :"), definition) {
			return false
		}
		following = following[1:]
	}
	return true
}

// codeBlock compares the text exactly, but for empty lines at both ends.
func codeBlock(n *node, want wantCode) string {
	if want.Lang != nil && !slices.Contains(want.Lang, n.lang) {
		return fmt.Sprintf("language is %q", n.lang)
	}
	if want.Text != nil {
		return same("code", outerLinesCut(n.value), outerLinesCut(*want.Text))
	}
	return ""
}

func outerLinesCut(code string) string {
	lines := strings.Split(code, "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

func (d document) quote(want wantQuote) string {
	var candidates []*node
	var find func(n *node, depth int)
	find = func(n *node, depth int) {
		if n.kind == "blockquote" {
			depth++
			if want.Depth == 0 || want.Depth == depth {
				candidates = append(candidates, n)
			}
		}
		for _, kid := range n.kids {
			find(kid, depth)
		}
	}
	find(d.root, 0)
	return nearest("quote at that depth", candidates, func(n *node) string {
		if want.Text != nil {
			if why := same("text", n.visible("blockquote"), normal(*want.Text)); why != "" {
				return why
			}
		}
		return d.within(n).all(want.Has)
	})
}

func (d document) count(want map[string]count) string {
	for kind, c := range want {
		if !mdastKinds[kind] {
			return fmt.Sprintf("%q is no node type", kind)
		}
		if why := within(kind, len(d.root.all(kind)), c); why != "" {
			return why
		}
	}
	return ""
}

// mdastKinds are the node names that a case may count.
var mdastKinds = map[string]bool{
	"paragraph": true, "heading": true, "thematicBreak": true, "blockquote": true, "list": true, "listItem": true,
	"code": true, "html": true, "table": true, "tableRow": true, "tableCell": true, "text": true, "emphasis": true,
	"strong": true, "delete": true, "inlineCode": true, "break": true, "link": true, "image": true,
	"footnoteReference": true, "footnoteDefinition": true, "definition": true,
}
