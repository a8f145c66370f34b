package page

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/costtest"
	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/prose"
)

func read(t *testing.T, page string, limits document.Limits) string {
	t.Helper()
	w := prose.New(context.Background(), limits)
	_ = Read(t.Context(), []byte(page), w, w.Block) // ErrFull: what fits is shown
	text, _ := w.Finish()
	return text
}

func TestWhatPagesBecome(t *testing.T) {
	for page, want := range map[string]string{
		"a<p>b<div>c</div>d":                          "a\n\nb\n\nc\n\nd",
		"<ul><li> <p>one</p> <p>more</p><li>two</ul>": "- one\n\n  more\n- two",
		"<ol start=9><li>x</ol><ol start=-5><li>y":    "9. x\n\n0) y",
		"<h1>A <i>b</i></h1><pre>x\n\ty</pre>":        "# A *b*\n\n```\nx\n\ty\n```",
		"<p hidden>no</p><p style='visibility: hidden'>no</p><script>no</script><textarea>yes</textarea>":        "yes",
		"<table><thead><tr><th>A<th>B</thead><tr><td>1<td><table><tr><td>2<td>3</table></table>":                 "| A | B |\n| --- | --- |\n| 1 | 2, 3 |",
		"<a href='javascript:x()'>script</a> <a href='https://harbour.example/'>page</a> <a href='#x'>place</a>": "script [page](https://harbour.example/) place",
		"<ul>before<li>one<ul>within<li>deep</ul>after</ul>":                                                     "before\n\n- one\n\n  within\n  - deep\n\n  after",
		"": "",
	} {
		if got := read(t, page, document.Limits{}); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// TestADeepPageKeepsItsText: whatever it is made of, and however deep it is.
func TestADeepPageKeepsItsText(t *testing.T) {
	for _, depth := range []int{100, 300, 511, 513, 2_000, 50_000} {
		for name, level := range map[string]string{
			"blocks": "<div>", "inline": "<span>", "quotes": "<blockquote>", "bold": "<b>", "lists": "<ul><li>",
			"tables": "<table><tr><td>", "unknown": "<x-y>", "links": "<a href=https://harbour.example/><div>",
		} {
			closing := ""
			if parts := strings.Split(strings.TrimSuffix(level, ">"), "><"); depth < 3_000 {
				for i := len(parts) - 1; i >= 0; i-- {
					closing += "</" + strings.Fields(strings.TrimPrefix(parts[i], "<"))[0] + ">"
				}
			}
			got := read(t, "<p>before"+strings.Repeat(level, depth)+"bottom"+strings.Repeat(closing, depth)+"<p>after", document.Limits{})
			before, bottom, after := strings.Index(got, "before"), strings.Index(got, "bottom"), strings.Index(got, "after")
			if before < 0 || bottom < before || after < bottom {
				t.Errorf("%s, %d deep: %d bytes, before at %d, bottom at %d, after at %d", name, depth, len(got), before, bottom, after)
			}
		}
	}
}

func TestACancelledReadingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Read(ctx, []byte("<p>x"), prose.New(t.Context(), document.Limits{}), func(*prose.Block) error { return nil }); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestHostilePages(t *testing.T) {
	many := strings.Repeat
	for name, page := range map[string]string{
		"deep":           many("<div>", 100_000) + "x",
		"deep lists":     many("<ul><li>", 200) + "x",
		"deep tables":    many("<table><tr><td>", 150) + "x",
		"many elements":  many("<b>x</b>", 200_000),
		"wide cells":     "<table>" + many("<tr><td colspan=99999999>x<td colspan=-4>y", 20_000),
		"one long word":  many("x", Most+100),
		"many list ends": many("</ul><li>", 100_000),
	} {
		costtest.Within(t, name, 10*time.Second, func() { read(t, page, document.Limits{}) })
	}
}
