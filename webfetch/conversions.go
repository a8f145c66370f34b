package webfetch

import (
	"context"

	"github.com/wayleave/wayleave/internal/pace"
)

// DefaultConversions is how many large pages are converted at once where nothing else is said.
const DefaultConversions = 2

// largePage is the size, in bytes, from which a page takes its turn. The tree of a hostile page takes a hundred times
// its size, so that pages below it cost less together than two of five megabytes.
const largePage = 256 << 10

// Conversions bounds how many large pages are converted at once, and so what their trees take of memory: a page of
// 5 MB can take half a gigabyte. Whoever is over the bound waits, first come first served; the wait counts in the
// deadline of the fetch. Small pages never wait. Make one value a process and share it between all fetchers. It is safe
// for concurrent use.
type Conversions struct{ turns pace.Turns }

// NewConversions makes the bound; 0 or less is none.
func NewConversions(atOnce int) *Conversions { return &Conversions{pace.NewTurns(atOnce)} }

// enter waits until a page of that size may be converted and returns what to call, once, when it is over.
func (c *Conversions) enter(ctx context.Context, size int) (leave func(), err error) {
	if c == nil || size < largePage {
		return func() {}, nil
	}
	return c.turns.Take(ctx)
}
