package corpustest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/htmltree"
	"github.com/wayleave/wayleave/webfetch"
)

// TestCorpusMainContent reports how well the main content is found, by kind of page, beside the whole page, and holds it
// to a floor just below what was measured, so that a change that loses content shows. make figures measures it as
// docs/figures.md says; like there, pages without a true text count in no mean, and the articles apart.
func TestCorpusMainContent(t *testing.T) {
	all := pages(t)
	if len(all) == 0 {
		return
	}
	type sum struct{ main, full, n float64 }
	const articles = "the 60 articles"
	sums := map[string]sum{}
	for id, p := range all {
		if strings.TrimSpace(p.Text) == "" {
			continue
		}
		full := convert(t, id, p, webfetch.PartFull)
		main := convert(t, id, p, webfetch.PartMain)
		if full == nil || main == nil {
			continue
		}
		kind := p.Type
		if p.Set == "aeb" {
			kind = articles
		}
		s := sums[kind]
		sums[kind] = sum{s.main + wordF1(shown(main.Content), p.Text), s.full + wordF1(shown(full.Content), p.Text), s.n + 1}
	}
	var mean float64
	for _, kind := range slices.Sorted(maps.Keys(sums)) {
		s := sums[kind]
		t.Logf("%-15s %3.0f pages  main %.3f  whole page %.3f", kind, s.n, s.main/s.n, s.full/s.n)
		if kind != articles {
			mean += s.main / s.n / 7
		}
	}
	t.Logf("mean of the seven kinds %.3f", mean)
	if len(sums) != 8 || mean < 0.866 {
		t.Errorf("main content: mean word F1 of the seven kinds is %.3f, must be 0.866", mean)
	}
	if s := sums[articles]; s.n != 60 || s.main/s.n < 0.966 {
		t.Errorf("%s: word F1 is %.3f of %.0f, it was above 0.970", articles, s.main/s.n, s.n)
	}
}

// TestCorpusPagesKeepTheirText converts every page whole and looks for pieces of its main content.
func TestCorpusPagesKeepTheirText(t *testing.T) {
	found, asked := 0, 0
	for id, p := range pages(t) {
		page := convert(t, id, p, webfetch.PartFull)
		if page == nil {
			continue
		}
		if !utf8.ValidString(page.Content) {
			t.Errorf("%s: the text is not UTF-8", id)
		}
		words := plain(shown(page.Content))
		for _, piece := range p.With {
			asked++
			if strings.Contains(words, plain(piece)) {
				found++
			}
		}
	}
	t.Logf("%d of %d pieces found", found, asked)
	if found*100 < asked*93 {
		t.Errorf("%d of %d pieces of the pages' content are in their text", found, asked)
	}
}

// TestCorpusTreesAreTheStandards compares our tree's text and elements with those of x/net's parser.
func TestCorpusTreesAreTheStandards(t *testing.T) {
	for id, p := range pages(t) {
		theirs, err := html.ParseWithOptions(strings.NewReader(p.html), html.ParseOptionEnableScripting(false))
		if err != nil {
			continue // deeper than it goes
		}
		ours, err := htmltree.Parse(context.Background(), p.html)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if a, b := outline(ours), outline(theirs); a != b {
			i := 0
			for i < len(a) && i < len(b) && a[i] == b[i] {
				i++
			}
			t.Errorf("%s: trees differ after …%s\nours   %s\ntheirs %s", id, a[max(0, i-80):i], a[i:min(len(a), i+80)], b[i:min(len(b), i+80)])
		}
	}
}

// outline writes the elements and the words of a tree, so that neighbouring text may be parted and comments be there or not.
func outline(root *html.Node) string {
	var b strings.Builder
	depth := 0
	for n := root; n != nil; {
		switch n.Type {
		case html.ElementNode:
			b.WriteString("<" + n.Data + ">")
		case html.TextNode:
			b.WriteString(strings.Join(strings.Fields(n.Data), ""))
		}
		if n.FirstChild != nil {
			n, depth = n.FirstChild, depth+1
			continue
		}
		for n != nil && n.NextSibling == nil {
			if n.Type == html.ElementNode {
				b.WriteString("/")
			}
			if n = n.Parent; n == root {
				return b.String()
			}
		}
		if n.Type == html.ElementNode {
			b.WriteString("/")
		}
		n = n.NextSibling
	}
	return b.String()
}

// TestCorpusDocumentsAreNamed: a program that was given no reader of documents says of each which type it is.
func TestCorpusDocumentsAreNamed(t *testing.T) {
	dir := corpus(t)
	if dir == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "documents", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents below %s: %v", dir, err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, ".json") {
			continue
		}
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, err = webfetch.Convert(context.Background(), body, []string{"application/octet-stream"}, "", webfetch.Options{})
		var failed *webfetch.Error
		if strings.Contains(f, "too_small") { // 31 bytes of text
			continue
		}
		if !errors.As(err, &failed) || failed.Code != webfetch.CodeUnsupportedContentType || failed.ContentType == "application/octet-stream" {
			t.Errorf("%s: %v, must be unsupported and name its type", filepath.Base(f), err)
		}
	}
}

func convert(t *testing.T, id string, p truth, part webfetch.Part) *webfetch.Page {
	t.Helper()
	page, err := webfetch.Convert(context.Background(), []byte(p.html), []string{"text/html"}, p.URL, webfetch.Options{Content: part})
	if err != nil {
		t.Errorf("%s: %v", id, err)
		return nil
	}
	return page
}

// addresses are the destinations of links and pictures, which nobody sees on a page.
var addresses = regexp.MustCompile(`\]\((<[^>]*>|[^()\s]*(\([^()]*\)[^()\s]*)*)\)`)

func shown(markdown string) string { return addresses.ReplaceAllString(markdown, "] ") }

// plain is the letters and digits of s.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
