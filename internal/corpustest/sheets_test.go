package corpustest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
	"github.com/wayleave/wayleave/internal/document/ods"
	"github.com/wayleave/wayleave/internal/document/xls"
	"github.com/wayleave/wayleave/internal/document/xlsb"
	"github.com/wayleave/wayleave/internal/document/xlsx"
)

// TestCorpusSpreadsheets reads every spreadsheet of the document cases by the reader of its kind.
func TestCorpusSpreadsheets(t *testing.T) {
	dir := corpus(t)
	if dir == "" {
		return
	}
	cases, err := doctest.Load(filepath.Join(dir, "documents"))
	if err != nil {
		t.Fatal(err)
	}
	type reader func(context.Context, []byte, document.Limits) (document.Text, error)
	readers := map[string]reader{".xlsx": xlsx.Read, ".xlsm": xlsx.Read, ".xlsb": xlsb.Read, ".xls": xls.Read, ".ods": ods.Read}
	read := 0
	for _, c := range cases {
		reader := readers[filepath.Ext(c.File)]
		if reader == nil {
			continue
		}
		body, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := reader(t.Context(), body, document.Limits{})
		for _, wrong := range c.Judge(text, err) {
			t.Errorf("%s: %s", c.File, wrong)
		}
		read++
	}
	if read < 20 {
		t.Errorf("only %d spreadsheets in %s", read, dir)
	}
}
