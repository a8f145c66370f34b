package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
)

// link is what `wayleave sign-in --json` prints.
type link struct {
	URL, Person string
	Expires     int `json:"expires_in_seconds"`
	Served      bool
}

func signIn(t *testing.T, args ...string) (l link, said string) {
	t.Helper()
	stdout, stderr, code := commandLine(t, "", nil, append([]string{"sign-in", "--json"}, args...)...)
	if code != cli.ExitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &l); err != nil {
		t.Fatal(err)
	}
	return l, stderr
}

// at sends a request to a server under the name that a link has, which no resolver need know.
func at(t *testing.T, server datafolder.Server, method string, to *url.URL, body string) int {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+server.Listen+to.Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = to.Host
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// TestTM074SignInLinkOpensOnceByPost: looking at it redeems nothing, the newest counts, and nothing of it is in a log.
func TestTM074SignInLinkOpensOnceByPost(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	server := begin(t, program(t), nil, "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "debug")
	place := owned(t, folder)
	older, _ := signIn(t, "--data", data)
	newest, said := signIn(t, "--data", data)
	u, err := url.Parse(newest.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(place.Listen, ":")
	if !strings.HasSuffix(u.Host, ".wayleave.localhost:"+port) || u.Scheme != "http" || u.Path != "/sign-in" || u.RawQuery != "" || len(u.Fragment) < 40 ||
		newest.Person != "owner" || newest.Expires != 600 || !newest.Served || said != "" {
		t.Fatalf("%+v, said %q", newest, said)
	}
	redeem := *u
	redeem.Path = "/api/sign-in/link"
	secretOf := func(l link) string {
		_, secret, _ := strings.Cut(l.URL, "#")
		return `{"secret":"` + secret + `"}`
	}
	for range 3 {
		if got := at(t, place, http.MethodGet, u, ""); got != http.StatusOK {
			t.Errorf("the page of the link: %d", got)
		}
		if got := at(t, place, http.MethodGet, &redeem, ""); got != http.StatusMethodNotAllowed {
			t.Errorf("GET where a link is redeemed: %d", got)
		}
	}
	for _, c := range []struct {
		name string
		link link
		want int
	}{{"the older link", older, http.StatusGone}, {"the newest", newest, http.StatusOK}, {"the newest again", newest, http.StatusGone}} {
		if got := at(t, place, http.MethodPost, &redeem, secretOf(c.link)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-server.waiting
	server.waiting <- nil
	for _, l := range []link{older, newest} {
		if strings.Contains(server.said.String(), strings.Split(l.URL, "#")[1][8:]) {
			t.Errorf("a link is in the log")
		}
	}

	// Where nobody serves, it says so; the link stands for whoever serves next.
	if l, said := signIn(t, "--data", data, "--listen", "127.0.0.1:7999"); l.Served || !strings.Contains(l.URL, ".wayleave.localhost:7999/") || !strings.Contains(said, "no `wayleave serve` runs") {
		t.Errorf("%+v, said %q", l, said)
	}
	if l, _ := signIn(t, "--data", data, "--public-url", "https://wayleave.example"); !strings.HasPrefix(l.URL, "https://wayleave.example/sign-in#") {
		t.Errorf("%+v", l)
	}
	if _, stderr, code := commandLine(t, "", nil, "sign-in", "nobody", "--data", data); code != cli.ExitFailed || !strings.Contains(stderr, `nobody here is called "nobody"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	// On a terminal the link stands alone on standard output.
	stdout, stderr, code := commandLine(t, "", nil, "sign-in", "--data", data)
	if code != cli.ExitDone || strings.Count(stdout, "\n") != 1 || !strings.HasPrefix(stdout, "http://") || strings.Contains(stderr, "#") {
		t.Errorf("exit %d: %q, %q", code, stdout, stderr)
	}
}
