package webfetch

import (
	"errors"
	"testing"
)

func TestCheckRefusesWhatFetchWouldWithoutSending(t *testing.T) {
	f, err := Direct(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		req  Request
		want Code // "" for none
	}{
		{Request{URL: " https://site.example/ "}, ""},
		{Request{URL: "https://site.example/", Format: FormatRaw}, ""},
		{Request{URL: "https://site.example/", Format: "html"}, CodeInvalidInput},
		{Request{URL: "no address"}, CodeInvalidInput},
		{Request{URL: "ftp://site.example/"}, CodeDisallowedURL},
		{Request{URL: "http://127.0.0.1/"}, CodeDisallowedURL},
	} {
		err := f.Check(c.req)
		var e *Error
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &e) || e.Code != c.want) {
			t.Errorf("%+v: %v, want %q", c.req, err, c.want)
		}
		if c.want == "" {
			continue
		}
		_, fetched := f.Fetch(t.Context(), c.req)
		var same *Error
		if !errors.As(fetched, &same) || same.Code != e.Code || same.Message != e.Message {
			t.Errorf("%+v: Check says %v, Fetch %v", c.req, err, fetched)
		}
	}
}
