package prose

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Numbering is how a list's numbers are spelled.
type Numbering uint8

// The spellings.
const (
	Decimal Numbering = iota
	PaddedDecimal
	UpperRoman
	LowerRoman
	UpperLetter
	LowerLetter
	Ordinal
	Ideographs // 一, 二 … 十一
)

// Alphabets are the letters and signs that lists count with beside Latin ones.
const (
	Cyrillic     = "абвгдежзиклмнопрстуфхцчшщыэюя"
	CyrillicCaps = "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ"
	Greek        = "αβγδεζηθικλμνξοπρστυφχψω"
	GreekCaps    = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
	Hebrew       = "אבגדהוזחטיכלמנסעפצקרשת"
	Arabic       = "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"
	Abjad        = "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"
	Kana         = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
	Iroha        = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
	Hangul       = "가나다라마바사아자차카타파하"
	Jamo         = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
	Stems        = "甲乙丙丁戊己庚辛壬癸"
	Branches     = "子丑寅卯辰巳午未申酉戌亥"
	Thai         = "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ"
	Circled      = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
	InBrackets   = "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇"
	WithStop     = "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛"
)

// Letter spells a number by an alphabet. A number beyond it is decimal.
func Letter(n int, alphabet string) string {
	i := 0
	for _, c := range alphabet {
		if i++; i == n {
			return string(c)
		}
	}
	return strconv.Itoa(n)
}

// AlphabetOf is the alphabet that begins with a letter; empty for none.
func AlphabetOf(first rune) string {
	for _, a := range []string{Cyrillic, CyrillicCaps, Greek, GreekCaps, Hebrew, Arabic, Kana, Iroha, Hangul, Jamo, Stems, Branches, Thai, Circled, InBrackets, WithStop} {
		if c, _ := utf8.DecodeRuneInString(a); c == first {
			return a
		}
	}
	return ""
}

// Numeral spells a number. One that a spelling cannot tell is decimal.
func Numeral(n int, as Numbering) string {
	decimal := strconv.Itoa(n)
	switch as {
	case PaddedDecimal:
		if n >= 0 && n < 10 {
			return "0" + decimal
		}
	case UpperRoman:
		return roman(n)
	case LowerRoman:
		return strings.ToLower(roman(n))
	case UpperLetter:
		return letters(n)
	case LowerLetter:
		return strings.ToLower(letters(n))
	case Ordinal:
		return decimal + ordinalEnding(n)
	case Ideographs:
		return ideographs(n)
	}
	return decimal
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, d := range []struct {
		value int
		sign  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= d.value; n -= d.value {
			b.WriteString(d.sign)
		}
	}
	return b.String()
}

// letters counts A to Z, then AA, BB … as word processors do.
func letters(n int) string {
	if n < 1 || n > 26*20 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
}

func ordinalEnding(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
		return "th"
	case n%10 == 1:
		return "st"
	case n%10 == 2:
		return "nd"
	case n%10 == 3:
		return "rd"
	}
	return "th"
}

func ideographs(n int) string {
	if n < 1 || n > 99 {
		return strconv.Itoa(n)
	}
	digit := func(d int) string {
		const digits = "一二三四五六七八九"
		if d == 0 {
			return ""
		}
		return digits[(d-1)*3 : d*3]
	}
	switch {
	case n < 10:
		return digit(n)
	case n < 20:
		return "十" + digit(n-10)
	}
	return digit(n/10) + "十" + digit(n%10)
}
