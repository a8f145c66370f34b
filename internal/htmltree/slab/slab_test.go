package slab

import "testing"

func TestWhatIsTakenIsZeroAndOfItsOwn(t *testing.T) {
	s := Keeping[int](1000)
	for round := range 3 {
		var pieces [][]int
		for _, n := range []int{1, 32, 7, 500, 1, 900, 64, 0, 32} {
			p := s.Take(n)
			if len(p) != n || cap(p) != n {
				t.Fatalf("round %d: %d of %d", round, len(p), n)
			}
			for _, v := range p {
				if v != 0 {
					t.Fatalf("round %d: a piece of %d holds what another wrote", round, n)
				}
			}
			for i := range p {
				p[i] = len(pieces) + 1
			}
			pieces = append(pieces, p)
		}
		for i, p := range pieces {
			for _, v := range p {
				if v != i+1 {
					t.Fatalf("round %d: pieces %d and %d share memory", round, i, v-1)
				}
			}
		}
		s.Empty()
	}
}

func TestSlabsKeepNoMoreThanTheyMay(t *testing.T) {
	for _, most := range []int{0, 1, 100, 1000} {
		s := Keeping[int](most)
		for range 3 {
			for n := range 100 {
				s.Take(n)
			}
			s.Empty()
		}
		size := 0
		for _, k := range s.kept {
			size += len(k.all)
		}
		if size > most {
			t.Errorf("%d are kept, %d may be", size, most)
		}
	}
}

func TestTheSameUseAgainTakesNothingNew(t *testing.T) {
	s := Keeping[int](10_000)
	use := func() {
		for _, n := range []int{32, 32, 64, 128, 256, 512, 512} {
			s.Take(n)
		}
		s.Empty()
	}
	use()
	if n := testing.AllocsPerRun(10, use); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
