package maincontent

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkFind is a page with as many short blocks as a page has.
func BenchmarkFind(b *testing.B) {
	var page strings.Builder
	page.WriteString("<nav><ul>")
	for i := range 40 {
		fmt.Fprintf(&page, `<li><a href="/section/%d">Section %d</a></li>`, i, i)
	}
	page.WriteString("</ul></nav><article><h1>A long article</h1>")
	for i := range 200 {
		fmt.Fprintf(&page, "<p>Paragraph %d says that the <em>old</em> mill at the mouth of the river was <a href=\"/mill/%d\">rebuilt</a> last winter, &amp; that its wheel turns <strong>twice</strong> a day.</p>\n", i, i)
	}
	page.WriteString("</article>")
	root := parse(b, page.String())
	b.SetBytes(int64(page.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Find(root)
	}
}
