// The cost of a conversion, as a ratio to x/net's parser on the same bytes, and in bytes allocated per byte of page.
// Set CORPUS to a folder of .html or .html.gz files to measure those instead of generated pages.

package markdown

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/htmltree"
)

func BenchmarkWholePage(b *testing.B) {
	pages := benchPages(b)
	total := 0
	for _, page := range pages {
		total += len(page)
	}
	ctx := context.Background()
	convert := func(page string) {
		root, err := htmltree.Parse(ctx, page)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Render(ctx, root, Options{BaseURL: "https://docs.example/a/b"}); err != nil {
			b.Fatal(err)
		}
	}
	floor := func(page string) {
		if _, err := html.Parse(strings.NewReader(page)); err != nil {
			b.Fatal(err)
		}
	}
	parse := func(page string) {
		if _, err := htmltree.Parse(ctx, page); err != nil {
			b.Fatal(err)
		}
	}
	var floorTime, parseTime, wholeTime time.Duration
	var before, after runtime.MemStats
	var bytes uint64
	b.SetBytes(int64(total))
	for b.Loop() {
		// Side by side on each page, so that what else the machine does weighs on all alike.
		for _, page := range pages {
			start := time.Now()
			floor(page)
			floorTime += time.Since(start)
			start = time.Now()
			parse(page)
			parseTime += time.Since(start)
			runtime.ReadMemStats(&before)
			start = time.Now()
			convert(page)
			wholeTime += time.Since(start)
			runtime.ReadMemStats(&after)
			bytes += after.TotalAlloc - before.TotalAlloc
		}
	}
	b.ReportMetric(float64(wholeTime)/float64(floorTime), "whole/floor")
	b.ReportMetric(float64(parseTime)/float64(floorTime), "parse/floor")
	b.ReportMetric(float64(bytes)/float64(total)/float64(b.N), "allocated/byte")
}

// benchPages are the pages of the folder CORPUS, or a few generated ones of different make.
func benchPages(tb testing.TB) []string {
	folder := os.Getenv("CORPUS")
	if folder == "" {
		return generatedPages()
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.html*"))
	if err != nil || len(names) == 0 {
		tb.Fatalf("CORPUS: no .html or .html.gz files in %s", folder)
	}
	var pages []string
	for _, name := range names {
		pages = append(pages, readPage(tb, name))
	}
	return pages
}

func readPage(tb testing.TB, name string) string {
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			tb.Fatal(err)
		}
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

func generatedPages() []string {
	var article, docs, listing strings.Builder
	article.WriteString("<!doctype html><title>Mill</title><body><article>")
	docs.WriteString("<!doctype html><title>Gate</title><body><nav><ul>")
	listing.WriteString("<!doctype html><title>Chisels</title><body><div class=\"grid\">")
	for i := range 200 {
		fmt.Fprintf(&article, "<h2>Part %d</h2><p class=\"text\">The wheel <em>turns</em> twice a day, see <a href=\"/tides/%d\">the tables</a> &amp; ask; "+
			"it takes about five hours of work on each tide, and <b>never</b> more.</p>\n", i, i)
		fmt.Fprintf(&docs, "<li class=\"toc\"><a href=\"#k%d\">Key %d</a></li></ul><h3 id=\"k%d\">key_%d</h3><pre><code class=\"language-toml\">"+
			"<span class=\"k\">height</span> = <span class=\"n\">%d</span>\n</code></pre><table><tr><th>Key</th><th>Default</th></tr>"+
			"<tr><td><code>a|b</code></td><td>%d</td></tr></table><ul>", i, i, i, i, i, i)
		fmt.Fprintf(&listing, "<div class=\"card\"><a href=\"/p/%d\"><div><img src=\"/i/%d.jpg\" alt=\"\" width=\"90\"></div><h3>Chisel no. %d</h3></a>"+
			"<span class=\"price\">€%d.00</span><button type=\"button\">Add</button></div>\n", i, i, i, i)
	}
	return []string{article.String(), docs.String(), listing.String()}
}
