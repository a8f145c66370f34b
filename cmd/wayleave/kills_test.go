package main

// The server is killed under load, again and again, and what it left is asked for everything that must hold of it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
)

// atOnce is how many requests hang at the site at most, so that the other clients go on.
const atOnce = 4

// shop is a site that counts how often each path was asked for. Each third request hangs until its client is gone.
type shop struct {
	*httptest.Server
	all, hang atomic.Int64
	hanging   chan struct{} // one for each request that hangs

	mu    sync.Mutex
	asked map[string]int
}

func newShop(t *testing.T) *shop {
	s := &shop{asked: make(map[string]int), hanging: make(chan struct{}, 1<<16)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[strings.TrimPrefix(r.URL.Path, "/")]++
		s.mu.Unlock()
		if s.all.Add(1)%3 == 0 && s.hang.Add(1) <= atOnce {
			s.hanging <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "the page of "+r.URL.Path)
	}))
	t.Cleanup(s.Close)
	return s
}

// load is a client of agent alice that names its calls.
type load struct {
	token, shop string
	keys        atomic.Int64
}

// call makes the call of a key, and gives its answer: empty where the server was gone.
func (l *load) call(ctx context.Context, server, key string) (string, error) {
	const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"}`
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":"%s/%s"},"_meta":{"wayleave/callId":"%s",%s}}}`, l.shop, key, key, meta)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+server+"/mcp", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + l.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "web_fetch"} {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return "", nil
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	switch {
	case err != nil || !strings.Contains(string(said), `"id":1`):
		return "", nil
	case strings.Contains(string(said), `"content":[{`):
		return string(said), nil
	}
	return "", fmt.Errorf("call %s: %d %s", key, res.StatusCode, said)
}

// TestTM055WhatAServerLeavesThatIsKilledUnderLoad: on both databases, killed in the middle of calls, some of them with their
// request at the site. No call is sent twice, each has its row, the same call again is answered from it, and every
// invariant of the ledger holds.
func TestTM055WhatAServerLeavesThatIsKilledUnderLoad(t *testing.T) {
	rounds := 3
	if os.Getenv("WAYLEAVE_SOAK") != "" {
		rounds = 50
	}
	path := program(t)
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			site := newShop(t)
			data := filepath.Join(t.TempDir(), "data")
			folder, err := datafolder.Open(data)
			if err != nil {
				t.Fatal(err)
			}
			var environ []string
			database := ""
			if d == sqldb.Postgres {
				database = dbtest.Empty(t, d).Address
				environ = []string{"WAYLEAVE_DATABASE=" + database}
				if _, stderr, code := commandLine(t, "", environ, "migrate", "--data", data); code != cli.ExitDone {
					t.Fatal(stderr)
				}
			}
			token, stderr, code := commandLine(t, "", environ, "agents", "token", "new", "alice", "--data", data)
			if code != cli.ExitDone {
				t.Fatal(stderr)
			}
			beside, err := install.Open(t.Context(), install.Options{Folder: folder, Database: secret.New(database)})
			if err != nil {
				t.Fatal(err)
			}
			defer beside.Close()
			storetest.Observe(t, beside.DB)
			l := &load{token: strings.TrimSpace(token), shop: site.URL}
			facts := []string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--allow-host", strings.TrimPrefix(site.URL, "http://"),
				"--per-host", "100", "--per-host-second", "100000", "--per-minute", "1000000"}
			var again []string // calls whose answer never came
			answered := 0
			for range rounds {
				server := begin(t, path, environ, facts...)
				at := owned(t, folder).Listen
				again, answered = l.round(t, site, server, at, again, answered)
				retire(t, beside)
			}
			site.hang.Store(atOnce) // from here on the site answers
			server := begin(t, path, environ, facts...)
			at := owned(t, folder).Listen
			for _, key := range again {
				said, err := l.call(t.Context(), at, key)
				if err != nil || said == "" {
					t.Fatalf("the same call after the last kill: %v", err)
				}
			}
			if err := server.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := server.ended(); err != nil {
				t.Error(err)
			}
			if _, err := beside.Rows.Sweep(t.Context(), ledger.Retention{}); err != nil {
				t.Fatal(err)
			}
			storetest.Quiet(t, beside.DB)
			sent := l.compare(t, site, beside.DB)
			if answered == 0 || len(again) == 0 || sent == 0 {
				t.Errorf("%d answered, %d cut off, %d sent: nothing was shown", answered, len(again), sent)
			}
		})
	}
}

// round has eight clients call until the server is killed, which is when some requests hang at the site and some calls were
// answered. Those that were cut off before are asked for again first.
func (l *load) round(t *testing.T, site *shop, server *process, at string, cut []string, answered int) ([]string, int) {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	killed := make(chan struct{})
	enough := make(chan struct{}, 1<<16)
	waiting := make(chan string, len(cut))
	for _, key := range cut {
		waiting <- key
	}
	close(waiting)
	cut = nil
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 8 {
		clients.Go(func() {
			for {
				key, old := <-waiting
				if !old {
					key = fmt.Sprintf("key-%06d", l.keys.Add(1))
				}
				said, err := l.call(ctx, at, key)
				mu.Lock()
				if answered++; said == "" {
					answered--
					cut = append(cut, key)
				}
				mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				enough <- struct{}{}
				select {
				case <-killed:
					return
				default:
				}
				if said == "" { // the server is gone, and the test is about to say so
					<-killed
					return
				}
			}
		})
	}
	for range 1 + rand.N(40) {
		<-enough
	}
	for range 1 + rand.N(atOnce) {
		<-site.hanging
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.ended(); err == nil {
		t.Error("a server that was killed ended in order")
	}
	close(killed)
	clients.Wait()
	for len(site.hanging) > 0 {
		<-site.hanging
	}
	site.hang.Store(0)
	return cut, answered
}

// retire calls the processes that are gone dead, as somebody does once their time is over.
func retire(t *testing.T, in *install.Install) {
	t.Helper()
	var ids []string
	if err := in.DB.Read(t.Context(), func(tx *sqldb.Tx) error {
		ids = nil
		return tx.All("SELECT id FROM processes WHERE dead=0", nil, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	}); err != nil {
		t.Fatal(err)
	}
	var failed error
	for _, id := range ids {
		failed = errors.Join(failed, in.Rows.Retire(t.Context(), id))
	}
	if failed != nil {
		t.Fatal(failed)
	}
}

// compare holds the site's own count against the rows, and gives how many calls reached the site.
func (l *load) compare(t *testing.T, site *shop, db *sqldb.DB) int {
	t.Helper()
	rows := make(map[string]string)
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		return tx.All("SELECT caller_key, coalesce(outcome, state) FROM tool_calls WHERE dispatched_at IS NOT NULL", nil, func(scan func(...any) error) error {
			var key, outcome string
			err := scan(&key, &outcome)
			rows[key] = outcome
			return err
		})
	}); err != nil {
		t.Fatal(err)
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	for key, n := range site.asked {
		if n != 1 || rows[key] == "" {
			t.Errorf("%s was asked for %d times; its row says %q", key, n, rows[key])
		}
	}
	for key, outcome := range rows {
		if outcome == "ok" && site.asked[key] == 0 {
			t.Errorf("%s is ok and nobody asked the site", key)
		}
	}
	return len(site.asked)
}
