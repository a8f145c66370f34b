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

// maxStarts is how often the engine is started for one file: again after each page that ended it.
const maxStarts = 3

// Convert reads a PDF file. A file that its owner's password alone protects opens; one that needs a password to be read
// is document.Encrypted. Further reasons: Damaged, Unsupported (encrypted in a way that is not known), TooCostly (ctx's
// deadline, the engine's memory). Where ctx was cancelled, the error is ctx's. A page that cannot be read is left out,
// and a note says that not all are there.
func (e *Engine) Convert(ctx context.Context, body []byte, limits document.Limits) (document.Text, error) {
	limits = limits.WithDefaults()
	r := reading{ctx: ctx, body: body, limits: limits, next: outlinePage, text: layout.New(limits.Text)}
	var first error
	for range maxStarts {
		err := r.run(e)
		if err == nil {
			break
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil || !r.opened {
			return document.Text{}, first
		}
		r.next++ // what ended the engine once would again
	}
	if r.read == 0 {
		if first == nil {
			first = document.Fail(document.Damaged, "pdf: none of %d pages can be read", r.text.Pages)
		}
		return document.Text{}, first
	}
	return r.text.Text(ctx)
}

// reading is a file that is being read.
type reading struct {
	ctx    context.Context
	body   []byte
	limits document.Limits
	text   *layout.Builder
	opened bool
	next   int // the page that is read next
	read   int // pages
}

// outlinePage stands for what is read before the first page.
const outlinePage = -1

// run reads from the next page on, until the end or until a page ends the engine.
func (r *reading) run(e *Engine) error {
	if r.ctx.Err() != nil {
		return ended(r.ctx)
	}
	i, err := e.start(r.ctx)
	if err != nil {
		return err
	}
	defer i.close()
	p := pageReader{guest: newGuest(r.ctx, i.module, e.memory)}
	if err := p.open(r.body); err != nil {
		return err
	}
	pages := int(int32(p.call(p.fn("FPDF_GetPageCount"), p.doc)))
	if p.err == nil && pages <= 0 {
		p.err = document.Fail(document.Damaged, "pdf: no pages")
	}
	if p.err != nil {
		return p.err
	}
	r.opened = true
	r.text.Pages = pages
	p.tagged = p.call(p.fn("FPDFCatalog_IsTagged"), p.doc) != 0
	for ; r.next < min(pages, r.limits.Pages) && !r.text.Full(); r.next++ {
		if r.next == outlinePage {
			r.text.Title = p.title()
			r.text.Bookmarks = p.bookmarks()
			r.text.Attached, r.text.Dynamic = p.attachments(), p.dynamicForm()
		} else if sheet, ok := p.read(r.next); ok {
			r.text.Add(&sheet)
			r.read++
		}
		if p.err != nil {
			return p.err
		}
	}
	return nil
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

// title is the title that the file declares.
func (r *pageReader) title() string {
	key := []byte("Title\x00")
	at := r.alloc(len(key))
	r.put(at, key)
	return strings.TrimSpace(r.wide(r.fn("FPDF_GetMetaText"), r.doc, uint64(at)))
}
