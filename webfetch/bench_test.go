package webfetch

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/internal/testsite"
)

// benchPage is about 100 KB of ordinary HTML.
var benchPage = "<!doctype html><title>Rivers</title><h1>Rivers</h1>" + strings.Repeat(`<p>The <em>river</em> runs from the <a href="/hills">hills</a> to the sea, past mills &amp; meadows.</p><ul><li>one</li><li>two</li></ul>`, 750)

// BenchmarkFetch is a whole fetch; BenchmarkBareGet the least that anybody could do for the same page: a connection of
// its own, the body, a parse. The quotient of their times is the price of everything else.
func BenchmarkFetch(b *testing.B) {
	site := testsite.Serve(b, testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/html; charset=utf-8"}, Body: benchPage}))
	f := siteWorld(site).fetcher(b, Options{})
	b.SetBytes(int64(len(benchPage)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Fetch(b.Context(), Request{URL: "http://site.test/"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBareGet(b *testing.B) {
	site := testsite.Serve(b, testsite.Always(testsite.Answer{Fields: []string{"Content-Type: text/html; charset=utf-8"}, Body: benchPage}))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	b.SetBytes(int64(len(benchPage)))
	b.ReportAllocs()
	for b.Loop() {
		res, err := client.Get(site.URL)
		if err != nil {
			b.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := html.Parse(strings.NewReader(string(body))); err != nil {
			b.Fatal(err)
		}
	}
}
