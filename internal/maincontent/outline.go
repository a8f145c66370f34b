// The outline: one walk that notes the page's elements and its blocks of text, with what can be counted of each.

package maincontent

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// element is an element of the page, in document order, with what stands in it.
type element struct {
	node     *html.Node
	parent   int32 // -1 for the first
	from, to int32 // its blocks
	depth    int32
	is       names
	sort     uint64 // its name and class: those of one list look alike
	path     uint64 // its sort and those of all around it
	counts
	paragraphs int32 // letters in p
	headings   int32
	h1         int32
	controls   int32
	pictures   int32
	children   int32
}

// block is a run of text that nothing but inline elements parts, or a picture or a control by itself.
type block struct {
	owner    int32 // the element that it stands in
	from, to int32 // its leaves
	counts
	pictures, controls int32
	times              int32
	strong             int32 // letters in bold
	hash               uint64
	first, last        rune
}

// counts are what is counted of text. Letters are those of Latin text: a Chinese character stands for three of them, as
// it says about as much.
type counts struct {
	letters, links int32 // and of them in links
	words          int32
	digits, uppers int32
	ends, commas   int32 // marks that end and that part sentences
	signs          int32 // of money, of copyright, of directions
}

func (c *counts) add(o *counts) {
	c.letters += o.letters
	c.links += o.links
	c.words += o.words
	c.digits += o.digits
	c.uppers += o.uppers
	c.ends += o.ends
	c.commas += o.commas
	c.signs += o.signs
}

// outline is what the walk found.
type outline struct {
	*desk // the elements, blocks and so on
	v     vocabulary

	named       [countNames]int32 // how many elements have each name
	groupOf     []int32           // of each element; -1 for none
	mostGrouped int32             // letters of the largest group of several
	placeOf     []int32           // of each block: the number of its place in the page's structure
	inPlace     []int32           // blocks in each place

	told     [][2]float32 // of each block: how much of it the page declares as content, and in its summary; nil for none
	mostTold float32      // the most of any block

	scripts []*html.Node // that may hold JSON-LD
	rest    *html.Node   // the first node that was not read, for there were too many before it; nil for none

	at     int32 // the element that is open
	inLink int
	bold   int
	broken bool // the last leaf was a line break
	open   bool // the last block may take more
}

// maxCounted bounds every count, so that none overflows.
const maxCounted = 1 << 30

// mostBlocks and mostElements are how many are noted of a page, some twenty and seventy times those of the largest page of the cases. A
// block and its element take 300 bytes until the page is judged: without a bound that was more than the page's tree.
const mostBlocks, mostElements = 1 << 16, 1 << 18

// read walks through what is below top, without recursion: a hostile page may be as deep as it is long. What is after the
// bounds is not judged, and so it is kept.
func (o *outline) read(top *html.Node) {
	o.makeRoom(top)
	o.at = -1
	n := top
	for {
		if len(o.blocks) >= mostBlocks || len(o.elements) >= mostElements {
			o.rest = n
			for n != top {
				n = n.Parent
				o.leave(n)
			}
			return
		}
		if o.enter(n) && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for {
			o.leave(n)
			if n == top {
				return
			}
			if n.NextSibling != nil {
				n = n.NextSibling
				break
			}
			n = n.Parent
		}
	}
}

// makeRoom counts first: room that grows is paid for twice.
func (o *outline) makeRoom(top *html.Node) {
	elements, leaves, blocks := 8, 0, 0
	var last *html.Node
	for n := facts.Following(top, top); n != nil; {
		switch {
		case n.Type == html.TextNode:
			leaves++
		case n.Type != html.ElementNode:
		case unread(n):
			n = facts.Skipping(top, n)
			continue
		default:
			if !inline(n) || pressed(n) {
				elements++
				if p := n.Parent; p != last && inline(p) { // which stays, for what is in it
					elements++
					last = p
				}
			}
			if n.DataAtom == atom.Img || n.DataAtom == atom.Input || n.DataAtom == atom.Picture {
				leaves++
			}
			if !inline(n) && n.FirstChild != nil {
				blocks++
			}
		}
		n = facts.Following(top, n)
	}
	elements, blocks = min(elements, mostElements), min(blocks, mostBlocks)
	o.elements = withRoom(o.elements, elements)
	o.leaves = withRoom(o.leaves, leaves)
	o.blocks = withRoom(o.blocks, min(leaves, blocks+blocks/4+4))
}

// enter notes a node; false where nothing below it is read.
func (o *outline) enter(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		o.text(n)
		return false
	case html.DocumentNode:
	case html.ElementNode:
	default:
		return false
	}
	depth := int32(0)
	if o.at >= 0 {
		depth = o.elements[o.at].depth + 1
		o.elements[o.at].children++
	}
	is, class := o.v.namesOf(n)
	sort := uint64(n.DataAtom)<<32 | uint64(class)
	o.sorts[sort]++
	for rest := uint64(is) & (1<<countNames - 1); rest != 0; rest &= rest - 1 {
		o.named[bits.TrailingZeros64(rest)]++
	}
	path := sort
	if o.at >= 0 {
		path ^= o.elements[o.at].path * 1099511628211
	}
	o.elements = append(o.elements, element{node: n, parent: o.at, from: int32(len(o.blocks)), depth: depth, is: is, sort: sort, path: path})
	o.most = max(o.most, len(o.elements))
	o.at = int32(len(o.elements)) - 1
	if n.DataAtom == atom.Script && len(n.Attr) > 0 && n.FirstChild != nil {
		o.scripts = append(o.scripts, n)
	}
	if unread(n) || o.at > 0 && facts.Concealed(n) {
		return false
	}
	if !inline(n) {
		o.open = false
	}
	e := &o.elements[o.at]
	switch n.DataAtom {
	case atom.A:
		o.inLink++
	case atom.B, atom.Strong:
		o.bold++
	case atom.Br:
		if o.broken {
			o.open = false
		}
		o.broken = true
	case atom.H1:
		e.h1++
		e.headings++
	case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		e.headings++
	case atom.Iframe:
		e.pictures++
		if t := framed(n); t.letters > 0 {
			o.take(n, &t)
		} else {
			o.leaf(n).pictures++
		}
		return false
	case atom.Img, atom.Picture, atom.Video, atom.Audio, atom.Embed, atom.Object:
		o.leaf(n).pictures++
		e.pictures++
		return n.DataAtom == atom.Picture
	case atom.Input, atom.Select, atom.Textarea:
		o.open = false
		b := o.leaf(n)
		b.controls++
		o.open = false
		e.controls++
		return false
	case atom.Button:
		if pressed(n) {
			o.open = false
			e.controls++
		}
	case atom.Time:
		if o.open {
			o.blocks[len(o.blocks)-1].times++
		}
	case atom.Math:
		b := o.leaf(n)
		b.letters += 6
		b.words++
		return false
	}
	return true
}

// leave adds what stands in an element to the one around it.
func (o *outline) leave(n *html.Node) {
	if n.Type != html.ElementNode && n.Type != html.DocumentNode {
		return
	}
	e := &o.elements[o.at]
	e.to = int32(len(o.blocks))
	if !inline(n) || pressed(n) {
		o.open = false
	}
	if n.DataAtom == atom.A && o.inLink > 0 {
		o.inLink--
	}
	if (n.DataAtom == atom.B || n.DataAtom == atom.Strong) && o.bold > 0 {
		o.bold--
	}
	if n.DataAtom == atom.P {
		e.paragraphs = e.letters
	}
	o.at = e.parent
	if o.at < 0 {
		return
	}
	p := &o.elements[o.at]
	p.counts.add(&e.counts)
	p.paragraphs += e.paragraphs
	p.headings += e.headings
	p.h1 += e.h1
	p.controls += e.controls
	p.pictures += e.pictures
	if at := len(o.elements) - 1; e == &o.elements[at] && inline(n) && !pressed(n) {
		o.elements = o.elements[:at] // no block stands in it: nobody will ask for it
	}
}

// leaf makes n a part of the block that is open, or begins one.
func (o *outline) leaf(n *html.Node) *block {
	if !o.open {
		o.blocks = append(o.blocks, block{owner: o.blockOwner(), from: int32(len(o.leaves)), hash: 14695981039346656037})
		o.open = true
	}
	o.broken = false
	o.leaves = append(o.leaves, n)
	b := &o.blocks[len(o.blocks)-1]
	b.to = int32(len(o.leaves))
	return b
}

// blockOwner is the innermost element around here that is not inline, or else the outermost one.
func (o *outline) blockOwner() int32 {
	i := o.at
	for o.elements[i].parent >= 0 && inline(o.elements[i].node) && !pressed(o.elements[i].node) {
		i = o.elements[i].parent
	}
	return i
}

// tally is what was counted of a text, for a block.
type tally struct {
	counts
	first, last rune
	hash        uint64
}

func (o *outline) text(n *html.Node) {
	var t tally
	t.add(n.Data, o.inLink > 0)
	o.take(n, &t)
}

// take makes a node with text a part of the block that is open, or begins one.
func (o *outline) take(n *html.Node, t *tally) {
	if t.letters == 0 {
		return
	}
	b := o.leaf(n)
	b.counts.add(&t.counts)
	if o.bold > 0 {
		b.strong += t.letters
	}
	if b.first == 0 {
		b.first = t.first
	}
	b.last = t.last
	b.hash = (b.hash ^ t.hash) * 1099511628211
	o.elements[o.at].counts.add(&t.counts)
}

// add counts a text.
func (t *tally) add(s string, link bool) {
	c := counts{}
	first, last, hash := t.first, t.last, t.hash
	inWord := false
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		if r <= ' ' {
			inWord = false
			continue
		}
		word := false
		switch {
		case r < utf8.RuneSelf:
			switch {
			case 'a' <= r && r <= 'z':
				word = true
			case 'A' <= r && r <= 'Z':
				word = true
				c.uppers++
			case '0' <= r && r <= '9':
				word = true
				c.digits++
			case r == '.' || r == '!' || r == '?':
				if i >= len(s) || s[i] <= ' ' || s[i] == '"' || s[i] == ')' {
					c.ends++
				}
			case r == ',' || r == ';' || r == ':':
				c.commas++
			case r == '$' || r == '|' || r == '>':
				c.signs++
			}
			c.letters++
		case r == '\u00a0' || r == '\u200b' || r == '\ufeff' || unicode.IsSpace(r):
			inWord = false
			continue
		case ideograph(r):
			c.letters += 3
			c.words++
		default:
			switch r {
			case '。', '！', '？', '؟', '।', '۔', '…', '．':
				c.ends++
			case '、', '，', '،', '；', '：', '؛':
				c.commas++
			case '€', '£', '¥', '₹', '©', '®', '™', '→', '›', '»', '«', '‹', '•', '·':
				c.signs++
			default:
				word = unicode.IsLetter(r)
				if word && unicode.IsUpper(r) {
					c.uppers++
				}
			}
			c.letters++
		}
		if word && !inWord {
			c.words++
		}
		inWord = word
		if first == 0 {
			first = r
		}
		last = r
		hash = (hash ^ uint64(r)) * 1099511628211
		if c.letters > maxCounted {
			break
		}
	}
	if link {
		c.links = c.letters
	}
	t.counts.add(&c)
	t.first, t.last, t.hash = first, last, hash
}

// ideograph tells characters that are words or syllables by themselves.
func ideograph(r rune) bool {
	return r >= 0x3040 && r <= 0x30ff || r >= 0x3400 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x3ffff
}

// unread are the elements whose text nobody reads, or not here.
func unread(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Head, atom.Svg, atom.Title, atom.Datalist, atom.Noframes, atom.Link, atom.Meta:
		return true
	case atom.Template:
		_, shadow := facts.Attribute(n, "shadowrootmode")
		return !shadow
	}
	return false
}

// inline are the elements that do not end a run of text; cells are among them, so that a row of a table is one block. Elements that pages make up do: their style, which is not known
// here, sets them apart more often than not.
func inline(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Br, atom.Button, atom.Cite, atom.Code, atom.Data, atom.Del,
		atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Math, atom.Nobr, atom.Picture,
		atom.Q, atom.Rp, atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small, atom.Source, atom.Span, atom.Strike, atom.Strong, atom.Sub,
		atom.Sup, atom.Svg, atom.Td, atom.Th, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Script, atom.Style, atom.Input, atom.Link, atom.Meta:
		return true
	}
	return false
}

// pressed says that n is a button, and not a word of the sentence that it stands in, such as one that shows what it means, nor a
// heading or a question that what is told below it is opened by.
func pressed(n *html.Node) bool {
	if n.DataAtom != atom.Button {
		return false
	}
	const few = 3 // words; fewer are mostly the name of a filter
	if p := n.Parent; p != nil && (tagNames(p.DataAtom) == tagHeading || p.DataAtom == atom.Dt) && len(strings.Fields(facts.ShortText(n))) >= few || facts.Discloses(n) {
		return false
	}
	if p := n.Parent; p == nil || p.DataAtom != atom.P && p.DataAtom != atom.Li && p.DataAtom != atom.Dd && p.DataAtom != atom.Td {
		return true
	}
	before, after := n.PrevSibling, n.NextSibling
	return before == nil || after == nil || before.Type != html.TextNode || after.Type != html.TextNode ||
		!strings.ContainsFunc(before.Data, unicode.IsLetter) || strings.TrimSpace(after.Data) == ""
}
