package webfetch

import (
	"testing"

	"github.com/wayleave/wayleave/internal/charset"
)

func TestKindOfMediaType(t *testing.T) {
	for want, types := range map[kind][]string{
		kindMarkdown: {"text/markdown", "text/x-markdown"},
		kindHTML:     {"text/html", "application/xhtml+xml"},
		kindDocument: {typePDF, typeDOCX, typeXLSX, typeXLSM, typeXLSB, typeXLS, typeODS, typeODT, typeNumbers},
		kindJSON: {"application/json", "text/json", "application/ld+json", "application/problem+json",
			"application/vnd.api+json", "model/gltf+json"},
		kindText: {"text/plain", "text/csv", "text/xml", "text/javascript", "text/x-anything", "application/xml",
			"application/rss+xml", "application/javascript", "application/x-javascript", "application/ecmascript",
			"application/x-yaml", "application/yaml", "application/openapi+yaml", "application/toml", "application/x-ndjson",
			"application/sql", "application/graphql", "application/x-sh", "application/jsonl", "application/csv",
			"application/typescript", "application/x-httpd-php", "application/x-python"},
		kindBinary: {"", "image/png", "image/svg+xml", "image/x+json", "audio/mpeg", "video/mp4", "font/woff2",
			"application/zip", "application/octet-stream", "application/x-foo", "application/rtf", "application/msword",
			"multipart/form-data", typePPTX, "application/epub+zip", "application/wasm", "application/xjson",
			"application/pdf; charset=x", "json", "application/"},
	} {
		for _, mediaType := range types {
			if got := kindOf(mediaType); got != want {
				t.Errorf("%q is of kind %d, want %d", mediaType, got, want)
			}
		}
	}
}

func TestClassifyCases(t *testing.T) {
	kinds := map[string]kind{"markdown": kindMarkdown, "html": kindHTML, "document": kindDocument, "json": kindJSON,
		"text": kindText, "binary": kindBinary}
	for _, c := range bodyCases(t, "classify") {
		want, known := kinds[c.Expected.Handling]
		if got := kindOf(c.Input.MediaType); !known || got != want {
			t.Errorf("%s: %s is of kind %d, want %s", c.ID, c.Input.MediaType, got, c.Expected.Handling)
		}
	}
}

func TestOnlyTextIsGivenRaw(t *testing.T) {
	for k, want := range map[kind]bool{kindBinary: false, kindDocument: false, kindMarkdown: true, kindHTML: true,
		kindJSON: true, kindText: true} {
		if got := k.textual(); got != want {
			t.Errorf("kind %d: textual is %v", k, got)
		}
	}
}

func TestMarkupOfMediaType(t *testing.T) {
	for mediaType, want := range map[string]charset.Markup{
		"text/html": charset.HTML, "application/xhtml+xml": charset.XHTML, "application/xml": charset.XML,
		"text/xml": charset.XML, "application/atom+xml": charset.XML, "text/plain": charset.None,
		"application/json": charset.None, "text/markdown": charset.None, "": charset.None,
	} {
		if got := markupOf(mediaType); got != want {
			t.Errorf("%q: %d, want %d", mediaType, got, want)
		}
	}
}
