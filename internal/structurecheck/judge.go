// The judge of one output: checks on text and source, and which check goes where.

package structurecheck

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// document is an output with its trees. A document may be a part of one: then root is a node within it.
type document struct {
	output Output
	root   *node
	math   *node // the whole output, parsed once more with math switched on
}

func parse(o Output) document {
	return document{output: o, root: parseTree(o.Markdown, Reading{Addresses: true}), math: parseTree(o.Markdown, Reading{Addresses: true, Math: true})}
}

// within is the same document seen from one of its nodes.
func (d document) within(n *node) document {
	d.root = n
	return d
}

// judge answers why a check fails, or nothing.
func (d document) judge(check Check) string {
	w := check.wire
	switch {
	case w.TextInOrder != nil:
		return inOrder(d.root.visible(), w.TextInOrder)
	case w.Text != nil:
		return same("visible text", d.root.visible(), normal(*w.Text))
	case w.Absent != nil:
		return d.absent(w.Absent)
	case w.Once != nil:
		return d.once(w.Once)
	case w.SourceHas != nil:
		return missing("the Markdown", d.output.Markdown, w.SourceHas)
	case w.SourceLacks != nil:
		return d.sourceLacks(w.SourceLacks)
	case w.Roundtrip != nil:
		return d.roundtrip(*w.Roundtrip)
	case w.Lines != nil:
		return consecutive("lines", d.root.lines(), w.Lines)
	case w.Paras != nil:
		return consecutive("blocks", d.root.paras(), w.Paras)
	case w.Title != nil:
		return same("title", normal(d.output.Title), normal(*w.Title))
	case w.Thin != nil:
		return d.thin(w.Thin)
	case w.MaxChars != nil:
		if n := utf8.RuneCountInString(d.output.Markdown); n > *w.MaxChars {
			return fmt.Sprintf("%d characters", n)
		}
		return ""
	case w.MinChars != nil:
		if n := utf8.RuneCountInString(d.output.Markdown); n < *w.MinChars {
			return fmt.Sprintf("%d characters", n)
		}
		return ""
	case w.AnyOf != nil:
		return d.anyOf(w.AnyOf)
	}
	return d.structure(w)
}

func (d document) structure(w wireCheck) string {
	switch {
	case w.Heading != nil:
		return d.heading(*w.Heading)
	case w.Headings != nil:
		return d.headings(*w.Headings)
	case w.Table != nil:
		return nearest("table", d.root.all("table"), func(n *node) string { return d.table(n, *w.Table) })
	case w.List != nil:
		return nearest("list", d.root.all("list"), func(n *node) string { return d.list(n, *w.List) })
	case w.DefList != nil:
		return defList(d.root.lines(), w.DefList)
	case w.Code != nil:
		return nearest("code block", d.root.all("code"), func(n *node) string { return codeBlock(n, *w.Code) })
	case w.Quote != nil:
		return d.quote(*w.Quote)
	case w.HR != nil:
		return within("thematicBreak", len(d.root.all("thematicBreak")), count{*w.HR, *w.HR})
	case w.Count != nil:
		return d.count(w.Count)
	}
	return d.inline(w)
}

func (d document) inline(w wireCheck) string {
	switch {
	case w.InlineCode != nil:
		return nearest("inline code", d.root.all("inlineCode"), func(n *node) string {
			return same("inline code", n.value, *w.InlineCode)
		})
	case w.Link != nil:
		return nearest("link", d.root.all("link"), func(n *node) string { return link(n, *w.Link) })
	case w.Image != nil:
		return nearest("image", d.root.all("image"), func(n *node) string { return image(n, *w.Image) })
	case w.NoLink != nil:
		return none(d.root.all("link"), w.NoLink.Text, w.NoLink.HrefHas)
	case w.NoImage != nil:
		return none(d.root.all("image"), w.NoImage.Alt, w.NoImage.SrcHas)
	case w.Emphasis != nil:
		return d.emphasis(*w.Emphasis)
	case w.NoEmphasis != nil:
		if d.emphasis(*w.NoEmphasis) == "" {
			return "there is one"
		}
		return ""
	case w.Sup != nil:
		return d.sup(*w.Sup)
	case w.Footnote != nil:
		return d.footnote(*w.Footnote)
	case w.Math != nil:
		return d.mathIs(w.Math, w.Display)
	}
	return "nothing judges this check"
}

func (d document) absent(texts []string) string {
	visible := d.root.visible()
	for _, t := range texts {
		if strings.Contains(visible, normal(t)) {
			return fmt.Sprintf("%q is there", t)
		}
	}
	return ""
}

func (d document) once(texts []string) string {
	visible := d.root.visible()
	for _, t := range texts {
		if n := strings.Count(visible, normal(t)); n != 1 {
			return fmt.Sprintf("%q is there %d times", t, n)
		}
	}
	return ""
}

func (d document) sourceLacks(texts []string) string {
	for _, t := range texts {
		if strings.Contains(d.output.Markdown, t) {
			return fmt.Sprintf("the Markdown has %q", t)
		}
	}
	return ""
}

// roundtrip: the text comes back, and no part of it was read as markup. Bare addresses may be links.
func (d document) roundtrip(want string) string {
	if why := same("visible text", d.root.visible(), normal(want)); why != "" {
		return why
	}
	var markup string
	d.root.walk(func(n *node) bool {
		switch n.kind {
		case "root", "paragraph", "text", "break":
		case "link":
			if !n.bare {
				markup = n.kind
			}
		default:
			markup = n.kind
		}
		return markup == ""
	})
	if markup != "" {
		return "read as markup: " + markup
	}
	if found := escapedAddress.FindString(d.output.Markdown); found != "" {
		return fmt.Sprintf("an escape within a bare address is read as a part of it by some parsers: %q", found)
	}
	return ""
}

// escapedAddress is a bare address with an escape or a character reference in it. Parsers that know addresses before
// they know escapes show both as they stand.
var escapedAddress = regexp.MustCompile(`(?i)\b(?:https?://|www\.)[^\s<]*(?:\\[!-/:-@\[-` + "`" + `{-~]|&[a-z0-9]+;|&#[0-9a-z]+;)`)

// kindNames are the cases' names of thin kinds that the product spells otherwise.
var kindNames = map[string]string{"javascript_shell": "js_shell"}

func (d document) thin(raw json.RawMessage) string {
	var kind *string
	if err := json.Unmarshal(raw, &kind); err != nil {
		return "thin is neither a kind nor null"
	}
	var want []string
	if kind != nil {
		name := *kind
		if ours, ok := kindNames[name]; ok {
			name = ours
		}
		want = []string{name}
	}
	if !slices.Equal(d.output.Thin, want) {
		return fmt.Sprintf("thin is %q, not %q", d.output.Thin, want)
	}
	return ""
}

func (d document) anyOf(sets [][]Check) string {
	var whys []string
	for _, set := range sets {
		why := d.all(set)
		if why == "" {
			return ""
		}
		whys = append(whys, why)
	}
	return "none holds: " + strings.Join(whys, " | ")
}

// all answers the first failure of a set of checks.
func (d document) all(set []Check) string {
	for _, check := range set {
		if why := d.judge(check); why != "" {
			return check.source + ": " + why
		}
	}
	return ""
}

// nearest finds a node that a test accepts; its answer names what was wrong with each candidate.
func nearest(what string, nodes []*node, test func(*node) string) string {
	if len(nodes) == 0 {
		return "there is no " + what
	}
	var whys []string
	for _, n := range nodes {
		why := test(n)
		if why == "" {
			return ""
		}
		if len(whys) < 5 {
			whys = append(whys, why)
		}
	}
	return strings.Join(whys, " | ")
}

func same(what, got, want string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s is %q, not %q", what, shorten(got, 200), shorten(want, 200))
}

func missing(where, text string, wanted []string) string {
	for _, t := range wanted {
		if !strings.Contains(text, t) {
			return fmt.Sprintf("%s lacks %q", where, t)
		}
	}
	return ""
}

func inOrder(visible string, wanted []string) string {
	rest := visible
	for _, t := range wanted {
		_, after, found := strings.Cut(rest, normal(t))
		if !found {
			return fmt.Sprintf("%q does not come (there or after the one before it) in %q", t, shorten(visible, 300))
		}
		rest = after
	}
	return ""
}

func consecutive(what string, got, want []string) string {
	normalWant := make([]string, len(want))
	for i, w := range want {
		normalWant[i] = normal(w)
	}
	for i := range got {
		if i+len(want) <= len(got) && slices.Equal(got[i:i+len(want)], normalWant) {
			return ""
		}
	}
	return fmt.Sprintf("%s are %q", what, got)
}

func within(what string, n int, c count) string {
	if n < c.min || n > c.max {
		return fmt.Sprintf("%d times %s", n, what)
	}
	return ""
}
