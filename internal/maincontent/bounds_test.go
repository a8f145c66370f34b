package maincontent

import (
	"strings"
	"testing"
)

// TestWhatIsBeyondTheBoundsIsKept: a page with more blocks or elements than are noted is judged as far as that, and what
// follows stays, whatever it stands in.
func TestWhatIsBeyondTheBoundsIsKept(t *testing.T) {
	menu := func(n int) string { return strings.Repeat("<li><a href=/m>Products menu</a></li>", n) }
	for name, c := range map[string]struct {
		page         string
		keeps, lacks []string
	}{
		"an article": {siteHead + "<main><h1>Mill</h1>" + strings.Repeat(story, mostBlocks/3+9) + "<p>the last words</p></main>" + siteFoot,
			[]string{"tide mill works", "the last words"}, []string{"Pricing menu"}},
		"a menu that goes on beyond them": {"<main><h1>Mill</h1>" + strings.Repeat(story, 40) + "</main><nav><ul>" + menu(mostBlocks) + "<li>the last words</li></ul></nav>",
			[]string{"tide mill works", "the last words"}, nil},
		"nothing but a menu": {"<nav><ul>" + menu(mostBlocks) + "<li>the last words</li></ul></nav>", []string{"the last words"}, nil},
		"elements without text": {strings.Repeat("<div></div>", mostElements) + siteHead + "<h1>Mill</h1>" + story + "<p>the last words</p>",
			[]string{"tide mill works", "the last words"}, nil},
		"inline elements are not noted": {siteHead + "<main><h1>Mill</h1><p>" + strings.Repeat("<b>word</b> ", mostElements) + "the last words</p></main>" + siteFoot,
			[]string{"word", "the last words"}, []string{"Pricing menu"}},
	} {
		got := shown(t, c.page)
		for _, s := range c.keeps {
			if !strings.Contains(got, s) {
				t.Errorf("%s: %q is lost", name, s)
			}
		}
		for _, s := range c.lacks {
			if strings.Contains(got, s) {
				t.Errorf("%s: %q is kept", name, s)
			}
		}
		d := new(desk)
		f := newFinder(parse(t, c.page), d)
		if len(f.blocks) > mostBlocks+1 || cap(f.blocks) > 2*mostBlocks || len(f.elements) > mostElements+1 || cap(f.elements) > 2*mostElements {
			t.Errorf("%s: %d blocks in room for %d, %d elements in room for %d", name, len(f.blocks), cap(f.blocks), len(f.elements), cap(f.elements))
		}
		for i := range f.elements {
			if e := &f.elements[i]; e.to < e.from || int(e.to) > len(f.blocks) {
				t.Fatalf("%s: element %d has blocks %d to %d", name, i, e.from, e.to)
			}
		}
	}
}

// TestADescriptionIsNotMissedInWhatWasNotRead: it may be shown there.
func TestADescriptionIsNotMissedInWhatWasNotRead(t *testing.T) {
	const says = "Forged of one piece of steel, ground to a keen edge, and fitted with a handle of local ash that is oiled twice."
	ld := `<script type="application/ld+json">{"@type":"Product","name":"Chisel","description":"` + says + `"}</script>`
	if s := Find(parse(t, ld+"<h1>Chisel</h1>"+strings.Repeat("<p>€ 34.50</p>", mostBlocks)+"<p>"+says+"</p>")); s.Undisclosed != "" {
		t.Errorf("undisclosed: %q", s.Undisclosed)
	}
}
