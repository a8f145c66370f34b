package operatorapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

// listen opens a stream and gives its events, until ctx ends.
func (w *world) listen(t *testing.T, client *http.Client, c cred, path, last string) <-chan wire.Event {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := w.request(c, "GET", path, "")
	r.RequestURI = ""
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	got, err := client.Do(r.WithContext(ctx))
	must(t, err)
	if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/event-stream" || got.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", got.StatusCode, got.Header)
	}
	out := make(chan wire.Event, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(out)
		for lines := bufio.NewScanner(got.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var e wire.Event
			if ok && json.Unmarshal([]byte(data), &e) == nil && e.Kind != "" {
				out <- e
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		_ = got.Body.Close()
		<-done
	})
	return out
}

// told are the events that came until now.
func told(c <-chan wire.Event) map[string]int {
	out := make(map[string]int)
	for {
		select {
		case e, open := <-c:
			if !open {
				out["end"]++
				return out
			}
			out[e.Kind+" "+e.Agent+" "+e.State]++
		default:
			return out
		}
	}
}

// TestStreamsTellWhatOneMaySee: each stream hears of the agents of its credential alone, a run's of its run alone, and
// ends when the credential does.
func TestStreamsTellWhatOneMaySee(t *testing.T) {
	newWorld(t) // filled outside: there time goes on
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		go w.s.Run(t.Context())
		client := w.serve(t, time.Second)
		all := w.listen(t, client, w.creds["owner"], "/api/events", "")
		bobs := w.listen(t, client, w.creds["viewer of bob"], "/api/events", "")
		runs := w.listen(t, client, w.creds["harness of alice"], "/api/runs/run_alice/events", "")
		tick := func(d time.Duration) {
			for range int(d / time.Second) {
				time.Sleep(time.Second)
				w.clock.Advance(time.Second)
			}
			synctest.Wait()
		}
		tick(3 * time.Second)
		told(all)
		told(bobs)
		told(runs)
		if _, err := w.fake.EndRun(t.Context(), w.alice.ID, "run_alice", "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.fake.Cancel(t.Context(), w.bob.ID, "run_bob", "call_waits_bob"); err != nil {
			t.Fatal(err)
		}
		w.fake.mu.Lock()
		w.fake.epoch++
		w.fake.mu.Unlock()
		tick(3 * time.Second)
		if got := told(all); got["run alice ended"] != 1 || got["call bob failed"] != 1 || got["settings  "] != 1 || len(got) != 3 {
			t.Errorf("the owner heard %v", got)
		}
		if got := told(bobs); got["call bob failed"] != 1 || got["settings  "] != 1 || len(got) != 2 {
			t.Errorf("a viewer of bob heard %v", got)
		}
		if got := told(runs); got["run alice ended"] != 1 || len(got) != 1 {
			t.Errorf("the run's harness heard %v", got)
		}
		if _, err := w.agents.Revoke(t.Context(), w.alice.ID, w.ids["harness of alice"], "system"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.people.SignOutEverywhere(t.Context(), w.ids["viewer of bob"], "system"); err != nil {
			t.Fatal(err)
		}
		tick(16 * time.Second)
		if got := told(runs); got["end"] != 1 {
			t.Errorf("a revoked token hears on: %v", got)
		}
		if got := told(bobs); got["end"] != 1 {
			t.Errorf("a session that ended hears on: %v", got)
		}
		if got := told(all); got["end"] != 0 {
			t.Errorf("another's stream ended: %v", got)
		}
	})
}
