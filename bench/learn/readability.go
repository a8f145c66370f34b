package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/internal/maincontent"
)

// readReadability reads a copy of the test pages of mozilla/readability (Apache-2.0): folders of source.html and
// expected.html, of which those count that say that an article is there. What the expected answer is made of are the
// page's own paragraphs, looked through by people; the site is what the page says that its address is.
func readReadability(dir string) ([]*labelled, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "source.html"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no pages below %q: %v", dir, err)
	}
	slices.Sort(names)
	var pages []*labelled
	for _, name := range names {
		folder := filepath.Dir(name)
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		expected, err := os.ReadFile(filepath.Join(folder, "expected.html"))
		if err != nil {
			return nil, err
		}
		text, err := textOf(string(expected))
		if err != nil {
			return nil, err
		}
		raw, err := os.ReadFile(filepath.Join(folder, "expected-metadata.json"))
		if err != nil {
			return nil, err
		}
		var says struct {
			Readerable bool `json:"readerable"`
		}
		if err := json.Unmarshal(raw, &says); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(folder), err)
		}
		const least = 150 // words: shorter ones test one trait of the extractor each
		if !says.Readerable || len(wordsOf(text)) < least {
			continue
		}
		root, err := htmltree.Parse(context.Background(), strings.ToValidUTF8(string(source), "\uFFFD"))
		if err != nil {
			return nil, err
		}
		address := maincontent.DeclaredBy(root).Canonical
		if !strings.Contains(address, "://") {
			continue
		}
		p := &labelled{id: "readability/" + filepath.Base(folder), kind: "article", news: true}
		if p, err = p.fill(strings.ToValidUTF8(string(source), "\uFFFD"), address, text); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(folder), err)
		}
		if p != nil {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

func textOf(source string) (string, error) {
	root, err := htmltree.Parse(context.Background(), source)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	}
	return b.String(), nil
}
