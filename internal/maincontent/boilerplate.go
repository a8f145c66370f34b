package maincontent

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// shares of the page's text, in per cent, above which an element is kept whatever it calls itself.
const (
	mostByName = 40 // by class, id or role
	mostByTag  = 60 // nav, aside, footer, header
)

// How many characters outside of links an invitation has at most, without and with something to fill in or to press:
// whoever writes more has something to say.
const (
	fewProse  = 120
	formProse = 400
)

// dropBoilerplate marks what is furniture of the site: by element, by role, by the words of class and id.
func (f *finder) dropBoilerplate(top *html.Node) {
	for _, n := range f.order {
		m := f.marks[n]
		if n == top || m.text == 0 && !dialogLike(n) {
			continue
		}
		share := m.text * 100 / max(f.total.text, 1)
		if f.furniture(n, m, share) {
			f.dropped[n] = true
		}
	}
}

func (f *finder) furniture(n *html.Node, m *mark, share int) bool {
	switch n.DataAtom {
	case atom.Html, atom.Body, atom.Main, atom.H1, atom.Code, atom.Pre, atom.Table, atom.Tbody, atom.Tr, atom.Td, atom.Th, atom.P, atom.Math:
		// A heading, a table or a paragraph is content even where a class says "banner"; but a short paragraph that is
		// a pager is not.
		return n.DataAtom == atom.P && linkHeavy(m, 70) && m.text < 200 && hasName(n, pagerWords)
	}
	if attribute(n, "role") == "main" {
		return false
	}
	if share <= mostByTag {
		switch n.DataAtom {
		case atom.Nav, atom.Dialog, atom.Menu:
			return true
		case atom.Aside:
			return !hasName(n, calloutWords)
		case atom.Footer:
			return !m.ofPost || linkHeavy(m, 50)
		case atom.Header:
			return m.h1 == 0 && (!m.ofPost || linkHeavy(m, 50) && m.text > 60)
		}
	}
	if share > mostByName || m.h1 > 0 && f.total.h1 <= 2 {
		return false
	}
	switch attribute(n, "role") {
	case "navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar":
		return true
	}
	switch {
	case hasName(n, furnitureWords):
		return true
	case hasName(n, topicWords):
		most := fewProse
		if m.controls > 0 {
			most = formProse
		}
		return linkHeavy(m, 30) || m.text-m.links < most
	case hasName(n, linkyWords):
		return linkHeavy(m, 40) || m.text < 60
	}
	return false
}

// dropReadersComments leaves out what readers wrote below an article. In a thread or a question the comments are the
// page: they stay unless something else is long enough to be it.
func (f *finder) dropReadersComments(top *html.Node) {
	all := f.marks[top]
	for i := len(f.order) - 1; i >= 0; i-- {
		n := f.order[i]
		m := f.marks[n]
		if !m.under || m.gone || !hasName(n, commentWords) {
			continue
		}
		rest := all.prose - m.prose
		if m.h1 == 0 && rest >= 300 && rest*3 >= m.prose {
			f.dropped[n] = true
		}
	}
}

func linkHeavy(m *mark, percent int) bool { return m.links*100 >= m.text*percent }

func dialogLike(n *html.Node) bool {
	return n.DataAtom == atom.Dialog || attribute(n, "role") == "dialog"
}

// The words are those of class and id attributes, split at everything but letters and at capitals, in lower case.

var (
	furnitureWords = words("cookie cookies consent gdpr cookiebanner breadcrumb breadcrumbs navbar sharebar sharedaddy advert advertisement adverts advertising werbung sponsor sponsored navigation skiplink skip-link masthead sitenav site-nav site-header site-footer siteheader sitefooter pagination pager popup modal lightbox offcanvas tooltip also-bought related-posts relatedposts related-articles relatedarticles print-hidden noprint sidenav side-nav")
	// Words that an article may bear for what it is about.
	topicWords   = words("share sharing social socials newsletter subscribe promo promotion")
	linkyWords   = words("nav menu menus sidebar sidebar-left sidebar-right footer topbar toolbar related recommended recommendations recommend popular trending also more toc tags tagcloud widget widgets links banner ads ad rail aside secondary complementary")
	commentWords = words("comments commentlist comment-list disqus respond replies discussion-comments comments-area comments-section")
	calloutWords = words("note warning tip important admonition callout notice info caution danger hint example pullquote sidenote footnote footnotes infobox")
	pagerWords   = words("pager pagination prev next nav")
)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// hasName looks for one of the words in class and id: as a whole token, or as a part of one.
func hasName(n *html.Node, set map[string]bool) bool {
	for _, a := range n.Attr {
		if a.Key != "class" && a.Key != "id" {
			continue
		}
		val := a.Val
		if len(val) > 500 {
			val = val[:500]
		}
		for token := range strings.FieldsSeq(val) {
			if set[strings.ToLower(token)] {
				return true
			}
			for part := range parts(token) {
				if set[part] {
					return true
				}
			}
		}
	}
	return false
}

// parts splits "siteHeader-topBar" into site, header, top, bar.
func parts(token string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start, lower := 0, false
		for i, r := range token {
			switch {
			case !unicode.IsLetter(r):
				if i > start && !yield(strings.ToLower(token[start:i])) {
					return
				}
				start, lower = i+len(string(r)), false
			case unicode.IsUpper(r) && lower:
				if !yield(strings.ToLower(token[start:i])) {
					return
				}
				start, lower = i, false
			default:
				lower = unicode.IsLower(r)
			}
		}
		if start < len(token) {
			yield(strings.ToLower(token[start:]))
		}
	}
}
