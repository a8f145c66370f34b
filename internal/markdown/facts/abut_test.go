package facts

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func TestMelts(t *testing.T) {
	for src, want := range map[string]bool{
		"<span>Thousand</span><span>Heritage 2.0 Bike Helmet</span>": true,
		"<span>in grey colour</span><span>Dorothy</span>":            true,
		"<span>Java</span><span>Script</span>":                       false,
		"<span>half a wo</span><span>rd</span>":                      false,
		"<span>1999</span><span>2004</span>":                         true,
		"<span>19</span><span>2004</span>":                           false,
		"<time>20 April</time><time>13 June</time>":                  true,
		"<b>Thousand</b><b>Heritage 2.0 Helmet</b>":                  false,
		"<a href=/a>al</a><a href=/b>Be and more</a>":                false,
		"<span>Thousand </span><span>Heritage 2.0 Bike</span>":       false,
	} {
		root, err := html.Parse(strings.NewReader("<p>" + src))
		if err != nil {
			t.Fatal(err)
		}
		if got := Melts(Find(root, atom.P, 20).LastChild); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestSeen(t *testing.T) {
	for s, want := range map[string]string{"word": "word", "a\tb\n": "a\tb\n", "dis\x1dplay\u200b\u00ads\ufeff": "displays", "\u200d\u200c": "\u200d\u200c", "": ""} {
		if got := Seen(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}
