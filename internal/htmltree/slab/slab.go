// Package slab gives memory out in small pieces that are taken back all at once, for the next user to have them again.
package slab

// Slabs are large pieces of memory. The zero value keeps none of them.
type Slabs[T any] struct {
	kept []slab[T]
	size int // of those that are kept, all together
	most int // that size's bound
}

type slab[T any] struct {
	all  []T
	used int
}

// Keeping gives slabs that keep so many for the next user at most.
func Keeping[T any](most int) Slabs[T] { return Slabs[T]{most: most} }

// Take gives n of them, zero, out of what is kept where that has room.
func (s *Slabs[T]) Take(n int) []T {
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

// Empty takes back what was given out, and holds on to nothing that it pointed to.
func (s *Slabs[T]) Empty() {
	for i := range s.kept {
		k := &s.kept[i]
		clear(k.all[:k.used])
		k.used = 0
	}
}
