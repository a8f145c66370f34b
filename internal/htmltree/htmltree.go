// Package htmltree parses HTML into one tree that everything else reads. (Skeleton.)
package htmltree

import (
	"context"

	"golang.org/x/net/html"
)

// Parse parses decoded HTML whatever its depth. It obeys ctx.
func Parse(ctx context.Context, src string) (*html.Node, error) { panic("skeleton") }
