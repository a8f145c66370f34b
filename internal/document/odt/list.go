package odt

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/document/pack"
	"github.com/wayleave/wayleave/internal/document/prose"
)

// counts are the numbers of a list's levels.
type counts struct {
	now   [levels]int
	begun [levels]bool
}

// lists are the counts that a later list may go on with.
type lists struct {
	byID    map[string]*counts
	byStyle map[string]*counts
	heading counts
}

func newLists() lists { return lists{byID: map[string]*counts{}, byStyle: map[string]*counts{}} }

// place is where in a list the text that is read stands.
type place struct {
	style  *listStyle
	named  string
	counts *counts
	depth  int
	fresh  bool // the item has no text so far
	start  int  // number that the item begins with; -1 for unsaid
	header bool // it has no number
	again  bool // the list goes on with an earlier one and has counted nothing so far
}

// readList reads text:list.
func (r *reader) readList(x *pack.XML, out emit) error {
	outer := r.list
	l := &place{named: x.Attr("style-name"), depth: 0, start: -1}
	if outer != nil {
		l.counts, l.depth = outer.counts, outer.depth+1
		if l.named == "" {
			l.named = outer.named
		}
	}
	l.style = r.styles.lists[l.named]
	goesOn := x.Attr("continue-numbering") == "true"
	switch {
	case outer != nil:
		if l.again = outer.again && outer.fresh; !goesOn && !l.again && l.depth < levels {
			l.counts.begun[l.depth] = false
		}
	case x.Attr("continue-list") != "" && r.saved.byID[x.Attr("continue-list")] != nil:
		l.counts, l.again = r.saved.byID[x.Attr("continue-list")], true
	case goesOn && r.saved.byStyle[l.named] != nil:
		l.counts, l.again = r.saved.byStyle[l.named], true
	default:
		l.counts = &counts{}
	}
	if outer == nil {
		if id := x.Attr("id"); id != "" {
			r.saved.byID[id] = l.counts
		}
		r.saved.byStyle[l.named] = l.counts
		if len(r.saved.byID) > maxCount/10 {
			return prose.ErrFull
		}
	}
	err := x.Children(func(name string) error {
		if name != "list-item" && name != "list-header" {
			return nil
		}
		at := *l
		at.fresh, at.header, at.start = true, name == "list-header", number(x.Attr("start-value"), -1)
		if override := r.styles.lists[x.Attr("style-override")]; override != nil {
			at.style = override
		}
		r.list = &at
		err := r.blocks(x, out)
		r.list, l.again = outer, false
		return err
	})
	r.list = outer
	return err
}

// item says where in its list a block stands; the first of an item counts it. A nil one is in no list.
func (r *reader) item() *prose.Item {
	l := r.list
	if l == nil {
		return nil
	}
	it := &prose.Item{Level: l.depth, More: !l.fresh || l.header}
	fresh := l.fresh
	l.fresh, l.again = false, false
	if !fresh || l.header || l.style == nil || l.depth >= levels {
		return it
	}
	label, bullet := l.counts.next(l.style, l.depth, l.start)
	it.Label = label
	switch {
	case bullet:
		sign := l.style[l.depth].sign
		it.Task, it.More = prose.TaskOf(sign), sign == ""
	case label == "":
		return nil // a list that shows no sign is only a way to indent
	}
	return it
}

// next counts an item and spells its label.
func (c *counts) next(style *listStyle, depth, start int) (label string, bullet bool) {
	at := &style[depth]
	switch {
	case start >= 0:
		c.now[depth] = start
	case c.begun[depth]:
		c.now[depth]++
	default:
		c.now[depth] = at.start
	}
	c.begun[depth] = true
	for i := depth + 1; i < levels; i++ {
		c.begun[i] = false
	}
	if at.bullet {
		return "", true
	}
	return c.label(style, depth), false
}

func (c *counts) label(style *listStyle, depth int) string {
	at := &style[depth]
	numeral := func(i int) string {
		if i < 0 || i > depth || style[i].bullet || style[i].format == "" {
			return ""
		}
		n := c.now[i]
		if !c.begun[i] {
			n = style[i].start
		}
		return spelled(n, style[i].format)
	}
	if at.format == "" {
		return strings.TrimSpace(at.prefix + at.suffix)
	}
	if at.whole != "" {
		var b strings.Builder
		rest := at.whole
		for {
			before, after, ok := strings.Cut(rest, "%")
			b.WriteString(before)
			if !ok {
				break
			}
			digit, tail, closed := strings.Cut(after, "%")
			if n, err := strconv.Atoi(digit); closed && err == nil {
				b.WriteString(numeral(n - 1))
				rest = tail
				continue
			}
			b.WriteByte('%')
			rest = after
		}
		return strings.TrimSpace(b.String())
	}
	var shown []string
	for i := depth - at.display + 1; i <= depth; i++ {
		if s := numeral(i); s != "" {
			shown = append(shown, s)
		}
	}
	return strings.TrimSpace(at.prefix + strings.Join(shown, ".") + at.suffix)
}

// spelled spells a number as a list's format says.
func spelled(n int, format string) string {
	if first, size := utf8.DecodeRuneInString(format); size > 1 {
		if alphabet := prose.AlphabetOf(first); alphabet != "" {
			return prose.Letter(n, alphabet)
		}
	}
	return prose.Numeral(n, numbering(format))
}

func numbering(format string) prose.Numbering {
	switch format {
	case "a":
		return prose.LowerLetter
	case "A":
		return prose.UpperLetter
	case "i":
		return prose.LowerRoman
	case "I":
		return prose.UpperRoman
	case "1st":
		return prose.Ordinal
	case "01":
		return prose.PaddedDecimal
	case "一, 二, 三, ...", "壱, 弐, 参, ...":
		return prose.Ideographs
	}
	return prose.Decimal
}
