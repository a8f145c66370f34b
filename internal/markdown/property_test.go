// Random pages: the text of the Markdown, as a parser reads it, is the text of the page.

package markdown

import (
	"html"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// author writes a random page and, beside it, the text that it shows.
type author struct {
	*rand.Rand
	page, text strings.Builder
}

// scraps are what texts are made of. There is no mail address among them: the judge's parser takes marks for a part of
// one.
var scraps = []string{"*", "**", "***", "_", "__", "`", "``", "~", "~~", "~~~", "[", "]", "](", "[^1]", "!", "![", "<", "<b", "</b>", "<!--", ">", "&",
	"&amp;", "&#65;", "&copy", "#", "##", "1.", "12)", "-", "---", "+", "=", "===", "|", "| - |", "\\", "\\\\", ":", "]:", "http://a.bc/d_e*f*_g_",
	"https://a.bc", "www.a.bc/_x_", "word", "two words", "x", "y1", " ", "  ", "\n", "日本", "「", "」", "。", "é", "😀", "\u00a0", "“", "”", ".", ",",
	"$1", "^2", "(", ")", "{", "}", "\"", "'", "[x]", "[ ]", ": ", "3", "-5", "…", "—", "/"}

func (s *author) words() {
	for range 1 + s.IntN(4) {
		w := scraps[s.IntN(len(scraps))]
		s.page.WriteString(html.EscapeString(w))
		s.text.WriteString(w)
	}
}

func (s *author) inline(depth int) {
	for range 1 + s.IntN(3) {
		switch k := s.IntN(12); {
		case k < 6 || depth == 0:
			s.words()
		case k < 9:
			tag := []string{"b", "i", "del", "span", "strong", "em"}[s.IntN(6)]
			s.page.WriteString("<" + tag + ">")
			s.inline(depth - 1)
			s.page.WriteString("</" + tag + ">")
		case k == 9:
			s.element("code", s.words)
		case k == 10:
			s.page.WriteString(`<a href="/x(y">`)
			s.words()
			s.page.WriteString("</a>")
		default:
			s.page.WriteString("<br>")
			s.text.WriteString(" ")
		}
	}
}

func (s *author) block(depth int) {
	s.text.WriteString(" ")
	switch k := s.IntN(10); {
	case k < 4 || depth == 0:
		s.element([]string{"p", "h2", "div", "h4"}[s.IntN(4)], func() { s.inline(2) })
	case k < 6:
		s.element([]string{"ul", "ol", `ol start="7"`}[s.IntN(3)], func() {
			for range 1 + s.IntN(3) {
				s.element("li", func() {
					s.text.WriteString(" ")
					if s.IntN(2) == 0 {
						s.inline(2)
					}
					if s.IntN(2) == 0 {
						s.block(depth - 1)
					}
				})
			}
		})
	case k == 6:
		s.element("blockquote", func() {
			for range 1 + s.IntN(2) {
				s.block(depth - 1)
			}
		})
	case k == 7:
		s.element("table", func() {
			for range 1 + s.IntN(3) {
				s.element("tr", func() {
					for range 1 + s.IntN(3) {
						s.text.WriteString(" ")
						s.element("td", func() { s.inline(2) })
					}
				})
			}
		})
	case k == 8:
		s.element("pre", s.words)
	default:
		s.page.WriteString("<hr>")
	}
	s.text.WriteString(" ")
}

func (s *author) element(tag string, content func()) {
	s.page.WriteString("<" + tag + ">")
	content()
	name, _, _ := strings.Cut(tag, " ")
	s.page.WriteString("</" + name + ">")
}

func TestRandomPagesReadAsTheirText(t *testing.T) {
	pages := uint64(1500)
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		pages = 300_000
	}
	for seed := range pages {
		randomPage(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomPage(t *testing.T, seed uint64) {
	t.Helper()
	s := &author{Rand: rand.New(rand.NewPCG(seed, 7))}
	for range 1 + s.IntN(3) {
		s.block(2)
	}
	markdown := convert(t, s.page.String())
	judge(t, s.page.String(), markdown, "text", s.text.String())
}
