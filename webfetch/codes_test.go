package webfetch

// The eleven failures with all their fields, each brought about over a socket.

import (
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/testsite"
	"github.com/wayleave/wayleave/weburl"
)

// TestW157EachCodeHasItsFields is the contract's table (W-159 to W-169, W-172): what each failure says of itself, and
// that it says nothing else. URL is the address as asked for where the policy or the deadline ended the call, and that
// of the hop where a site did.
func TestW157EachCodeHasItsFields(t *testing.T) {
	const asked, hop = "http://site.test/start#part", "http://site.test/hop"
	const limit = 1000
	to := func(status int, location string) testsite.Answer {
		return testsite.Answer{Status: status, Fields: []string{"Location: " + location}}
	}
	for _, c := range []struct {
		name   string
		url    string          // "" is asked, which redirects to hop
		answer testsite.Answer // of hop
		script func(*testsite.Conn)
		want   Error
	}{
		{name: "no URL", url: "no url", want: Error{Code: CodeInvalidInput, Status: 400, Field: "url", URL: "no url"}},
		{name: "a private host", url: "http://10.0.0.1/#x", want: Error{Code: CodeDisallowedURL, Status: 403, URL: "http://10.0.0.1/#x", Host: "10.0.0.1", PrivateHost: true}},
		{name: "a metadata host", url: "http://169.254.169.254/", want: Error{Code: CodeDisallowedURL, Status: 403, URL: "http://169.254.169.254/", Host: "169.254.169.254"}},
		{name: "a redirect to one", answer: to(307, "http://10.0.0.1/"), want: Error{Code: CodeDisallowedRedirect, Status: 307, URL: hop, Host: "site.test", Target: "10.0.0.1", PrivateHost: true}},
		{name: "a loop", answer: to(308, "/hop#again"), want: Error{Code: CodeTooManyRedirects, Status: 308, URL: hop, Host: "site.test", Target: "site.test"}},
		{name: "silence", script: testsite.Hold, want: Error{Code: CodeTimeout, Status: 504, Retryable: true, URL: asked, Timeout: 300 * time.Millisecond}},
		{name: "too much", answer: testsite.Answer{Status: 404, Fields: []string{"Content-Type: Text/HTML; charset=utf-8"}, Body: strings.Repeat("x", limit+1)},
			want: Error{Code: CodeTooLarge, Status: 404, URL: hop, ContentType: "text/html", LimitBytes: limit}},
		{name: "a picture", answer: ofType("image/png", "x"), want: Error{Code: CodeUnsupportedContentType, Status: 200, URL: hop, ContentType: "image/png"}},
		{name: "an empty 404", answer: testsite.Answer{Status: 404, Fields: []string{"Content-Type: text/html"}}, want: Error{Code: CodeHTTPError, Status: 404, URL: hop, ContentType: "text/html"}},
		{name: "an empty 503", answer: testsite.Answer{Status: 503, Fields: []string{"Content-Type: text/html"}}, want: Error{Code: CodeHTTPError, Status: 503, Retryable: true, URL: hop, ContentType: "text/html"}},
		{name: "a challenge", answer: testsite.Answer{Status: 403, Fields: []string{"Content-Type: text/html", "Cf-Mitigated: challenge"}, Body: "x"},
			want: Error{Code: CodeBlocked, Status: 403, URL: hop, ContentType: "text/html"}},
		{name: "no conversion", answer: ofType("text/html", "<p>x"), want: Error{Code: CodeConversionFailed, Status: 200, Retryable: true, URL: hop, ContentType: "text/html"}},
		{name: "no answer", script: (*testsite.Conn).Reset, want: Error{Code: CodeUnavailable, Status: 502, Retryable: true, URL: hop}},
		{name: "half a body", script: func(c *testsite.Conn) {
			c.Send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nhalf")
		}, want: Error{Code: CodeUnavailable, Status: 502, Retryable: true, URL: hop}},
	} {
		t.Run(c.name, func(t *testing.T) {
			site := testsite.Serve(t, testsite.OnRequest(func(conn *testsite.Conn, r testsite.Request) {
				switch {
				case r.Target == "/start":
					to(302, "/hop").Send(conn)
				case c.script != nil:
					c.script(conn)
				default:
					c.answer.Send(conn)
				}
			}))
			if c.url == "" {
				c.url = asked
			}
			opts := Options{Timeout: new(300 * time.Millisecond), MaxBodyBytes: new(int64(limit)), Converter: convertFunc(converterThatFails)}
			page, err := siteWorld(site).fetcher(t, opts).Fetch(t.Context(), Request{URL: c.url})
			e := wantCode(t, err, c.want.Code)
			if page != nil || e.Message == "" {
				t.Errorf("page %v, message %q", page, e.Message)
			}
			got := *e
			got.Message, got.Reason, got.Cause = "", "", nil
			if got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestW154DeadlineHoldsForAConverterThatDoesNotObey: the call ends although the conversion goes on.
func TestW154DeadlineHoldsForAConverterThatDoesNotObey(t *testing.T) {
	testsite.LeavesNothing(t)
	asked, release := make(chan bool, 1), make(chan bool)
	defer close(release)
	ends(t, func() {
		_, err := Convert(t.Context(), []byte("<p>x"), []string{"text/html"}, "http://site.test/", Options{Timeout: new(50 * time.Millisecond), Converter: stubborn{asked, release}})
		if e := wantCode(t, err, CodeTimeout); e.Timeout != 50*time.Millisecond || e.URL != "http://site.test/" {
			t.Errorf("error %+v", e)
		}
	})
	<-asked
}

// TestF175HostListHoldsOnEveryHop: what is not on the list is neither asked nor connected to, first or redirected to.
func TestF175HostListHoldsOnEveryHop(t *testing.T) {
	allowed, err := weburl.ParseHostPattern("*.listed.test")
	if err != nil {
		t.Fatal(err)
	}
	w := newWeb(t, Options{Policy: &weburl.Policy{AllowedHosts: []weburl.HostPattern{allowed}}}, []string{"a.listed.test", "b.listed.test", "other.test"},
		func(url string, r testsite.Request) testsite.Answer {
			switch url {
			case "http://a.listed.test/":
				return testsite.Answer{Status: 302, Fields: []string{"Location: http://b.listed.test/"}}
			case "http://b.listed.test/":
				return testsite.Answer{Status: 302, Fields: []string{"Location: http://other.test/"}}
			}
			return ofType("text/plain", "reached "+url)
		})
	_, err = w.fetch(t, Request{URL: "http://other.test/"})
	wantCode(t, err, CodeDisallowedURL)
	_, err = w.fetch(t, Request{URL: "http://a.listed.test/"})
	if e := wantCode(t, err, CodeDisallowedRedirect); e.URL != "http://b.listed.test/" || e.Target != "other.test" {
		t.Errorf("error %+v", e)
	}
	for _, address := range w.dials() {
		if strings.HasPrefix(address, "other.test") {
			t.Errorf("dialled %s", address)
		}
	}
	if page, err := w.fetch(t, Request{URL: "http://b.listed.test/page"}); err != nil || page.Content != "reached http://b.listed.test/page" {
		t.Errorf("page %+v, error %v", page, err)
	}
}
