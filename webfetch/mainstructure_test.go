package webfetch

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/structurecheck"
)

const (
	chrome = `<header class="site"><a href="/">Quay Press</a><nav><ul><li><a href="/news">News menu</a></li><li><a href="/about">About menu</a></li>` +
		`<li><a href="/login">Log in</a></li></ul></nav></header>`
	before = `<article><h1>The mill at the mouth</h1><p class="byline">By Ann Quay, 3 May 2026</p>` +
		`<p>The old tide mill at the mouth of the river was rebuilt last winter, and for the first time in forty years its wheel turns twice a day.</p>` +
		`<p>A tide mill works by holding back the flood behind a gate and letting it through the wheel once the sea has fallen, for some five hours each tide.</p>`
	after = `<p>The new gate is made of larch, which lasts longest where wood is wet and dry in turn, and was hung by four people in one night.</p>` +
		`<p>Visitors may come on Saturdays from ten to four; the wheel turns whenever the tide allows, whoever is there to see it.</p></article>` +
		`<aside class="related"><h2>More from the quay</h2><ul><li><a href="/m/1">Another menu story</a></li><li><a href="/m/2">A third menu story</a></li></ul></aside>` +
		`<footer><p>© Quay Press. All rights reserved.</p><a href="/privacy">Privacy menu</a></footer>`
)

// TestStructureSurvivesInAMainPart puts what stands in each case of a whole page into an article with menus around it: as
// the article's main part it keeps its structure.
func TestStructureSurvivesInAMainPart(t *testing.T) {
	// Checks that say something of a part of a page; the others speak of the whole.
	names := []string{"table", "list", "deflist", "code", "inline_code", "link", "image", "emphasis", "quote", "footnote", "math", "sup", "absent", "text_in_order",
		"lines", "no_link", "no_image"}
	// What a main part leaves out on purpose: bars of commands and of links, and pictures beside a card's text.
	left := []string{"lists-14", "ours-links-13", "links-10", "ours-links-11"}
	const start, end = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Test page</title></head><body>`, `</body></html>`
	tried := 0
	for _, file := range []string{"../testdata/structure.json", "../testdata/structure-ours.json"} {
		cases, err := structurecheck.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			body, plain := strings.CutPrefix(c.HTML, start)
			body, closed := strings.CutSuffix(body, end)
			switch c.Area {
			case "malformed", "titles", "forms", "thin", "main", "hidden", "embedded", "headings", "images":
				continue
			}
			if slices.Contains(left, c.ID) || c.Mode != "full" || !plain || !closed || len(body) > 5000 {
				continue
			}
			var checks []structurecheck.Check
			for _, name := range names {
				checks = append(checks, c.ChecksOn(name)...)
			}
			if len(checks) == 0 {
				continue
			}
			c.Checks = checks
			tried++
			t.Run(c.ID, func(t *testing.T) {
				r := &reply{url: c.URL, contentType: []string{"text/html; charset=utf-8"}, body: []byte(start + chrome + before + body + after + end)}
				got, err := converter{part: PartMain, links: LinksInline}.read(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(got.text, "menu") {
					t.Error("a menu is in the main part")
				}
				for _, failure := range c.Judge(structurecheck.Output{Markdown: got.text, Title: got.title}) {
					t.Errorf("%s\n%s", failure, got.text)
				}
			})
		}
	}
	if tried < 150 {
		t.Errorf("%d cases", tried)
	}
}
