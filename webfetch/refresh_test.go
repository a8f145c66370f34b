package webfetch

import (
	"context"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/testsite"
)

// TestPageThatOnlySendsBrowsersOn: its address is what there is to say of it, beside a notice; a page with text stays as it is.
func TestPageThatOnlySendsBrowsersOn(t *testing.T) {
	const (
		meta = `<meta http-equiv="refresh" content="0; url=../latest/a b">`
		list = "- [https://docs.example/latest/a b](https://docs.example/latest/a%20b)"
	)
	long := strings.TrimSpace(strings.Repeat("It has more to say. ", 20))
	for page, want := range map[string]string{
		"<!doctype html><title>Redirecting</title>" + meta:                                                       list,
		"<!doctype html><title>Old</title>" + meta + "<p>It has moved.":                                          "It has moved.\n\n" + list,
		"<!doctype html><title>Old</title>" + meta + "<p>It has moved, and is <a href='../latest/a b'>here</a>.": "It has moved, and is [here](https://docs.example/latest/a%20b).",
		"<!doctype html><title>Old</title>" + meta + "<p>" + long:                                                long,
		"<!doctype html><title>Script</title><script>location.replace('/new')</script>":                          "- <https://docs.example/new>",
		"<!doctype html><title>Nothing</title>":                                                                  "",
	} {
		for _, part := range []Part{PartFull, PartMain} {
			got, err := Convert(context.Background(), []byte(page), []string{"text/html"}, "https://docs.example/v1/page.html", Options{Content: part})
			if err != nil || got.Content != want || got.Title == "" || len(got.Thin) > 0 {
				t.Errorf("%s, %s: %q, title %q, %v; want %q", page, part, got.Content, got.Title, err, want)
			}
		}
	}
	got, err := Convert(context.Background(), []byte(meta+"<a href='../latest/a b'>here</a>"), []string{"text/html"}, "https://docs.example/v1/page.html", Options{Links: LinksNone})
	if want := "here\n\n" + list; err != nil || got.Content != want {
		t.Errorf("without addresses: %q, %v; want %q", got.Content, err, want)
	}
}

// TestAShellThatSendsOnWhoRunsNoScriptsIsAShell, and tells where to.
func TestAShellThatSendsOnWhoRunsNoScriptsIsAShell(t *testing.T) {
	const page = `<!doctype html><title>App</title><noscript><meta http-equiv=refresh content="0; url=/plain"></noscript><div id=root></div><script src=/app.js></script>`
	got, err := Convert(context.Background(), []byte(page), []string{"text/html"}, "https://docs.example/", Options{})
	if err != nil || got.Content != "- <https://docs.example/plain>" || len(got.Thin) != 1 || got.Thin[0].Kind != "js_shell" {
		t.Errorf("page %+v, error %v", got, err)
	}
}

// TestTheHeaderFieldSendsOn: an empty page with the field Refresh tells where to; two of them say nothing.
func TestTheHeaderFieldSendsOn(t *testing.T) {
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{[]string{"Refresh: 0; url=/next"}, "- <http://site.test/next>"},
		{[]string{"Refresh: 0; url=/next", "Refresh: 0; url=/other"}, ""},
		{[]string{"Refresh: 20"}, ""},
	} {
		page, err := answered(t, Options{}, Request{}, testsite.Answer{Fields: append(c.fields, "Content-Type: text/html"), Body: "<title>Wait</title>"})
		if err != nil || page.Content != c.want {
			t.Errorf("%v: page %+v, error %v", c.fields, page, err)
		}
	}
}

// TestAddressesOfANoticeStay: running text without addresses is no use where "here" is all that a page has to say.
func TestAddressesOfANoticeStay(t *testing.T) {
	more := strings.Repeat(" The harbour has been open since morning, and ships come in.", 8)
	for text, linked := range map[string]bool{
		"<h1>Object moved</h1><p>This document may be found <a href=/new>here</a>, as it was before.":        true,
		"<h1>Object moved</h1><p>This document may be found <a href=/new>here</a>, as it was before." + more: false,
	} {
		got, err := Convert(context.Background(), []byte("<!doctype html><title>Moved</title>"+text), []string{"text/html"}, "https://docs.example/", Options{Content: PartMain})
		if err != nil || strings.Contains(got.Content, "[here](https://docs.example/new)") != linked {
			t.Errorf("%q, %v", got.Content, err)
		}
	}
}
