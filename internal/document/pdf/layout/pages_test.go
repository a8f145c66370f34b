package layout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

func TestRunningLinesAndPageNumbersAreLeftOut(t *testing.T) {
	var pages []*sheet
	for n := 1; n <= 5; n++ {
		s := newSheet(n)
		s.put(50, 40, plain(9), "Harbour office · Survey 2031")
		if n%2 == 0 {
			s.put(400, 40, plain(9), "Even side")
		}
		s.put(50, 90, plain(10), fmt.Sprintf("Page text %s begins here and is whole.", []string{"", "one", "two", "three", "four", "five"}[n]))
		s.put(50, 110, plain(10), "It ends here.")
		s.put(290, 770, plain(9), fmt.Sprint(n+16))
		pages = append(pages, s)
	}
	got := read(t, pages...).Markdown
	for _, w := range []string{"Harbour office", "17", "18", "21"} {
		if strings.Contains(got, w) {
			t.Errorf("%q is in\n%s", w, got)
		}
	}
	order(t, got, "Page text one", "Page text two", "Page text five")

	// With the chapter beside the number.
	pages = nil
	for n := 1; n <= 4; n++ {
		s := newSheet(n)
		s.put(50, 40, plain(9), fmt.Sprintf("Chapter %c of the tale", 'a'+n))
		s.put(500, 40, plain(9), fmt.Sprint(n+2))
		s.put(50, 90, plain(10), "The text of this page is whole.")
		pages = append(pages, s)
	}
	if got := read(t, pages...).Markdown; strings.Contains(got, "Chapter") {
		t.Errorf("got\n%s", got)
	}

	// What stands once stays, and so do numbers that are no pages'.
	one := newSheet(1)
	one.put(50, 40, plain(9), "A letterhead")
	one.put(50, 90, plain(10), "The text is whole.")
	one.put(290, 770, plain(9), "42")
	order(t, read(t, one).Markdown, "A letterhead", "The text is whole.", "42")
}

// TestPagesOfRunningLinesAlone: what is all that pages have is no running line; beside pictures, such as on scans, it is.
func TestPagesOfRunningLinesAlone(t *testing.T) {
	for _, c := range []struct {
		name    string
		tickets int
		full    int // pages with text beside the line
		scanned bool
		kept    bool
	}{
		{"tickets", 5, 0, false, true},
		{"tickets behind a cover", 5, 1, false, true},
		{"scans", 5, 0, true, false},
		{"few pages without more", 2, 5, false, false},
	} {
		var pages []*sheet
		for n := 1; n <= c.tickets+c.full; n++ {
			s := newSheet(n)
			s.put(50, 40, plain(9), fmt.Sprintf("Harbour ferry, ticket %d of 5", n))
			if n > c.tickets {
				s.put(50, 390, plain(10), "The text of this page is whole.")
			}
			if c.scanned {
				s.Images = []Rect{{0, 0, 600, 800}}
			}
			pages = append(pages, s)
		}
		got := read(t, pages...)
		if strings.Contains(got.Markdown, "ticket 1 of 5") != c.kept {
			t.Errorf("%s: got\n%s", c.name, got.Markdown)
		}
		if bare := len(got.Facts) == 1 && got.Facts[0].Kind == document.ThinNoTextLayer; bare != c.scanned {
			t.Errorf("%s: facts %+v", c.name, got.Facts)
		}
	}
}

func TestPagesAreMarkedAndSentencesGoOnAcrossThem(t *testing.T) {
	a, b := newSheet(1), newSheet(2)
	a.lines(50, 100, plain(10), "A first paragraph.")
	a.lines(50, 130, plain(10), filler("text", 3, 80)[:239]+"\nand the last line of the page is no end of the sen-")
	b.lines(50, 60, plain(10), "tence, which ends here.")
	b.lines(50, 90, plain(10), "--- Page 3 ---")
	b.lines(50, 120, plain(10), "---")
	got := read(t, a, b).Markdown
	if !strings.HasSuffix(got, "and the last line of the page is no end of the sentence, which ends here.\n\n---\n*Page 2*\n\n--- Page 3 ---\n\n\\---") {
		t.Errorf("got\n%s", got)
	}
}

func TestLeftwardTextIsInTheOrderInWhichItIsRead(t *testing.T) {
	for _, c := range []struct {
		name string
		put  func(s *sheet)
		want string
	}{
		{"Hebrew", func(s *sheet) { s.right(500, 100, plain(10), "שלום עולם, זה טקסט.") }, "שלום עולם, זה טקסט."},
		{"Arabic", func(s *sheet) { s.right(500, 100, plain(10), "تقرير الميناء") }, "تقرير الميناء"},
		{"a number in Hebrew", func(s *sheet) {
			s.right(500, 100, plain(10), "בשנת")
			s.put(500-25-20, 100, plain(10), "2031")
			s.right(500-25-20-5, 100, plain(10), "נמדד העומק")
		}, "בשנת 2031 נמדד העומק"},
		{"Hebrew in English", func(s *sheet) {
			x := s.put(50, 100, plain(10), "The word ")
			s.right(x+50, 100, plain(10), "שלום עולם")
			s.put(x+55, 100, plain(10), "means peace.")
		}, "The word שלום עולם means peace."},
		{"English in Hebrew", func(s *sheet) {
			s.right(500, 100, plain(10), "המילה הזאת")
			s.put(500-50-60-5, 100, plain(10), "harbour port")
			s.right(500-50-60-10, 100, plain(10), "באה מאנגלית")
		}, "המילה הזאת harbour port באה מאנגלית"},
	} {
		s := newSheet(1)
		c.put(s)
		if got := read(t, s).Markdown; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCodeKeepsItsLines(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 60, plain(10), filler("text", 3, 80))
	s.lines(70, 120, mono(9), "func main() {\n    if a  < b {\n        return\n    }\n\n    x := `y`\n}")
	s.lines(50, 220, plain(10), filler("text", 3, 80))
	x := s.put(50, 300, plain(10), "Call ")
	x = s.put(x, 300, mono(9), "Close()")
	s.put(x+5, 300, plain(10), "at the end.")
	order(t, read(t, s).Markdown, "text.\n\n```\nfunc main() {\n    if a  < b {\n        return\n    }\n\n    x := `y`\n}\n```\n\ntext", "Call `Close()` at the end.")
}

func TestADocumentInOneMonospacedFontIsText(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 60, mono(10), "This memo is typed on a machine whose letters are all\nas wide as each other, and that makes no code of it.")
	if got := read(t, s).Markdown; strings.Contains(got, "```") || strings.Contains(got, "`") {
		t.Errorf("got\n%s", got)
	}
}

func TestRaisedAndLowered(t *testing.T) {
	s := newSheet(1)
	x := s.put(50, 100, plain(10), "Remark")
	s.put(x, 96, plain(6), "1")
	x = s.put(x+20, 100, plain(10), "and E = mc")
	x = s.put(x, 96, plain(6), "2")
	x = s.put(x+5, 100, plain(10), "and H")
	x = s.put(x, 102, plain(6), "2")
	x = s.put(x, 100, plain(10), "O and x")
	s.put(x, 102, plain(6), "i")
	equal(t, read(t, s).Markdown, "Remark^1 and E = mc^2 and H2O and x_i")
}

func TestLinks(t *testing.T) {
	s := newSheet(1)
	from := s.put(50, 100, plain(10), "See the ")
	to := s.put(from, 100, plain(10), "harbour notices")
	s.put(to+5, 100, plain(10), "for more.")
	s.Links = []Link{{Rect{from, 90, to, 103}, "https://harbour.example/notices?a=1&id=7"}}
	equal(t, read(t, s).Markdown, "See the [harbour notices](https://harbour.example/notices?a=1&id=7) for more.")
}

func TestTurnedPagesAndTurnedText(t *testing.T) {
	upright := newSheet(1)
	upright.lines(50, 100, plain(10), filler("text", 4, 40))
	want := read(t, upright).Markdown
	for _, to := range []Turn{Down, Over, Up} {
		s := newSheet(1)
		s.lines(50, 100, plain(10), filler("text", 4, 40))
		turn(&s.Page, to) // turns the page's text the other way round
		if got := read(t, s).Markdown; got != want {
			t.Errorf("turn %d: got\n%s", to, got)
		}
	}
	s := newSheet(1)
	s.lines(50, 100, plain(10), "At the margin stands a stamp.")
	turn(&s.Page, Up)
	for i := range 10 {
		s.put(100, 200+20*float32(i), plain(10), "The main text of this page is upright, and it is more.")
	}
	order(t, read(t, s).Markdown, "The main text", "At the margin stands a stamp.")
}

func TestColumnsFromTopToBottomAreReadFromTheRight(t *testing.T) {
	s := newSheet(1)
	n := s.style(plain(10))
	for column, text := range []string{"港湾調査の結果は良好です。次の調", "査は来年の春に行われる予定です。"} {
		x, y := 500-16*float32(column), float32(100)
		for _, c := range text {
			r := Rect{x - 4.8, y, x + 4.8, y + 9.6}
			if c == '。' {
				r = Rect{x + 1, y, x + 4, y + 3}
			}
			s.Glyphs = append(s.Glyphs, Glyph{Rect: r, Base: y + 8, X: x - 5, Rune: c, Style: n})
			y += 10
		}
	}
	equal(t, read(t, s).Markdown, "港湾調査の結果は良好です。次の調査は来年の春に行われる予定です。")
}

func TestContentsWithEntriesOfTwoLines(t *testing.T) {
	s := newSheet(1)
	s.put(50, 90, plain(10), "I The first chapter ............ 3")
	s.put(50, 103, plain(10), "II The second chapter, which has a name")
	s.put(50, 116, plain(10), "of two lines ............ 12")
	s.put(50, 129, plain(10), "III The third ............ 20")
	equal(t, read(t, s).Markdown, "- I The first chapter … 3\n- II The second chapter, which has a name of two lines … 12\n- III The third … 20")
}

func TestListsSideBySide(t *testing.T) {
	s := newSheet(1)
	s.put(50, 80, bold(12), "Before")
	s.lines(50, 100, plain(10), "• Lead lines\n• Slow\n• Cold")
	s.put(320, 80, bold(12), "After")
	s.lines(320, 100, plain(10), "• Sounders\n• Fast\n• Warm")
	order(t, read(t, s).Markdown, "Before", "- Lead lines\n- Slow\n- Cold", "After", "- Sounders\n- Fast\n- Warm")
}

func TestMarksOfItemsThatAreDrawn(t *testing.T) {
	s := newSheet(1)
	for i, text := range []string{"First", "Second", "Nested", "Third"} {
		base := 100 + 12*float32(i)
		x := float32(60)
		if text == "Nested" {
			x = 80
		}
		s.put(x, base, plain(10), text)
		s.Dots = append(s.Dots, Dot{Rect: Rect{x - 12, base - 5, x - 9, base - 2}, Hollow: text == "Nested"})
	}
	equal(t, read(t, s).Markdown, "- First\n- Second\n  - Nested\n- Third")
}

func TestTablesThatTheFileNames(t *testing.T) {
	s := newSheet(1)
	for i, r := range [][]string{{"Item", "Kind", "Total"}, {"Rope of hemp", "", "49"}, {"", "Sum", "49"}} {
		n := uint16(0)
		for j, text := range r {
			if text == "" {
				continue // what has no text is no element
			}
			n++
			look := plain(10)
			look.Cell = Cell{1, uint16(i + 1), n}
			s.put(50+60*float32(j)+2*float32(j), 100+14*float32(i), look, text)
		}
	}
	equal(t, read(t, s).Markdown, "| Item | Kind | Total |\n| --- | --- | --- |\n| Rope of hemp | | 49 |\n| | Sum | 49 |")
}

func TestNotesAtTheFootOfAPage(t *testing.T) {
	a, b := newSheet(1), newSheet(2)
	x := a.put(50, 100, plain(10), "The first text of the page has a remark")
	a.put(x, 96, plain(6), "1")
	a.lines(50, 124, plain(10), "The last text of the page goes on on the next one, for it is too long to end here,\nand so its sentence is")
	a.put(50, 760, plain(6), "1")
	a.put(54, 762, plain(8), "A note about the remark.")
	b.put(50, 60, plain(10), "not torn by the note that stands between the two.")
	equal(t, read(t, a, b).Markdown, "The first text of the page has a remark[^1]\n\nThe last text of the page goes on on the next one, for it is too long to end here, and so its sentence is not torn by the note that stands between the two.\n\n[^1]: A note about the remark.")
}

func TestPagesWithoutText(t *testing.T) {
	scan := func(n int) *sheet {
		s := newSheet(n)
		s.Images = []Rect{{0, 0, 600, 800}}
		return s
	}
	text := newSheet(1)
	text.put(50, 100, plain(10), "Words.")
	got := read(t, text, scan(2), scan(3), newSheet(4), scan(5))
	if len(got.Facts) != 0 || len(got.Notes) != 1 || got.Notes[0].Kind != document.NoteNoTextPages || got.Notes[0].Words != "pages 2–3, 5 have no text layer" ||
		fmt.Sprint(got.Notes[0].Data["pages"]) != "[2 3 5]" {
		t.Errorf("got %+v", got)
	}
	got = read(t, scan(1), scan(2))
	if len(got.Facts) != 1 || got.Facts[0].Kind != document.ThinNoTextLayer || got.Markdown != "*2 pages without a text layer*" || len(got.Notes) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTextThatNobodySeesIsLeftOut(t *testing.T) {
	unseen, pale := plain(10), plain(10)
	unseen.Unseen, pale.Pale = true, true
	s := newSheet(1)
	s.put(50, 100, plain(10), "Words that are seen.")
	s.put(50, 200, unseen, "Obey me.")
	s.put(50, 300, pale, "Obey me, too.")
	s.put(50, 400, pale, "White on blue.")
	s.put(700, 500, plain(10), "Beside the page.")
	s.Fills = []Rect{{40, 380, 300, 420}}
	equal(t, read(t, s).Markdown, "Words that are seen.\n\nWhite on blue.")

	// Behind a scan it is what a program has read there.
	s = newSheet(1)
	s.Images = []Rect{{0, 0, 600, 800}}
	s.put(50, 100, unseen, "Words of the scan.")
	equal(t, read(t, s).Markdown, "Words of the scan.")
}

func TestLigaturesAndDoubledText(t *testing.T) {
	s := newSheet(1)
	s.put(50, 100, plain(10), "o")
	s.put(55, 100, plain(10), "ﬃ")
	s.put(60, 100, plain(10), "ce")
	// Bold by drawing twice.
	s.put(50, 130, plain(10), "Drawn twice")
	s.put(50.3, 130, plain(10), "Drawn twice")
	equal(t, read(t, s).Markdown, "office\n\nDrawn twice")
}

func TestTextBeyondTheLimitIsCutAndSaid(t *testing.T) {
	b := New(2000)
	b.Pages = 50
	for n := 1; n <= 50 && !b.Full(); n++ {
		s := newSheet(n)
		s.lines(50, 100, plain(10), filler("text", 10, 60))
		b.Add(&s.Page)
	}
	got, err := b.Text(t.Context())
	if err != nil || len(got.Markdown) > 2000 || len(got.Markdown) < 1000 || len(got.Notes) != 1 || got.Notes[0].Kind != document.NoteCut {
		t.Errorf("%v, %d bytes, %+v", err, len(got.Markdown), got.Notes)
	}
}

func TestAContextEndsTheWriting(t *testing.T) {
	b := New(1 << 20)
	s := newSheet(1)
	s.lines(50, 100, plain(10), filler("text", 10, 60))
	b.Add(&s.Page)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Text(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, err := b.Text(ctx); !errors.Is(err, &document.Error{Reason: document.TooCostly}) {
		t.Errorf("got %v", err)
	}
}
