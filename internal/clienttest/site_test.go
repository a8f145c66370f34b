package clienttest

// The site that the tool reads: a loopback server whose pages are known to the byte.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

type site struct {
	*httptest.Server
	arrived chan struct{} // a request for /slow is there
	left    chan struct{} // its connection was closed by the reader
}

// longPage has lines that differ, so that a window proves where it is from.
func longPage() string {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %04d of the long page\n", i)
	}
	return b.String()
}

// widePage is one long line of characters of three bytes each.
func widePage() string { return strings.Repeat("界", 40_000) }

func newSite(t *testing.T) *site {
	s := &site{arrived: make(chan struct{}, 1), left: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprint(w, body)
		}
	}
	mux.HandleFunc("GET /long", text(longPage()))
	mux.HandleFunc("GET /wide", text(widePage()))
	mux.HandleFunc("GET /slow", func(_ http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}
		<-r.Context().Done()
		s.left <- struct{}{}
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// host is the address as --allow-host takes it.
func (s *site) host() string { return strings.TrimPrefix(s.URL, "http://") }
