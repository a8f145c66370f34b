package webfetch

// What others build on: the names that the README calls stable, and the shape of the library's own values.

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/testsite"
)

// TestW006ReadmeListsWhatIsStable holds the README against the code: whoever adds an argument, a field or a code says so.
func TestW006ReadmeListsWhatIsStable(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What is stable\n")
	section, _, _ = strings.Cut(section, "\n## ")
	want := []string{ToolName}
	for _, a := range arguments(Abilities{MainContent: true}) {
		want = append(want, a.name)
	}
	for _, code := range allCodes() {
		want = append(want, string(code))
	}
	for _, keys := range []reflect.Type{reflect.TypeFor[Window](), reflect.TypeFor[windowKeys](), reflect.TypeFor[errorKeys]()} {
		for _, f := range reflect.VisibleFields(keys) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, name)
		}
	}
	for _, name := range want {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the README's \"What is stable\" does not name %s", name)
		}
	}
}

// TestW186PageIsWholeAndHasNoPlace: 81,200 characters are the seed's own example.
func TestW186PageIsWholeAndHasNoPlace(t *testing.T) {
	text := strings.Repeat("é", 81_200)
	site := testsite.Serve(t, testsite.Always(ofType("text/plain; charset=utf-8", text)))
	w := siteWorld(site)
	page, err := w.fetcher(t, Options{PageChars: ptr(100)}).Fetch(t.Context(), Request{URL: "http://site.test/"})
	if err != nil || page.Content != text || page.TotalChars != utf8.RuneCountInString(text) || page.Truncated {
		t.Fatalf("%d characters, truncated %v, error %v", page.TotalChars, page.Truncated, err)
	}
	raw, err := json.Marshal(page)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"offset", "next_offset"} {
		if _, there := keys[name]; there {
			t.Errorf("a whole page has %s", name)
		}
	}
	// F-152: a window says all of this of itself, present or left out.
	raw, err = json.Marshal(NewWindow(page, 0, 10))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"offset":0`, `"next_offset":10`, `"truncated":true`, `"requested_url":"http://site.test/"`, `"retrieved_at":"` + page.RetrievedAt.Format("2006-01-02T15:04:05")} {
		if !strings.Contains(string(raw), part) {
			t.Errorf("no %s in %.400s", part, raw)
		}
	}
	if strings.Contains(string(raw), `"title"`) {
		t.Errorf("a title that there is not: %.400s", raw)
	}
	if n := len(site.Requests()); n != 1 { // W-190: cutting and rendering ask nobody
		t.Errorf("%d requests", n)
	}
}

// W-191: the built-in fetcher is a Source like any other.
var _ Source = (*Fetcher)(nil)

// TestW025UserAgentIsOursAndOneMayReadAboutIt: also on the far side of redirects, as a site's owner sees it.
func TestW025UserAgentIsOursAndOneMayReadAboutIt(t *testing.T) {
	if !strings.HasPrefix(DefaultUserAgent, "Wayleave") || !strings.Contains(DefaultUserAgent, "https://") {
		t.Errorf("User-Agent %q", DefaultUserAgent)
	}
	for _, own := range []*string{nil, ptr("MyBot/1.0 (+https://bot.example/)")} {
		site := testsite.Serve(t, testsite.Routes(func(r testsite.Request) testsite.Answer {
			if r.Target == "/3" {
				return ofType("text/plain", "x")
			}
			return to("/" + string(r.Target[1]+1))
		}))
		if _, err := siteWorld(site).fetcher(t, Options{UserAgent: own}).Fetch(t.Context(), Request{URL: "http://site.test/1"}); err != nil {
			t.Fatal(err)
		}
		want := valueOr(own, DefaultUserAgent)
		var seen []string
		for _, r := range site.Requests() {
			seen = append(seen, r.Header.Get("User-Agent"))
		}
		if !slices.Equal(seen, []string{want, want, want}) {
			t.Errorf("sites see %q, want %q three times", seen, want)
		}
	}
}
