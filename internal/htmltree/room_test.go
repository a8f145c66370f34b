package htmltree

import (
	"context"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// pagesOfRooms are of several sizes and shapes, so that what one leaves behind is another size than what the next takes.
func pagesOfRooms() []string {
	return []string{
		"<p>One",
		"<title>Two</title><table><tr><td a=1 b=2>x<tr><p>foster</table><svg viewBox=1><desc>d</svg>",
		strings.Repeat("<p class=c id=i>text &amp; <b>bold<i>both</b>one</i>", 3000),
		"<ul>" + strings.Repeat("<li><a href=/x>y</a>", 100) + "</ul>",
		strings.Repeat("<b x=1>", 40) + "<p>again<p>and again",
		"",
	}
}

func TestATreeInAUsedRoomIsThatOfANewOne(t *testing.T) {
	r := newRoom()
	for range 3 {
		for i, page := range pagesOfRooms() {
			want, err := Parse(context.Background(), page)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Parse(context.Background(), page)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := rendered(t, want), rendered(t, got); a != b {
				t.Errorf("page %d: %.200q, want %.200q", i, b, a)
			}
			r.empty()
		}
	}
}

func TestTreesOfOneRoomStandUntilItIsLeft(t *testing.T) {
	r := Enter()
	defer r.Leave()
	var trees []*html.Node
	for _, page := range pagesOfRooms() {
		tree, err := r.Parse(context.Background(), page)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	for i, page := range pagesOfRooms() {
		want, err := Parse(context.Background(), page)
		if err != nil {
			t.Fatal(err)
		}
		if rendered(t, want) != rendered(t, trees[i]) {
			t.Errorf("page %d: its tree has changed", i)
		}
	}
}

func TestARoomThatIsLeftHoldsNothingOfItsPage(t *testing.T) {
	r := newRoom()
	tree, err := r.Parse(context.Background(), strings.Repeat("<p a=1>x<br b=2 c=3>", 200))
	if err != nil {
		t.Fatal(err)
	}
	nodes := slices.Collect(tree.Descendants())
	var attrs []*html.Attribute
	for _, n := range nodes {
		for i := range n.Attr {
			attrs = append(attrs, &n.Attr[i])
		}
	}
	r.empty()
	for _, n := range nodes {
		if n.Parent != nil || n.FirstChild != nil || n.LastChild != nil || n.PrevSibling != nil || n.NextSibling != nil || n.Data != "" || n.Attr != nil {
			t.Fatalf("a node was left behind: %+v", n)
		}
	}
	for _, a := range attrs {
		if *a != (html.Attribute{}) {
			t.Fatalf("an attribute was left behind: %+v", a)
		}
	}
}

func rendered(t *testing.T, tree *html.Node) string {
	t.Helper()
	var b strings.Builder
	if err := html.Render(&b, tree); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
