// Groups: elements of one sort beside each other, as the items of a listing, the posts of a thread, the cells of a menu.

package maincontent

// group is what stands in elements of one sort below one element.
type group struct {
	n                 int32
	letters, links    int32
	signs, pictures   int32
	sort              uint64
	next              int32 // the group before it below the same element; -1 for none
	blocks, sentences int32
}

// few is how many elements make a group.
const few = 3

// groupOf is the number of each element's group in groups; an element alone is in a group of one.
func (o *outline) group() {
	const look = 48 // groups below one element
	n := len(o.elements)
	both := o.ints.take(2 * n)
	o.groupOf = both[:n:n]
	last := both[n:] // the last group below each element, plus one
	for i := range o.elements {
		e := &o.elements[i]
		if e.to == e.from || inline(e.node) {
			o.groupOf[i] = -1
			continue
		}
		g := int32(-1)
		if e.parent >= 0 {
			g = last[e.parent] - 1
		}
		for steps := 0; g >= 0 && o.groups[g].sort != e.sort; steps++ {
			if g = o.groups[g].next; steps == look {
				g = -1
			}
		}
		if g < 0 {
			g = int32(len(o.groups))
			fresh := group{sort: e.sort, next: -1}
			if e.parent >= 0 {
				fresh.next = last[e.parent] - 1
				last[e.parent] = g + 1
			}
			o.groups = append(o.groups, fresh)
		}
		o.groupOf[i] = g
		all := &o.groups[g]
		all.n++
		all.letters += e.letters
		all.links += e.links
		all.signs += e.signs
		all.pictures += e.pictures
		all.blocks += e.to - e.from
		all.sentences += e.ends
	}
	for i := range o.groups {
		if g := &o.groups[i]; g.n >= few {
			o.mostGrouped = max(o.mostGrouped, g.letters)
		}
	}
}

// groupFeatures tell of the innermost group that block i is an item's part of, and of the largest one.
func (o *outline) groupFeatures(i int, y []float32, p *pageFacts) {
	at := o.blocks[i].owner
	var inner, largest *group
	for steps := 0; steps < maxLook && at >= 0; steps++ {
		if g := o.groupOf[at]; g >= 0 && o.groups[g].n >= few {
			if inner == nil {
				inner = &o.groups[g]
			}
			if largest == nil || o.groups[g].letters > largest.letters {
				largest = &o.groups[g]
			}
		}
		at = o.elements[at].parent
	}
	for k, g := range []*group{inner, largest} {
		if g == nil {
			continue
		}
		z := y[k*8:]
		z[0] = scale(g.n)
		z[1] = scale(g.letters / g.n)
		z[2] = share(g.letters, p.letters)
		z[3] = share(g.links, g.letters)
		z[4] = share(g.signs, g.n)
		z[5] = share(g.pictures, g.n)
		z[6] = share(g.blocks, g.n)
		z[7] = share(g.letters, o.mostGrouped)
	}
}
