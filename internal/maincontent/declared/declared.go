// Package declared reads what a page says of itself to machines: JSON-LD, OpenGraph and other meta elements.
//
// The one rule: it is the page's word, cut and never believed; who uses it knows that a page may say anything.
package declared

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Facts are what a page says of itself. Everything is the page's own words, white space collapsed and cut at 300
// characters, and empty where it says nothing.
type Facts struct {
	Title     string // the headline, without the site's name
	Byline    string // who wrote it; several names are parted by commas
	Date      string // when it was published, as the page writes it for machines
	Canonical string // its own address, as written
	Language  string // such as de or pt-BR
}

// Sort is what a page says that it is.
type Sort int

// The sorts.
const (
	Unknown Sort = iota
	Article
	Product
	Forum
	List
	Other
)

// Reader collects. The zero value is ready.
type Reader struct {
	Facts
	Sort       Sort
	ogTitle    string
	readScript int // bytes of JSON-LD that were read
	texts      []string
	textBytes  int
	summary    string
	product    string
	article    string
	articles   int
	paid       bool // something of it is not free to read
	recipe     bool
}

// Recipe says that the page declares itself, or a part of it, to be a recipe or instructions: their ingredients and
// steps are among [Reader.Texts].
func (d *Reader) Recipe() bool { return d.recipe }

// Article is the text of the one article that the page says it is, as the page writes it; empty where it says none, or more than one,
// and where it says of anything that it is not free to read.
func (d *Reader) Article() string {
	if d.Sort != Article || d.articles != 1 || d.paid {
		return ""
	}
	return d.article
}

// Product is the description of the one product that the page says it is about, as the page writes it, which may be as
// HTML; empty where it says none.
func (d *Reader) Product() string {
	if d.Sort != Product {
		return ""
	}
	return d.product
}

// Texts are what the page says to machines that its content is: descriptions of products, bodies of articles and posts,
// answers; as the page writes them, which may be as HTML. Together they are cut at 128 KB.
func (d *Reader) Texts() []string { return d.texts }

// Summary is what the page says in a sentence or two for lists of pages, empty where it says nothing.
func (d *Reader) Summary() string { return d.summary }

const (
	longestWord   = 300       // characters of one value
	mostScript    = 256 << 10 // bytes of JSON-LD that are read of a page
	deepestObject = 12        // how deep JSON-LD is followed
	mostHeadNodes = 4096
	leastText     = 60        // bytes of a text that is worth knowing
	mostTexts     = 128 << 10 // bytes of texts together
)

// ReadHead reads what stands before the body.
func (d *Reader) ReadHead(root *html.Node) {
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
			d.Script(n)
		}
		n = facts.Following(root, n)
	}
}

// set fills in what nothing was said of before.
func (d *Reader) set(field *string, value string) {
	if *field != "" || value == "" {
		return
	}
	value = strings.Join(strings.Fields(strings.ToValidUTF8(value[:min(len(value), 8*longestWord)], "")), " ")
	if utf8.RuneCountInString(value) > longestWord {
		value = string([]rune(value)[:longestWord])
	}
	*field = value
}

func (d *Reader) meta(n *html.Node) {
	content := facts.FirstAttribute(n, "content")
	name := strings.ToLower(facts.FirstAttribute(n, "property", "name", "itemprop", "http-equiv"))
	switch name {
	case "og:title", "twitter:title", "dc.title", "citation_title":
		d.set(&d.ogTitle, content)
	case "description", "og:description":
		d.set(&d.summary, content)
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
		if d.Sort == Unknown {
			d.Sort = openGraphSort(content)
		}
	}
}

func openGraphSort(kind string) Sort {
	switch kind = strings.ToLower(kind); {
	case kind == "article" || strings.HasPrefix(kind, "news") || kind == "blog":
		return Article
	case strings.HasPrefix(kind, "product") || strings.HasPrefix(kind, "og:product"):
		return Product
	case kind == "":
		return Unknown
	}
	return Other
}

// Script reads JSON-LD.
func (d *Reader) Script(n *html.Node) {
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
		d.findTexts(v, 0)
	}
}

// findTexts notes the texts of what is not the site, a person or a medium.
func (d *Reader) findTexts(v any, depth int) {
	if depth > deepestObject {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			d.findTexts(e, depth+1)
		}
	case map[string]any:
		switch free := v["isAccessibleForFree"].(type) {
		case bool:
			d.paid = d.paid || !free
		case string:
			d.paid = d.paid || strings.EqualFold(free, "false")
		}
		switch kindOf(v["@type"]) {
		case "WebSite", "WebPage", "Organization", "Corporation", "LocalBusiness", "Store", "Person", "VideoObject", "ImageObject", "Offer", "Brand":
		default:
			for _, key := range []string{"articleBody", "text", "description"} {
				if s, ok := v[key].(string); ok && len(s) >= leastText && d.textBytes+len(s) <= mostTexts {
					if d.product == "" && key == "description" && schemaSort(v["@type"]) == Product {
						d.product = s
					}
					if key == "articleBody" && s != d.article {
						d.article = s
						d.articles++
					}
					d.texts = append(d.texts, s)
					d.textBytes += len(s)
				}
			}
		}
		d.readRecipe(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch v[key].(type) {
			case []any, map[string]any:
				d.findTexts(v[key], depth+1)
			}
		}
	}
}

// readRecipe notes the ingredients and steps of a recipe: each is short, but a list of them is what the page is read for.
func (d *Reader) readRecipe(v map[string]any) {
	switch kindOf(v["@type"]) {
	case "Recipe", "HowTo":
	default:
		return
	}
	var lines []string
	for _, key := range []string{"recipeIngredient", "ingredients", "supply", "tool", "recipeInstructions", "step"} {
		lines = linesOf(v[key], lines, 0)
	}
	text := strings.Join(lines, "\n")
	if text == "" || d.textBytes+len(text) > mostTexts {
		return
	}
	d.recipe = true
	d.texts = append(d.texts, text)
	d.textBytes += len(text)
}

// linesOf are the strings that a list of things or of steps says, in their order; sections hold further lists.
func linesOf(v any, lines []string, depth int) []string {
	const most = 400
	if depth > 4 || len(lines) >= most {
		return lines
	}
	switch v := v.(type) {
	case string:
		return append(lines, v)
	case []any:
		for _, e := range v {
			lines = linesOf(e, lines, depth+1)
		}
	case map[string]any:
		for _, key := range []string{"name", "text", "itemListElement"} {
			lines = linesOf(v[key], lines, depth+1)
		}
	}
	return lines
}

// object reads one value of JSON-LD. What describes the page comes before what it is a part of.
func (d *Reader) object(v any, depth int) {
	if depth > deepestObject {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			d.object(e, depth+1)
		}
	case map[string]any:
		if sort := schemaSort(v["@type"]); sort != Unknown {
			if d.Sort == Unknown || d.Sort == Other || sort != Other && sort != List && d.Sort == List {
				d.Sort = sort
			}
			if sort == Article || sort == Forum || sort == Product {
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

func (d *Reader) describes(v map[string]any, sort Sort) {
	for _, key := range []string{"headline", "name"} {
		if s, ok := v[key].(string); ok {
			d.set(&d.Title, s)
		}
	}
	if sort == Product {
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
func schemaSort(v any) Sort {
	switch kindOf(v) {
	case "Article", "NewsArticle", "BlogPosting", "TechArticle", "ScholarlyArticle", "Report", "Recipe", "HowTo", "ReportageNewsArticle",
		"AnalysisNewsArticle", "OpinionNewsArticle", "LiveBlogPosting", "Review", "MedicalWebPage":
		return Article
	case "Product", "ProductGroup", "IndividualProduct", "Book", "Vehicle":
		return Product
	case "QAPage", "Question", "DiscussionForumPosting":
		return Forum
	case "ItemList", "CollectionPage", "OfferCatalog", "SearchResultsPage":
		return List
	case "":
		return Unknown
	case "WebPage", "WebSite", "Organization", "BreadcrumbList", "ImageObject", "Person", "SearchAction", "ListItem", "Corporation", "LocalBusiness":
		return Unknown
	}
	return Other
}

// kindOf is the first of the types, without the address of the vocabulary.
func kindOf(v any) string {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	kind, _ := v.(string)
	return strings.TrimPrefix(strings.TrimPrefix(kind, "https://schema.org/"), "http://schema.org/")
}

// Finish fills in what the page's own elements say: its title element, and the first time of the selection.
func (d *Reader) Finish(title string) {
	if d.Title == "" {
		d.set(&d.Title, d.ogTitle)
	}
	d.set(&d.Title, title)
}
