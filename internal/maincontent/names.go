// Names: what the words of class, id, role and itemprop, and the element's own name, say of a part of a page.

package maincontent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// names are the meanings of an element's names, as bits: the first are words that pages choose, the others elements.
type names uint64

// The meanings of words.
const (
	nameNav names = 1 << iota
	nameHead
	nameFoot
	nameSide
	nameRelated
	nameShare
	nameAd
	nameConsent
	nameComment
	namePost
	nameArticle
	nameProduct
	nameItem
	nameMeta
	nameTag
	namePager
	nameCrumb
	nameForm
	nameContents
	nameHidden
	nameTitle
	nameReview
	nameMedia
	nameDescription
	nameAction
	nameHero
	nameUser
	nameNote
	namePopup
	nameMore

	// The meanings of elements.
	tagNav
	tagHeader
	tagFooter
	tagAside
	tagMain
	tagArticle
	tagSection
	tagForm
	tagTable
	tagList
	tagItem
	tagDefinitions
	tagQuote
	tagFigure
	tagDetails
	tagDialog
	tagParagraph
	tagHeading
	tagCell
	tagLink
	tagButton
	tagCode
	tagLabel
	tagNoscript

	countNames = iota
)

// Words that the rules go by. They are no features, so that the rules can change while the trees stay.
const (
	wordFurniture names = 1 << (countNames + iota)
	wordTopic           // that a part may bear for what it is about, too
	wordLinky           // that mostly stand over links
	wordComments
	wordCallout
	wordPager
	wordConsent
	wordRecipe
)

// meaningOf is what each word says.
var meaningOf = meanings()

// meanings lists the words of each name, in lower case. They are the words that makers of pages use whatever the
// language of their text; a few of other languages are among them.
func meanings() map[string]names {
	m := map[string]names{}
	for _, g := range []struct {
		is    names
		words string
	}{
		{nameNav, "nav navbar navigation menu menus submenu topnav sitenav mainmenu megamenu navi menubar dropdown drawer hamburger navlinks"},
		{nameHead, "header masthead banner head topbar top toolbar siteheader pageheader logo branding"},
		{nameFoot, "footer foot bottom colophon copyright legal sitefooter disclaimer"},
		{nameSide, "sidebar aside side rail secondary complementary widget widgets sidenav leftcol rightcol offcanvas"},
		{nameRelated, "related recommended recommendations recommend recommendation similar trending popular suggested suggestions upsell crosssell recirc recirculation recent latest teaser teasers also youmaylike readnext"},
		{nameShare, "share sharing social socials sharebar sharedaddy follow shares socialmedia facebook twitter pinterest whatsapp"},
		{nameAd, "ad ads advert advertisement adverts advertising sponsor sponsored promo promotion promotions werbung anzeige publicidad advertorial affiliate"},
		{nameConsent, "cookie cookies consent gdpr ccpa privacy cookiebanner"},
		{nameComment, "comment comments commentlist disqus respond replies commenting"},
		{namePost, "post message thread topic answer question forum qa reply posts messages topics answers discussion msg"},
		{nameArticle, "article entry story content body text main articlebody prose markdown richtext rte copy contents editorial entrycontent wysiwyg"},
		{nameProduct, "product products price prices pricing sku specs spec specification specifications cart buy stock shop offer variant"},
		{nameItem, "card cards item items grid tile tiles list listing listings result results row entries collection catalog"},
		{nameMeta, "meta byline author authors date time published timestamp dateline posted credit credits writer updated"},
		{nameTag, "tag tags category categories taxonomy tagcloud keywords badge badges label labels chip chips"},
		{namePager, "pagination pager pages prev next previous paging paginate pagenav"},
		{nameCrumb, "breadcrumb breadcrumbs crumb crumbs breadcrumblist"},
		{nameForm, "newsletter subscribe subscription signup login signin search form register optin captcha searchbox input contact"},
		{nameContents, "toc tableofcontents outline onthispage jumplinks index"},
		{nameHidden, "hidden hide sr screen reader visuallyhidden invisible collapsed offscreen skip skiplink noprint print only"},
		{nameTitle, "title heading headline name subtitle caption"},
		{nameReview, "review reviews rating ratings testimonial testimonials feedback stars star score"},
		{nameMedia, "image images img gallery figure video photo photos slider carousel slideshow swiper media thumbnail thumb player slide picture"},
		{nameDescription, "description desc summary excerpt overview details detail intro lead faq accordion tab tabs panel about info features feature"},
		{nameAction, "btn button buttons cta actions action link links control controls icon icons options option"},
		{nameHero, "hero section block container wrapper module component"},
		{nameUser, "user profile member signature avatar bio votes vote karma stats stat userinfo postprofile participant"},
		{nameNote, "note warning tip important admonition callout notice caution danger hint example footnote footnotes infobox sidenote pullquote reference references reflist"},
		{namePopup, "modal popup overlay dialog lightbox tooltip toast alert popover flyout interstitial paywall"},
		{wordFurniture, "breadcrumb breadcrumbs navbar sharebar sharedaddy advert advertisement adverts advertising werbung sponsor sponsored navigation skiplink masthead sitenav siteheader sitefooter pagination pager popup modal lightbox offcanvas tooltip alsobought relatedposts relatedarticles printhidden noprint sidenav"},
		{wordTopic, "share sharing social socials newsletter subscribe promo promotion"},
		{wordLinky, "nav menu menus sidebar sidebarleft sidebarright footer topbar toolbar related recommended recommendations recommend popular trending also more toc tags tagcloud widget widgets links banner ads ad rail aside secondary complementary"},
		{wordComments, "comments commentlist disqus respond replies discussioncomments commentsarea commentssection"},
		{wordCallout, "note warning tip important admonition callout notice info caution danger hint example pullquote sidenote footnote footnotes infobox"},
		{wordRecipe, "ingredients recipeingredient recipeingredients recipeinstructions"},
		{wordPager, "pager pagination prev next nav"},
		{wordConsent, "cookie cookies consent gdpr cookiebanner"},
		{nameMore, "more readmore seemore loadmore viewall showmore all extra additional"},
	} {
		for w := range strings.FieldsSeq(g.words) {
			m[w] |= g.is
		}
	}
	return m
}

// roles are the meanings of role attributes.
func roleNames(role string) names {
	switch role {
	case "navigation", "menu", "menubar", "tablist", "toolbar":
		return nameNav | tagNav
	case "banner":
		return nameHead | tagHeader
	case "contentinfo":
		return nameFoot | tagFooter
	case "complementary":
		return nameSide | tagAside
	case "search":
		return nameForm
	case "dialog", "alertdialog":
		return namePopup | tagDialog
	case "main":
		return tagMain
	case "article":
		return tagArticle
	case "list":
		return tagList
	case "listitem":
		return tagItem
	case "heading":
		return tagHeading
	case "button":
		return tagButton
	case "note", "doc-footnote", "doc-endnotes":
		return nameNote
	}
	return 0
}

func tagNames(a atom.Atom) names {
	switch a {
	case atom.Nav, atom.Menu:
		return tagNav
	case atom.Header:
		return tagHeader
	case atom.Footer:
		return tagFooter
	case atom.Aside:
		return tagAside
	case atom.Main:
		return tagMain
	case atom.Article:
		return tagArticle
	case atom.Section:
		return tagSection
	case atom.Form:
		return tagForm
	case atom.Table:
		return tagTable
	case atom.Ul, atom.Ol:
		return tagList
	case atom.Li:
		return tagItem
	case atom.Dl, atom.Dt, atom.Dd:
		return tagDefinitions
	case atom.Blockquote:
		return tagQuote
	case atom.Figure, atom.Figcaption:
		return tagFigure
	case atom.Details, atom.Summary:
		return tagDetails
	case atom.Dialog:
		return tagDialog
	case atom.P:
		return tagParagraph
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return tagHeading
	case atom.Td, atom.Th:
		return tagCell
	case atom.A:
		return tagLink
	case atom.Button:
		return tagButton
	case atom.Pre, atom.Code:
		return tagCode
	case atom.Label, atom.Legend:
		return tagLabel
	case atom.Noscript:
		return tagNoscript
	}
	return 0
}

// vocabulary knows the words, and the values that this page has used so far: pages repeat theirs hundreds of times.
type vocabulary struct {
	words map[string]names
	seen  map[string]spelled
}

// spelled is what one value of class or id says.
type spelled struct {
	is names
	id uint32 // tells this value from the page's others
}

const longestValue = 300 // bytes of an attribute that are looked at

func (v *vocabulary) read(value string) spelled {
	if s, ok := v.seen[value]; ok {
		return s
	}
	s := spelled{id: uint32(len(v.seen)) + 1}
	looked := value[:min(len(value), longestValue)]
	for token := range strings.FieldsSeq(looked) {
		if token == "code-toolbar" { // a highlighter's name for the block that holds both
			continue
		}
		for part := range parts(token) {
			s.is |= v.word(part)
		}
	}
	v.seen[value] = s
	return s
}

func (v *vocabulary) word(w string) names {
	const longest = 20
	if len(w) > longest {
		return 0
	}
	var buf [longest]byte
	for i := range len(w) {
		buf[i] = w[i]
		if 'A' <= w[i] && w[i] <= 'Z' {
			buf[i] |= 0x20
		}
	}
	return v.words[string(buf[:len(w)])]
}

// namesOf reads an element's names, and which class it has among the page's.
func (v *vocabulary) namesOf(n *html.Node) (is names, class uint32) {
	is = tagNames(n.DataAtom)
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "class":
			s := v.read(a.Val)
			is |= s.is
			class = s.id
			if n.DataAtom == atom.Aside && quotes(a.Val) {
				is |= wordCallout
			}
		case "id":
			if !spelledOut(n, a.Val) {
				is |= v.read(a.Val).is
			}
		case "itemprop", "data-testid", "data-component":
			is |= v.read(a.Val).is
		case "role":
			is |= roleNames(a.Val)
		}
	}
	return is, class
}

// spelledOut says that an id is made of what the text is about, and so says nothing of what the element is for: of a term that is
// explained, of a symbol of a program, or of a section whose heading has a link to it.
func spelledOut(n *html.Node, id string) bool {
	if n.DataAtom == atom.Dt || strings.ContainsAny(id, ".(") {
		return true
	}
	const near = 8 // nodes in which a section's heading begins, and its link stands
	c := facts.Following(n, n)
	for i := 0; c != nil && tagNames(c.DataAtom) != tagHeading; i++ {
		if i == near || c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			return false
		}
		c = facts.Following(n, c)
	}
	if c == nil {
		return false
	}
	heading := c
	for i := 0; c != nil && i < near; i++ {
		if href, ok := facts.Attribute(c, "href"); ok && c.DataAtom == atom.A && strings.HasPrefix(href, "#") && href[1:] == id {
			return true
		}
		c = facts.Following(heading, c)
	}
	return false
}

// quotes says that a class is what forums name an aside by in which a post quotes another, or shows what a link leads to.
func quotes(class string) bool {
	first, _, _ := strings.Cut(class, " ")
	return first == "quote" || first == "onebox"
}

// parts splits "siteHeader-topBar" into site, Header, top, Bar, and gives the run of them without what parts them too,
// where it has two: "read-more" is also "readmore".
func parts(token string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start, lower, found := 0, false, 0
		for i := 0; i < len(token); {
			r, size := rune(token[i]), 1
			if r >= utf8.RuneSelf {
				r, size = utf8.DecodeRuneInString(token[i:])
			}
			switch {
			case !unicode.IsLetter(r):
				if i > start {
					found++
					if !yield(token[start:i]) {
						return
					}
				}
				start, lower = i+size, false
			case unicode.IsUpper(r) && lower:
				found++
				if !yield(token[start:i]) {
					return
				}
				start, lower = i, false
			default:
				lower = unicode.IsLower(r)
			}
			i += size
		}
		if start < len(token) {
			found++
			if !yield(token[start:]) {
				return
			}
		}
		if found > 1 && found < 5 && len(token) < 24 {
			yield(strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) {
					return r
				}
				return -1
			}, token))
		}
	}
}
