// Desks: what a conversion writes on, used for one after another. A page is converted twice, and once more for the next.

package markdown

import (
	"context"
	"sync"

	"github.com/wayleave/wayleave/internal/markdown/scribe"
)

// desk is the memory of one conversion.
type desk struct {
	w       *scribe.Writer
	codeBuf []byte
	lists   []*listFrame // of lists that have ended
}

// What a desk is kept with at most; a larger one is left to the collector.
const (
	keptBytes = 512 << 10
	keptLists = 64
)

// desks are those that nobody writes on.
var desks = sync.Pool{New: func() any { return newDesk() }}

func newDesk() *desk { return &desk{w: scribe.New(context.Background(), 0)} }

// leave gives the desk up. The text that was written on it is a copy.
func (d *desk) leave() {
	if d.empty() {
		desks.Put(d)
	}
}

// empty holds on to nothing of the page; false says that the desk has become too large to be kept.
func (d *desk) empty() bool {
	d.w.Restart(context.Background(), 0)
	return d.w.Room()+cap(d.codeBuf) <= keptBytes && len(d.lists) <= keptLists
}

// spareList is a list's frame, of one that has ended if there is any.
func (d *desk) spareList() *listFrame {
	last := len(d.lists) - 1
	if last < 0 {
		return &listFrame{}
	}
	f := d.lists[last]
	d.lists = d.lists[:last]
	return f
}
