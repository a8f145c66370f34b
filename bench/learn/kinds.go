package main

import (
	"fmt"
	"math"

	"github.com/wayleave/wayleave/internal/maincontent"
)

// ofKinds are the settings for whole pages: a page is one row, so leaves hold few.
var ofKinds = settings{rounds: 24, depth: 5, rate: 0.15, least: 3, ridge: 3}

// trainKinds learns for each kind whether a page is of it, and tells every page how likely it is of each: a learned page
// by trees that have not seen it.
func trainKinds(pages []*labelled, learned func(*labelled) bool) [][]tree {
	return tellKinds(pages, func(copies []*labelled) []tree {
		return train(copies, learned, ofKinds, firstOf, true)
	})
}

// tellKinds tells every page how likely it is of each kind; teach learns one kind from copies of the pages that have
// one row each.
func tellKinds(pages []*labelled, teach func([]*labelled) []tree) [][]tree {
	rows := map[*labelled][]float32{}
	for _, p := range pages {
		rows[p] = p.lesson.Page()
	}
	likely := map[*labelled][]float32{}
	all := make([][]tree, len(maincontent.Kinds()))
	for k, kind := range maincontent.Kinds() {
		copies := make([]*labelled, len(pages))
		back := map[*labelled]*labelled{}
		for i, p := range pages {
			label := float32(0)
			if p.kind == kind {
				label = 1
			}
			c := &labelled{held: p.held, kind: p.kind, labels: []float32{label}, weights: []float32{kindWeight(pages, p.kind)}}
			c.first = [][]float32{rows[p]}
			copies[i], back[c] = c, p
		}
		all[k] = teach(copies)
		for _, c := range copies {
			likely[back[c]] = append(likely[back[c]], c.score[0])
		}
	}
	right, n := map[bool]float64{}, map[bool]float64{}
	for _, p := range pages {
		x, sum, best := likely[p], float32(0), 0
		for k, v := range x {
			sum += v
			if v > x[best] {
				best = k
			}
		}
		for k := range x {
			x[k] /= sum
		}
		n[p.held]++
		if maincontent.Kinds()[best] == p.kind {
			right[p.held]++
		}
		p.lesson.SetKinds(x)
	}
	fmt.Printf("kinds told: %.3f", right[false]/n[false])
	if n[true] > 0 {
		fmt.Printf(", held out %.3f", right[true]/n[true])
	}
	fmt.Println()
	return all
}

// kindWeight makes rare kinds count more, so that they are told at all.
func kindWeight(pages []*labelled, kind string) float32 {
	n := 0
	for _, p := range pages {
		if p.kind == kind {
			n++
		}
	}
	return float32(math.Sqrt(float64(len(pages)) / float64(len(maincontent.Kinds())) / float64(n)))
}
