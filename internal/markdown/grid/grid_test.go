package grid

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

func survey(t *testing.T, src string) Survey {
	t.Helper()
	root, err := html.Parse(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	return Of(facts.Find(root, atom.Table, 20))
}

// picture draws a table's grid: the cells' texts by row and column, a dot under a span.
func picture(s Survey) string {
	g := New(&s)
	var b strings.Builder
	for _, tr := range s.Rows {
		cells := g.Place(tr)
		for _, c := range cells {
			if c == nil {
				b.WriteString(".")
			} else {
				b.WriteString(facts.ShortText(c))
			}
		}
		b.WriteString(strings.Repeat("-", g.Fill(len(cells))-len(cells)) + "/")
	}
	return b.String()
}

func TestCellsStandInTheirColumns(t *testing.T) {
	for src, want := range map[string]string{
		"<table><tr><td>a<td>b<tr><td>c<td>d":                                   "ab/cd/",
		"<table><tr><td>a<td>b<td>c<tr><td colspan=2>d<td>e":                    "abc/d.e/",
		"<table><tr><td rowspan=2>a<td>b<tr><td>c":                              "ab/.c/",
		"<table><tr><td rowspan=2 colspan=2>a<td>b<tr><td>c<tr><td>d<td>e<td>f": "a.b/..c/def/",
		"<table><tr><td>a<tr><td>b<td>c":                                        "a-/bc/",
		"<table><tr><td colspan=9>a<tr><td>b<td>c":                              "a-/bc/",
		"<table><tr><td>a<td rowspan=0>b<tr><td>c<tr><td>d":                     "ab/c-/d-/",
		"<table><thead><tr><td rowspan=5>a<td>b<tbody><tr><td>c<td>d":           "ab/cd/",
		"<table><tfoot><tr><td>f<tbody><tr><td>b<thead><tr><td>h":               "h/b/f/",
		"<table><tr><td>a<td hidden>x<td>b<tr style=display:none><td>c":         "ab/",
		"<table><tr><td rowspan=2>a<td rowspan=2>b<td>c<tr><td>d<tr><td>e":      "abc/..d/e--/",
	} {
		if got := picture(survey(t, src)); got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}

func TestTheHeaderIsTheRowThatNamesTheColumns(t *testing.T) {
	for src, want := range map[string]bool{
		"<table><tr><th>a<th>b<tr><td>c<td>d":            true,
		"<table><thead><tr><td>a<td>b<tbody><tr><td>c":   true,
		"<table><tr><td><th>b<tr><th>c<td>d":             true,
		"<table><tr><th>a<td>b<tr><th>c<td>d":            false,
		"<table><tr><td>a<td>b<tr><td>c<td>d":            false,
		"<table><tr><td><b>a</b><td><b>b</b><tr><td>c":   true,
		"<table><tr><td><b>a</b><td><b>b</b>":            false,
		"<table><tr><td><b>a</b> x<td><b>b</b><tr><td>c": false,
	} {
		if got := survey(t, src).Header; got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestTablesThatOnlyLayOutAreTold(t *testing.T) {
	for src, want := range map[string]bool{
		"<table><tr><td>a":                                      true,
		"<table><tr><td>a<td>b<tr><td>c<td>d":                   false,
		"<table><tr><td><p>a<tr><td><p>b":                       true,
		"<table><tr><td>a<tr><td>b":                             false,
		"<table><tr><td><h2>a</h2><td>b<tr><td>c<td>d":          true,
		"<table><tr><td><hr><td>b<tr><td>c<td>d":                true,
		"<table><tr><td>a<td><table><tr><td>b</table>":          true,
		"<table><tr><th>a<th>b<tr><td>c<td><table><tr><td>d":    false,
		"<table><tr><td><ul><li>a</ul><td>b<tr><td>c<td>d":      false,
		"<table><tr><td><a href=x>a</a><td>b":                   true,
		"<table><tr><td>a<td><nav>b</nav><tr><td>c<td>d":        true,
		"<table><caption>x</caption><tr><td>a<td>b":             false,
		"<table role=presentation><tr><th>a<th>b<tr><td>c<td>d": true,
		"<table role=grid><tr><td><h2>a</h2>":                   false,
		"<table><tr><th>a":                                      true,
	} {
		s := survey(t, src)
		role := ""
		if i := strings.Index(src, "role="); i >= 0 {
			role, _, _ = strings.Cut(src[i+len("role="):], ">")
		}
		if got := s.Layout(role); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestLinesOfCodeBesideTheirNumbersAreCode(t *testing.T) {
	for src, want := range map[string]bool{
		`<table><tr><td class="linenos">1 2<td class="code">x`:             true,
		`<table><tr><td class="blob-num" data-line-number="1"><td>x`:       true,
		`<table><tr><td class="gutter">Menu<td>x`:                          false,
		`<table><tr><td class="gutter"><td>x`:                              false,
		`<table><tr><td class="lntd"><pre>1</pre><td class="lntd">x</pre>`: true,
	} {
		if got := survey(t, src).Code; got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestTM010SpansCostWhatTheirCellsCost(t *testing.T) {
	var b strings.Builder
	b.WriteString("<table><tr>")
	for i := range 2000 {
		fmt.Fprintf(&b, "<td rowspan=60000 colspan=1000>%d", i)
	}
	b.WriteString(strings.Repeat("<tr><td>x", 2000))
	s := survey(t, b.String())
	g := New(&s)
	places := 0
	for _, tr := range s.Rows {
		n := len(g.Place(tr))
		places += max(n, g.Fill(n))
	}
	if limit := 2*(maxFree+maxFreePerCell*4000) + 4000; places > limit {
		t.Errorf("%d places for 4000 cells", places)
	}
}
