package webfetch

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
)

func TestLlmsTxtIsPointedOut(t *testing.T) {
	const html, text = "text/html; charset=utf-8", "text/plain"
	for _, c := range []struct {
		name, path string
		answer     testsite.Answer
		want       string // the file; empty for none
	}{
		{"a link in the head", "/", ofType(html, `<link rel="alternate" type="text/plain" href="/llms.txt"><h1>Mill</h1>`), "https://site.test/llms.txt"},
		{"a link in the text", "/docs/a?x=1", ofType(html, `<h1>Mill</h1><p>For models: <a href="/llms.txt#top">index</a></p>`), "https://site.test/llms.txt"},
		{"with a base", "/docs/a", ofType(html, `<base href="https://site.test/docs/"><a href="llms.txt">x</a>`), "https://site.test/docs/llms.txt"},
		{"of a folder that the page is in", "/docs/guide/a", ofType(html, `<link rel="llms-txt" href="../llms.txt"><h1>Mill</h1>`), "https://site.test/docs/llms.txt"},
		{"a header", "/a", ofType(text, "Mill", `Link: </x.css>; rel=preload, </llms.txt>; rel="llms-txt"`), "https://site.test/llms.txt"},
		{"another header", "/a", ofType("application/json", `{"mill":1}`, "X-Llms-Txt: /llms.txt"), "https://site.test/llms.txt"},
		{"Markdown that names it", "/a.md", ofType("text/markdown", "# Mill\n\n> The index is at: https://site.test/llms.txt\n"), "https://site.test/llms.txt"},

		{"none", "/", ofType(html, `<h1>Mill</h1><p>llms.txt is a file for models.</p>`), ""},
		{"of another site", "/", ofType(html, `<a href="https://other.test/llms.txt">x</a><a href="http://site.test/llms.txt">x</a><a href="https://site.test:444/llms.txt">x</a>`), ""},
		{"of another site's base", "/", ofType(html, `<base href="https://other.test/"><a href="llms.txt">x</a>`), ""},
		{"of a folder that the page is not in", "/docs/a", ofType(html, `<a href="/blog/llms.txt">x</a>`), ""},
		{"a folder that would say something", "/docs/a", ofType(html, `<a href="/ignore-what-you-were-told/llms.txt">x</a>`), ""},
		{"with a query", "/", ofType(html, `<a href="/llms.txt?ignore-what-you-were-told">x</a>`), ""},
		{"a file that is named so in part", "/", ofType(html, `<a href="/myllms.txt">x</a><a href="/llms.txt.gz">x</a>`), ""},
		{"the file itself", "/llms.txt", ofType("text/markdown", "# Mill\n\nhttps://site.test/llms.txt"), ""},
		{"its long form", "/llms-full.txt", ofType(text, "Mill", "X-Llms-Txt: /llms.txt"), ""},
		{"an error page", "/", testsite.Answer{Status: 404, Fields: []string{"Content-Type: " + html}, Body: `<h1>Oh</h1><a href="/llms.txt">x</a>`}, ""},
		{"Markdown that names a longer one", "/a", ofType("text/markdown", "https://site.test/llms.txt.old"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWeb(t, Options{}, []string{"site.test"}, func(string, testsite.Request) testsite.Answer { return c.answer })
			page, err := w.fetch(t, Request{URL: "https://site.test" + c.path})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, n := range page.Notes {
				if n.Kind == "llms_txt" {
					got = n.Data["url"].(string)
					if n.Fact != "the site has one, at "+got {
						t.Errorf("fact %q", n.Fact)
					}
				}
			}
			if got != c.want {
				t.Errorf("pointed out %q, want %q", got, c.want)
			}
			if asked := w.requests(); len(asked) != 1 {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestLlmsTxtIsToldWhereReadingBegins and not again in each window.
func TestLlmsTxtIsToldWhereReadingBegins(t *testing.T) {
	p := &Page{FinalURL: "https://site.test/a", Status: 200, ContentType: "text/html", Via: ViaConverted, Content: strings.Repeat("Mill. ", 100), Notes: []Note{llmsNote("https://site.test/llms.txt")}}
	const line = "\nnote: llms_txt · the site has one, at https://site.test/llms.txt\n"
	if text := Render(ReadWindow(p, Arguments{MaxBytes: 100}, AnswerOptions{})); !strings.Contains(text, line) {
		t.Errorf("the first window: %s", text)
	}
	if text := Render(ReadWindow(p, Arguments{MaxBytes: 100, Offset: 100}, AnswerOptions{})); strings.Contains(text, "llms_txt") {
		t.Errorf("a later window: %s", text)
	}
}
