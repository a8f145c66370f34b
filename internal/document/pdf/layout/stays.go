package layout

import (
	"strconv"
	"strings"
)

// notRunning takes from lines that repeat at the ends of pages those that are a part of the text: sentences that
// a document has again and again, lines of a paragraph that goes on below them, and a big title at the
// document's start that is nowhere else.
func (b *Builder) notRunning(lines map[*textLine]bool) map[*textLine]bool {
	if len(lines) == 0 {
		return lines
	}
	said := map[string]int{}        // how often a text stands elsewhere
	first := map[string]*textLine{} // of what repeats
	named := map[string]bool{}      // titles that stand elsewhere, too
	body := b.bodySize()
	for i := range b.blocks {
		b.blocks[i].each(func(l *textLine) {
			text := runningText(l.text())
			switch {
			case lines[l]:
				if first[text] == nil {
					first[text] = l
				}
			case l.edge == edge{}:
				said[text]++
				named[text] = true
			default:
				named[text] = true
			}
		})
	}
	const (
		sentence = 25 // bytes of a text that is more than a name
		filled   = 40 // letters of a line that is more than a running one
	)
	for i := range b.blocks {
		k := &b.blocks[i]
		text := 0
		for n := range k.lines {
			if !lines[&k.lines[n]] {
				text++
			}
		}
		k.each(func(l *textLine) {
			if !lines[l] {
				return
			}
			key := runningText(l.text())
			big := l.size >= 1.14*body || l.bold && l.size >= 0.97*body && l.letters > 15
			if len(key) >= sentence && said[key] >= 2 ||
				k.kind == paragraph && text >= 2 && l.letters > filled && !l.artifact ||
				big && first[key] == l && k.page == b.blocks[0].page && l.edge.top > 0 && !l.artifact && !named[key] && strings.Trim(key, "#-–|/.") == key && l.letters > 9 {
				delete(lines, l)
			}
		})
	}
	b.keepAlone(lines)
	return lines
}

// keepAlone takes out of lines those of pages that have nothing else, neither text nor pictures, where they are half of the
// pages with text: tickets, labels and slides repeat what they are for.
func (b *Builder) keepAlone(lines map[*textLine]bool) {
	more := map[int]bool{} // pages with text, and whether it has more than running lines
	for i := range b.blocks {
		k := &b.blocks[i]
		k.each(func(l *textLine) { more[k.page] = more[k.page] || !lines[l] || b.drawn[k.page] })
	}
	alone := 0
	for _, is := range more {
		if !is {
			alone++
		}
	}
	if 2*alone < len(more) {
		return
	}
	words := map[int]bool{} // pages with a line that does not begin or end with a number, which may be the page's
	for i := range b.blocks {
		k := &b.blocks[i]
		k.each(func(l *textLine) { words[k.page] = words[k.page] || !endsInNumber(l.text()) })
	}
	for i := range b.blocks {
		if k := &b.blocks[i]; !more[k.page] {
			k.each(func(l *textLine) {
				if !words[k.page] || !endsInNumber(l.text()) {
					delete(lines, l)
				}
			})
		}
	}
}

// endsInNumber says that a number stands at one of the ends of a line.
func endsInNumber(s string) bool {
	words := strings.Fields(s)
	for _, i := range []int{0, len(words) - 1} {
		if _, err := strconv.Atoi(words[max(i, 0)]); err == nil {
			return true
		}
	}
	return false
}
