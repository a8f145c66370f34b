package layout

import (
	"fmt"
	"strings"
	"testing"
)

func TestLineNumbersInTheMarginAreLeftOut(t *testing.T) {
	for _, x := range []float32{20, 560} {
		s := newSheet(1)
		lines := strings.Split(filler("word", 12, 80), "\n")
		for i, text := range lines {
			base := 100 + 18*float32(i)
			s.put(70, base, plain(10), text)
			s.put(x, base, plain(6), fmt.Sprint(i+23))
		}
		got := read(t, s).Markdown
		equal(t, got, strings.ReplaceAll(filler("word", 12, 80), "\n", " "))
	}
}

func TestNumbersOfRowsAreNoLineNumbers(t *testing.T) {
	s := newSheet(1)
	s.put(50, 90, plain(10), "No.")
	s.put(120, 90, plain(10), "Station")
	s.put(260, 90, plain(10), "Depth")
	want := "| No. | Station | Depth |\n| --- | --- | --- |"
	for i := range 12 {
		base := 104 + 14*float32(i)
		s.put(50, base, plain(10), fmt.Sprint(i+1))
		s.put(120, base, plain(10), strings.Repeat("pier", i%3+1))
		s.put(260, base, plain(10), fmt.Sprintf("%d.5", i))
		want += fmt.Sprintf("\n| %d | %s | %d.5 |", i+1, strings.Repeat("pier", i%3+1), i)
	}
	equal(t, read(t, s).Markdown, want)
}

func TestALetterOverSeveralLinesBeginsTheFirst(t *testing.T) {
	s := newSheet(1)
	s.put(50, 124, bold(44), "T")
	s.lines(74, 100, plain(10), "he survey covers nine berths between the north mole and the\nfuel pier, and the depths are given in metres below the datum\nof the chart, as they were when the echo sounder had been set")
	s.lines(50, 136, plain(10), "right on the first morning of the week in which all was done\nby two boats and a crew of seven.")
	got := read(t, s).Markdown
	equal(t, got, "The survey covers nine berths between the north mole and the fuel pier, and the depths are given in metres below the datum of the chart, as they were when the echo sounder had been set right on the first morning of the week in which all was done by two boats and a crew of seven.")
}

// TestTablesAreNotTornIntoColumns reads tables whose cells the file writes column by column, or with a wide gap.
func TestTablesAreNotTornIntoColumns(t *testing.T) {
	rows := [][]string{{"Station", "Depth", "Share", "Year", "Mean"}}
	for i := range 14 {
		rows = append(rows, []string{fmt.Sprintf("%s%d", strings.Repeat("pier", i%3+1), i+1), fmt.Sprintf("%d.4", i), fmt.Sprintf("%d%%", 3*i), fmt.Sprint(1990 + i), "–"})
	}
	at := []float32{50, 150, 330, 400, 480}
	var want strings.Builder
	for i, r := range rows {
		fmt.Fprintf(&want, "| %s |\n", strings.Join(r, " | "))
		if i == 0 {
			want.WriteString("| --- | --- | --- | --- | --- |\n")
		}
	}
	byRow, byColumn := newSheet(1), newSheet(1)
	for i, r := range rows {
		for j, text := range r {
			byRow.put(at[j], 100+14*float32(i), plain(10), text)
		}
	}
	for j := range at {
		for i, r := range rows {
			byColumn.put(at[j], 100+14*float32(i), plain(10), r[j])
		}
	}
	for _, s := range []*sheet{byRow, byColumn} {
		equal(t, read(t, s).Markdown, strings.TrimRight(want.String(), "\n"))
	}
}

func TestNumbersSetByTheirPointsAreATable(t *testing.T) {
	s := newSheet(1)
	for i, r := range [][]string{{"Female", "200,915", "103.1", "(102.7)", "82,595"}, {"Male", "44", "6.5", "(75.7)", "1"}, {"Native", "1,880", "97.4", "–", "548"}, {"Black", "530", "161.625", "(1)", "17,045"}} {
		for j, text := range r {
			point := strings.IndexAny(text+".", ".")
			s.put(60+90*float32(j)-5*float32(point)+45, 100+12*float32(i), plain(10), text)
		}
	}
	got := read(t, s).Markdown
	order(t, got, "| Female | 200,915 | 103.1 | (102.7) | 82,595 |", "| Male | 44 | 6.5 | (75.7) | 1 |", "| Black | 530 | 161.625 | (1) | 17,045 |")
}

// TestStretchedLinesAreNoTable reads a narrow column whose lines are stretched until they fill it.
func TestStretchedLinesAreNoTable(t *testing.T) {
	s := newSheet(1)
	text := "the dredging of the harbour\ndocumentation requires each\nprocedure for the pier\nlaboratory limits it\nagreement of the harbour\nand so on."
	base := float32(100)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		letters := 0
		for _, w := range words {
			letters += len(w)
		}
		gap := (150 - 5*float32(letters)) / float32(len(words)-1)
		if strings.HasSuffix(line, ".") {
			gap = 5
		}
		x := float32(50)
		for _, w := range words {
			s.put(x, base, plain(10), w)
			x += 5*float32(len(w)) + gap
		}
		base += 12
	}
	equal(t, read(t, s).Markdown, strings.ReplaceAll(text, "\n", " "))
}

func TestAColumnBelowALineAcrossThePageIsFound(t *testing.T) {
	s := newSheet(1)
	s.put(50, 50, plain(10), "Journal of Harbours")
	s.put(480, 50, plain(10), "Vol. 12")
	s.across(50, 550, 60)
	left, right := filler("left", 14, 40), filler("right", 14, 40)
	s.lines(50, 90, plain(10), left)
	s.lines(320, 93, plain(10), right)
	got := read(t, s).Markdown
	order(t, got, strings.ReplaceAll(left, "\n", " "), strings.ReplaceAll(right, "\n", " "))
}

func TestNumbersInTablesAreNoPageNumbers(t *testing.T) {
	var pages []*sheet
	for n := 1; n <= 3; n++ {
		s := newSheet(n)
		for i := range 50 {
			base := 60 + 14*float32(i)
			s.put(50, base, plain(10), fmt.Sprintf("Station%d", 50*(n-1)+i))
			s.put(200, base, plain(10), fmt.Sprint(7*n))
			s.put(300, base, plain(10), fmt.Sprint(n))
		}
		pages = append(pages, s)
	}
	got := read(t, pages...).Markdown
	for n := 1; n <= 3; n++ {
		for _, i := range []int{0, 1, 48, 49} {
			if row := fmt.Sprintf("| Station%d | %d | %d |", 50*(n-1)+i, 7*n, n); !strings.Contains(got, row) {
				t.Errorf("no %s in\n%s", row, got)
			}
		}
	}
}

func TestSentencesThatComeAgainAreNoRunningLines(t *testing.T) {
	clause := "This clause is for show and carries no weight at all."
	var pages []*sheet
	for n := 1; n <= 3; n++ {
		s := newSheet(n)
		s.put(50, 40, plain(8), "Sample agreement")
		s.put(50, 80, bold(14), fmt.Sprintf("Part %c", 'A'+n))
		for i := range 4 {
			s.put(50, 100+40*float32(i), plain(10), clause)
		}
		pages = append(pages, s)
	}
	got := read(t, pages...).Markdown
	if n := strings.Count(got, clause); n != 12 || strings.Contains(got, "Sample") {
		t.Errorf("%d times in\n%s", n, got)
	}
}

func TestATitleThatRunsIsKeptOnce(t *testing.T) {
	var pages []*sheet
	for n := 1; n <= 4; n++ {
		s := newSheet(n)
		s.put(50, 50, bold(16), "Register of berths")
		s.put(500, 780, plain(8), fmt.Sprint(n))
		s.lines(50, 100, plain(10), filler(fmt.Sprintf("page%c", 'a'+n), 8, 60))
		pages = append(pages, s)
	}
	got := read(t, pages...).Markdown
	if !strings.HasPrefix(got, "# Register of berths\n") || strings.Count(got, "Register") != 1 {
		t.Error(got)
	}
}

func TestWhatStandsBelowATitleIsNoHeading(t *testing.T) {
	s := newSheet(1)
	s.put(300-5*8.5, 80, plain(17), "The harbour")
	s.put(300-6*6, 110, plain(12), "Mira Oldal")
	s.put(300-6*5, 130, plain(12), "March 2031")
	s.put(50, 170, bold(14), "1 Scope")
	s.lines(50, 190, plain(10), filler("text", 6, 80))
	got := read(t, s).Markdown
	order(t, got, "# The harbour\n", "\nMira Oldal", "March 2031\n", "## 1 Scope")
	if strings.Contains(got, "# Mira") || strings.Contains(got, "# March") {
		t.Error(got)
	}
}

func TestNumbersWithoutDotsBeginItems(t *testing.T) {
	s := newSheet(1)
	s.put(50, 80, plain(10), "What is done on the first of all these days:")
	for i, text := range []string{"The sounder is set", "The diver goes down", "Samples are sent"} {
		s.put(50, 100+14*float32(i), plain(10), fmt.Sprint(i+1))
		s.put(70, 100+14*float32(i), plain(10), text)
	}
	order(t, read(t, s).Markdown, "1. The sounder is set\n2. The diver goes down\n3. Samples are sent")
}

func TestItemsGoOnInTheNextColumn(t *testing.T) {
	a, b := newSheet(1), newSheet(2)
	a.lines(50, 80, plain(10), filler("text", 6, 55))
	a.lines(60, 180, plain(10), "• The first item is short\n• The second one has a text that is too long for the\n  page that it begins on, so that it")
	b.lines(70, 60, plain(10), "goes on with this line on the next page of them.")
	order(t, read(t, a, b).Markdown, "- The first item is short\n- The second one has a text that is too long for the page that it begins on, so that it goes on with this line on the next page of them.")
}

func TestAHyphenOfItsOwnKindIsHealed(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 80, plain(10), "Because the independent documenta‐\ntion requires this configuration, all of the docu‐\nments are kept in the office.")
	equal(t, read(t, s).Markdown, "Because the independent documentation requires this configuration, all of the documents are kept in the office.")
}

func TestMarksOfItemsOnTheRight(t *testing.T) {
	s := newSheet(1)
	for i, text := range []string{"בדיקת צוללן של הרציף", "כיול מד העומק בבוקר"} {
		base := 100 + 14*float32(i)
		s.right(500, base, plain(10), text)
		s.Dots = append(s.Dots, Dot{Rect: Rect{507, base - 5, 510, base - 2}})
	}
	equal(t, read(t, s).Markdown, "- בדיקת צוללן של הרציף\n- כיול מד העומק בבוקר")
}

func TestSentencesGoOnBeyondTables(t *testing.T) {
	a, b := newSheet(1), newSheet(2)
	a.lines(50, 80, plain(10), "The first text of the page goes on on the next one, for it is too long to end\nhere, and so its sentence is")
	b.put(50, 60, plain(10), "Table 2: Depths by station.")
	for i, r := range [][]string{{"Station", "Depth", "Year"}, {"North", "8.2", "1999"}, {"South", "6.9", "2004"}, {"East", "11.4", "2011"}} {
		for j, text := range r {
			b.put(60+120*float32(j), 80+14*float32(i), plain(10), text)
		}
	}
	b.put(50, 170, plain(10), "not torn by the table that stands between the two.")
	order(t, read(t, a, b).Markdown, "and so its sentence is not torn by the table that stands between the two.\n", "| South | 6.9 | 2004 |")
}

func TestEntriesOfABibliographyHang(t *testing.T) {
	s := newSheet(1)
	s.lines(50, 80, plain(10), "[1] A. Author and B. Writer. On the dredging of harbours.\n    Journal of Ports, 12(3), 1999.\n[2] C. Third. A survey of surveys in harbours and at sea.\n    Conference on Surveys, 2004.")
	equal(t, read(t, s).Markdown, "[1] A. Author and B. Writer. On the dredging of harbours. Journal of Ports, 12(3), 1999.\n\n[2] C. Third. A survey of surveys in harbours and at sea. Conference on Surveys, 2004.")
}

func TestLinesThatEndAtOnePlaceAreLines(t *testing.T) {
	s := newSheet(1)
	for i, text := range []string{"Invoice number: 2031-0417", "Date: 9 March 2031", "Due: 8 April"} {
		s.put(550-5*float32(len(text)), 80+12*float32(i), plain(10), text)
	}
	s.lines(50, 140, plain(10), filler("text", 5, 100))
	got := read(t, s).Markdown
	order(t, got, "Invoice number: 2031-0417", "\n", "Date: 9 March 2031", "\n", "Due: 8 April")
	if strings.Contains(got, "0417 Date") {
		t.Error(got)
	}
}
