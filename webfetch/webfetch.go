// Package webfetch reads one URL as text. (The manual follows.)
package webfetch

import "context"

// Fetch reads one URL whole with the built-in fetcher. It makes a fetcher for the call: a program that fetches more
// than once makes one with Direct, so that its politeness spans the calls.
func Fetch(ctx context.Context, req Request, opts Options) (*Page, error) {
	f, err := Direct(opts)
	if err != nil {
		return nil, err
	}
	return f.Fetch(ctx, req)
}
