// Links: one that leads somewhere and has words is a Markdown link; facts.Permalink signs, edit links and the like are no
// content; what cannot be a link is its text.

package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

func (r *renderer) anchor(n *html.Node, t *facts.Traits) {
	href, ok := facts.Attribute(n, "href")
	if t.Is(facts.Permalink|facts.EditLink|facts.CopyButton) && dispensable(n, t, href) || r.permalinkSign(n, href) ||
		facts.Edits(facts.ShortText(n)) || r.noteReference(n, href) || r.backlink(n, t, href) {
		return
	}
	if !ok || r.o.Unlink != nil && r.o.Unlink(n) {
		r.children(n)
		return
	}
	url := r.base.Resolve(href)
	if address.Inert(url) || r.base.SamePage(url) || strings.TrimSpace(href) == "" {
		r.children(n)
		return
	}
	l := scribe.Link{URL: url}
	l.Words, l.Heading = facts.LinkContent(n)
	r.w.EnterLink(l)
	wrote := r.w.Len()
	r.children(n)
	if !l.Words && r.w.Len() == wrote && n.FirstChild != nil && !r.w.InLink() {
		// An icon without words: what it is called for those who do not see it.
		r.w.Text(facts.IconName(n, t))
	}
	r.w.Leave()
}

// permalinkSign says that an anchor is a heading's permalink: it leads to a place on a page and shows a sign for words.
func (r *renderer) permalinkSign(n *html.Node, href string) bool {
	if strings.IndexByte(href, '#') < 0 {
		return false
	}
	switch facts.ShortText(n) {
	case "#", "¶", "§", "🔗", "⚓", "⚓︎", "∞", "❡", "¤":
		return true
	case "":
		return r.inHeading && facts.Find(n, atom.Img, 8) == nil
	}
	return false
}

// dispensable says that an anchor whose class calls it a permalink, an edit link or a copy button is one.
func dispensable(n *html.Node, t *facts.Traits, href string) bool {
	if t.Is(facts.EditLink | facts.CopyButton) {
		return facts.Control(n, t)
	}
	text := strings.ToLower(facts.ShortText(n))
	return strings.IndexByte(href, '#') >= 0 && (len(text) <= len("¶¶") || text == "link" || text == "anchor" ||
		strings.HasPrefix(text, "perma") || strings.HasPrefix(text, "link to this"))
}
