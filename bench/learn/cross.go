package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/maincontent"
)

// cross judges the pages that may be learned from, each by trees that have seen none of its host: a change is chosen by
// these figures, so that the pages that are held out stay strange. The scores that the second stage learns from are of
// trees that have seen some of the pages judged, which is little enough. Of articles one in fewer is taken: the other
// kinds are what is short of pages.
func cross(pages []*labelled, s settings, fewer int, dump string) error {
	articles := 0
	pages = slices.DeleteFunc(pages, func(p *labelled) bool {
		if p.kind != "article" {
			return p.held
		}
		articles++
		return p.held || articles%fewer != 0
	})
	host := func(i int) int {
		h := fnv.New32a()
		h.Write([]byte("part " + hostOf(pages[i].address)))
		return int(h.Sum32() % parts)
	}
	tellKinds(pages, func(copies []*labelled) []tree {
		turns(copies, ofKinds, firstOf, host)
		return nil
	})
	for _, p := range pages {
		p.first = p.lesson.Features(nil)
	}
	turns(pages, s, firstOf, host)
	judge(pages, "first")
	first := make([][]float32, len(pages))
	for i, p := range pages {
		first[i], p.second = p.score, p.lesson.Features(p.score)
	}
	turns(pages, s, secondOf, host)
	judge(pages, "second")
	for _, p := range pages {
		p.kept = p.lesson.Decide(slices.Clone(p.score))
	}
	judge(pages, "by the rules")
	if dump == "" {
		return nil
	}
	f, err := os.Create(dump)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for i, p := range pages {
		p.print(w, first[i])
	}
	return w.Flush()
}

// print writes a line for the page and one for each of its blocks: the share that is content, whether it is kept, the
// scores, how many words it has, where it stands, and how it begins.
func (p *labelled) print(w *bufio.Writer, first []float32) {
	fmt.Fprintf(w, "page %s %s F1 %.3f labels %.3f %s\n", p.id, p.kind, p.f1(func(i int) bool { return p.kept[i] }),
		p.f1(func(i int) bool { return p.labels[i] > 0.5 }), p.address)
	for i, words := range p.words {
		fmt.Fprintf(w, "%d\t%.2f\t%v\t%.2f\t%.2f\t%d\t%s\t%.140s\n",
			i, p.labels[i], p.kept[i], first[i], p.score[i], len(words), p.lesson.Path(i), strings.Join(words, " "))
	}
}

// judge prints the word F1 of what is kept, by kind.
func judge(pages []*labelled, stage string) {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, p := range pages {
		kind := p.kind
		if p.news {
			kind = "news"
		}
		t := p.lesson.Cut(p.score)
		sum[kind] += p.f1(func(i int) bool {
			if p.kept != nil {
				return p.kept[i]
			}
			return p.score[i] >= t
		})
		n[kind]++
	}
	total := 0.0
	for _, k := range maincontent.Kinds() {
		total += sum[k] / n[k]
	}
	fmt.Printf("%s: mean of kinds %.4f:", stage, total/float64(len(maincontent.Kinds())))
	for _, k := range slices.Sorted(keys(sum)) {
		fmt.Printf(" %s %.4f (%.0f)", k, sum[k]/n[k], n[k])
	}
	fmt.Println()
}
