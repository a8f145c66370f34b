package webfetch

import (
	"context"
	"testing"
)

// TestPageThatOnlySendsBrowsersOn: its address is what there is to say of it; a page with text stays as it is.
func TestPageThatOnlySendsBrowsersOn(t *testing.T) {
	const meta = `<meta http-equiv="refresh" content="0; url=../latest/a b">`
	for page, want := range map[string]string{
		"<!doctype html><title>Redirecting</title>" + meta:              "- [https://docs.example/latest/a b](https://docs.example/latest/a%20b)",
		"<!doctype html><title>Old</title>" + meta + "<p>It has moved.": "It has moved.",
		"<!doctype html><title>Nothing</title>":                         "",
	} {
		for _, part := range []Part{PartFull, PartMain} {
			got, err := Convert(context.Background(), []byte(page), []string{"text/html"}, "https://docs.example/v1/page.html", Options{Content: part})
			if err != nil || got.Content != want || got.Title == "" {
				t.Errorf("%s, %s: %q, title %q, %v; want %q", page, part, got.Content, got.Title, err, want)
			}
		}
	}
}
