package prose

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// SignFont says that a font shows signs of its own in place of letters.
func SignFont(font string) bool {
	switch strings.ToLower(font) {
	case "symbol", "wingdings", "wingdings 2", "wingdings 3", "webdings":
		return true
	}
	return false
}

// Sign is a character of a font by its code in hexadecimal.
func Sign(font, code string) string {
	n, err := strconv.ParseUint(code, 16, 32)
	if err != nil || n > utf8.MaxRune {
		return ""
	}
	return PlainSigns(font, string(rune(n)))
}

// PlainSigns gives the text that a font of signs shows, as far as there are characters for it; what there is none for is
// left out, since the letter in its place says nothing. Text of other fonts stays but for the private characters at
// which such fonts put theirs.
func PlainSigns(font, text string) string {
	signs := SignFont(font)
	if !signs && strings.IndexByte(text, 0xEF) < 0 { // all private characters of fonts, U+F000 to U+F0FF, begin so
		return text
	}
	var b strings.Builder
	for _, c := range text {
		private := c >= 0xF020 && c <= 0xF0FF
		switch {
		case private:
			c -= 0xF000
		case !signs || c > 0xFF:
			b.WriteRune(c)
			continue
		case c == ' ' || c == '\t':
			b.WriteRune(c)
			continue
		}
		var plain rune
		switch strings.ToLower(font) {
		case "symbol":
			plain = symbolSign(c)
		case "wingdings":
			plain = wingdingsSign(c)
		case "wingdings 2":
			plain = wingdings2Sign(c)
		case "wingdings 3", "webdings":
		default: // a private character of an unknown font: most are Symbol's or Wingdings' bullets
			if c == 0xB7 || c == 0xA7 {
				plain = '•'
			}
		}
		if plain != 0 {
			b.WriteRune(plain)
		}
	}
	return b.String()
}

// What the font Symbol has at A, at a and at 0xA1.
var (
	symbolUpper = []rune("ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ")
	symbolLower = []rune("αβχδεφγηιϕκλμνοπθρστυϖωξψζ")
	symbolHigh  = []rune("ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑")
)

// symbolSign is the character at a place of the font Symbol: Greek letters and signs of mathematics.
func symbolSign(c rune) rune {
	switch {
	case c >= 'A' && c <= 'Z':
		return symbolUpper[c-'A']
	case c >= 'a' && c <= 'z':
		return symbolLower[c-'a']
	case c >= 0xA1:
		switch {
		case int(c-0xA1) < len(symbolHigh):
			return symbolHigh[c-0xA1]
		case c == 0xF1:
			return '〉'
		case c == 0xF2:
			return '∫'
		}
		return 0
	}
	switch c {
	case '"':
		return '∀'
	case '$':
		return '∃'
	case '\'':
		return '∍'
	case '*':
		return '∗'
	case '-':
		return '−'
	case '@':
		return '≅'
	case '\\':
		return '∴'
	case '^':
		return '⊥'
	case '~':
		return '∼'
	}
	return c
}

// wingdingsSign is the character at a place of the font Wingdings, for those that documents use.
func wingdingsSign(c rune) rune {
	if c >= 0x80 && int(c-0x80) < len(wingdingsDigits) {
		return wingdingsDigits[c-0x80]
	}
	return wingdings[c]
}

// What the font Wingdings has from 0x80 on: numbers in rings and on discs.
var wingdingsDigits = []rune("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿")

var wingdings = map[rune]rune{
	0x21: '✏', 0x22: '✂', 0x28: '☎', 0x29: '✆', 0x2A: '✉', 0x36: '⌛', 0x3F: '✍', 0x41: '✌', 0x43: '👍', 0x44: '👎',
	0x45: '☜', 0x46: '☞', 0x47: '☝', 0x48: '☟', 0x4A: '☺', 0x4B: '😐', 0x4C: '☹', 0x4D: '💣', 0x4E: '☠', 0x51: '✈',
	0x52: '☼', 0x54: '❄', 0x6C: '●', 0x6D: '❍', 0x6E: '■', 0x6F: '☐', 0x70: '☐', 0x71: '❑', 0x72: '❒', 0x73: '⬧',
	0x74: '⧫', 0x75: '◆', 0x76: '❖', 0x77: '⬥', 0x78: '☒', 0x9E: '·', 0x9F: '•', 0xA1: '○', 0xA7: '▪', 0xA8: '☐',
	0xAB: '★', 0xD8: '➢', 0xDF: '←', 0xE0: '→', 0xE1: '↑', 0xE2: '↓', 0xE7: '⬅', 0xE8: '➔', 0xE9: '⬆', 0xEA: '⬇',
	0xEF: '⇦', 0xF0: '⇨', 0xF1: '⇧', 0xF2: '⇩', 0xF3: '⬄', 0xF4: '⇳', 0xFB: '✗', 0xFC: '✓', 0xFD: '☒', 0xFE: '☑',
}

func wingdings2Sign(c rune) rune { return wingdings2[c] }

var wingdings2 = map[rune]rune{0x4F: '✗', 0x50: '✓', 0x51: '☒', 0x52: '☑', 0x53: '☒', 0x54: '☒', 0x98: '•', 0xA3: '☐', 0x2A: '☐'}
