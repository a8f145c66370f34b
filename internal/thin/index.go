// Looking for many phrases in one text at once.

package thin

import "strings"

// index finds phrases by their first three bytes, which every phrase has.
type index struct {
	begins [1 << 12]bool // whether a phrase may begin so, by a hash: most places of a text are passed with one look
	by     map[[3]byte][]string
}

func newIndex(phrases []string) *index {
	x := &index{by: map[[3]byte][]string{}}
	for _, p := range phrases {
		x.begins[hashed(p)] = true
		key := [3]byte([]byte(p[:3]))
		x.by[key] = append(x.by[key], p)
	}
	return x
}

func hashed(s string) int { return (int(s[0])<<6 ^ int(s[1])<<3 ^ int(s[2])) & (1<<12 - 1) }

// in says that a text contains one of the phrases.
func (x *index) in(text string) bool {
	for i := 0; i+3 <= len(text); i++ {
		if !x.begins[hashed(text[i:i+3])] {
			continue
		}
		for _, p := range x.by[[3]byte([]byte(text[i:i+3]))] {
			if strings.HasPrefix(text[i:], p) {
				return true
			}
		}
	}
	return false
}
