// Package forest is decision trees that were learned, and the asking of them. It knows numbers alone, not what they mean.
package forest

import "math"

// Depth is how many levels of questions a tree has.
const Depth = 5

// Tree asks Depth questions of the features: at most the cut goes left, more goes right. Node i has the children 2i+1 and
// 2i+2. What the answers lead to is added up over the trees: the logarithm of the odds.
type Tree struct {
	Asks [1<<Depth - 1]Question
	Says [1 << Depth]float32
}

// Question is one cut of one feature.
type Question struct {
	Feature uint8
	Cut     float32
}

// Sure is a sum of odds after which the trees that remain change no mind, and Enough how many trees are asked in any case.
const (
	Sure   = 3.8
	Enough = 24
)

// Of is what one tree says of x, which has every feature that the tree asks for.
func (t *Tree) Of(x []float32) float32 {
	i := 0
	for range Depth {
		q := &t.Asks[i]
		i = 2*i + 1
		if x[q.Feature] > q.Cut {
			i++
		}
	}
	return t.Says[i-len(t.Asks)]
}

// Likely is what trees say together, from 0 to 1.
func Likely(trees []Tree, x []float32) float32 {
	sum := float32(0)
	for i := range trees {
		sum += trees[i].Of(x)
		if i >= Enough && (sum > Sure || sum < -Sure) {
			break
		}
	}
	return float32(1 / (1 + math.Exp(-float64(sum))))
}
