// Rooms: the memory of trees, used for one page after another. A tree takes several times the bytes of its page, all of them
// given up when the page is read.

package htmltree

import (
	"context"
	"sync"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/htmltree/slab"
	"github.com/wayleave/wayleave/internal/htmltree/streamed"
)

// Room holds the nodes and attributes of trees until it is left. It serves one goroutine.
type Room struct {
	nodes slab.Slabs[html.Node]
	attrs slab.Slabs[html.Attribute]
}

// What a room keeps for its next tree at most; what a larger page takes beyond is left to the collector, so that no page makes
// the process larger than it was. That is 1.5 MB.
const (
	keptNodes      = 12 << 10
	keptAttributes = 6 << 10
)

// rooms are those that nobody is in.
var rooms = sync.Pool{New: func() any { return newRoom() }}

func newRoom() *Room {
	return &Room{nodes: slab.Keeping[html.Node](keptNodes), attrs: slab.Keeping[html.Attribute](keptAttributes)}
}

// Enter gives a room to make trees in. Whoever enters must leave it.
func Enter() *Room { return rooms.Get().(*Room) }

// Leave gives the room up, with the trees that were made in it: no node or attribute of theirs may be looked at any more.
// Their strings stay good.
func (r *Room) Leave() {
	r.empty()
	rooms.Put(r)
}

func (r *Room) empty() {
	r.nodes.Empty()
	r.attrs.Empty()
}

// Parse is [Parse] in this room.
func (r *Room) Parse(ctx context.Context, src string) (*html.Node, error) {
	return r.build(ctx, src, nil)
}

// Shown is [Shown] in this room.
func (r *Room) Shown(ctx context.Context, src string) (*html.Node, error) {
	return r.build(ctx, src, streamed.New(src))
}
