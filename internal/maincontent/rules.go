// Rules: what holds whatever the trees say, each with its reason, and what decides on pages too small for them.

package maincontent

import (
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/maincontent/declared"
	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// smallPage is the number of letters below which the rules decide alone: what the trees have learned of real pages says
// little about a page that has a heading and three lines.
const smallPage = 700

// Shares of the page's text, in per cent, above which an element is kept whatever it calls itself.
const (
	mostByName = 40 // by class, id or role
	mostByTag  = 60 // nav, aside, footer, header
)

// How many letters outside of links an invitation has at most, without and with something to fill in or to press:
// whoever writes more has something to say.
const (
	fewProse  = 120
	formProse = 400
)

// context of an element, for the rules.
type standing struct {
	gone   bool // it or something around it is furniture
	ofPost bool // it stands in what has headers and footers of its own
	inMain bool
}

// furniture says of each element whether it or one around it is furniture of the site: by element, by role, by the words
// of class and id.
func (f *finder) furniture() []standing {
	f.standings = withRoom(f.standings, len(f.elements))[:len(f.elements)]
	out := f.standings
	home := f.home()
	for i := range f.elements {
		e := &f.elements[i]
		if e.parent < 0 {
			continue
		}
		s := out[e.parent]
		p := &f.elements[e.parent]
		s.ofPost = s.ofPost || hasOwnHeader(p.node.DataAtom)
		s.inMain = s.inMain || p.is&tagMain != 0
		if !s.gone && (e.letters > 0 || e.is&(tagDialog|tagNav) != 0) { // a menu may be of icons alone
			s.gone = f.furnishes(e, home, s)
		}
		out[i] = s
	}
	return out
}

// home is the element that the page calls its main part, if the page's title is in it; nil for none. Beside it nothing is the
// page, however small it is.
func (f *finder) home() *element {
	if !f.page.surely {
		return nil
	}
	for at := f.blocks[f.page.h1].owner; at >= 0; at = f.elements[at].parent {
		if e := &f.elements[at]; e.is&tagMain != 0 && e.letters > 2*f.blocks[f.page.h1].letters {
			return e
		}
	}
	return nil
}

// titled says that an element holds the page's title, or one that may be.
func (f *finder) titled(e *element) bool {
	if f.page.surely {
		return int(e.from) <= f.page.h1 && f.page.h1 < int(e.to)
	}
	return e.h1 > 0
}

func (f *finder) furnishes(e, home *element, s standing) bool {
	top := &f.elements[0]
	percent := e.letters * 100 / max(top.letters, 1)
	if home != nil && (e.to <= home.from || e.from >= home.to) {
		percent = 0
	}
	switch e.node.DataAtom {
	case atom.Html, atom.Body, atom.Main, atom.H1, atom.Code, atom.Pre, atom.Table, atom.Tbody, atom.Tr, atom.Td, atom.Th, atom.P, atom.Math:
		// A heading, a table or a paragraph is content even where a class says "banner"; but a short paragraph that is
		// a pager is not.
		return e.node.DataAtom == atom.P && linkHeavy(e, 70) && e.letters < 200 && e.is&wordPager != 0
	}
	if e.is&tagMain != 0 {
		return false
	}
	if e.is&(tagDialog|wordConsent) != 0 && percent <= mostByTag && !f.titled(e) {
		return true
	}
	if percent <= mostByTag {
		switch e.node.DataAtom {
		case atom.Nav, atom.Menu:
			return true
		case atom.Aside:
			return e.is&wordCallout == 0
		case atom.Footer:
			return !s.ofPost || linkHeavy(e, 50)
		case atom.Header:
			return !f.titled(e) && (!s.ofPost || linkHeavy(e, 50) && e.letters > 60)
		}
	}
	if percent > mostByName || f.titled(e) && top.h1 <= 2 {
		return false
	}
	switch role, _ := facts.Attribute(e.node, "role"); role {
	case "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar", "toolbar":
		return true
	}
	switch {
	case e.is&wordFurniture != 0:
		return true
	case e.is&wordTopic != 0:
		return invites(e)
	case e.is&wordLinky != 0:
		return linkHeavy(e, 40) || e.letters < 60
	}
	return false
}

// invites says that an element that is called a newsletter, a promotion or a share bar is one.
func invites(e *element) bool {
	most := int32(fewProse)
	if e.controls > 0 {
		most = formProse
	}
	return linkHeavy(e, 30) || e.letters-e.links < most
}

func linkHeavy(e *element, percent int32) bool { return e.links*100 >= e.letters*percent }

func hasOwnHeader(a atom.Atom) bool {
	switch a {
	case atom.Article, atom.Section, atom.Blockquote, atom.Main, atom.Li, atom.Td, atom.Figure:
		return true
	}
	return false
}

// rule changes scores where a rule is surer than the trees.
func (f *finder) rule(scores []float32) {
	standings := f.furniture()
	if f.page.letters < smallPage {
		f.ruled = true
		for i := range scores {
			b := &f.blocks[i]
			scores[i] = 1
			if standings[b.owner].gone || b.letters == 0 && b.controls > 0 || f.offers(b) {
				scores[i] = 0
			}
		}
	}
	f.ruleArticle(scores)
	f.ruleInvitations(scores)
	f.ruleComments(scores)
	f.rulePosts(scores)
	f.ruleCallouts(scores)
	f.ruleNotes(scores)
	f.ruleTold(scores)
	f.ruleRecipe(scores)
	f.ruleButtons(scores)
	f.ruleTables(scores)
	f.ruleReference(scores, standings)
	f.ruleFrames(scores, standings)
}

// ruleArticle: what stands before the title of an article is none of it, and neither are links by themselves, of which an
// article has "most read" and the like; a page that is made of links has no running text to speak of.
func (f *finder) ruleArticle(scores []float32) {
	p := f.page
	if p.kinds[kindForum]+p.kinds[kindListing]+p.kinds[kindCollection]+p.kinds[kindDocumentation] > 0.6 {
		return
	}
	after, all := int32(0), int32(0)
	for _, i := range p.prose {
		if scores[i] < 0.5 {
			continue
		}
		letters := f.blocks[i].letters
		all += letters
		if int(i) > p.h1 {
			after += letters
		}
	}
	part := float32(all) / max(f.expected(scores), 1)
	told := f.says.Sort == declared.Article && after >= leastArticle && part >= 0.5
	if !told && (p.kinds[kindArticle] < leastLikely || all < 2*leastArticle || f.says.Sort == declared.List || f.says.Sort == declared.Product || part < 0.7) {
		return
	}
	f.ruled = true
	linked := int32(0)
	for i := range scores {
		if b := &f.blocks[i]; b.links*10 >= b.letters*8 && scores[i] >= 0.25 {
			linked += b.letters
		}
	}
	f.ruleOtherArticles(scores)
	f.ruleCaptions(scores)
	f.ruleFurther(scores)
	f.ruleAds(scores)
	f.ruleStandfirst(scores)
	before := p.surely && (told || after*10 >= all*9)
	core := f.core(scores)
	for i := range scores {
		b := &f.blocks[i]
		switch {
		case before && i < p.h1:
			scores[i] = 0
		case core != nil && scores[i] < 0.9 && (int32(i) >= core.to || int32(i) < core.from && i < p.h1):
			scores[i] = 0
		case b.links*10 >= b.letters*8 && scores[i] < 0.8 && linked*2 < all:
			scores[i] = 0
		}
	}
}

// ruleOtherArticles: an article element is whole by itself, so that beside the one which has the page's title others are
// further stories, and so are asides that stand in none.
func (f *finder) ruleOtherArticles(scores []float32) {
	p := f.page
	if !p.surely || p.kinds[kindArticle] < 0.5 {
		return
	}
	home := int32(-1)
	for at := f.blocks[p.h1].owner; at >= 0; at = f.elements[at].parent {
		if f.elements[at].node.DataAtom == atom.Article {
			home = at
		}
	}
	if home < 0 {
		return
	}
	own := &f.elements[home]
	prose := int32(0)
	for _, i := range p.prose {
		if i >= own.from && i < own.to && scores[i] >= 0.5 {
			prose += f.blocks[i].letters
		}
	}
	if prose < leastArticle {
		return
	}
	for i := range f.elements {
		e := &f.elements[i]
		if outside := e.to <= own.from || e.from >= own.to; !outside || e.to == e.from {
			continue
		}
		if e.node.DataAtom == atom.Article || e.node.DataAtom == atom.Aside && e.is&wordCallout == 0 {
			f.set(scores, e, 0)
		}
	}
}

// ruleStandfirst keeps the paragraph between an article's title and its text that the page describes itself with: it says
// what is to come.
func (f *finder) ruleStandfirst(scores []float32) {
	const (
		far   = 12 // blocks after the title
		short = 60 // letters
	)
	if !f.page.surely || f.told == nil {
		return
	}
	for i := f.page.h1 + 1; i < min(int(f.lead(scores)), f.page.h1+far); i++ {
		b := &f.blocks[i]
		if b.letters >= short && b.ends > 0 && b.links*4 < b.letters && scores[i] >= 0.1 && f.told[i][1] >= 0.6 && f.within(b.owner, tagFigure) < 0 {
			scores[i] = max(scores[i], 0.6)
		}
	}
}

// lead is the first block of running text that is kept: what is before it heads the page.
func (f *finder) lead(scores []float32) int32 {
	for _, i := range f.page.prose {
		if scores[i] >= 0.5 && f.within(f.blocks[i].owner, tagFigure) < 0 {
			return i
		}
	}
	return 0
}

// ruleCaptions: the picture above an article illustrates its title, and so does what is said below it; further down a
// picture and its caption belong to the text around them.
func (f *finder) ruleCaptions(scores []float32) {
	if f.page.kinds[kindArticle] < 0.5 {
		return
	}
	const most = 400 // letters of a caption
	for i := range f.lead(scores) {
		b := &f.blocks[i]
		if b.letters > 0 && b.letters <= most && f.within(b.owner, tagFigure) >= 0 && f.within(b.owner, tagTable|tagCode|tagQuote) < 0 {
			scores[i] = 0
		}
	}
}

// core is the innermost element that holds nearly all the running text that the trees are sure of, and most of what they
// think likely: of an article of two paragraphs they may be sure of one.
func (f *finder) core(scores []float32) *element {
	sure, likely := f.ints.take(len(scores)+1), f.ints.take(len(scores)+1)
	for i, s := range scores {
		sure[i+1], likely[i+1] = sure[i], likely[i]
		b := &f.blocks[i]
		if s < 0.5 || !running(b) {
			continue
		}
		likely[i+1] += b.letters
		if s >= 0.7 {
			sure[i+1] += b.letters
		}
	}
	part := func(sum []int32, e *element) int32 { return (sum[e.to] - sum[e.from]) * 100 / sum[len(scores)] }
	var core *element
	for i := range f.elements {
		e := &f.elements[i]
		if !inline(e.node) && sure[len(scores)] > 0 && part(sure, e) >= 88 && part(likely, e) >= 75 {
			core = e
		}
	}
	return core
}

// leastLikely is how likely by its shape a page is an article that does not say that it is one.
const leastLikely = 0.15

// leastArticle is how many letters of running text an article has that says that it is one.
const leastArticle = 500

// expected is how many letters of content the scores promise.
func (f *finder) expected(scores []float32) float32 {
	total := float32(0)
	for i, s := range scores {
		total += s * float32(f.blocks[i].letters)
	}
	return total
}

// ruleInvitations: consent boxes, newsletters and the like are no content on any page.
func (f *finder) ruleInvitations(scores []float32) {
	top := &f.elements[0]
	done := int32(0)
	for i := range f.elements {
		e := &f.elements[i]
		if e.from < done || e.is&(wordTopic|wordConsent|tagDialog) == 0 || e.to == e.from || e.parent < 0 || e.h1 > 0 || inline(e.node) {
			continue
		}
		switch e.node.DataAtom {
		case atom.Html, atom.Body, atom.Main, atom.Article, atom.H2, atom.H3, atom.Table, atom.Pre, atom.P:
			continue
		}
		small := e.letters*100 <= top.letters*25
		if e.is&wordTopic != 0 && small && invites(e) || e.is&(wordConsent|tagDialog) != 0 && small && e.letters < 4*formProse {
			f.set(scores, e, 0)
			done = e.to
		}
	}
}

// ruleComments leaves out what readers wrote below an article. In a thread or a question the comments are the page: they
// stay unless something else is long enough to be it.
func (f *finder) ruleComments(scores []float32) {
	if f.says.Sort == declared.Forum || f.page.kinds[kindForum] > 0.5 {
		return
	}
	for i := range f.elements {
		e := &f.elements[i]
		if e.is&wordComments == 0 || e.h1 > 0 || e.to == e.from || e.parent < 0 {
			continue
		}
		rest, own := int32(0), int32(0)
		for j := range scores {
			b := &f.blocks[j]
			prose := b.letters - b.links
			switch {
			case int32(j) >= e.from && int32(j) < e.to:
				own += prose
			case scores[j] >= 0.5 && int32(j) < e.from:
				rest += prose
			}
		}
		if rest >= 300 && rest*3 >= own {
			f.set(scores, e, 0)
		}
		if f.seen++; f.seen > 8 { // the counting is over the whole page: once for each of a few
			return
		}
	}
}

// ruleTables: a table of data below the page's title, in the same element, is what the page is about, unless the trees are
// sure that it is not: results and price lists have no running text to be known by.
func (f *finder) ruleTables(scores []float32) {
	const rows, near, least = 6, 2, 0.2 // rows of a table, elements up from the title, score
	if !f.page.surely {
		return
	}
	home := f.blocks[f.page.h1].owner
	for range near {
		if p := f.elements[home].parent; p > 0 {
			home = p
		}
	}
	own, sums := &f.elements[home], f.sumsOf(scores)
	for i := range f.elements {
		e := &f.elements[i]
		if e.node.DataAtom != atom.Table || e.from <= int32(f.page.h1) || e.to > own.to || e.to-e.from < rows || linkHeavy(e, 50) || f.layout(i) {
			continue
		}
		if sums.mean(e) >= least {
			for j := e.from; j < e.to; j++ {
				scores[j] = max(scores[j], 0.6)
			}
		}
	}
}

// rulePosts: in a thread, who wrote a post and when belongs to it.
func (f *finder) rulePosts(scores []float32) {
	sums := f.sumsOf(scores)
	for i := range f.elements {
		e := &f.elements[i]
		g := f.groupOf[i]
		if e.is&(namePost|nameComment) == 0 || g < 0 || f.groups[g].n < 2 || e.to-e.from < 2 || e.to-e.from > 60 {
			continue
		}
		if sums.mean(e) < 0.5 {
			continue
		}
		const head = 4 // blocks of a post in which its author and its date are looked for
		for j := e.from; j < min(e.from+head, e.to); j++ {
			b := &f.blocks[j]
			owner := &f.elements[b.owner]
			if b.letters == 0 || b.letters > 60 || owner.is&tagButton != 0 || scores[j] >= 0.5 {
				continue
			}
			if b.times > 0 || b.strong*2 > b.letters || f.named(b.owner, int32(i), nameUser|nameMeta) {
				scores[j] = 0.9
			}
		}
	}
}

// named says that one of the elements from one up to another bears one of these names.
func (f *finder) named(from, to int32, is names) bool {
	for steps := 0; from > to && steps < maxLook; steps++ {
		if f.elements[from].is&is != 0 {
			return true
		}
		from = f.elements[from].parent
	}
	return false
}

// ruleCallouts: a warning in an article is a part of it, though it stands aside, and so is what a figure says below its
// picture.
func (f *finder) ruleCallouts(scores []float32) {
	sums, done := f.sumsOf(scores), int32(0)
	lead := f.lead(scores)
	for i := range f.elements {
		e := &f.elements[i]
		if e.from < lead && e.is&tagFigure != 0 {
			continue
		}
		if e.from < done || e.is&(wordCallout|tagFigure) == 0 || e.parent < 0 || e.to == e.from || linkHeavy(e, 50) || e.is&(wordTopic|wordFurniture|wordConsent) != 0 {
			continue
		}
		if p := &f.elements[e.parent]; e.letters*4 < p.letters && sums.mean(p) > 0.7 {
			done = e.to
			for j := e.from; j < e.to; j++ {
				scores[j] = max(scores[j], 0.6)
			}
		}
	}
}

func (f *finder) set(scores []float32, e *element, to float32) {
	for j := e.from; j < e.to; j++ {
		scores[j] = to
	}
}

// sums are what the blocks before each weigh, and what of that their scores make.
type sums struct{ weights, scored []float64 }

// sumsOf is valid until it is asked for again.
func (f *finder) sumsOf(scores []float32) sums {
	if f.room.weights == nil {
		f.room = sums{f.doubles.take(len(scores) + 1), f.doubles.take(len(scores) + 1)}
	}
	s := f.room
	for i := range scores {
		w := heavy(&f.blocks[i])
		s.weights[i+1] = s.weights[i] + w
		s.scored[i+1] = s.scored[i] + w*float64(scores[i])
	}
	return s
}

// mean is the score of an element's blocks by their letters.
func (s sums) mean(e *element) float32 {
	if e.from == e.to {
		return 0
	}
	return float32((s.scored[e.to] - s.scored[e.from]) / (s.weights[e.to] - s.weights[e.from]))
}
