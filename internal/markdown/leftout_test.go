package markdown

import (
	"strings"
	"testing"
	"unicode"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// TestLeftOutIsWhatTheWriterLeavesOut: labels and formulas are compared without what the writer leaves out of all text, and
// both have a list of it.
func TestLeftOutIsWhatTheWriterLeavesOut(t *testing.T) {
	for c := rune(1); c < 0x11000; c++ {
		if c == '\r' || unicode.Is(unicode.Cs, c) || c < 0x80 && !unicode.IsControl(c) {
			continue
		}
		got := convert(t, "<p>ab"+string(c)+"cd</p>")
		if left := strings.TrimSpace(got) == "abcd"; left != facts.LeftOut(c) {
			t.Errorf("%U: written %q, left out %v", c, got, facts.LeftOut(c))
		}
	}
}
