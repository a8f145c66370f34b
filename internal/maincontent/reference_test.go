package maincontent

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
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

// TestTitleIsNotTheSites: what makes books of pages heads each with the book's name, and links by icons before and after.
func TestTitleIsNotTheSites(t *testing.T) {
	const before = `<div id=help-popup><h2>Keyboard shortcuts</h2><p>Press <kbd>S</kbd> to search in the book, and <kbd>?</kbd> to show this help again</p></div>
		<div class=page><div class="menu-bar sticky"><div class=left><button aria-label="Change theme"></button></div><h1 class=menu-title>The Book of the Harbour</h1>
		<div class=right-buttons><a href=print.html aria-label="Print this book"><svg></svg></a></div></div>`
	const after = `<nav class=nav-wrapper><a rel=prev href=a aria-label="Previous chapter"><i></i></a><a rel=next href=b aria-label="Next chapter"><i></i></a></nav></div>`
	for name, c := range map[string]struct{ title, main string }{
		"a small page":             {"Ropes and knots", `<h1>Ropes and knots</h1><p>Tracked as number twelve.</p>`},
		"a page":                   {"Ropes and knots", `<h1>Ropes and knots</h1>` + prose},
		"a page without h1":        {"Ropes and knots", `<h2>Ropes and knots</h2>` + prose + story},
		"the site's name is first": {"", `<h1>Ropes and knots</h1>` + prose},
	} {
		title := c.title + " - The Book of the Harbour"
		if c.title == "" {
			title = "The Book of the Harbour: Ropes and knots"
		}
		root, err := html.Parse(strings.NewReader("<title>" + title + "</title><body>" + before + "<main>" + c.main + "</main>" + after))
		if err != nil {
			t.Fatal(err)
		}
		s := Find(root)
		got := kept(s, find(root, atom.Body))
		if s.Thin() {
			t.Errorf("%s: thin", name)
		}
		if !strings.Contains(got, "Ropes and knots") {
			t.Errorf("%s: the title is lost: %s", name, got)
		}
		for _, s := range []string{"Keyboard", "Book of the Harbour", "Print", "chapter", "theme"} {
			if strings.Contains(got, s) {
				t.Errorf("%s: %q is kept: %s", name, s, got)
			}
		}
	}
}

// TestCodeStaysWithItsText: code right after a text that is kept is what that speaks of.
func TestCodeStaysWithItsText(t *testing.T) {
	root, err := html.Parse(strings.NewReader(`<title>Ropes</title><main><h1>Ropes</h1>` + prose + `<p>In short, it can be written as:</p><pre><code>fn rope() {}
fn knot() {}</code></pre><h2>Elsewhere</h2><pre><code>fn quay() {}</code></pre></main>`))
	if err != nil {
		t.Fatal(err)
	}
	d := desks.Get().(*desk)
	defer d.leave()
	f := newFinder(root, d)
	f.page.kinds = [countKinds]float32{kindDocumentation: 1}
	scores, kept := make([]float32, len(f.blocks)), make([]bool, len(f.blocks))
	for i := range scores {
		scores[i] = 0.3
		kept[i] = f.elements[f.blocks[i].owner].is&tagCode == 0
	}
	f.furniture()
	f.listings(scores, kept)
	for i := range scores {
		if text := f.words(&f.blocks[i]); strings.HasPrefix(text, "fn ") && kept[i] != strings.Contains(text, "rope") {
			t.Errorf("%q: kept %v", text, kept[i])
		}
	}
}
