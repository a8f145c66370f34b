package pdf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/document"
)

// FuzzConvert reads files that are almost PDF: each ends in a text or in an error with a reason, and the engine goes on
// to read the next.
func FuzzConvert(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/documents/*.pdf")
	if err != nil || len(files) == 0 {
		f.Fatal("no documents to begin with", err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add((&file{}).pages(page{content: at(50, 700, "F1", 10, "Words.") + "0 0 100 100 re S\n", entries: "/Rotate 90"}).bytes())
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		text, err := engine.Convert(ctx, body, document.Limits{Pages: 20, Text: 1 << 18})
		var known *document.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("the error is %v", err)
		}
		if err != nil && text.Markdown != "" || err == nil && text.Markdown == "" {
			t.Errorf("error %v, text %q", err, text.Markdown)
		}
		if !utf8.ValidString(text.Markdown) || len(text.Markdown) > 1<<18 {
			t.Errorf("%d bytes of text, valid: %v", len(text.Markdown), utf8.ValidString(text.Markdown))
		}
	})
}
