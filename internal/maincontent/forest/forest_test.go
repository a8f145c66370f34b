package forest

import (
	"math"
	"testing"
)

func TestTreesAddUp(t *testing.T) {
	var tree Tree
	for i := range tree.Asks {
		tree.Asks[i] = Question{Feature: 1, Cut: float32(math.Inf(1))} // everything goes left
	}
	tree.Asks[0] = Question{Feature: 0, Cut: 2}
	tree.Says[0], tree.Says[16] = -1, 1
	for _, c := range []struct {
		x, want float32
	}{{2, -1}, {2.5, 1}} {
		if got := tree.Of([]float32{c.x, 0}); got != c.want {
			t.Errorf("%v: %v, want %v", c.x, got, c.want)
		}
	}
	if got := Likely([]Tree{tree, tree}, []float32{3, 0}); math.Abs(float64(got)-1/(1+math.Exp(-2))) > 1e-6 {
		t.Errorf("two trees say %v", got)
	}
}

// TestLearnedTreesAreWhole: a file of trees that was cut short would judge every page wrongly without a word.
func TestLearnedTreesAreWhole(t *testing.T) {
	for name, trees := range map[string][]Tree{"First": First, "Second": Second, "Kinds[0]": Kinds[0], "Kinds[6]": Kinds[6]} {
		if len(trees) < 10 {
			t.Errorf("%s has %d trees", name, len(trees))
		}
		for i := range trees {
			for _, v := range trees[i].Says {
				if v != v || v > 4 || v < -4 {
					t.Errorf("%s: tree %d says %v", name, i, v)
				}
			}
		}
	}
}
