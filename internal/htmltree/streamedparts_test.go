package htmltree

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestStreamedPartsStandInTheirPlaces: the parts are where the inline scripts of a page would put them.
func TestStreamedPartsStandInTheirPlaces(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a part takes the place of what waits for it", `<main><!--$?--><template id="B:0"></template><p>Loading</p> wait<!--/$--><p>After</p></main><div hidden id="S:0"><h1>Mill</h1></div>`,
			`<main><h1>Mill</h1><p>After</p></main>`},
		{"a place within a part", `<div><template id="B:1"></template></div><div hidden id="S:1"><p>one</p><template id="P:2"></template></div><div hidden id="S:2"><p>two</p></div>`,
			`<div><p>one</p><p>two</p></div>`},
		{"boundaries that are filled from the start", `<!--$--><p>here</p><!--$?--><template id="B:a"></template><i>w</i><!--/$--><!--/$--><div hidden id="S:a">part</div>`,
			`<p>here</p>part`},
		{"a part without a place stays hidden", `<p>x</p><div hidden id="S:3">none</div>`, `<p>x</p><div hidden="" id="S:3">none</div>`},
		{"a place without a part", `<template id="B:4"></template><p>x</p><div hidden="" id="S:5">y</div>`, `<template id="B:4"></template><p>x</p><div hidden="" id="S:5">y</div>`},
		{"a part is not put into itself", `<div hidden id="S:6"><p>x</p><template id="B:6"></template></div>`, `<div hidden="" id="S:6"><p>x</p><template id="B:6"></template></div>`},
		{"a part is put in one place", `<template id="B:7"></template><b><template id="P:7"></template></b><div hidden id="S:7">x</div>`, `x<b><template id="P:7"></template></b>`},
		{"what is not hidden is no part", `<template id="B:8"></template><div id="S:8">x</div>`, `<template id="B:8"></template><div id="S:8">x</div>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, err := Shown(context.Background(), "<!doctype html><body>"+c.src)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			body := root.FirstChild.LastChild
			for n := body.FirstChild; n != nil; n = n.NextSibling {
				if err := html.Render(&b, n); err != nil {
					t.Fatal(err)
				}
			}
			if b.String() != c.want {
				t.Errorf("got  %s\nwant %s", b.String(), c.want)
			}
		})
	}
}

// TestManyStreamedPartsAreBounded: parts within parts, each of which says that it belongs into the next.
func TestManyStreamedPartsAreBounded(t *testing.T) {
	var b strings.Builder
	for range 50_000 {
		b.WriteString(`<div hidden id="S:1"><template id="B:1"></template><!--$?-->`)
	}
	if _, err := Shown(context.Background(), b.String()); err != nil {
		t.Fatal(err)
	}
}
