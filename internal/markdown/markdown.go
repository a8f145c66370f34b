// Package markdown writes the Markdown of an HTML tree: CommonMark with GFM's tables, strike-through, task lists and
// footnotes, and math between dollars.
//
// The one rule: what a page shows as text comes out as the same text, in order, and none of it reads as markup.
// The tree is walked once and written straight into one buffer; it is never changed.
package markdown

import (
	"context"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/markdown/facts"
	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// Options of one conversion. The zero value leaves relative addresses as they are.
type Options struct {
	BaseURL string // the page's own address; every link is made absolute against it (and the first base element)

	Links  scribe.Links          // how links and pictures give their addresses
	Unlink func(*html.Node) bool // makes of the links that it is true for their words; nil leaves all of them

	// Drop leaves out the nodes that it is true for, with all below them; nil leaves out nothing. It is asked of each
	// node before what is below it.
	Drop func(*html.Node) bool
}

// Render writes the Markdown of root and all below it, valid UTF-8 without a line feed at the end. It obeys ctx,
// whose error it answers as it is, and never changes the tree. The same tree gives the same text.
func Render(ctx context.Context, root *html.Node, o Options) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	d := desks.Get().(*desk)
	defer d.leave()
	return d.render(ctx, root, o)
}

func (d *desk) render(ctx context.Context, root *html.Node, o Options) (string, error) {
	r := &renderer{ctx: ctx, o: o, desk: d}
	r.survey(root, o.BaseURL)
	r.walk(root)
	if r.err == nil && r.reveal() {
		r.again(root)
	}
	if r.err == nil && r.unpair() {
		r.again(root)
	}
	if r.err != nil {
		return "", r.err
	}
	return r.w.String(), nil
}

// again writes root anew, with what is known after it has been written once.
func (r *renderer) again(root *html.Node) {
	for _, note := range r.notes {
		note.referred, note.begun, note.defined = false, false, false
	}
	*r = renderer{ctx: r.ctx, o: r.o, desk: r.desk, page: r.page, revealed: r.revealed}
	r.walk(root)
}

// Title is the text of the tree's first title element, white space collapsed and at most 500 characters; empty for
// none. An SVG's title is none.
func Title(root *html.Node) string { return facts.Title(root) }
