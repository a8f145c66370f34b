package webfetch

// The cases of testdata/webfetch.json that need a request, over real sockets.

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

// fetchCase is a case with what it gives.
type fetchCase struct {
	behaviour
	given caseInput
}

type caseInput struct {
	URL       pieces                  `json:"url"`
	Format    string                  `json:"format"`
	Options   caseOptions             `json:"options"`
	Response  *caseResponse           `json:"response"`
	Routes    map[string]caseResponse `json:"routes"`
	Chain     string                  `json:"chain"`
	From      string                  `json:"from"`
	Location  string                  `json:"location"`
	Converter string                  `json:"converter"`
	MediaType string                  `json:"media_type"`
	Body      pieces                  `json:"body"`
	BodyHex   string                  `json:"body_hex"`
	Spelled   []string                `json:"also_spelled"`
}

type caseOptions struct {
	AllowedHosts []any   `json:"allowed_hosts"`
	BlockedHosts []any   `json:"blocked_hosts"`
	Private      bool    `json:"allow_private_hosts"`
	UserAgent    *string `json:"user_agent"`
	MaxBytes     *int64  `json:"max_bytes"`
	MaxRedirects *int    `json:"max_redirects"`
	TimeoutMS    *int64  `json:"timeout_ms"`
}

type caseResponse struct {
	Status      int                        `json:"status"`
	ContentType *string                    `json:"content_type"`
	Coding      string                     `json:"content_encoding"`
	Headers     map[string]json.RawMessage `json:"headers"`
	Body        pieces                     `json:"body"`
	BodyParts   pieces                     `json:"body_parts"`
	BodyHex     string                     `json:"body_hex"`
	Meta        string                     `json:"meta"`
}

type caseExpected struct {
	Code        Code              `json:"code"`
	Status      int               `json:"status"`
	Retryable   *bool             `json:"retryable"`
	Requests    []string          `json:"requests"`
	Made        *int              `json:"requests_made"`
	ErrorURL    string            `json:"error_url"`
	ContentType *string           `json:"content_type"`
	Conversions *int              `json:"conversions"`
	FinalURL    string            `json:"final_url"`
	Redirects   []string          `json:"redirects"`
	Via         Via               `json:"via"`
	Title       *string           `json:"title"`
	Content     *string           `json:"content"`
	Includes    string            `json:"content_includes"`
	TotalChars  *int              `json:"total_chars"`
	Bytes       *int64            `json:"bytes"`
	Headers     map[string]string `json:"headers"`
	URL         string            `json:"url"`
	Mentions    string            `json:"message_mentions"`
	Output      json.RawMessage   `json:"output"`
	IsPage      bool              `json:"is_page"`
	SameHeaders bool              `json:"same_request_headers_on_each_hop"`
	Followed    *int              `json:"redirects_followed"`
}

// casesOf gives the cases of an area in the order of the file.
func casesOf(t *testing.T, area string) []fetchCase {
	t.Helper()
	var cases []fetchCase
	for _, b := range behaviours(t, area) {
		c := fetchCase{behaviour: b}
		read(t, b.Input, &c.given)
		cases = append(cases, c)
	}
	return cases
}

// expected reads what is expected; the fields of output count as its own.
func (c fetchCase) expected(t testing.TB) caseExpected {
	t.Helper()
	var e caseExpected
	if err := json.Unmarshal(c.Expected, &e); err != nil {
		t.Fatal(err)
	}
	if e.Output != nil {
		if err := json.Unmarshal(e.Output, &e); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func (o caseOptions) options() Options {
	policy := &weburl.Policy{AllowPrivateHosts: o.Private, AllowedHosts: patterns(o.AllowedHosts), BlockedHosts: patterns(o.BlockedHosts)}
	opts := Options{Policy: policy, UserAgent: o.UserAgent, MaxBodyBytes: o.MaxBytes, MaxRedirects: o.MaxRedirects}
	if o.TimeoutMS != nil {
		opts.Timeout = new(time.Duration(*o.TimeoutMS) * time.Millisecond)
	}
	return opts
}

// patterns leaves out what is no pattern, as the cases of the bare check do.
func patterns(given []any) []weburl.HostPattern {
	var out []weburl.HostPattern
	for _, g := range given {
		s, _ := g.(string)
		if p, err := weburl.ParseHostPattern(s); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// answer is the response on the wire.
func (r caseResponse) answer(t testing.TB) testsite.Answer {
	t.Helper()
	a := testsite.Answer{Status: r.Status, Body: r.Meta + string(r.Body) + string(r.BodyParts)}
	if r.BodyHex != "" {
		body, err := hex.DecodeString(r.BodyHex)
		if err != nil {
			t.Fatal(err)
		}
		a.Body = string(body)
	}
	if r.ContentType != nil {
		a.Fields = append(a.Fields, "Content-Type: "+*r.ContentType)
	}
	for name, raw := range r.Headers {
		var value pieces
		if err := json.Unmarshal(raw, &value); err != nil {
			t.Fatal(err)
		}
		a.Fields = append(a.Fields, strings.TrimSuffix(name, "_parts")+": "+string(value))
	}
	return a
}

// serve is the web of one case.
func (c fetchCase) serve(t testing.TB) *web {
	t.Helper()
	hosts := []string{"example.com", "www.example.com", "evil.example.org", "localhost", "127.0.0.1"}
	opts := c.given.Options.options()
	w := newWeb(t, opts, hosts, func(url string, _ testsite.Request) testsite.Answer {
		if r, ok := c.given.Routes[url]; ok {
			return r.answer(t)
		}
		if c.given.Response != nil {
			return c.given.Response.answer(t)
		}
		if c.given.Chain != "" {
			return chain(c.given.Chain, url)
		}
		return testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "ok"}
	})
	w.sites["localhost:8787"] = w.plain.Addr
	return w
}

// chain plays the chains that the cases tell in words.
func chain(told, url string) testsite.Answer {
	var i, last int
	fmt.Sscanf(url, "https://example.com/%d", &i)
	if strings.Contains(told, "http://10.0.0.1/") {
		to := "/1"
		if i == 1 {
			to = "http://10.0.0.1/"
		}
		return testsite.Answer{Status: 302, Fields: []string{"Location: " + to}}
	}
	fmt.Sscanf(told, "/i redirects to /i+1 for i < %d", &last)
	if i < last {
		return testsite.Answer{Status: 302, Fields: []string{fmt.Sprintf("Location: /%d", i+1)}}
	}
	return testsite.Answer{Fields: []string{"Content-Type: text/plain"}, Body: "end"}
}

// run fetches what the case says and compares.
func (c fetchCase) run(t *testing.T) {
	want := c.expected(t)
	w := c.serve(t)
	counted := &countingConverter{}
	if c.given.Converter == "fails" {
		counted.err = errors.New("unsupported")
	}
	if c.given.Converter != "" || want.Conversions != nil {
		w.opts.Converter = counted
	}
	url := string(c.given.URL)
	if url == "" && c.given.Response != nil {
		url = "https://example.com/"
	}
	page, err := w.fetch(t, Request{URL: url, Format: Format(c.given.Format)})
	want.check(t, page, err)
	if want.Made != nil && len(w.requests()) != *want.Made {
		t.Errorf("%d requests were made, want %d: %v", len(w.requests()), *want.Made, w.requests())
	}
	if want.Requests != nil && !slices.Equal(w.requests(), want.Requests) {
		t.Errorf("requests %v, want %v", w.requests(), want.Requests)
	}
	if want.Conversions != nil && counted.calls != *want.Conversions {
		t.Errorf("%d conversions, want %d", counted.calls, *want.Conversions)
	}
	if want.SameHeaders {
		sameHeaders(t, append(w.plain.Requests(), w.tls.Requests()...))
	}
}

func sameHeaders(t *testing.T, requests []testsite.Request) {
	t.Helper()
	for _, r := range requests[1:] {
		first := requests[0].Header.Clone()
		first.Set("Host", r.Header.Get("Host"))
		if fmt.Sprint(first) != fmt.Sprint(r.Header) {
			t.Errorf("headers differ between hops:\n%v\n%v", first, r.Header)
		}
	}
}

func (want caseExpected) check(t *testing.T, page *Page, err error) {
	t.Helper()
	if want.Code != "" {
		e := wantCode(t, err, want.Code)
		if want.Status != 0 && e.Status != want.Status {
			t.Errorf("status %d, want %d", e.Status, want.Status)
		}
		if want.Retryable != nil && e.Retryable != *want.Retryable {
			t.Errorf("retryable %v", e.Retryable)
		}
		if want.ErrorURL != "" && e.URL != want.ErrorURL {
			t.Errorf("error's URL %s, want %s", e.URL, want.ErrorURL)
		}
		if want.ContentType != nil && e.ContentType != *want.ContentType {
			t.Errorf("error's content type %s, want %s", e.ContentType, *want.ContentType)
		}
		if !strings.Contains(e.Message, want.Mentions) {
			t.Errorf("message %q does not mention %q", e.Message, want.Mentions)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "status", page.Status, want.Status, want.Status == 0)
	compare(t, "final URL", page.FinalURL, want.FinalURL, want.FinalURL == "")
	compare(t, "via", page.Via, want.Via, want.Via == "")
	compare(t, "requested URL", page.RequestedURL, want.URL, want.URL == "")
	if want.ContentType != nil {
		compare(t, "content type", page.ContentType, *want.ContentType, false)
	}
	if want.Title != nil {
		compare(t, "title", page.Title, *want.Title, false)
	}
	if want.Content != nil {
		compare(t, "content", page.Content, *want.Content, false)
	}
	if want.TotalChars != nil {
		compare(t, "total chars", page.TotalChars, *want.TotalChars, false)
	}
	if want.Bytes != nil {
		compare(t, "bytes", page.Bytes, *want.Bytes, false)
	}
	if want.Followed != nil {
		compare(t, "redirects followed", len(page.Redirects), *want.Followed, false)
	}
	if want.Redirects != nil && (page.Redirects == nil || !slices.Equal(page.Redirects, want.Redirects)) {
		t.Errorf("redirects %v, want %v", page.Redirects, want.Redirects)
	}
	for name, value := range want.Headers {
		compare(t, "header "+name, page.Headers[name], value, false)
	}
	if !strings.Contains(page.Content, want.Includes) {
		t.Errorf("content %q does not include %q", page.Content, want.Includes)
	}
	if _, ok := page.Headers["set-cookie"]; ok {
		t.Error("set-cookie is kept")
	}
}

func compare[T comparable](t *testing.T, what string, got, want T, free bool) {
	t.Helper()
	if !free && got != want {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}

// countingConverter stands for a converter of the host's own.
type countingConverter struct {
	calls int
	text  string
	err   error
	got   HTML
}

func (c *countingConverter) ConvertHTML(_ context.Context, page HTML) (string, error) {
	c.calls++
	c.got = page
	if c.text == "" {
		return "converted", c.err
	}
	return c.text, c.err
}
