// Command learn makes internal/maincontent/forest/trees.go: the decision trees by which blocks of a page are judged.
//
//	go run ./learn -wcxb DIR/dev -articles DIR -readability DIR/test/test-pages -apart CASES/extraction/truth.json \
//		-out ../internal/maincontent/forest/trees.go
//
// It reads copies of WCXB (web-content-extraction-benchmark by Murrough Foley, CC-BY-4.0), of which the dev split alone, of
// scrapinghub/article-extraction-benchmark (MIT) and of mozilla/readability's test pages (Apache-2.0). Pages of one host in
// six, chosen by a hash of their names, are never learned from, and neither is any page of a site that the 60 articles
// of the cases are of: the figures that it prints are of both parts. The same pages give the same trees.
// With -cross it writes none and judges a change of features, settings or rules by the pages that may be learned from alone;
// with -dump FILE, block by block.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	dir := flag.String("wcxb", "", "the dev folder of the benchmark")
	articles := flag.String("articles", "", "a copy of the benchmark of articles; empty learns without")
	readability := flag.String("readability", "", "test/test-pages of a copy of mozilla/readability; empty learns without")
	apart := flag.String("apart", "", "truth.json of the cases: no site of its articles is learned from")
	out := flag.String("out", "", "the file to write; empty writes none")
	rounds := flag.Int("rounds", 110, "trees of each stage")
	depth := flag.Int("depth", 5, "levels of a tree")
	rate := flag.Float64("rate", 0.1, "how far each tree goes")
	least := flag.Float64("least", 160, "weight that a leaf has at least")
	ridge := flag.Float64("ridge", 60, "how strongly leaves are drawn to nothing")
	all := flag.Bool("all", false, "learn from every page")
	each := flag.Bool("each", false, "print every page's score")
	turns := flag.Bool("cross", false, "judge a change: every page that may be learned from by trees that have seen none of its host; writes no trees")
	dump := flag.String("dump", "", "with -cross, a file to write every block to")
	fewer := flag.Int("fewer", 1, "with -cross, of so many articles one is taken")
	flag.Parse()
	if err := run(*dir, *articles, *readability, *apart, *out, settings{rounds: *rounds, depth: *depth, rate: *rate, least: *least, ridge: *ridge}, *all, *each, *turns, *fewer, *dump); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

func run(dir, articles, readability, apart, out string, s settings, all, each, turns bool, fewer int, dump string) error {
	began := time.Now()
	pages, err := load(dir, articles, readability, apart)
	if err != nil {
		return err
	}
	if turns {
		return cross(pages, s, fewer, dump)
	}
	learned := func(p *labelled) bool { return all || !p.held }
	kinds := trainKinds(pages, learned)
	for _, p := range pages {
		p.first = p.lesson.Features(nil)
	}
	var rows, kept int
	for _, p := range pages {
		rows += len(p.first)
		for _, l := range p.labels {
			if l > 0.5 {
				kept++
			}
		}
	}
	fmt.Printf("%d pages, %d blocks, %d of them content, %d features, %s\n", len(pages), rows, kept, len(pages[0].first[0]), time.Since(began).Round(time.Second))
	ceiling(pages)
	first := train(pages, learned, s, firstOf, true)
	fmt.Printf("first stage, %s\n", time.Since(began).Round(time.Second))
	report(pages, "first")
	for _, p := range pages {
		p.second = p.lesson.Features(p.score)
	}
	second := train(pages, learned, s, secondOf, false)
	fmt.Printf("second stage, %s\n", time.Since(began).Round(time.Second))
	report(pages, "second")
	if each {
		for _, p := range pages {
			fmt.Printf("page %s %s held %v F1 %.3f labels %.3f\n", p.id, p.kind, p.held,
				p.f1(func(i int) bool { return p.score[i] > 0.4 }), p.f1(func(i int) bool { return p.labels[i] > 0.5 }))
		}
	}
	if out == "" {
		return nil
	}
	return write(out, kinds, first, second)
}

// report prints the word F1 of the blocks that are kept at the best threshold, by kind, for both parts.
func report(pages []*labelled, stage string) {
	for _, part := range []struct {
		name string
		keep func(*labelled) bool
	}{
		{"learned articles", func(p *labelled) bool { return p.news && !p.held }},
		{"held articles", func(p *labelled) bool { return p.news && p.held }},
	} {
		sum, n := 0.0, 0.0
		for _, p := range pages {
			if part.keep(p) {
				t := p.lesson.Cut(p.score)
				sum += p.f1(func(i int) bool { return p.score[i] >= t })
				n++
			}
		}
		fmt.Printf("%s, %s: %.0f pages %.4f\n", stage, part.name, n, sum/n)
	}
	for _, held := range []bool{false, true} {
		own := map[string]float64{}
		fmt.Printf("%s, held out %v: each page's own threshold %.4f:", stage, held, mean(pages, held, -1, own))
		for _, k := range slices.Sorted(keys(own)) {
			fmt.Printf(" %s %.3f", k, own[k])
		}
		fmt.Println()
		best, at := 0.0, 0.0
		for t := 0.25; t < 0.7; t += 0.05 {
			if m := mean(pages, held, t, nil); m > best {
				best, at = m, t
			}
		}
		by := map[string]float64{}
		mean(pages, held, at, by)
		fmt.Printf("%s, held out %v: mean of kinds %.4f at %.2f:", stage, held, best, at)
		for _, k := range slices.Sorted(keys(by)) {
			fmt.Printf(" %s %.3f", k, by[k])
		}
		fmt.Println()
	}
}
