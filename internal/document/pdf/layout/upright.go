package layout

// setUpright finds text that is set in columns from top to bottom, as Chinese and Japanese may be, and turns it so
// that its columns are lines: the right one first.
func setUpright(p *Page) {
	const least = 20 // characters that follow one beneath the other
	down, along := 0, 0
	for i := 1; i < len(p.Glyphs); i++ {
		a, b := &p.Glyphs[i-1], &p.Glyphs[i]
		if !wide(a.Rune) || !wide(b.Rune) || a.Turn != Upright || b.Turn != Upright || int(b.Style) >= len(p.Styles) {
			continue
		}
		switch size := p.Styles[b.Style].Size; {
		case beneath(a, b, size):
			down++
		case abs(a.Base-b.Base) < 0.1*size && b.X0 > a.X0:
			along++
		}
	}
	if down < least || down < 2*along {
		return
	}
	axis := float32(0)
	for i := range p.Glyphs {
		g := &p.Glyphs[i]
		if g.Turn != Upright || !wide(g.Rune) || int(g.Style) >= len(p.Styles) {
			continue
		}
		// Marks stand beside the middle of their column, which the character before them tells.
		if mid := (g.X0 + g.X1) / 2; i == 0 || !beneath(&p.Glyphs[i-1], g, p.Styles[g.Style].Size) || g.X1-g.X0 > 0.5*p.Styles[g.Style].Size {
			axis = mid
		}
		g.Turn, g.Base, g.X = Down, axis, g.Y0
	}
}

// beneath says that b stands under a, as the next of a column does.
func beneath(a, b *Glyph, size float32) bool {
	dx, dy := (b.X0+b.X1-a.X0-a.X1)/2, b.Y0-a.Y0
	return abs(dx) < 0.55*size && dy > 0.25*size && dy < 2.2*size && b.Y0 > a.Y0
}
