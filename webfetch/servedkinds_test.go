package webfetch

// What each media type becomes, over a socket: the type decides and nothing else, and only HTML is ever converted.

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/testsite"
)

// ofType is an answer of a media type.
func ofType(mediaType, body string, fields ...string) testsite.Answer {
	return testsite.Answer{Fields: append(fields, "Content-Type: "+mediaType), Body: body}
}

// textTypes are types whose bodies are text as it is; W-104 names each of their families.
func textTypes() []string {
	return []string{"text/plain", "text/csv", "text/css", "text/x-rst", "text/xml", "text/javascript", "application/xml", "application/rss+xml",
		"application/atom+xml", "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml",
		"application/x-yaml", "application/toml", "application/x-ndjson", "application/sql", "application/graphql", "application/x-sh"}
}

func TestW104TextOfEveryTypeIsGivenAsItIs(t *testing.T) {
	const body = "  <a>1</a>,  {\"b\":1}\t\n\n\n\n# c  \r\n"
	for _, mediaType := range textTypes() {
		own := &countingConverter{}
		page, err := answered(t, Options{Converter: own}, Request{}, ofType(mediaType+"; charset=utf-8", body))
		if err != nil {
			t.Errorf("%s: %v", mediaType, err)
			continue
		}
		if page.Content != body || page.Via != ViaText || page.ContentType != mediaType || own.calls != 0 {
			t.Errorf("%s: via %s as %s after %d conversions: %q", mediaType, page.Via, page.ContentType, own.calls, page.Content)
		}
	}
}

// W-091, W-009: what a site wrote as Markdown is not written anew.
func TestW008OnlyHTMLReachesTheConverter(t *testing.T) {
	const odd = "# A  \n\n\n\n*  b   \nc  \n|  x   | y |\n"
	for _, c := range []struct {
		mediaType, body, content string
		via                      Via
		format                   Format
		conversions              int
	}{
		{"text/markdown", odd, odd, ViaMarkdown, FormatAuto, 0},
		{"text/x-markdown", odd, odd, ViaMarkdown, FormatAuto, 0},
		{"application/json", `{"a":1}`, "{\n  \"a\": 1\n}", ViaJSON, FormatAuto, 0},
		{"application/vnd.api+json", `[]`, "[]", ViaJSON, FormatAuto, 0},
		{"text/json", `{"a":9007199254740993,"b":1.0,"a":2}`, "{\n  \"a\": 9007199254740993,\n  \"b\": 1.0,\n  \"a\": 2\n}", ViaJSON, FormatAuto, 0},
		{"text/html", "<p>x</p>", "<p>x</p>", ViaRaw, FormatRaw, 0},
		{"text/html", "<p>x</p>", "converted", ViaConverted, FormatAuto, 1},
		{"application/xhtml+xml", "<p>x</p>", "converted", ViaConverted, FormatAuto, 1},
		{"text/html", "", "converted", ViaConverted, FormatAuto, 1}, // an empty page is the converter's to judge
	} {
		own := &countingConverter{}
		page, err := answered(t, Options{Converter: own}, Request{Format: c.format}, ofType(c.mediaType, c.body))
		if err != nil || page.Content != c.content || page.Via != c.via || own.calls != c.conversions {
			t.Errorf("%s, %s: page %+v after %d conversions, error %v", c.mediaType, c.format, page, own.calls, err)
		}
	}
}

// TestW092HTMLBecomesMarkdown: W-108 with it, in that a break inside a paragraph is one a Markdown reader sees.
func TestW092HTMLBecomesMarkdown(t *testing.T) {
	const body = `<h1>A title</h1><p>one<br/>two <a href="../x">link</a></p><ul><li>first</li><li>second</li></ul>`
	const want = "# A title\n\none\\\ntwo [link](http://site.test/x)\n\n- first\n- second"
	for mediaType, source := range map[string]string{
		"text/html": "<!doctype html>" + body,
		"application/xhtml+xml": `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>` +
			body + `</body></html>`,
	} {
		page, err := answered(t, Options{}, Request{URL: "http://site.test/a/b"}, ofType(mediaType, source))
		if err != nil || page.Via != ViaConverted || strings.TrimSpace(page.Content) != want {
			t.Errorf("%s: page %+v, error %v", mediaType, page, err)
		}
	}
}

func TestW090TheTypeDecidesAndNotTheName(t *testing.T) {
	for _, c := range []struct {
		path, mediaType, disposition string
		via                          Via
	}{
		{"/x.json", "text/plain", `attachment; filename="x.json"`, ViaText},
		{"/x.md", "text/html", `inline; filename="x.md"`, ViaConverted},
		{"/x.html", "application/json", `attachment; filename="x.html"`, ViaJSON},
		{"/x.pdf", "text/plain", `attachment; filename="x.pdf"`, ViaText},
		{"/x.exe?f=x.png", "text/markdown", `attachment; filename="x.exe"`, ViaMarkdown},
	} {
		page, err := answered(t, Options{}, Request{URL: "http://site.test" + c.path}, ofType(c.mediaType, `{"a":1}`, "Content-Disposition: "+c.disposition))
		if err != nil || page.Via != c.via || page.ContentType != c.mediaType {
			t.Errorf("%s: page %+v, error %v", c.path, page, err)
		}
	}
}

func TestW103InvalidJSONPassesAsText(t *testing.T) {
	for _, body := range []string{`{"a":`, `{'a':1}`, "[1] // one", "{}\n{}", "NaN"} {
		page, err := answered(t, Options{}, Request{}, ofType("application/json", body))
		if err != nil || page.Content != body || page.Via != ViaText || page.ContentType != "application/json" {
			t.Errorf("%q: page %+v, error %v", body, page, err)
		}
	}
}

func TestW105WhatIsNoTextIsRefusedByItsType(t *testing.T) {
	refused := []string{"image/png", "image/svg+xml", "audio/mpeg", "video/mp4", "font/woff2", "application/zip", "application/x-foo",
		"application/x-tar", "application/wasm", "multipart/form-data", "application/msword", bodytype.TypePPTX, "application/epub+zip"}
	// W-093: this build has no reader of documents. It names what it would have to read.
	for _, mediaType := range append(refused, bodytype.TypePDF, bodytype.TypeDOCX, bodytype.TypeXLSX, bodytype.TypeXLSM, bodytype.TypeXLSB, bodytype.TypeXLS, bodytype.TypeODS, bodytype.TypeODT, bodytype.TypeNumbers) {
		own := &countingConverter{}
		page, err := answered(t, Options{Converter: own}, Request{}, ofType(mediaType, "some bytes"))
		if e := wantCode(t, err, CodeUnsupportedContentType); e.ContentType != mediaType || e.Status != 200 || e.Retryable || page != nil || own.calls != 0 {
			t.Errorf("%s: %+v", mediaType, e)
		}
	}
	_, err := answered(t, Options{}, Request{}, testsite.Answer{Body: "a\x00b"})
	if e := wantCode(t, err, CodeUnsupportedContentType); e.ContentType != "application/octet-stream" {
		t.Errorf("bytes without a type: %+v", e)
	}
}

// TestW106DocumentUnderAnotherTypeIsRefusedAsWhatItIs: the container is looked into, so a reader of documents will get
// it, and until there is one the refusal names the true type.
func TestW106DocumentUnderAnotherTypeIsRefusedAsWhatItIs(t *testing.T) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	if _, err := w.Create("word/document.xml"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	docx := archive.String()
	for _, served := range []string{"application/octet-stream", "application/zip", bodytype.TypeXLSX} {
		_, err := answered(t, Options{}, Request{}, ofType(served, docx))
		if e := wantCode(t, err, CodeUnsupportedContentType); e.ContentType != bodytype.TypeDOCX {
			t.Errorf("%s: %+v", served, e)
		}
		var got []string
		opts := Options{Documents: documentsFunc(func(mediaType string, body []byte) (Document, error) {
			got = append(got, mediaType)
			return Document{Markdown: "text"}, nil
		})}
		page, err := answered(t, opts, Request{}, ofType(served, docx))
		if err != nil || page.ContentType != bodytype.TypeDOCX || !slices.Equal(got, []string{bodytype.TypeDOCX}) {
			t.Errorf("%s, with a reader of documents: page %+v, error %v", served, page, err)
		}
	}
}
