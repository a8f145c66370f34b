package maincontent

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestReferencesAreWhole: in a page that lists forty places of itself, short formal sections are what somebody came for.
func TestReferencesAreWhole(t *testing.T) {
	page := func(sections int) (root *html.Node) {
		var contents, text strings.Builder
		for i := range sections {
			id := strings.Repeat("i", i+1)
			contents.WriteString(`<li><a href="#` + id + `">` + id + `</a></li>`)
			text.WriteString(`<section id="` + id + `"><h4><code>fn ` + id + `(&self) -> Self</code></h4></section><div class=docblock>Returns it. <a href="#` + id + `">Read more</a></div>`)
		}
		root, err := html.Parse(strings.NewReader(`<title>Reference</title><nav><ul>` + contents.String() + `</ul></nav><main><h1>Reference</h1>` + prose + text.String() + `<nav><a href=/next>Next</a></nav></main>` + siteFoot))
		if err != nil {
			t.Fatal(err)
		}
		return root
	}
	for sections, kept := range map[int]bool{45: true, 30: false} {
		d := desks.Get().(*desk)
		f := newFinder(page(sections), d)
		f.page.kinds = [countKinds]float32{kindDocumentation: 1}
		scores := make([]float32, len(f.blocks))
		for i := range scores {
			scores[i] = 0.2
		}
		for _, i := range f.page.prose {
			scores[i] = 0.9
		}
		f.ruleReference(scores, f.furniture())
		for i, s := range scores {
			text := f.words(&f.blocks[i])
			inside := strings.Contains(text, "fn ") || strings.Contains(text, "Returns it.")
			if inside && (s >= 0.5) != kept || (text == "Next" || strings.Contains(text, "Privacy")) && s >= 0.5 {
				t.Errorf("%d sections: %q has %.2f", sections, text, s)
			}
		}
		d.leave()
	}
}
