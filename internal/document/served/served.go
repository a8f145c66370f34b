// Package served lets whatever reads documents serve the library that fetches them.
//
// The one rule: a model is told only why of our own words. What a document said, or what went wrong in a reader, stays in
// the error's cause.
package served

import (
	"context"
	"errors"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/webfetch"
)

// Reader reads a document. mediaType is what it was called; its bytes decide. The error is a *document.Error, or ctx's.
type Reader interface {
	Read(ctx context.Context, mediaType string, body []byte) (document.Text, error)
}

// Documents meets webfetch.Documents.
type Documents struct{ Reader Reader }

// Convert reads a document.
func (d Documents) Convert(ctx context.Context, mediaType string, body []byte) (webfetch.Document, error) {
	text, err := d.Reader.Read(ctx, mediaType, body)
	if err != nil {
		var failed *document.Error
		if errors.As(err, &failed) {
			return webfetch.Document{}, &webfetch.Unreadable{Reason: string(failed.Reason), Cause: failed}
		}
		return webfetch.Document{}, err
	}
	out := webfetch.Document{Markdown: text.Markdown, Title: text.Title}
	for _, f := range text.Facts {
		out.Thin = append(out.Thin, webfetch.Thin{Kind: f.Kind, Fact: f.Words})
	}
	for _, f := range text.Notes {
		out.Notes = append(out.Notes, webfetch.Note{Kind: f.Kind, Fact: f.Words, Data: f.Data})
	}
	return out, nil
}
