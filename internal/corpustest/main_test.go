package corpustest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/maincontent"
)

// TestCorpusMainContent reports how well the main content is found, by kind of page, against the whole page.
func TestCorpusMainContent(t *testing.T) {
	sum := map[string][3]float64{}
	for id, p := range pages(t) {
		root, err := html.Parse(strings.NewReader(p.html))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		sel := maincontent.Find(root)
		main, full := text(sel.Root, sel.Drop), text(root, func(*html.Node) bool { return false })
		f := wordF1(main, p.Text)
		s := sum[p.Type]
		sum[p.Type] = [3]float64{s[0] + f, s[1] + wordF1(full, p.Text), s[2] + 1}
		if f < 0.5 {
			t.Logf("%s %s main %.2f (thin %v) root %s", p.Type, id, f, sel.Thin(), sel.Root.Data)
		}
	}
	var mean float64
	for _, kind := range slices.Sorted(maps.Keys(sum)) {
		s := sum[kind]
		t.Logf("%-14s %3.0f pages  main %.3f  whole page %.3f", kind, s[2], s[0]/s[2], s[1]/s[2])
		mean += s[0] / s[2] / float64(len(sum))
	}
	t.Logf("mean of kinds %.3f", mean)
}

// text is the text below n outside dropped elements.
func text(n *html.Node, drop func(*html.Node) bool) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			b.WriteByte(' ')
			return
		}
		if n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style" || n.Data == "head" || n.Data == "noscript" || drop(n)) {
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}
