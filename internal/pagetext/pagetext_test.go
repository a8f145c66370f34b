package pagetext

import (
	"math/rand/v2"
	"testing"
)

// TestCountingMatchesDecoding compares the eight-at-once counting with a plain one, at every position.
func TestCountingMatchesDecoding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab\nzé߿ࠀ漢￿𐀀😀")
	for range 300 {
		text := make([]rune, r.IntN(60))
		for i := range text {
			text[i] = letters[r.IntN(len(letters))]
		}
		s := string(text)
		if Count(s) != len(text) {
			t.Fatalf("%q has %d characters, counted %d", s, len(text), Count(s))
		}
		for i := range len(text) + 3 {
			if want := len(string(text[:min(i, len(text))])); Index(s, i) != want {
				t.Fatalf("character %d of %q begins at %d, found %d", i, s, want, Index(s, i))
			}
		}
	}
}
