package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/maincontent"
)

// labelled is a page with what is known of each block.
type labelled struct {
	id, kind string
	address  string
	held     bool // its host is never learned from: the figures of these pages are those of strange pages
	news     bool // of the benchmark of articles
	lesson   maincontent.Lesson
	first    [][]float32 // features
	words    [][]string  // of each block
	labels   []float32   // the share of each block that is content
	weights  []float32
	truth    map[string]int
	size     int // words of the truth
	score    []float32
	second   [][]float32
	kept     []bool // after the rules; nil before
}

func firstOf(p *labelled) [][]float32  { return p.first }
func secondOf(p *labelled) [][]float32 { return p.second }

var word = regexp.MustCompile(`[\p{L}\p{N}_]+`)

func wordsOf(s string) []string { return word.FindAllString(strings.ToLower(s), -1) }

func load(dir, articles, readability, apart string) ([]*labelled, error) {
	names, err := filepath.Glob(filepath.Join(dir, "ground-truth", "*.json"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no pages below %q: %v", dir, err)
	}
	slices.Sort(names)
	var pages []*labelled
	for _, name := range names {
		p, err := read(dir, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		if p != nil {
			pages = append(pages, p)
		}
	}
	if articles != "" {
		more, err := readArticles(articles)
		if err != nil {
			return nil, err
		}
		pages = append(pages, more...)
	}
	if readability != "" {
		more, err := readReadability(readability)
		if err != nil {
			return nil, err
		}
		pages = append(pages, more...)
	}
	if pages, err = without(pages, apart); err != nil {
		return nil, err
	}
	weigh(pages)
	return pages, nil
}

// read gives nil for pages without content, from which nothing can be learned about blocks.
func read(dir, name string) (*labelled, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var t struct {
		URL      string `json:"url"`
		Internal struct {
			PageType struct {
				Primary string `json:"primary"`
			} `json:"page_type"`
		} `json:"_internal"`
		Truth struct {
			Content string `json:"main_content"`
		} `json:"ground_truth"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, err
	}
	if len(wordsOf(t.Truth.Content)) == 0 {
		return nil, nil
	}
	id := strings.TrimSuffix(filepath.Base(name), ".json")
	source, err := unzip(filepath.Join(dir, "html", id+".html.gz"))
	if err != nil {
		return nil, err
	}
	p := &labelled{id: id, kind: t.Internal.PageType.Primary}
	if p.kind == "category" {
		p.kind = "collection"
	}
	if p.kind == "" {
		p.kind = "article"
	}
	return p.fill(source, t.URL, t.Truth.Content)
}

// fill reads the page and compares it with the truth; nil for a page without blocks.
func (p *labelled) fill(source, address, text string) (*labelled, error) {
	root, err := htmltree.Shown(context.Background(), source)
	if err != nil {
		return nil, err
	}
	truth := wordsOf(text)
	p.address = address
	p.truth, p.size, p.held = map[string]int{}, len(truth), heldOut(address)
	p.lesson = maincontent.NewLesson(root)
	for _, w := range truth {
		p.truth[w]++
	}
	for _, s := range p.lesson.Texts() {
		p.words = append(p.words, wordsOf(s))
	}
	if len(p.words) == 0 {
		return nil, nil
	}
	p.label(text, truth)
	return p, nil
}

// heldOne: of so many hosts one is held out.
const heldOne = 6

// heldOut says whether pages of this address' host are kept apart.
func heldOut(address string) bool {
	host := hostOf(address)
	if host == "" {
		return false
	}
	h := fnv.New32a()
	h.Write([]byte(host))
	return h.Sum32()%heldOne == 0
}

// hostOf is the host of an address, without www; empty for what is none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

func unzip(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(z)
	return strings.ToValidUTF8(string(b), "\uFFFD"), err
}

// label compares each block with the truth: a long one by the runs of four words that the truth has too, a short one as
// a whole, where the truth has it as a whole and long content is near.
func (p *labelled) label(text string, truth []string) {
	const run = 4
	runs := map[string]bool{}
	for i := 0; i+run <= len(truth); i++ {
		runs[strings.Join(truth[i:i+run], " ")] = true
	}
	flat := " " + strings.Join(truth, " ") + " "
	p.labels = make([]float32, len(p.words))
	short := map[string][]int{}
	for i, w := range p.words {
		if len(w) == 0 {
			continue
		}
		if len(w) < run {
			short[strings.Join(w, " ")] = append(short[strings.Join(w, " ")], i)
			continue
		}
		covered := make([]bool, len(w))
		for j := 0; j+run <= len(w); j++ {
			if runs[strings.Join(w[j:j+run], " ")] {
				for k := range run {
					covered[j+k] = true
				}
			}
		}
		n := 0
		for _, c := range covered {
			if c {
				n++
			}
		}
		p.labels[i] = float32(n) / float32(len(w))
	}
	// Distance to the nearest long block of content, for short ones that the page says more often than the truth.
	near := make([]int, len(p.words))
	last := -1 << 20
	for i := range near {
		if p.labels[i] > 0.5 && len(p.words[i]) >= run {
			last = i
		}
		near[i] = i - last
	}
	last = 1 << 20
	for i := len(near) - 1; i >= 0; i-- {
		if p.labels[i] > 0.5 && len(p.words[i]) >= run {
			last = i
		}
		near[i] = min(near[i], last-i)
	}
	for phrase, at := range short {
		have := strings.Count(flat, " "+phrase+" ")
		slices.SortStableFunc(at, func(a, b int) int { return near[a] - near[b] })
		for k, i := range at {
			if k < have {
				p.labels[i] = 1
			}
		}
	}
}

// weigh gives each page the same weight, spread over its blocks by their words, and the kinds nearly the same.
func weigh(pages []*labelled) {
	kinds := map[string]float64{}
	for _, p := range pages {
		kinds[p.kind]++
	}
	for _, p := range pages {
		kind := math.Pow(float64(len(pages))/float64(len(kinds))/kinds[p.kind], 0.5)
		p.weights = make([]float32, len(p.words))
		for i, w := range p.words {
			p.weights[i] = float32(kind * float64(len(w)) / float64(p.size+40) * 300)
			if limit := float32(kind * 60); p.weights[i] > limit {
				p.weights[i] = limit
			}
		}
	}
}

// f1 of the blocks whose score is over the threshold.
func (p *labelled) f1(keep func(i int) bool) float64 {
	left := make(map[string]int, len(p.truth))
	for w, n := range p.truth {
		left[w] = n
	}
	total, hits := 0, 0
	for i, words := range p.words {
		if !keep(i) {
			continue
		}
		for _, w := range words {
			total++
			if left[w] > 0 {
				left[w]--
				hits++
			}
		}
	}
	if hits == 0 {
		return 0
	}
	precision, recall := float64(hits)/float64(total), float64(hits)/float64(p.size)
	return 2 * precision * recall / (precision + recall)
}

func mean(pages []*labelled, held bool, threshold float64, by map[string]float64) float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, p := range pages {
		if p.held == held {
			t := threshold
			if t < 0 {
				t = float64(p.lesson.Cut(p.score)) - 1e-6
			}
			sum[p.kind] += p.f1(func(i int) bool { return float64(p.score[i]) > t })
			n[p.kind]++
		}
	}
	total := 0.0
	for k := range sum {
		if by != nil {
			by[k] = sum[k] / n[k]
		}
		total += sum[k] / n[k]
	}
	return total / float64(len(sum))
}

// ceiling prints what the labels themselves reach: no score can be better.
func ceiling(pages []*labelled) {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, p := range pages {
		sum[p.kind] += p.f1(func(i int) bool { return p.labels[i] > 0.5 })
		n[p.kind]++
	}
	fmt.Print("labels:")
	for _, k := range slices.Sorted(keys(sum)) {
		fmt.Printf(" %s %.3f (%.0f)", k, sum[k]/n[k], n[k])
	}
	fmt.Println()
}

func keys(m map[string]float64) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
