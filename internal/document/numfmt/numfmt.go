// Package numfmt shows numbers by the number formats of spreadsheets, as a person would see them, with two exceptions:
// dates are ISO dates, which nobody can misread, and a whole number in the General format keeps its digits up to 15 of
// them, where Excel shortens it from 12 on. Names of days and months are English.
package numfmt

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Format is a parsed number format. It may be used by several at once.
type Format struct {
	sections []section
	words    int // index of the section for texts; -1 for none: they are shown as they are
}

// Shown is what a cell shows.
type Shown struct {
	Text   string
	Moment bool // a date, a time of day or a span of time
}

// maxCode is how long a format may be, in characters, as Excel has it. A longer one counts as General.
const maxCode = 255

// Parse reads a format code. It takes any: what it does not know it shows as it stands.
func Parse(code string) *Format {
	if utf8.RuneCountInString(code) > maxCode || code == "" {
		code = "General"
	}
	f := &Format{words: -1}
	for _, part := range sections(code) {
		f.sections = append(f.sections, parseSection(part))
	}
	n := len(f.sections)
	switch {
	case n >= 4:
		f.words = 3
	case f.sections[n-1].has(at):
		f.words = n - 1
		if n > 1 {
			f.sections = f.sections[:n]
		}
	}
	return f
}

// sections parts a code at semicolons, at most four.
func sections(code string) []string {
	var out []string
	start := 0
	quoted := false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\\', c == '_', c == '*':
			i++
		case c == ';' && len(out) < 3:
			out = append(out, code[start:i])
			start = i + 1
		}
	}
	rest := code[start:]
	if len(out) == 3 { // what follows a fourth section is nothing
		if i := strings.IndexByte(rest, ';'); i >= 0 && !strings.ContainsAny(rest[:i], `"\_*`) {
			rest = rest[:i]
		}
	}
	return append(out, rest)
}

// Moments tells whether numbers of this format are dates, times or spans.
func (f *Format) Moments() bool { return f.sections[0].moment }

// General tells whether the format shows numbers as General does.
func (f *Format) General() bool {
	return len(f.sections) == 1 && len(f.sections[0].tokens) == 1 && f.sections[0].tokens[0].kind == general
}

// Words shows a text.
func (f *Format) Words(s string) string {
	if f.words < 0 {
		return s
	}
	var b strings.Builder
	for _, t := range f.sections[f.words].tokens {
		switch t.kind {
		case literal:
			b.WriteString(t.text)
		case at, general:
			b.WriteString(s)
		}
	}
	return b.String()
}

// Number shows a number. since1904 says that day 0 is 1 January 1904 and not the last of December 1899.
func (f *Format) Number(v float64, since1904 bool) Shown {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Shown{Text: "#NUM!"}
	}
	s, bare := f.choose(v)
	if s == nil {
		return Shown{Text: General(v)}
	}
	if s.moment {
		if text, ok := s.showMoment(v, since1904); ok {
			return Shown{text, true}
		}
		return Shown{Text: General(v)} // no date has this number; Excel fills the cell with #
	}
	if bare {
		v = math.Abs(v)
	}
	return Shown{Text: strings.TrimSpace(s.showNumber(v))}
}

// choose gives the section for a number, nil where General is left, and whether the section says itself that the number is
// negative.
func (f *Format) choose(v float64) (s *section, bare bool) {
	n := min(len(f.sections), 3)
	if f.words >= 0 && f.words < n && f.words > 0 {
		n = f.words // "0;@": the last is for texts
	}
	if f.words == 0 && len(f.sections) == 1 {
		return nil, false
	}
	first := &f.sections[0]
	conditions := false
	for i := range n {
		conditions = conditions || f.sections[i].condition != ""
	}
	if !conditions {
		switch {
		case n >= 2 && v < 0:
			return &f.sections[1], true
		case n >= 3 && v == 0:
			return &f.sections[2], true
		}
		return first, false
	}
	for i := range n {
		s := &f.sections[i]
		last := i == n-1
		switch {
		case s.condition != "" && s.meets(v), s.condition == "" && (last || i == 0 && n == 3 && v > 0 || i == 1 && v < 0):
			return s, v < 0 && (s.negative() || i == 1 && s.condition == "" && first.positive())
		}
	}
	return nil, false
}

// meets tells whether a number meets the section's condition.
func (s *section) meets(v float64) bool {
	switch s.condition {
	case "<":
		return v < s.bound
	case "<=":
		return v <= s.bound
	case ">":
		return v > s.bound
	case ">=":
		return v >= s.bound
	case "=":
		return v == s.bound
	case "<>":
		return v != s.bound
	}
	return true
}

// negative says that the section is for negative numbers alone: it says itself that they are.
func (s *section) negative() bool {
	return (s.condition == "<" || s.condition == "<=") && s.bound <= 0
}

// positive says that the section is for all positive numbers.
func (s *section) positive() bool {
	return (s.condition == ">" || s.condition == ">=") && s.bound == 0
}
