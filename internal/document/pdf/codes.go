package pdf

import (
	"unicode"

	"github.com/wayleave/wayleave/internal/document/pdf/layout"
)

// Fonts that do not say which letters their codes mean leave the engine with the codes. TeX's bitmap fonts are such:
// letters are where ASCII has them, ligatures, dashes, quotes and marks of items where control characters are. Fonts of
// other programs have ligatures alone there, in no fixed order.

// codeRun is a page's characters of one font whose meaning the engine does not know, by their index among the glyphs.
type codeRun struct {
	glyphs []int
	named  bool // TeX's bitmap fonts have no name
}

// TeX's encodings as far as they differ from ASCII and Latin 1. A zero means no character that is read.
var (
	t1Low  = [32]rune{'`', '´', 'ˆ', '˜', '¨', '˝', '˚', 'ˇ', '˘', '¯', '˙', '¸', '˛', '‚', '‹', '›', '“', '”', '„', '«', '»', '–', '—', 0, '0', 'ı', 'ȷ', 0xFB00, 0xFB01, 0xFB02, 0xFB03, 0xFB04}
	ot1Low = [32]rune{'Γ', '∆', 'Θ', 'Λ', 'Ξ', 'Π', 'Σ', 'Υ', 'Φ', 'Ψ', 'Ω', 0xFB00, 0xFB01, 0xFB02, 0xFB03, 0xFB04, 'ı', 'ȷ', '`', '´', 'ˇ', '˘', '¯', '˚', '¸', 'ß', 'æ', 'œ', 'ø', 'Æ', 'Œ', 'Ø'}
)

// t1High is what T1 has from 0x80 on, and t1Odd where it differs from Latin 1 above that.
const t1High = "ĂĄĆČĎĚĘĞĹĽŁŃŇŊŐŔŘŚŠŞŤŢŰŮŸŹŽŻĲİđ§ăąćčďěęğĺľłńňŋőŕřśšşťţűůÿźžżĳ¡¿£"

func t1(c rune) rune {
	switch {
	case c < 0x20:
		return t1Low[c]
	case c == 0x7F:
		return '-'
	case c >= 0x80 && c < 0xC0:
		return []rune(t1High)[c-0x80]
	case c == 0xD7:
		return 'Œ'
	case c == 0xF7:
		return 'œ'
	case c == 0xFF:
		return 'ß'
	}
	return c
}

func ot1(c rune) rune {
	switch {
	case c < 0x20:
		return ot1Low[c]
	case c == '"':
		return '”'
	case c == '\\':
		return '“'
	case c == '{':
		return '–'
	case c == '|':
		return '—'
	case c == '<':
		return '¡'
	case c == '>':
		return '¿'
	}
	return c
}

// ts1 is the encoding of TeX's fonts of signs: what it has where letters would be is seldom used.
func ts1(c rune) rune {
	switch c {
	case 0x84:
		return '†'
	case 0x85:
		return '‡'
	case 0x88:
		return '•'
	case 0xBF:
		return '€'
	}
	return c
}

// symbols is what the font of TeX's mathematical signs has where texts use it.
func symbols(c rune) rune {
	switch c {
	case 0:
		return '−'
	case 1:
		return '·'
	case 2:
		return '×'
	case 3:
		return '∗'
	case 6:
		return '±'
	case 0x0E:
		return '◦'
	case 0x0F:
		return '•'
	case 0x14:
		return '≤'
	case 0x15:
		return '≥'
	case 0x18:
		return '∼'
	case 0x21:
		return '→'
	}
	return c
}

// decode puts the letters for codes whose meaning can be told by where they stand, and drops what stays a control
// character.
func (r *pageReader) decode(p *layout.Page, runs map[uint64]*codeRun) {
	if len(runs) == 0 {
		return
	}
	for _, run := range runs {
		if !run.named {
			r.vote(p, run)
		}
	}
	for _, run := range runs {
		text := !run.named && letters(p, run)
		even := text && evenly(p, run)
		if even {
			for _, i := range run.glyphs {
				p.Styles[p.Glyphs[i].Style].Mono = true // each of these fonts has styles of its own
			}
		}
		switch {
		case run.named:
			ligatures(p, run)
		case !text:
			signs := symbols
			for _, i := range run.glyphs {
				if c := p.Glyphs[i].Rune; c >= 0x80 {
					signs = ts1
				}
			}
			run.each(p, signs)
		case r.t1 > 0 || r.ot1 > 0:
			if r.t1 >= r.ot1 {
				run.each(p, t1)
			} else if !even {
				run.each(p, ot1)
			}
		}
	}
	out := p.Glyphs[:0]
	for _, g := range p.Glyphs {
		if g.Rune >= ' ' && (g.Rune < 0x7F || g.Rune > 0x9F) {
			out = append(out, g)
		}
	}
	p.Glyphs = out
}

// swapped puts back the letters of ligatures that some versions of a widespread rewriter of files write with the bytes
// of each letter exchanged, so that fi reads as two Chinese characters within a word.
func swapped(p *layout.Page) {
	const f, i, l = 'f' << 8, 'i' << 8, 'l' << 8
	latin := func(at int, blank layout.Blank) bool {
		return at >= 0 && at < len(p.Glyphs) && blank == layout.NoBlank && p.Glyphs[at].Rune < 0x250 && unicode.IsLetter(p.Glyphs[at].Rune)
	}
	for n := 0; n < len(p.Glyphs); n++ {
		if p.Glyphs[n].Rune != f {
			continue
		}
		end := n + 1
		for end < len(p.Glyphs) && end < n+3 && (p.Glyphs[end].Rune == f || p.Glyphs[end].Rune == i || p.Glyphs[end].Rune == l) {
			end++
		}
		if end == n+1 || !latin(n-1, p.Glyphs[n].Blank) && !(end < len(p.Glyphs) && latin(end, p.Glyphs[end].Blank)) {
			continue
		}
		for ; n < end; n++ {
			p.Glyphs[n].Rune >>= 8
		}
		n--
	}
}

func (k *codeRun) each(p *layout.Page, f func(rune) rune) {
	for _, i := range k.glyphs {
		p.Glyphs[i].Rune = f(p.Glyphs[i].Rune)
	}
}

// vote counts ligatures at the codes that TeX's two encodings of text have for them: a letter stands right beside them.
func (r *pageReader) vote(p *layout.Page, run *codeRun) {
	for n, i := range run.glyphs {
		c := p.Glyphs[i].Rune
		if !(c >= 0x1B && c <= 0x1F || c >= 0x0B && c <= 0x0F) {
			continue
		}
		beside := n > 0 && run.glyphs[n-1] == i-1 && unicode.IsLower(p.Glyphs[i-1].Rune) ||
			n+1 < len(run.glyphs) && run.glyphs[n+1] == i+1 && unicode.IsLower(p.Glyphs[i+1].Rune)
		switch {
		case !beside:
		case c >= 0x1B:
			r.t1++
		default:
			r.ot1++
		}
	}
}

// letters says that a run is a text: words of three letters stand in it.
func letters(p *layout.Page, run *codeRun) bool {
	n := 0
	for k, i := range run.glyphs {
		c := p.Glyphs[i].Rune
		if k > 0 && run.glyphs[k-1] != i-1 || p.Glyphs[i].Blank != layout.NoBlank {
			n = 0
		}
		if c < 0x80 && unicode.IsLetter(c) {
			if n++; n == 3 {
				return true
			}
		} else if c >= ' ' {
			n = 0
		}
	}
	return false
}

// evenly says that all characters of a run are as wide as the others: narrow letters stand as far apart as wide ones.
func evenly(p *layout.Page, run *codeRun) bool {
	const most = 400
	least, widest, seen := float32(1e6), float32(0), map[rune]bool{}
	for k := 1; k < min(len(run.glyphs), most); k++ {
		a, b := &p.Glyphs[run.glyphs[k-1]], &p.Glyphs[run.glyphs[k]]
		if run.glyphs[k-1] != run.glyphs[k]-1 || b.Blank != layout.NoBlank || a.Style != b.Style || a.Base != b.Base {
			continue
		}
		d := b.X - a.X
		least, widest = min(least, d), max(widest, d)
		seen[a.Rune] = true
	}
	return len(seen) >= 6 && widest < 1.04*least
}

// ligatures puts letters for the codes below the blank that a font with a name has within its words. Which of the five
// ligatures one is, the letters beside it and its width tell.
func ligatures(p *layout.Page, run *codeRun) {
	byCode := map[rune][]int{}
	for _, i := range run.glyphs {
		byCode[p.Glyphs[i].Rune] = append(byCode[p.Glyphs[i].Rune], i)
	}
	for _, places := range byCode {
		if c := ligature(p, places); c != 0 {
			for _, i := range places {
				p.Glyphs[i].Rune = c
			}
		}
	}
}

// ligature is the ligature that stands at some places; 0 where it may be another sign.
func ligature(p *layout.Page, places []int) rune {
	var (
		width, height                 float32
		words, consonants, afterVowel int
	)
	beside := func(i, j int) rune {
		if j < 0 || j >= len(p.Glyphs) || p.Glyphs[j].Style != p.Glyphs[i].Style && p.Glyphs[j].Turn != p.Glyphs[i].Turn || j > i && p.Glyphs[j].Blank != layout.NoBlank || j < i && p.Glyphs[i].Blank != layout.NoBlank {
			return 0
		}
		return p.Glyphs[j].Rune
	}
	for _, i := range places {
		before, after := beside(i, i-1), beside(i, i+1)
		switch {
		case unicode.Is(unicode.Arabic, before) || unicode.Is(unicode.Arabic, after):
			return 0xFEFB // lam and alef, whatever stands on it
		case before < 0x250 && unicode.IsLetter(before) || after < 0x250 && unicode.IsLetter(after):
		default:
			return 0
		}
		g := &p.Glyphs[i]
		w, h := g.X1-g.X0, g.Y1-g.Y0
		if g.Turn == layout.Down || g.Turn == layout.Up {
			w, h = h, w
		}
		width, height = width+w, height+h
		words++
		if unicode.IsLetter(after) && !vowel(after) {
			consonants++
		}
		if vowel(before) {
			afterVowel++
		}
	}
	switch {
	case width > 1.02*height:
		return 0xFB03 // ffi; ffl is rare
	case consonants > 0:
		return 0xFB01 // fi
	case afterVowel == words:
		return 0xFB00 // ff: of, offer
	}
	return 0xFB02 // fl, which vowels follow
}

func vowel(c rune) bool {
	switch unicode.ToLower(c) {
	case 'a', 'e', 'i', 'o', 'u', 'y', 'ä', 'ö', 'ü', 'é', 'è', 'ê', 'á', 'à', 'ó', 'í', 'ú':
		return true
	}
	return false
}
