package maincontent

import (
	"html"
	"strings"
	"testing"

	"golang.org/x/net/html/atom"
)

func frame(doc string) string { return `<iframe srcdoc="` + html.EscapeString(doc) + `"></iframe>` }

// TestFramesThatHoldTheirDocument: one that is the page's main part stays, and so does one within the text.
func TestFramesThatHoldTheirDocument(t *testing.T) {
	long := "<h1>Mill</h1>" + strings.Repeat(story, 4)
	doc := frame(long)
	many := strings.Repeat("<p>The mill was painted white in the year after the flood, says the log.</p>", 12)
	for _, c := range []struct {
		name, body string
		keeps      bool
	}{
		{"alone", doc, true},
		{"beside the site's own", siteHead + "<main>" + doc + "</main>" + siteFoot, true},
		{"below a title", siteHead + "<main><h1>Preview</h1><p>Shared on a Tuesday.</p>" + doc + "</main>" + siteFoot, true},
		{"below a heading", siteHead + "<main><h1>Preview</h1><h2>The letter</h2>" + doc + "</main>" + siteFoot, true},
		{"in another frame", siteHead + "<main><h1>Preview</h1>" + frame("<body>"+doc) + "</main>" + siteFoot, true},
		{"as long as the page", siteHead + "<main><h1>Preview</h1>" + story + doc + "</main>" + siteFoot, true},
		{"in Chinese", siteHead + "<main><h1>预览</h1>" + frame(strings.Repeat("<p>潮汐磨坊在去年冬天重建，每天转动两次。</p>", 20)) + "</main>" + siteFoot, true},
		{"between paragraphs", "<article><h1>Mill</h1>" + story + many + frame("<p>Of the wheels twelve are of oak, and three of the gates are of larch.</p>") + story + many + "</article>", true},
		{"an advertisement below an article", siteHead + "<article><h1>Mill</h1>" + story + many + story + "</article><div class=advert>" + frame("<p>Buy our chisels now, half price until Friday, and only here.</p>") + "</div>" + siteFoot, false},
		{"consent, longer than the page", "<div class=cookie-consent role=dialog>" + frame("<p>"+strings.Repeat("We and our partners store cookies on your device. ", 8)) + "</div><h1>Mill</h1>" + strings.Repeat(story, 3), false},
		{"links alone", "<h1>Mill</h1>" + strings.Repeat(story, 3) + "<aside class=related>" + frame(strings.Repeat("<a href=/x>Another story that is somewhere else</a>", 4)) + "</aside>", false},
		{"scripts alone", "<article><h1>Mill</h1>" + story + frame("<script>"+strings.Repeat("draw();", 500)+"</script>") + "</article>", false},
		{"nothing", "<main><h1>Preview</h1>" + story + "<iframe srcdoc></iframe><iframe src=/map></iframe></main>", false},
	} {
		root := parse(t, c.body)
		s := Find(root)
		n := find(root, atom.Iframe)
		dropped := s.Drop(n)
		for p := n.Parent; p != nil; p = p.Parent {
			dropped = dropped || s.Drop(p)
		}
		if dropped == c.keeps || c.keeps && s.Thin() {
			t.Errorf("%s: dropped %v, thin %v, %d of %d letters", c.name, dropped, s.Thin(), s.Letters, s.PageLetters)
		}
	}
}

// TestAHiddenFrameCountsForNothing: it is not shown whatever is kept.
func TestAHiddenFrameCountsForNothing(t *testing.T) {
	page := siteHead + "<main><h1>Preview</h1>" + story + "</main>" + siteFoot
	hidden := "<div style='display:none'>" + frame(strings.Repeat(story, 9)) + "</div>"
	want, got := Find(parse(t, page)), Find(parse(t, page+hidden))
	if got.Letters != want.Letters || got.PageLetters != want.PageLetters {
		t.Errorf("%d of %d letters, want %d of %d", got.Letters, got.PageLetters, want.Letters, want.PageLetters)
	}
}

func TestTheTextOfAFramesDocumentIsCounted(t *testing.T) {
	for doc, want := range map[string]counts{
		"":                   {},
		"<p>one<p>two.":      {letters: 7, words: 2, ends: 1},
		"one <a href=/>link": {letters: 7, links: 4, words: 2},
		"<title>no</title><style>no</style><script>no()</script><template>no</template><noscript>no</noscript>yes": {letters: 3, words: 1},
		"a &amp; b &lt;b&gt;": {letters: 6, words: 3, signs: 1},
		frame("<p>deep"):      {letters: 4, words: 1},
		frame(frame(frame(frame("deeper than is followed")))): {},
		"<iframe>no</iframe>": {},
		"<script>never ends":  {},
	} {
		body := frame(doc)
		n := find(parse(t, body), atom.Iframe)
		if got := framed(n); got.counts != want {
			t.Errorf("%q: %+v, want %+v", doc, got.counts, want)
		}
	}
}

func FuzzFramesDocument(f *testing.F) {
	f.Add("<p>x<iframe srcdoc='&lt;p&gt;y'>")
	f.Add("<script><a><svg><title>x")
	f.Fuzz(func(t *testing.T, doc string) {
		var got tally
		got.document(doc, maxFrames)
		if got.letters < 0 || int(got.letters) > 3*len(doc) || got.links > got.letters {
			t.Errorf("%+v of %d bytes", got.counts, len(doc))
		}
	})
}
