package thin

import (
	"slices"
	"testing"
)

// FuzzIndex: the index finds what a search for each phrase finds.
func FuzzIndex(f *testing.F) {
	for _, p := range slices.Concat(soldPhrases, restPhrases) {
		f.Add("a " + p + " b")
		f.Add(p[:len(p)-1])
	}
	all := slices.Concat(soldPhrases, restPhrases)
	x := newIndex(all)
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := x.in(text), containsAny(text, all); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}
