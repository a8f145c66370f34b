// Lists: bullets, numbers as the page counts them, tasks. Items follow one another without blank lines.

package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wayleave/wayleave/internal/markdown/facts"
)

// listFrame is the list whose items are being written.
type listFrame struct {
	ordered bool
	spelled bool // numbers are text in bulleted items, where Markdown cannot count so
	counted bool // the last item's number is its marker
	step    int
	next    int        // number of the next item
	sign    byte       // '-' or '*'; '.' or ')' after a number
	at      int        // length of the prefix around the list
	item    *listFrame // the list in whose last item this one stands; nil for none
	started bool       // an item has been written
	inner   int        // length of the prefix within the last item
	from    int        // length of the output where the last item began
	end     int        // length of the output where the last item ended
}

// listEnd is where a list ended, and how its items were signed.
type listEnd struct {
	out, at int
	sign    byte
}

// maxNumber is the largest number that CommonMark reads as an item's.
const maxNumber = 999_999_999

func (r *renderer) listElement(n *html.Node) {
	if r.w.Flat() {
		r.flatList(n)
		return
	}
	r.w.Break(2)
	outer, around := r.list, r.w.Depth()
	within := outer != nil && outer.at == around && outer.started && outer.end == r.w.Len()
	if within { // a list as the child of a list belongs to the item before it
		indent := strings.Repeat(" ", outer.inner-outer.at)
		r.w.Push(indent, indent)
	}
	f := r.newList(n)
	f.at = r.w.Depth()
	f.item = outer.around(f.at)
	f.counted = f.ordered && !f.spelled
	f.sign = r.sign(f.counted)
	r.list = f
	r.children(n)
	r.w.Break(2)
	r.endList(f)
	r.lists = append(r.lists, f)
	r.list = outer
	r.w.Pop(around)
	if within {
		outer.end = r.w.Len()
	}
}

// around is the list in whose last item a list stands that begins at this depth, with f open around it; nil for none.
func (f *listFrame) around(at int) *listFrame {
	if f == nil || f.at < at {
		return f
	}
	return f.item
}

func (r *renderer) endList(f *listFrame) {
	if f.started && f.end == r.w.Len() {
		r.closed = listEnd{r.w.Len(), f.at, f.sign}
	}
}

// sign is what the items of the list that begins here are signed with. Two lists side by side under one sign would be
// one list.
func (r *renderer) sign(ordered bool) byte {
	usual, other := byte('-'), byte('*')
	if ordered {
		usual, other = '.', ')'
	}
	if r.closed == (listEnd{r.w.Len(), r.w.Depth(), usual}) {
		return other
	}
	return usual
}

// newList reads how a list counts.
func (r *renderer) newList(n *html.Node) *listFrame {
	f := r.spareList()
	*f = listFrame{step: 1, next: 1, ordered: n.DataAtom == atom.Ol}
	if !f.ordered {
		return f
	}
	start, ok := facts.Number(n, "start")
	if _, reversed := facts.Attribute(n, "reversed"); reversed {
		f.step, f.spelled, f.next = -1, true, 0
		for c := n.FirstChild; c != nil && !ok; c = c.NextSibling {
			if c.DataAtom == atom.Li {
				f.next++
			}
		}
	}
	if ok {
		f.next = start
	}
	f.spelled = f.spelled || f.next < 0 || f.next > maxNumber
	return f
}

// item writes one li.
func (r *renderer) item(n *html.Node) {
	if r.noteDefinition(n) {
		return
	}
	if r.w.Flat() {
		r.flatItem(n)
		return
	}
	r.w.Break(0)
	outer, f := r.list, r.list
	if f == nil || f.at != r.w.Depth() {
		// An item outside of a list is a list of its own, and goes on with the one before it.
		f = r.spareList()
		*f = listFrame{step: 1, next: 1, at: r.w.Depth(), sign: '-'}
		f.item = outer.around(f.at)
		f.started = r.closed == listEnd{r.w.Len(), f.at, '-'}
		f.end = r.w.Len()
		r.list = f
	}
	r.oneItem(n, f)
	if f != outer {
		r.endList(f)
		r.lists = append(r.lists, f)
		r.list = outer
	}
}

func (r *renderer) oneItem(n *html.Node, f *listFrame) {
	if value, ok := facts.Number(n, "value"); ok && f.ordered {
		f.next = value
	}
	counted := f.ordered && !f.spelled && f.next >= 0 && f.next <= maxNumber
	if f.started && counted != f.counted {
		r.endList(f) // a number that Markdown cannot count begins another list
		f.started = false
	}
	if r.closed.out != r.w.Len() && !(f.started && f.end == r.w.Len()) || counted != f.counted {
		f.sign = r.sign(counted) // it is not beside the list that it was when it began
	}
	f.counted = counted
	r.itemGap(f)
	mark := string(f.sign) + " "
	if counted {
		mark = strconv.Itoa(f.next) + mark
	} else if f.ordered {
		r.w.Lead(strconv.Itoa(f.next) + `\. `)
	}
	f.next += f.step
	before, from := f.from, r.w.Len()
	f.from = from
	indent := strings.Repeat(" ", len(mark))
	if !r.w.Push(indent, mark) {
		r.w.SetGap(2)
	}
	f.inner = r.w.Depth()
	r.children(n)
	r.w.Break(2)
	r.w.Unlead()
	if r.w.Len() > from {
		f.started, f.end = true, r.w.Len()
	} else {
		f.from = before
	}
	r.w.Pop(f.at)
	r.w.Break(2) // an item that holds nothing leaves no line for what follows
}

// itemGap sets what parts an item from what is before it.
func (r *renderer) itemGap(f *listFrame) {
	switch {
	case r.w.Pending():
		// The first thing in an item or a note: it stands on the same line.
	case f.started && f.end == r.w.Len(), r.closed == listEnd{r.w.Len(), f.at, f.sign}:
		r.w.SetGap(1)
	case f.item != nil && f.item.from < r.w.Len() && (!f.counted || f.next == 1):
		// Only a list that counts from one may follow a paragraph without a blank line.
		r.w.SetGap(1)
	default:
		r.w.SetGap(2)
	}
}

// flatList writes a list where lines cannot nest.
func (r *renderer) flatList(n *html.Node) {
	outer := r.list
	r.list = r.newList(n)
	r.w.Break(0)
	r.children(n)
	r.w.Break(0)
	r.lists = append(r.lists, r.list)
	r.list = outer
}

func (r *renderer) flatItem(n *html.Node) {
	r.w.Break(0)
	if f := r.list; f != nil && f.ordered {
		if value, ok := facts.Number(n, "value"); ok {
			f.next = value
		}
		if facts.ShortText(n) != "" {
			r.w.Text(strconv.Itoa(f.next) + ". ")
		}
		f.next += f.step
	}
	r.children(n)
	r.w.Break(0)
}
