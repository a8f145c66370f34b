package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// page is one input of the conversion figures.
type page struct {
	name string
	html string
}

// ownPages are made here, so that the figures can be had without any corpus: one page for each shape that costs
// something different.
func ownPages() []page {
	var article, docs, table, list strings.Builder
	article.WriteString("<!doctype html><html><head><title>Article</title><style>p{margin:0}</style></head><body><nav><ul>")
	for i := range 40 {
		fmt.Fprintf(&article, `<li><a href="/section/%d">Section %d</a></li>`, i, i)
	}
	article.WriteString("</ul></nav><article><h1>A long article</h1>")
	for i := range 200 {
		fmt.Fprintf(&article, "<p>Paragraph %d says that the <em>old</em> mill at the mouth of the river was <a href=\"/mill/%d\">rebuilt</a> last winter, &amp; that its wheel turns <strong>twice</strong> a day.</p>\n", i, i)
	}
	article.WriteString("</article></body></html>")

	docs.WriteString("<!doctype html><html><head><title>Docs</title></head><body><main>")
	for i := range 60 {
		fmt.Fprintf(&docs, "<h2 id=s%d>Setting %d</h2><p>Use <code>height_%d</code> as follows:</p><div class=\"highlight\"><pre><code class=\"language-go\"><span class=k>func</span> f%d() {\n\treturn <span class=n>height</span> &lt; %d\n}\n</code></pre></div><ul><li>One<ul><li>Nested</li></ul></li><li>Two</li></ul>", i, i, i, i, i)
	}
	docs.WriteString("</main></body></html>")

	table.WriteString("<!doctype html><html><head><title>Table</title></head><body><table><thead><tr><th>No<th>Name<th>State<th>Price</tr></thead><tbody>")
	for i := range 1000 {
		fmt.Fprintf(&table, "<tr><td>%d</td><td><a href=\"/p/%d\">Chisel %d</a></td><td>in stock</td><td>€%d.00</td></tr>", i, i, i, i)
	}
	table.WriteString("</tbody></table></body></html>")

	list.WriteString("<!doctype html><html><head><title>Listing</title></head><body>")
	for i := range 400 {
		fmt.Fprintf(&list, `<div class="card"><a href="/p/%d"><img src="/i/%d.jpg" alt="Chisel %d"><h3>Chisel %d</h3></a><div class="price"><span>€</span><span>%d</span></div></div>`, i, i, i, i, i)
	}
	list.WriteString("</body></html>")
	return []page{{"article", article.String()}, {"docs", docs.String()}, {"table", table.String()}, {"listing", list.String()}}
}

// corpusPages reads the pages of a corpus folder; none when there is no folder.
func corpusPages(dir string) ([]page, error) {
	if dir == "" {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(dir, "extraction", "pages", "*.html.gz"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no pages below %s", dir)
	}
	var out []page
	for _, n := range names {
		text, err := readGzip(n)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Base(n), err)
		}
		out = append(out, page{filepath.Base(n), text})
	}
	return out, nil
}

func readGzip(name string) (string, error) {
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
