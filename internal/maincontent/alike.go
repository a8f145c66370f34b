// Alike: a list of four hundred items says the same of itself four hundred times, and is judged by some of them.

package maincontent

// Of blocks in one place of the page's structure, the first are judged, and then one of so many.
const (
	firstAlike = 12
	ofAlike    = 8
)

// run is what was seen so far of the blocks in one place.
type run struct{ seen, last, since int32 }

// alike tells for each block the one before it that it is judged like; -1 where it is judged by itself. Two blocks are alike
// that stand in one place of the page's structure and have about the same text.
func (f *finder) alike() []int32 {
	f.runs = withRoom(f.runs, len(f.inPlace))[:len(f.inPlace)]
	clear(f.runs)
	out := f.ints.take(len(f.blocks))
	for i := range f.blocks {
		b := &f.blocks[i]
		r := &f.runs[f.placeOf[i]]
		r.seen++
		out[i] = -1
		if r.seen > firstAlike && r.since < ofAlike && b.like(&f.blocks[r.last]) && (f.told == nil || f.told[i] == f.told[r.last]) {
			out[i] = r.last
			r.since++
		} else {
			r.last, r.since = int32(i), 0
		}
	}
	return out
}

// like says that the text of two blocks has about the same length and the same marks.
func (b *block) like(o *block) bool {
	const near = 2 // times the letters
	linked := b.links*2 > b.letters
	return b.letters <= near*o.letters && o.letters <= near*b.letters && linked == (o.links*2 > o.letters) &&
		(b.ends > 0) == (o.ends > 0) && b.pictures == o.pictures && b.controls == o.controls && b.times == o.times &&
		(b.signs > 0) == (o.signs > 0) && (b.strong > 0) == (o.strong > 0)
}
