// One pass over the tree: how much text stands where, and which marks of walls there are.

package thin

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of what one reading keeps, in bytes. Words are counted throughout; texts and markup are only needed of
// pages that are short, and of those the beginning shows what they are.
const (
	mostText    = 8 << 10   // of the page's own text
	mostLabels  = 2 << 10   // of its buttons, and of each heading list
	mostMarkup  = 256 << 10 // of addresses, ids, classes and inline scripts
	mostScript  = 64 << 10  // of one inline script
	mostValue   = 512       // of one attribute
	mostData    = 1 << 20   // of linked data
	mostHeading = 200       // of one heading or title
)

// reading is what the rules look at. All counts are words unless they say otherwise; all texts are folded.
type reading struct {
	prose    int // outside chrome, links, controls and consent boxes
	main     int // outside chrome and consent boxes, links and controls included
	all      int // everything that is shown
	outside  int // prose outside forms
	hidden   int // not shown until a script says so
	fallback int // in noscript
	consent  int // in consent boxes
	mounted  int // in mounting points of script frameworks

	scripts, mounts, media, mountMedia int // numbers of elements
	preloads, loaders                  int // links that fetch scripts ahead; elements that show that something loads
	skeletons                          int // such elements outside of chrome, in a mounting point or not
	passwords, newPasswords, fields    int // visible inputs outside chrome
	buttons, forms, frames, widgets    int
	technical                          int // pre, code, table, dl: a page that explains something

	title, headings, text, labels, noscript string
	links                                   string // labels of links outside of chrome
	firstLine                               string // the first piece of the page's own text

	consentBox, consentWraps bool // there is one; one holds the page's own landmarks, so it wraps the page
	offerBox                 bool // an element that its class or id calls a paywall
	notFree                  bool // the page's data say that it is not free to read
	article                  bool // the page's data say that it is one article
	articles                 int  // elements
	broken                   int  // long paragraphs that end in dots
	breaksOff                bool // the last long paragraph does
	declaredWords            int  // that it has by its data; 0 where they do not say
	bodyWords                int  // of the article's whole text in them; 0 for none
	markup                   string
}

// where is the place of a node: what its ancestors and itself say about it.
type where uint16

const (
	skipped where = 1 << iota
	hiddenAway
	chrome
	ownContent // main or article: a header in there is no chrome
	link
	control
	button
	consentBox
	noscript
	heading
	mount
	form
	titleText
	linkedData
	script
)

type reader struct {
	reading
	titles                                    int
	titleB, headingB, textB, labelB, noscripB strings.Builder
	linkB                                     strings.Builder
	listed                                    bool // the page's data list several things
	markupB                                   strings.Builder
	data                                      int // bytes of linked data looked at
	paragraph                                 int // words of prose since the last line ended
	tail                                      string
}

// read goes through the tree with its own stack, so depth costs memory and never the goroutine's stack.
func read(root *html.Node) *reading {
	r := &reader{}
	places := []where{0}
	for n := root; ; {
		place := r.enter(n, places[len(places)-1])
		if n.FirstChild != nil {
			places = append(places, place)
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			places = places[:len(places)-1]
			if r.closesLine(n) {
				r.endLine(places[len(places)-1])
			}
		}
		if n == root {
			return r.done()
		}
		n = n.NextSibling
	}
}

func (r *reader) done() *reading {
	r.title = fold(r.titleB.String())
	r.headings = fold(r.headingB.String())
	r.text = fold(r.textB.String())
	r.labels = fold(r.labelB.String())
	r.links = fold(r.linkB.String())
	r.article = r.article && !r.listed
	r.noscript = fold(r.noscripB.String())
	r.firstLine, _, _ = strings.Cut(r.text, "\n")
	if r.prose <= challengeText { // nobody asks for it otherwise
		r.markup = strings.ToLower(r.markupB.String())
	}
	return &r.reading
}

// enter takes one node in and answers the place of what is under it.
func (r *reader) enter(n *html.Node, at where) where {
	switch n.Type {
	case html.TextNode:
		r.words(n, at)
	case html.ElementNode:
		return r.element(n, at)
	}
	return at
}

func (r *reader) words(n *html.Node, at where) {
	switch {
	case at&linkedData != 0:
		r.linkedData(n.Data)
		return
	case at&script != 0:
		r.keep(&r.markupB, cut(n.Data, mostScript), mostMarkup)
		return
	case at&titleText != 0:
		if r.titles == 1 {
			r.keep(&r.titleB, n.Data, mostHeading)
		}
		return
	case at&skipped != 0:
		return
	}
	text := n.Data
	if at&noscript != 0 {
		// A parser that expects scripts to run keeps the tags of noscript as text.
		if n.Parent != nil && n.Parent.DataAtom == atom.Noscript {
			text = tagless(text)
		}
		r.fallback += countWords(text)
		r.keep(&r.noscripB, text, mostLabels)
		return
	}
	count := countWords(text)
	if at&hiddenAway != 0 {
		r.hidden += count
		return
	}
	r.all += count
	if at&mount != 0 {
		r.mounted += count
	}
	if at&heading != 0 && at&chrome == 0 {
		r.keep(&r.headingB, text, mostLabels)
	}
	if at&button != 0 {
		r.keep(&r.labelB, text, mostLabels)
	}
	if at&chrome != 0 {
		return
	}
	r.keep(&r.textB, text, mostText)
	if count > 0 || r.paragraph > 0 && strings.TrimSpace(text) != "" {
		r.tail = text
	}
	if at&link != 0 {
		r.keep(&r.linkB, text, mostText)
		r.keep(&r.linkB, " · ", mostText)
	}
	if at&consentBox != 0 {
		r.consent += count
		return
	}
	r.main += count
	if at&(link|control|button) == 0 {
		r.prose += count
		r.paragraph += count
		if at&form == 0 {
			r.outside += count
		}
	}
}

// keep appends what the bound leaves room for.
func (r *reader) keep(b *strings.Builder, text string, most int) {
	if room := most - b.Len(); room > 0 {
		b.WriteString(strings.ReplaceAll(cut(text, room), "\n", " "))
	}
}

// closesLine tells blocks from inline elements: after a block, words belong to another line.
func (r *reader) closesLine(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Em, atom.Font, atom.I, atom.Kbd,
		atom.Mark, atom.Q, atom.S, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var:
		return false
	}
	return true
}

func (r *reader) endLine(at where) {
	if at&(skipped|hiddenAway|noscript) != 0 {
		return
	}
	const long = 25 // words of a paragraph that is more than a label or a headline
	if r.paragraph >= long {
		if r.breaksOff = dotted(r.tail); r.breaksOff {
			r.broken++
		}
	}
	r.paragraph, r.tail = 0, ""
	for _, b := range []*strings.Builder{&r.textB, &r.headingB, &r.labelB} {
		if b.Len() > 0 && b.Len() < mostText {
			b.WriteByte('\n')
		}
	}
}

// dotted says that a text ends in dots, as one does that goes on elsewhere.
func dotted(text string) bool {
	text = strings.TrimRight(text, " \t\n\r\u00a0\"'”’»)]")
	return strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…")
}

// cut shortens to at most n bytes without breaking a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
