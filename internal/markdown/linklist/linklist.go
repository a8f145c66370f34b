// Package linklist makes the list of a page's links, for who wants to go on from it.
//
// The one rule: what the page hides, and what leads nowhere else, is not among them.
package linklist

import (
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// Anchor is a link of a page: its words, white space collapsed and at most 200 characters, and its absolute address.
type Anchor struct{ Text, URL string }

// Bounds of a list of links.
const (
	maxAnchors     = 1000
	maxAnchorText  = 200 // characters
	maxAnchorNodes = 400 // looked at for the words of one link
)

// Anchors are the links of a page that lead somewhere else, each address once, in order, and at most 1,000. pageURL is
// the page's own address. What the page hides is not among them. The only error is ctx's own.
func Anchors(ctx context.Context, root *html.Node, pageURL string) ([]Anchor, error) {
	f := finder{base: address.New(pageURL), seen: map[string]int{}}
	rebased := false
	steps := 0
	for n := root; n != nil && len(f.all) < maxAnchors; {
		if steps++; steps%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if n.Type == html.ElementNode {
			if hidden(n) {
				n = facts.Skipping(root, n)
				continue
			}
			switch n.DataAtom {
			case atom.Base:
				if href, ok := facts.Attribute(n, "href"); ok && !rebased {
					f.base, rebased = f.base.Rebased(href), true
				}
			case atom.A, atom.Area:
				f.add(n)
			}
		}
		n = facts.Following(root, n)
	}
	return f.all, nil
}

// hidden says that nothing below n is shown.
func hidden(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Html, atom.Body:
		return false
	case atom.Template:
		_, shadow := facts.Attribute(n, "shadowrootmode")
		return !shadow
	}
	return facts.Concealed(n)
}

// finder collects.
type finder struct {
	base address.Base
	all  []Anchor
	seen map[string]int // where in all an address is
}

// add adds one link, or its words to the same link that had none before.
func (f *finder) add(n *html.Node) {
	href := facts.FirstAttribute(n, "href")
	url := f.base.Resolve(href)
	if href == "" || address.Inert(url) || f.base.SamePage(url) {
		return
	}
	i, known := f.seen[url]
	switch {
	case !known:
		f.seen[url] = len(f.all)
		f.all = append(f.all, Anchor{anchorText(n), url})
	case f.all[i].Text == "":
		f.all[i].Text = anchorText(n)
	}
}

// anchorText is what a link shows, or else what it is called.
func anchorText(n *html.Node) string {
	var b strings.Builder
	picture := ""
	m := facts.Following(n, n)
	for i := 0; m != nil && i < maxAnchorNodes && b.Len() < 4*maxAnchorText; i++ {
		switch {
		case m.Type == html.TextNode:
			b.WriteString(m.Data[:min(len(m.Data), 4*maxAnchorText)])
			b.WriteByte(' ')
		case m.DataAtom == atom.Img && picture == "":
			picture = facts.FirstAttribute(m, "alt")
		case m.DataAtom == atom.Script || m.DataAtom == atom.Style || m.DataAtom == atom.Template || m.DataAtom == atom.Svg || facts.Concealed(m):
			m = facts.Skipping(n, m)
			continue
		}
		m = facts.Following(n, m)
	}
	text := b.String()
	if strings.TrimSpace(text) == "" {
		if text = picture; text == "" {
			text = facts.FirstAttribute(n, "aria-label", "title", "alt")
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) > maxAnchorText {
		text = string([]rune(text)[:maxAnchorText-1]) + "…"
	}
	return text
}

// List writes links as a Markdown list. The only error is ctx's own.
func List(ctx context.Context, anchors []Anchor) (string, error) {
	w := scribe.New(ctx, 80*len(anchors))
	for _, a := range anchors {
		depth := w.Depth()
		w.Push("  ", "- ")
		w.EnterLink(scribe.Link{URL: a.URL, Words: true})
		if a.Text != "" {
			w.Text(a.Text)
		} else {
			w.Text(a.URL)
		}
		w.Leave()
		w.Break(1)
		w.Pop(depth)
	}
	text := w.String()
	return text, w.Err()
}

// Address is an address of a page as an absolute one, as its links are made absolute; empty for none.
func Address(pageURL, href string) string {
	if strings.TrimSpace(href) == "" {
		return ""
	}
	return address.New(pageURL).Resolve(href)
}
