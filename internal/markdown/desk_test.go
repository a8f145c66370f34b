package markdown

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// pagesOfDesks leave a desk in several states.
func pagesOfDesks() []string {
	return []string{
		"<ol start=5><li>a<ul><li>b</ul><li>c</ol>",
		"<p>a <b>b <a href=/x>c</a></b> <code>d</code><pre>e\n f</pre>",
		"<blockquote><ul><li>" + strings.Repeat("long ", 20000) + "</ul></blockquote>",
		"<table><tr><th>a<td><ol><li>1<li>2</ol></table>",
		"<div hidden><h1>Of mills</h1><p>All of it is hidden until a script runs.</div>",
		"<p>x<sup><a href=#n>1</a></sup><p id=n>1 note",
		"",
	}
}

func TestAUsedDeskWritesAsANewOne(t *testing.T) {
	render := func(page string, d *desk) string {
		root, err := htmltree.Parse(context.Background(), page)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{BaseURL: "https://a.example/", Links: scribe.LinksReferences}
		text, err := d.render(context.Background(), root, o)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	d := newDesk()
	for range 3 {
		for i, page := range pagesOfDesks() {
			want, got := render(page, newDesk()), render(page, d)
			if got != want {
				t.Errorf("page %d: %.200q, want %.200q", i, got, want)
			}
		}
	}
}

func TestADeskThatHasBecomeLargeIsNotKept(t *testing.T) {
	for _, test := range []struct {
		page string
		kept bool
	}{
		{"<ul><li>a</ul><pre>b</pre>", true},
		{"<p>" + strings.Repeat("long ", keptBytes/4), false},
		{"<pre>" + strings.Repeat("long ", keptBytes/4), false},
		{"<p>" + strings.Repeat("<b>x</b>y", keptBytes/16), false},
		{strings.Repeat("<ul><li>a", 2*keptLists), false},
	} {
		root, err := htmltree.Parse(context.Background(), test.page)
		if err != nil {
			t.Fatal(err)
		}
		d := newDesk()
		if _, err := d.render(context.Background(), root, Options{}); err != nil {
			t.Fatal(err)
		}
		if d.empty() != test.kept {
			t.Errorf("%.20q…: kept is %v", test.page, !test.kept)
		}
	}
}

// TestConversionsSideBySideKeepApart has desks and rooms go from one goroutine to another, for the race detector.
func TestConversionsSideBySideKeepApart(t *testing.T) {
	convert := func(page string) string {
		room := htmltree.Enter()
		defer room.Leave()
		var root *html.Node
		root, err := room.Parse(context.Background(), page)
		if err != nil {
			t.Error(err)
			return ""
		}
		text, err := Render(context.Background(), root, Options{})
		if err != nil {
			t.Error(err)
		}
		return text
	}
	for i, page := range pagesOfDesks() {
		want := convert(page)
		for range 4 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for range 20 {
					if got := convert(page); got != want {
						t.Errorf("page %d: %.200q, want %.200q", i, got, want)
					}
				}
			})
		}
	}
}
