package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readArticles reads a copy of scrapinghub/article-extraction-benchmark (MIT): ground-truth.json and html/.
func readArticles(dir string) ([]*labelled, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "ground-truth.json"))
	if err != nil {
		return nil, err
	}
	var truths map[string]struct {
		URL  string `json:"url"`
		Body string `json:"articleBody"`
	}
	if err := json.Unmarshal(raw, &truths); err != nil {
		return nil, fmt.Errorf("ground-truth.json: %w", err)
	}
	var pages []*labelled
	for _, id := range slices.Sorted(maps.Keys(truths)) {
		source, err := unzip(filepath.Join(dir, "html", id+".html.gz"))
		if err != nil {
			return nil, err
		}
		p := &labelled{id: "articles/" + id, kind: "article", news: true}
		if p, err = p.fill(source, truths[id].URL, truths[id].Body); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		if p != nil {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

// without leaves out the pages of all sites that truth.json has an article of: these articles are for judging alone.
func without(pages []*labelled, truth string) ([]*labelled, error) {
	if truth == "" {
		return pages, nil
	}
	raw, err := os.ReadFile(truth)
	if err != nil {
		return nil, err
	}
	var cases map[string]struct{ Set, URL string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(truth), err)
	}
	sites := map[string]bool{}
	for _, c := range cases {
		if c.Set == "aeb" {
			sites[siteOf(c.URL)] = true
		}
	}
	return slices.DeleteFunc(pages, func(p *labelled) bool { return sites[siteOf(p.address)] }), nil
}

// siteOf is the part of an address's host that one owner has: its last two labels, or three below co.uk and the like.
func siteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	labels := strings.Split(strings.ToLower(u.Hostname()), ".")
	n := 2
	if len(labels) > 2 && len(labels[len(labels)-1]) == 2 && len(labels[len(labels)-2]) <= 3 {
		n = 3
	}
	return strings.Join(labels[max(len(labels)-n, 0):], ".")
}
