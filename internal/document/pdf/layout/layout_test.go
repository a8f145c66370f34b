package layout

import (
	"strings"
	"testing"
)

// filler is lines of a column, each so many letters long, that say which column they are of.
func filler(word string, lines, letters int) string {
	var out strings.Builder
	for i := range lines {
		line := ""
		for len(line)+len(word)+1 <= letters {
			line += word + " "
		}
		line = strings.TrimRight(line, " ")
		if i == lines-1 {
			line += "."
		}
		out.WriteString(line + "\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

// order says that words come in this order, each once.
func order(t *testing.T, text string, words ...string) {
	t.Helper()
	at := 0
	for _, w := range words {
		i := strings.Index(text[at:], w)
		if i < 0 {
			t.Errorf("%q does not come after what is before it in\n%s", w, text)
			return
		}
		at += i + len(w)
	}
}

func TestColumnsAreReadDownThenAcross(t *testing.T) {
	s := newSheet(1)
	s.put(150, 60, bold(20), "A title across both columns")
	s.lines(50, 100, plain(10), "LEFTFIRST\n"+filler("left", 12, 46)+"\nLEFTLAST")
	s.lines(310, 100, plain(10), "RIGHTFIRST\n"+filler("right", 12, 46)+"\nRIGHTLAST")
	s.put(50, 300, plain(10), "A paragraph that stands below the columns and goes across the whole page as one line of text.")
	got := read(t, s).Markdown
	order(t, got, "# A title across both columns", "LEFTFIRST", "LEFTLAST", "RIGHTFIRST", "RIGHTLAST", "A paragraph that stands")

	// The same, written line by line across both columns, as some programs do.
	s = newSheet(1)
	for i := range 14 {
		base := 100 + 12*float32(i)
		s.put(50, base, plain(10), "left"+string(rune('a'+i))+" "+filler("left", 1, 36))
		s.put(310, base, plain(10), "right"+string(rune('a'+i))+" "+filler("right", 1, 36))
	}
	order(t, read(t, s).Markdown, "lefta", "leftn", "righta", "rightn")
}

func TestThreeColumnsOfUnequalLengthAndLeading(t *testing.T) {
	s := newSheet(1)
	s.lines(40, 100, plain(9), "ONEFIRST\n"+filler("one", 20, 34)+"\nONELAST")
	s.lines(220, 103, plain(9.5), "TWOFIRST\n"+filler("two", 17, 32)+"\nTWOLAST")
	s.lines(400, 100, plain(9), "THREEFIRST\n"+filler("three", 8, 34)+"\nTHREELAST")
	order(t, read(t, s).Markdown, "ONEFIRST", "ONELAST", "TWOFIRST", "TWOLAST", "THREEFIRST", "THREELAST")
}

func TestColumnsGoFromRightToLeftWhereTextDoes(t *testing.T) {
	s := newSheet(1)
	for i := range 10 {
		s.right(560, 100+12*float32(i), plain(10), "שלום עולם "+strings.Repeat("מילה ", 7))
	}
	for i := range 10 {
		s.right(290, 100+12*float32(i), plain(10), "טור שני "+strings.Repeat("אחרת ", 7))
	}
	order(t, read(t, s).Markdown, "שלום", "טור שני")
}

func TestWhatFollowsColumnsIsNoneOfTheLeft(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 100, plain(10), filler("left", 6, 46))
	s.lines(310, 100, plain(10), filler("right", 6, 46))
	s.put(50, 210, bold(14), "Next section")
	s.put(50, 230, plain(10), "Its short text.")
	order(t, read(t, s).Markdown, "left", "right", "# Next section", "Its short text.")
}

func TestLabelsAreReadWithWhatTheyName(t *testing.T) {
	s := newSheet(1)
	for i, p := range []string{"2019", "2021", "2024"} {
		base := 100 + 40*float32(i)
		s.put(50, base, plain(10), p)
		s.lines(150, base, plain(10), "Worked on "+p+"x for the harbour, which took most of\nthe time that there was.")
	}
	order(t, read(t, s).Markdown, "2019", "2019x", "2021", "2021x", "2024", "2024x")
}

func TestParagraphsAreJoined(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 100, plain(10), "The first paragraph has some lines of text that are as\nlong as the column, and its last one is shorter than\nthe others.\nThe second paragraph begins on a line of its own, as the\none before it ended early.")
	s.lines(50, 190, plain(10), "    The third is set in by its first line, which is no\nquotation, and goes on here for as long as it pleases,\n    until the fourth does the same thing once more, and\ngoes on.")
	equal(t, read(t, s).Markdown, strings.Join([]string{
		"The first paragraph has some lines of text that are as long as the column, and its last one is shorter than the others.",
		"The second paragraph begins on a line of its own, as the one before it ended early.",
		"The third is set in by its first line, which is no quotation, and goes on here for as long as it pleases,",
		"until the fourth does the same thing once more, and goes on.",
	}, "\n\n"))
}

func TestHyphensAtLineEndsAreJudgedByEvidence(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 100, plain(10), strings.Join([]string{
		"Of the survey it is said that documentation helps, and docu-",
		"mentation is what there is. A break-even point is a break-",
		"even point. What is well-",
		"known stays so, an inter-",
		"esting word is healed, the North-",
		"South line is not, nor is 2019-",
		"2020, and at https://harbour.example/long-",
		"path nothing is lost.",
	}, "\n"))
	equal(t, read(t, s).Markdown, "Of the survey it is said that documentation helps, and documentation is what there is. A break-even point is a break-even point. "+
		"What is well-known stays so, an interesting word is healed, the North-South line is not, nor is 2019-2020, and at https://harbour.example/long-path nothing is lost.")
}

func TestHeadings(t *testing.T) {
	s := newSheet(1)
	s.put(50, 60, bold(20), "The title")
	s.put(50, 90, bold(14), "First part")
	s.lines(50, 110, plain(10), filler("text", 4, 80))
	s.put(50, 180, bold(10), "1.1 A numbered heading")
	s.lines(50, 200, plain(10), filler("text", 3, 80))
	s.put(50, 260, bold(14), "Second part, whose heading")
	s.put(50, 277, bold(14), "needs two lines")
	s.lines(50, 300, plain(10), "A Bold word alone is none.\n"+filler("text", 3, 80))
	got := read(t, s)
	for _, h := range []string{"# The title\n", "\n## First part\n", "\n#### 1.1 A numbered heading\n", "\n## Second part, whose heading needs two lines\n"} {
		if !strings.Contains(got.Markdown, h) {
			t.Errorf("%q is not in\n%s", h, got.Markdown)
		}
	}
	if got.Title != "The title" {
		t.Errorf("the title is %q", got.Title)
	}
}

func TestTheFileKnowsItsHeadingsBetter(t *testing.T) {
	s := newSheet(1)
	s.put(50, 60, bold(14), "Harbour survey")
	s.put(50, 78, bold(14), "Scope")
	s.lines(50, 100, plain(12), filler("text", 4, 70))
	b := New(1 << 20)
	b.Title = "Microsoft Word - draft7.docx"
	b.Bookmarks = []Bookmark{{"Harbour Survey", 1, 1}, {"1 Scope", 2, 1}}
	b.Add(&s.Page)
	text, err := b.Text(t.Context())
	if err != nil || !strings.HasPrefix(text.Markdown, "# Harbour survey\n\n## Scope\n\ntext") || text.Title != "Harbour survey" {
		t.Errorf("%v, %q\n%s", err, text.Title, text.Markdown)
	}

	s = newSheet(1)
	tagged := plain(12)
	tagged.Level = 3
	s.put(50, 60, tagged, "Not bigger than the text")
	s.lines(50, 100, plain(12), filler("text", 4, 70))
	if got := read(t, s).Markdown; !strings.HasPrefix(got, "### Not bigger") {
		t.Errorf("got\n%s", got)
	}
}

func TestLists(t *testing.T) {
	s := newSheet(1)
	s.put(50, 80, plain(10), "Before the list:")
	s.lines(60, 95, plain(10), strings.Join([]string{
		"• First item, which is long enough that it has to go on",
		"  in a second line",
		"• Second item",
		"    ◦ Nested one",
		"    ◦ Nested two",
		"• Third item",
	}, "\n"))
	s.put(50, 170, plain(10), "Then numbers:")
	s.lines(60, 185, plain(10), "1. One\n2. Two\n   (a) Two a\n   (b) Two b\n3. Three")
	equal(t, read(t, s).Markdown, strings.Join([]string{
		"Before the list:",
		"",
		"- First item, which is long enough that it has to go on in a second line",
		"- Second item",
		"  - Nested one",
		"  - Nested two",
		"- Third item",
		"",
		"Then numbers:",
		"",
		"1. One",
		"2. Two",
		"   - (a) Two a",
		"   - (b) Two b",
		"3. Three",
	}, "\n"))
}

// TestNotesAsLargeAsTheText: a line above them and their numbers in the text say that they are notes.
func TestNotesAsLargeAsTheText(t *testing.T) {
	for _, drawn := range []bool{true, false} {
		p := newSheet(1)
		x := p.put(50, 100, plain(10), "The ferry leaves at seven")
		p.put(x, 96, plain(6), "1")
		x = p.put(50, 130, plain(10), "and comes back at nine")
		p.put(x, 126, plain(6), "2")
		p.lines(50, 160, plain(10), filler("mole", 4, 70))
		if drawn {
			p.across(50, 180, 690)
		}
		p.put(50, 697, plain(6), "1")
		p.put(56, 700, plain(10), "Not on Sundays.")
		p.put(50, 711, plain(6), "2")
		p.put(56, 714, plain(10), "In winter at eight.")
		got := read(t, p).Markdown
		if noted := strings.Contains(got, "seven[^1]") && strings.Contains(got, "nine[^2]") && strings.HasSuffix(got, "\n\n[^1]: Not on Sundays.\n\n[^2]: In winter at eight."); noted != drawn {
			t.Errorf("drawn %v, got\n%s", drawn, got)
		}
	}
}

// TestBoxesSayWhetherTheyAreChosen: what stands before an item is no mere mark then.
func TestBoxesSayWhetherTheyAreChosen(t *testing.T) {
	p := newSheet(1)
	p.lines(60, 60, plain(10), filler("berth", 2, 70))
	p.lines(60, 100, plain(10), "☐ by post\n☒ by boat\n☑ by hand")
	p.lines(60, 160, plain(10), filler("mole", 4, 70))
	if got := read(t, p).Markdown; !strings.Contains(got, "\n- ☐ by post\n- ☒ by boat\n- ☑ by hand\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestRuledTablesWithCellsThatSpan(t *testing.T) {
	s := newSheet(1)
	for _, y := range []float32{100, 120, 140, 180} {
		s.across(50, 350, y)
	}
	s.upright(50, 100, 180)
	s.upright(150, 120, 180)
	s.upright(250, 120, 180)
	s.upright(350, 100, 180)
	s.put(55, 114, bold(10), "Soundings of the spring")
	s.put(55, 134, plain(10), "Berth")
	s.put(155, 134, plain(10), "Depth")
	s.put(255, 134, plain(10), "Note")
	s.put(55, 154, plain(10), "North 1")
	s.put(155, 154, plain(10), "8.2")
	s.lines(255, 154, plain(10), "sand | rock\nand more")
	equal(t, read(t, s).Markdown, strings.Join([]string{
		"| Soundings of the spring | | |",
		"| --- | --- | --- |",
		"| Berth | Depth | Note |",
		"| North 1 | 8.2 | sand \\| rock and more |",
	}, "\n"))
}

func TestAlignedTables(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 60, plain(10), filler("text", 3, 80))
	for i, r := range [][]string{{"Berth", "Depth", "Bottom"}, {"North 1", "8.2", "Sand and gravel"}, {"North 2", "16.9", "Silt"}, {"Fuel pier", "11.4", ""}, {"East 3", "7.1", "Clay"}} {
		base := 120 + 13*float32(i)
		s.put(50, base, plain(10), r[0])
		s.put(200-5*float32(len(r[1])), base, plain(10), r[1])
		s.put(240, base, plain(10), r[2])
	}
	s.lines(50, 220, plain(10), filler("text", 3, 80))
	order(t, read(t, s).Markdown, "text text", "| Berth | Depth | Bottom |\n| --- | --- | --- |\n| North 1 | 8.2 | Sand and gravel |\n| North 2 | 16.9 | Silt |\n| Fuel pier | 11.4 | |\n| East 3 | 7.1 | Clay |", "text text")
}

// TestATableEndsWhereWhatFollowsStandsApart: a heading and items below leave the gaps of the table free by chance.
func TestATableEndsWhereWhatFollowsStandsApart(t *testing.T) {
	p := newSheet(1)
	p.lines(60, 60, plain(12), filler("berth", 2, 70))
	for i, r := range [][3]string{{"Boat", "Length", "Fee"}, {"Dinghy", "3.5m", "4.00"}, {"Sloop", "9m", "18.50"}, {"Ketch", "14m", "31.25"}} {
		y := float32(110 + 20*i)
		p.put(60, y, plain(12), r[0])
		p.put(320-6*float32(len(r[1])), y, plain(12), r[1])
		p.put(460-6*float32(len(r[2])), y, plain(12), r[2])
	}
	p.put(60, 203, bold(13), "Mooring")
	for i, said := range []string{"Slowly come in.", "Take up a line:", "Pay.", "Put out fenders.", "Go ashore.", "Sleep."} {
		p.put(70, float32(225+15*i), plain(12), string(rune('1'+i))+".")
		p.put(110, float32(225+15*i), plain(12), said)
	}
	p.lines(60, 350, plain(12), filler("mole", 4, 70))
	got := read(t, p).Markdown
	const table = "| Boat | Length | Fee |\n| --- | --- | --- |\n| Dinghy | 3.5m | 4.00 |\n| Sloop | 9m | 18.50 |\n| Ketch | 14m | 31.25 |\n\n"
	if !strings.Contains(got, table) || !strings.Contains(got, "Mooring\n\n1. Slowly come in.\n2. Take up a line:\n3. Pay.\n4. Put out") {
		t.Errorf("got\n%s", got)
	}
}

// TestCellsOfAPrintedSheet: numbers end where the next column's heading begins, but for two points.
func TestCellsOfAPrintedSheet(t *testing.T) {
	p := newSheet(1)
	p.lines(60, 60, plain(10), filler("berth", 2, 70))
	for i, r := range [][3]string{{"Boat", "Nights at berth", "Total"}, {"Dinghy", "2 nights in May", "8.00"}, {"Sloop", "1 night in May", "18.50"}, {"Ketch", "12 nights in June", "375.00"}, {"Yawl", "3 nights in July", "93.75"}} {
		y := float32(110 + 15*i)
		p.put(60, y, plain(10), r[0])
		if i == 0 {
			p.put(150, y, plain(10), r[1])
			p.put(252, y, plain(10), r[2])
			continue
		}
		p.put(250-5*float32(len(r[1])), y, plain(10), r[1])
		p.put(310-5*float32(len(r[2])), y, plain(10), r[2])
	}
	p.lines(60, 230, plain(10), filler("mole", 4, 70))
	if got := read(t, p).Markdown; !strings.Contains(got, "| Boat | Nights at berth | Total |\n| --- | --- | --- |\n| Dinghy | 2 nights in May | 8.00 |\n") ||
		!strings.Contains(got, "| Ketch | 12 nights in June | 375.00 |\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestTablesWithRowsOfSeveralLines(t *testing.T) {
	s := newSheet(1)
	s.across(50, 400, 105)
	s.across(50, 400, 125)
	s.put(50, 120, bold(10), "Name")
	s.put(150, 120, bold(10), "What it does")
	s.put(330, 120, bold(10), "Since")
	rows := [][3]string{{"first", "reads one page\nand shows it", "1.0"}, {"second", "reads many pages\nat once", "1.2"}, {"third", "none", "2.0"}}
	base := float32(140)
	for _, r := range rows {
		s.put(50, base, plain(10), r[0])
		s.lines(150, base, plain(10), r[1])
		s.put(330, base, plain(10), r[2])
		base += 12*float32(strings.Count(r[1], "\n")) + 20
		s.across(50, 400, base-14)
	}
	equal(t, read(t, s).Markdown, "| Name | What it does | Since |\n| --- | --- | --- |\n| first | reads one page and shows it | 1.0 |\n| second | reads many pages at once | 1.2 |\n| third | none | 2.0 |")
}

func TestContentsPagesAreLists(t *testing.T) {
	s := newSheet(1)
	s.put(50, 60, bold(16), "Contents")
	s.put(50, 90, plain(10), "1 Introduction ................................ 3")
	s.put(60, 103, plain(10), "1.1 Scope ................................... 4")
	s.put(50, 116, plain(10), "2 Findings ................................... 12")
	equal(t, read(t, s).Markdown, "# Contents\n\n- 1 Introduction … 3\n  - 1.1 Scope … 4\n- 2 Findings … 12")
}
