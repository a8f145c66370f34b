package pdf

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
)

// engine is the one of all tests: a start without its cache costs seconds.
var engine *Engine

func TestMain(m *testing.M) {
	e, err := New(context.Background(), Options{CacheDir: cacheDir()})
	if err != nil {
		log.Fatal(err)
	}
	engine = e
	code := m.Run()
	e.Close()
	os.Exit(code)
}

// cacheDir keeps the compiled engine from one run of the tests to the next.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "wayleave-test", "pdf")
}

func TestOurOwnDocuments(t *testing.T) {
	doctest.Run(t, "../../..", func(body []byte) (document.Text, error) {
		return engine.Convert(t.Context(), body, document.Limits{})
	}, ".pdf")
}

// TestDocumentsOfManyPrograms reads files that were made for this: what a browser, an office program and a typesetter
// print of columns, tables, lists, notes and scripts.
func TestDocumentsOfManyPrograms(t *testing.T) {
	cases, err := doctest.Load(filepath.Join("testdata", "made"))
	if err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			body, err := os.ReadFile(c.Path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := engine.Convert(t.Context(), body, document.Limits{})
			for _, w := range c.Judge(text, err) {
				t.Error(w)
			}
			if t.Failed() {
				t.Logf("error: %v\n%s", err, text.Markdown)
			}
		})
	}
}
