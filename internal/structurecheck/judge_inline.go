// The judge of marks within a line: links, images, emphasis, raised text, footnotes, math.

package structurecheck

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

func link(n *node, want wantLink) string {
	text := normal(plain(n.kids))
	if want.Text != nil && !anyText(want.Text, text) {
		return fmt.Sprintf("link text is %q", text)
	}
	if !anyAddress(want.Href, n.url) {
		return fmt.Sprintf("link %q goes to %q", text, n.url)
	}
	return ""
}

func image(n *node, want wantImage) string {
	alt := normal(plain(n.kids))
	if want.Alt != nil && !anyText(want.Alt, alt) {
		return fmt.Sprintf("alt is %q", alt)
	}
	if !anyAddress(want.Src, n.url) {
		return fmt.Sprintf("image %q comes from %q", alt, n.url)
	}
	return ""
}

// none: no node has both the text and the part of an address; one that is not stated is met by every node.
func none(nodes []*node, text, addressPart *string) string {
	for _, n := range nodes {
		if (text == nil || normal(plain(n.kids)) == normal(*text)) &&
			(addressPart == nil || strings.Contains(n.url, *addressPart) || strings.Contains(href(n.url), *addressPart)) {
			return fmt.Sprintf("there is one to %q", shorten(n.url, 100))
		}
	}
	return ""
}

func anyText(want texts, got string) bool {
	return slices.ContainsFunc(want, func(w string) bool { return normal(w) == got })
}

// emphasis looks for a longest run under the mark whose text is wanted; without a text any run will do.
func (d document) emphasis(want wantEmphasis) string {
	var marked func(run) bool
	switch want.Kind {
	case "strong":
		marked = func(r run) bool { return r.strong }
	case "em":
		marked = func(r run) bool { return r.em }
	case "del":
		marked = func(r run) bool { return r.del }
	default:
		return fmt.Sprintf("%q is no kind of emphasis", want.Kind)
	}
	var got []string
	for _, l := range d.root.leaves() {
		got = append(got, longestRuns(l.runs, marked)...)
	}
	for _, text := range got {
		if want.Text == nil || anyText(want.Text, text) {
			return ""
		}
	}
	return fmt.Sprintf("%s is on %q", want.Kind, got)
}

func longestRuns(runs []run, marked func(run) bool) []string {
	var texts []string
	var b strings.Builder
	for _, r := range append(slices.Clone(runs), run{}) {
		if marked(r) {
			b.WriteString(r.text)
			continue
		}
		if t := normal(b.String()); t != "" {
			texts = append(texts, t)
		}
		b.Reset()
	}
	return texts
}

// Private marks around what is raised or linked, so that one text search can see where a marker stands apart.
const (
	supOpen   = '\ue000'
	supClose  = '\ue001'
	linkOpen  = '\ue002'
	linkClose = '\ue003'
)

// marked is the visible text of a leaf with private marks around raised text and links.
func (l leaf) marked() string {
	var b strings.Builder
	var at run
	move := func(to run) {
		if at.link != nil && at.link != to.link {
			b.WriteRune(linkClose)
		}
		if at.sup && !to.sup {
			b.WriteRune(supClose)
		}
		if to.sup && !at.sup {
			b.WriteRune(supOpen)
		}
		if to.link != nil && at.link != to.link {
			b.WriteRune(linkOpen)
		}
		at = to
	}
	for _, r := range l.runs {
		move(r)
		b.WriteString(r.text)
	}
	move(run{})
	return normal(b.String())
}

var raised = map[rune]rune{
	'0': '⁰', '1': '¹', '2': '²', '3': '³', '4': '⁴', '5': '⁵', '6': '⁶', '7': '⁷', '8': '⁸', '9': '⁹',
	'+': '⁺', '-': '⁻', '−': '⁻', '=': '⁼', '(': '⁽', ')': '⁾', 'n': 'ⁿ', 'i': 'ⁱ',
}

// raisedText writes s in raised characters; empty where one has none.
func raisedText(s string) string {
	var b strings.Builder
	for _, r := range s {
		up, ok := raised[r]
		if !ok {
			return ""
		}
		b.WriteRune(up)
	}
	return b.String()
}

// sup: right after its base the text stands raised, by a tag, a caret, raised characters or math.
func (d document) sup(want wantSup) string {
	base, text := normal(want.Base), normal(want.Text)
	spellings := []string{
		base + string(supOpen) + text + string(supClose),
		base + "^" + text, base + "^(" + text + ")", base + "^{" + text + "}",
		base + "$^" + text + "$", base + "$^{" + text + "}$",
	}
	if up := raisedText(text); up != "" {
		spellings = append(spellings, base+up)
	}
	var seen []string
	for _, l := range d.root.leaves() {
		marked := l.marked()
		for _, s := range spellings {
			if endsAlone(marked, s) {
				return ""
			}
		}
		seen = append(seen, marked)
	}
	return fmt.Sprintf("no raised text in %q", seen)
}

// endsAlone finds s where no letter or digit of the same kind goes on after it or comes before it.
func endsAlone(text, s string) bool {
	for rest, offset := text, 0; ; {
		i := strings.Index(rest, s)
		if i < 0 {
			return false
		}
		before, after := lastRune(text[:offset+i]), firstRune(rest[i+len(s):])
		if !goesOn(before) && !goesOn(after) {
			return true
		}
		offset += i + len(s)
		rest = text[offset:]
	}
}

func goesOn(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	r := []rune(s)
	if len(r) == 0 {
		return 0
	}
	return r[len(r)-1]
}

// mathIs: math with this TeX, blanks aside. Display math is a block of its own.
func (d document) mathIs(want texts, display bool) string {
	kinds := []string{"math", "inlineMath"}
	if display {
		kinds = []string{"math"}
	}
	var got []string
	for _, kind := range kinds {
		for _, n := range d.math.all(kind) {
			tex := blankless(n.value)
			if slices.ContainsFunc(want, func(w string) bool { return blankless(w) == tex }) {
				return ""
			}
			got = append(got, n.value)
		}
	}
	return fmt.Sprintf("math is %q", got)
}

func blankless(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
