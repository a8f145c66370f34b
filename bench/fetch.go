package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// fetching compares a whole judged fetch over loopback with the least that anybody could do: a bare client on a fresh
// connection, then a parse. The page is the article of ownPages.
func fetching(article page) error {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, article.html)
	}))
	defer site.Close()
	// What politeness would make wait is not what is measured here.
	polite := webfetch.NewPoliteness(1000, 1_000_000)
	fetcher, err := webfetch.Direct(webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}, Politeness: polite})
	if err != nil {
		return err
	}
	ours := func(page) error {
		_, err := fetcher.Fetch(context.Background(), webfetch.Request{URL: site.URL})
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	bare := func(page) error {
		resp, err := (&http.Client{Transport: transport}).Get(site.URL)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		_, err = html.Parse(strings.NewReader(string(body)))
		return err
	}
	var ratios []float64
	for round := range rounds + 1 {
		b, _, err := measure([]page{article}, 100, bare)
		if err != nil {
			return err
		}
		o, _, err := measure([]page{article}, 100, ours)
		if err != nil {
			return err
		}
		if round > 0 {
			ratios = append(ratios, o.Seconds()/b.Seconds())
		}
	}
	fmt.Printf("\nOne fetch over loopback (%d KB page), CPU of both ends; floor: a bare client on a fresh connection, body read, html.Parse\nours ÷ floor %.2f\n",
		len(article.html)/1000, median(ratios))
	return nil
}

// judging reports what one verdict about a URL costs.
func judging() {
	policy := &weburl.Policy{}
	urls := []string{"https://docs.example.com/guide/page.html?a=b#c", "http://0x7f.1/", "https://bücher.example/", "http://[2001:db8::1]/"}
	const n = 20_000
	start := time.Now()
	for i := range n {
		_, _ = policy.Check(urls[i%len(urls)])
	}
	fmt.Printf("\nOne verdict of the address policy: %.1f µs\n", float64(time.Since(start).Microseconds())/n)
}
