package main

// Processes beside each other on one data folder.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
)

// owned waits until somebody owns a folder and serves, and gives where.
func owned(t *testing.T, folder *datafolder.Folder) datafolder.Server {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for limit := time.After(patience); ; {
		at, is, err := folder.Owner()
		if err == nil && is && at.Pipe != "" {
			return at
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("nobody owns the folder: %+v, %v, %v", at, is, err)
		}
	}
}

// TestClientsOverPipesOutliveEveryOwner: two clients beside a server; the server is killed with a call in flight, then
// whoever took over ends in order with another one in flight, then the last one. Every call stands in the ledger, what is
// kept is read on by whoever serves next, and no site is asked twice for it.
func TestClientsOverPipesOutliveEveryOwner(t *testing.T) {
	var asked atomic.Int64
	arrived, release := make(chan string, 8), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if r.URL.Path == "/long" {
			asked.Add(1)
			fmt.Fprint(w, strings.Repeat("0123456789", 3000))
			return
		}
		arrived <- r.URL.Path
		select {
		case <-release:
			fmt.Fprint(w, "released")
		case <-r.Context().Done():
		}
	}))
	defer site.Close()
	path := program(t)
	data := filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	facts := []string{"--data", data, "--allow-host", strings.TrimPrefix(site.URL, "http://")}
	server := begin(t, path, nil, append([]string{"serve", "--listen", "127.0.0.1:0"}, facts...)...)
	owned(t, folder)
	a := begin(t, path, nil, append([]string{"mcp"}, facts...)...)
	b := begin(t, path, nil, append([]string{"mcp"}, facts...)...)

	// Before: one reads, the other reads on in what was kept for the first.
	part := func(p *process, id, offset int) {
		t.Helper()
		p.fetch(id, fmt.Sprintf(`"url":"%s/long","offset":%d`, site.URL, offset))
		if got := p.answer(); !strings.Contains(got, fmt.Sprintf(`"id":%d,`, id)) || !strings.Contains(got, "0123456789") || asked.Load() != 1 {
			t.Fatalf("the site was asked %d times: %.400s", asked.Load(), got)
		}
	}
	part(a, 1, 0)
	part(b, 2, 10_000)

	// Killed with a call in flight: its client is told that nobody knows, and asks the next one.
	a.fetch(3, fmt.Sprintf(`"url":"%s/slow-1"`, site.URL))
	<-arrived
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := a.answer(); !strings.Contains(got, `"id":3,`) || !strings.Contains(got, `"code":"abandoned"`) {
		t.Fatalf("the call in flight: %s", got)
	}
	part(a, 4, 20_000)
	part(b, 5, 5_000)
	first, second := a, b
	if strings.Contains(b.said.String(), "this process owns the data folder") {
		first, second = b, a
	}
	first.until("this process owns the data folder")
	if strings.Contains(second.said.String(), "this process owns") {
		t.Fatal("two processes own the folder")
	}

	// The new owner ends in order while a call of the other's is in flight: it is answered.
	second.fetch(6, fmt.Sprintf(`"url":"%s/slow-2"`, site.URL))
	<-arrived
	first.in.Close()
	close(release)
	if got := second.answer(); !strings.Contains(got, `"id":6,`) || !strings.Contains(got, "released") {
		t.Fatalf("the call in flight at an orderly end: %s", got)
	}
	if err := first.ended(); err != nil {
		t.Fatalf("the first owner over pipes: %v", err)
	}
	part(second, 7, 25_000)
	second.until("this process owns the data folder")
	second.in.Close()
	if err := second.ended(); err != nil {
		t.Fatalf("the last owner: %v", err)
	}
	for _, left := range []string{"server.json", "owner.sock"} {
		if _, err := os.Stat(filepath.Join(data, left)); err == nil {
			t.Errorf("%s is left behind", left)
		}
	}

	// Nothing is lost: each call stands once, and what became of it.
	in, err := install.Open(t.Context(), install.Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	runs, err := in.Rows.RunsOf(t.Context(), nil, "", 10)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	calls, err := in.Rows.CallsOf(t.Context(), "", runs[0].ID, 0, 100)
	if err != nil || len(calls) != 7 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	for i, c := range calls {
		want := effect.NotDispatched // read from what was kept
		if i == 0 || i == 5 {
			want = effect.OK
		}
		switch {
		case i == 2: // its process was killed: its time is not over yet, or it was concluded
			if c.State == effect.Succeeded || c.State == effect.Failed && c.Outcome != effect.Lost {
				t.Errorf("the call in flight at the kill: %s, %s", c.State, c.Outcome)
			}
		case c.State != effect.Succeeded || c.Outcome != want || i > 2 && c.Delivery != ledger.HandedOver:
			t.Errorf("call %d: %s, %s, delivery %d; want %s", i+1, c.State, c.Outcome, c.Delivery, want)
		}
	}
}

// TestTM052OwnersFactsDecide: a client's command line and variables loosen nothing, and it says which of them do not count.
func TestTM052OwnersFactsDecide(t *testing.T) {
	asked := false
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer site.Close()
	path := program(t)
	data := filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	begin(t, path, nil, "serve", "--listen", "127.0.0.1:0", "--data", data)
	owned(t, folder)
	for _, c := range []struct {
		environ []string
		args    []string
		ignored string
	}{
		{nil, []string{"--allow-private-hosts"}, "allow-private-hosts"},
		{nil, []string{"--allow-host", strings.TrimPrefix(site.URL, "http://")}, "allow-host"},
		{[]string{"WAYLEAVE_ALLOW_PRIVATE_HOSTS=true"}, nil, "allow-private-hosts"},
		{[]string{"WAYLEAVE_ALLOWED_HOSTS=*", "WAYLEAVE_ALLOW_PRIVATE_HOSTS=true"}, nil, "allowed-hosts"},
		{nil, []string{"--database", "postgres://wayleave@127.0.0.1:1/x", "--allow-private-hosts"}, "database"},
		{[]string{"WAYLEAVE_MASTER_KEY=wlmk1_another"}, []string{"--key-file", "/nonexistent", "--allow-private-hosts"}, "key-file"},
		{nil, []string{"--egress-proxy", site.URL, "--allow-private-hosts"}, "egress-proxy"},
	} {
		p := begin(t, path, c.environ, append([]string{"mcp", "--data", data}, c.args...)...)
		p.fetch(1, fmt.Sprintf(`"url":%q`, site.URL+"/"))
		if got := p.answer(); !strings.Contains(got, "web_fetch_disallowed_url") {
			t.Errorf("%v %v: %.300s", c.environ, c.args, got)
		}
		p.until("these settings of this one count for nothing")
		if said := p.said.String(); !strings.Contains(said, `"`+c.ignored+`"`) {
			t.Errorf("%v %v: it says %s", c.environ, c.args, said)
		}
		p.in.Close()
		if err := p.ended(); err != nil {
			t.Errorf("%v %v: %v", c.environ, c.args, err)
		}
	}
	// What names the folder and the agent counts, and nothing is said of it.
	p := begin(t, path, nil, "mcp", "--data", data, "--agent", "reader", "--log-level", "info")
	p.ask(1, "tools/list", "")
	p.answer()
	p.in.Close()
	if err := p.ended(); err != nil || strings.Contains(p.said.String(), "count for nothing") {
		t.Errorf("%v, it says %s", err, p.said)
	}
	if asked {
		t.Error("the site was asked")
	}
}

// TestServerEndsInOrder: what is being delivered when it is told to stop is delivered.
func TestServerEndsInOrder(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		arrived, release := make(chan struct{}, 1), make(chan struct{})
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			<-release
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "delivered at last")
		}))
		data := filepath.Join(t.TempDir(), "data")
		folder, err := datafolder.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		path := program(t)
		server := begin(t, path, nil, "serve", "--listen", "127.0.0.1:0", "--data", data, "--allow-host", strings.TrimPrefix(site.URL, "http://"))
		owned(t, folder)
		client := begin(t, path, nil, "mcp", "--data", data)
		client.fetch(1, fmt.Sprintf(`"url":%q`, site.URL+"/"))
		<-arrived
		if err := server.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		close(release)
		if got := client.answer(); !strings.Contains(got, "delivered at last") {
			t.Errorf("%v: %s", signal, got)
		}
		if err := server.ended(); err != nil {
			t.Errorf("%v: it ended with %v", signal, err)
		}
		client.in.Close()
		if err := client.ended(); err != nil {
			t.Errorf("%v: the client ended with %v", signal, err)
		}
		site.Close()
	}
}
