// Package markdown writes the Markdown of an HTML tree. (Skeleton.)
package markdown

import (
	"context"

	"golang.org/x/net/html"
)

// Options of one conversion.
type Options struct {
	BaseURL string // the page's own address; every link is made absolute against it (and the first base element)
}

// Render writes the Markdown of the whole tree. It obeys ctx and never changes the tree.
func Render(ctx context.Context, root *html.Node, o Options) (string, error) { panic("skeleton") }

// Title is the page's title, white space collapsed; empty for none.
func Title(root *html.Node) string { panic("skeleton") }
