package declared

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

func TestFactsOfAPage(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       Facts
		sort       Sort
	}{
		{"nothing", `<title>T</title>`, Facts{Title: "T"}, Unknown},
		{"meta elements", `<meta property="og:title" content=" Mill   turns "><meta name=author content="Ann Quay"><meta property="article:published_time" content="2026-03-02">
			<meta property="og:type" content="article"><meta property="og:locale" content="pt_BR"><link rel=canonical href="/a">`,
			Facts{"Mill turns", "Ann Quay", "2026-03-02", "/a", "pt-BR"}, Article},
		{"a graph, of which the article counts", `<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"The Quay"},{"@type":["NewsArticle","Article"],"headline":"Mill",
			"author":[{"@type":"Person","name":"Ann"},"Bo","https://p.example/c"],"datePublished":"2026-03-02T08:00:00Z","inLanguage":"de"}]}</script><title>Mill | The Quay</title>`,
			Facts{"Mill", "Ann, Bo", "2026-03-02T08:00:00Z", "", "de"}, Article},
		{"a product", `<script type="application/ld+json">[{"@type":"https://schema.org/Product","name":"Chisel","author":"no"}]</script>`, Facts{Title: "Chisel"}, Product},
		{"a question", `<script type="application/ld+json">{"@type":"QAPage","mainEntity":{"@type":"Question","name":"Why?","author":{"name":"Ann"}}}</script>`, Facts{Title: "Why?", Byline: "Ann"}, Forum},
		{"a list", `<script type="application/ld+json">{"@type":"CollectionPage","name":"All"}</script>`, Facts{}, List},
		{"an author that is an address", `<meta name=author content="https://x.example/ann">`, Facts{}, Unknown},
		{"broken JSON", `<script type="application/ld+json">{"@type":"Article",</script>`, Facts{}, Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, c.head)
			if r.Facts != c.want || r.Sort != c.sort {
				t.Errorf("got %+v, sort %d; want %+v, sort %d", r.Facts, r.Sort, c.want, c.sort)
			}
		})
	}
}

// TestFactsAreBounded: a page may declare megabytes, or objects in objects without end.
func TestFactsAreBounded(t *testing.T) {
	long := read(t, `<meta name=author content="`+strings.Repeat("ä ", 10_000)+`">`)
	if n := utf8.RuneCountInString(long.Byline); n > longestWord {
		t.Errorf("a byline of %d characters", n)
	}
	deep := strings.Repeat(`{"@graph":[`, 5000) + `{"@type":"Article","headline":"deep"}` + strings.Repeat(`]}`, 5000)
	if r := read(t, `<script type="application/ld+json">`+deep+`</script>`); r.Title != "" {
		t.Errorf("title %q out of the depth", r.Title)
	}
	much := `<script type="application/ld+json">{"x":"` + strings.Repeat("y", mostScript) + `","@type":"Article","headline":"much"}</script>`
	if r := read(t, much); r.Title != "" {
		t.Errorf("title %q out of too much", r.Title)
	}
}

func read(t *testing.T, head string) *Reader {
	t.Helper()
	root, err := html.Parse(strings.NewReader("<!doctype html><head>" + head + "</head><body>x"))
	if err != nil {
		t.Fatal(err)
	}
	title := ""
	if _, after, ok := strings.Cut(head, "<title>"); ok {
		title, _, _ = strings.Cut(after, "<")
	}
	var r Reader
	r.ReadHead(root)
	r.Finish(title)
	return &r
}

func TestRecipe(t *testing.T) {
	for head, want := range map[string]string{
		`{"@type":"Recipe","recipeIngredient":["1 lemon","2 jars"],"recipeInstructions":"Boil."}`:                                                "1 lemon\n2 jars\nBoil.",
		`{"@type":"HowTo","supply":[{"@type":"HowToSupply","name":"larch"}],"step":[{"@type":"HowToStep","text":"Saw it."},{"name":"Oil it."}]}`: "larch\nSaw it.\nOil it.",
		`{"@type":"Article","recipeIngredient":["1 lemon"]}`:                                                                                     "",
		`{"@type":"Recipe","recipeIngredient":7}`:                                                                                                "",
	} {
		r := read(t, `<script type="application/ld+json">`+head+`</script>`)
		if got := strings.Join(r.Texts(), "|"); got != want || r.Recipe() != (want != "") {
			t.Errorf("%s: %q, recipe %v", head, got, r.Recipe())
		}
	}
}
