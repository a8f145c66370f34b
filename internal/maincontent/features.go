// Features: the numbers by which a block is judged. All of them are of the page's shape and names, none of what its
// words say, so that they hold in every language.

package maincontent

import (
	"math"
	"math/bits"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/maincontent/declared"
)

// The levels of context: the block's element and the elements around it, each of which holds more blocks than the one
// below it.
const levels = 5

// Where the features of each group begin.
const (
	ofBlock      = 0
	ofLevel      = ofBlock + 30
	perLevel     = 11
	ofGroups     = ofLevel + levels*perLevel
	ofSection    = ofGroups + 16
	ofNeighbours = ofSection + 6
	ofPage       = ofNeighbours + 16
	ofKinds      = ofPage + 20
	ofNames      = ofKinds + countKinds
	countFeats   = ofNames + countNames
)

// scale brings counts of any size to numbers that are alike.
func scale(n int32) float32 { return float32(math.Log2(float64(n) + 1)) }

func share(a, b int32) float32 {
	if b <= 0 {
		return 0
	}
	return float32(a) / float32(b)
}

// features writes the features of block i into x.
func (o *outline) features(i int, x []float32, p *pageFacts) {
	b := &o.blocks[i]
	e := &o.elements[b.owner]
	total := int32(len(o.blocks))
	clear(x)
	y := x[ofBlock:]
	y[0] = scale(b.letters)
	y[1] = scale(b.words)
	y[2] = share(b.links, b.letters)
	y[3] = share(b.ends*100, b.letters)
	y[4] = share(b.commas*100, b.letters)
	y[5] = share(b.digits, b.letters)
	y[6] = share(b.uppers, b.letters)
	y[7] = share(b.letters, b.words)
	y[8] = share(b.signs, b.words)
	y[9] = share(b.strong, b.letters)
	y[10] = float32(b.pictures)
	y[11] = float32(b.controls)
	y[12] = float32(b.times)
	y[13] = ending(b.last)
	y[14] = opening(b.first)
	y[15] = float32(kindOf(e.node.DataAtom))
	y[16] = float32(e.depth)
	y[17] = share(int32(i), total)
	y[18] = share(p.sum[i].letters, p.letters)
	y[19] = scale(o.hashes[b.hash]) // how often the page says this
	y[20] = scale(o.sorts[e.sort])
	y[21] = float32(e.to - e.from)
	y[22] = float32(b.to - b.from)
	y[23] = float32(i - p.top)
	y[24] = share(int32(i-p.top), total)
	y[25] = p.title(b)
	y[26] = scale(e.children)
	if o.told != nil {
		y[27], y[28] = o.told[i][0], o.told[i][1]
		y[29] = o.mostTold
	}

	level, at := 0, b.owner
	within := o.elements[at].to - o.elements[at].from
	for steps := 0; level < levels && steps < maxLook; steps++ {
		e := &o.elements[at]
		if e.to-e.from > within || level == 0 {
			within = e.to - e.from
			o.level(e, x[ofLevel+level*perLevel:], p)
			level++
		}
		if e.parent < 0 {
			break
		}
		at = e.parent
	}
	o.groupFeatures(i, x[ofGroups:], p)
	p.section(i, x[ofSection:])
	o.neighbours(i, x[ofNeighbours:])
	copy(x[ofPage:], p.shape[:])
	copy(x[ofKinds:], p.kinds[:])
	o.nearestNames(b.owner, x[ofNames:])
}

// findPlaces numbers the places of the page's structure that blocks stand in.
// Two blocks are in one place that stand in elements of the same names and classes all the way up.
func (o *outline) findPlaces() {
	o.places = mapFor(o.places, 64)
	o.placeOf = o.ints.take(len(o.blocks))
	for i := range o.blocks {
		path := o.elements[o.blocks[i].owner].path
		k, known := o.places[path]
		if !known {
			k = int32(len(o.places))
			o.places[path] = k
		}
		o.placeOf[i] = k
	}
	o.inPlace = o.ints.take(len(o.places))
	for _, k := range o.placeOf {
		o.inPlace[k]++
	}
}

// maxLook is how far up a block's elements are looked at.
const maxLook = 48

func (o *outline) level(e *element, y []float32, p *pageFacts) {
	blocks := e.to - e.from
	y[0] = share(e.letters, p.letters)
	y[1] = share(e.links, e.letters)
	y[2] = share(e.ends*100, e.letters)
	y[3] = scale(e.letters / max(blocks, 1))
	y[4] = share(e.paragraphs, e.letters)
	y[5] = scale(blocks)
	y[6] = scale(o.sorts[e.sort])
	y[7] = share(e.controls, blocks)
	y[8] = share(e.headings, blocks)
	y[9] = share(e.pictures, blocks)
	y[10] = share(e.signs, blocks)
}

func (o *outline) neighbours(i int, y []float32) {
	for k, j := range []int{i - 1, i + 1, i - 2, i + 2} {
		if j < 0 || j >= len(o.blocks) {
			y[k*4], y[k*4+3] = -1, -1
			continue
		}
		b := &o.blocks[j]
		y[k*4] = scale(b.letters)
		y[k*4+1] = share(b.links, b.letters)
		y[k*4+2] = share(b.ends*100, b.letters)
		y[k*4+3] = float32(kindOf(o.elements[b.owner].node.DataAtom))
	}
}

// nearestNames tells how far up the next element is that has each of the names.
func (o *outline) nearestNames(at int32, y []float32) {
	const far = 24
	for k := range countNames {
		y[k] = far
	}
	var seen names
	for steps := 0; steps < maxLook && at >= 0; steps++ {
		e := &o.elements[at]
		if fresh := e.is &^ seen; fresh != 0 {
			for k := range countNames {
				if fresh&(1<<k) != 0 {
					y[k] = float32(min(steps, far-1))
				}
			}
			seen |= fresh
		}
		at = e.parent
	}
}

func ending(r rune) float32 {
	switch r {
	case '.', '!', '?', '…', '。', '！', '？', '؟', '।', '۔', '"', '”', '’', ')', '»', '」':
		return 2
	case ':', ',', ';', '：', '，', '、', '،':
		return 1
	}
	return 0
}

func opening(r rune) float32 {
	switch {
	case r >= '0' && r <= '9':
		return 1
	case r == '$' || r == '€' || r == '£' || r == '¥' || r == '©' || r == '#' || r == '+':
		return 2
	case r >= 'a' && r <= 'z':
		return 3
	}
	return 0
}

func kindOf(a atom.Atom) int {
	switch a {
	case atom.P:
		return 9
	case atom.H1:
		return 12
	case atom.H2:
		return 11
	case atom.H3, atom.H4, atom.H5, atom.H6:
		return 10
	case atom.Blockquote, atom.Pre, atom.Figcaption, atom.Caption:
		return 8
	case atom.Dt, atom.Dd:
		return 7
	case atom.Tr, atom.Td, atom.Th:
		return 6
	case atom.Li:
		return 5
	case atom.Div, atom.Section, atom.Article:
		return 3
	case atom.Button, atom.Select, atom.Textarea, atom.Form:
		return 1
	case 0:
		return 2
	}
	return 4
}

// pageFacts are what is known of the page as a whole.
type pageFacts struct {
	letters int32
	top     int     // the first h1
	titled  uint64  // hash of its text
	h1      int     // the heading that is the page's title, or else the first h1
	surely  bool    // it says what the page declares as its title
	prose   []int32 // the blocks of running text
	heading []int32 // of each block: the last heading at or before it; -1 for none
	until   []int32 // and the first heading after it, or the number of blocks
	sum     []text  // of the blocks before each
	shape   [ofKinds - ofPage]float32
	kinds   [countKinds]float32 // how likely the page is of each kind
}

// running says that a block is running text: long, hardly linked, in sentences.
func running(b *block) bool {
	return b.letters >= 100 && b.links*4 < b.letters && (b.ends > 0 || b.letters >= 240)
}

// findProse notes the blocks of running text.
func (p *pageFacts) findProse(o *outline) {
	for i := range o.blocks {
		if running(&o.blocks[i]) {
			p.prose = append(p.prose, int32(i))
		}
	}
}

// findTitle looks for the heading that is the page's title: one that says what the page declares, else the first h1.
func (p *pageFacts) findTitle(o *outline, title string) {
	title = folded(title)
	p.h1 = -1
	const look, surest = 400, 4 // headings; the rank that a heading below h1 has at most
	looked, best, rank := 0, -1, 0
	for i := range o.blocks {
		b := &o.blocks[i]
		e := &o.elements[b.owner]
		if e.is&tagHeading == 0 || b.letters == 0 || b.letters > longestTitle {
			continue
		}
		if looked++; looked > look {
			break
		}
		top := e.node.DataAtom == atom.H1
		if top && p.h1 < 0 {
			p.h1 = i
		}
		if len(title) < 4 || rank >= surest && !top {
			continue
		}
		if r := o.titleRank(b, title, top); r > rank {
			best, rank = i, r
		}
	}
	if p.h1 >= 0 {
		p.top, p.titled = p.h1, o.blocks[p.h1].hash
	}
	if best >= 0 {
		p.h1, p.surely = best, true
	}
	p.h1 = max(p.h1, 0)
}

// titleRank is how much a heading looks like the page's title, 0 for not at all. A title may have more to it, such as the
// site's name, which is a heading on some pages, too: outside of the main part, and at the end of the title.
func (o *outline) titleRank(b *block, title string, top bool) (rank int) {
	const long = 12 // bytes: what is shorter stands within another text by chance
	switch text := folded(o.words(b)); {
	case len(text) < 4:
		return 0
	case strings.HasPrefix(title, text), strings.HasPrefix(text, title):
		rank = 2
	case len(text) >= long && strings.Contains(title, text), top && len(title) >= long && strings.Contains(text, title):
		rank = 1
	default:
		return 0
	}
	if top {
		rank += 2
	}
	for at := b.owner; at >= 0; at = o.elements[at].parent {
		if o.elements[at].is&(tagMain|tagArticle) != 0 {
			return rank + 2
		}
	}
	return rank
}

// longestTitle is the longest heading that is compared with the page's title, in letters.
const longestTitle = 600

// words are the text of a block.
func (o *outline) words(b *block) string {
	var text strings.Builder
	for _, n := range o.leaves[b.from:b.to] {
		if n.Type == html.TextNode && text.Len() < 4*longestTitle {
			text.WriteString(n.Data[:min(len(n.Data), 4*longestTitle)])
			text.WriteByte(' ')
		}
	}
	return text.String()
}

// folded is the letters and digits of a text in lower case.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// text is how much of it there is.
type text struct{ letters, links, ends int32 }

// section tells of the blocks from the last heading to the next.
func (p *pageFacts) section(i int, y []float32) {
	from, to := max(p.heading[i], 0), p.until[i]
	y[0] = float32(int32(i) - p.heading[i])
	y[1] = float32(to - int32(i))
	a, b := &p.sum[from], &p.sum[to]
	letters := b.letters - a.letters
	y[2] = scale(letters)
	y[3] = share(b.links-a.links, letters)
	y[4] = share(100*(b.ends-a.ends), letters)
	y[5] = share(letters, to-from)
}

// sections finds the headings around each block.
func (p *pageFacts) sections(o *outline) {
	n := len(o.blocks)
	both := o.ints.take(2 * n)
	p.heading, p.until, p.sum = both[:n:n], both[n:], o.texts.take(n+1)
	last := int32(-1)
	for i := range o.blocks {
		b := &o.blocks[i]
		s := p.sum[i]
		p.sum[i+1] = text{s.letters + b.letters, s.links + b.links, s.ends + b.ends}
		if o.elements[b.owner].is&tagHeading != 0 {
			last = int32(i)
		}
		p.heading[i] = last
	}
	next := int32(n)
	for i := n - 1; i >= 0; i-- {
		p.until[i] = next
		if p.heading[i] == int32(i) {
			next = int32(i)
		}
	}
}

func (p *pageFacts) title(b *block) float32 {
	if p.titled != 0 && b.hash == p.titled {
		return 1
	}
	return 0
}

// count is how many elements have a name.
func (o *outline) count(is names) int32 { return o.named[bits.TrailingZeros64(uint64(is))] }

func (o *outline) facts(d *declared.Reader) *pageFacts {
	p := &pageFacts{}
	var long, longLinks, short, inItems int32
	o.hashes = mapFor(o.hashes, len(o.blocks))
	for i := range o.blocks {
		b := &o.blocks[i]
		p.letters += b.letters
		o.hashes[b.hash]++
		switch {
		case b.letters >= 100 && b.links*3 < b.letters:
			long++
			longLinks += b.letters
		case b.letters < 30:
			short++
		}
		if o.elements[b.owner].is&(tagItem|tagCell) != 0 {
			inItems += b.letters
		}
	}
	p.findTitle(o, d.Title)
	p.findProse(o)
	p.sections(o)
	o.findPlaces()
	o.group()
	e := &o.elements[0]
	n := int32(len(o.blocks))
	p.shape = [...]float32{
		scale(p.letters), scale(n), share(e.links, e.letters), share(e.ends*100, e.letters), share(e.paragraphs, e.letters),
		share(long, n), share(longLinks, p.letters), share(short, n), share(inItems, p.letters),
		float32(min(o.count(tagMain), 3)), scale(o.count(tagArticle)), scale(o.count(namePost)), scale(o.count(nameProduct)), scale(o.count(nameItem)), scale(o.count(nameComment)), scale(o.count(tagCode)),
		share(e.pictures, n), share(e.headings, n), float32(min(e.h1, 4)), float32(d.Sort),
	}
	p.kinds = kindsOf(o.pageFeatures(p, d))
	return p
}
