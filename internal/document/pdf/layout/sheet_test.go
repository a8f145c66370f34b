package layout

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

// sheet is a page that a test writes on, with a typewriter of square letters: half a size wide, a whole one for those
// that are wide.
type sheet struct{ Page }

func newSheet(number int) *sheet {
	return &sheet{Page{Number: number, Width: 600, Height: 800}}
}

func plain(size float32) Style { return Style{Font: "Serif", Size: size} }

func bold(size float32) Style { return Style{Font: "Serif-Bold", Size: size, Bold: true} }

func mono(size float32) Style { return Style{Font: "Mono", Size: size, Mono: true} }

func (s *sheet) style(look Style) uint16 {
	for i := range s.Styles {
		if s.Styles[i] == look {
			return uint16(i)
		}
	}
	s.Styles = append(s.Styles, look)
	return uint16(len(s.Styles) - 1)
}

// put writes a text from x on a base line, in the order in which it is shown, and answers where it ends.
func (s *sheet) put(x, base float32, look Style, text string) float32 {
	n := s.style(look)
	blank := NoBlank
	for _, c := range text {
		if c == ' ' {
			x += 0.5 * look.Size
			blank = Written
			continue
		}
		width := 0.5 * look.Size
		if wide(c) {
			width = look.Size
		}
		s.Glyphs = append(s.Glyphs, Glyph{
			Rect: Rect{x + 0.03*look.Size, base - 0.7*look.Size, x + width - 0.03*look.Size, base + 0.1*look.Size},
			Base: base, X: x, Rune: c, Style: n, Blank: blank,
		})
		x += width
		blank = NoBlank
	}
	return x
}

// lines writes a text's lines below one another.
func (s *sheet) lines(x, base float32, look Style, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		s.put(x+float32(indent)*0.5*look.Size, base, look, strings.TrimLeft(line, " "))
		base += 1.2 * look.Size
	}
}

// right writes leftward text that ends at x, as the engine hands it over: in the order in which it is read.
func (s *sheet) right(x, base float32, look Style, text string) {
	n := s.style(look)
	blank := NoBlank
	for _, c := range text {
		x -= 0.5 * look.Size
		if c == ' ' {
			blank = Written
			continue
		}
		s.Glyphs = append(s.Glyphs, Glyph{
			Rect: Rect{x + 0.03*look.Size, base - 0.7*look.Size, x + 0.47*look.Size, base + 0.1*look.Size},
			Base: base, X: x, Rune: c, Style: n, Blank: blank,
		})
		blank = NoBlank
	}
}

func (s *sheet) across(x0, x1, y float32) {
	s.Rules = append(s.Rules, Rule{Rect: Rect{x0, y, x1, y + 0.5}})
}

func (s *sheet) upright(x, y0, y1 float32) {
	s.Rules = append(s.Rules, Rule{Rect: Rect{x, y0, x + 0.5, y1}, Upright: true})
}

// read makes a text of pages.
func read(t *testing.T, pages ...*sheet) document.Text {
	t.Helper()
	b := New(1 << 20)
	b.Pages = len(pages)
	for _, p := range pages {
		b.Add(&p.Page)
	}
	text, err := b.Text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}
