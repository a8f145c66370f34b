package pdf

import (
	"context"
	"strings"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/pdf/layout"
)

// Why the engine does not open a file.
const (
	needsPassword   = 4
	unknownSecurity = 5
)

// Convert reads a PDF file. A file that its owner's password alone protects opens; one that needs a password to be read
// is document.Encrypted. Further reasons: Damaged, Unsupported (encrypted in a way that is not known), TooCostly (ctx's
// deadline, the engine's memory). Where ctx was cancelled, the error is ctx's.
func (e *Engine) Convert(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	if err := ctx.Err(); err != nil {
		return document.Text{}, ended(ctx)
	}
	run, err := e.start(ctx)
	if err != nil {
		return document.Text{}, err
	}
	defer run.close()
	r := pageReader{guest: newGuest(ctx, run.module, e.memory)}
	if err := r.open(body); err != nil {
		return document.Text{}, err
	}
	return r.document(limits)
}

// open loads the file.
func (r *pageReader) open(body []byte) error {
	at := r.alloc(len(body))
	r.put(at, body)
	r.doc = r.work(r.fn("FPDF_LoadMemDocument"), uint64(at), uint64(len(body)), 0)
	if r.err != nil {
		return r.err
	}
	if r.doc != 0 {
		return nil
	}
	switch why := r.call(r.fn("FPDF_GetLastError")); why {
	case needsPassword:
		return document.Fail(document.Encrypted, "pdf")
	case unknownSecurity:
		return document.Fail(document.Unsupported, "pdf: unknown encryption")
	default:
		return document.Fail(document.Damaged, "pdf: error %d", why)
	}
}

// document reads all pages.
func (r *pageReader) document(limits document.Limits) (document.Text, error) {
	pages := int(int32(r.call(r.fn("FPDF_GetPageCount"), r.doc)))
	if r.err == nil && pages <= 0 {
		r.err = document.Fail(document.Damaged, "pdf: no pages")
	}
	r.tagged = r.call(r.fn("FPDFCatalog_IsTagged"), r.doc) != 0
	b := layout.New(limits.Text)
	b.Title = r.title()
	b.Bookmarks = r.bookmarks()
	b.Pages = pages
	read := 0
	for i := 0; i < min(pages, limits.Pages) && r.err == nil && !b.Full(); i++ {
		if p, ok := r.read(i); ok {
			b.Add(&p)
			read++
		}
	}
	if r.err != nil {
		return document.Text{}, r.err
	}
	if read == 0 {
		return document.Text{}, document.Fail(document.Damaged, "pdf: none of %d pages can be read", pages)
	}
	return b.Text(r.ctx)
}

// title is the title that the file declares.
func (r *pageReader) title() string {
	key := []byte("Title\x00")
	at := r.alloc(len(key))
	r.put(at, key)
	return strings.TrimSpace(r.wide(r.fn("FPDF_GetMetaText"), r.doc, uint64(at)))
}
