// Judging: every block gets a score from decision trees, first by itself and what is around it, then once more with
// what its neighbours got.

package maincontent

import (
	"cmp"
	"slices"
)

// countContext is the number of features that the second judging has besides the first's.
const (
	countContext = 30
	countSecond  = countFeats + countContext
)

// context is what the scores of the first judging say about the page, to be asked for each block.
type context struct {
	o            *outline
	scores       []float32
	sums         []float64 // of letters × score before each block
	weights      []float64 // of letters before each block
	first, last  int       // the outermost blocks that look like content
	sorts        map[uint64][2]float32
	kept, longer float32
	high, middle float32     // scores that a tenth and a half of the text is above
	rank         []float32   // the share of the page's text that scores lower than each block
	cores        [3]*element // the innermost elements that hold coreShares of what looks like content
	spread       float32     // how much of the page's text is outside of the second
}

// coreShares are parts of the content, in per cent.
var coreShares = [3]float64{65, 85, 95}

// heavy is what a block weighs in means: its letters, and a little for being there.
func heavy(b *block) float64 { return float64(b.letters) + 4 }

func newContext(o *outline, scores []float32) *context {
	o.means = mapFor(o.means, 0)
	c := &context{o: o, scores: scores, sums: o.doubles.take(len(scores) + 1), weights: o.doubles.take(len(scores) + 1), first: -1, sorts: o.means}
	keptLetters, kept := int32(0), int32(0)
	for i, s := range scores {
		b := &o.blocks[i]
		w := heavy(b)
		c.sums[i+1] = c.sums[i] + w*float64(s)
		c.weights[i+1] = c.weights[i] + w
		sort := o.elements[b.owner].sort
		have := c.sorts[sort]
		c.sorts[sort] = [2]float32{have[0] + float32(w)*s, have[1] + float32(w)}
		if s > 0.5 {
			if c.first < 0 {
				c.first = i
			}
			c.last = i
			keptLetters += b.letters
			kept++
		}
	}
	c.ranks()
	c.findCores()
	c.kept, c.longer = scale(keptLetters), scale(keptLetters/max(kept, 1))
	return c
}

// findCores looks for the elements that most of the content is in: what is outside of them is seldom a part of it.
func (c *context) findCores() {
	n := len(c.scores)
	sums := c.o.doubles.take(n + 1)
	for i, s := range c.scores {
		sums[i+1] = sums[i]
		if s >= 0.4 {
			sums[i+1] += float64(c.o.blocks[i].letters) * float64(s)
		}
	}
	if sums[n] == 0 {
		return
	}
	for i := range c.o.elements {
		e := &c.o.elements[i]
		if inline(e.node) {
			continue
		}
		mass := (sums[e.to] - sums[e.from]) * 100
		for k, share := range coreShares {
			if mass >= sums[n]*share {
				c.cores[k] = e
			}
		}
	}
	if e := c.cores[1]; e != nil {
		c.spread = 1 - float32((c.weights[e.to]-c.weights[e.from])/c.weights[n])
	}
}

// ranks compares the scores with each other: on a page of a kind that was never seen all of them may be low.
func (c *context) ranks() {
	n := len(c.scores)
	order := c.o.ints.take(n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(c.scores[a], c.scores[b]), cmp.Compare(a, b)) })
	c.rank = c.o.floats.take(n)
	total, sum := c.weights[n], 0.0
	for _, i := range order {
		c.rank[i] = float32(sum / total)
		sum += heavy(&c.o.blocks[i])
		if sum <= total*0.9 {
			c.high = c.scores[i]
		}
		if sum <= total*0.5 {
			c.middle = c.scores[i]
		}
	}
}

// mean is the score of the blocks from one to before another, by their letters.
func (c *context) mean(from, to int) float32 {
	from, to = max(from, 0), min(to, len(c.scores))
	if from >= to {
		return 0
	}
	return float32((c.sums[to] - c.sums[from]) / (c.weights[to] - c.weights[from]))
}

func (c *context) score(i int) float32 {
	if i < 0 || i >= len(c.scores) {
		return -1
	}
	return c.scores[i]
}

// features writes the features of block i that the first judging could not know.
func (c *context) features(i int, y []float32) {
	b := &c.o.blocks[i]
	y[0] = c.scores[i]
	y[1], y[2], y[3], y[4] = c.score(i-1), c.score(i+1), c.score(i-2), c.score(i+2)
	y[5] = c.mean(i-6, i)
	y[6] = c.mean(i+1, i+7)
	y[7] = c.mean(i-25, i+26)
	y[8] = c.mean(0, len(c.scores))
	if c.first >= 0 {
		y[9] = float32(i - c.first)
		y[10] = float32(c.last - i)
	}
	have := c.sorts[c.o.elements[b.owner].sort]
	y[11] = have[0] / have[1]
	y[12], y[13] = c.kept, c.longer
	level, at := 0, b.owner
	within := int32(0)
	for steps := 0; level < levels && steps < maxLook; steps++ {
		e := &c.o.elements[at]
		if e.to-e.from > within {
			within = e.to - e.from
			y[14+level] = c.mean(int(e.from), int(e.to))
			level++
		}
		if e.parent < 0 {
			break
		}
		at = e.parent
	}
	for ; level < levels && level > 0; level++ {
		y[14+level] = y[14+level-1]
	}
	y[19] = c.mean(i+1, i+3)
	y[20] = c.rank[i]
	y[21] = c.scores[i] / (c.high + 0.02)
	y[22] = y[14+1] / (c.high + 0.02)
	y[23] = y[14+2] / (c.high + 0.02)
	y[24], y[25] = c.high, c.middle
	for k := range c.cores {
		switch e := c.cores[k]; {
		case e == nil:
			y[26+k] = 1
		case int32(i) < e.from:
			y[26+k] = 0
		case int32(i) >= e.to:
			y[26+k] = 2
		default:
			y[26+k] = 1
		}
	}
	y[29] = c.spread
}

// cut is the score from which blocks are kept: the one that makes the best of what the scores promise. Taking more text
// loses precision, taking less loses content; the expected harmonic mean of both is highest at one place in the order of
// the scores, which is low where the page as a whole is hard to judge. order is room for as many numbers as there are scores.
func cut(scores []float32, order []int32, weight func(i int) float64) float32 {
	all := 0.0
	for i := range order {
		order[i] = int32(i)
		all += weight(i) * float64(scores[i])
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	best, at := 0.0, float32(0.5)
	taken, hits := 0.0, 0.0
	for _, i := range order {
		w := weight(int(i))
		taken += w
		hits += w * float64(scores[i])
		if f := hits / (taken + all); f > best {
			best, at = f, scores[i]
		}
	}
	return at
}
