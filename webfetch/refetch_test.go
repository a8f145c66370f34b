package webfetch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/testsite"
)

// TestRefetchAsksWhetherAKeptPageHolds is what the first answer gave, against what is asked with the second time.
func TestRefetchAsksWhetherAKeptPageHolds(t *testing.T) {
	old, now := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), time.Now().UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		name      string
		first     []string // fields of the answer
		status    int      // of it; 0 is 200
		noneMatch string   // what is asked with; both empty: nothing is
		since     string
	}{
		{"a tag", []string{`ETag: "v1"`}, 0, `"v1"`, ""},
		{"a weak tag", []string{`ETag: W/"v1"`}, 0, `W/"v1"`, ""},
		{"an empty tag", []string{`ETag: ""`}, 0, `""`, ""},
		{"a date", []string{"Last-Modified: " + old}, 0, "", old},
		{"both", []string{`ETag: "v1"`, "Last-Modified: " + now}, 0, `"v1"`, now},
		{"a date that is too young to tell", []string{"Last-Modified: " + now}, 0, "", ""},
		{"a date that is none", []string{"Last-Modified: yesterday"}, 0, "", ""},
		{"neither", nil, 0, "", ""},
		{"a tag without quotes", []string{"ETag: v1"}, 0, "", ""},
		{"two tags", []string{`ETag: "v1"`, `ETag: "v2"`}, 0, "", ""},
		{"a tag that was cut", []string{`ETag: "` + strings.Repeat("v", 2000) + `"`}, 0, "", ""},
		{"a tag outside of ASCII", []string{"ETag: \"\xfc\""}, 0, "", ""},
		{"not to be stored", []string{`ETag: "v1"`, "Cache-Control: private, NO-STORE"}, 0, "", ""},
		{"another for each request", []string{`ETag: "v1"`, "Vary: *"}, 0, "", ""},
		{"to be asked about each time", []string{`ETag: "v1"`, "Cache-Control: no-cache", "Vary: Accept"}, 0, `"v1"`, ""},
		{"an error page", []string{`ETag: "v1"`}, 404, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			site := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
				if r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
					return testsite.Answer{Status: 304, Fields: append(c.first, "Age: 7")}
				}
				return testsite.Answer{Status: c.status, Fields: append([]string{"Content-Type: text/html"}, c.first...), Body: "<h1>Mill</h1><p>It turns.</p>"}
			}))
			f := siteWorld(site).fetcher(t, Options{})
			kept, err := f.Refetch(t.Context(), Request{URL: "http://site.test/"}, nil)
			if err != nil || kept.Same {
				t.Fatalf("page %+v, error %v", kept, err)
			}
			before := kept.RetrievedAt
			again, err := f.Refetch(t.Context(), Request{URL: "http://site.test/#here"}, kept)
			if err != nil {
				t.Fatal(err)
			}
			asked := site.Requests()[1].Header
			if asked.Get("If-None-Match") != c.noneMatch || asked.Get("If-Modified-Since") != c.since {
				t.Errorf("asked with %q, %q; want %q, %q", asked.Get("If-None-Match"), asked.Get("If-Modified-Since"), c.noneMatch, c.since)
			}
			holds := c.noneMatch+c.since != ""
			if again.Same != holds || again.Content != kept.Content || again.Status != kept.Status || again.Bytes != kept.Bytes ||
				again.RequestedURL != "http://site.test/#here" || !again.RetrievedAt.After(before) || kept.Same || kept.RetrievedAt != before {
				t.Errorf("page %+v", again)
			}
			if holds && (again.Age != 7*time.Second || again.ContentType != "text/html") {
				t.Errorf("age %v, type %s", again.Age, again.ContentType)
			}
			// The library never asks so of itself.
			if _, err := f.Fetch(t.Context(), Request{URL: "http://site.test/"}); err != nil {
				t.Fatal(err)
			}
			if last := site.Requests()[2].Header; last.Get("If-None-Match")+last.Get("If-Modified-Since") != "" {
				t.Errorf("Fetch asked with %v", last)
			}
		})
	}
}

// TestWhatIdentifiesAKeptPageGoesWhereItCameFrom, at the end of its redirects, and nowhere else.
func TestWhatIdentifiesAKeptPageGoesWhereItCameFrom(t *testing.T) {
	target := "https://other.test/page"
	w := newWeb(t, Options{}, []string{"site.test", "other.test", "third.test"}, func(url string, r testsite.Request) testsite.Answer {
		switch {
		case url == "https://site.test/":
			return testsite.Answer{Status: 302, Fields: []string{"Location: " + target, `ETag: "hop"`}}
		case r.Header.Get("If-None-Match") != "":
			return testsite.Answer{Status: 304}
		}
		return ofType("text/plain", "of "+url, `ETag: "v1"`)
	})
	f := w.fetcher(t, w.opts)
	kept, err := f.Fetch(t.Context(), Request{URL: "https://site.test/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target string
		same   bool
		text   string
	}{{"https://other.test/page", true, "of https://other.test/page"}, {"https://other.test/page?x", false, "of https://other.test/page?x"}, {"https://third.test/page", false, "of https://third.test/page"}} {
		target = c.target
		page, err := f.Refetch(t.Context(), Request{URL: "https://site.test/"}, kept)
		if err != nil {
			t.Fatal(err)
		}
		if page.Same != c.same || page.Content != c.text || page.FinalURL != c.target || fmt.Sprint(page.Redirects) != "[https://site.test/]" {
			t.Errorf("%s: page %+v", c.target, page)
		}
	}
	for _, r := range append(w.plain.Requests(), w.tls.Requests()...) {
		if tag := r.Header.Get("If-None-Match"); tag != "" && (tag != `"v1"` || r.Header.Get("Host") != "other.test" || r.Target != "/page") {
			t.Errorf("%s%s was asked with %s", r.Header.Get("Host"), r.Target, tag)
		}
	}
}

// TestAnAnswerOfAnotherPageIsNotBelieved: a 304 that names another tag is asked again without; one to nobody's question is a
// page of that status.
func TestAnAnswerOfAnotherPageIsNotBelieved(t *testing.T) {
	site := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
		if r.Header.Get("If-None-Match") != "" {
			return testsite.Answer{Status: 304, Fields: []string{`ETag: "v2"`}}
		}
		return ofType("text/plain", "new", `ETag: "v2"`)
	}))
	f := siteWorld(site).fetcher(t, Options{})
	kept := &Page{FinalURL: "http://site.test/", Status: 200, Content: "old", Headers: map[string]string{"etag": `"v1"`}}
	page, err := f.Refetch(t.Context(), Request{URL: "http://site.test/"}, kept)
	if err != nil || page.Content != "new" || page.Same || len(site.Requests()) != 2 {
		t.Errorf("page %+v, error %v, %d requests", page, err, len(site.Requests()))
	}
	// Nor is one that is about the condition alone.
	fussy := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
		if r.Header.Get("If-None-Match") != "" {
			return testsite.Answer{Status: 412}
		}
		return ofType("text/plain", "new")
	}))
	page, err = siteWorld(fussy).fetcher(t, Options{}).Refetch(t.Context(), Request{URL: "http://site.test/"}, kept)
	if err != nil || page.Content != "new" || len(fussy.Requests()) != 2 {
		t.Errorf("page %+v, error %v", page, err)
	}
	unasked := testsite.Serve(t, testsite.Always(testsite.Answer{Status: 304}))
	page, err = siteWorld(unasked).fetcher(t, Options{}).Refetch(t.Context(), Request{URL: "http://site.test/"}, nil)
	if err != nil || page.Status != 304 || page.Same || page.Content != "" {
		t.Errorf("page %+v, error %v", page, err)
	}
}
