package pagetext

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestFindFoldsCaseAndWhiteSpace(t *testing.T) {
	for _, c := range []struct {
		text, phrase string
		offset       int
		want         string // offsets of all matches
	}{
		{"The refund is a Refund", "REFUND", 0, "[4 16]"},
		{"a  two\n\twords b", "Two words", 0, "[3]"},
		{"a two\u00a0\u2003words", "two words", 0, "[2]"},
		{"two words", "  two \n words ", 0, "[0]"},
		{"twowords", "two words", 0, "[]"},
		{"ÄÖ straße STRASSE ẞ", "äö STRAßE", 0, "[0]"},
		{"ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ", 0, "[0 8]"},
		{"😀 é😀x", "É😀X", 0, "[2]"},
		{"漢字かな漢字", "漢字", 1, "[4]"},
		{"aaaa", "aa", 0, "[0 2]"}, // matches do not overlap
		{"aaaa", "aa", 1, "[1]"},
		{"abc abc", "abc", 1, "[4]"},
		{"abc  abc", "abc", 4, "[5]"}, // from inside the white space before it
		{"abc", "abc", 3, "[]"},
		{"abc", "abc", 99, "[]"},
		{"", "abc", 0, "[]"},
		{"  abc", "abc", 0, "[2]"},
		{"a\xffb abc", "abc", 0, "[4]"},

		{"It’s “so” ‚now‘ — or 2–3", `it's "so"`, 0, "[0]"},
		{"it's", "it’s", 0, "[0]"},
		{"or 2–3, not 2−3", "2-3", 0, "[3 12]"},
		{"第１０条 ＡＢＣ", "10条 abc", 0, "[1]"},

		// What Markdown adds does not count, where nothing stands as it was asked for.
		{"**Warning:** do not use the `foo` option", "Warning: do not use the foo option", 0, "[2]"},
		{"The **bold**ness", "boldness", 0, "[6]"},
		{"Please [click here](/x(1) \"t\") now", "click here now", 0, "[8]"},
		{"See ![a wheel](/w.png) turn", "see a wheel turn", 0, "[0]"},
		{"| one | two |\n| --- | --- |\n| three | four |", "two three", 0, "[8]"},
		{"| one | two |", "one two", 0, "[2]"},
		{"- alpha\n- beta\n\n## Head\n\n> said", "alpha beta head said", 0, "[2]"},
		{"a\\*b \\# c 1\\. d\\\ne", "a*b # c 1. d e", 0, "[0]"},
		{"a [b](c", "b(c", 0, "[3]"},
		{"C:\\path a", "c:\\path", 0, "[0]"},
		{"a * b", "**", 0, "[]"},
		{"x **a** b x a b", "a b", 0, "[12]"}, // what stands as it was asked for goes before
		{"**a** b **a** b", "a b", 3, "[10]"},
		{"é **é** b", "é b", 2, "[4]"},
		{"co-op - x", "co-op x", 0, "[0]"},
	} {
		m := Measure(c.text).Find(c.phrase, c.offset)
		got := []int{}
		if m.Total > 0 {
			got = append([]int{m.First.Offset}, m.Further...)
			if at := Measure(c.text).ByteAt(m.First.Offset); at != m.First.Byte && utf8.ValidString(c.text) {
				t.Errorf("%q in %q: byte %d is not character %d", c.phrase, c.text, m.First.Byte, m.First.Offset)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%q in %q from %d: at %v, want %s", c.phrase, c.text, c.offset, got, c.want)
		}
	}
}

func TestFindAcrossManyMarks(t *testing.T) {
	filler := strings.Repeat("ein Wörtchen  \n", markEvery/5)
	text := filler + "NEEDLE" + filler + filler + "needle" + filler
	want := []int{utf8.RuneCountInString(filler), 3*utf8.RuneCountInString(filler) + 6}
	m := Measure(text).Find("Needle", 0)
	if m.Total != 2 || m.First.Offset != want[0] || !slices.Equal(m.Further, want[1:]) {
		t.Errorf("at %d and %v of %d, want %v", m.First.Offset, m.Further, m.Total, want)
	}
}

// FuzzFind compares with a search that folds character by character.
func FuzzFind(f *testing.F) {
	f.Add("The  refund\nis a Refund", "refund", 0)
	f.Add("é É \u00a0x", "é x", 1)
	f.Add("K\u212ak ſs", "kk", 0)
	f.Fuzz(func(t *testing.T, text, phrase string, offset int) {
		if phrase = strings.TrimSpace(phrase); phrase == "" || !utf8.ValidString(text) || !utf8.ValidString(phrase) || len(text) > 1000 {
			return
		}
		offset = max(offset, 0)
		got := []int{}
		if m := Measure(text).Find(phrase, offset); m.Total > 0 {
			got = append([]int{m.First.Offset}, m.Further...)
		}
		want := slowFind([]rune(text), []rune(phrase), offset)
		if len(want) == 0 && len(got) > 0 { // then without signs of Markdown, and every place begins a character of the phrase
			for _, at := range got {
				if at < offset || at >= utf8.RuneCountInString(text) || !strings.ContainsFunc(phrase, func(r rune) bool { return foldSign(r) == foldSign([]rune(text)[at]) }) {
					t.Fatalf("%q in %q from %d: at %d", phrase, text, offset, at)
				}
			}
			return
		}
		if !slices.Equal(got, want[:min(len(want), 1+MaxFurther)]) {
			t.Fatalf("%q in %q from %d: at %v, want %v", phrase, text, offset, got, want)
		}
	})
}

func slowFind(text, phrase []rune, offset int) []int {
	found := []int{}
	for i := offset; i < len(text); {
		end := matchAt(text, phrase, i)
		if end < 0 {
			i++
			continue
		}
		found = append(found, i)
		i = end
	}
	return found
}

// matchAt gives the end of a match of phrase at i, or -1.
func matchAt(text, phrase []rune, i int) int {
	for j := 0; j < len(phrase); {
		if i == len(text) {
			return -1
		}
		if unicode.IsSpace(phrase[j]) {
			if !unicode.IsSpace(text[i]) {
				return -1
			}
			for i < len(text) && unicode.IsSpace(text[i]) {
				i++
			}
			for j < len(phrase) && unicode.IsSpace(phrase[j]) {
				j++
			}
			continue
		}
		if !strings.EqualFold(string(foldSign(text[i])), string(foldSign(phrase[j]))) {
			return -1
		}
		i, j = i+1, j+1
	}
	return i
}

// BenchmarkFindBare is the search of a text that looks like links without an end.
func BenchmarkFindBare(b *testing.B) {
	text := strings.Repeat("](", 500_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Measure(text).Find("is not there", 0)
	}
}

func BenchmarkFind(b *testing.B) {
	for name, line := range map[string]string{"ascii": "An ordinary line of ordinary text.\n", "cjk": "これは普通の文章です。\n"} {
		text := strings.Repeat(line, 1_000_000/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Measure(text).Find("is not there", 0)
			}
		})
	}
}
