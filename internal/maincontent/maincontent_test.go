package maincontent

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const story = "<p>The old tide mill at the mouth of the river was rebuilt last winter, and its wheel turns twice a day again.</p>" +
	"<p>A tide mill works by holding the flood behind a gate and letting it run back through the wheel once the sea has fallen.</p>" +
	"<p>The new gate is made of larch, because larch lasts longest where wood is wet and dry by turns.</p>"

const siteHead = `<header><a href="/">Home</a><nav><ul><li><a href="/a">Products menu</a></li><li><a href="/b">Pricing menu</a></li></ul></nav></header>`
const siteFoot = `<footer><p>© The Quay Press</p><a href="/privacy">Privacy policy</a></footer>`

func TestMainContentOfEachKindOfPage(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		keeps, lacks []string
	}{
		{"article", siteHead + "<main><article><h1>Mill</h1>" + story + "</article><aside class=related><a href=/r>Related story</a></aside></main>" + siteFoot,
			[]string{"Mill", "tide mill works", "larch"}, []string{"Products menu", "Related story", "Privacy policy"}},
		{"article without landmarks", `<div class="top-menu"><a href=/a>Products menu</a></div><div id=wrap><div class=body><h1>Mill</h1>` + story + `</div></div><div class="footer-links"><a href=/p>Privacy policy</a></div>`,
			[]string{"Mill", "larch"}, []string{"Products menu", "Privacy policy"}},
		{"a note in an article is no furniture", "<article><h1>Mill</h1>" + story + "<aside class='admonition warning'>Mind the step.</aside></article>",
			[]string{"Mind the step."}, nil},
		{"a thread keeps every post", siteHead + "<div class=thread><h1>Squeaks</h1>" +
			"<div class='post comment'><b>ann</b>" + story + "</div><div class='post comment'><b>bob</b>" + story + "</div></div>" + siteFoot,
			[]string{"ann", "bob"}, []string{"Products menu"}},
		{"readers' comments below an article go", "<article><h1>Mill</h1>" + story + story + "</article><section id=comments><p>Lovely.</p></section>",
			[]string{"larch"}, []string{"Lovely."}},
		{"a page of comments stays", "<h1>Ask</h1><div class=comments><p>" + strings.Repeat("A long answer that is the page. ", 30) + "</p></div>",
			[]string{"A long answer"}, nil},
		{"a listing keeps its items", siteHead + "<main><h1>Chisels</h1><div class=card><a href=/1>Chisel one</a><p>€20</p></div><div class=card><a href=/2>Chisel two</a><p>€21</p></div></main>" + siteFoot,
			[]string{"Chisel one", "€21"}, []string{"Privacy policy"}},
		{"several articles all stay", siteHead + "<div><article><h2>One</h2>" + story + "</article><article><h2>Two</h2>" + story + "</article></div>" + siteFoot,
			[]string{"One", "Two"}, []string{"Products menu"}},
		{"a short page is not lost", siteHead + "<main><h1>Hours</h1><p>Mon 9–17</p></main>" + siteFoot,
			[]string{"Mon 9–17"}, []string{"Products menu"}},
		{"a consent box goes", "<div id=cookie-banner><p>We use cookies.</p></div><h1>Mill</h1>" + story,
			[]string{"larch"}, []string{"We use cookies."}},
		{"most of a page is kept whatever it calls itself", "<nav>" + story + "</nav><p>x</p>", []string{"larch"}, nil},
		{"a section that is about sharing is a section", "<h1>Locks</h1>" + story + "<div id=SQL-FOR-SHARE><h2>Share locks</h2>" + story + "</div>", []string{"Share locks"}, nil},
		{"an invitation goes, with a form or without", "<h1>Mill</h1>" + story + "<div class=newsletter><p>" + strings.Repeat("Get the letter every week. ", 8) +
			"</p><input></div><div class=promo>New boots.</div>" + story, []string{"larch"}, []string{"Get the letter", "New boots."}},
		{"a table below the title is kept beside running text", "<title>Tide table</title>" + siteHead + "<div class=page><div class=text><h1>Tide table of the quay</h1><table>" + strings.Repeat("<tr><td>High water</td><td>04:10</td><td>3.2 m</td></tr>", 30) +
			"</table></div></div>" + siteFoot, []string{"High water"}, []string{"Privacy policy"}},
		{"a heading called banner is a heading", "<h1 class=banner>Mill</h1>" + story, []string{"Mill"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := shown(t, c.body)
			for _, s := range c.keeps {
				if !strings.Contains(got, s) {
					t.Errorf("%q is lost: %s", s, got)
				}
			}
			for _, s := range c.lacks {
				if strings.Contains(got, s) {
					t.Errorf("%q is kept", s)
				}
			}
		})
	}
}

// TestWhatAPageSaysAgain: a page that is laid out for screens of two widths says a text in two places of its structure; the
// items of a list say the same in one.
func TestWhatAPageSaysAgain(t *testing.T) {
	got := shown(t, siteHead+"<main><h1>Jugs</h1><div class=wide><p>Jug of two litres</p></div><div class=narrow><span>Jug of two litres</span></div>"+
		"<ul><li><b>Ewer</b><p>Ready to be sent</p></li><li><b>Pail</b><p>Ready to be sent</p></li><li><b>Vat</b><p>Ready to be sent</p></li></ul>"+
		story+"</main>"+siteFoot)
	for text, want := range map[string]int{"Jug of two litres": 1, "Ready to be sent": 3} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%q stands %d times, want %d: %s", text, n, want, got)
		}
	}
}

func TestThinSelectionIsTold(t *testing.T) {
	whole := Find(parse(t, "<h1>Mill</h1>"+story))
	if whole.Thin() {
		t.Errorf("the whole page is called thin: %d of %d letters", whole.Letters, whole.PageLetters)
	}
	for _, c := range []struct {
		s    Selection
		thin bool
	}{
		{Selection{Letters: 99, promised: 300}, true}, {Selection{Letters: 100, promised: 300}, false},
		{Selection{Letters: 99, prose: 2500}, true}, {Selection{Letters: 100, prose: 2500}, false},
		{Selection{PageLetters: 1}, true}, {Selection{}, false},
	} {
		if c.s.Thin() != c.thin {
			t.Errorf("%+v: thin %v", c.s, c.s.Thin())
		}
	}
}

func TestEmptyPagesHaveASelection(t *testing.T) {
	for _, body := range []string{"", "<script>x()</script>", "<nav></nav>", "<frameset><frame src=a></frameset>"} {
		root := parse(t, body)
		if s := Find(root); s.Thin() || s.Drop(root) || s.Letters != 0 {
			t.Errorf("%q: thin %v, %d letters", body, s.Thin(), s.Letters)
		}
	}
}

// TestDeepTreesAreWalkedWithoutRecursion would end the process, not the test, if the stack grew with the depth.
func TestDeepTreesAreWalkedWithoutRecursion(t *testing.T) {
	root := &html.Node{Type: html.ElementNode, Data: "div"}
	n := root
	for range 200_000 {
		c := &html.Node{Type: html.ElementNode, Data: "div"}
		n.AppendChild(c)
		n = c
	}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: "bottom"})
	if s := Find(root); s.Letters != len("bottom") {
		t.Errorf("%d letters found at the bottom", s.Letters)
	}
}

func FuzzFind(f *testing.F) {
	f.Add(siteHead + story + siteFoot)
	f.Add("<main><article><main>x</main></article></main><article>y")
	f.Fuzz(func(t *testing.T, src string) {
		root, err := html.Parse(strings.NewReader(src))
		if err != nil {
			return
		}
		s := Find(root)
		if s.Letters < 0 || s.Letters > s.PageLetters || s.Drop(root) {
			t.Errorf("%d of %d letters", s.Letters, s.PageLetters)
		}
		if s.Letters == 0 && s.PageLetters > 0 && !s.Thin() {
			t.Error("nothing of the page is kept, and it is not called thin")
		}
	})
}

func parse(t testing.TB, body string) *html.Node {
	t.Helper()
	if !strings.HasPrefix(body, "<head>") {
		body = "<title>t</title><body>" + body
	}
	root, err := html.Parse(strings.NewReader("<!doctype html>" + body))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// shown is the text of the main content.
func shown(t *testing.T, body string) string {
	root := parse(t, body)
	return kept(Find(root), root)
}

// kept is the text below a node that a selection keeps.
func kept(s Selection, below *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if s.Drop(n) {
			return
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(below)
	return b.String()
}

// TestDeclaredDescriptions: a product's description that stands only in the page's data is told apart; one that the page
// shows is kept where it stands.
func TestDeclaredDescriptions(t *testing.T) {
	const says = "Forged of one piece of steel, ground to a keen edge, and fitted with a handle of local ash that is oiled twice."
	ld := `<script type="application/ld+json">{"@type":"Product","name":"Chisel","description":"` + says + `"}</script>`
	hidden := Find(parse(t, ld+"<h1>Chisel</h1><p>€ 34.50</p><button>Buy</button>"))
	if hidden.Undisclosed != says {
		t.Errorf("undisclosed: %q", hidden.Undisclosed)
	}
	page := ld + siteHead + "<h1>Chisel</h1><div class=tabs><div>" + says + "</div></div>" + siteFoot
	if s := Find(parse(t, page)); s.Undisclosed != "" || !strings.Contains(shown(t, page), "Forged of one piece") {
		t.Errorf("undisclosed though it is shown: %q", s.Undisclosed)
	}
	if s := Find(parse(t, strings.Replace(ld, "Product", "Organization", 1)+"<h1>Quay</h1>")); s.Undisclosed != "" {
		t.Errorf("the site's description is no product's: %q", s.Undisclosed)
	}
}

// TestButtonsWithinSentences: a word that shows what it means when it is pressed is a word of its sentence; other buttons are not.
func TestButtonsWithinSentences(t *testing.T) {
	const around = `<p>The harbour keeps a book of every ship that has ever come in, and the oldest line in it is four hundred years old; it names a hulk.</p>`
	got := shown(t, `<head><title>Guide</title></head><body>`+siteHead+`<main><article><h1>Guide to the harbour</h1>`+around+
		`<p>Every ship pays <button class=term>dunnage</button> before it goes, and a fee for the <button>warden</button>.</p><p><button>Copy the text</button></p>`+
		around+`</article></main>`+siteFoot)
	for _, w := range []string{"Every ship pays dunnage before", "for the warden ."} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), w) {
			t.Errorf("%q is lost: %s", w, got)
		}
	}
	if strings.Contains(got, "Copy the text") {
		t.Error("a button by itself is kept")
	}
}

// TestLinksThatReadOn: what comes after the last sentence of a text is where to read on, and its address counts.
func TestLinksThatReadOn(t *testing.T) {
	const text = "Salt was brought from the south, and paid for with rope that was made here"
	for part, within := range map[string]bool{
		text + `. <a href=/more>Continue reading →</a>`:                 false,
		text + ` […] <a href=/more><b>Read</b> on</a>`:                  false,
		text + `… [<a href=/more>more</a>]`:                             false,
		text + `。<a href=/more>続きを読む</a>`:                               false,
		`<em>` + text + `.</em> Source: <a href=/more>the book</a> `:    false,
		text + `, as <a href=/more>the book</a> says.`:                  true,
		text + `, as is told in <a href=/more>the book</a>`:             true,
		text + `. <a href=/more>The book</a> says so. And it is right.`: true,
	} {
		root := parse(t, newsHead+siteHead+`<main><article><h1>The book of the harbour</h1>`+prose+`<p>`+part+`</p>`+prose+`</article></main>`+siteFoot)
		s := Find(root)
		for n := range root.Descendants() {
			if n.DataAtom == atom.A && n.Attr[0].Val == "/more" && s.InText(n) != within {
				t.Errorf("%s: in the text is %v", part, !within)
			}
		}
	}
}

// TestQuestionsThatOpenTheirAnswers: buttons that are headings of what they open are read with it.
func TestQuestionsThatOpenTheirAnswers(t *testing.T) {
	for _, c := range []struct{ name, item string }{
		{"buttons in headings", `<div><h3><button aria-expanded=false aria-controls=a>How long does shipping take to %d?</button></h3><div id=a><p>Three days to town %d.</p></div></div>`},
		{"closed", `<div><h3><button aria-expanded=false>How long does shipping take to %d?</button></h3><div hidden><p>Three days to town %d.</p></div></div>`},
		{"buttons alone", `<div class=item><button class=accordion-button><span>How long does shipping take to %d?</span></button><div style="display:none"><p>Three days to town %d.</p></div></div>`},
		{"terms", `<dl><dt><button aria-expanded=false>How long does shipping take to %d?</button></dt><dd><p>Three days to town %d.</p></dd></dl>`},
	} {
		var b strings.Builder
		for i := range 8 {
			fmt.Fprintf(&b, c.item, i, i)
		}
		got := shown(t, "<head><title>Questions</title></head><body>"+siteHead+`<main><h1>Questions</h1>`+b.String()+"</main>"+siteFoot)
		for i := range 8 {
			for _, w := range []string{"shipping take to %d?", "to town %d."} {
				if w = fmt.Sprintf(w, i); !strings.Contains(got, w) {
					t.Errorf("%s: %q is lost", c.name, w)
				}
			}
		}
	}
}

// TestLittlePagesWhoseNamesMislead: a bill of fare has the names of menus; where nearly all of a little page's text would go, the
// selection is thin. Lists of links are not.
func TestLittlePagesWhoseNamesMislead(t *testing.T) {
	fare := `<div class="menu-section"><h2>Starters</h2><div class="menu-item"><span class="menu-item-name">Soup</span><span class="menu-item-price">5,50</span><p class="menu-item-desc">Of the day, with bread</p></div></div>
		<div class="menu-section"><h2>Mains</h2><div class="menu-item"><span class="menu-item-name">Plaice</span><span class="menu-item-price">14,90</span></div></div>`
	links := `<main><h1>Notices</h1><ul>` + strings.Repeat(`<li><a href=/n>The office is closed on the first of the month</a></li>`, 6) + `</ul></main>`
	for body, thin := range map[string]bool{fare: true, links: false, "<article><h1>Soup</h1>" + prose + "</article>": false} {
		s := Find(parse(t, "<head><title>Quay inn</title></head><body><nav><a href=/>Home</a></nav>"+body+"<footer>Quay inn, Harbour Street 1, open from noon to ten but for Mondays</footer>"))
		if s.Thin() != thin {
			t.Errorf("thin %v, %d of %d letters: %.60s", s.Thin(), s.Letters, s.PageLetters, body)
		}
	}
}
