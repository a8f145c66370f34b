package prose

import (
	"strconv"
	"strings"
)

// item is an item whose blocks are being written.
type item struct {
	level  int
	at     int // length of the prefix around it
	number int // -1 for none
	sign   byte
}

// lastItem is the item that ended last: one that stands after it may be of the same list.
type lastItem struct {
	item
	end int // length of the output where it ended
}

// maxNumber is the largest number that CommonMark reads as an item's.
const maxNumber = 999_999_999

// countedLabel reads a label that Markdown can count itself: digits and a dot or a bracket.
func countedLabel(label string) (number int, sign byte, ok bool) {
	if len(label) < 2 || label[0] == '+' || label[0] == '-' {
		return 0, 0, false
	}
	sign = label[len(label)-1]
	number, err := strconv.Atoi(label[:len(label)-1])
	return number, sign, err == nil && number <= maxNumber && (sign == '.' || sign == ')')
}

// enterItem makes the lines that follow an item's, and answers what of its label is text. Items of a deeper level stand
// in the last one of the level above.
func (w *Writer) enterItem(i *Item) (label string) {
	keep := len(w.items)
	for keep > 0 && w.items[keep-1].level > i.Level {
		keep--
	}
	if i.More {
		w.leaveItems(keep)
		w.w.Break(2)
		return ""
	}
	nested := keep == len(w.items) && keep > 0
	if keep > 0 && w.items[keep-1].level == i.Level {
		keep--
		nested = false
	}
	w.leaveItems(keep)
	it := item{level: i.Level, at: w.w.Depth(), number: -1, sign: '-'}
	number, sign, counted := countedLabel(i.Label)
	if counted {
		it.number, it.sign = number, sign
	} else {
		label = i.Label
	}
	w.w.Break(2)
	w.itemGap(&it, nested)
	mark := string(it.sign) + " "
	if counted {
		mark = strconv.Itoa(number) + mark
	}
	w.w.Push(strings.Repeat(" ", len(mark)), mark)
	w.items = append(w.items, it)
	return label
}

// itemGap sets what parts an item from what is before it, and its sign where that would make it a part of another list.
func (w *Writer) itemGap(it *item, nested bool) {
	counted := it.number >= 0
	switch before := w.last; {
	case w.w.Pending(): // the first thing in a note or an item: it stands on the same line
	case w.w.Len() > 0 && before.end == w.w.Len() && before.at == it.at && (before.number >= 0) == counted:
		w.w.SetGap(1)
		switch {
		case !counted:
		case it.number == before.number+1:
			it.sign = before.sign
		case it.sign == before.sign:
			it.sign ^= '.' ^ ')'
			w.w.SetGap(2)
		}
	case nested && (!counted || it.number == 1):
		// Only a list that counts from one may follow a paragraph without a blank line.
		w.w.SetGap(1)
	default:
		w.w.SetGap(2)
	}
}

// leaveItems ends the items that are open but for the outermost ones.
func (w *Writer) leaveItems(keep int) {
	for len(w.items) > keep {
		it := w.items[len(w.items)-1]
		w.items = w.items[:len(w.items)-1]
		w.w.Break(2)
		w.w.Pop(it.at)
		w.last = lastItem{it, w.w.Len()}
	}
}
