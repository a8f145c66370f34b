// Further stories: what an article is broken off with to send its reader elsewhere.

package maincontent

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/publicsuffix"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// What a further story looks like, in letters, and how many stand together.
const (
	leastFurther = 24 // of the link: a headline, not "here" or a name
	mostLabel    = 24 // of what stands before it: "Related:"
	mostList     = 30 // blocks of a list of them
)

// ruleFurther: a line between two paragraphs of an article, or after the last one, that is nothing but one link to another
// page of the same site, as long as a headline, is another story, and so are a few of them together and a list of which
// most are; a short label goes with them.
func (f *finder) ruleFurther(scores []float32) {
	stories := f.stories()
	last := -1 // the last paragraph
	for i := range scores {
		if stories[i] || !f.paragraph(i, scores) {
			continue
		}
		if last >= 0 {
			f.leaveOut(stories, last+1, i, scores)
		}
		last = i
	}
	if last < 0 {
		return
	}
	end := last + 1
	for end < len(scores) && (stories[end] || f.label(end)) {
		end++
	}
	f.leaveOut(stories, last+1, end, scores)
}

// ruleAds: what an article calls an advertisement and is as short as a label is one, or what stands over one.
func (f *finder) ruleAds(scores []float32) {
	const most = 60 // letters
	for i := range f.elements {
		e := &f.elements[i]
		if e.is&nameAd != 0 && e.letters > 0 && e.letters <= most && !inline(e.node) && e.headings == 0 && e.is&(tagParagraph|tagCell) == 0 {
			f.set(scores, e, 0)
		}
	}
}

// stories says of each block whether it is another story.
func (f *finder) stories() []bool {
	host := hostOf(f.says.Facts.Canonical)
	out := f.flags.take(len(f.blocks))
	any := false
	for i := range out {
		out[i] = f.further(&f.blocks[i], host)
		any = any || out[i]
	}
	if !any {
		return out
	}
	for i := range f.elements {
		e := &f.elements[i]
		if a := e.node.DataAtom; a != atom.Ul && a != atom.Ol || e.to-e.from < 3 || e.to-e.from > mostList {
			continue
		}
		n := int32(0)
		for _, is := range out[e.from:e.to] {
			if is {
				n++
			}
		}
		if n*3 >= e.to-e.from && linkHeavy(e, 40) {
			for j := e.from; j < e.to; j++ {
				out[j] = true
			}
		}
	}
	return out
}

// leaveOut leaves out the blocks from one to before another, if they are further stories with at most one label.
func (f *finder) leaveOut(stories []bool, from, to int, scores []float32) {
	some, labels := false, 0
	for i := from; i < to; i++ {
		switch {
		case stories[i]:
			some = true
		case f.blocks[i].letters == 0:
		case f.label(i):
			labels++
		default:
			return
		}
	}
	if !some || labels > 1 {
		return
	}
	for i := from; i < to; i++ {
		if f.blocks[i].letters > 0 {
			scores[i] = 0
		}
	}
}

// label says that a block is short enough to be what stands above further stories, or holds no text.
func (f *finder) label(i int) bool {
	b := &f.blocks[i]
	return b.letters <= mostLabel && b.links == 0
}

// paragraph says that a block is a paragraph of the article.
func (f *finder) paragraph(i int, scores []float32) bool {
	b := &f.blocks[i]
	return scores[i] >= 0.5 && b.letters >= 60 && (b.ends > 0 || b.letters >= 100) && b.links*2 < b.letters && f.within(b.owner, tagItem) < 0
}

// further says that a block is one link to another page of the site and at most a label.
func (f *finder) further(b *block, host string) bool {
	owner := &f.elements[b.owner]
	if b.links < leastFurther || b.letters-b.links > mostLabel || owner.is&tagHeading != 0 && f.within(b.owner, tagItem) < 0 {
		return false
	}
	var link *html.Node
	for _, leaf := range f.leaves[b.from:b.to] {
		for n := leaf.Parent; n != nil && n != owner.node; n = n.Parent {
			if n.DataAtom != atom.A {
				continue
			}
			if link != nil && link != n {
				return false
			}
			link = n
		}
	}
	if link == nil {
		for n := owner.node; n != nil && link == nil; n = n.Parent { // a link around the whole paragraph
			if n.DataAtom == atom.A {
				link = n
			}
		}
	}
	if link == nil {
		return false
	}
	href, _ := facts.Attribute(link, "href")
	return sameSite(strings.TrimSpace(href), host)
}

// sameSite says that an address leads to another page of the site with this host.
func sameSite(href, host string) bool {
	if href == "" || href[0] == '#' {
		return false
	}
	u, err := url.Parse(href)
	if err != nil || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return u.Host == "" || host != "" && siteOf(u.Hostname()) == siteOf(host)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// siteOf is the domain that a host belongs to: what its owner registered, or the host itself where that cannot be told.
func siteOf(host string) string {
	host = strings.ToLower(host)
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}
