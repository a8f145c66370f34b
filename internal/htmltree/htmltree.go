// Package htmltree parses HTML into one tree that everything else reads: the tree that the HTML standard's parser
// makes without scripts, in the node type of golang.org/x/net/html.
//
// The one rule: any bytes make a tree, in time and memory in proportion to their number. Where the standard's tree
// could nest or multiply without bound, ours is held to the limits below, and the text stays, in order.
//
// The parser is our own because x/net's refuses pages that nest deeper than 512 elements, cannot be cancelled, and
// copies every name and text; this one points into the source. Where both answer, the trees are the same but for
// this: comments and the doctype are left out, SVG attributes keep lower case, and neighbouring text may be parted.
package htmltree

import (
	"context"
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/htmltree/streamed"
)

// Limits. Below them the tree is the standard's.
const (
	// maxOpen is how many elements may be open at once, as in browsers: what opens deeper becomes a sibling.
	maxOpen = 512
	// maxFormatting is how many formatting elements wait to be opened again in the next block.
	maxFormatting = 32
	// maxAttributes is how many attributes of a tag are kept.
	maxAttributes = 256
	// maxNodes is how many nodes a tree has at most, 200 MB of them; after that only text is added.
	maxNodes = 2 << 20
	// Repairs of crossed tags make copies of elements: this many, and one for so many bytes of source.
	minCopies, bytesPerCopy = 4096, 16
)

// Parse parses decoded HTML whatever its depth; scripting is off, so that noscript holds elements. The answer is a
// document node. The only error is ctx's own. The tree points into src.
func Parse(ctx context.Context, src string) (*html.Node, error) { return new(Room).Parse(ctx, src) }

// Shown is [Parse], but parts that the server streams later stand where a browser shows them.
func Shown(ctx context.Context, src string) (*html.Node, error) {
	return new(Room).Shown(ctx, src)
}

func (r *Room) build(ctx context.Context, src string, parts *streamed.Parts) (*html.Node, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if strings.IndexByte(src, '\r') >= 0 {
		src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	}
	p := parser{
		ctx:        ctx,
		src:        src,
		room:       r,
		nul:        strings.IndexByte(src, 0) >= 0,
		copies:     minCopies + len(src)/bytesPerCopy,
		framesetOK: true,
		streamed:   parts,
	}
	p.doc = p.newNode(html.DocumentNode)
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.doc, nil
}
