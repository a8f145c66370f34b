// The choices that the structure cases leave open, spelled out: pages and exactly the Markdown that they become.

package markdown

import (
	"os"
	"strings"
	"testing"
)

func TestChoicesOfSpelling(t *testing.T) {
	raw, err := os.ReadFile("testdata/choices.txt")
	if err != nil {
		t.Fatal(err)
	}
	pairs := strings.Split(string(raw), "\n=== html\n")[1:]
	if len(pairs) < 40 {
		t.Fatalf("only %d pages", len(pairs))
	}
	for _, pair := range pairs {
		page, want, ok := strings.Cut(pair, "\n=== markdown\n")
		if !ok {
			t.Fatalf("a page without its Markdown: %s", pair)
		}
		if got := convert(t, page); got != strings.TrimRight(want, "\n") {
			t.Errorf("page:\n%s\ngot:\n%s\nwant:\n%s", page, got, want)
		}
	}
}
