package linklist

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/address"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// SentOn is the absolute address that a page sends browsers on to, as written: by the header field Refresh that came with it,
// by a meta element, or by a script that does nothing else. Empty where it does not, where it means itself, and where that is no page
// of the web. all says that those are sent that run scripts, too. baseURL is the page's own address.
func SentOn(root *html.Node, baseURL, refresh string) (to string, all bool) {
	own := address.New(baseURL)
	if to := away(own, own.Resolve(target(refresh)), baseURL); to != "" {
		return to, true
	}
	base, scripted, body := own, "", false
	for n := root; n != nil; n = facts.Following(root, n) {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.Body:
			body = true
			onload, _ := facts.Attribute(n, "onload")
			if scripted == "" {
				scripted = assigned(onload)
			}
		case n.DataAtom == atom.Base && !body:
			if href, ok := facts.Attribute(n, "href"); ok {
				base = base.Rebased(href)
			}
		case n.DataAtom == atom.Meta && !body:
			if is, _ := facts.Attribute(n, "http-equiv"); strings.EqualFold(strings.TrimSpace(is), "refresh") {
				content, _ := facts.Attribute(n, "content")
				return away(own, base.Resolve(target(content)), baseURL), n.Parent == nil || n.Parent.DataAtom != atom.Noscript
			}
		case n.DataAtom == atom.Script && n.FirstChild != nil && scripted == "":
			scripted = assigned(n.FirstChild.Data)
		}
	}
	if scripted == "" {
		return "", true
	}
	return away(own, base.Resolve(scripted), baseURL), true
}

// away is an address where it is that of another page of the web.
func away(own address.Base, to, baseURL string) string {
	if lower := strings.ToLower(to); !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") || own.SamePage(to) || to == baseURL {
		return ""
	}
	return to
}

const (
	place  = `(?:(?:window|document|self|top|parent|this)\.)*location`
	quoted = `\s*(?:"([^"\\<>\s]*)"|'([^'\\<>\s]*)')\s*`
)

// assignment is a script that is one statement, which gives the place of the page another address, written as it is.
var assignment = regexp.MustCompile(`^\s*(?:<!--[^\n]*\n\s*)?(?:` + place + `(?:\.href)?\s*=` + quoted + `|` + place + `\.(?:replace|assign)\(` + quoted + `\))\s*;?\s*(?://\s*-->)?\s*$`)

// assigned is the address that a script sends on to, if that is all that it does.
func assigned(script string) string {
	const longest = 4 << 10
	if len(script) > longest {
		return ""
	}
	found := assignment.FindStringSubmatch(script)
	return strings.Join(found[min(1, len(found)):], "") // of the ways to write it one is there
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
