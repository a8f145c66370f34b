package webfetch

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
)

// shopPage has a menu, a main part and links in both.
var shopPage = `<!doctype html><html lang="de"><head><title>Chisels | The Quay</title><meta property="og:title" content="Chisels"><meta name="author" content="Ann  Quay">
<link rel="canonical" href="/c/chisels"><script type="application/ld+json">{"@type":"Article","headline":"All chisels","datePublished":"2026-03-02","author":[{"name":"Ann Quay"},{"name":"Bo Lock"}]}</script></head>
<body><nav><ul><li><a href="/menu">Products menu</a></li></ul></nav><main><h1>All chisels</h1><p>` + strings.Repeat("A chisel is ground flat at its back and kept dry. ", 12) +
	`</p><p>Whoever wants a good one may look at <a href="/p/1">chisel one</a> and then at <a href="/p/1">it again</a>.</p><ul><li><a href="/l">The list</a></li><li><a href="/m">A card</a>, which is another page of this shop</li></ul></main><footer><a href="/privacy">Privacy policy</a></footer></body></html>`

// TestToolShowsTheMainPartUnlessAsked: W-109 in the tool, and what its two members do.
func TestToolShowsTheMainPartUnlessAsked(t *testing.T) {
	site := testsite.Serve(t, testsite.Always(ofType("text/html", shopPage)))
	tool := mustTool(t, ToolOptions{Source: siteWorld(site).fetcher(t, Options{}), Abilities: Abilities{MainContent: true}})
	if !strings.Contains(string(tool.InputSchema), `"content"`) || !strings.Contains(string(tool.InputSchema), `"links"`) {
		t.Fatalf("schema %s", tool.InputSchema)
	}
	for _, c := range []struct {
		arguments   string
		kind        string
		has, hasNot []string
	}{
		{`{"url":"http://site.test/c"}`, "main", []string{"note: main · main content of a page of ", "; content=full shows the rest", "A chisel is ground", "look at chisel one and then at it again.", "[The list](http://site.test/l)"},
			[]string{"Products menu", "Privacy policy"}},
		{`{"url":"http://site.test/c","content":"full"}`, "full", []string{"Products menu", "A chisel is ground", "Privacy policy"}, []string{"note: main"}},
		{`{"url":"http://site.test/c","links":true}`, "main", []string{"A chisel is ground", "- [Products menu](http://site.test/menu)", "- [Privacy policy](http://site.test/privacy)"}, nil},
		{`{"url":"http://site.test/c","format":"raw","links":true}`, "full", []string{"<nav>"}, []string{"- [Products"}},
	} {
		result := call(t, tool, c.arguments)
		var keys struct {
			Kind  string `json:"content_kind"`
			Total int    `json:"total_chars"`
			Full  int    `json:"full_chars"`
			Links any    `json:"links"`
		}
		if err := json.Unmarshal(result.Structured, &keys); err != nil {
			t.Fatal(err)
		}
		if keys.Kind != c.kind || keys.Full < keys.Total || keys.Links != nil {
			t.Errorf("%s: %+v", c.arguments, keys)
		}
		for _, s := range c.has {
			if !strings.Contains(result.Text(), s) {
				t.Errorf("%s: %q is not in\n%s", c.arguments, s, result.Text())
			}
		}
		for _, s := range c.hasNot {
			if strings.Contains(result.Text(), s) {
				t.Errorf("%s: %q is in\n%s", c.arguments, s, result.Text())
			}
		}
	}
}

func TestPageSaysWhatItDeclaresAndWhereItLinks(t *testing.T) {
	page, err := Convert(context.Background(), []byte(shopPage), []string{"text/html"}, "https://quay.example/x", Options{Content: PartMain, Links: LinksReferences, ListLinks: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Declared{"All chisels", "Ann Quay", "2026-03-02", "https://quay.example/c/chisels", "de"}); page.Declared == nil || *page.Declared != want {
		t.Errorf("declared %+v, want %+v", page.Declared, want)
	}
	if want := []Link{{"Products menu", "https://quay.example/menu"}, {"chisel one", "https://quay.example/p/1"}, {"The list", "https://quay.example/l"}, {"A card", "https://quay.example/m"}, {"Privacy policy", "https://quay.example/privacy"}}; !slices.Equal(page.Links, want) {
		t.Errorf("links %+v", page.Links)
	}
	if !strings.Contains(page.Content, "look at [chisel one][1] and then at [it again][1].") || !strings.Contains(page.Content, "\n[1]: https://quay.example/p/1") {
		t.Errorf("content\n%s", page.Content)
	}
	bare, err := Convert(context.Background(), []byte(shopPage), []string{"text/html"}, "https://quay.example/x", Options{Links: LinksNone})
	if err != nil || strings.Contains(bare.Content, "](") || !strings.Contains(bare.Content, "look at chisel one and then at it again.") || bare.Links != nil {
		t.Errorf("%v, without addresses\n%s", err, bare.Content)
	}
	if _, err := Convert(context.Background(), nil, nil, "", Options{Links: "some"}); err == nil || !strings.Contains(err.Error(), "inline, items, none or references") {
		t.Errorf("links of an unknown way: %v", err)
	}
}

// TestRequestSaysWhatIsWanted: a raw body has no parts.
func TestRequestSaysWhatIsWanted(t *testing.T) {
	a := Arguments{URL: "u", Format: FormatAuto, Content: PartMain, Links: true}
	if got := a.Request(); got != (Request{URL: "u", Format: FormatAuto, Content: PartMain, Links: true}) {
		t.Errorf("%+v", got)
	}
	a.Format = FormatRaw
	if got := a.Request(); got != (Request{URL: "u", Format: FormatRaw}) {
		t.Errorf("%+v", got)
	}
}
