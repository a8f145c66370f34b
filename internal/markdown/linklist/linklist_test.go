package linklist

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/htmltree"
)

func TestAnchorsAreThePagesLinks(t *testing.T) {
	page := `<base href="/a/"><nav><a href="/home"><svg></svg><img alt="Home  page"></a></nav>
<p><a href="b?x=1&amp;y=2">One
 <b>two</b></a> <a href="javascript:x()">no</a> <a>no</a> <a href="/home">Home</a>
<a href="mailto:a@b.example"></a><span hidden><a href="/hidden">no</a></span><template><a href=/t>no</a></template></p>
<map><area href="/area" alt="A place"></map><a href="c" aria-label="Called so"><i></i></a><a href=d></a><a href=d>Named later</a>`
	got := anchors(t, page, "https://h.example/p")
	want := []Anchor{
		{"Home page", "https://h.example/home"},
		{"One two", "https://h.example/a/b?x=1&y=2"},
		{"", "mailto:a@b.example"},
		{"A place", "https://h.example/area"},
		{"Called so", "https://h.example/a/c"},
		{"Named later", "https://h.example/a/d"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAnchorsAreBounded(t *testing.T) {
	var page strings.Builder
	for i := range 3 * maxAnchors {
		fmt.Fprintf(&page, "<a href=/%d>%s</a>", i, strings.Repeat("word ", 100))
	}
	got := anchors(t, page.String(), "https://h.example/")
	if len(got) != maxAnchors {
		t.Errorf("%d links", len(got))
	}
	if n := len([]rune(got[0].Text)); n > maxAnchorText || !strings.HasSuffix(got[0].Text, "…") {
		t.Errorf("a text of %d characters: %s", n, got[0].Text)
	}
}

func TestListReadsAsLinks(t *testing.T) {
	text, err := List(t.Context(), []Anchor{{"A [b](c) *d*", "https://h.example/(x"}, {"", "https://h.example/y"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `- [A \[b\]\(c) \*d\*](https://h.example/\(x)` + "\n- <https://h.example/y>"; text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestAddressIsAbsolute(t *testing.T) {
	for _, c := range [][2]string{{"/x", "https://h.example/x"}, {" ", ""}, {"https://o.example/", "https://o.example/"}} {
		if got := Address("https://h.example/a/b", c[0]); got != c[1] {
			t.Errorf("%q: %q", c[0], got)
		}
	}
}

func anchors(t *testing.T, page, url string) []Anchor {
	t.Helper()
	root, err := htmltree.Parse(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Anchors(t.Context(), root, url)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
