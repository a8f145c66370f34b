// Package documents reads PDF, Office, OpenDocument and Numbers files as Markdown, in this process: it is what
// webfetch.Options.Documents may be set to.
//
// What a document is its bytes decide, not the type that it was served as. PDF files are taken apart in a WebAssembly
// machine with a memory of its own; the other readers are bounded in what they unpack and keep. Nothing outside of a
// document is ever asked for, and no document makes a program panic. Who reads the documents of strangers in bulk may
// still want a process of its own around this: a machine's memory is given back to the system late.
package documents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pdf"
	"github.com/wayleave/wayleave/internal/document/reader"
	"github.com/wayleave/wayleave/internal/document/served"
	"github.com/wayleave/wayleave/webfetch"
)

// Options of a converter. The zero value of a field means its default.
type Options struct {
	// CacheDir is a private folder in which the compiled engine for PDF files is kept, some 25 MB; without it the first
	// PDF file of a process costs some 4 s of CPU and 300 MB. Default: wayleave/pdfium in the user's cache folder. "-"
	// keeps none.
	CacheDir string
	// Timeout bounds one document, 1 ms to 10 min. Default 20 s.
	Timeout time.Duration
	// AtOnce is how many documents are converted at once, 1 to 64; others wait. Default 2.
	AtOnce int
	// MaxText is how many bytes of Markdown a document becomes, 1 to 64 MiB; what follows is left out, and a note says
	// so. Default 4 MiB.
	MaxText int
	// MaxUnpacked is how many bytes the parts of a document may unpack to, 1 to 1 GiB; more is refused. Default 64 MiB.
	MaxUnpacked int64
}

const (
	defaultTimeout = 20 * time.Second
	defaultAtOnce  = 2
)

// Converter reads documents. It is safe for concurrent use.
type Converter struct {
	served  served.Documents
	reader  *reader.Reader
	timeout time.Duration
	turns   chan struct{}
}

// New makes a converter and starts nothing: the engine for PDF files starts with the first of them. The error names the
// option that is invalid.
func New(o Options) (*Converter, error) {
	for _, r := range []struct {
		option      string
		value       int64
		least, most int64
		unit        string
	}{
		{"Timeout", o.Timeout.Milliseconds(), 1, (10 * time.Minute).Milliseconds(), "milliseconds"},
		{"AtOnce", int64(o.AtOnce), 1, 64, "documents"},
		{"MaxText", int64(o.MaxText), 1, 64 << 20, "bytes"},
		{"MaxUnpacked", o.MaxUnpacked, 1, 1 << 30, "bytes"},
	} {
		if r.value != 0 && (r.value < r.least || r.value > r.most) || r.option == "Timeout" && o.Timeout != 0 && r.value == 0 {
			return nil, fmt.Errorf("documents: option %s is %d, must be %d to %d %s", r.option, r.value, r.least, r.most, r.unit)
		}
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.AtOnce == 0 {
		o.AtOnce = defaultAtOnce
	}
	switch o.CacheDir {
	case "":
		// Where a user has no such folder, or it cannot be made, nothing is kept.
		if base, err := os.UserCacheDir(); err == nil {
			dir := filepath.Join(base, "wayleave", "pdfium")
			if os.MkdirAll(dir, 0o700) == nil {
				o.CacheDir = dir
			}
		}
	case "-":
		o.CacheDir = ""
	}
	r := reader.New(document.Limits{Text: o.MaxText, Unpacked: o.MaxUnpacked}, pdf.Options{CacheDir: o.CacheDir, Interruptible: true})
	return &Converter{served: served.Documents{Reader: r}, reader: r, timeout: o.Timeout, turns: make(chan struct{}, o.AtOnce)}, nil
}

// Convert reads a document, whatever mediaType says it is. An error is a *webfetch.Unreadable, or ctx's.
func (c *Converter) Convert(ctx context.Context, mediaType string, body []byte) (webfetch.Document, error) {
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return webfetch.Document{}, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.served.Convert(ctx, mediaType, body)
}

// Close gives back what the engine for PDF files holds. No Convert may be under way.
func (c *Converter) Close() error { return c.reader.Close() }
