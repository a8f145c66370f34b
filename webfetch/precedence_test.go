package webfetch

// One order of answers over the whole call: where two things are wrong, the first of the list is told.

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

func TestOrderBeforeAnythingIsSent(t *testing.T) {
	blocked, err := weburl.ParseHostPattern("blocked.test")
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := weburl.ParseHostPattern("allowed.test")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", weburl.MaxLength)
	for _, c := range []struct {
		name string
		req  Request
		code Code
		says string
	}{
		{"format before a blank URL", Request{URL: " ", Format: "html"}, CodeInvalidInput, "format"},
		{"format before the policy", Request{URL: "http://localhost/", Format: "html"}, CodeInvalidInput, "format"},
		{"blank", Request{URL: " \t\n"}, CodeInvalidInput, "blank"},
		{"length before parsing", Request{URL: "no url " + long}, CodeInvalidInput, "2,000"},
		{"length before the scheme", Request{URL: "file:///" + long}, CodeInvalidInput, "2,000"},
		{"parsing before the scheme", Request{URL: "file://[/"}, CodeInvalidInput, ""},
		{"scheme before credentials", Request{URL: "ftp://u:p@h/"}, CodeDisallowedURL, "scheme"},
		{"credentials before blocked", Request{URL: "http://u:p@blocked.test/"}, CodeDisallowedURL, "password"},
		{"blocked before allowed", Request{URL: "http://blocked.test/"}, CodeDisallowedURL, "blocked"},
		{"allowed before private", Request{URL: "http://localhost/"}, CodeDisallowedURL, "allowed"},
		{"private before the port", Request{URL: "http://allowed.test:25/"}, CodeDisallowedURL, "port"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{}
			f := w.fetcher(t, Options{Policy: &weburl.Policy{BlockedHosts: []weburl.HostPattern{blocked}, AllowedHosts: []weburl.HostPattern{allowed}}})
			_, err := f.Fetch(t.Context(), c.req)
			e := wantCode(t, err, c.code)
			if !strings.Contains(e.Message, c.says) || len(w.dials()) > 0 {
				t.Errorf("message %q, dialled %v", e.Message, w.dials())
			}
			if e.Code == CodeInvalidInput && (e.Field == "" || e.Status != 400) || e.Code == CodeDisallowedURL && (e.Status != 403 || e.URL != strings.TrimSpace(c.req.URL)) {
				t.Errorf("error %+v", e)
			}
		})
	}
}

// Each answer has the faults of its neighbours in the list; the earlier one is told.
func TestOrderAfterTheAnswer(t *testing.T) {
	const html = "Content-Type: text/html"
	declared := "Content-Length: 101"
	fails := convertFunc(converterThatFails)
	for _, c := range []struct {
		name   string
		answer testsite.Answer
		conv   Converter
		code   Code
		status int
	}{
		{"declared length before the challenge", testsite.Answer{Status: 403, Fields: []string{html, declared, "Cf-Mitigated: challenge"}}, nil, CodeTooLarge, 403},
		{"challenge before an unreadable body", testsite.Answer{Status: 403, Fields: []string{html, "Content-Encoding: rot13", "Cf-Mitigated: challenge"}, Body: "x"}, nil, CodeBlocked, 403},
		{"challenge before an empty error body", testsite.Answer{Status: 404, Fields: []string{html, "Cf-Mitigated: challenge"}}, nil, CodeBlocked, 404},
		{"unreadable body before an empty error", testsite.Answer{Status: 404, Fields: []string{html, "Content-Encoding: gzip"}, Body: "broken"}, nil, CodeUnavailable, 502},
		{"too large before an error of a binary type", testsite.Answer{Status: 500, Fields: []string{"Content-Type: image/png", "Transfer-Encoding: chunked"}, Body: "65\r\n" + strings.Repeat("x", 101) + "\r\n0\r\n\r\n"}, nil, CodeTooLarge, 500},
		{"http error before an unsupported type", testsite.Answer{Status: 500, Fields: []string{"Content-Type: image/png"}, Body: "x"}, nil, CodeHTTPError, 500},
		{"http error before an unread document", testsite.Answer{Status: 404, Fields: []string{"Content-Type: application/pdf"}, Body: "%PDF-1.7"}, nil, CodeHTTPError, 404},
		{"http error instead of a failed conversion", testsite.Answer{Status: 503, Fields: []string{html}, Body: "<p>x"}, fails, CodeHTTPError, 503},
		{"failed conversion", testsite.Answer{Fields: []string{html}, Body: "<p>x"}, fails, CodeConversionFailed, 200},
		{"blank error page", testsite.Answer{Status: 404, Fields: []string{"Content-Type: text/plain"}, Body: " \r\n\t"}, nil, CodeHTTPError, 404},
		{"unsupported type", testsite.Answer{Fields: []string{"Content-Type: image/png"}, Body: "x"}, nil, CodeUnsupportedContentType, 200},
		{"unsupported document", testsite.Answer{Fields: []string{"Content-Type: application/pdf"}, Body: "%PDF-1.7"}, nil, CodeUnsupportedContentType, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := answered(t, Options{MaxBodyBytes: new(int64(100)), Converter: c.conv}, Request{}, c.answer)
			e := wantCode(t, err, c.code)
			if e.Status != c.status || e.URL != "http://site.test/" || e.Message == "" {
				t.Errorf("error %+v", e)
			}
			if e.Code != CodeUnavailable && e.ContentType == "" {
				t.Error("no content type on the error")
			}
		})
	}
}

func converterThatFails(context.Context, HTML) (string, error) { return "", errors.New("cannot") }

func TestStatusAndRetryableFollowTheCode(t *testing.T) {
	for status, retryable := range map[int]bool{400: false, 403: false, 404: false, 408: true, 429: true, 499: false, 500: true, 503: true, 520: true} {
		_, err := answered(t, Options{}, Request{}, testsite.Answer{Status: status, Fields: []string{"Content-Type: text/plain"}})
		if e := wantCode(t, err, CodeHTTPError); e.Status != status || e.Retryable != retryable || e.ContentType != "text/plain" {
			t.Errorf("%d: %+v", status, e)
		}
	}
}

func TestErrorNamesTheHopThatFailed(t *testing.T) {
	w := newWeb(t, Options{}, []string{"site.test"}, func(url string, _ testsite.Request) testsite.Answer {
		if url == "http://site.test/" {
			return to("/second#part")
		}
		return testsite.Answer{Status: 404, Fields: []string{"Content-Type: text/html"}}
	})
	_, err := w.fetch(t, Request{URL: "http://site.test/"})
	if e := wantCode(t, err, CodeHTTPError); e.URL != "http://site.test/second" {
		t.Errorf("URL %s", e.URL)
	}
}

func TestErrorPagesThatCanBeReadArePages(t *testing.T) {
	for _, c := range []struct {
		status int
		field  string
		body   string
		via    Via
	}{
		{404, "Content-Type: text/html", "<title>Nope</title><p>gone", ViaConverted},
		{403, "Content-Type: application/json", `{"message":"rate limited"}`, ViaJSON},
		{500, "Content-Type: text/plain", "sorry", ViaText},
		{402, "Content-Type: text/markdown", "# Pay", ViaMarkdown},
	} {
		page, err := answered(t, Options{}, Request{}, testsite.Answer{Status: c.status, Fields: []string{c.field}, Body: c.body})
		if err != nil || page.Status != c.status || page.Via != c.via {
			t.Errorf("%d: page %+v, error %v", c.status, page, err)
		}
	}
}

func TestEmptyAnswersAreEmptyPages(t *testing.T) {
	for name, a := range map[string]testsite.Answer{
		"204":        {Status: 204},
		"200":        {Fields: []string{"Content-Type: text/plain"}},
		"empty HTML": {Fields: []string{"Content-Type: text/html"}},
		"304":        {Status: 304},
		"no type":    {},
	} {
		page, err := answered(t, Options{}, Request{}, a)
		if err != nil || page.TotalChars != 0 || page.Bytes != 0 || page.Content != "" {
			t.Errorf("%s: page %+v, error %v", name, page, err)
		}
	}
}
