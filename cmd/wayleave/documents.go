package main

import (
	"context"
	"io"

	"github.com/wayleave/wayleave/internal/document/child"
	"github.com/wayleave/wayleave/internal/document/pdf"
	"github.com/wayleave/wayleave/internal/document/reader"
)

// readDocuments is this program as a child that reads documents. It reads no flags, no variables and no files but the
// folder that its parent names.
func readDocuments(in io.Reader, out io.Writer) (code int) {
	err := child.Serve(context.Background(), in, out, func(h child.Hello) child.Reader {
		if !h.Engine {
			return reader.WithoutEngine(h.Limits)
		}
		return reader.New(h.Limits, pdf.Options{CacheDir: h.CacheDir})
	})
	if err != nil {
		return 1 // the parent sees that it is gone; there is nobody to tell why
	}
	return 0
}
