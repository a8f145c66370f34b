// Buttons: what the cards of a list offer to do is none of their text.

package maincontent

import "strings"

// ruleButtons: a button whose words the page says again and again does the same to each of its things ("add to
// favourites"); it says nothing of any of them.
func (f *finder) ruleButtons(scores []float32) {
	const again = 3
	for i := range scores {
		if b := &f.blocks[i]; b.letters > 0 && f.hashes[b.hash] >= again && f.offers(b) {
			scores[i] = 0
		}
	}
}

// offers says that a block is what a button says, and no heading or question that unfolds what stands below it.
func (f *finder) offers(b *block) bool {
	const most = 4 // elements between a heading and its words
	at := b.owner
	if f.elements[at].is&tagButton == 0 || strings.ContainsRune("?？؟", b.last) {
		return false
	}
	for up := 0; at >= 0 && up < most; at, up = f.elements[at].parent, up+1 {
		if f.elements[at].is&tagHeading != 0 {
			return false
		}
	}
	return true
}
