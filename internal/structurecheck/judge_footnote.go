// The judge of footnotes: one that the parser knows, or a marker that stands apart and the note's text after it.

package structurecheck

import (
	"fmt"
	"regexp"
	"strings"
)

func (d document) footnote(want wantFootnote) string {
	why := d.parsedFootnote(want)
	if why == "" || !want.Loose {
		return why
	}
	if loose := d.looseFootnote(want); loose != "" {
		return why + "; " + loose
	}
	return ""
}

// parsedFootnote: a reference right after the text, and a note of that label with exactly the text.
func (d document) parsedFootnote(want wantFootnote) string {
	notes := map[string]string{}
	for _, n := range d.root.all("footnoteDefinition") {
		notes[n.label] = n.visible()
	}
	if len(notes) == 0 {
		return "there is no footnote"
	}
	var seen []string
	for _, l := range d.root.leaves("footnoteDefinition") {
		var before strings.Builder
		for _, r := range l.runs {
			if r.note == nil {
				before.WriteString(r.text)
				continue
			}
			if r.note.label == string(want.Label) && strings.HasSuffix(normal(before.String()), normal(want.After)) &&
				notes[r.note.label] == normal(want.Text) {
				return ""
			}
			seen = append(seen, fmt.Sprintf("[^%s] after %q", r.note.label, shorten(normal(before.String()), 80)))
		}
	}
	return fmt.Sprintf("footnotes %q are referred to as %q", notes, seen)
}

// looseFootnote: link, brackets, caret or raised characters tell the marker from the text; the note comes later,
// in a block that holds its text.
func (d document) looseFootnote(want wantFootnote) string {
	marker := looseMarker(string(want.Label))
	after := normal(want.After)
	found := false
	for _, l := range d.root.leaves() {
		if found && noteText(l.text(), string(want.Label)) == normal(want.Text) {
			return ""
		}
		rest := l.marked()
		for !found {
			_, tail, ok := strings.Cut(rest, after)
			if !ok {
				break
			}
			found = marker.MatchString(tail)
			rest = tail
		}
	}
	if found {
		return "a marker, but no block after it is the note's text alone"
	}
	return "no marker stands apart there"
}

// looseMarker matches a label at the start of a text where something tells it from the text before.
func looseMarker(label string) *regexp.Regexp {
	q := regexp.QuoteMeta(label)
	open, close := `[`+string(supOpen)+string(linkOpen)+`]`, `[`+string(supClose)+string(linkClose)+`]`
	pattern := `^ ?(` +
		open + `+ ?[\[(]?` + q + `[\])]? ?` + close + `|` + // a link or a raised text, brackets within or not
		`[\[(]` + open + `*` + q + close + `*[\])]|` +
		`\^[{(\[]?` + q + `\b`
	if up := raisedText(label); up != "" {
		pattern += `|` + up + `([^⁰¹²³⁴-⁹]|$)`
	}
	return regexp.MustCompile(pattern + `)`)
}

var backlink = regexp.MustCompile(`[\s↩↑⏎^\x{fe0e}\x{fe0f}]+$`)

// noteText is a note without the label before it and the way back after it.
func noteText(text, label string) string {
	text = backlink.ReplaceAllString(text, "")
	for _, mark := range []string{"[" + label + "]", "(" + label + ")", label + ".", label + ")", label + ":", "^" + label, label, raisedText(label)} {
		if rest, ok := strings.CutPrefix(text, mark); ok && mark != "" {
			return strings.TrimLeft(rest, " .:^")
		}
	}
	return text
}
