// The structure cases: whole pages, judged on the tree that a Markdown parser makes of the output.

package markdown

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/structurecheck"
)

func TestStructureCasesOfWholePages(t *testing.T) {
	for _, c := range structureCases(t) {
		if c.Mode != "full" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			root, err := htmltree.Parse(t.Context(), c.HTML)
			if err != nil {
				t.Fatal(err)
			}
			text, err := Render(t.Context(), root, Options{BaseURL: c.URL})
			if err != nil {
				t.Fatal(err)
			}
			for _, why := range c.Judge(structurecheck.Output{Markdown: text, Title: Title(root)}) {
				t.Errorf("%s\n%s", why, shorten(text))
			}
		})
	}
}

// structureCases are those of both files: the ones that were given, and our own.
func structureCases(t testing.TB) []structurecheck.Case {
	t.Helper()
	var all []structurecheck.Case
	for _, file := range []string{"structure.json", "structure-ours.json"} {
		cases, err := structurecheck.Load("../../testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cases...)
	}
	return all
}

func shorten(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "…"
	}
	return strings.TrimRight(s, "\n")
}
