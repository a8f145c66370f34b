// Package htmltree parses HTML into one tree that everything else reads.
package htmltree

import (
	"context"
	"strings"

	"golang.org/x/net/html"
)

// Parse parses decoded HTML whatever its depth. It obeys ctx.
func Parse(ctx context.Context, src string) (*html.Node, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return html.ParseWithOptions(strings.NewReader(src), html.ParseOptionEnableScripting(false))
}
