package wayleave

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"
)

// TestTM048ABodyThatNobodyReadsIsNotWaitedFor: health, readiness, pages and what they are made of are answered at once, though
// their request announces a body that never comes.
func TestTM048ABodyThatNobodyReadsIsNotWaitedFor(t *testing.T) {
	in := launch(t, Options{})
	server := httptest.NewServer(in.Handler()) // without a deadline that would end the wait
	defer server.Close()
	host := server.Listener.Addr().String()
	get := func(path, framed string) string {
		t.Helper()
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", path, host, framed)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s, %s: no answer: %v", path, framed, err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if want := map[bool]int{true: http.StatusForbidden, false: http.StatusOK}[path == "/sign-in"]; err != nil || res.StatusCode != want { // pages are of one name
			t.Errorf("%s, %s: %d, %v", path, framed, res.StatusCode, err)
		}
		return string(text)
	}
	for _, framed := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
		get("/healthz", framed)
		get("/readyz", framed)
		asset := regexp.MustCompile(`/assets/[\w.-]+`).FindString(get("/sign-in", framed))
		if asset == "" {
			t.Fatal("the page has no assets")
		}
		get(asset, framed)
	}
}
