// Links: one that leads somewhere and has words is a Markdown link; permalink signs, edit links and the like are no
// content; what cannot be a link is its text.

package markdown

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func (r *renderer) anchor(n *html.Node, t *traits) {
	href, ok := attribute(n, "href")
	if t.is(permalink|editLink|copyButton) && r.dispensable(n, t, href) || r.permalinkSign(n, href) {
		return
	}
	if r.noteReference(n, href) || r.backlink(n, t, href) {
		return
	}
	if !ok || r.quiet > 0 {
		r.children(n)
		return
	}
	url := r.base.resolve(href)
	if inert(url) || r.base.samePage(url) || strings.TrimSpace(href) == "" {
		r.children(n)
		return
	}
	e := inline{kind: link, url: url}
	e.words, e.heading = linkContent(n)
	r.enter(e)
	wrote := len(r.out)
	r.children(n)
	if !e.words && len(r.out) == wrote && n.FirstChild != nil && !r.inLink {
		// An icon without words: what it is called for those who do not see it.
		r.text(iconName(n, t))
	}
	r.leave()
}

// linkContent looks into a link: whether it holds words, and whether a heading with words is among them.
func linkContent(n *html.Node) (words, heading bool) {
	const look = 200 // nodes; a card has fewer
	within := (*html.Node)(nil)
	m := following(n, n)
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
		case headingLevel(m) > 0:
			within = m
		case m.DataAtom == atom.Script || m.DataAtom == atom.Style || m.DataAtom == atom.Template || m.DataAtom == atom.Svg:
			m = skipping(n, m)
			continue
		}
		m = following(n, m)
	}
	return words, false
}

// iconName is the accessible name of a link that shows only a drawing.
func iconName(n *html.Node, t *traits) string {
	if t.label != "" {
		return t.label
	}
	if title, _ := attribute(n, "title"); title != "" {
		return title
	}
	if svg := find(n, atom.Svg, 8); svg != nil {
		if title := find(svg, atom.Title, 8); title != nil {
			return shortText(title)
		}
		label, _ := attribute(svg, "aria-label")
		return label
	}
	return ""
}

// closeLink writes the end of a link that began at e.at.
func (r *renderer) closeLink(e *inline) {
	content := r.out[e.at+1:]
	if e.words && r.imageEnd == len(r.out) && len(content) > 1 && content[0] == '!' && content[1] == '[' {
		r.unbracket(e.at)
		return
	}
	// A block that carried words carried the link; what follows of it is text.
	e.silent = e.words
	if string(content) == e.url && r.autolinks(e.url) {
		r.out[e.at] = '<'
		r.out = append(r.out, '>')
		r.textFrom = len(r.out)
		return
	}
	if len(content) == 1 && content[0]|0x20 == 'x' && e.at == r.leafStart {
		// At the start of an item "[x]" would be a task's box.
		r.out = slices.Replace(r.out, e.at+1, len(r.out), []byte("&#"+strconv.Itoa(int(content[0]))+";")...)
	}
	r.out = append(r.out, ']', '(')
	r.out = appendDestination(r.out, e.url, r.flat == inCell)
	r.out = append(r.out, ')')
	r.textFrom = len(r.out)
}

// autolinks says that <address> reads as a link to it.
func (r *renderer) autolinks(url string) bool {
	if scheme := schemeOf(url); scheme != "http:" && scheme != "https:" {
		return false
	}
	for _, m := range r.marks {
		if m.at > len(r.out)-len(url) {
			return false
		}
	}
	return !strings.ContainsAny(url, " <>\\|")
}

// unbracket takes back the bracket of a link.
func (r *renderer) unbracket(at int) {
	r.out = slices.Delete(r.out, at, at+1)
	r.moved(at, -1)
}

// permalinkSign says that an anchor is a heading's permalink: it leads to a place on a page and shows a sign for words.
func (r *renderer) permalinkSign(n *html.Node, href string) bool {
	if strings.IndexByte(href, '#') < 0 {
		return false
	}
	switch shortText(n) {
	case "#", "¶", "§", "🔗", "⚓", "⚓︎", "∞", "❡", "¤":
		return true
	case "":
		return r.flat == inHeading && find(n, atom.Img, 8) == nil
	}
	return false
}

// dispensable says that an anchor whose class calls it a permalink, an edit link or a copy button is one.
func (r *renderer) dispensable(n *html.Node, t *traits, href string) bool {
	if t.is(editLink | copyButton) {
		return true
	}
	text := shortText(n)
	return strings.IndexByte(href, '#') >= 0 && (len(text) <= len("¶¶") || strings.HasPrefix(strings.ToLower(text), "perma") ||
		strings.EqualFold(text, "link") || strings.EqualFold(text, "anchor") || strings.HasPrefix(strings.ToLower(text), "link to this"))
}

// shortText is the text below n without blanks at its ends, as far as it is short; longer text comes back cut.
func shortText(n *html.Node) string {
	const enough = 48
	var b strings.Builder
	m := following(n, n)
	for i := 0; m != nil && b.Len() < enough && i < enough; i++ {
		if m.Type == html.TextNode {
			b.WriteString(m.Data[:min(len(m.Data), enough)])
		} else if m.DataAtom == atom.Svg || m.DataAtom == atom.Style {
			m = skipping(n, m)
			continue
		}
		m = following(n, m)
	}
	return strings.TrimSpace(b.String())
}
