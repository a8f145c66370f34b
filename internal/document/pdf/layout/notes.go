package layout

import (
	"fmt"
	"slices"
	"strings"
)

// maxFeet is how many blocks before a note its number is looked for.
const maxFeet = 1000

// footnotes finds the notes at the feet of columns, puts those of a page behind its text, so that a sentence goes on in
// the next column or page as if they were not there, and ties each to the raised number that refers to it.
func (b *Builder) footnotes(body float32) {
	for from := 0; from < len(b.blocks); {
		to := from
		for to < len(b.blocks) && b.blocks[to].page == b.blocks[from].page {
			to++
		}
		b.feet(b.blocks[from:to], body)
		from = to
	}
	seen := map[string]bool{}
	for i := range b.blocks {
		if k := &b.blocks[i]; k.foot && k.note != "" {
			label := k.note
			if seen[label] {
				label = fmt.Sprintf("%d-%s", k.page, label)
			}
			if seen[label] || !b.refer(i, k.note, label) {
				k.note = ""
				continue
			}
			seen[label] = true
			k.lines[0].take(noteNumber(&k.lines[0]))
			k.note = label
		}
	}
}

// feet marks the notes of a page, and puts them at its end.
func (b *Builder) feet(page []block, body float32) {
	raised := map[string]bool{} // what stands raised in the text: it may refer to a note
	for i := range page {
		page[i].each(func(l *textLine) {
			for n := range l.spans {
				if s := &l.spans[n]; n > 0 && s.raise > 0 {
					raised[strings.Trim(s.text, " []()")] = true
				}
			}
		})
	}
	for i := len(page) - 1; i >= 0; i-- {
		k := &page[i]
		last := i+1 == len(page) || page[i+1].start || page[i+1].foot
		if !last || k.kind == tabular2D || k.kind == code || k.start && i > 0 && !page[i-1].foot && k.lines[0].base < page[i-1].bottom() {
			continue
		}
		number := ""
		if n := noteNumber(&k.lines[0]); n > 0 {
			number = strings.Trim(k.lines[0].text()[:n], " .)")
		}
		// Some programs set notes as large as the text: then a line above and the number in the text have to say it.
		if k.lines[0].size > 0.93*body && !(number != "" && raised[number] && underBar(page[:i+1])) {
			continue
		}
		if i == 0 || k.lines[0].level > 0 || !k.barred && !raised[number] && !symbol(&k.lines[0]) {
			continue
		}
		k.foot, k.note = true, number
	}
	slices.SortStableFunc(page, func(a, b block) int {
		switch {
		case a.foot == b.foot:
			return 0
		case b.foot:
			return -1
		}
		return 1
	})
}

// underBar says that a line is drawn above the last of these blocks, or above others with numbers before it.
func underBar(page []block) bool {
	for i := len(page) - 1; i >= 0 && len(page[i].lines) > 0 && noteNumber(&page[i].lines[0]) > 0; i-- {
		if page[i].barred {
			return true
		}
	}
	return false
}

// symbol says that a line begins with the sign of a note.
func symbol(l *textLine) bool {
	t := l.text()
	return strings.HasPrefix(t, "*") || strings.HasPrefix(t, "†") || strings.HasPrefix(t, "‡") || strings.HasPrefix(t, "§") || strings.HasPrefix(t, "¶") || len(l.spans) > 0 && l.spans[0].raise > 0
}

// bottom is the base line of a block's last line.
func (k *block) bottom() float32 {
	if len(k.lines) == 0 {
		return 0
	}
	return k.lines[len(k.lines)-1].base
}

// noteNumber is how many bytes of a line are the number of the note that it begins, with the blank after it; 0 for none.
func noteNumber(l *textLine) int {
	t := l.text()
	n := 0
	for n < len(t) && n < 3 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	if n == 0 || n == len(t) {
		return 0
	}
	raised := l.spans[0].raise > 0 && strings.TrimSpace(l.spans[0].text) == t[:n]
	switch {
	case t[n] == ' ':
		return n + 1
	case (t[n] == '.' || t[n] == ')') && n+1 < len(t) && t[n+1] == ' ':
		return n + 2
	case raised:
		return n
	}
	return 0
}

// refer makes the raised number that stands for note i a reference to it; false where there is none, or more than one.
func (b *Builder) refer(i int, number, label string) bool {
	var found *span
	from := i // where the page begins
	for from > 0 && b.blocks[from-1].page == b.blocks[i].page && i-from < maxFeet {
		from--
	}
	for j := from; j < i; j++ {
		k := &b.blocks[j]
		if k.foot {
			continue
		}
		k.each(func(l *textLine) {
			for n := range l.spans {
				s := &l.spans[n]
				if n > 0 && s.raise > 0 && s.note == "" && strings.Trim(s.text, " []()") == number {
					if found == nil {
						found = s
					}
				}
			}
		})
		if found != nil {
			break
		}
	}
	if found == nil {
		return false
	}
	found.note = label
	return true
}
