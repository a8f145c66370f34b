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

		"<span>Capacity</span><span>1.7 l</span>":            true,
		"<span>Price</span><span>5 €</span>":                 true,
		"<span>Soup</span><span>5,50</span>":                 true,
		"<span>Soup</span><span>14.90</span>":                true,
		"<span>Soup</span><span>14.9</span>":                 false,
		"<span>Total</span><span>$5.00</span>":               true,
		"<span>Total</span><span>€ 5</span>":                 true,
		"<span>€49.99</span><span>€39.99</span>":             true,
		"<span>49,99 €</span><span>39,99 €</span>":           true,
		"<span>2 for</span><span>£3</span>":                  true,
		"<span>$</span><span>5.00</span>":                    false,
		"<span>5</span><span>€</span>":                       false,
		"<span>US</span><span>$5</span>":                     false,
		"<span>foo</span><span>$bar</span>":                  false,
		"<span>H</span><span>2 and O</span>":                 false,
		"<span>mp</span><span>3 players</span>":              false,
		"<span>Web</span><span>2.0</span>":                   false,
		"<span>Price</span><span>€</span>":                   false,
		"<b>Price</b><b>5 €</b>":                             false,
		"<span>Capacity<svg></svg></span><span>1.7 l</span>": false,
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
