// Fuzzing: whatever text a page holds reads as the same text in the Markdown, and whatever markup it is made of, the
// output is bounded, valid and the same each time.

package markdown

import (
	"encoding/json"
	"html"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/structurecheck"
)

func convert(t *testing.T, page string) string {
	t.Helper()
	root, err := htmltree.Parse(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Render(t.Context(), root, Options{BaseURL: "https://docs.example/guide/page.html"})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// judge fails the test unless the check, a pair of its name and what it wants, holds of the Markdown.
func judge(t *testing.T, page, markdown, name string, want any) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{name: want})
	if err != nil {
		t.Fatal(err)
	}
	var check structurecheck.Check
	if err := json.Unmarshal(raw, &check); err != nil {
		t.Fatal(err)
	}
	for _, why := range (structurecheck.Case{Checks: []structurecheck.Check{check}}).Judge(structurecheck.Output{Markdown: markdown}) {
		t.Errorf("page:\n%q\nmarkdown:\n%s\n%s", page, markdown, why)
	}
}

// shown is text as a page shows it: what has no glyph is gone.
func shown(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c < 0x20 && !strings.ContainsRune(" \t\n\f\r", c), c >= 0x7f && c < 0xa0, c == 0xad, c == 0x200b, c == 0x2060, c == 0xfeff:
			return -1
		case c == utf8.RuneError:
			return 'x'
		}
		return c
	}, s)
}

func FuzzTextSurvivesAMarkdownParser(f *testing.F) {
	for _, s := range []string{"plain words", "# no heading", "1. no item", "- - -", "a *b* _c_ __d__ `e` ~f~ ~~g~~", "[a](b) ![c](d) [^1]: e",
		"<b>&amp;&lt;</b> \\* \\\\", "https://a.example/_b_*c* www.a.example/~x", "a | b", "=== ---", "snake_case 2*3*4", "｡*あ*。", "\\", "+ x", "a\\\nb"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || len(a)+len(b) > 400 {
			return
		}
		a, b = shown(a), shown(b)
		page := "<p>" + html.EscapeString(a) + "</p><p>" + html.EscapeString(b) + "<br>" + html.EscapeString(a) + "</p>"
		markdown := convert(t, page)
		judge(t, page, markdown, "roundtrip", a+" "+b+" "+a)
	})
}

func FuzzRender(f *testing.F) {
	for _, s := range shapes {
		f.Add(s.page(200))
	}
	for seed := range uint64(20) {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 11))}
		a.block(2)
		f.Add(a.page.String())
	}
	for _, page := range generatedPages() {
		f.Add(page[:600])
	}
	f.Fuzz(func(t *testing.T, page string) {
		if len(page) > 20_000 {
			return
		}
		text := convert(t, page)
		if !utf8.ValidString(text) {
			t.Error("not valid UTF-8")
		}
		if strings.IndexByte(text, 0) >= 0 {
			t.Error("a NUL byte came through")
		}
		const times, extra = 40, 4096 // a line of a page's four bytes stands behind a prefix of forty
		if len(text) > times*len(page)+extra {
			t.Errorf("%d bytes for %d", len(text), len(page))
		}
		if again := convert(t, page); again != text {
			t.Error("the second conversion differs")
		}
		tidy(t, text)
	})
}

// tidy checks what W-108 wants of converted text: no blanks at a line's end, one blank line in a row at most. Fences
// keep what is in them.
func tidy(t *testing.T, text string) {
	t.Helper()
	fence, blanks := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " >-*0123456789.)[^]:ntx")
		if ticks := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]; fence == "" && len(ticks) >= 3 && !strings.Contains(bare[len(ticks):], "`") {
			fence = ticks
		} else if fence != "" && bare == fence {
			fence = ""
			continue
		}
		if fence != "" {
			blanks = 0
			continue
		}
		if strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") {
			t.Errorf("a blank ends the line %q", line)
		}
		if blanks++; line != "" {
			blanks = 0
		}
		if blanks > 1 {
			t.Errorf("two blank lines in a row in\n%s", text)
		}
	}
}
