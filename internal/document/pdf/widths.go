package pdf

import (
	"math"
	"slices"
)

// widths is what tells whether a font is monospaced that does not say so by its name: which narrow and wide letters of
// it stand on the page, whose widths are then compared.
type widths struct {
	narrow, wide rune
	styles       []uint16
	square       bool // it has characters that fill a square, whose fonts set other letters evenly, too
	// What follows the narrow letters: the character before, where it began, and how near another came, in sizes.
	last rune
	x    float32
	near float32
}

// see notes a character of the font, which begins at x.
func (w *widths) see(c rune, x, size float32, blank bool) {
	if w.last == 'i' || w.last == 'l' {
		if d := (x - w.x) / size; !blank && d > 0 && (w.near == 0 || d < w.near) {
			w.near = d
		}
	}
	w.last, w.x = c, x
	switch {
	case c == 'i' || c == 'l':
		w.narrow = c
	case c == 'm' || c == 'w':
		w.wide = c
	case c >= 0x2E80:
		w.square = true
	}
}

// add notes a style that its characters have.
func (w *widths) add(style uint16) {
	if !slices.Contains(w.styles, style) {
		w.styles = append(w.styles, style)
	}
}

// mono says of the styles of fonts whose narrow letters are as wide as wide ones that they are monospaced.
func (g *glyphReader) mono() {
	for font, w := range g.widths {
		if w.narrow == 0 || w.wide == 0 || w.square || w.near < 0.4 {
			continue
		}
		a, b := g.width(font, w.narrow), g.width(font, w.wide)
		if a <= 0.2 || math.Abs(a-b) > 0.005*b {
			continue
		}
		for _, n := range w.styles {
			g.out.Styles[n].Mono = true
		}
	}
}

// width is how wide a character of a font is that stands on the page, in sizes; 0 where the font does not tell.
func (g *glyphReader) width(font uint64, c rune) float64 {
	if g.call(g.fn("FPDFFont_GetGlyphWidth"), font, uint64(c), uint64(math.Float32bits(1)), uint64(g.scratch)) == 0 {
		return 0
	}
	return g.float32At(g.scratch)
}
