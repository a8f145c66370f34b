package linklist

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestSentOn(t *testing.T) {
	for head, want := range map[string]string{
		`<meta http-equiv="refresh" content="0; url=../latest/">`:                         "https://docs.example/latest/",
		`<meta http-equiv=Refresh content="0;URL='https://new.example/a?b=1&amp;c=2'">`:   "https://new.example/a?b=1&c=2",
		`<meta http-equiv=refresh content="1.5, next.html">`:                              "https://docs.example/v1/next.html",
		`<base href="https://cdn.example/x/"><meta http-equiv=refresh content="0;url=y">`: "https://cdn.example/x/y",
		`<meta http-equiv=refresh content="0; url = &quot;/a b&quot; rest">`:              "https://docs.example/a b",
		`<meta http-equiv=refresh content="30">`:                                          "",
		`<meta http-equiv=refresh content="url=/a">`:                                      "",
		`<meta http-equiv=refresh content="0; url=javascript:x()">`:                       "",
		`<meta http-equiv=refresh content="0; url=data:text/html,x">`:                     "",
		`<meta http-equiv=refresh content="0; url=#part">`:                                "",
		`<meta http-equiv=refresh content="0; url=https://docs.example/v1/page.html">`:    "",
		`<meta name=refresh content="0; url=/a">`:                                         "",
		`</head><body><meta http-equiv=refresh content="0; url=/a">`:                      "",
		`<meta http-equiv=refresh content="0; urls/a">`:                                   "https://docs.example/v1/urls/a",
		`<meta http-equiv=refresh>`:                                                       "",

		`<script>window.location.replace("https://new.example/page?x=1");</script>`:                           "https://new.example/page?x=1",
		`<script type="text/javascript"><!--` + "\nlocation.href = '../latest/';\n//--></script>":             "https://docs.example/latest/",
		`<body onload="top.location='next.html'">`:                                                            "https://docs.example/v1/next.html",
		`<body><script>document.location.assign( '/a' )</script>`:                                             "https://docs.example/a",
		`<base href="https://cdn.example/x/"><script>location='y'</script>`:                                   "https://cdn.example/x/y",
		`<script>location.href='/script'</script><meta http-equiv=refresh content="0; url=/meta">`:            "https://docs.example/meta",
		`<script>if (old) location.href = '/old';</script>`:                                                   "",
		`<script>location.href = '/a' + id;</script>`:                                                         "",
		`<script>track(); location.href = '/a';</script>`:                                                     "",
		`<script>location.href = 'javascript:x()';</script>`:                                                  "",
		`<script>mylocation = '/a'</script>`:                                                                  "",
		`<script>location.hash = '/a'</script>`:                                                               "",
		`<script>location = ''</script>`:                                                                      "",
		`<script>location = "/a'</script>`:                                                                    "",
		`<script>location = "/` + strings.Repeat("a", 5000) + `"</script>`:                                    "",
		`<script src=x.js></script><meta http-equiv=refresh content=5><script>self.location="/late"</script>`: "",
	} {
		root, err := html.Parse(strings.NewReader("<!doctype html><head>" + head))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := SentOn(root, "https://docs.example/v1/page.html", ""); got != want {
			t.Errorf("%s: %q, want %q", head, got, want)
		}
	}
}

// TestTheHeaderFieldSendsOnBeforeThePage: browsers do as it says, where it says where to.
func TestTheHeaderFieldSendsOnBeforeThePage(t *testing.T) {
	root, err := html.Parse(strings.NewReader(`<base href="https://cdn.example/"><meta http-equiv=refresh content="0; url=meta">`))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"0; url=next":            "https://docs.example/v1/next",
		"5;URL='/a'":             "https://docs.example/a",
		"30":                     "https://cdn.example/meta",
		"0; url=javascript:x":    "https://cdn.example/meta",
		"0; url=page.html":       "https://cdn.example/meta",
		"0; url=\x00\r\n<b>\xff": "https://docs.example/v1/<b>\xff",
	} {
		if got, all := SentOn(root, "https://docs.example/v1/page.html", field); got != want || !all {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
}

func TestSentOnWithoutScriptsAlone(t *testing.T) {
	for head, all := range map[string]bool{
		`<noscript><meta http-equiv=refresh content="0; url=/plain"></noscript>`: false,
		`<meta http-equiv=refresh content="0; url=/plain">`:                      true,
	} {
		root, err := html.ParseWithOptions(strings.NewReader(head), html.ParseOptionEnableScripting(false))
		if err != nil {
			t.Fatal(err)
		}
		if to, got := SentOn(root, "https://docs.example/", ""); to != "https://docs.example/plain" || got != all {
			t.Errorf("%s: %q, %v", head, to, got)
		}
	}
}
