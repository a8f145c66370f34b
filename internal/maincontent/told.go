// Told: which blocks say what the page declares to machines as its content.

package maincontent

import (
	"unicode"

	"golang.org/x/net/html"
)

// runWords is how many words in a row are compared.
const runWords = 3

// runsOf calls each with a hash of every run of words that it reads. Letters and digits make
// words, in any case; each character of a script that writes no blanks is one; tags and references in s are none.
type runsOf struct {
	words [runWords]uint64
	n     int
}

func (r *runsOf) add(word uint64, each func(uint64)) {
	copy(r.words[:], r.words[1:])
	r.words[runWords-1] = word
	if r.n++; r.n >= runWords {
		h := uint64(14695981039346656037)
		for _, w := range r.words {
			h = (h ^ w) * 1099511628211
		}
		each(h)
	}
}

func (r *runsOf) read(s string, markup bool, each func(uint64)) {
	word, in := uint64(0), false
	tag := false
	for _, c := range s {
		switch {
		case tag:
			tag = c != '>'
			continue
		case markup && c == '<':
			tag = true
		case c < 0x80 && (c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'):
			if !in {
				word, in = 14695981039346656037, true
			}
			word = (word ^ uint64(c|0x20)) * 1099511628211
			continue
		case c >= 0x80 && ideograph(c):
			if in {
				r.add(word, each)
				in = false
			}
			r.add(uint64(c), each)
			continue
		case c >= 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c)):
			if !in {
				word, in = 14695981039346656037, true
			}
			word = (word ^ uint64(unicode.ToLower(c))) * 1099511628211
			continue
		}
		if in {
			r.add(word, each)
			in = false
		}
	}
	if in {
		r.add(word, each)
	}
}

// readTold notes how much of each block is in what the page declares: in its texts, and in its summary.
func (f *finder) readTold() {
	const texts, summary = 1, 2
	if len(f.says.Texts()) == 0 && f.says.Summary() == "" {
		return
	}
	known := make(map[uint64]uint8, 256)
	for _, s := range f.says.Texts() {
		var r runsOf
		r.read(s, true, func(h uint64) { known[h] |= texts })
	}
	var r runsOf
	r.read(f.says.Summary(), true, func(h uint64) { known[h] |= summary })
	f.told = f.shares.take(len(f.blocks))
	for i := range f.blocks {
		b := &f.blocks[i]
		if b.letters < 12 {
			continue
		}
		var r runsOf
		all, hits := 0, [2]int{}
		for _, n := range f.leaves[b.from:b.to] {
			if n.Type == html.TextNode {
				r.read(n.Data, false, func(h uint64) {
					all++
					is := known[h]
					hits[0] += int(is & texts)
					hits[1] += int(is & summary >> 1)
				})
			}
		}
		if all > 0 {
			f.told[i] = [2]float32{float32(hits[0]) / float32(all), float32(hits[1]) / float32(all)}
			f.mostTold = max(f.mostTold, f.told[i][0])
		}
	}
}

// undisclosed is the description of the product that the page declares and shows in none of its blocks.
func (f *finder) undisclosed() string {
	text := f.says.Product()
	if text == "" || f.rest != nil { // it may be shown in what was not read
		return ""
	}
	missing := map[uint64]struct{}{}
	var r runsOf
	r.read(text, true, func(h uint64) { missing[h] = struct{}{} })
	all := len(missing)
	for i := range f.blocks {
		b := &f.blocks[i]
		var r runsOf
		for _, n := range f.leaves[b.from:b.to] {
			if n.Type == html.TextNode {
				r.read(n.Data, false, func(h uint64) { delete(missing, h) })
			}
		}
	}
	const shown = 5 // one part in so many: names and numbers stand on the page anyway
	if all == 0 || (all-len(missing))*shown > all {
		return ""
	}
	return text
}

// ruleTold keeps what a page about one product declares as its description, where the page shows it.
func (f *finder) ruleTold(scores []float32) {
	if f.told == nil || f.says.Product() == "" {
		return
	}
	const least = 60 // letters
	for i := range scores {
		if f.blocks[i].letters >= least && f.told[i][0] >= 0.7 {
			scores[i] = max(scores[i], 0.6)
		}
	}
}

// ruleRecipe keeps lists of ingredients and of steps, with the heading above each: those that the page declares to
// machines, and those that are named so.
func (f *finder) ruleRecipe(scores []float32) {
	const look = 3 // blocks before the list in which its heading is looked for
	for i := range f.elements {
		e := &f.elements[i]
		if e.is&tagList == 0 || e.to-e.from < 2 || !f.toldList(e) && !f.ingredients(int32(i)) {
			continue
		}
		for j := e.from; j < e.to; j++ {
			if f.blocks[j].letters > 0 {
				scores[j] = max(scores[j], 0.6)
			}
		}
		for j := e.from - 1; j >= 0 && j >= e.from-look; j-- {
			if f.elements[f.blocks[j].owner].is&tagHeading != 0 {
				scores[j] = max(scores[j], 0.6)
				break
			}
		}
	}
}

// toldList says that most of a list is declared as a recipe's.
func (f *finder) toldList(e *element) bool {
	if !f.says.Recipe() || f.told == nil {
		return false
	}
	all, told := int32(0), int32(0)
	for j := e.from; j < e.to; j++ {
		b := &f.blocks[j]
		all += b.letters
		if f.told[j][0] >= 0.6 {
			told += b.letters
		}
	}
	return told*2 >= all
}

// ingredients says that a list, its items or what is right around it is named as one of ingredients.
func (f *finder) ingredients(at int32) bool {
	const near = 2 // elements up
	e := &f.elements[at]
	if linkHeavy(e, 50) {
		return false
	}
	for k, up := 0, at; k <= near && up >= 0; k, up = k+1, f.elements[up].parent {
		if f.elements[up].is&wordRecipe != 0 {
			return true
		}
	}
	return at+1 < int32(len(f.elements)) && f.elements[at+1].is&wordRecipe != 0 // its first item
}
