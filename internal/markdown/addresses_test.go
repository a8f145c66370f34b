package markdown

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
	"github.com/wayleave/wayleave/internal/structurecheck"
)

const linked = `<p>See <a href="/a">the mill</a>, [1] and <a href="/a">again</a>; <a href="/b"><img src="/p.png" alt="A wheel"></a></p>` +
	`<ul><li><a href="/c">x</a></li></ul><table><tr><th>A<th>B<tr><td><a href="/a|b">c</a><td>d</table>`

// TestLinksGiveTheirAddressesAsAsked: inline, by numbers that nothing of the text can be mistaken for, or not at all.
func TestLinksGiveTheirAddressesAsAsked(t *testing.T) {
	for _, c := range []struct {
		links scribe.Links
		want  string
	}{
		{scribe.LinksNone, "See the mill, [1] and again; A wheel\n\n- x\n\n| A | B |\n| --- | --- |\n| c | d |"},
		{scribe.LinksReferences, "See [the mill][1], \\[1] and [again][1]; [![A wheel][2]][3]\n\n- [&#120;][4]\n\n| A | B |\n| --- | --- |\n| [c][5] | d |\n\n" +
			"[1]: https://h.example/a\n[2]: https://h.example/p.png\n[3]: https://h.example/b\n[4]: https://h.example/c\n[5]: https://h.example/a|b"},
	} {
		root, err := htmltree.Parse(t.Context(), linked)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Render(t.Context(), root, Options{BaseURL: "https://h.example/", Links: c.links})
		if err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("links %d:\n%s\nwant\n%s", c.links, got, c.want)
		}
	}
}

// TestNumberedLinksAreTheInlineOnes: what a parser makes of both is the same.
func TestNumberedLinksAreTheInlineOnes(t *testing.T) {
	for _, c := range structureCases(t) {
		if c.Mode != "full" || strings.Contains(c.HTML, "\x00") {
			continue
		}
		root, err := htmltree.Parse(t.Context(), c.HTML)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Render(t.Context(), root, Options{BaseURL: c.URL, Links: scribe.LinksReferences})
		if err != nil {
			t.Fatal(err)
		}
		for _, check := range []string{"link", "image", "no_link", "text_in_order", "table", "list"} {
			if len(c.ChecksOn(check)) == 0 {
				continue
			}
			only := c
			only.Checks = c.ChecksOn(check)
			for _, why := range only.Judge(structurecheck.Output{Markdown: text}) {
				t.Errorf("%s: %s\n%s", c.ID, why, shorten(text))
			}
		}
	}
}
