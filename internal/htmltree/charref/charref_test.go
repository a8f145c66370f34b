package charref

import (
	"testing"

	"golang.org/x/net/html"
)

func TestReferencesInAttributesNeedAnEnd(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"a&b":                  "a&b",
		"&":                    "&",
		"&amp;&lt;&gt;&quot;":  `&<>"`,
		"x&copy;y":             "x©y",
		"?a=1&copy=2":          "?a=1&copy=2",
		"?a=1&copyright":       "?a=1&copyright",
		"&copy":                "©",
		"&copy &reg-":          "© ®-",
		"&notin;&notit;":       "∉&notit;",
		"&semi;&semi":          ";&semi",
		"&fjlig;":              "fj",
		"&#65;&#x41;&#65x":     "AAAx",
		"&#39;&#x27;&apos;":    "'''",
		"&bogus;&#;&#x;":       "&bogus;&#;&#x;",
		"&nbsp;&#160;":         "\u00a0\u00a0",
		"&#0;&#xD800;&#128;":   "\uFFFD\uFFFD€",
		"a&ampb;&lt=&lt;=&gt1": "a&ampb;&lt=<=&gt1",
	} {
		if got := Attribute(in); got != want {
			t.Errorf("Attribute(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzTextIsTheStandardLibrarys(f *testing.F) {
	for _, s := range []string{"a&amp;b", "&notit;&notin;", "&#65;&#x41;&#65x&#", "&CounterClockwiseContourIntegral;", "&&;&a", "&lt=&copyx", "&\xff;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := Text(s), html.UnescapeString(s); got != want {
			t.Errorf("Text(%q) = %q, want %q", s, got, want)
		}
	})
}
