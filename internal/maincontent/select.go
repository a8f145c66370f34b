// Selecting: from the blocks' scores to the nodes that are left out.

package maincontent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/maincontent/declared"
	"github.com/wayleave/wayleave/internal/maincontent/forest"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// Selection is the main content of one page.
type Selection struct {
	// Letters and PageLetters are the letters of text in the selection and on the page; a Chinese character counts as
	// three.
	Letters, PageLetters int
	// Declared is what the page says of itself.
	Declared declared.Facts
	// Undisclosed is the description of the page's one product that the page declares to machines and shows nowhere, as the
	// page writes it, which may be as HTML; mostly empty.
	Undisclosed string
	// Article is the text of the page's one article, where the page declares that to machines and shows next to nothing at all;
	// mostly empty.
	Article string

	dropped  map[*html.Node]struct{}
	inText   map[*html.Node]struct{} // links
	prose    int                     // letters of the page's running text
	plain    int                     // letters outside of links, in the selection and on the page
	allPlain int
	promised int  // letters of content that the scores promised before the rules
	whole    bool // nearly all of what the page calls its main part is kept
}

// Drop tells whether n and all below it are left out. It is to be asked of parents before their children.
func (s Selection) Drop(n *html.Node) bool {
	_, dropped := s.dropped[n]
	return dropped
}

// InText tells whether a link stands within running text or names who wrote something, so that its address is of less use
// than that of an item, a card or a heading.
func (s Selection) InText(link *html.Node) bool {
	_, in := s.inText[link]
	return in
}

const (
	longArticle  = 300 // bytes of an article that is worth showing in place of a page
	shellLetters = 120 // of a page that shows next to nothing: its name, and that it is loading
)

// Thin tells that the selection holds so little of the page's text that the whole page is the safer answer.
func (s Selection) Thin() bool {
	const leastPart, leastProse = 3, 25 // of what was promised, and of the running text: one part in so many
	// A page that costs little as a whole is shown rather than next to nothing of its text outside of links.
	const small, leastPlain, leastLetters = 1500, 5, 3 // letters; one part in so many
	if !s.whole && s.PageLetters < small && s.plain*leastPlain < s.allPlain && s.Letters*leastLetters < s.PageLetters {
		return true
	}
	return s.Letters*leastPart < s.promised || s.Letters*leastProse < s.prose || s.Letters == 0 && s.PageLetters > 0
}

// leastCut and mostCut bound the score from which blocks are kept.
const leastCut, mostCut = 0.1, 0.5

func (f *finder) cut(scores []float32) float32 {
	at := cut(scores, f.ints.take(len(scores)), func(i int) float64 { return float64(f.blocks[i].words) })
	return min(max(at, leastCut), mostCut)
}

// Find looks for the main content below root. It visits each node a fixed number of times, whatever the page.
func Find(root *html.Node) Selection {
	d := desks.Get().(*desk)
	defer d.leave()
	f := newFinder(root, d)
	scores := f.scores()
	promised := int(f.expected(scores))
	kept := f.decide(scores)
	if f.ruled {
		promised = int(f.expected(scores))
	}
	s := Selection{dropped: f.drop(kept), inText: f.linksInText(kept), PageLetters: int(f.page.letters), promised: promised, whole: f.keepsHome(kept)}
	for i, k := range kept {
		b := &f.blocks[i]
		s.allPlain += int(b.letters - b.links)
		if k {
			s.Letters += int(b.letters)
			s.plain += int(b.letters - b.links)
		}
		if running(b) {
			s.prose += int(b.letters)
		}
	}
	s.Declared = f.says.Facts
	s.Undisclosed = f.undisclosed()
	if text := f.says.Article(); len(text) >= longArticle && f.page.letters < shellLetters {
		s.Article = text
	}
	return s
}

// DeclaredBy is what a page says of itself, without a look at its blocks.
func DeclaredBy(root *html.Node) declared.Facts {
	var d declared.Reader
	d.ReadHead(root)
	d.Finish(titleOf(root))
	return d.Facts
}

// hopeless is a first score after which a block is not judged again: menus are most of many a page.
const hopeless = 0.012

// scores judges every block twice, but for blocks that are like one before them.
func (f *finder) scores() []float32 {
	n := len(f.blocks)
	if n == 0 {
		return nil
	}
	scores, again := f.floats.take(n), f.floats.take(n)
	like := f.alike()
	var x [countSecond]float32
	for i := range scores {
		if like[i] >= 0 {
			scores[i] = scores[like[i]]
			continue
		}
		f.features(i, x[:countFeats], f.page)
		scores[i] = forest.Likely(forest.First, x[:countFeats])
	}
	c := newContext(&f.outline, scores)
	for i := range again {
		switch {
		case scores[i] < hopeless:
			again[i] = scores[i]
			continue
		case like[i] >= 0:
			again[i] = again[like[i]]
			continue
		}
		// The features are made again: to keep those of every block would take more memory than the page.
		f.features(i, x[:countFeats], f.page)
		c.features(i, x[countFeats:])
		again[i] = forest.Likely(forest.Second, x[:])
	}
	return again
}

// decide makes up for what single blocks cannot know: tables and lists are kept whole or not at all, and a heading goes
// with what it stands over.
func (f *finder) decide(scores []float32) []bool {
	f.level(scores)
	from := f.cut(scores)
	f.rule(scores)
	kept := f.flags.take(len(scores))
	for i, s := range scores {
		kept[i] = s >= from
	}
	f.repeats(kept)
	f.headings(scores, kept)
	f.listings(scores, kept)
	f.pictures(kept)
	f.items(kept)
	return kept
}

// headings go with what they stand over: one over kept text is kept, unless the trees are sure that it is none of it, and
// on a page of running text one over nothing is left out: elsewhere headings are often all that an item says. The title of
// the page stays.
func (f *finder) headings(scores []float32, kept []bool) {
	reads := f.page.kinds[kindArticle] > 0.5
	for i := range kept {
		owner := &f.elements[f.blocks[i].owner]
		if owner.is&tagHeading == 0 || f.blocks[i].letters == 0 {
			continue
		}
		level := facts.HeadingLevel(owner.node)
		next, under, all := i+1, 0, 0
		for ; next < len(kept) && next <= i+farHeading; next++ {
			if f.elements[f.blocks[next].owner].is&tagHeading != 0 {
				if l := facts.HeadingLevel(f.elements[f.blocks[next].owner].node); l <= level || l == 0 {
					break
				}
				continue
			}
			all++
			if kept[next] {
				under++
			}
		}
		switch {
		case level == 1 && f.page.surely && i < f.page.h1 && f.titleRank(&f.blocks[i], folded(f.says.Title), true) > 0:
			kept[i] = false // a part of the title that is not it: the site's name
		case level == 1 && f.elements[0].h1 == 1 && scores[i] > 0.1 && (!f.page.surely || f.page.h1 == i):
			kept[i] = true
		case !kept[i] && scores[i] > 0.15 && next > i+1 && kept[i+1]:
			kept[i] = true
		case reads && kept[i] && level > 1 && under == 0 && all > 0 && scores[i] < 0.8:
			kept[i] = false
		}
	}
}

// pictures stay in a figure of which something is kept, unless its caption says what they show; and formulas, films and what
// is described at some length stand between running text. Other pictures add nothing to the text beside them: they are those
// of cards, avatars, icons, and the lead of an article.
func (f *finder) pictures(kept []bool) {
	for i := range kept {
		b := &f.blocks[i]
		if b.letters > 0 || b.pictures == 0 {
			continue
		}
		kept[i] = false
		if at := f.within(b.owner, tagFigure); at >= 0 && f.elements[at].letters > 0 {
			kept[i] = f.keptIn(&f.elements[at], kept) && !f.captioned(b, &f.elements[at])
			continue
		}
		text := func(j int) bool { return j >= 0 && j < len(kept) && kept[j] && running(&f.blocks[j]) }
		switch before, after := text(i-1), text(i+1); {
		case f.film(b), f.formula(b):
			kept[i] = before || after
		case before && after:
			kept[i] = f.described(b)
		}
	}
}

// keptIn says that some text of an element is kept.
func (f *finder) keptIn(e *element, kept []bool) bool {
	const look = 8 // blocks of a figure
	for j := e.from; j < min(e.to, e.from+look); j++ {
		if kept[j] && f.blocks[j].letters > 0 {
			return true
		}
	}
	return false
}

// captioned says that the text of a figure is what its picture is described by, too.
func (f *finder) captioned(b *block, figure *element) bool {
	const long, look = 40, 8 // letters of a description that is worth comparing; blocks
	for _, n := range f.leaves[b.from:b.to] {
		alt := folded(facts.FirstAttribute(n, "alt"))
		if len(alt) < long {
			return false
		}
		for j := figure.from; j < min(figure.to, figure.from+look); j++ {
			if text := folded(f.words(&f.blocks[j])); strings.Contains(text, alt[:long/2]) {
				return true
			}
		}
	}
	return false
}

// film says that a block without text has something to watch or to hear.
func (f *finder) film(b *block) bool {
	for _, n := range f.leaves[b.from:b.to] {
		if n.DataAtom == atom.Video || n.DataAtom == atom.Audio {
			return true
		}
	}
	return false
}

// formula says that a block without text is a formula that was made a picture.
func (f *finder) formula(b *block) bool {
	for _, n := range f.leaves[b.from:b.to] {
		if class, has := facts.Attribute(n, "class"); has && n.DataAtom == atom.Img && facts.ClassFlags(class)&(facts.MathSource|facts.MathFallback) != 0 {
			return true
		}
	}
	return false
}

// described says that a picture has a text of some length, which is not the name of its file.
func (f *finder) described(b *block) bool {
	const few = 30 // bytes
	for _, n := range f.leaves[b.from:b.to] {
		if n.DataAtom != atom.Img {
			continue
		}
		alt := strings.TrimSpace(facts.FirstAttribute(n, "alt"))
		if len(alt) >= few && strings.ContainsFunc(alt, unicode.IsSpace) || len(alt) >= few/2 && strings.ContainsFunc(alt, ideograph) {
			return true
		}
	}
	return false
}

// repeats leaves out what the page has said before, as pages do that are laid out for screens of several widths. Quotes
// repeat on purpose, and so do short texts in one place of the page's structure: the items of a list.
func (f *finder) repeats(kept []bool) {
	const long, short = 40, 12 // letters: shorter texts may be the same and mean another thing
	type place struct{ around, at int32 }
	said := map[uint64]place{} // in which element, and where
	for i, k := range kept {
		b := &f.blocks[i]
		if !k || b.letters < short || f.hashes[b.hash] < 2 || f.within(b.owner, tagQuote|tagCode|tagTable) >= 0 {
			continue
		}
		own := place{f.elements[b.owner].parent, f.placeOf[i]}
		before, again := said[b.hash]
		switch {
		case !again:
			said[b.hash] = own
		case before.around == own.around: // side by side, it is repeated on purpose
		case b.letters >= long || before.at != own.at:
			kept[i] = false
		}
	}
}

// within is the nearest element around that bears one of these names, -1 for none.
func (f *finder) within(at int32, is names) int32 {
	const near = 6
	for steps := 0; steps < near && at >= 0; steps++ {
		if f.elements[at].is&is != 0 {
			return at
		}
		at = f.elements[at].parent
	}
	return -1
}

// farHeading is how many blocks after a heading are looked at.
const farHeading = 40

// mostWhole is how many blocks a list has at most that is taken whole: longer ones are what a page is laid out with.
const mostWhole = 80

// level gives the rows of a table, the lines of code and the items of a list that is not one of links one score: half a
// list is worth less than none, and says the wrong thing.
func (f *finder) level(scores []float32) {
	sums, done := f.sumsOf(scores), int32(0)
	for i := range f.elements {
		e := &f.elements[i]
		switch e.node.DataAtom {
		case atom.Table, atom.Pre:
		case atom.Ol, atom.Ul:
			if linkHeavy(e, 40) || e.to-e.from > mostWhole {
				continue
			}
		default:
			continue
		}
		if e.from < done || e.to-e.from < 2 || e.letters*10 > f.page.letters*9 || f.layout(i) {
			continue
		}
		f.set(scores, e, sums.mean(e))
		done = e.to
	}
}

// layout says that a table holds tables, as pages do that are laid out with them.
func (f *finder) layout(i int) bool {
	for j := i + 1; j < len(f.elements) && f.elements[j].depth > f.elements[i].depth && j-i < 400; j++ {
		if f.elements[j].node.DataAtom == atom.Table {
			return true
		}
	}
	return false
}

// drop is the set of nodes to leave out: the outermost elements of whose blocks none is kept, and what is left of blocks
// that stand beside kept ones in the same element.
func (f *finder) drop(kept []bool) map[*html.Node]struct{} {
	before := f.ints.take(len(kept) + 1) // kept blocks before each
	for i, k := range kept {
		before[i+1] = before[i]
		if k {
			before[i+1]++
		}
	}
	going := map[*html.Node]bool{} // elements that go on with what was not read
	if f.rest != nil {
		for n := f.rest.Parent; n != nil; n = n.Parent {
			going[n] = true
		}
	}
	none := func(e *element) bool { return e.to > e.from && before[e.to] == before[e.from] && !going[e.node] }
	out := map[*html.Node]struct{}{}
	if before[len(kept)] == 0 {
		return out
	}
	for i := range f.elements {
		e := &f.elements[i]
		icons := e.to == e.from && f.standings[i].gone && e.parent >= 0 && !f.standings[e.parent].gone // their names are no text of the page
		if e.parent >= 0 && none(e) && !none(&f.elements[e.parent]) || icons {
			out[e.node] = struct{}{}
		}
	}
	for i, k := range kept {
		b := &f.blocks[i]
		linked := b.pictures > 0 && b.links*2 > b.letters && f.within(b.owner, tagTable) < 0 // a card's picture
		if k && !linked || none(&f.elements[b.owner]) {
			continue
		}
		for _, n := range f.leaves[b.from:b.to] {
			if !k || n.DataAtom == atom.Img || n.DataAtom == atom.Picture {
				out[n] = struct{}{}
			}
		}
	}
	return out
}

// linksInText are the links of kept blocks that are mostly other words, but for one that begins an item, and one that says by itself
// where to read on.
func (f *finder) linksInText(kept []bool) map[*html.Node]struct{} {
	out := map[*html.Node]struct{}{}
	for i, k := range kept {
		b := &f.blocks[i]
		if !k || b.links == 0 {
			continue
		}
		person := b.letters < 60 && f.within(b.owner, nameUser|nameMeta) >= 0 && f.within(b.owner, namePost|nameComment) >= 0
		if b.links*2 >= b.letters && !person {
			continue
		}
		var on *html.Node
		if !person {
			on = f.readsOn(b)
		}
		item := !person && f.elements[b.owner].is&(tagItem|tagDefinitions|tagHeading) != 0
		for j, leaf := range f.leaves[b.from:b.to] {
			a := leaf.Parent
			for steps := 0; a != nil && a != f.elements[b.owner].node && a.DataAtom != atom.A && steps < maxLook; steps++ {
				a = a.Parent
			}
			if a != nil && a.DataAtom == atom.A && !(item && j == 0) && a != on {
				out[a] = struct{}{}
			}
		}
	}
	return out
}

// readsOn is the link that comes after the last sentence of a block, such as "Read more"; nil for none.
func (f *finder) readsOn(b *block) *html.Node {
	const brackets = "[]() \t\n\r\u00a0"
	var last *html.Node
	for j, looked := b.to-1, 0; j >= b.from && looked < maxLook; j, looked = j-1, looked+1 {
		leaf := f.leaves[j]
		if leaf.Type != html.TextNode || strings.Trim(leaf.Data, brackets) == "" {
			continue
		}
		a := leaf.Parent
		for steps := 0; a != nil && a != f.elements[b.owner].node && a.DataAtom != atom.A && steps < maxLook; steps++ {
			a = a.Parent
		}
		linked := a != nil && a.DataAtom == atom.A
		switch {
		case last == nil && !linked:
			return nil
		case last == nil:
			last = a
		case a != last:
			end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(leaf.Data, brackets+"\"'”’»"))
			if strings.ContainsRune(".!?:…。！？：؟।", end) && end != utf8.RuneError {
				return last
			}
			return nil
		}
	}
	return nil
}

func titleOf(root *html.Node) string {
	if t := find(root, atom.Title); t != nil && t.FirstChild != nil {
		return t.FirstChild.Data
	}
	return ""
}
