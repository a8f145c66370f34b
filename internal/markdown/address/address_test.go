package address

import "testing"

func TestAddressesAreResolvedAsBrowsersDo(t *testing.T) {
	b := New("https://docs.example/guide/page.html?q=1#top")
	for ref, want := range map[string]string{
		"":                          "https://docs.example/guide/page.html?q=1",
		"next.html":                 "https://docs.example/guide/next.html",
		"./next":                    "https://docs.example/guide/next",
		"../up.html":                "https://docs.example/up.html",
		"../../../x":                "https://docs.example/x",
		"..":                        "https://docs.example/",
		".":                         "https://docs.example/guide/",
		"a/./b/../c":                "https://docs.example/guide/a/c",
		"a/b/..":                    "https://docs.example/guide/a/",
		"/root":                     "https://docs.example/root",
		"/a/../b?x=/../y#/../z":     "https://docs.example/b?x=/../y#/../z",
		"//cdn.example/x":           "https://cdn.example/x",
		"//cdn.example":             "https://cdn.example",
		`\\cdn.example\a\b`:         "https://cdn.example/a/b",
		`\a\..\b`:                   "https://docs.example/b",
		"?q=2":                      "https://docs.example/guide/page.html?q=2",
		"#part":                     "https://docs.example/guide/page.html?q=1#part",
		"https://a.example/x/../y":  "https://a.example/y",
		"https://a.example?x":       "https://a.example?x",
		"HTTPS://a.example/x":       "https://a.example/x",
		"http:///a.example/x":       "http://a.example/x",
		"https:page":                "https://docs.example/guide/page",
		"http:a.example":            "http://a.example",
		" \tne\nxt.html\r ":         "https://docs.example/guide/next.html",
		"mailto:a@b.example":        "mailto:a@b.example",
		" java\nscript:alert(1)":    "javascript:alert(1)",
		"a:b":                       "a:b",
		"a b.pdf":                   "https://docs.example/guide/a b.pdf",
		"1:2":                       "https://docs.example/guide/1:2",
		"...":                       "https://docs.example/guide/...",
		"/.well-known/x":            "https://docs.example/.well-known/x",
		"https://u:p@a.example/..":  "https://u:p@a.example/",
		"https://a.example/b/./#./": "https://a.example/b/#./",
	} {
		if got := b.Resolve(ref); got != want {
			t.Errorf("Resolve(%q) = %q, want %q", ref, got, want)
		}
	}
}

func TestWithoutABaseRelativeAddressesStay(t *testing.T) {
	for _, base := range []string{"", "file:///x", "about:blank", "page.html"} {
		for _, ref := range []string{"x.html", "/x", "?x", "#x"} {
			if got := New(base).Resolve(ref); got != ref {
				t.Errorf("New(%q).Resolve(%q) = %q", base, ref, got)
			}
		}
	}
}

func TestABaseElementMovesAddressesButNotThePage(t *testing.T) {
	page := New("https://docs.example/guide/page.html")
	b := page.Rebased("/v2/")
	if got := b.Resolve("a"); got != "https://docs.example/v2/a" {
		t.Errorf("a is %q", got)
	}
	if b.SamePage(b.Resolve("#x")) {
		t.Error("a fragment of the base is taken for a place on the page")
	}
	if !b.SamePage("https://docs.example/guide/page.html#x") || !page.SamePage("#x") || page.SamePage("https://docs.example/guide/page.html") {
		t.Error("places on the page are not known")
	}
	if got := page.Rebased("javascript:x").Resolve("a"); got != "https://docs.example/guide/a" {
		t.Errorf("a base that runs is followed to %q", got)
	}
}

func TestInertAddressesLeadNowhere(t *testing.T) {
	for address, want := range map[string]bool{
		"javascript:x": true, "JAVASCRIPT:x": true, "vbscript:x": true, "data:text/html,x": true, "about:blank": true, "blob:x": true, "": true,
		"file:///x": true, "tel:+4420": true, "https://a.example/javascript:x": false, "mailto:a@b.example": false, "ftp://a.example/": false,
	} {
		if got := Inert(address); got != want {
			t.Errorf("Inert(%q) = %v", address, got)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"../x", "//a/b", `\\a`, "?#", "http:x", "a:b:c", "/./../.", "x/.."} {
		f.Add("https://docs.example/a/b?c", s)
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		b := New(base)
		once := b.Resolve(ref)
		if twice := b.Resolve(once); b.scheme != "" && twice != once {
			t.Errorf("%q is %q, and that is %q", ref, once, twice)
		}
	})
}
