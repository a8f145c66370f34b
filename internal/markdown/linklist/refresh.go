package linklist

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Refresh is the absolute address that a page sends browsers on to by a meta element, as written; empty where it does not, where it means
// itself, and where that is no page of the web. baseURL is the page's own address.
func Refresh(root *html.Node, baseURL string) string {
	base := address.New(baseURL)
	for n := root; n != nil; n = facts.Following(root, n) {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.Body:
			return ""
		case n.DataAtom == atom.Base:
			if href, ok := facts.Attribute(n, "href"); ok {
				base = base.Rebased(href)
			}
		case n.DataAtom == atom.Meta:
			if is, _ := facts.Attribute(n, "http-equiv"); !strings.EqualFold(strings.TrimSpace(is), "refresh") {
				continue
			}
			content, _ := facts.Attribute(n, "content")
			to := base.Resolve(target(content))
			if lower := strings.ToLower(to); !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") || base.SamePage(to) || to == baseURL {
				return ""
			}
			return to
		}
	}
	return ""
}

// target is the address in the content of such an element: a time, a comma or semicolon, and the address, with "url=" and in
// quotes or without.
func target(content string) string {
	s := strings.TrimLeft(strings.TrimLeft(content, " \t\n\r\f"), "0123456789.")
	if len(s) == len(strings.TrimLeft(content, " \t\n\r\f")) {
		return "" // no time: browsers stay
	}
	s = strings.TrimLeft(s, " \t\n\r\f")
	s = strings.TrimLeft(strings.TrimLeft(s, ";,"), " \t\n\r\f")
	if len(s) >= 3 && strings.EqualFold(s[:3], "url") {
		if after, ok := strings.CutPrefix(strings.TrimLeft(s[3:], " \t\n\r\f"), "="); ok {
			s = strings.TrimLeft(after, " \t\n\r\f")
		}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		quote := s[0]
		s = s[1:]
		if end := strings.IndexByte(s, quote); end >= 0 {
			s = s[:end]
		}
	}
	return strings.TrimSpace(s)
}
