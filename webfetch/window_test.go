package webfetch

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/pagetext"
)

func TestWindowCases(t *testing.T) {
	for _, c := range append(behaviours(t, "window"), behaviours(t, "", "hardening-028")...) {
		t.Run(c.ID, func(t *testing.T) {
			switch c.ID {
			case "window-010":
				walkCase(t, c)
				return
			case "hardening-028": // with code points, offset 1 is the next character
				if w := NewWindow(&Page{Content: "😀x"}, 1, 10); w.Content != "x" {
					t.Errorf("window %q", w.Content)
				}
				return
			}
			var in struct {
				Content   pieces
				PageChars *int `json:"page_chars"`
				Offset    int
			}
			read(t, c.Input, &in)
			type answer struct {
				Window     *pieces
				WindowText *string                    `json:"window_text"`
				Slice      *struct{ From, Chars int } `json:"window_slice"`
				Offset     int
				NextOffset *int      `json:"next_offset"`
				TotalChars int       `json:"total_chars"`
				CodePoints *answerOf `json:"units_code_points"`
			}
			var want answer
			read(t, c.Expected, &want)
			if p := want.CodePoints; p != nil {
				want.WindowText, want.Offset, want.NextOffset, want.TotalChars = &p.WindowText, p.Offset, p.NextOffset, p.TotalChars
			}
			n := DefaultPageChars
			if in.PageChars != nil {
				n = *in.PageChars
			}
			w := NewWindow(&Page{Content: string(in.Content)}, in.Offset, n)
			if want.Window != nil && w.Content != string(*want.Window) {
				t.Errorf("window %.60q, want %.60q", w.Content, *want.Window)
			}
			if want.WindowText != nil && w.Content != *want.WindowText {
				t.Errorf("window %.60q, want %.60q", w.Content, *want.WindowText)
			}
			if s := want.Slice; s != nil && w.Content != string([]rune(string(in.Content))[s.From:s.From+s.Chars]) {
				t.Errorf("window %.60q is not the slice %+v", w.Content, *s)
			}
			if w.Offset != want.Offset || w.TotalChars != want.TotalChars || next(w) != nextOf(want.NextOffset) {
				t.Errorf("offset %d, next %s, total %d; want %d, %s, %d",
					w.Offset, next(w), w.TotalChars, want.Offset, nextOf(want.NextOffset), want.TotalChars)
			}
		})
	}
}

// answerOf is an expectation in one unit.
type answerOf struct {
	WindowText string `json:"window_text"`
	Offset     int
	NextOffset *int `json:"next_offset"`
	TotalChars int  `json:"total_chars"`
}

func next(w *Window) string { return nextOf(w.NextOffset) }

func nextOf(offset *int) string {
	if offset == nil {
		return "null"
	}
	return fmt.Sprint(*offset)
}

// walkCase is the case that follows next_offset through a page that is described by a rule.
func walkCase(t *testing.T, c behaviour) {
	var content []string
	for i := range 400 {
		content = append(content, fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%37)))
	}
	var want struct {
		Windows    int
		MaxChars   int `json:"max_window_chars_at_most"`
		TotalChars int `json:"total_chars"`
	}
	read(t, c.Expected, &want)
	p := &Page{Content: strings.Join(content, "\n")}
	windows := walk(t, p, func(offset int) *Window { return NewWindow(p, offset, 500) })
	if len(windows) != want.Windows || windows[0].TotalChars != want.TotalChars {
		t.Errorf("%d windows of %d characters, want %d of %d", len(windows), windows[0].TotalChars, want.Windows, want.TotalChars)
	}
	for _, w := range windows {
		if n := utf8.RuneCountInString(w.Content); n > want.MaxChars {
			t.Errorf("a window of %d characters", n)
		}
	}
}

// walk follows next_offset from 0 and checks that the windows are the page, each character once.
func walk(t testing.TB, p *Page, cut func(offset int) *Window) []*Window {
	t.Helper()
	var all []*Window
	var text strings.Builder
	for offset := 0; ; {
		w := cut(offset)
		all = append(all, w)
		text.WriteString(w.Content)
		if w.NextOffset == nil {
			break
		}
		if *w.NextOffset <= offset {
			t.Fatalf("next_offset %d after offset %d", *w.NextOffset, offset)
		}
		offset = *w.NextOffset
	}
	if text.String() != p.Content {
		t.Fatalf("the windows are not the page: %.80q, want %.80q", text.String(), p.Content)
	}
	return all
}

func TestWindowOfOddOffsetsAndSizes(t *testing.T) {
	p := &Page{Content: "aä😀z"}
	for _, c := range []struct {
		offset, n int
		window    string
		next      string
	}{
		{-5, 0, "a", "1"}, // W-041
		{0, -1, "a", "1"},
		{0, 4, "aä😀z", "null"},
		{1, 2, "ä😀", "3"},
		{3, 100, "z", "null"},
		{4, 100, "", "null"},
		{1 << 40, 1 << 40, "", "null"},
	} {
		w := NewWindow(p, c.offset, c.n)
		if w.Content != c.window || next(w) != c.next || w.Offset != max(c.offset, 0) || w.TotalChars != 4 {
			t.Errorf("NewWindow(%d, %d) is %q, next %s, offset %d, total %d", c.offset, c.n, w.Content, next(w), w.Offset, w.TotalChars)
		}
	}
}

func TestWindowSaysWhetherItIsAll(t *testing.T) {
	whole, cut := &Page{Content: "abc"}, &Page{Content: "abc", Truncated: true}
	for _, c := range []struct {
		w    *Window
		want bool
	}{
		{NewWindow(whole, 0, 3), false},
		{NewWindow(whole, 0, 2), true},
		{NewWindow(whole, 2, 2), true},
		{NewWindow(whole, 3, 2), true},
		{NewWindow(cut, 0, 3), true}, // the provider gave less than there is
		{NewWindow(&Page{}, 0, 3), false},
	} {
		if c.w.Truncated != c.want {
			t.Errorf("%q of %d from %d: truncated %v", c.w.Content, c.w.TotalChars, c.w.Offset, c.w.Truncated)
		}
	}
}

func TestByteWindowNeverEndsInsideACharacter(t *testing.T) {
	for _, c := range []struct {
		content  string
		offset   int
		maxBytes int
		window   string
		next     string
	}{
		{strings.Repeat("é", 20_000), 0, 101, strings.Repeat("é", 50), "50"}, // W-034
		{"é!", 0, 1, "é", "1"}, // at least one character
		{"😀😀", 0, 7, "😀", "1"},
		{"😀😀", 0, 8, "😀😀", "null"},
		{"ab\ncdefgh", 0, 3, "ab\n", "3"},
		{"abcdefghi\nj" + strings.Repeat("k", 9), 0, 12, "abcdefghi\n", "10"}, // two after the feed of twelve
		{"abcdefgh\nij" + strings.Repeat("k", 9), 0, 11, "abcdefgh\n", "9"},
		{"abcdefg\nhij" + strings.Repeat("k", 9), 0, 11, "abcdefg\nhij", "11"}, // three after the feed of eleven
		{"ab", 9, 1, "", "null"},
	} {
		w := NewByteWindow(&Page{Content: c.content}, c.offset, c.maxBytes)
		if w.Content != c.window || next(w) != c.next {
			t.Errorf("%.20q at most %d bytes from %d: %q, next %s", c.content, c.maxBytes, c.offset, w.Content, next(w))
		}
	}
}

func FuzzWindowTiles(f *testing.F) {
	f.Add("", 1, 1)
	f.Add("a\nb\r\n\u2028é😀", 2, 3)
	f.Add(strings.Repeat("line\n", 40), 17, 5)
	f.Add("\xff\x80\x80 broken \xf0\x9f", 3, 2)
	f.Fuzz(func(t *testing.T, content string, n, maxBytes int) {
		p := &Page{Content: content}
		total := pagetext.Count(content)
		for _, w := range walk(t, p, func(offset int) *Window { return NewWindow(p, offset, n) }) {
			if pagetext.Count(w.Content) > max(n, 1) || w.TotalChars != total {
				t.Fatalf("window %q of at most %d", w.Content, n)
			}
		}
		for _, w := range walk(t, p, func(offset int) *Window { return NewByteWindow(p, offset, maxBytes) }) {
			if len(w.Content) > max(maxBytes, 1) && pagetext.Count(w.Content) > 1 {
				t.Fatalf("window %q of at most %d bytes", w.Content, maxBytes)
			}
			if utf8.ValidString(content) && !utf8.ValidString(w.Content) {
				t.Fatalf("half a character in %q", w.Content)
			}
		}
	})
}

func BenchmarkNewWindow(b *testing.B) {
	for name, line := range map[string]string{"ascii": "An ordinary line of ordinary text.\n", "mixed": "Eine gewöhnliche Zeile – ganz gewöhnlich.\n", "cjk": "これは普通の文章です。\n"} {
		p := &Page{Content: strings.Repeat(line, 1_000_000/len(line))}
		middle := pagetext.Count(p.Content) / 2
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p.Content)))
			for b.Loop() {
				NewWindow(p, middle, DefaultPageChars)
			}
		})
	}
}
