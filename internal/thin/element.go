// What one element says of the page: where its text stands, and which marks it carries.

package thin

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attributes of one element that matter here, values cut and in lower case.
type attributes struct {
	id, class, role, typ, style, name string
	hidden                            bool
}

// element counts n and answers the place of its children.
func (r *reader) element(n *html.Node, at where) where {
	a := r.attributes(n)
	switch n.DataAtom {
	case atom.Script:
		return at | r.script(a)
	case atom.Style, atom.Iframe, atom.Svg:
		r.graphic(n, at)
		return at | skipped
	case atom.Template:
		return at | skipped
	case atom.Title:
		if at&skipped == 0 {
			r.titles++
		}
		return at | titleText
	case atom.Meta:
		r.meta(n)
		return at
	case atom.Link:
		if rel := attribute(n, "rel"); rel == "modulepreload" || rel == "preload" && attribute(n, "as") == "script" {
			r.preloads++
		}
		return at
	case atom.Noscript:
		return at | noscript
	case atom.Html, atom.Head:
		return at
	case atom.Body:
		return at
	}
	if at&(skipped|noscript) != 0 {
		return at
	}
	at |= r.region(n, a, at)
	if at&hiddenAway == 0 {
		if n.DataAtom == atom.Article {
			r.articles++
		}
		r.controls(n, a, at)
		at |= r.kind(n, a, at)
	}
	return at
}

func (r *reader) attributes(n *html.Node) attributes {
	var a attributes
	for _, attr := range n.Attr {
		value := strings.ToLower(cut(attr.Val, mostValue))
		switch attr.Key {
		case "id":
			a.id = value
		case "class":
			a.class = value
		case "role":
			a.role = value
		case "type":
			a.typ = value
		case "style":
			a.style = value
			continue
		case "name":
			a.name = value
		case "hidden":
			a.hidden = true
			continue
		case "src", "href", "action", "data-src", "data-sitekey", "data-translate":
		case "itemprop":
			if value == "isaccessibleforfree" && deniesAccess(n) {
				r.notFree = true
			}
			continue
		case "value":
			if n.DataAtom != atom.Input {
				continue
			}
			if t := attribute(n, "type"); t == "submit" || t == "button" {
				r.keep(&r.labelB, value, mostLabels)
				r.keep(&r.labelB, " · ", mostLabels)
			}
			continue
		default:
			continue
		}
		// Marks of challenge makers only matter on pages that carry little text.
		if r.prose <= shortPage {
			r.keep(&r.markupB, value, mostMarkup)
			r.keep(&r.markupB, " ", mostMarkup)
		}
	}
	return a
}

func attribute(n *html.Node, key string) string {
	for _, attr := range n.Attr {
		if attr.Key == key {
			return strings.ToLower(strings.TrimSpace(cut(attr.Val, mostValue)))
		}
	}
	return ""
}

// script counts what runs; data in script elements does not.
func (r *reader) script(a attributes) where {
	switch strings.TrimSpace(a.typ) {
	case "", "module", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
		"text/babel", "text/jsx":
		r.scripts++
		if r.prose > shortPage {
			return skipped
		}
		return script
	case "application/ld+json":
		return linkedData
	}
	return skipped
}

func (r *reader) graphic(n *html.Node, at where) {
	if n.DataAtom != atom.Iframe || at&(skipped|noscript|hiddenAway) != 0 {
		return
	}
	r.frames++
	r.picture(at)
}

func (r *reader) picture(at where) {
	r.media++
	if at&mount != 0 {
		r.mountMedia++
	}
}

func (r *reader) meta(n *html.Node) {
	name := attribute(n, "property")
	if name == "" {
		name = attribute(n, "name")
	}
	switch name {
	case "article:content_tier", "og:article:content_tier":
		r.notFree = r.notFree || attribute(n, "content") == "locked"
	case "isaccessibleforfree":
		r.notFree = r.notFree || deniesAccess(n)
	case "og:type":
		r.article = r.article || attribute(n, "content") == "article"
	}
}

// deniesAccess reads what an element says of whether the page is free to read.
func deniesAccess(n *html.Node) bool {
	said := attribute(n, "content")
	if said == "" {
		said = attribute(n, "href")
	}
	said = said[strings.LastIndexByte(said, '/')+1:]
	return said == "false" || said == "no"
}

var hidingStyle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)`)
})

// region: hidden, chrome, the page's own content, a consent box.
func (r *reader) region(n *html.Node, a attributes, at where) where {
	var own where
	if a.hidden || a.style != "" && hidingStyle().MatchString(a.style) || n.DataAtom == atom.Dialog && !has(n, "open") {
		own |= hiddenAway
	}
	landmark := true
	switch {
	case n.DataAtom == atom.Main, n.DataAtom == atom.Article, a.role == "main", a.role == "article":
		own |= ownContent
	case n.DataAtom == atom.Nav, n.DataAtom == atom.Aside, a.role == "navigation", a.role == "contentinfo",
		a.role == "banner", a.role == "complementary", a.role == "search":
		own |= chrome
	case n.DataAtom == atom.Header, n.DataAtom == atom.Footer:
		// A header within an article is its own, and a dialog has one too.
		if at&(ownContent|consentBox) == 0 {
			own |= chrome
		}
		return own
	default:
		landmark = false
	}
	if landmark {
		r.consentWraps = r.consentWraps || at&consentBox != 0
		return own
	}
	if (own|at)&hiddenAway != 0 || a.id == "" && a.class == "" {
		return own
	}
	consent, offer := boxNames(a)
	if consent {
		r.consentBox = true
		own |= consentBox
	}
	r.offerBox = r.offerBox || offer && at&chrome == 0
	return own
}

// kind: links, controls, headings, mounting points, and elements that are counted.
func (r *reader) kind(n *html.Node, a attributes, at where) where {
	if mountIDs[a.id] || a.role == "main" || n.DataAtom == atom.Main || customRoot(n) || has(n, "data-reactroot") || has(n, "ng-version") {
		r.mounts++
		return mount
	}
	switch n.DataAtom {
	case atom.A:
		if a.role == "button" || buttonClass().MatchString(a.class) {
			r.buttons++
			return button
		}
		return link
	case atom.Button, atom.Summary:
		r.buttons++
		return button
	case atom.Select, atom.Option, atom.Label, atom.Textarea, atom.Legend:
		return control
	case atom.Form:
		r.forms++
		return form
	case atom.H1, atom.H2, atom.H3:
		return heading
	case atom.Img, atom.Video, atom.Audio, atom.Canvas, atom.Object, atom.Embed, atom.Picture:
		r.picture(at)
	case atom.Pre, atom.Code, atom.Table, atom.Dl:
		r.technical++
	}
	if a.role == "button" {
		r.buttons++
		return button
	}
	if at&chrome == 0 && a.class != "" && containsAny(a.class, loaderNames) {
		r.skeletons++
		if at&mount != 0 {
			r.loaders++
		}
	}
	if at&chrome == 0 && isCaptcha(a.id, a.class) {
		r.widgets++
	}
	return 0
}

// customRoot is an element of the page's own making that stands for the whole page.
func customRoot(n *html.Node) bool {
	if n.DataAtom != 0 || n.Parent == nil || n.Parent.DataAtom != atom.Body {
		return false
	}
	first, last, dashed := strings.Cut(n.Data, "-")
	return dashed && (first == "app" || strings.HasSuffix(last, "root") || strings.HasSuffix(last, "app"))
}

func has(n *html.Node, key string) bool {
	for _, attr := range n.Attr {
		if attr.Key == key {
			return true
		}
	}
	return false
}

// controls counts what a person could fill in.
func (r *reader) controls(n *html.Node, a attributes, at where) {
	if at&chrome != 0 {
		return
	}
	switch n.DataAtom {
	case atom.Textarea:
		if !isCaptcha(a.id, a.class, a.name) {
			r.fields++
		}
	case atom.Input:
		switch strings.TrimSpace(a.typ) {
		case "hidden", "checkbox", "radio", "image", "reset":
		case "submit", "button":
			r.buttons++
		case "password":
			r.passwords++
			if strings.Contains(attribute(n, "autocomplete"), "new-password") {
				r.newPasswords++
			}
		default:
			if !isCaptcha(a.id, a.class, a.name) {
				r.fields++
			}
		}
	}
}

var notFree = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)"isAccessibleForFree"\s*:\s*"?\s*(?:false|no|https?://schema\.org/False)\b`)
})

// articleType is that of a page's one article; wordCount is how many words that has, and articleBody are they.
var (
	articleBody = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"articleBody"\s*:\s*("(?:[^"\\]|\\.)*")`)
	})
	articleType = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"@type"\s*:\s*\[?\s*"(?:[A-Za-z]*Article|BlogPosting|Report)"`)
	})
	wordCount = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"wordCount"\s*:\s*"?([0-9]{1,6})\b`)
	})
)

func (r *reader) linkedData(text string) {
	if r.data >= mostData {
		return
	}
	text = cut(text, mostData-r.data)
	r.data += len(text)
	r.notFree = r.notFree || notFree().MatchString(text)
	r.article = r.article || articleType().MatchString(text)
	r.listed = r.listed || strings.Contains(text, `"ItemList"`) || strings.Contains(text, `"CollectionPage"`)
	if found := wordCount().FindStringSubmatch(text); found != nil && r.declaredWords == 0 {
		r.declaredWords, _ = strconv.Atoi(found[1])
	}
	if !strings.Contains(text, `"articleBody"`) || r.bodyWords > 0 {
		return
	}
	if found := articleBody().FindStringSubmatch(text); found != nil {
		var body string
		spaced := strings.Map(func(c rune) rune { return max(c, ' ') }, found[1]) // many write line ends as they are, which JSON does not
		if json.Unmarshal([]byte(spaced), &body) == nil && !dotted(body) {
			r.bodyWords = countWords(tagless(body))
			r.declaredWords = max(r.declaredWords, r.bodyWords)
		}
	}
}
