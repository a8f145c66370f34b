package corpustest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/doctest"
	"github.com/wayleave/wayleave/webfetch/documents"
)

// TestCorpusDocuments reads every document of the cases through the library, each as "a download".
func TestCorpusDocuments(t *testing.T) {
	dir := corpus(t)
	if dir == "" {
		return
	}
	cases, err := doctest.Load(filepath.Join(dir, "documents"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := documents.New(documents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, one := range cases {
		body, err := os.ReadFile(one.Path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Convert(t.Context(), one.ContentType, body)
		var failed *document.Error
		if errors.As(err, &failed) {
			err = failed
		}
		for _, wrong := range one.Judge(document.Text{Markdown: got.Markdown}, err) {
			t.Errorf("%s: %s", one.File, wrong)
		}
	}
	if len(cases) < 40 {
		t.Errorf("only %d documents in %s", len(cases), dir)
	}
}
