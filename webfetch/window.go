package webfetch

import (
	"maps"
	"slices"

	"github.com/wayleave/wayleave/internal/pagetext"
)

// Windows: which part of a page's text is shown at once. Everything is counted in Unicode code points, so no window
// begins or ends inside a character, and following NextOffset from 0 gives the text exactly once.

// NewWindow cuts the window at offset, a number of code points, that is at most n code points long. If more follows,
// and a line feed stands in the last fifth of the window, it ends just after that line feed. A negative offset counts
// as 0, an n below 1 as 1; an offset at or past the end is kept and gives an empty window. p is not changed.
func NewWindow(p *Page, offset, n int) *Window {
	return cutWindow(p, offset, n, len(p.Content))
}

// NewByteWindow is NewWindow for a window that is as many code points long as fit maxBytes of UTF-8, and at least one.
func NewByteWindow(p *Page, offset, maxBytes int) *Window {
	return cutWindow(p, offset, len(p.Content), maxBytes)
}

func cutWindow(p *Page, offset, n, maxBytes int) *Window {
	t := pagetext.Measure(p.Content)
	from := pagetext.Place{Offset: max(offset, 0)}
	from.Byte = t.ByteAt(from.Offset)
	return makeWindow(p, t, from, t.Cut(from, n, maxBytes))
}

// makeWindow shows p's text between two places. t is that text.
func makeWindow(p *Page, t pagetext.Text, from, to pagetext.Place) *Window {
	w := &Window{
		RequestedURL: p.RequestedURL, FinalURL: p.FinalURL, Status: p.Status, ContentType: p.ContentType, Via: p.Via,
		Title: p.Title, Content: p.Content[from.Byte:to.Byte], ContentKind: p.ContentKind, TotalChars: t.Chars(),
		FullChars: max(p.FullChars, t.Chars()), Offset: from.Offset, RetrievedAt: p.RetrievedAt, Headers: maps.Clone(p.Headers),
		Bytes: p.Bytes, Redirects: slices.Clone(p.Redirects), Provider: p.Provider, Links: slices.Clone(p.Links), Thin: slices.Clone(p.Thin),
		Notes: pageNotes(p, Abilities{}),
	}
	if to.Byte < len(p.Content) {
		w.NextOffset = &to.Offset
	}
	w.Truncated = p.Truncated || from.Offset > 0 || w.NextOffset != nil
	return w
}
