// What one element says of the page: where its text stands, and which marks it carries.

package thin

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// attributes of one element that matter here, values cut and in lower case.
type attributes struct {
	id, class, role, typ, style, name string
	hidden, password                  bool
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
	content := attribute(n, "content")
	switch {
	case attribute(n, "itemprop") == "isaccessibleforfree" && (content == "false" || content == "no"),
		attribute(n, "property") == "article:content_tier" && content == "locked":
		r.notFree = true
	}
}

var hidingStyle = regexp.MustCompile(`(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)`)

// region: hidden, chrome, the page's own content, a consent box.
func (r *reader) region(n *html.Node, a attributes, at where) where {
	var own where
	if a.hidden || a.style != "" && hidingStyle.MatchString(a.style) || n.DataAtom == atom.Dialog && !has(n, "open") {
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

// consentManagers begin the ids and classes of consent managers, by their first letter.
var consentManagers = byFirst("cc-window", "cc-banner", "cmpbox", "cmpwrapper", "cmp-banner", "cybot", "cookiebot", "cmplz", "onetrust", "ot-sdk",
	"osano", "didomi", "usercentrics", "uc-banner", "qc-cmp", "truste", "termly", "tarteaucitron", "iubenda", "sp_message", "sp-message",
	"sourcepoint", "fc-consent", "klaro", "borlabs", "axeptio")

// consentName is a token that names a box for consent.
var consentName = regexp.MustCompile(`^(?:cookies?|consent|gdpr|ccpa)|` +
	`(?:^|[-_])(?:cookies?|consent|gdpr)(?:[-_]?(?:wall|banner|box|bar|notice|popup|modal|dialog|layer|overlay|message|form|window|container|manager|wrapper|root))?$`)

// offerName is a token of a box that stands where the text is cut.
var offerName = regexp.MustCompile(`(?:^|[-_])(?:paywall|paygate|pay-wall|pay-gate|regwall|reg-wall|tp-modal|tp-container-inner|piano-paywall|piano-container|` +
	`subscription-wall|subscriber-wall|subscribe-wall|subscribers?-only|metered|meteredcontent|premium-wall|plus-wall|gated)(?:[-_]|$)`)

// switches begin class names that say a state, mostly of something that wraps the whole page.
var switches = regexp.MustCompile(`^(?:has|no|is|with|js|show|hide|not|needs|accepts?)[-_]`)

// boxNames tells whether an element is named as a consent box or as a box where the text is cut. Plain searches
// come before the expressions: pages have tens of thousands of names.
func boxNames(a attributes) (consent, offer bool) {
	for token := range strings.FieldsSeq(a.id + " " + a.class) {
		for _, prefix := range consentManagers[token[0]] {
			consent = consent || strings.HasPrefix(token, prefix)
		}
		asks := strings.Contains(token, "cookie") || strings.Contains(token, "consent") || strings.Contains(token, "gdpr") || strings.Contains(token, "ccpa")
		cuts := strings.Contains(token, "wall") || strings.Contains(token, "gate") || strings.Contains(token, "meter") ||
			strings.Contains(token, "only") || strings.Contains(token, "tp-") || strings.Contains(token, "piano-")
		if !asks && !cuts || switches.MatchString(token) {
			continue
		}
		consent = consent || asks && consentName.MatchString(token)
		offer = offer || cuts && offerName.MatchString(token)
	}
	return consent, offer
}

func byFirst(names ...string) map[byte][]string {
	m := map[byte][]string{}
	for _, name := range names {
		m[name[0]] = append(m[name[0]], name)
	}
	return m
}

// mountIDs are the mounting points that frameworks' own templates use.
var mountIDs = map[string]bool{
	"root": true, "app": true, "__next": true, "__nuxt": true, "___gatsby": true, "react-root": true, "reactroot": true,
	"main-app": true, "app-root": true, "approot": true, "app-mount": true, "mount": true, "q-app": true, "svelte": true,
	"application": true, "app-container": true, "app_container": true, "react-app": true, "vue-app": true, "spa": true,
	"ember-app": true, "blazor-app": true, "flutter-app": true, "layout-root": true, "page-root": true, "single-spa": true,
	"single-spa-application": true, "elm": true, "redwood-app": true, "storybook-root": true, "solid-root": true,
}

// kind: links, controls, headings, mounting points, and elements that are counted.
func (r *reader) kind(n *html.Node, a attributes, at where) where {
	if mountIDs[a.id] || a.role == "main" || n.DataAtom == atom.Main || customRoot(n) || has(n, "data-reactroot") || has(n, "ng-version") {
		r.mounts++
		return mount
	}
	switch n.DataAtom {
	case atom.A:
		if a.role == "button" || buttonClass.MatchString(a.class) {
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
	if at&mount != 0 && containsAny(a.class, loaderNames) {
		r.loaders++
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

var buttonClass = regexp.MustCompile(`(?:^|\s)(?:btn|button)(?:[-_\s]|$)`)

func has(n *html.Node, key string) bool {
	for _, attr := range n.Attr {
		if attr.Key == key {
			return true
		}
	}
	return false
}

// loaderNames are in the classes of elements that stand in for content while scripts fetch it.
var loaderNames = []string{"loader", "loading", "spinner", "splash", "skeleton"}

// isCaptcha knows the ids and classes of captcha widgets.
func isCaptcha(names ...string) bool {
	for _, name := range names {
		for _, maker := range captchas {
			if strings.Contains(name, maker) {
				return true
			}
		}
	}
	return false
}

var captchas = []string{"captcha", "cf-turnstile", "geetest", "arkose", "altcha"}

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

var notFree = regexp.MustCompile(`(?i)"isAccessibleForFree"\s*:\s*"?\s*(?:false|no|https?://schema\.org/False)\b`)

func (r *reader) linkedData(text string) {
	if r.notFree || r.data >= mostData {
		return
	}
	text = cut(text, mostData-r.data)
	r.data += len(text)
	r.notFree = notFree.MatchString(text)
}
