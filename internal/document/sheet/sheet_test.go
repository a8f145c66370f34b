package sheet

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

// fill sets cells from lines: cells are parted by " | ", rows by line feeds. A number is one, and a date.
func fill(s *Sheet, top, left int, text string) {
	for r, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		for c, v := range strings.Split(line, "|") {
			v = strings.TrimSpace(v)
			kind := Words
			if len(v) > 0 && v[0] >= '0' && v[0] <= '9' {
				kind = Number
				if len(v) == 10 && v[4] == '-' {
					kind = Moment
				}
			}
			s.Set(top+r, left+c, Value{Text: strings.ReplaceAll(v, `\n`, "\n"), Kind: kind})
		}
	}
}

func markdown(t *testing.T, b *Book) string {
	t.Helper()
	text, err := b.Text(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return text.Markdown
}

func TestLayout(t *testing.T) {
	for name, c := range map[string]struct {
		fill func(s *Sheet)
		want string
	}{
		"a table far from the corner": {func(s *Sheet) { fill(s, 1048573, 16380, "Item | Qty\nRope | 14") }, `
| Item | Qty |
| --- | --- |
| Rope | 14 |`},
		"no header among numbers": {func(s *Sheet) { fill(s, 0, 0, "1 | 2\n3 | 4") }, `
| | |
| --- | --- |
| 1 | 2 |
| 3 | 4 |`},
		"years and dates are headers": {func(s *Sheet) { fill(s, 0, 0, " | 2030 | 2031 | Sum\nSand | 1 | 2 | 3\n\nDay | 2031-03-09\nSand | 4") }, `
| | 2030 | 2031 | Sum |
| --- | --- | --- | --- |
| Sand | 1 | 2 | 3 |

| Day | 2031-03-09 |
| --- | --- |
| Sand | 4 |`},
		"the sum under a blank row": {func(s *Sheet) {
			fill(s, 0, 0, "Item | Qty | Price\nRope | 14 | 3.5\n\nTotal | 14\nCounted on | 2031-03-09")
		}, `
| Item | Qty | Price |
| --- | --- | --- |
| Rope | 14 | 3.5 |
| Total | 14 | |
| Counted on | 2031-03-09 | |`},
		"two tables, the second with its title": {func(s *Sheet) {
			fill(s, 0, 0, "Item | Qty\nRope | 14\n\nThe crew\nName | Role\nAda | Pilot\n\n\nA last word")
		}, `
| Item | Qty |
| --- | --- |
| Rope | 14 |

| The crew |
| --- |

| Name | Role |
| --- | --- |
| Ada | Pilot |

| A last word |
| --- |`},
		"a row wider than the header": {func(s *Sheet) { fill(s, 0, 0, "Item | Qty\nRope | 14\nBuoy | 3 | 4 | 5") }, `
| Item | Qty | | |
| --- | --- | --- | --- |
| Rope | 14 | | |
| Buoy | 3 | 4 | 5 |`},
		"a title above a blank row": {func(s *Sheet) { fill(s, 0, 0, "Item | Qty\nRope | 14\n\nThe crew\n\nName | Role\nAda | Pilot") }, `
| Item | Qty |
| --- | --- |
| Rope | 14 |

| The crew |
| --- |

| Name | Role |
| --- | --- |
| Ada | Pilot |`},
		"a lone cell that is no title": {func(s *Sheet) { fill(s, 0, 0, "foo\n1 | 2\n3 | 4\n\nA remark") }, `
| | |
| --- | --- |
| foo | |
| 1 | 2 |
| 3 | 4 |
| A remark | |`},
		"a merged title": {func(s *Sheet) {
			fill(s, 0, 0, "Title\nItem | | Price\nRope | 2 | 3")
			s.Merge(0, 0, 0, 2)
		}, `
| Title |
| --- |

| Item | | Price |
| --- | --- | --- |
| Rope | 2 | 3 |`},
		"side by side": {func(s *Sheet) {
			fill(s, 0, 0, "Item | Qty\nRope | 14\nBuoy | 31")
			fill(s, 0, 3, "Name | Role\nAda | Pilot\nBob | Cook\n\nSum | 2")
		}, `
| Item | Qty |
| --- | --- |
| Rope | 14 |
| Buoy | 31 |

| Name | Role |
| --- | --- |
| Ada | Pilot |
| Bob | Cook |
| Sum | 2 |`},
		"a blank column for looks": {func(s *Sheet) { fill(s, 0, 0, "Item | | 2030 | | 2031\nSand | | 1 | | 2\nSilt | | 3 | | 4") }, `
| Item | 2030 | 2031 |
| --- | --- | --- |
| Sand | 1 | 2 |
| Silt | 3 | 4 |`},
		"merged cells": {func(s *Sheet) {
			fill(s, 0, 0, "A | B | C\ndown | covered | x\ncovered | y |\n | | \ncovered | | z")
			s.Merge(1, 0, 4, 0)
			s.Merge(1, 1, 1, 1)
		}, `
| A | B | C |
| --- | --- | --- |
| down | covered | x |
| | y | |
| | | z |`},
		"markup in cells": {func(s *Sheet) { fill(s, 0, 0, "a|b"); s.Set(0, 0, Value{Text: "pipe | *star*\r\n<br> # 1. [x](y)"}) }, `
| pipe \| \*star\*<br>\<br> # 1. [x]\(y) | b |
| --- | --- |`},
		"links": {func(s *Sheet) {
			s.Set(0, 0, Value{Text: "notice", Link: "https://harbour.example/n|1"})
			s.Set(0, 1, Value{Text: "https://harbour.example/", Link: "https://harbour.example/"})
			s.Set(0, 2, Value{Text: "inside", Link: "#Sheet2!A1"})
			s.Set(0, 3, Value{Text: "script", Link: "javascript:alert(1)"})
			s.Set(0, 4, Value{Text: "later"})
			s.Link(0, 4, 900000, 4, "mailto:a@b.example")
		}, `
| [notice](https://harbour.example/n%7C1) | <https://harbour.example/> | inside | script | [later](mailto:a@b.example) |
| --- | --- | --- | --- | --- |`},
		"the later value of one cell": {func(s *Sheet) { fill(s, 1, 0, "b | c"); fill(s, 0, 0, "A | B"); fill(s, 1, 0, "d") }, `
| A | B |
| --- | --- |
| d | c |`},
		"hidden rows part nothing": {func(s *Sheet) {
			fill(s, 0, 0, "A | B\nc | 1")
			fill(s, 5, 0, "d | 2")
			s.HideRows(2, 4)
			s.HideColumns(7, 900)
			fill(s, 3, 0, "SECRET | SECRET\nSECRET")
			fill(s, 0, 7, "SECRET")
		}, `
| A | B |
| --- | --- |
| c | 1 |
| d | 2 |

*Hidden and left out: 2 rows and 1 column.*`},
		"texts in one column": {func(s *Sheet) { fill(s, 0, 0, "About this file\n\nFirst do this.\nThen do that.") }, `
| About this file |
| --- |
| First do this. |
| Then do that. |`},
		"nothing": {func(s *Sheet) { s.Set(3, 3, Value{Text: " \n\u00a0"}) }, `
*This sheet is empty.*

*No visible sheet of this workbook has a cell with content.*`},
		"nothing but hidden rows": {func(s *Sheet) {
			s.HideRows(0, 9)
			fill(s, 0, 0, "SECRET | 1\nSECRET | 2")
		}, `
*Hidden and left out: 2 rows.*

*No visible sheet of this workbook has a cell with content.*`},
		"a chart": {func(s *Sheet) { s.Instead("A chart.") }, `
*A chart.*

*No visible sheet of this workbook has a cell with content.*`},
	} {
		b := New(document.Limits{})
		c.fill(b.Sheet("S"))
		want := "## S\n" + c.want
		got := markdown(t, b)
		if blanks(got) != blanks(want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// blanks makes the two spellings of an empty cell one.
func blanks(s string) string { return strings.ReplaceAll(s, "  ", " ") }

func TestBooks(t *testing.T) {
	b := New(document.Limits{})
	fill(b.Sheet("Sales *2031*"), 0, 0, "A | B\n1 | 2")
	b.Hide("Plans")
	b.Hide("S|x")
	fill(b.Sheet("2. Costs"), 0, 0, "C | D\n3 | 4")
	text, err := b.Text(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := "## Sales \\*2031\\*\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\n## 2. Costs\n\n| C | D |\n| --- | --- |\n| 3 | 4 |\n\n*Hidden and left out: Plans, S|x.*"
	if text.Markdown != want {
		t.Errorf("%s", text.Markdown)
	}
	if len(text.Notes) != 1 || text.Notes[0].Kind != document.NoteHiddenSheets || text.Notes[0].Words != "2 sheets are hidden and left out" || text.Notes[0].Data["sheets"] != 2 {
		t.Errorf("%+v", text.Notes)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := b.Text(ctx); err == nil {
		t.Error("written after the end")
	}
}

func TestLongAndWideSheetsAreCut(t *testing.T) {
	b := New(document.Limits{Rows: 10, Columns: 3})
	s := b.Sheet("Long")
	for r := range 1500 {
		for c := range 20 {
			s.Set(r, c, Value{Text: fmt.Sprint("v", c), Kind: Number})
		}
	}
	fill(b.Sheet("Short"), 0, 0, "A | B\n1 | 2")
	text, err := b.Text(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.Markdown, "*Shown are 10 of 1,500 rows and 3 of 20 columns with content.*") || strings.Count(text.Markdown, "| v0 | v1 | v2 |") != 10 {
		t.Errorf("%s", text.Markdown)
	}
	if len(text.Notes) != 1 || text.Notes[0].Words != "1 sheet is cut: 1,490 rows and 17 columns are not shown" {
		t.Errorf("%+v", text.Notes)
	}
}

// TestASheetThatIsCutInTwoWaysIsOne: a row that is cut off, and columns that are not shown.
func TestASheetThatIsCutInTwoWaysIsOne(t *testing.T) {
	b := New(document.Limits{Columns: 3, Text: 1000})
	s := b.Sheet("Wide")
	for c := range 5 {
		s.Set(0, c, Value{Text: strings.Repeat("x", 600)})
	}
	text, err := b.Text(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.Markdown, "*The last row is cut off.*\n\n*Shown are 3 of 5 columns with content.*") {
		t.Errorf("%s", text.Markdown)
	}
	if len(text.Notes) != 1 || text.Notes[0].Words != "1 sheet is cut: 2 columns are not shown" {
		t.Errorf("%+v", text.Notes)
	}
}

func TestCellsOfABookAreBounded(t *testing.T) {
	b := New(document.Limits{Cells: 100})
	one, two := b.Sheet("One"), b.Sheet("Two")
	for r := range 60 {
		one.Set(r, 0, Value{Text: "a"})
		one.Set(r, 1, Value{Text: "b"})
	}
	two.Set(0, 0, Value{Text: "c"})
	var text document.Text
	var err error
	if b.Room() {
		t.Error("there is room")
	}
	b.Skip()
	if text, err = b.Text(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.Markdown, "Shown are 2 of 3 sheets.") || text.Notes[0].Data["sheets"] != 3 {
		t.Errorf("%v %s", text.Notes, text.Markdown)
	}
	if !strings.Contains(text.Markdown, "Shown are 50 of 60 rows") || !strings.Contains(text.Markdown, "more than are read") {
		t.Errorf("%s", text.Markdown)
	}
}

func TestTextIsBounded(t *testing.T) {
	b := New(document.Limits{Text: 200_000})
	for i := range 3 {
		s := b.Sheet(fmt.Sprint("S", i))
		for r := range 20 {
			s.Set(r, 0, Value{Text: strings.Repeat("ä", 1<<16)})
		}
	}
	text, err := b.Text(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(text.Markdown); n > 240_000 || !strings.Contains(text.Markdown, "Shown are 7 of 20 rows") || !strings.Contains(text.Markdown, "Shown are 1 of 3 sheets.") {
		t.Errorf("%d bytes: %s", n, text.Markdown[n-200:])
	}
}

func TestBands(t *testing.T) {
	var b bands
	for _, r := range [][2]int{{3, 4}, {5, 5}, {9, 9}, {1, 1}, {20, 30}, {25, 26}} {
		b.add(r[0], r[1])
	}
	var held []int
	for i := range 40 {
		if b.holds(i) {
			held = append(held, i)
		}
	}
	if got := fmt.Sprint(held); got != "[1 3 4 5 9 20 21 22 23 24 25 26 27 28 29 30]" {
		t.Error(got)
	}
	if b.holds(9) != true || b.holds(0) || b.between(0, 10) != 4 || b.between(3, 4) != 0 || b.between(4, 9) != 3 {
		t.Error(b.between(0, 10), b.between(4, 9))
	}
}

func FuzzLayout(f *testing.F) {
	f.Add([]byte("\x00\x00a\x01\x01b\x02\x05c"), "x|y")
	f.Fuzz(func(t *testing.T, ops []byte, words string) {
		b := New(document.Limits{Rows: 40, Columns: 8, Cells: 300, Text: 1 << 16})
		s := b.Sheet(words)
		for ; len(ops) >= 3; ops = ops[3:] {
			r, c := int(ops[0])%64, int(ops[1])%48
			switch op := ops[2]; {
			case op < 200:
				s.Set(r, c, Value{Text: words[min(len(words), int(op)%4):], Kind: Kind(op % 5), Link: words})
			case op < 230:
				s.Merge(r, c, r+int(op)%7, c+int(op)%5)
			case op < 240:
				s.HideRows(r, r+int(op)%9)
			default:
				s = b.Sheet("next")
			}
		}
		text, err := b.Text(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(text.Markdown) == "" {
			t.Error("an empty text")
		}
	})
}
