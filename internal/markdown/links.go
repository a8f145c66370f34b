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
		facts.Edits(facts.ShortText(n)) || r.noteReference(n, href) || backlink(n, t, href) {
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
	l.Words, l.Heading = linkContent(n)
	r.w.EnterLink(l)
	wrote := r.w.Len()
	r.children(n)
	if !l.Words && r.w.Len() == wrote && n.FirstChild != nil && !r.w.InLink() {
		// An icon without words: what it is called for those who do not see it.
		r.w.Text(iconName(n, t))
	}
	r.w.Leave()
}

// linkContent looks into a link: whether it holds words, and whether a heading with words is among them.
func linkContent(n *html.Node) (words, heading bool) {
	const look = 200 // nodes; a card has fewer
	within := (*html.Node)(nil)
	m := facts.Following(n, n)
	for i := 0; m != nil && i < look; i++ {
		switch {
		case m.Type == html.TextNode:
			if strings.TrimSpace(m.Data) != "" {
				words = true
				for p := m.Parent; p != nil && p != n; p = p.Parent {
					if p == within {
						return true, true
					}
				}
			}
		case facts.HeadingLevel(m) > 0:
			within = m
		case m.DataAtom == atom.Script || m.DataAtom == atom.Style || m.DataAtom == atom.Template || m.DataAtom == atom.Svg:
			m = facts.Skipping(n, m)
			continue
		}
		m = facts.Following(n, m)
	}
	return words, false
}

// iconName is the accessible name of a link that shows only a drawing.
func iconName(n *html.Node, t *facts.Traits) string {
	if t.Label != "" {
		return t.Label
	}
	if title, _ := facts.Attribute(n, "title"); title != "" {
		return title
	}
	if svg := facts.Find(n, atom.Svg, 8); svg != nil {
		if title := facts.Find(svg, atom.Title, 8); title != nil {
			return facts.ShortText(title)
		}
		label, _ := facts.Attribute(svg, "aria-label")
		return label
	}
	return ""
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
