// Package reader reads documents of every kind: what a document is decides what reads it, whatever it was called.
//
// The one rule: whatever a document holds, the answer is its text or a *document.Error, never a panic and never nothing.
package reader

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/compound"
	"github.com/wayleave/wayleave/internal/document/docx"
	"github.com/wayleave/wayleave/internal/document/numbers"
	"github.com/wayleave/wayleave/internal/document/ods"
	"github.com/wayleave/wayleave/internal/document/odt"
	"github.com/wayleave/wayleave/internal/document/pdf"
	"github.com/wayleave/wayleave/internal/document/xls"
	"github.com/wayleave/wayleave/internal/document/xlsb"
	"github.com/wayleave/wayleave/internal/document/xlsx"
)

// Reader reads documents. It is safe for concurrent use.
type Reader struct {
	limits  document.Limits
	pdf     pdf.Options
	without bool // the engine

	mu     sync.Mutex // guards engine while it starts
	engine *pdf.Engine
}

// New makes a reader and starts nothing: the engine for PDF files starts with Start, or with the first of them.
func New(limits document.Limits, engine pdf.Options) *Reader {
	return &Reader{limits: limits.WithDefaults(), pdf: engine}
}

// WithoutEngine makes a reader that reads no PDF files.
func WithoutEngine(limits document.Limits) *Reader {
	return &Reader{limits: limits.WithDefaults(), without: true}
}

// NeedsEngine says that a document is a PDF file, or counts as one.
func NeedsEngine(mediaType string, body []byte) bool {
	return kindOf(mediaType, body) == bodytype.TypePDF
}

// Start starts the engine for PDF files: a tenth of a second where its folder keeps the compiled engine, else seconds.
func (r *Reader) Start(ctx context.Context) error {
	_, err := r.started(ctx)
	return err
}

func (r *Reader) started(ctx context.Context) (*pdf.Engine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == nil {
		engine, err := pdf.New(ctx, r.pdf)
		if err != nil {
			return nil, err
		}
		r.engine = engine
	}
	return r.engine, nil
}

// Close ends the engine. No Read may be under way.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == nil {
		return nil
	}
	err := r.engine.Close()
	r.engine = nil
	return err
}

// Read reads a document. mediaType is what it was called, which counts where its bytes do not say what it is. The error
// is a *document.Error, or ctx's where that was cancelled.
func (r *Reader) Read(ctx context.Context, mediaType string, body []byte) (text document.Text, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = document.Text{}, document.Fail(document.Failed, "panic: %v\n%s", p, debug.Stack())
		}
	}()
	text, err = r.read(ctx, mediaType, body)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return document.Text{}, ctx.Err()
	case ctx.Err() != nil:
		return document.Text{}, document.Fail(document.TooCostly, "%v", ctx.Err())
	case err != nil:
		var known *document.Error
		if !errors.As(err, &known) {
			err = document.Fail(document.Failed, "%v", err)
		} else if (known.Reason == document.Damaged || known.Reason == document.Unsupported) && bodytype.KindOf(bodytype.Sniff(body, "", "")) == bodytype.HTML {
			err = document.Fail(document.WebPage, "%v", known)
		}
		return document.Text{}, err
	case strings.TrimSpace(text.Markdown) == "" && len(text.Facts) == 0:
		return document.Text{}, document.Fail(document.Empty, "no text")
	}
	return text, nil
}

func (r *Reader) read(ctx context.Context, mediaType string, body []byte) (document.Text, error) {
	if err := ctx.Err(); err != nil {
		return document.Text{}, err
	}
	switch kind := kindOf(mediaType, body); kind {
	case bodytype.TypePDF:
		if r.without {
			return document.Text{}, document.Fail(document.Unsupported, "no engine")
		}
		engine, err := r.started(ctx)
		if err != nil {
			return document.Text{}, fmt.Errorf("start the engine: %w", err)
		}
		return engine.Convert(ctx, body, r.limits)
	case bodytype.TypeDOCX:
		return docx.Read(ctx, body, r.limits)
	case bodytype.TypeODT:
		return odt.Read(ctx, body, r.limits)
	case bodytype.TypeODS:
		return ods.Read(ctx, body, r.limits)
	case bodytype.TypeXLSX:
		return xlsx.Read(ctx, body, r.limits)
	case bodytype.TypeXLSB:
		return xlsb.Read(ctx, body, r.limits)
	case bodytype.TypeXLS:
		return xls.Read(ctx, body, r.limits)
	case bodytype.TypeNumbers:
		return numbers.Read(ctx, body, r.limits)
	case encrypted:
		return document.Text{}, document.Fail(document.Encrypted, "a package in a compound file")
	default:
		return document.Text{}, document.Fail(document.Unsupported, "%q", kind)
	}
}

// encrypted stands for a document of Office's newer kinds in the older container, which is how they are encrypted.
const encrypted = "encrypted"

// kindOf is the media type of the reader for a document.
func kindOf(mediaType string, body []byte) string {
	if compound.Encrypted(body) {
		return encrypted
	}
	if inside := family(bodytype.Sniff(body, "application/octet-stream", "")); inside != "" {
		return inside
	}
	return family(mediaType)
}

// family is the media type that stands for all kinds which one reader reads; "" for what no reader does.
func family(mediaType string) string {
	switch mediaType {
	case bodytype.TypePDF, bodytype.TypeXLSB, bodytype.TypeXLS, bodytype.TypeNumbers:
		return mediaType
	case bodytype.TypeDOCX, "application/vnd.ms-word.document.macroenabled.12", "application/vnd.ms-word.template.macroenabled.12",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.template":
		return bodytype.TypeDOCX
	case bodytype.TypeXLSX, bodytype.TypeXLSM, "application/vnd.ms-excel.template.macroenabled.12",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.template":
		return bodytype.TypeXLSX
	case bodytype.TypeODT, "application/vnd.oasis.opendocument.text-template", "application/vnd.oasis.opendocument.text-master",
		"application/vnd.oasis.opendocument.text-web", "application/vnd.oasis.opendocument.text-flat-xml":
		return bodytype.TypeODT
	case "application/vnd.openxmlformats-officedocument":
		return encrypted
	case bodytype.TypeODS, "application/vnd.oasis.opendocument.spreadsheet-template", "application/vnd.oasis.opendocument.spreadsheet-flat-xml":
		return bodytype.TypeODS
	}
	return ""
}
