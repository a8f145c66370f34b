// TM-010: whatever a page is made of, its tree is made in proportion, keeps the text in order, and can be stopped.

package htmltree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// measure walks a tree without recursion: its nodes, its depth, its text.
func measure(t *testing.T, root *html.Node) (nodes, deepest int, text string) {
	t.Helper()
	var b strings.Builder
	depth := 0
	for n := root; ; {
		nodes++
		deepest = max(deepest, depth)
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if c := n.FirstChild; c != nil {
			if c.Parent != n || c.PrevSibling != nil {
				t.Fatalf("%s: its first child belongs elsewhere", n.Data)
			}
			n, depth = c, depth+1
			continue
		}
		for n != root && n.NextSibling == nil {
			if n.Parent.LastChild != n {
				t.Fatalf("%s: has no sibling after it and is not the last child", n.Data)
			}
			n, depth = n.Parent, depth-1
		}
		if n == root {
			return nodes, deepest, b.String()
		}
		if s := n.NextSibling; s.PrevSibling != n || s.Parent != n.Parent {
			t.Fatalf("%s: its sibling belongs elsewhere", n.Data)
		}
		n = n.NextSibling
	}
}

func parse(t *testing.T, src string) *html.Node {
	t.Helper()
	root, err := Parse(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestTM010DepthIsReadWhateverItIs(t *testing.T) {
	for _, depth := range []int{500, 513, 5_000, 100_000} {
		for _, name := range []string{"div", "blockquote", "span", "b", "svg", "table"} {
			t.Run(fmt.Sprint(name, depth), func(t *testing.T) {
				src := "<p>before</p>" + strings.Repeat("<"+name+">", depth) + "bottom" + strings.Repeat("</"+name+">", depth) + "<p>after</p>"
				nodes, deepest, text := measure(t, parse(t, src))
				if text != "beforebottomafter" && name != "table" {
					t.Errorf("text is %q", text)
				}
				if !strings.Contains(text, "bottom") || !strings.HasSuffix(text, "after") {
					t.Errorf("text is %q", text)
				}
				if deepest > maxOpen+maxFormatting+4 {
					t.Errorf("the tree is %d deep", deepest)
				}
				if nodes > 3*depth+100 {
					t.Errorf("%d nodes", nodes)
				}
			})
		}
	}
}

func TestTM010TextKeepsItsOrderBelowTheDeepestElement(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		var src, want strings.Builder
		open := []string{}
		for i := range 3000 {
			switch k := r.IntN(10); {
			case k < 6:
				name := []string{"div", "span", "section", "em", "b"}[r.IntN(5)]
				src.WriteString("<" + name + ">")
				open = append(open, name)
			case k < 8 && len(open) > 0:
				src.WriteString("</" + open[len(open)-1] + ">")
				open = open[:len(open)-1]
			default:
				fmt.Fprintf(&src, "%d.", i)
				fmt.Fprintf(&want, "%d.", i)
			}
		}
		if _, _, text := measure(t, parse(t, src.String())); text != want.String() {
			t.Fatalf("seed %d: the text is in another order", seed)
		}
	}
}

func TestTM010NodesStayInProportion(t *testing.T) {
	const size = 300_000
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, src := range map[string]string{
		"formatting elements of one kind": strings.Repeat("<p><b>x", size/7),
		"formatting elements of many":     numbered("<p><font size=%d>x"),
		"paragraphs after many":           numbered("<font size=%d>")[:2000] + strings.Repeat("<p>x", size/4),
		"links around blocks":             strings.Repeat("<a href=x><div>y", size/16),
		"crossed tags":                    strings.Repeat("<b><i><div>x</b>y</i>", size/21),
		"foster parents":                  strings.Repeat("<table>x<tr>y", size/13),
		"foster parents with tags":        "<table>" + strings.Repeat("<b>x<tr>", size/8),
		"cells without tables":            strings.Repeat("<td>x<tr>", size/9),
	} {
		if nodes, _, _ := measure(t, parse(t, src)); nodes > len(src)+minCopies {
			t.Errorf("%s: %d nodes for %d bytes", name, nodes, len(src))
		}
	}
}

func TestTM010AttributesOfATagAreCapped(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, " a%d=1", i)
	}
	root := parse(t, "<p"+b.String()+">x<p title='"+strings.Repeat("x", 1<<20)+"'>y")
	var found []int
	for n := root; n != nil; n = n.LastChild {
		if n.DataAtom == atom.Body {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				found = append(found, len(c.Attr))
			}
		}
	}
	if len(found) != 2 || found[0] != maxAttributes || found[1] != 1 {
		t.Errorf("the paragraphs have %v attributes", found)
	}
}

// countdown is a context that is done after it has been asked so many times.
type countdown struct {
	context.Context
	left, asked int
}

func (c *countdown) Err() error {
	c.asked++
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestTM010CancellingStopsTheParser(t *testing.T) {
	src := strings.Repeat("<p>x", 100_000)
	ctx := &countdown{Context: t.Context(), left: 1 << 30}
	if _, err := Parse(ctx, src); err != nil {
		t.Fatal(err)
	}
	if ctx.asked < 100 {
		t.Errorf("the context is asked %d times for %d tags", ctx.asked, 100_000)
	}
	for _, left := range []int{0, 1, 10} {
		ctx := &countdown{Context: t.Context(), left: left}
		root, err := Parse(ctx, src)
		if !errors.Is(err, context.Canceled) || root != nil {
			t.Errorf("after %d questions: %v, %v", left, root, err)
		}
		if ctx.asked != left+1 {
			t.Errorf("asked %d times, and was done after %d", ctx.asked, left)
		}
	}
}

func FuzzParse(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(tagSoup(rand.New(rand.NewPCG(seed, 9)), 30))
	}
	for _, s := range []string{"<template><tr></template>", "<svg><template>", "<select><svg><select>", "<frameset></frameset>", "<!doctype", "<p a='",
		"<table><svg><td>", "<math><annotation-xml><svg>", "<script><!--<script>--></script>", "\xff<\x00&#1114112;",
		`<!--$?--><template id="B:0"></template>a<table>b<!--/$--><div hidden id="S:0"><template id="P:1"></template><div hidden id="S:1">c`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		root := parse(t, src)
		if shown, err := Shown(context.Background(), src); err != nil || shown.FirstChild == nil {
			t.Errorf("the page as it is shown: %v", err)
		}
		nodes, _, _ := measure(t, root)
		if nodes > 4*len(src)+minCopies+16 {
			t.Errorf("%d nodes for %d bytes", nodes, len(src))
		}
		if root.FirstChild == nil || root.FirstChild.DataAtom != atom.Html || root.FirstChild.NextSibling != nil {
			t.Error("the document is no html element")
		}
		if again := parse(t, src); outline(again) != outline(root) {
			t.Error("the second tree is another one")
		}
	})
}
