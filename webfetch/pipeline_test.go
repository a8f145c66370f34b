package webfetch

// From bytes on a socket to the text of a page: encodings, types, what a page records of itself.

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/bodytype"
	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/internal/untrusted"
)

// servedCase is one case of charset.json or sniff.json.
type servedCase struct {
	ID       string            `json:"id"`
	Headers  map[string]string `json:"headers"`
	Body     []byte            `json:"body_b64"`
	HTML     bool              `json:"html"`
	Contains []string          `json:"contains"`
	Exact    *string           `json:"exact"`
	Kind     string            `json:"kind"`
	Via      Via               `json:"via"`
	Refused  bool              `json:"refused"`
}

func servedCases(t *testing.T, file string) []servedCase {
	t.Helper()
	raw, err := os.ReadFile("../testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []servedCase }
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) == 0 {
		t.Fatalf("no case in %s", file)
	}
	return all.Cases
}

// fetch serves the case's bytes and reads them raw where only the decoding matters.
func (c servedCase) fetch(t *testing.T, format Format) (*Page, error) {
	t.Helper()
	a := testsite.Answer{Body: string(c.Body)}
	for name, value := range c.Headers {
		a.Fields = append(a.Fields, name+": "+value)
	}
	return answered(t, Options{}, Request{Format: format}, a)
}

func TestCharsetCasesOverAServer(t *testing.T) {
	for _, c := range servedCases(t, "charset.json") {
		t.Run(c.ID, func(t *testing.T) {
			page, err := c.fetch(t, FormatRaw)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.Contains {
				if !strings.Contains(page.Content, want) {
					t.Errorf("%q does not contain %q", page.Content, want)
				}
			}
			if c.Exact != nil && page.Content != *c.Exact {
				t.Errorf("%q, want %q", page.Content, *c.Exact)
			}
			if page.Bytes != int64(len(c.Body)) {
				t.Errorf("%d bytes, want %d", page.Bytes, len(c.Body))
			}
			auto, err := c.fetch(t, FormatAuto)
			if err != nil {
				t.Fatal(err)
			}
			if shown, _ := untrusted.DropInvisible(page.Content); auto.Via == ViaText && auto.Content != shown {
				t.Errorf("auto gives %q, raw %q", auto.Content, page.Content)
			}
		})
	}
}

func TestSniffCasesOverAServer(t *testing.T) {
	for _, c := range servedCases(t, "sniff.json") {
		t.Run(c.ID, func(t *testing.T) {
			page, err := c.fetch(t, FormatAuto)
			if c.Refused || c.Kind == "pdf" { // documents are known, and not read by this build
				e := wantCode(t, err, CodeUnsupportedContentType)
				if c.Kind == "pdf" && e.ContentType != "application/pdf" {
					t.Errorf("content type %s", e.ContentType)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := c.Via
			if c.ID == "a-json-bad" {
				want = ViaText // invalid JSON passes as text
			}
			if want != "" && page.Via != want {
				t.Errorf("via %s, want %s", page.Via, want)
			}
			for _, text := range c.Contains {
				if !strings.Contains(page.Content, text) {
					t.Errorf("%q does not contain %q", page.Content, text)
				}
			}
		})
	}
}

// The network cases of the area hardening; what they say of addresses is in network_test.go, of rendering elsewhere.
func TestHardeningCases(t *testing.T) {
	for _, c := range casesOf(t, "hardening") {
		switch c.ID {
		case "hardening-017":
			t.Run(c.ID, func(t *testing.T) {
				page, err := answered(t, Options{}, Request{}, c.given.Response.answer(t))
				if err != nil || page.ContentType != "text/plain" && page.ContentType != "" || strings.Contains(Render(NewWindow(page, 0, 100)), "ignore") {
					t.Errorf("page %+v, error %v", page, err)
				}
			})
		case "hardening-020":
			t.Run(c.ID, func(t *testing.T) {
				for _, format := range []Format{FormatAuto, FormatRaw} {
					page, err := answered(t, Options{}, Request{Format: format}, c.given.Response.answer(t))
					if err != nil || utf8.RuneCountInString(page.Title) > 500 || page.Title == "" {
						t.Errorf("title of %d characters, error %v", utf8.RuneCountInString(page.Title), err)
					}
				}
			})
		case "hardening-023", "hardening-025", "hardening-026":
			t.Run(c.ID, func(t *testing.T) {
				page, err := answered(t, Options{}, Request{}, c.given.Response.answer(t))
				c.expected(t).check(t, page, err)
			})
		case "hardening-029":
			t.Run(c.ID, func(t *testing.T) {
				site := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
					// A site that negotiates gives the first of what is accepted that it has.
					first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
					bodies := map[string]string{"text/markdown": "# Markdown", "text/html": "<h1>HTML</h1>"}
					return testsite.Answer{Fields: []string{"Content-Type: " + first}, Body: bodies[first]}
				}))
				f := siteWorld(site).fetcher(t, Options{})
				for format, want := range map[Format]string{FormatRaw: "<h1>HTML</h1>", FormatAuto: "# Markdown"} {
					page, err := f.Fetch(t.Context(), Request{URL: "http://site.test/", Format: format})
					if err != nil || page.Content != want {
						t.Errorf("%s: page %+v, error %v", format, page, err)
					}
				}
			})
		case "hardening-004", "hardening-005", "hardening-007", "hardening-008", "hardening-010", "hardening-011", "hardening-013", "hardening-014", "hardening-031":
			t.Run(c.ID, func(t *testing.T) {
				w := &world{}
				for _, url := range append(c.given.Spelled, string(c.given.URL)) {
					_, err := w.fetcher(t, c.given.Options.options()).Fetch(t.Context(), Request{URL: url})
					if e, ok := err.(*Error); !ok || e.Code != CodeDisallowedURL && (c.ID != "hardening-014" || e.Code != CodeInvalidInput) {
						t.Errorf("%s: %v", url, err)
					}
				}
				if len(w.dials()) > 0 {
					t.Errorf("dialled %v", w.dials())
				}
			})
		}
	}
}

func TestPageRecordsWhatIsKnown(t *testing.T) {
	w := newWeb(t, Options{}, []string{"site.test"}, func(url string, _ testsite.Request) testsite.Answer {
		switch url {
		case "http://site.test/a":
			return to("/b#y")
		case "http://site.test/b":
			return to("https://site.test/c")
		}
		return testsite.Answer{Fields: []string{"Content-Type: text/plain; charset=utf-8"}, Body: "äöü"}
	})
	before := time.Now()
	page, err := w.fetch(t, Request{URL: " \ufeffhttp://SITE.test/a#x\n"})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "requested URL", page.RequestedURL, "http://SITE.test/a#x", false)
	compare(t, "final URL", page.FinalURL, "https://site.test/c", false)
	compare(t, "status", page.Status, 200, false)
	compare(t, "content type", page.ContentType, "text/plain", false)
	compare(t, "via", page.Via, ViaText, false)
	compare(t, "content kind", page.ContentKind, PartFull, false)
	compare(t, "total chars", page.TotalChars, 3, false)
	compare(t, "full chars", page.FullChars, 3, false)
	compare(t, "bytes", page.Bytes, 6, false)
	compare(t, "truncated", page.Truncated, false, false)
	compare(t, "provider", page.Provider, "direct", false)
	if want := []string{"http://site.test/a", "http://site.test/b"}; !slices.Equal(page.Redirects, want) {
		t.Errorf("redirects %v, want %v", page.Redirects, want)
	}
	if page.RetrievedAt.Before(before) || page.RetrievedAt.After(time.Now()) || page.RetrievedAt.Location() != time.UTC {
		t.Errorf("retrieved at %v", page.RetrievedAt)
	}
}

func TestRawIsTheBodyAsDecoded(t *testing.T) {
	html := "\ufeff<html>\r\n<title> A &amp;  B </title>\r\n<p>x\u202e   </p>"
	for _, c := range []struct{ contentType, body, content, title string }{
		{"text/html", html, strings.TrimPrefix(html, "\ufeff"), "A & B"},
		{"application/json", ` {"a":1} `, ` {"a":1} `, ""},
		{"text/markdown", "# M   \n\n\n\nx", "# M   \n\n\n\nx", "M"},
		{"text/csv", "a,b\r\n", "a,b\r\n", ""},
		{"application/xml", "<a/>", "<a/>", ""},
	} {
		page, err := answered(t, Options{Converter: convertFunc(converterThatFails)}, Request{Format: FormatRaw},
			testsite.Answer{Fields: []string{"Content-Type: " + c.contentType}, Body: c.body})
		if err != nil || page.Content != c.content || page.Via != ViaRaw || page.Title != c.title || len(page.Notes) > 0 {
			t.Errorf("%s: page %+v, error %v", c.contentType, page, err)
		}
	}
	for _, mediaType := range []string{"application/pdf", "image/png", "image/svg+xml", "application/zip"} {
		_, err := answered(t, Options{Documents: documentsFunc(nil)}, Request{Format: FormatRaw}, testsite.Answer{Fields: []string{"Content-Type: " + mediaType}, Body: "x"})
		if e := wantCode(t, err, CodeUnsupportedContentType); e.ContentType != mediaType {
			t.Errorf("content type %s, want %s", e.ContentType, mediaType)
		}
	}
}

func TestInvisibleCharactersAreDroppedAndCountedInAuto(t *testing.T) {
	body := "a\u202eb\U000e0041c"
	page, err := answered(t, Options{}, Request{}, testsite.Answer{Fields: []string{"Content-Type: text/plain; charset=utf-8"}, Body: body})
	if err != nil || page.Content != "abc" || page.TotalChars != 3 || len(page.Notes) != 1 || page.Notes[0].Kind != "dropped" {
		t.Errorf("page %+v, error %v", page, err)
	}
}

func TestConvertTreatsBytesAsFetchDoes(t *testing.T) {
	for _, file := range []string{"charset.json", "sniff.json"} {
		for _, c := range servedCases(t, file) {
			var contentType []string
			if v, ok := c.Headers["Content-Type"]; ok {
				contentType = []string{v}
			}
			fetched, fetchErr := c.fetch(t, FormatAuto)
			converted, err := Convert(t.Context(), c.Body, contentType, "http://site.test/", Options{})
			if fetchErr != nil {
				if e := wantCode(t, err, fetchErr.(*Error).Code); e.ContentType != fetchErr.(*Error).ContentType {
					t.Errorf("%s: content type %s", c.ID, e.ContentType)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
			if converted.Content != fetched.Content || converted.Title != fetched.Title || converted.Via != fetched.Via || converted.ContentType != fetched.ContentType {
				t.Errorf("%s: converted %+v, fetched %+v", c.ID, converted, fetched)
			}
			if converted.FinalURL != "" || converted.Status != 0 || converted.RequestedURL != "http://site.test/" {
				t.Errorf("%s: %+v knows more than there is to know", c.ID, converted)
			}
		}
	}
}

func TestConvertChecksItsArguments(t *testing.T) {
	_, err := Convert(t.Context(), nil, nil, "not a url", Options{})
	if e := wantCode(t, err, CodeInvalidInput); e.Field != "base_url" {
		t.Errorf("error %+v", e)
	}
	_, err = Convert(t.Context(), make([]byte, 101), nil, "", Options{MaxBodyBytes: new(int64(100))})
	if e := wantCode(t, err, CodeTooLarge); e.LimitBytes != 100 {
		t.Errorf("error %+v", e)
	}
	if _, err := Convert(t.Context(), nil, nil, "", Options{Timeout: new(time.Duration(-1))}); err == nil {
		t.Error("a negative timeout passes")
	}
	page, err := Convert(t.Context(), []byte(`<a href="x">t</a>`), []string{"text/html"}, "", Options{})
	if err != nil || page.RequestedURL != "" || page.Redirects == nil {
		t.Errorf("page %+v, error %v", page, err)
	}
}

// TestRawDocumentIsToldTheWayOut: a document that would be read without format raw is no dead end, and what nobody reads is one.
func TestRawDocumentIsToldTheWayOut(t *testing.T) {
	reader := documentsFunc(nil)
	const out = "next: stop · Do not retry with format raw; without it the document is read as Markdown."
	for _, c := range []struct {
		name, mediaType string
		documents       Documents
		format          Format
		way             bool
	}{
		{"a document", bodytype.TypePDF, reader, FormatRaw, true},
		{"a sheet", bodytype.TypeXLSX, reader, FormatRaw, true},
		{"nobody reads documents", bodytype.TypePDF, nil, FormatRaw, false},
		{"nor without raw", bodytype.TypePDF, nil, FormatAuto, false},
		{"a picture", "image/png", reader, FormatRaw, false},
	} {
		_, err := answered(t, Options{Documents: c.documents}, Request{Format: c.format}, testsite.Answer{Fields: []string{"Content-Type: " + c.mediaType}, Body: "x"})
		text := ErrorResult(wantCode(t, err, CodeUnsupportedContentType), AnswerOptions{}).Text()
		if strings.HasSuffix(text, out) != c.way || !strings.Contains(text, c.mediaType+", which cannot be read as text\nnext: stop · Do not retry") {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

// documentsFunc is Documents that is one function.
type documentsFunc func(mediaType string, body []byte) (Document, error)

func (f documentsFunc) Convert(_ context.Context, mediaType string, body []byte) (Document, error) {
	return f(mediaType, body)
}

func TestDocumentsAreReadWhereThereIsAReader(t *testing.T) {
	word := "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	opts := Options{Documents: documentsFunc(func(mediaType string, body []byte) (Document, error) {
		switch string(body) {
		case "broken":
			return Document{}, errors.New("no such stream")
		case "blank":
			return Document{Markdown: " \n"}, nil
		case "scan":
			return Document{Thin: []Thin{{Kind: "no_text_layer", Fact: "page 1 of 1 holds a picture only"}}}, nil
		}
		return Document{Markdown: "# Report   \n\n\n\ntext\u202e", Title: "  The\nreport ", Notes: []Note{{Kind: "hidden_sheets", Fact: "1 sheet left out"}}}, nil
	})}
	serve := func(body string) (*Page, error) {
		return answered(t, opts, Request{}, testsite.Answer{Fields: []string{"Content-Type: " + word}, Body: body})
	}
	page, err := serve("fine")
	if err != nil {
		t.Fatal(err)
	}
	if page.Via != ViaConverted || page.Title != "The report" || page.Content != "# Report\n\ntext" || page.ContentType != word || len(page.Notes) != 2 {
		t.Errorf("page %+v", page)
	}
	if page, err = serve("scan"); err != nil || len(page.Thin) != 1 {
		t.Errorf("page %+v, error %v", page, err)
	}
	for _, body := range []string{"broken", "blank"} {
		_, err := serve(body)
		if e := wantCode(t, err, CodeConversionFailed); !e.Retryable || e.ContentType != word || e.Status != 200 {
			t.Errorf("error %+v", e)
		}
	}
}
