// Package webfetch reads one URL as text. (Skeleton; the package comment becomes the manual.)
package webfetch

import "context"

// Fetch reads one URL whole with the built-in fetcher.
func Fetch(ctx context.Context, req Request, opts Options) (*Page, error) { panic("skeleton") }

// Direct makes the built-in fetcher.
func Direct(opts Options) (*Fetcher, error) { panic("skeleton") }

// Fetcher is the built-in Source.
type Fetcher struct{}

// Fetch reads one URL whole.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (*Page, error) { panic("skeleton") }
