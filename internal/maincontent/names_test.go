package maincontent

import (
	"fmt"
	"strings"
	"testing"
)

// TestIdsOfWhatIsExplained: a manual explains parts of pages too, and gives what it says of them ids of their names.
func TestIdsOfWhatIsExplained(t *testing.T) {
	for _, c := range []struct{ name, part string }{
		{"terms", `<dl><dt id="%[1]s"><code>%[1]s</code> mark-%[1]s</dt><dd><p>The option of the theme is explained here. It takes yes or no.</p></dd></dl>`},
		{"symbols", `<section id="theme.%[1]s"><h4>%[1]s</h4><p>mark-%[1]s takes yes or no, and is yes by default.</p></section>`},
		{"methods", `<section class=detail id="%[1]s(int)"><h3>%[1]s</h3><p>mark-%[1]s takes yes or no, and is yes by default.</p></section>`},
		{"sections with a link to them", `<section id="%[1]s"><span></span><h2>%[1]s<a class=headerlink href="#%[1]s">¶</a></h2><p>The option is explained here. mark-%[1]s takes yes or no.</p></section>`},
		{"headings that are the link", `<div id="%[1]s"><h2><a href="#%[1]s">%[1]s</a></h2><p>The option is explained here. mark-%[1]s takes yes or no.</p></div>`},
	} {
		words := strings.Fields("related comments footer sidebar navigation share cookies newsletter social-media disqus subscribe advertising popup widget")
		var b strings.Builder
		for _, w := range words {
			fmt.Fprintf(&b, c.part+"\n", w)
		}
		got := shown(t, "<head><title>Guide</title></head><body>"+siteHead+"<main><h1>Guide</h1><p>This guide explains every part of the theme, one after the other, with what it does.</p>"+b.String()+"</main>"+siteFoot)
		for _, w := range words {
			if !strings.Contains(got, "mark-"+w) {
				t.Errorf("%s: %s is lost", c.name, w)
			}
		}
	}
}

// TestIdsOfFurniture: what pages call their own parts by still counts, whatever its heading is.
func TestIdsOfFurniture(t *testing.T) {
	got := shown(t, newsHead+siteHead+`<main><article><h1>The book of the harbour</h1>`+prose+story+prose+
		`<div id="share"><h3>Share</h3><ul><li><a href="#">By mail</a></li><li><a href="#">By letter</a></li></ul></div>
		<div id="newsletter"><h3>Newsletter</h3><p>Once a week, all that is new.</p><form><input name=mail><button>Subscribe</button></form></div></article></main>`+siteFoot)
	for _, w := range []string{"By letter", "Once a week"} {
		if strings.Contains(got, w) {
			t.Errorf("%q is kept", w)
		}
	}
}
