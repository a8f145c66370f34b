package layout

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	edgeRows  = 4    // at each end of a page that may be running lines
	edgeShare = 0.17 // of the page's height in which they stand
)

// markEdges says of the rows at the ends of a page that they are there. rows go from top to bottom.
func markEdges(all []row, height float64) map[float32]edge {
	out := map[float32]edge{}
	last := float32(-1)
	n := uint8(0)
	for i := range all {
		r := &all[i]
		if r.words[0].table != nil || float64(r.base) > edgeShare*height {
			break
		}
		if i == 0 || r.base-last > 2 {
			n++
			last = r.base
		}
		if n > edgeRows {
			break
		}
		out[r.base] = edge{top: n}
	}
	n = 0
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		if r.words[0].table != nil || float64(r.base) < (1-edgeShare)*height {
			break
		}
		if n == 0 || last-r.base > 2 {
			n++
			last = r.base
		}
		if n > edgeRows {
			break
		}
		e := out[r.base]
		e.bottom = n
		out[r.base] = e
	}
	return out
}

// runningKey is what stays the same of a running line from page to page.
type runningKey struct {
	text string
	top  bool
}

// place is where a line of one key stands.
type place struct {
	page int32
	y    float32
	line *textLine
}

// runningLines finds the lines that repeat at the ends of pages, and page numbers.
func runningLines(blocks []block, pages int) map[*textLine]bool {
	byKey := map[runningKey][]place{}
	var keys []runningKey
	each := func(f func(l *textLine)) {
		for i := range blocks {
			b := &blocks[i]
			for k := range b.lines {
				f(&b.lines[k])
			}
			for _, r := range b.cells {
				for _, c := range r {
					for k := range c {
						f(&c[k])
					}
				}
			}
		}
	}
	each(func(l *textLine) {
		if l.edge == (edge{}) {
			return
		}
		k := runningKey{text: runningText(l.text()), top: l.edge.top > 0}
		if byKey[k] == nil {
			keys = append(keys, k)
		}
		byKey[k] = append(byKey[k], place{l.page, l.base, l})
	})
	out := map[*textLine]bool{}
	for l := range numbered(byKey) {
		out[l] = true
	}
	found := map[runningKey]place{}
	for _, k := range keys {
		const most = 100 // that are looked for in others
		for i, p := range repeated(byKey[k], k, pages) {
			out[p.line] = true
			if i >= 2 && len(found) < most {
				found[k] = p
			}
		}
	}
	// What has something more beside it on some pages, such as on even ones.
	for _, k := range keys {
		if out[byKey[k][0].line] || len(k.text) > 160 {
			continue
		}
		for f, at := range found {
			if len(f.text) < 6 || f.top != k.top || !strings.HasPrefix(k.text, f.text) && !strings.HasSuffix(k.text, f.text) {
				continue
			}
			for _, p := range byKey[k] {
				if abs(p.y-at.y) < 4 {
					out[p.line] = true
				}
			}
		}
	}
	return out
}

// runningText is a text without what changes from page to page.
func runningText(s string) string {
	var b strings.Builder
	digits := false
	for _, c := range strings.ToLower(s) {
		switch {
		case unicode.IsDigit(c):
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		case unicode.IsSpace(c):
		default:
			b.WriteRune(c)
		}
		digits = false
	}
	return b.String()
}

// repeated are those of the places that a running line stands at.
func repeated(places []place, k runningKey, pages int) []place {
	number := pageNumberText(k.text)
	if number {
		if pages == 1 {
			if len(places) == 1 && places[0].line.edge.outermost() && (digitsOf(places[0].line.text()) == "1" || strings.Contains(k.text, "page#of#")) {
				return places
			}
			return nil
		}
		// Numbers go with the pages, whatever else stands beside them.
		return progressing(places)
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.y, b.y) })
	var out []place
	for i := 0; i < len(places); {
		j := i
		for j < len(places) && places[j].y-places[i].y < 4 {
			j++
		}
		seen := map[int32]bool{}
		artifacts := 0
		for _, p := range places[i:j] {
			seen[p.page] = true
			if p.line.artifact {
				artifacts++
			}
		}
		n := len(seen)
		enough := n >= 3 && (n*4 >= pages || n >= 4) || n == 2 && pages <= 4 && slices.ContainsFunc(places[i:j], func(p place) bool { return p.line.edge.outermost() }) ||
			n >= 2 && artifacts == j-i
		if enough && len(k.text) > 0 {
			out = append(out, places[i:j]...)
		}
		i = j
	}
	return out
}

func (e edge) outermost() bool { return e.top == 1 || e.bottom == 1 }

// pageNumberText says that a running text is a page's number and the words that go with it.
func pageNumberText(k string) bool {
	bare := strings.Trim(k, "-–—|·.•[]()/~ ")
	if bare == "#" || bare == "#/#" || bare == "#|#" {
		return true
	}
	if len(bare) <= 5 && bare != "" && strings.Trim(bare, "ivxl") == "" {
		return true
	}
	for _, word := range []string{"page", "pg", "p", "p.", "seite", "página", "pagina", "side", "sida", "strana", "стр", "стр.", "pág", "pág.", "s.", "oldal", "第", "lk", "sivu"} {
		if rest, ok := strings.CutPrefix(bare, word); ok {
			rest = strings.Trim(rest, ". :")
			switch rest {
			case "#", "#of#", "#/#", "#von#", "#de#", "#di#", "#sur#", "#af#", "#av#", "#из#", "#页", "#頁", "#ページ":
				return true
			}
		}
	}
	return bare == "#of#"
}

func digitsOf(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsDigit(c) {
			b.WriteRune(c)
		} else if b.Len() > 0 {
			break
		}
	}
	return b.String()
}

// progressing are the numbers that stay as far from their page's number as others do.
func progressing(places []place) []place {
	apart := map[int][]place{}
	for _, p := range places {
		n := 0
		digits := digitsOf(p.line.text())
		if digits == "" {
			n = roman(strings.Trim(strings.ToLower(p.line.text()), "-–—|·. []()"))
		}
		for _, c := range digits {
			if c >= '0' && c <= '9' && n < 1_000_000 {
				n = 10*n + int(c-'0')
			}
		}
		if n > 0 {
			apart[n-int(p.page)] = append(apart[n-int(p.page)], p)
		}
	}
	var out []place
	for _, list := range apart {
		seen := map[int32]bool{}
		for _, p := range list {
			seen[p.page] = true
		}
		if len(seen) >= 2 {
			out = append(out, list...)
		}
	}
	return out
}

// numbered are lines at one height of several pages that begin or end with their page's number, whatever else they
// say, such as the chapter.
func numbered(byKey map[runningKey][]place) map[*textLine]bool {
	type spot struct {
		apart int
		y     int32
		end   bool
	}
	found := map[spot][]place{}
	for k, places := range byKey {
		if len(k.text) > 160 || !strings.Contains(k.text, "#") {
			continue
		}
		for _, p := range places {
			if !p.line.edge.outermost() {
				continue
			}
			words := strings.Fields(p.line.text())
			for i, w := range []string{words[0], words[len(words)-1]} {
				if n, err := strconv.Atoi(w); err == nil && n > 0 {
					at := spot{n - int(p.page), int32(p.y / 3), i == 1}
					found[at] = append(found[at], p)
				}
			}
		}
	}
	out := map[*textLine]bool{}
	for _, places := range found {
		pages := map[int32]bool{}
		for _, p := range places {
			pages[p.page] = true
		}
		if len(pages) < 3 {
			continue
		}
		for _, p := range places {
			out[p.line] = true
		}
	}
	return out
}

// roman is the value of a small Roman number; 0 for none.
func roman(s string) int {
	n, last := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		v := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}[s[i]]
		if v == 0 || len(s) > 12 {
			return 0
		}
		if v < last {
			n -= v
		} else {
			n, last = n+v, v
		}
	}
	return n
}
