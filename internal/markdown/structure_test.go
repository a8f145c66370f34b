// The structure cases: whole pages, judged on the tree that a Markdown parser makes of the output.

package markdown

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/structurecheck"
)

func TestStructureCasesOfWholePages(t *testing.T) {
	cases, err := structurecheck.Load("../../testdata/structure.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
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

func shorten(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "…"
	}
	return strings.TrimRight(s, "\n")
}
