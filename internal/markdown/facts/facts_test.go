package facts

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// element is the first element of this name in a piece of HTML.
func element(t *testing.T, src string, name atom.Atom) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	n := Find(root, name, 100)
	if n == nil {
		t.Fatalf("no %s in %q", name, src)
	}
	return n
}

func TestCountsReaders(t *testing.T) {
	for src, want := range map[string]bool{
		"https://stats.example/matomo.php?idsite=1": true, "https://a.example/b/ss/x/1?g=1": true, "https://a.example/pixel.png": false,
		"/matomo.php?idsite=1": false, "": false, "https://a.example/tr?x": false,
	} {
		if CountsReaders(src) != want {
			t.Errorf("%q: %t", src, !want)
		}
	}
}

func TestLanguageIsFoundWhereverHighlightersPutIt(t *testing.T) {
	for src, want := range map[string]string{
		`<pre><code class="language-go">`:                                         "go",
		`<pre class="lang-py prettyprint">`:                                       "py",
		`<pre class="prettyprint linenums lang-js">`:                              "js",
		`<div class="highlight highlight-source-shell"><pre>`:                     "shell",
		`<div class="language-python highlighter-rouge"><div><pre>`:               "python",
		`<pre class="brush: ruby; gutter: false">`:                                "ruby",
		`<pre class="brush:php">`:                                                 "php",
		`<pre data-lang="rust">`:                                                  "rust",
		`<pre><code data-language="C++">`:                                         "c++",
		`<div class="highlight-python3 notranslate"><div class="highlight"><pre>`: "python3",
		`<div class="highlight-default notranslate"><pre>`:                        "",
		`<pre><code class="hljs css">`:                                            "css",
		`<pre><code class="python">`:                                              "python",
		`<figure class="highlight js"><pre>`:                                      "js",
		`<div class="sourceCode"><pre class="sourceCode haskell">`:                "haskell",
		`<pre class="src src-emacs-lisp">`:                                        "emacs-lisp",
		`<pre class="src src-elisp">`:                                             "elisp",
		`<div class="mw-highlight mw-highlight-lang-lua"><pre>`:                   "lua",
		`<pre class="EnlighterJSRAW" data-enlighter-language="sql">`:              "sql",
		`<pre lang="ruby">`:                                                       "ruby",
		`<pre lang="en">`:                                                         "",
		`<pre><code class="language-text">`:                                       "",
		`<pre><code class="language-none">`:                                       "",
		`<pre class="language-plaintext">`:                                        "",
		`<pre class="wide box">`:                                                  "",
		`<article class="go"><pre>`:                                               "",
		`<div class="go box"><pre>`:                                               "",
		`<pre class="language-<script>">`:                                         "",
		`<pre class="language-` + strings.Repeat("x", 40) + `">`:                  "",
	} {
		if got := Language(element(t, src+"x", atom.Pre)); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

func TestInlineStylesAreReadByDeclaration(t *testing.T) {
	for style, want := range map[string]Styles{
		"display:none":                              DisplayNone,
		"DISPLAY : none !important":                 DisplayNone,
		"color:red;display:none;":                   DisplayNone,
		"display:none;display:block":                DisplayBlock,
		"display:inline":                            0,
		"visibility:hidden":                         Invisible,
		"visibility: collapse":                      Invisible,
		"visibility:visible":                        Visible,
		"backface-visibility:hidden":                0,
		"x-display:none":                            0,
		"background:url(x;display:none)":            0,
		"white-space:pre-wrap":                      Preserved,
		"white-space:nowrap":                        0,
		"font-weight:700;font-style:italic":         Bold | Italic,
		"font-weight:normal":                        NotBold,
		"text-decoration:underline line-through":    Struck,
		"":                                          0,
		";;:;display":                               0,
		"content:'display:none'":                    0,
		"transition:visibility .2s;font-weight:400": NotBold,
	} {
		if style == "background:url(x;display:none)" {
			want = 0 // "none)" is no value
		}
		if got := StylesOf(style); got != want {
			t.Errorf("%q: %b, want %b", style, got, want)
		}
	}
}

func TestTheRealAddressOfAPictureWins(t *testing.T) {
	same := func(s string) string { return s }
	for src, want := range map[string]struct {
		src     string
		quality Quality
	}{
		`<img src="/a.jpg">`:                                             {"/a.jpg", RealAddress},
		`<img src="/a.jpg" class="lazyload">`:                            {"/a.jpg", MaybeLazy},
		`<img src="/blank.gif" data-src="/b.jpg">`:                       {"/b.jpg", RealAddress},
		`<img src="/a.jpg" data-src="{{url}}">`:                          {"/a.jpg", RealAddress},
		`<img src="/a.jpg" data-src="yes">`:                              {"/a.jpg", RealAddress},
		`<img data-original="/c.jpg">`:                                   {"/c.jpg", RealAddress},
		`<img srcset="/d.jpg 1x, /e.jpg 2x">`:                            {"/d.jpg", RealAddress},
		`<img src="/spacer.gif" data-srcset="/f.jpg 100w">`:              {"/f.jpg", RealAddress},
		`<img src="/spacer.gif">`:                                        {"/spacer.gif", BlankImage},
		`<img>`:                                                          {"", NoAddress},
		`<img data-src="data:image/png;base64,x" src="/g.png" alt="g.">`: {"/g.png", RealAddress},
	} {
		got, quality := ImageSource(element(t, src, atom.Img), same)
		if got != want.src || quality != want.quality {
			t.Errorf("%s: %q %d, want %q %d", src, got, quality, want.src, want.quality)
		}
	}
}

func TestTinyPicturesAreNoContent(t *testing.T) {
	for src, want := range map[string]bool{
		`<img width="1" height="1">`:         true,
		`<img height="1" width="100%">`:      true,
		`<img style="width:0">`:              true,
		`<img style="height: 1px; x:y">`:     true,
		`<img width="20">`:                   false,
		`<img width="1%">`:                   false,
		`<img style="min-width:0;width:9%">`: false,
	} {
		n := element(t, src, atom.Img)
		traits := TraitsOf(n)
		if got := Tiny(n, &traits); got != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}

func TestShortTextIsCutAndLooksNotFar(t *testing.T) {
	if got := ShortText(element(t, "<p> a <b>b</b> <svg><title>c</title></svg> ", atom.P)); got != "a b" {
		t.Errorf("got %q", got)
	}
	if got := ShortText(element(t, "<p>"+strings.Repeat("x", 1000), atom.P)); len(got) > 100 {
		t.Errorf("%d bytes", len(got))
	}
	if got := ShortText(element(t, "<p>"+strings.Repeat("<b></b>", 1000)+"x", atom.P)); got != "" {
		t.Errorf("it looked as far as %q", got)
	}
}

func TestNumbersAreReadAsHTMLReadsThem(t *testing.T) {
	for value, want := range map[string]int{"7": 7, " 12px": 12, "-3": -3, "+4": 4, "99999999999": 9999999999} {
		n := &html.Node{Type: html.ElementNode, Attr: []html.Attribute{{Key: "start", Val: value}}}
		if got, ok := Number(n, "start"); !ok || got != want {
			t.Errorf("%q is %d, %v", value, got, ok)
		}
	}
	for _, value := range []string{"", "x", "-", "."} {
		n := &html.Node{Type: html.ElementNode, Attr: []html.Attribute{{Key: "start", Val: value}}}
		if got, ok := Number(n, "start"); ok {
			t.Errorf("%q is %d", value, got)
		}
	}
}

// TestPanelsAreContent: what a press on a tab or a heading opens is read; what merely hides itself is not.
func TestPanelsAreContent(t *testing.T) {
	for _, c := range []struct {
		src       string
		concealed bool
	}{
		{`<div role=tabpanel hidden>`, false},
		{`<button aria-expanded=false>How?</button> <div hidden>So.`, false},
		{`<h3><span><button aria-expanded=false>How?</button></span></h3><div style="display:none">So.`, false},
		{`<div><a role=button aria-expanded=false href=#>How?</a></div><p hidden>So.`, false},
		{`<button class="accordion-button collapsed">How?</button><div hidden>So.`, false},
		{`<button data-bs-toggle=collapse>How?</button><div hidden>So.`, false},
		{`<button aria-expanded=false aria-haspopup=true>Menu</button><div hidden>`, true},
		{`<button aria-expanded=false>Menu</button><ul hidden>`, true},
		{`<button aria-expanded=false>Menu</button><div role=menu hidden>`, true},
		{`<button>Close</button><div hidden>So.`, true},
		{`<button aria-expanded=false>Size</button><div hidden><label><input type=checkbox>Small</label></div>`, true},
		{`<button aria-expanded=false>Shop</button><div hidden>All: <a href=/1>Ropes and cables</a> <a href=/2>Sails</a></div>`, true},
		{`<button aria-expanded=false>How?</button><div hidden>So, as is told on the page of <a href=/1>ropes</a>.</div>`, false},
		{`<button aria-expanded=false>How?</button>words<div hidden>`, true},
		{`<div role=tabpanel style="display: none">`, false},
		{`<div role=region aria-labelledby=q1 hidden>`, false},
		{`<div role=region hidden>`, true},
		{`<div aria-labelledby=q1 hidden>`, true},
		{`<div role=menu aria-labelledby=m style="display:none">`, true},
		{`<div hidden>`, true},
	} {
		root, err := html.Parse(strings.NewReader(c.src))
		if err != nil {
			t.Fatal(err)
		}
		n := root.FirstChild.LastChild.LastChild
		if got := Concealed(n); got != c.concealed {
			t.Errorf("%s: concealed %v", c.src, got)
		}
	}
}
