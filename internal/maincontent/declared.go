// Declared: what a page says of itself to machines: JSON-LD, OpenGraph and other meta elements, time elements.

package maincontent

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Declared is what a page says of itself. Everything is the page's own words, white space collapsed and cut at 300
// characters, and empty where it says nothing.
type Declared struct {
	Title     string // the headline, without the site's name
	Byline    string // who wrote it; several names are parted by commas
	Date      string // when it was published, as the page writes it for machines
	Canonical string // its own address, as written
	Language  string // such as de or pt-BR
}

// The sorts of page that a page can say it is.
const (
	sortUnknown = iota
	sortArticle
	sortProduct
	sortForum
	sortList
	sortOther
)

// declared collects.
type declared struct {
	Declared
	sort       int
	ogTitle    string
	readScript int // bytes of JSON-LD that were read
}

const (
	longestWord   = 300       // characters of one value
	mostScript    = 256 << 10 // bytes of JSON-LD that are read of a page
	deepestObject = 12        // how deep JSON-LD is followed
	mostHeadNodes = 4096
)

// readHead reads what stands before the body.
func (d *declared) readHead(root *html.Node) {
	steps := 0
	for n := root; n != nil && steps < mostHeadNodes; steps++ {
		switch n.DataAtom {
		case atom.Html:
			if lang := facts.FirstAttribute(n, "lang", "xml:lang"); lang != "" {
				d.set(&d.Language, lang)
			}
		case atom.Body:
			return
		case atom.Meta:
			d.meta(n)
		case atom.Link:
			if rel, _ := facts.Attribute(n, "rel"); strings.EqualFold(rel, "canonical") {
				href, _ := facts.Attribute(n, "href")
				d.set(&d.Canonical, href)
			}
		case atom.Script:
			d.script(n)
		}
		n = facts.Following(root, n)
	}
}

// set fills in what nothing was said of before.
func (d *declared) set(field *string, value string) {
	if *field != "" || value == "" {
		return
	}
	value = strings.Join(strings.Fields(strings.ToValidUTF8(value[:min(len(value), 8*longestWord)], "")), " ")
	if utf8.RuneCountInString(value) > longestWord {
		value = string([]rune(value)[:longestWord])
	}
	*field = value
}

func (d *declared) meta(n *html.Node) {
	content := facts.FirstAttribute(n, "content")
	name := strings.ToLower(facts.FirstAttribute(n, "property", "name", "itemprop", "http-equiv"))
	switch name {
	case "og:title", "twitter:title", "dc.title", "citation_title":
		d.set(&d.ogTitle, content)
	case "author", "article:author", "dc.creator", "citation_author", "parsely-author", "sailthru.author":
		if !strings.Contains(content, "://") {
			d.set(&d.Byline, content)
		}
	case "article:published_time", "date", "dc.date", "dc.date.issued", "datepublished", "citation_publication_date", "parsely-pub-date", "pubdate", "publish-date":
		d.set(&d.Date, content)
	case "og:url":
		d.set(&d.Canonical, content)
	case "og:locale":
		d.set(&d.Language, strings.ReplaceAll(content, "_", "-"))
	case "content-language":
		d.set(&d.Language, content)
	case "og:type":
		if d.sort == sortUnknown {
			d.sort = openGraphSort(content)
		}
	}
}

func openGraphSort(kind string) int {
	switch kind = strings.ToLower(kind); {
	case kind == "article" || strings.HasPrefix(kind, "news") || kind == "blog":
		return sortArticle
	case strings.HasPrefix(kind, "product") || strings.HasPrefix(kind, "og:product"):
		return sortProduct
	case kind == "":
		return sortUnknown
	}
	return sortOther
}

// script reads JSON-LD.
func (d *declared) script(n *html.Node) {
	kind, _ := facts.Attribute(n, "type")
	if !strings.EqualFold(strings.TrimSpace(kind), "application/ld+json") || n.FirstChild == nil {
		return
	}
	text := n.FirstChild.Data
	if d.readScript += len(text); d.readScript > mostScript {
		return
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		d.object(v, 0)
	}
}

// object reads one value of JSON-LD. What describes the page comes before what it is a part of.
func (d *declared) object(v any, depth int) {
	if depth > deepestObject {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			d.object(e, depth+1)
		}
	case map[string]any:
		if sort := schemaSort(v["@type"]); sort != sortUnknown {
			if d.sort == sortUnknown || d.sort == sortOther || sort != sortOther && sort != sortList && d.sort == sortList {
				d.sort = sort
			}
			if sort == sortArticle || sort == sortForum || sort == sortProduct {
				d.describes(v, sort)
			}
		}
		for _, key := range []string{"@graph", "mainEntity", "mainEntityOfPage", "itemListElement"} {
			if key == "itemListElement" && depth > 2 {
				continue
			}
			d.object(v[key], depth+1)
		}
	}
}

func (d *declared) describes(v map[string]any, sort int) {
	for _, key := range []string{"headline", "name"} {
		if s, ok := v[key].(string); ok {
			d.set(&d.Title, s)
		}
	}
	if sort == sortProduct {
		return
	}
	var people []string
	people = peopleOf(v["author"], people, 0)
	d.set(&d.Byline, strings.Join(people, ", "))
	for _, key := range []string{"datePublished", "dateCreated"} {
		if s, ok := v[key].(string); ok {
			d.set(&d.Date, s)
		}
	}
	if s, ok := v["inLanguage"].(string); ok {
		d.set(&d.Language, s)
	}
}

func peopleOf(v any, people []string, depth int) []string {
	const most = 8
	if depth > 3 || len(people) >= most {
		return people
	}
	switch v := v.(type) {
	case string:
		if s := strings.TrimSpace(v); s != "" && !strings.Contains(s, "://") {
			return append(people, s)
		}
	case []any:
		for _, e := range v {
			people = peopleOf(e, people, depth+1)
		}
	case map[string]any:
		return peopleOf(v["name"], people, depth+1)
	}
	return people
}

// schemaSort is what a type of schema.org says of the page.
func schemaSort(v any) int {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	kind, _ := v.(string)
	kind = strings.TrimPrefix(strings.TrimPrefix(kind, "https://schema.org/"), "http://schema.org/")
	switch kind {
	case "Article", "NewsArticle", "BlogPosting", "TechArticle", "ScholarlyArticle", "Report", "Recipe", "HowTo", "ReportageNewsArticle",
		"AnalysisNewsArticle", "OpinionNewsArticle", "LiveBlogPosting", "Review", "MedicalWebPage":
		return sortArticle
	case "Product", "ProductGroup", "IndividualProduct", "Book", "Vehicle":
		return sortProduct
	case "QAPage", "Question", "DiscussionForumPosting":
		return sortForum
	case "ItemList", "CollectionPage", "OfferCatalog", "SearchResultsPage":
		return sortList
	case "":
		return sortUnknown
	case "WebPage", "WebSite", "Organization", "BreadcrumbList", "ImageObject", "Person", "SearchAction", "ListItem", "Corporation", "LocalBusiness":
		return sortUnknown
	}
	return sortOther
}

// finish fills in what the page's own elements say: its title element, and the first time of the selection.
func (d *declared) finish(title string) {
	if d.Title == "" {
		d.set(&d.Title, d.ogTitle)
	}
	d.set(&d.Title, title)
}
