package sheet

import (
	"context"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
)

// TestASheetOfSeveralTables: its own heading, its texts, then each table by its name, whatever gaps are in it.
func TestASheetOfSeveralTables(t *testing.T) {
	b := New(document.Limits{})
	top := b.Sheet("Survey")
	top.Say("Depths are *metres*.")
	part := b.Part("Berths")
	part.Table(true)
	for i, row := range [][]string{{"Berth", "Depth"}, {"North", "8"}, {}, {"South", "9"}} {
		for j, text := range row {
			part.Set(i, j, Value{Text: text})
		}
	}
	b.Part("Empty").Table(false)
	b.Sheet("Next").Set(0, 0, Value{Text: "x"})
	text, err := b.Text(context.Background())
	want := "## Survey\n\nDepths are \\*metres\\*.\n\n### Berths\n\n| Berth | Depth |\n| --- | --- |\n| North | 8 |\n| South | 9 |\n\n### Empty\n\n*This table is empty.*\n\n## Next\n\n| x |\n| --- |"
	if err != nil || text.Markdown != want {
		t.Errorf("%v\n%s", err, text.Markdown)
	}
}
