// Command reading measures how well pages are read: what of the true text comes out, what else comes with it, and how
// many tokens it costs, for our main content, our whole page and the peers, over the same pages.
//
//	cd bench && go run ./reading -corpus DIR -out ../docs/figures.md
//
// DIR holds extraction/truth.json and its pages. The peers' texts are kept below -keep, so that a second run costs only
// our own share.
package main

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	corpus := flag.String("corpus", os.Getenv("WAYLEAVE_CORPUS"), "the folder that holds extraction/")
	keep := flag.String("keep", filepath.Join(os.TempDir(), "wayleave-peers"), "where the peers' texts are kept between runs")
	out := flag.String("out", "", "the Markdown file to write the figures to; empty prints them")
	ours := flag.Bool("ours", false, "leave the peers out")
	each := flag.Bool("each", false, "print our score of every page")
	dump := flag.String("dump", "", "a folder to write our text of every page to")
	flag.Parse()
	if err := run(*corpus, *keep, *out, *ours, *each, *dump); err != nil {
		fmt.Fprintln(os.Stderr, "reading:", err)
		os.Exit(1)
	}
}

// page is a page and its true text.
type page struct {
	id      string
	Set     string   `json:"set"`
	Kind    string   `json:"type"`
	URL     string   `json:"url"`
	Text    string   `json:"text"`
	With    []string `json:"with"`
	Without []string `json:"without"`
	File    string   `json:"file"`
	html    string
	tokens  int // of Text
}

// group is the row that a page belongs to.
func (p *page) group() string {
	if p.Set == "aeb" {
		return "articles (60)"
	}
	return p.Kind
}

// held says that no page of this host was learned from.
func (p *page) held() bool {
	u, err := url.Parse(p.URL)
	if err != nil || p.Set == "aeb" {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(strings.TrimPrefix(u.Hostname(), "www.")))
	return h.Sum32()%6 == 0 // as bench/learn holds them out
}

func run(corpus, keep, out string, oursAlone, each bool, dump string) error {
	pages, err := load(filepath.Join(corpus, "extraction"))
	if err != nil {
		return err
	}
	s, err := newScorer()
	if err != nil {
		return err
	}
	for _, p := range pages {
		if p.tokens, err = s.tokens(p.Text); err != nil {
			return err
		}
	}
	var results []result
	for _, t := range tools() {
		if oursAlone && t.peer {
			continue
		}
		texts, err := t.texts(pages, keep)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		r := result{tool: t.name, apart: t.apart, scores: map[string]score{}}
		for _, p := range pages {
			if r.scores[p.id], err = s.score(p, texts[p.id]); err != nil {
				return err
			}
		}
		results = append(results, r)
	}
	if dump != "" {
		for _, t := range tools()[:1] {
			for _, p := range pages {
				if err := os.WriteFile(filepath.Join(dump, p.id+".md"), []byte(t.read(p)), 0o644); err != nil {
					return err
				}
			}
		}
	}
	if each {
		for _, p := range pages {
			c := results[0].scores[p.id]
			fmt.Printf("%-14s %-18s F1 %.3f P %.3f R %.3f tokens %5d of %5d %s\n", p.group(), p.id, c.f1, c.precision, c.recall, c.tokens, p.tokens, p.URL)
		}
	}
	text := report(pages, results)
	if out == "" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

func load(dir string) ([]*page, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		return nil, err
	}
	byID := map[string]*page{}
	if err := json.Unmarshal(raw, &byID); err != nil {
		return nil, err
	}
	var pages []*page
	for id, p := range byID {
		p.id = id
		if p.html, err = unzip(filepath.Join(dir, p.File)); err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	slices.SortFunc(pages, func(a, b *page) int { return strings.Compare(a.group()+a.id, b.group()+b.id) })
	return pages, nil
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
