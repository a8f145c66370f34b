// Package corpustest runs third-party pages and documents that are not part of the repository: make test-corpus CORPUS=DIR.
package corpustest

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// truth is one page of extraction/truth.json with the text of its main content.
type truth struct {
	File string   `json:"file"`
	Set  string   `json:"set"`
	Type string   `json:"type"`
	URL  string   `json:"url"`
	Text string   `json:"text"`
	With []string `json:"with"` // pieces of the main content
	html string
}

// corpus is the folder that make test-corpus names. In an ordinary run there is none, and these tests have nothing to run
// over: the pages are not ours to carry.
func corpus(t *testing.T) string {
	t.Helper()
	return os.Getenv("WAYLEAVE_CORPUS")
}

func pages(t *testing.T) map[string]truth {
	t.Helper()
	dir := corpus(t)
	if dir == "" {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(dir, "extraction", "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]truth
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for id, p := range all {
		f, err := os.Open(filepath.Join(dir, "extraction", p.File))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(z)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		p.html = string(b)
		all[id] = p
	}
	return all
}

// wordF1 compares two texts as bags of words.
func wordF1(got, want string) float64 {
	g, w := bag(got), bag(want)
	common, ng, nw := 0, 0, 0
	for word, n := range g {
		ng += n
		common += min(n, w[word])
	}
	for _, n := range w {
		nw += n
	}
	if ng == 0 || nw == 0 {
		if ng == nw {
			return 1
		}
		return 0
	}
	return 2 * float64(common) / float64(ng+nw)
}

func bag(s string) map[string]int {
	m := map[string]int{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		m[w]++
	}
	return m
}
