package layout

import (
	"fmt"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/costtest"
)

// TestLargePagesEndSoon reads pages as full as the engine hands them over, set in the ways that cost most.
func TestLargePagesEndSoon(t *testing.T) {
	const glyphs = 100_000
	pages := map[string]func(s *sheet){
		"one line": func(s *sheet) {
			for i := range glyphs {
				s.glyph(float32(i)*0.006, 100, i%2)
			}
		},
		"a letter a line": func(s *sheet) {
			for i := range glyphs {
				s.glyph(float32(i%600), float32(i)*0.008, i%3)
			}
		},
		"two pieces a line": func(s *sheet) {
			for i := range glyphs / 10 {
				for k := range 10 {
					s.glyph(50+float32(k)*0.5+float32(k/5)*(100+float32(i*7%90)), float32(i)*0.08, 0)
				}
			}
		},
		"all at one place": func(s *sheet) {
			for range glyphs {
				s.glyph(300, 400, 0)
			}
		},
		"a grid": func(s *sheet) {
			for i := range glyphs {
				s.glyph(float32(i%300)*2, float32(i/300)*2.4, i%2)
			}
			for i := range 4000 {
				s.across(0, 600, float32(i)*0.2)
				s.upright(float32(i)*0.15, 0, 800)
			}
		},
		"links, marks and shapes": func(s *sheet) {
			for i := range glyphs {
				s.glyph(float32(i%600), float32(i/600)*4.8, i%2)
			}
			for i := range 2000 {
				r := Rect{float32(i%60) * 10, float32(i/60) * 20, float32(i%60)*10 + 3, float32(i/60)*20 + 3}
				s.Links = append(s.Links, Link{r, fmt.Sprint("https://a.example/", i)})
				s.Dots = append(s.Dots, Dot{Rect: r})
				s.Fills, s.Images = append(s.Fills, r), append(s.Images, r)
			}
		},
	}
	for name, fill := range pages {
		t.Run(name, func(t *testing.T) {
			s := newSheet(1)
			s.style(Style{Font: "F", Size: 1})
			s.style(Style{Font: "G", Size: 1, Pale: true})
			s.style(Style{Font: "H", Size: 2, Mono: true})
			fill(s)
			costtest.Within(t, name, 30*time.Second, func() {
				b := New(4 << 20)
				b.Add(&s.Page)
				text, err := b.Text(t.Context())
				t.Logf("%d bytes", len(text.Markdown))
				if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// glyph puts one letter at a place.
func (s *sheet) glyph(x, base float32, style int) {
	size := s.Styles[style].Size
	s.Glyphs = append(s.Glyphs, Glyph{
		Rect: Rect{x, base - 0.7*size, x + 0.4*size, base}, Base: base, X: x, Rune: 'a' + rune(len(s.Glyphs)%26), Style: uint16(style), Blank: Blank(len(s.Glyphs) % 3),
	})
}
