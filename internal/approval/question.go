package approval

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/wayleave/wayleave/internal/untrusted"
)

// Words says a tier in plain words.
func (t Tier) Words() string {
	switch t.Known() {
	case Read:
		return "looking"
	case Navigate:
		return "opening and reading"
	case Interact:
		return "clicking and typing"
	}
	return "sending forms, uploading or signing in"
}

const (
	// maxInput is the most characters of an input that are kept for whoever answers; the whole is bound by its digest.
	maxInput = 20_000
	// maxDescription is the most characters of an author's words.
	maxDescription = 1_000
)

// Question puts a call into one sentence for a person, and makes its facts fit to be shown: what does not show itself on a
// screen is written as a mark. agent is the agent's slug.
func Question(agent, tool string, f Facts) (message string, shown Facts) {
	shown = f
	shown.Tier = f.Tier.Known()
	shown.Origin = untrusted.URL(f.Origin, 200)
	shown.Credential = name(f.Credential)
	shown.Description = Visible(f.Description, maxDescription)
	shown.Inputs = make([]Input, 0, len(f.Inputs))
	for _, in := range f.Inputs {
		value := ""
		if !in.Masked {
			value = Visible(in.Value, maxInput)
		}
		shown.Inputs = append(shown.Inputs, Input{Name: name(in.Name), Value: value, Masked: in.Masked})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "May %s run %s", name(agent), name(tool))
	if shown.Origin != "" {
		b.WriteString(" on " + shown.Origin)
	}
	does := f.Does
	if shown.Credential != "" {
		does = append(does[:len(does):len(does)], "signs in with "+shown.Credential)
	}
	if len(does) == 0 {
		fmt.Fprintf(&b, "? That is %s.", shown.Tier.Words())
	} else {
		fmt.Fprintf(&b, "? It %s.", and(does))
	}
	return untrusted.Line(b.String()), shown
}

// name is a name that an author, a model or an operator chose: on one line, cut, with nothing in it that does not show.
func name(s string) string { return Visible(untrusted.Plain(s), maxInput) }

// and joins parts of a sentence: "a, b and c".
func and(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// Visible writes the characters that a screen does not show, or that turn other characters around, as marks such as
// ‹U+202E›, and keeps at most limit characters. Line breaks and tabs stay.
func Visible(text string, limit int) string {
	var b strings.Builder
	chars := 0
	for _, r := range text {
		if chars == limit {
			b.WriteString("…")
			break
		}
		chars++
		if r != '\n' && r != '\t' && hidden(r) {
			fmt.Fprintf(&b, "‹U+%04X›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hidden tells the characters that leave no mark of their own, and the spaces that pass for nothing or for one another.
func hidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case !unicode.IsGraphic(r), unicode.IsSpace(r), r == '\u2800': // the empty Braille pattern
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
