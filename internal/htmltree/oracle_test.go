// The oracle: x/net's parser, which makes the standard's tree of what it does not refuse.

package htmltree

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// outline writes a tree as text, without what the two parsers may differ in: comments and the doctype, how text is
// parted, blanks around frames and in the head, the order of attributes and the case of their names.
func outline(root *html.Node) string {
	var b strings.Builder
	depth, text := 0, ""
	flush := func() {
		if text != "" {
			b.WriteString(strings.Repeat(" ", depth) + "\"" + text + "\"\n")
			text = ""
		}
	}
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			if a := n.Parent.DataAtom; a != atom.Frameset && a != atom.Html && a != atom.Head && a != atom.Noscript {
				text += n.Data
			}
			return
		case html.CommentNode, html.DoctypeNode:
			return
		}
		flush()
		b.WriteString(strings.Repeat(" ", depth) + "<" + n.Namespace + " " + n.Data + " " + n.DataAtom.String())
		var attrs []string
		for _, a := range n.Attr {
			attrs = append(attrs, a.Namespace+":"+strings.ToLower(a.Key)+"="+a.Val)
		}
		slices.Sort(attrs)
		b.WriteString(" " + strings.Join(attrs, " ") + "\n")
		depth++
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
		flush()
		depth--
	}
	visit(root)
	return b.String()
}

// differs shows where our tree is another one than x/net's; empty for the same, or where x/net refuses.
func differs(t *testing.T, src string) string {
	t.Helper()
	ours, err := Parse(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := html.ParseWithOptions(strings.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		return ""
	}
	got, want := strings.Split(outline(ours), "\n"), strings.Split(outline(theirs), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			from := max(0, i-4)
			return "ours:\n" + strings.Join(got[from:min(len(got), i+6)], "\n") + "\ntheirs:\n" + strings.Join(want[from:min(len(want), i+6)], "\n")
		}
	}
	return ""
}

func TestTreesAreTheOraclesOnPagesOfEveryKind(t *testing.T) {
	for _, src := range []string{
		"", "text", "<p>one<p>two", "<!doctype html><title>a &amp; b</title><p>x",
		"<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "<dl><dt>a<dd>b<dt>c<dd>d</dl>",
		"<table><tr><td>x<td>y<tr><td>1<td>2</table>", "<table><td>x", "<table>x<tr>y<td>z</table>w",
		"<table><caption>c<tr><th>a<tfoot><tr><td>f<tbody><tr><td>b</table>", "<table><colgroup><col><tr><td>x</table>",
		"<table><tr><td><table><tr><td>in</table>out</table>", "<table><form><tr><td><input type=hidden><input></table>",
		"<p>a <b>bold <i>both</b> italic</i> plain", "<b><p>a</b>b</p>c", "<a href=1>x<a href=2>y<div>z</a>w</div>",
		"<p><b class=x><b class=x><b><b class=x><b class=x><b>X<p>X", "<b><i><u><s><div></b></i></u>x</s></div>",
		"<select><option>a<option>b<optgroup label=g><option>c</select>d", "<select><input>x", "<p><button>a<button>b",
		"<pre>\n\nx</pre><textarea>\n&lt;b></textarea><xmp><b></xmp>", "<script><!--<script></script>--></script>x",
		"<script>a</scriptx></script>b", "<style><!--</style>x", "<iframe><p></iframe><noembed><p></noembed><noframes><p></noframes>",
		"<plaintext><b>x</b>", "<svg><title>t</title><foreignObject><p>x</p></foreignObject><path d=x /></svg>y",
		"<math><mi>x<mo>+</mo></mi><annotation-xml encoding=text/html><p>q</annotation-xml></math>r", "<svg><p>out", "<svg></p>x",
		"<svg xlink:href=a><g/><lineargradient/><b>z", "<svg><![CDATA[a<b]]></svg><![CDATA[c]]>",
		"<head><noscript><link><style>x</style></noscript><meta></head><noscript><p>x</noscript>", "<noscript>a</noscript>",
		"<template><tr><td>x</template>y", "<div><template><p>a</template>b", "<ruby>a<rp>(<rt>b<rp>)</ruby>",
		"<frameset><frame><frameset><frame></frameset></frameset><noframes>x", "</p></br></x><br/></div>", "<body a=1><p><body b=2 a=3>x",
		"</head><p>x</body></html>y<!-- c -->z", "<p a=1 a=2 B='3' c=\"&amp;&copy=&copy\" d=e/ f>", "<a<b>c</a<b>", "<p/><br/>x</p/>",
		"a &lt; b &notit; &amp &#65 &#x41; &#0; &#x80; &#xD800; &bogus; &", "<!---->a<!-->b<!--->c<!--x--!>d<!x>e<?y>f</>g</ h>i",
		"<p>\x00a\x00</p><svg>\x00</svg><p title='\x00'>", "a\r\nb\rc", "<nobr>a<nobr>b", "<object><p>a</object>b<marquee>c</p>d",
		"<h1>a<h2>b</h1>c", "<form><form><p></form>x", "<li>a<div><li>b", "<address><p>x<li>y", "<image src=x>",
		"<!DOCTYPE html PUBLIC \"-//W3C//DTD HTML 3.2//EN\"><p><table>", "<p><table>", "<!doctype html><p><table>",
		"<!DOCTYPE html\n PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\"\n \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\"><p><table>",
		"<!DOCTYPE html PUBLIC \"-//W</a><p><table>", "<!DOCTYPE\thtml\fSYSTEM 'about:legacy-compat'><p><table>", "<", "<a", "</", "<!", "<!d",
	} {
		if why := differs(t, src); why != "" {
			t.Errorf("%q\n%s", src, why)
		}
	}
}

// tagSoup writes random tags and text, without what x/net itself reads otherwise than the standard: templates, th in a
// caption, a tag between pre and its line feed, svg's option in a form.
func tagSoup(r *rand.Rand, n int) string {
	names := strings.Fields("a b i p div span table tr td tbody thead colgroup col ul li ol dl dt dd h1 h2 select option " +
		"optgroup button form input textarea title script style math mi mo br hr img nobr font object marquee ruby rt rp rtc body html " +
		"head noscript xmp iframe x-foo center address main em code")
	attributes := []string{" x=1", " x='a&amp;b'", " type=hidden", " color", " encoding=text/html", " a a=2 /"}
	texts := []string{" ", "\n", "text", "a&amp;b", "&notit;", "x < y", "<!-- c -->", "<![CDATA[q]]>", "<?pi>", "</>", "&#65"}
	var b strings.Builder
	for range n {
		name := names[r.IntN(len(names))]
		switch r.IntN(9) {
		case 0, 1, 2, 3:
			b.WriteString("<" + name)
			if r.IntN(5) == 0 {
				b.WriteString(attributes[r.IntN(len(attributes))])
			}
			b.WriteString(">")
		case 4, 5:
			b.WriteString("</" + name + ">")
		case 6:
			b.WriteString(texts[r.IntN(len(texts))])
		default:
			b.WriteString("w")
		}
	}
	return b.String()
}

func TestTreesAreTheOraclesOnTagSoup(t *testing.T) {
	pages := uint64(4000)
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		pages = 1_000_000
	}
	for seed := range pages {
		r := rand.New(rand.NewPCG(seed, 3))
		src := tagSoup(r, 3+r.IntN(25))
		if why := differs(t, src); why != "" {
			t.Fatalf("seed %d: %q\n%s", seed, src, why)
		}
	}
}
