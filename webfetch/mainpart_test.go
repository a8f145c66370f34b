package webfetch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/structurecheck"
)

// TestStructureCasesThroughThePipeline runs every structure case as a served body, whole and main, thin pages with their
// status. What is judged is what a caller gets.
func TestStructureCasesThroughThePipeline(t *testing.T) {
	for _, file := range []string{"../testdata/structure.json", "../testdata/structure-ours.json"} {
		cases, err := structurecheck.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				r := &reply{url: c.URL, status: c.Status, contentType: []string{"text/html; charset=utf-8"}, body: []byte(c.HTML)}
				got, err := converter{part: Part(c.Mode)}.read(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				var thin []string
				for _, f := range got.thin {
					thin = append(thin, f.Kind)
				}
				for _, failure := range c.Judge(structurecheck.Output{Markdown: got.text, Title: got.title, Thin: thin}) {
					t.Error(failure)
				}
			})
		}
	}
}

func TestMainPartSaysWhatItLeavesOut(t *testing.T) {
	body := "<!doctype html><title>T</title><nav><a href=/a>Products menu</a> <a href=/b>Pricing menu</a></nav><main><h1>Mill</h1><p>" +
		strings.Repeat("The wheel turns twice a day. ", 20) + "</p></main>"
	full := convertedPart(t, body, "")
	main := convertedPart(t, body, PartMain)
	if full.ContentKind != PartFull || full.FullChars != full.TotalChars || !strings.Contains(full.Content, "Products menu") {
		t.Errorf("whole page: kind %s, %d of %d chars", full.ContentKind, full.TotalChars, full.FullChars)
	}
	if main.ContentKind != PartMain || strings.Contains(main.Content, "Products menu") || !strings.Contains(main.Content, "The wheel turns") {
		t.Errorf("main part: kind %s\n%s", main.ContentKind, main.Content)
	}
	if main.TotalChars != utf8.RuneCountInString(main.Content) || main.FullChars != full.TotalChars {
		t.Errorf("main part has %d of %d chars, the page %d", main.TotalChars, main.FullChars, full.TotalChars)
	}
	if !slices.ContainsFunc(main.Notes, func(n Note) bool { return n.Kind == "main" }) {
		t.Errorf("notes %v do not say that this is a part", main.Notes)
	}
}

// TestMainPartWithLinksIsMeasuredAgainstThePageWithThem: the list of links ends both, so both are counted with it.
func TestMainPartWithLinksIsMeasuredAgainstThePageWithThem(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"a menu left out", "<!doctype html><title>T</title><nav><a href=/a>Products menu</a> <a href=/b>Pricing menu</a></nav><main><h1>Mill</h1><p>" +
			strings.Repeat("The wheel turns <a href=/c>twice</a> a day. ", 20) + "</p></main>"},
		{"a part that is all of it", "<!doctype html><title>T</title><main><h1>Mill</h1><p>" + strings.Repeat("The wheel turns <a href=/c>twice</a> a day. ", 20) + "</p></main>"},
		{"a shell", "<!doctype html><title>T</title><a href=/a></a><div id=root></div>"},
	} {
		part := func(p Part) *Page {
			page, err := Convert(context.Background(), []byte(c.body), []string{"text/html"}, "http://site.test/", Options{Content: p, Links: LinksInline, ListLinks: true})
			if err != nil {
				t.Fatal(c.name, err)
			}
			return page
		}
		full, main := part(PartFull), part(PartMain)
		if len(main.Links) == 0 || main.FullChars != full.TotalChars {
			t.Errorf("%s: %d links, the main part says %d characters, the page has %d", c.name, len(main.Links), main.FullChars, full.TotalChars)
		}
		for _, n := range main.Notes {
			if n.Kind == "main" && n.Data["full_chars"] != full.TotalChars {
				t.Errorf("%s: note %v, the page has %d", c.name, n, full.TotalChars)
			}
		}
	}
}

// TestDeclaredDescriptionIsAddedAndTold: what a shop tells machines about its product and shows only by its scripts.
func TestDeclaredDescriptionIsAddedAndTold(t *testing.T) {
	page := `<!doctype html><title>Chisel</title><script type="application/ld+json">{"@type":"Product","name":"Chisel","description":` +
		`"<p>Forged of one piece of steel and ground to a <b>keen<\/b> edge, with a handle of local ash that is oiled twice.<\/p><img src=x>"}</script>` +
		`<main><h1>Chisel</h1><p>€ 34.50</p></main>`
	main := convertedPart(t, page, PartMain)
	if !strings.Contains(main.Content, "€ 34.50\n\nForged of one piece of steel and ground to a **keen** edge") {
		t.Errorf("main part: %s", main.Content)
	}
	if !slices.ContainsFunc(main.Notes, func(n Note) bool { return n.Kind == "declared" }) || main.FullChars < main.TotalChars {
		t.Errorf("notes %v, %d of %d characters", main.Notes, main.TotalChars, main.FullChars)
	}
	if full := convertedPart(t, page, ""); strings.Contains(full.Content, "Forged") {
		t.Errorf("whole page: %s", full.Content)
	}
}

// TestDeclaredArticleStandsForAShell: what a page tells machines of its one article is read where scripts would show it, and not where
// the page shows something itself, or asks to be paid.
func TestDeclaredArticleStandsForAShell(t *testing.T) {
	body := strings.Repeat(`The river rose by three metres, and the old town was flooded. `, 6) + `\n\nMore rain is expected.`
	shell := func(data, shown string) string {
		return `<!doctype html><title>Flood</title><script type="application/ld+json">` + data + `</script><div id=app>` + shown + `</div><script src=/app.js></script>`
	}
	article := `{"@type":"NewsArticle","headline":"Flood","articleBody":"` + body + `"}`
	for _, c := range []struct {
		name, data, shown string
		read              bool
	}{
		{"nothing is shown", article, "", true},
		{"it is loading", article, "<p>Loading…</p>", true},
		{"in a graph", `{"@graph":[{"@type":"WebSite","name":"News"},` + article + `]}`, "", true},
		{"a teaser is shown", article, "<p>" + strings.Repeat("The river rose, and the town was flooded on Monday. ", 4) + "</p>", false},
		{"not free", `{"@type":"NewsArticle","isAccessibleForFree":"False","articleBody":"` + body + `"}`, "", false},
		{"a part is not free", `[` + article + `,{"@type":"WebPageElement","isAccessibleForFree":false}]`, "", false},
		{"two articles", `[` + article + `,{"@type":"NewsArticle","articleBody":"Another. ` + body + `"}]`, "", false},
		{"short", `{"@type":"NewsArticle","articleBody":"The river rose by three metres, and the old town was flooded."}`, "", false},
		{"no article", `{"@type":"Product","articleBody":"` + body + `"}`, "", false},
	} {
		main := convertedPart(t, shell(c.data, c.shown), PartMain)
		if got := strings.Contains(main.Content, "old town was flooded.\n\nMore rain is expected."); got != c.read {
			t.Errorf("%s: %q", c.name, main.Content)
		}
		told := slices.ContainsFunc(main.Notes, func(n Note) bool { return n.Kind == "declared" })
		if told != c.read || c.read && len(main.Thin) > 0 || main.TotalChars > main.FullChars {
			t.Errorf("%s: notes %v, thin %v, %d of %d characters", c.name, main.Notes, main.Thin, main.TotalChars, main.FullChars)
		}
	}
}

func TestContentOptionIsChecked(t *testing.T) {
	_, err := Convert(context.Background(), nil, nil, "", Options{Content: "most"})
	var bad *OptionError
	if !errors.As(err, &bad) || bad.Option != "content" {
		t.Errorf("content %q: %v", "most", err)
	}
}

func convertedPart(t *testing.T, body string, part Part) *Page {
	t.Helper()
	p, err := Convert(context.Background(), []byte(body), []string{"text/html"}, "https://mill.example/", Options{Content: part})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMainPartIsWhatAFrameHolds: a page that shows a document of its own in a frame.
func TestMainPartIsWhatAFrameHolds(t *testing.T) {
	doc := "<h1>Mill</h1>" + strings.Repeat("<p>The wheel turns twice a day, and the <a href=/gate>gate</a> is shut by hand.</p>", 20)
	body := "<!doctype html><title>T</title><nav><a href=/a>Products menu</a> <a href=/b>Pricing menu</a></nav><main><h1>Preview</h1><p>Shared on Tuesday.</p><iframe srcdoc=\"" + doc + "\"></iframe></main>"
	main := convertedPart(t, body, PartMain)
	if main.ContentKind != PartMain || strings.Contains(main.Content, "Products menu") || !strings.Contains(main.Content, "# Mill") || strings.Count(main.Content, "The wheel turns") != 20 || len(main.Thin) > 0 {
		t.Errorf("main part: kind %s, thin %v\n%s", main.ContentKind, main.Thin, main.Content)
	}
}
