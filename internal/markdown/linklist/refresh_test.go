package linklist

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestRefresh(t *testing.T) {
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
	} {
		root, err := html.Parse(strings.NewReader("<!doctype html><head>" + head))
		if err != nil {
			t.Fatal(err)
		}
		if got := Refresh(root, "https://docs.example/v1/page.html"); got != want {
			t.Errorf("%s: %q, want %q", head, got, want)
		}
	}
}
