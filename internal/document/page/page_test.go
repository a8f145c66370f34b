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
	_ = Read([]byte(page), w, w.Block) // ErrFull: what fits is shown
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
		"": "",
	} {
		if got := read(t, page, document.Limits{}); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
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
