// Texts that the cells of a book share.

package sheet

import "strings"

// maxShared is how many texts a Shared holds.
const maxShared = 4_000_000

// Shared holds the texts of a book that cells name by number, all in one. The zero value is empty. Texts are added first and asked
// for when all are there.
type Shared struct {
	Next strings.Builder // the text that is being added
	text string
	ends []uint32
}

// Add ends the text that was written to Next; false when there is no room for it.
func (t *Shared) Add() bool {
	if len(t.ends) == maxShared || t.Next.Len() > 1<<31 {
		return false
	}
	t.ends = append(t.ends, uint32(t.Next.Len()))
	t.text = t.Next.String()
	return true
}

// Len is how many texts there are.
func (t *Shared) Len() int { return len(t.ends) }

// At gives a text; false if there is none of this number.
func (t *Shared) At(i int) (string, bool) {
	if i < 0 || i >= len(t.ends) {
		return "", false
	}
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.text[from:t.ends[i]], true
}
