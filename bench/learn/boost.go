package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// settings of the learning.
type settings struct {
	rounds, depth int
	rate          float64
	least         float64 // weight that a leaf has at least
	ridge         float64
}

const (
	bins   = 48
	sample = 0.4  // of the rows, for each tree
	trying = 0.35 // of the features, for each tree
)

// tree is a full binary tree: node i has the children 2i+1 and 2i+2; a node without a cut gives its left child.
type tree struct {
	feature []int
	bin     []uint8
	cut     []float32
	value   []float64 // of the leaves
}

// table is the rows of pages in bins.
type table struct {
	columns [][]uint8 // of each feature
	cuts    [][]float32
	label   []float32
	weight  []float32
}

// train learns trees from the pages that learned holds for and writes every page's score. In the first stage each
// learned page is scored by trees that have not seen it, so that the second learns from scores that are as good as
// those of strange pages.
func train(pages []*labelled, learned func(*labelled) bool, s settings, features func(*labelled) [][]float32, folds bool) []tree {
	var mine []*labelled
	for _, p := range pages {
		if learned(p) {
			mine = append(mine, p)
		}
	}
	trees := learn(mine, s, features)
	for _, p := range pages {
		p.score = scoreAll(trees, features(p))
	}
	if folds {
		turns(mine, s, features, func(i int) int { return i % parts })
	}
	return trees
}

func learn(pages []*labelled, s settings, features func(*labelled) [][]float32) []tree {
	cuts := cutsOf(pages, features)
	return boost(tableOf(pages, features, cuts), s)
}

// parts of the pages that trees are learned without by turns.
const parts = 3

// turns scores every page by trees that have seen none of its part, which part tells by the page's number.
func turns(pages []*labelled, s settings, features func(*labelled) [][]float32, part func(i int) int) {
	for k := range parts {
		var mine, rest []*labelled
		for i, p := range pages {
			if part(i) == k {
				mine = append(mine, p)
			} else {
				rest = append(rest, p)
			}
		}
		trees := learn(rest, s, features)
		for _, p := range mine {
			p.score = scoreAll(trees, features(p))
		}
	}
}

func scoreAll(trees []tree, rows [][]float32) []float32 {
	out := make([]float32, len(rows))
	for i, x := range rows {
		sum := 0.0
		for t := range trees {
			sum += trees[t].of(x)
		}
		out[i] = float32(1 / (1 + math.Exp(-sum)))
	}
	return out
}

func (t *tree) of(x []float32) float64 {
	i := 0
	for i < len(t.feature) {
		if t.feature[i] >= 0 && x[t.feature[i]] > t.cut[i] {
			i = 2*i + 2
		} else {
			i = 2*i + 1
		}
	}
	return t.value[i-len(t.feature)]
}

// cutsOf are the borders of the bins of each feature: places between the values, so that each bin has about as many.
func cutsOf(pages []*labelled, features func(*labelled) [][]float32) [][]float32 {
	var cuts [][]float32
	n := len(features(pages[0])[0])
	r := rand.New(rand.NewPCG(1, 2))
	values := make([][]float32, n)
	rows := 0
	for _, p := range pages {
		rows += len(features(p))
	}
	part := 0.15
	if rows < 50_000 {
		part = 1
	}
	for _, p := range pages {
		for _, x := range features(p) {
			if r.Float64() > part {
				continue
			}
			for f, v := range x {
				values[f] = append(values[f], v)
			}
		}
	}
	for f := range n {
		v := values[f]
		slices.Sort(v)
		var c []float32
		for b := 1; b < bins; b++ {
			at := v[b*len(v)/bins]
			if at == v[len(v)-1] {
				break
			}
			if len(c) == 0 || at > c[len(c)-1] {
				c = append(c, at)
			}
		}
		cuts = append(cuts, c)
	}
	return cuts
}

func tableOf(pages []*labelled, features func(*labelled) [][]float32, cuts [][]float32) *table {
	t := &table{cuts: cuts, columns: make([][]uint8, len(cuts))}
	for _, p := range pages {
		for i, x := range features(p) {
			if p.weights[i] == 0 {
				continue
			}
			for f, v := range x {
				b, _ := slices.BinarySearch(cuts[f], v) // v ≤ cuts[b]
				t.columns[f] = append(t.columns[f], uint8(b))
			}
			t.label = append(t.label, p.labels[i])
			t.weight = append(t.weight, p.weights[i])
		}
	}
	return t
}

type cell struct{ g, h float64 }

func boost(t *table, s settings) []tree {
	r := rand.New(rand.NewPCG(3, 4))
	n := len(t.label)
	score := make([]float64, n)
	g, h := make([]float32, n), make([]float32, n)
	var trees []tree
	for range s.rounds {
		var rows []int32
		for i := range n {
			p := 1 / (1 + math.Exp(-score[i]))
			g[i] = t.weight[i] * (t.label[i] - float32(p))
			h[i] = t.weight[i] * float32(p*(1-p))
			if r.Float64() < sample {
				rows = append(rows, int32(i))
			}
		}
		tr := grow(t, s, rows, g, h, r)
		trees = append(trees, tr)
		for i := range n {
			at := 0
			for at < len(tr.feature) {
				if f := tr.feature[at]; f >= 0 && t.columns[f][i] > tr.bin[at] {
					at = 2*at + 2
				} else {
					at = 2*at + 1
				}
			}
			score[i] += tr.value[at-len(tr.feature)]
		}
	}
	return trees
}

// grow makes one tree, level by level. The rows of each node stand together, in their order.
func grow(t *table, s settings, rows []int32, g, h []float32, r *rand.Rand) tree {
	inner := 1<<s.depth - 1
	tr := tree{feature: make([]int, inner), bin: make([]uint8, inner), cut: make([]float32, inner), value: make([]float64, inner+1)}
	var tried []int
	for f := range t.columns {
		if r.Float64() < trying && len(t.cuts[f]) > 0 {
			tried = append(tried, f)
		}
	}
	nodes := [][]int32{rows}
	sums := make([][]cell, len(tried)) // of each feature: by node and bin, of the level before
	for level := range s.depth {
		first := 1<<level - 1
		gain := make([]float64, len(nodes))
		for k := range nodes {
			tr.feature[first+k] = -1
		}
		for _, at := range splits(t, s, nodes, tried, sums, g, h) {
			if k := at.node; at.gain > gain[k] {
				gain[k] = at.gain
				tr.feature[first+k], tr.bin[first+k], tr.cut[first+k] = at.feature, at.bin, t.cuts[at.feature][at.bin]
			}
		}
		next := make([][]int32, 0, 2*len(nodes))
		for k, own := range nodes {
			f := tr.feature[first+k]
			if f < 0 {
				next = append(next, own, nil)
				continue
			}
			var left, right []int32
			for _, i := range own {
				if t.columns[f][i] > tr.bin[first+k] {
					right = append(right, i)
				} else {
					left = append(left, i)
				}
			}
			next = append(next, left, right)
		}
		nodes = next
	}
	for k, own := range nodes {
		var c cell
		for _, i := range own {
			c.g += float64(g[i])
			c.h += float64(h[i])
		}
		tr.value[k] = s.rate * c.g / (c.h + s.ridge)
	}
	return tr
}

// split is a question that a node may ask, and what it gains.
type split struct {
	node, feature int
	bin           uint8
	gain          float64
}

// splits are each feature's best question at each node of a level, in the order of the features, whoever found them.
func splits(t *table, s settings, nodes [][]int32, tried []int, sums [][]cell, g, h []float32) []split {
	found := make([][]split, len(tried))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for k := w; k < len(tried); k += workers {
				sums[k] = sumsOf(t.columns[tried[k]], nodes, sums[k], g, h)
				found[k] = splitsOf(t, s, tried[k], sums[k])
			}
		})
	}
	wg.Wait()
	return slices.Concat(found...)
}

// sumsOf adds up the rows of each node by their bins. Of two nodes that were one, the larger has what the smaller has not.
func sumsOf(column []uint8, nodes [][]int32, before []cell, g, h []float32) []cell {
	sums := make([]cell, len(nodes)*bins)
	add := func(k int) {
		own := sums[k*bins : (k+1)*bins]
		for _, i := range nodes[k] {
			c := &own[column[i]]
			c.g += float64(g[i])
			c.h += float64(h[i])
		}
	}
	if before == nil {
		for k := range nodes {
			add(k)
		}
		return sums
	}
	for k := 0; k < len(nodes); k += 2 {
		small, large := k, k+1
		if len(nodes[small]) > len(nodes[large]) {
			small, large = large, small
		}
		add(small)
		for b := range bins {
			all, part := &before[k/2*bins+b], &sums[small*bins+b]
			sums[large*bins+b] = cell{all.g - part.g, all.h - part.h}
		}
	}
	return sums
}

func splitsOf(t *table, s settings, f int, cells []cell) []split {
	var out []split
	for k := range len(cells) / bins {
		own := cells[k*bins : (k+1)*bins]
		var all, left cell
		for _, c := range own {
			all.g += c.g
			all.h += c.h
		}
		best := split{node: k, feature: f}
		for b := range t.cuts[f] {
			left.g += own[b].g
			left.h += own[b].h
			rg, rh := all.g-left.g, all.h-left.h
			if left.h < s.least || rh < s.least {
				continue
			}
			if v := left.g*left.g/(left.h+s.ridge) + rg*rg/(rh+s.ridge) - all.g*all.g/(all.h+s.ridge); v > best.gain {
				best.gain, best.bin = v, uint8(b)
			}
		}
		if best.gain > 0 {
			out = append(out, best)
		}
	}
	return out
}
