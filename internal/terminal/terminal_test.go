package terminal

import (
	"strings"
	"testing"
	"unicode"
)

// TestTM077SequencesAreRemovedWholeAndTextStays is what a terminal would obey, each with what is left of it.
func TestTM077SequencesAreRemovedWholeAndTextStays(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\nüber 漢字 😀":    "plain\ttext\nüber 漢字 😀",
		"a\x1b]52;c;ZXZpbA==\x07b":  "ab", // the clipboard
		"a\x1b]0;title\x1b\\b":      "ab", // the window's title
		"a\u009d0;title\u009cb":     "ab",
		"a\x1b[2J\x1b[1;31mb":       "ab", // the screen, colours
		"a\u009b31mb":               "ab",
		"a\x1bP+q544e\x1b\\b":       "ab", // questions that the terminal answers as if typed
		"a\x1b_apc\x1b\\b":          "ab",
		"a\x1bcb":                   "ab", // a full reset
		"a\x1b":                     "a",
		"a\x1b]52;c;never ends":     "a",
		"a\x1b]52;c;x\nb":           "a\nb", // nothing is hidden beyond its line
		"over\rwrite\b\x7f\x00\x07": "overwrite",
		"a\u202eb\u2066c\u200fd":    "abcd", // direction
		"a\U000E0041b":              "ab",   // tags
	} {
		if got := Inert(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// FuzzInert: whatever it is given, a terminal has nothing to obey, and text of letters is not touched.
func FuzzInert(f *testing.F) {
	for _, seed := range []string{"a\x1b]52;c;x\x07b", "\u009b31m", "\x1b[", "\x1b\x1b]", "\x1bP\n\x1b\\", "\xff\x1b", "ordinary text"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Inert(text)
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || reorders(r) }); i >= 0 {
			t.Fatalf("%q is shown as %q", text, got)
		}
		if Inert(got) != got {
			t.Fatalf("%q is shown as %q, and that as %q", text, got, Inert(got))
		}
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q lost a line: %q", text, got)
		}
	})
}
