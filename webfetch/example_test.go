package webfetch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// exampleSite is a site on this machine with one page, so the examples permit private hosts.
func exampleSite() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/guide" {
			http.Error(w, "", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/markdown")
		io.WriteString(w, "# Guide\n\nOne line.\nAnother line.\n")
	}))
}

// local permits private hosts. Leave it out to read the public web.
func local() webfetch.Options {
	return webfetch.Options{Policy: &weburl.Policy{AllowPrivateHosts: true}}
}

// Read one URL whole, with no model involved, and tell failures by their code.
func ExampleFetch() {
	site := exampleSite()
	defer site.Close()
	page, err := webfetch.Fetch(context.Background(), webfetch.Request{URL: site.URL + "/guide"}, local())
	if err != nil {
		panic(err)
	}
	fmt.Println(page.Status, page.ContentType, page.Via, page.Title, page.TotalChars)

	_, err = webfetch.Fetch(context.Background(), webfetch.Request{URL: site.URL + "/gone"}, local())
	if failed, ok := errors.AsType[*webfetch.Error](err); ok {
		fmt.Println(failed.Code, failed.Status, failed.Retryable)
	}
	// Output:
	// 200 text/markdown markdown-negotiated Guide 33
	// web_fetch_http_error 404 false
}

// Show a page window by window, as the tool would, without fetching again.
func ExampleNewWindow() {
	page := &webfetch.Page{
		FinalURL: "https://example.com/guide", Status: 200, ContentType: "text/plain", Via: webfetch.ViaText,
		Content: "One line.\nAnother line.\nThe last line.",
	}
	for w := webfetch.NewWindow(page, 0, 15); ; w = webfetch.NewWindow(page, *w.NextOffset, 15) {
		fmt.Println(webfetch.Render(w))
		if w.NextOffset == nil {
			break
		}
	}
	// Output:
	// web_fetch: https://example.com/guide · 200 · text/plain → text · chars 0–15 of 38 · continue with offset=15
	// <untrusted_web_content>
	// One line.
	// Anoth
	// </untrusted_web_content>
	// web_fetch: https://example.com/guide · 200 · text/plain → text · chars 15–30 of 38 · continue with offset=30
	// <untrusted_web_content>
	// er line.
	// The la
	// </untrusted_web_content>
	// web_fetch: https://example.com/guide · 200 · text/plain → text · chars 30–38 of 38
	// <untrusted_web_content>
	// st line.
	// </untrusted_web_content>
}

// Give a model the tool. The handler takes the model's arguments as JSON and gives text.
func ExampleNewTool() {
	site := exampleSite()
	defer site.Close()
	tool, err := webfetch.NewTool(webfetch.ToolOptions{Options: local()})
	if err != nil {
		panic(err)
	}
	result, err := tool.Handler(context.Background(), json.RawMessage(`{"url":"`+site.URL+`/guide","find":"another"}`))
	if err != nil {
		panic(err) // the context was cancelled
	}
	fmt.Println(strings.ReplaceAll(result.Text(), site.URL, "https://example.com"))

	result, _ = tool.Handler(context.Background(), json.RawMessage(`{"url":"file:///etc/passwd"}`))
	failed, _ := errors.AsType[*webfetch.Error](result.Failure)
	fmt.Println(failed.Code)
	// Output:
	// web_fetch: https://example.com/guide · 200 · text/markdown → markdown · chars 0–33 of 33
	// note: matches · "another" at 19 and nowhere after it
	// <untrusted_web_content>
	// # Guide
	//
	// One line.
	// Another line.
	//
	// </untrusted_web_content>
	// web_fetch_disallowed_url
}

// logged prints what a source was asked for and what it gave.
func logged(source webfetch.Source, log io.Writer) webfetch.Source {
	return webfetch.SourceFunc(func(ctx context.Context, req webfetch.Request) (*webfetch.Page, error) {
		page, err := source.Fetch(ctx, req)
		if err != nil {
			fmt.Fprintln(log, "failed:", err)
			return nil, err
		}
		fmt.Fprintln(log, page.Status, page.Bytes, "bytes")
		return page, nil
	})
}

// cached keeps every page that a source gave. Pages are shared, and nothing in this package changes them.
type cached struct {
	source webfetch.Source

	mu    sync.Mutex // guards pages
	pages map[webfetch.Request]*webfetch.Page
}

func (c *cached) Fetch(ctx context.Context, req webfetch.Request) (*webfetch.Page, error) {
	c.mu.Lock()
	page := c.pages[req]
	c.mu.Unlock()
	if page != nil {
		return page, nil
	}
	page, err := c.source.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages[req] = page
	return page, nil
}

// Put a log and a cache around the built-in fetcher: two windows, one request.
func ExampleSource() {
	site := exampleSite()
	defer site.Close()
	direct, err := webfetch.Direct(local())
	if err != nil {
		panic(err)
	}
	var log strings.Builder
	source := &cached{source: logged(direct, &log), pages: map[webfetch.Request]*webfetch.Page{}}
	tool, err := webfetch.NewTool(webfetch.ToolOptions{Source: source})
	if err != nil {
		panic(err)
	}
	for _, offset := range []string{"0", "9"} {
		result, err := tool.Handler(context.Background(), json.RawMessage(`{"url":"`+site.URL+`/guide","max_bytes":12,"offset":`+offset+`}`))
		if err != nil {
			panic(err)
		}
		header, _, _ := strings.Cut(result.Text(), "\n")
		fmt.Println(header[strings.Index(header, "chars"):])
	}
	fmt.Print(log.String())
	// Output:
	// chars 0–12 of 33 · continue with offset=12
	// chars 9–19 of 33 · continue with offset=19
	// 200 33 bytes
}
