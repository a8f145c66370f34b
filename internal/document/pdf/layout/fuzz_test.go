package layout

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// arbitrary makes pages of bytes: places and signs as they come, but near each other often enough to make lines,
// columns and tables.
func arbitrary(data []byte) []*Page {
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		c := data[0]
		data = data[1:]
		return c
	}
	number := func() float32 {
		switch c := next(); {
		case c < 250:
			return float32(c) * 3
		case c == 250:
			return float32(math.NaN())
		case c == 251:
			return float32(math.Inf(1))
		case c == 252:
			return -5e6
		default:
			var raw [4]byte
			for i := range raw {
				raw[i] = next()
			}
			return math.Float32frombits(binary.LittleEndian.Uint32(raw[:]))
		}
	}
	signs := []rune("abc XYZ 0123456789.,-–()[]•◦\\*_`#|<>&~ﬁ́´אבגמשابتثم漢字、。…1.(a)\U0001F600")
	var pages []*Page
	for len(data) > 0 && len(pages) < 6 {
		p := &Page{Number: len(pages) + 1, Width: 600, Height: 800, Drawn: int(next() % 3)}
		if next() == 7 {
			p.Width, p.Height = float64(number()), float64(number())
		}
		for range next()%5 + 1 {
			flags := next()
			p.Styles = append(p.Styles, Style{
				Font: "F", Size: number() / 12, Bold: flags&1 > 0, Italic: flags&2 > 0, Mono: flags&4 > 0,
				Unseen: flags&24 == 24, Pale: flags&96 == 96, Level: next() % 8, Artifact: flags&128 > 0,
				Cell: Cell{uint16(flags & 3), uint16(next() % 6), uint16(next() % 5)},
			})
		}
		x, y := float32(50), float32(100)
		for range int(next()) * 4 {
			op := next()
			switch {
			case op < 20:
				x, y = number(), number()
			case op < 40:
				x, y = 50+float32(op%3)*170, y+12
			case op < 44:
				p.Rules = append(p.Rules, Rule{Rect{number(), number(), number(), number()}, op%2 == 0})
			case op < 47:
				a, b := number(), number()
				p.Rules = append(p.Rules, Rule{Rect{a, b, a + 200, b + 1}, false}, Rule{Rect{a, b, a + 1, b + 100}, true})
			case op < 49:
				p.Dots = append(p.Dots, Dot{Rect: Rect{x - 10, y - 5, x - 7, y - 2}, Hollow: op%2 == 0})
			case op < 51:
				p.Links = append(p.Links, Link{Rect{x, y - 10, x + 60, y + 5}, "https://a.example/" + string(signs[int(next())%len(signs)])})
			case op < 53:
				r := Rect{number(), number(), number(), number()}
				p.Images, p.Fills = append(p.Images, r), append(p.Fills, r)
			default:
				c := signs[int(next())%len(signs)]
				w := float32(5)
				if op > 250 {
					w = number() - 300
				}
				turn := Upright
				if op%32 == 3 {
					turn = Turn(next() % 7)
				}
				p.Glyphs = append(p.Glyphs, Glyph{
					Rect: Rect{x, y - 7, x + w, y + 1}, Base: y, X: x, Rune: c, Style: uint16(op) % 6, Turn: turn, Blank: Blank(op % 4 % 3),
				})
				x += w
				if op%16 == 5 {
					x += 5
				}
			}
		}
		pages = append(pages, p)
	}
	return pages
}

// FuzzLayout makes texts of arbitrary pages: none may end the program or take long, and what comes out is bounded, valid
// and free of control characters.
func FuzzLayout(f *testing.F) {
	f.Add([]byte("some bytes to begin with"))
	f.Add([]byte(strings.Repeat("\x00\x01\x05\x30\x60\x80\xa0\xc0", 200)))
	f.Add([]byte(strings.Repeat("\x10\x20\x61\x62\x63\x64\x65\x66\x25\x2d\x2e", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := New(1 << 16)
		b.Title = string(data[:min(len(data), 40)])
		b.Bookmarks = []Bookmark{{Title: b.Title, Level: len(data)%9 - 1, Page: 1}, {Title: "abc", Level: 2}}
		pages := arbitrary(data)
		b.Pages = len(pages)
		glyphs := 0
		for _, p := range pages {
			glyphs += len(p.Glyphs)
			b.Add(p)
		}
		text, err := b.Text(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(text.Markdown) || len(text.Markdown) > 1<<16 || len(text.Markdown) > 2000+60*glyphs {
			t.Errorf("%d glyphs became %d bytes", glyphs, len(text.Markdown))
		}
		for _, c := range text.Markdown {
			if c < ' ' && c != '\n' {
				t.Fatalf("a control character in %q", text.Markdown)
			}
		}
		if strings.TrimSpace(text.Markdown) == "" {
			t.Error("nothing was written")
		}
	})
}
