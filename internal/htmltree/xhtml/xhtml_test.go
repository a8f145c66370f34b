package xhtml

import (
	"strings"
	"testing"
)

func TestAsHTML(t *testing.T) {
	for src, want := range map[string]string{
		"":                                       "",
		"<p>plain</p>":                           "<p>plain</p>",
		"a < b<br/>c":                            "a < b<br/>c",
		`<script src="a.js"/><p>text</p>`:        `<script src="a.js"></script><p>text</p>`,
		`<title/><div id='x>/>'/><hr />`:         `<title></title><div id='x>/>'></div><hr />`,
		"<A name='x' />y":                        "<A name='x' ></A>y",
		"<br/><![CDATA[a <b> & c]]>d":            "<br/>a &lt;b> &amp; cd",
		"<![CDATA[open <b":                       "open &lt;b",
		"<?xml version='1.0'?><?x a > b?><br/>z": "<br/>z",
		"<!-- <div/> --><div/>":                  "<!-- <div/> --><div></div>",
		`<!DOCTYPE html [<!ENTITY x "y">]><i/>`:  "<!DOCTYPE html ><i></i>",
		`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><i/>`: `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><i></i>`,
		"<script>//<![CDATA[\nif (a < b) x('<i/>');\n//]]></script><i/>":    "<script>//\nif (a < b) x('<i/>');\n//</script><i></i>",
		"<svg><path d='m'/><g/></svg>":                                      "<svg><path d='m'></path><g></g></svg>",
		"</p></><i/>":                                                       "</p></><i></i>",
		"<i/><p title='open":                                                "<i></i><p title='open",
		"<i/><style>a":                                                      "<i></i><style>a",
		"<é/>":                                                              "<é></é>",
		"<//></p/><":                                                        "<//></p/><",
	} {
		if got := AsHTML(src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

// FuzzAsHTML: whatever comes in, what comes out is bounded, and without what XML alone has it is the same.
func FuzzAsHTML(f *testing.F) {
	f.Add("<a/><![CDATA[<b>]]><?x?><!DOCTYPE x [<!e>]><script><![CDATA[</script>")
	f.Add("<!-->--/><i/>")
	f.Fuzz(func(t *testing.T, src string) {
		got := AsHTML(src)
		if most := 5*len(src) + 16; len(got) > most { // an ampersand in a section takes five
			t.Fatalf("%d bytes of %d", len(got), len(src))
		}
		if !strings.Contains(src, "/>") && !strings.Contains(src, section) && got != src {
			t.Fatalf("%q of %q", got, src)
		}
	})
}
