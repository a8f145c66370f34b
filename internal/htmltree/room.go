// Rooms: the memory of trees, used for one page after another. A tree takes several times the bytes of its page, all of them
// given up when the page is read.

package htmltree

import (
	"context"
	"sync"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/htmltree/streamed"
)

// Room holds the nodes and attributes of trees until it is left. It serves one goroutine.
type Room struct {
	nodes slabs[html.Node]
	attrs slabs[html.Attribute]
}

// What a room keeps for its next tree at most; what a larger page takes beyond is left to the collector, so that no page makes
// the process larger than it was. That is 2.5 MB.
const (
	keptNodes      = 16 << 10
	keptAttributes = 16 << 10
)

// rooms are those that nobody is in.
var rooms = sync.Pool{New: func() any { return newRoom() }}

func newRoom() *Room {
	return &Room{nodes: slabs[html.Node]{most: keptNodes}, attrs: slabs[html.Attribute]{most: keptAttributes}}
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
	r.nodes.empty()
	r.attrs.empty()
}

// Parse is [Parse] in this room.
func (r *Room) Parse(ctx context.Context, src string) (*html.Node, error) {
	return r.build(ctx, src, nil)
}

// Shown is [Shown] in this room.
func (r *Room) Shown(ctx context.Context, src string) (*html.Node, error) {
	return r.build(ctx, src, streamed.New(src))
}

// slabs are large pieces of memory that is given out in small ones, zeroed, and taken back all at once.
type slabs[T any] struct {
	kept []slab[T]
	size int // of those that are kept, all together
	most int // that size's bound
}

type slab[T any] struct {
	all  []T
	used int
}

// take gives n of them, out of what is kept where that has room.
func (s *slabs[T]) take(n int) []T {
	for i := range s.kept {
		if k := &s.kept[i]; len(k.all)-k.used >= n {
			k.used += n
			return k.all[k.used-n : k.used : k.used]
		}
	}
	all := make([]T, n)
	if s.size+n <= s.most {
		s.kept = append(s.kept, slab[T]{all, n})
		s.size += n
	}
	return all
}

// empty takes back what was given out, and holds on to nothing that it pointed to.
func (s *slabs[T]) empty() {
	for i := range s.kept {
		k := &s.kept[i]
		clear(k.all[:k.used])
		k.used = 0
	}
}
