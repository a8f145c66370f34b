package layout

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// wide says that a character fills a square, so that no blank parts words of its script.
func wide(c rune) bool {
	return c >= 0x2E80 && c < 0xA4D0 && !(c >= 0x3130 && c < 0x3190) || c >= 0xF900 && c < 0xFB00 || c >= 0xFE30 && c < 0xFE50 ||
		c >= 0xFF00 && c < 0xFFA0 || c >= 0x1F200 && c < 0x1F300 || c >= 0x20000 && c < 0x40000
}

// strength is what a character says of the direction of its text: 1 for rightwards, -1 for leftwards, 0 for none.
func strength(c rune) int {
	if c < 0x590 {
		if unicode.IsLetter(c) {
			return 1
		}
		return 0
	}
	p, _ := bidi.LookupRune(c)
	switch p.Class() {
	case bidi.L:
		return 1
	case bidi.R, bidi.AL:
		return -1
	}
	return 0
}

// leftwards says that most letters of some words go from right to left.
func leftwards(words []word) bool {
	n := 0
	for i := range words {
		for j := range words[i].inks {
			n += strength(words[i].inks[j].Rune)
		}
	}
	return n < 0
}

// settleShared turns letters of a leftward text that share one sign's place, so that turning the text puts them right.
func settleShared(inks []ink) {
	for i := 0; i < len(inks); {
		j := i + 1
		for j < len(inks) && inks[j].Rect == inks[i].Rect && inks[j].seq == inks[j-1].seq+1 && strength(inks[j].Rune) < 0 {
			j++
		}
		switch {
		case j == i+2 && (alef(inks[i].Rune) && lam(inks[i+1].Rune) || lam(inks[i].Rune) && alef(inks[i+1].Rune)):
			if lam(inks[i].Rune) { // read lam first, whichever way the engine has put them
				inks[i], inks[i+1] = inks[i+1], inks[i]
			}
		case j > i+1 && strength(inks[i].Rune) < 0:
			slices.Reverse(inks[i:j])
		}
		i = j
	}
}

func lam(c rune) bool { return c == 'ل' }

func alef(c rune) bool { return c == 'ا' || c == 'أ' || c == 'إ' || c == 'آ' || c == 'ٱ' }

// settleMarks puts marks that stand on a letter right after it, whichever side of it their ink is on.
func settleMarks(inks []ink) {
	for i := range inks {
		if i > 0 && unicode.Is(unicode.Mn, inks[i].Rune) {
			// Of two letters it belongs to the one that the file writes before it.
			if i+1 < len(inks) && inks[i+1].seq == inks[i].seq-1 && !unicode.Is(unicode.Mn, inks[i+1].Rune) {
				inks[i], inks[i+1] = inks[i+1], inks[i]
			}
		}
	}
}

// logical puts words, which stand from left to right as shown, and the characters in them in the order in which they
// are read, in a line whose main direction is leftwards or not. It does to a line what the bidirectional algorithm does
// backwards: runs against the line's direction are turned.
func logical(words []word, backwards bool) []word {
	if !backwards && !slices.ContainsFunc(words, func(w word) bool { return w.backward() }) {
		return words
	}
	// Characters of all words with the words' bounds as blanks between them.
	type unit struct {
		ink
		word   int
		blank  bool
		turned bool // it stands in a leftward run
	}
	var units []unit
	for i := range words {
		if i > 0 {
			units = append(units, unit{blank: true, word: i})
		}
		for _, k := range words[i].inks {
			units = append(units, unit{ink: k, word: i})
		}
	}
	left := make([]bool, len(units)) // the direction of each
	last := backwards                // of the last strong one
	for i := 0; i < len(units); {
		u := units[i]
		if !u.blank && strength(u.Rune) != 0 {
			last = strength(u.Rune) < 0
			left[i] = last
			i++
			continue
		}
		if !u.blank && unicode.IsDigit(u.Rune) {
			// Numbers go rightwards in any text, with the signs that belong to them.
			for i < len(units) && !units[i].blank && (unicode.IsDigit(units[i].Rune) || i+1 < len(units) && numberSign(units[i].Rune) && unicode.IsDigit(units[i+1].Rune) && !units[i+1].blank) {
				i++
			}
			continue
		}
		// Neutral ones between two of one direction go with them, else with the line.
		j := i
		for j < len(units) && (units[j].blank || strength(units[j].Rune) == 0 && !unicode.IsDigit(units[j].Rune)) {
			j++
		}
		next := backwards
		if j < len(units) {
			next = strength(units[j].Rune) < 0 || strength(units[j].Rune) == 0 && last // a number goes with what is before it
		}
		to := backwards
		if next == last {
			to = last
		}
		for ; i < j; i++ {
			left[i] = to
		}
	}
	var order []unit
	// back emits units that stand in a leftward text, the last one first.
	back := func(from, to int) {
		for end := to; end > from; {
			start := end - 1
			for start > from && left[start-1] == left[end-1] {
				start--
			}
			if left[start] {
				for k := end - 1; k >= start; k-- {
					units[k].turned = true
					order = append(order, units[k])
				}
			} else {
				order = append(order, units[start:end]...)
			}
			end = start
		}
	}
	if backwards {
		back(0, len(units))
	} else {
		for i := 0; i < len(units); {
			if !left[i] {
				order = append(order, units[i])
				i++
				continue
			}
			end := i + 1 // of a leftward text, with the numbers in it
			for j := i + 1; j < len(units) && (left[j] || units[j].blank || strength(units[j].Rune) <= 0); j++ {
				if left[j] {
					end = j + 1
				}
			}
			back(i, end)
			i = end
		}
	}
	var brackets []*ink
	for i := range order {
		if u := &order[i]; !u.blank && u.turned && mirror(u.Rune) != 0 {
			brackets = append(brackets, &u.ink)
		}
	}
	if unmatched(brackets, false) >= unmatched(brackets, true) {
		for _, b := range brackets {
			b.Rune = mirror(b.Rune)
		}
	}
	var out []word
	var inks []ink
	flush := func() {
		if len(inks) > 0 {
			out = append(out, newWord(inks, words[0].base))
			inks = nil
		}
	}
	for i, u := range order {
		if u.blank {
			// The engine finds blanks on the wrong side of turned brackets.
			if !(i > 0 && order[i-1].turned && opens(order[i-1].Rune) || i+1 < len(order) && order[i+1].turned && (closes(order[i+1].Rune) || strings.ContainsRune(".،,؛:؟", order[i+1].Rune)) && (i+2 == len(order) || order[i+2].blank)) {
				flush()
			}
		} else {
			inks = append(inks, u.ink)
		}
	}
	flush()
	for i := range out {
		settleAfter(out[i].inks)
	}
	return out
}

// settleAfter puts marks behind their letter, where turning has put them before it.
func settleAfter(inks []ink) {
	for i := 0; i+1 < len(inks); i++ {
		if unicode.Is(unicode.Mn, inks[i].Rune) && inks[i+1].seq == inks[i].seq-1 && !unicode.Is(unicode.Mn, inks[i+1].Rune) {
			inks[i], inks[i+1] = inks[i+1], inks[i]
		}
	}
}

func numberSign(c rune) bool {
	return c == '.' || c == ',' || c == ':' || c == '/' || c == '%' || c == '-' || c == '٫' || c == '٬'
}

// backward says that a letter of the word goes leftwards.
func (w *word) backward() bool {
	return slices.ContainsFunc(w.inks, func(k ink) bool { return k.Rune >= 0x590 && strength(k.Rune) < 0 })
}

// mirror is the bracket that answers to one; 0 for another character.
func mirror(c rune) rune {
	const pairs = "()[]{}<>«»‹›⟨⟩"
	all := []rune(pairs)
	for i, b := range all {
		if b == c {
			return all[i^1]
		}
	}
	return 0
}

// unmatched is how many brackets have none that answers to them, as they are or mirrored. Whether the file names a
// bracket by what it means or by what it looks like differs from program to program.
func unmatched(brackets []*ink, mirrored bool) int {
	var open []rune
	n := 0
	for _, b := range brackets {
		c := b.Rune
		if mirrored {
			c = mirror(c)
		}
		if opens(c) {
			open = append(open, mirror(c))
			continue
		}
		if len(open) > 0 && open[len(open)-1] == c {
			open = open[:len(open)-1]
		} else {
			n++
		}
	}
	return n + len(open)
}

func opens(c rune) bool {
	return c == '(' || c == '[' || c == '{' || c == '<' || c == '«' || c == '‹' || c == '⟨'
}

func closes(c rune) bool { return mirror(c) != 0 && !opens(c) }
