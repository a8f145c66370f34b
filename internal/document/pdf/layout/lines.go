package layout

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// span is a piece of text that looks one way.
type span struct {
	text         string
	bold, italic bool
	mono         bool
	raise        int8
	note         string // label of the note that it refers to
	link         int32  // index into the builder's links; -1 for none
}

// textLine is one line of text in the order in which it is read.
type textLine struct {
	Rect
	base, size float32
	spans      []span
	first      float32 // width of its first word
	hang       float32 // how far its second word stands from that
	letters    int
	bold       bool // all of it
	mono       bool // all of it
	backwards  bool
	axis       float32 // where it is backwards: places are told from the other side of its region
	level      uint8   // of a heading, by the file's structure
	artifact   bool
	marked     bool    // the outline has an entry of just this text
	unseen     bool    // drawn with no ink, behind a scan
	hard       bool    // it begins on a line of its own, though it goes on with its block
	pre        string  // a line of code, with the blanks in it; its indent is by x
	advance    float32 // of a character of pre
	edge       edge
	page       int32
}

// edge says where at the ends of a page a line stands: 1 is the outermost.
type edge struct{ top, bottom uint8 }

// text is what a line says, plainly.
func (l *textLine) text() string {
	if len(l.spans) == 1 {
		return l.spans[0].text
	}
	var b strings.Builder
	for i := range l.spans {
		b.WriteString(l.spans[i].text)
	}
	return b.String()
}

// liner makes lines of rows of one page.
type liner struct {
	page      *Page
	links     []int32 // of the page's links, their index in the builder
	backwards bool
}

// line makes a line of a row's words.
func (l *liner) line(r row) textLine {
	backwards := leftwards(r.words)
	if n := letters(r.words); n < 3 {
		backwards = l.backwards
	}
	t := textLine{
		Rect: r.Rect, base: r.base, size: r.size, bold: true, backwards: backwards, artifact: true,
		page: int32(l.page.Number),
	}
	pre := l.preformatted(r.words)
	words := logical(r.words, backwards)
	t.first = words[0].X1 - words[0].X0
	if len(words) > 1 {
		t.hang = max(words[1].X0-words[0].X1, words[0].X0-words[1].X1)
	}
	var (
		text  strings.Builder
		style span
	)
	style.link = -1
	flush := func() {
		if text.Len() > 0 {
			s := style
			s.text = shortLeaders(compose(text.String()))
			t.spans = append(t.spans, s)
			text.Reset()
		}
	}
	level := uint8(0)
	for i := range words {
		w := &words[i]
		link := l.linkAt(w)
		for k := range w.inks {
			c := &w.inks[k]
			look := &l.page.Styles[c.Style]
			s := span{bold: look.Bold, italic: look.Italic, mono: look.Mono, raise: c.raise, link: -1}
			if link >= 0 && inside(l.page.Links[link].Rect, c.Rect) {
				s.link = l.links[link]
			}
			if neutral(c.Rune) && text.Len() > 0 && c.raise == style.raise && !s.mono && !style.mono {
				s.bold, s.italic = style.bold, style.italic
			}
			if i > 0 && k == 0 {
				if s != style {
					// The blank stands with what it does not change.
					if style.link < 0 || style.link == s.link {
						text.WriteByte(' ')
						flush()
					} else {
						flush()
						style = s
						text.WriteByte(' ')
					}
				} else {
					text.WriteByte(' ')
				}
			}
			if s != style {
				flush()
				style = s
			}
			text.WriteRune(c.Rune)
			if strength(c.Rune) != 0 || unicode.IsLetter(c.Rune) || unicode.IsDigit(c.Rune) {
				t.letters++
				t.bold = t.bold && (look.Bold || c.raise != 0)
				if look.Level == 0 {
					level = 255
				} else if level != 255 {
					level = look.Level
				}
			}
			t.artifact = t.artifact && look.Artifact
			t.unseen = t.unseen || look.Unseen
		}
	}
	flush()
	if level != 255 {
		t.level = min(level, 6)
	}
	if t.letters == 0 {
		t.bold = false
	}
	if t.mono = pre != ""; t.mono {
		t.pre = pre
		t.advance = advance(r.words)
	}
	return t
}

func letters(words []word) int {
	n := 0
	for i := range words {
		for _, k := range words[i].inks {
			if strength(k.Rune) != 0 {
				n++
			}
		}
	}
	return n
}

// neutral characters look the same in bold or not, and take the look of what is beside them.
func neutral(c rune) bool { return c == '.' || c == ',' || c == ';' || c == ':' || c == '…' }

// linkAt is the index of the page's link that most of a word stands in; -1 for none.
func (l *liner) linkAt(w *word) int {
	for i := range l.page.Links {
		if inside(l.page.Links[i].Rect, w.Rect) {
			return i
		}
	}
	return -1
}

// inside says that the middle of b is in a.
func inside(a, b Rect) bool {
	x, y := (b.X0+b.X1)/2, (b.Y0+b.Y1)/2
	return x >= a.X0 && x <= a.X1 && y >= a.Y0 && y <= a.Y1
}

// compose makes one character of a letter and its marks, letters of ligatures, and Arabic letters of their forms.
func compose(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] < 0x80
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case c >= 0xFB00 && c <= 0xFDFF || c >= 0xFE70 && c <= 0xFEFC:
			b.WriteString(norm.NFKC.String(string(c)))
		case c == 0xFEFF || c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 || c == 0x200E || c == 0x200F:
			// signs of direction, which the order of the text now says itself
		default:
			b.WriteRune(c)
		}
	}
	return norm.NFC.String(b.String())
}

// preformatted is a line as a monospaced font shows it, with its blanks; empty where more than a sign of another font
// stands in it.
func (l *liner) preformatted(words []word) string {
	other, all := 0, 0
	for i := range words {
		for _, k := range words[i].inks {
			all++
			if !l.page.Styles[k.Style].Mono {
				other++
			}
		}
	}
	if b, _ := bullet(string(words[0].inks[0].Rune) + " x"); other*8 > all || other > 0 && b != "" {
		return ""
	}
	a := advance(words)
	var b strings.Builder
	for i := range words {
		if i > 0 {
			n := 1
			if a > 0 {
				n = int((words[i].inks[0].X-words[i-1].inks[len(words[i-1].inks)-1].X)/a+0.5) - 1
			}
			b.WriteString(strings.Repeat(" ", min(max(n, 1), 80)))
		}
		for _, k := range words[i].inks {
			b.WriteRune(k.Rune)
		}
	}
	return compose(b.String())
}

// advance is how far apart a line's characters stand.
func advance(words []word) float32 {
	n, sum := 0, float32(0)
	for i := range words {
		w := words[i].inks
		for k := 1; k < len(w); k++ {
			if d := w[k].X - w[k-1].X; d > 0 {
				sum += d
				n++
			}
		}
	}
	if n == 0 {
		if len(words) > 0 {
			return 0.6 * words[0].size
		}
		return 0
	}
	return sum / float32(n)
}

// overstruck makes one character of an accent that is drawn over a letter, as TeX does it.
func overstruck(inks []ink) []ink {
	for i := 0; i+1 < len(inks); i++ {
		a, b := &inks[i], &inks[i+1]
		accent, letter := a, b
		mark := combining(a.Rune)
		if mark == 0 {
			accent, letter = b, a
			mark = combining(b.Rune)
		}
		if mark == 0 || !unicode.IsLetter(letter.Rune) || abs(float32(a.seq-b.seq)) > 1 {
			continue
		}
		mid := (accent.X0 + accent.X1) / 2
		if mid < letter.X0-0.05*letter.size || mid > letter.X1+0.05*letter.size || accent.X1-accent.X0 > letter.size {
			continue
		}
		base := letter.Rune
		if base == 'ı' {
			base = 'i'
		}
		whole := []rune(norm.NFC.String(string([]rune{base, mark})))
		if len(whole) != 1 {
			continue
		}
		one := *letter
		one.Rune, one.seq = whole[0], min(a.seq, b.seq)
		if accent.seq < letter.seq {
			one.Blank = accent.Blank
		}
		inks[i] = one
		inks = append(inks[:i+1], inks[i+2:]...)
	}
	return inks
}

// combining is the mark that a spacing accent stands for; 0 for another character.
func combining(c rune) rune {
	switch c {
	case '`', 0x02CB:
		return 0x300
	case 0xB4, 0x02CA:
		return 0x301
	case 0x02C6, '^':
		return 0x302
	case 0x02DC, '~':
		return 0x303
	case 0xAF, 0x02C9:
		return 0x304
	case 0x02D8:
		return 0x306
	case 0x02D9:
		return 0x307
	case 0xA8:
		return 0x308
	case 0x02DA:
		return 0x30A
	case 0x02DD:
		return 0x30B
	case 0x02C7:
		return 0x30C
	case 0xB8:
		return 0x327
	case 0x02DB:
		return 0x328
	}
	return 0
}
