package bodytype

import (
	"testing"

	"github.com/wayleave/wayleave/internal/charset"
)

func TestKindOfMediaType(t *testing.T) {
	for want, types := range map[Kind][]string{
		Markdown: {"text/markdown", "text/x-markdown"},
		HTML:     {"text/html", "application/xhtml+xml"},
		Document: {TypePDF, TypeDOCX, TypeXLSX, TypeXLSM, TypeXLSB, TypeXLS, TypeODS, TypeODT, TypeNumbers, TypeODT + "-template", TypeODT + "-master",
			TypeODT + "-web", TypeODT + "-flat-xml", TypeODS + "-template", TypeODS + "-flat-xml"},
		JSON: {"application/json", "text/json", "application/ld+json", "application/problem+json",
			"application/vnd.api+json", "model/gltf+json"},
		Text: {"text/plain", "text/csv", "text/xml", "text/javascript", "text/x-anything", "application/xml",
			"application/rss+xml", "application/javascript", "application/x-javascript", "application/ecmascript",
			"application/x-yaml", "application/yaml", "application/openapi+yaml", "application/toml", "application/x-ndjson",
			"application/sql", "application/graphql", "application/x-sh", "application/jsonl", "application/csv",
			"application/typescript", "application/x-httpd-php", "application/x-python"},
		Binary: {"", "image/png", "image/svg+xml", "image/x+json", "audio/mpeg", "video/mp4", "font/woff2",
			"application/zip", "application/octet-stream", "application/x-foo", "application/rtf", "application/msword",
			"multipart/form-data", TypePPTX, "application/epub+zip", "application/wasm", "application/xjson",
			"application/pdf; charset=x", "json", "application/"},
	} {
		for _, mediaType := range types {
			if got := KindOf(mediaType); got != want {
				t.Errorf("%q is of kind %d, want %d", mediaType, got, want)
			}
		}
	}
}

func TestOnlyTextIsGivenRaw(t *testing.T) {
	for k, want := range map[Kind]bool{Binary: false, Document: false, Markdown: true, HTML: true,
		JSON: true, Text: true} {
		if got := k.Textual(); got != want {
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
		if got := MarkupOf(mediaType); got != want {
			t.Errorf("%q: %d, want %d", mediaType, got, want)
		}
	}
}
