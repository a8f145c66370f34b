package wayleave

// A call waits for a person, and its client leaves, or its server is killed: the question stays, a yes lets nothing run by
// itself, and the same call again runs once.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// ends tells of each call that the log says is over, and of each request with a call.
type ends struct{ calls, requests chan string }

func newEnds() ends { return ends{make(chan string, 16), make(chan string, 16)} }

func (e ends) Write(p []byte) (int, error) {
	switch line := string(p); {
	case strings.Contains(line, `"msg":"call"`):
		e.calls <- line
	case strings.Contains(line, `"msg":"request"`) && strings.Contains(line, `"rpc_method":"tools/call"`):
		e.requests <- line
	}
	return len(p), nil
}

// countRows is the number that a query gives.
func countRows(t *testing.T, db *sqldb.DB, query string) (n int64) {
	t.Helper()
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.One(query, nil, &n)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// how a client leaves: its connection ends, or it says so first.
const (
	cut    = "its connection ends"
	notice = "it cancels"
)

// TestAClientThatLeavesWhileAPersonIsAsked: in the newer era the end of the stream cancels, in the older one a notice does;
// where neither came the call goes on without its client, and its answer is kept for the same call again.
func TestAClientThatLeavesWhileAPersonIsAsked(t *testing.T) {
	for _, c := range []struct {
		revision, how string
		goesOn        bool
	}{{"2026-07-28", cut, false}, {"2025-11-25", notice, false}, {"2025-11-25", cut, true}} {
		t.Run(c.revision+", "+c.how, func(t *testing.T) {
			over := newEnds()
			set := tooltest.NewSet(tooltest.NewWorld(), func(context.Context, string) (string, error) { return "", nil })
			in := launch(t, Options{Log: slog.New(slog.NewJSONHandler(over, &slog.HandlerOptions{Level: slog.LevelDebug})), extend: func(p *parts) { p.catalog, p.plugs = tooltest.Catalog(), set.Plugs() }})
			w, owner := in.wire(t, in.token(t, "alice"), c.revision), in.owners(t, 1)[0]
			const piece = `{"text":"the piece"}`
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			first := make(chan error, 1)
			go func() {
				_, err := w.call(ctx, tooltest.PublishTool, piece)
				first <- err
			}()
			question := in.opened(t).ID
			if c.how == notice {
				if _, _, err := w.post(t.Context(), "notifications/cancelled", "", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, w.ids.Load())); err != nil {
					t.Fatal(err)
				}
				<-over.calls
			}
			leave()
			if err := <-first; c.how == cut && !errors.Is(err, context.Canceled) {
				t.Fatalf("the client did not leave: %v", err)
			}
			<-over.requests // the server knows that nobody waits
			if c.how == cut && !c.goesOn {
				<-over.calls
			}
			if n := countRows(t, in.beside.DB, "SELECT count(*) FROM tool_calls"); n != 0 {
				t.Errorf("a call that waits for a yes has a row: %d", n)
			}
			if res, text := owner.do(t, http.MethodPost, "/api/approvals/"+question+"/answer", `{"answer":"once"}`); res.StatusCode != http.StatusOK {
				t.Fatalf("the question of who left cannot be answered: %d %s", res.StatusCode, text)
			}
			want := 0
			if c.goesOn {
				<-over.calls
				want = 1
			}
			if got := len(published(set)); got != want {
				t.Fatalf("%d effects after the yes, want %d", got, want)
			}
			said, err := w.call(t.Context(), tooltest.PublishTool, piece)
			if err != nil || !strings.Contains(said, "publish: delivered") || strings.Contains(said, "note: recorded · ") != c.goesOn {
				t.Errorf("the same call again: %v %s", err, said)
			}
			if got := len(published(set)); got != 1 {
				t.Errorf("%d effects, want one", got)
			}
			// The yes is used up: what comes now is a question of its own.
			asking, stop := context.WithCancel(t.Context())
			defer stop()
			var last sync.WaitGroup
			last.Go(func() { _, _ = w.call(asking, tooltest.PublishTool, piece) })
			if again := in.opened(t).ID; again == question {
				t.Error("a used question is open again")
			}
			stop()
			last.Wait()
			storetest.Invariants(t, in.beside.DB)
		})
	}
}

// TestTM055AServerThatIsKilledWhileAPersonIsAsked: nothing was admitted, so nothing is uncertain and no run is held; the
// question is answered at the other server, and the same call there runs once.
func TestTM055AServerThatIsKilledWhileAPersonIsAsked(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for _, when := range []string{"before the yes", "after the yes"} {
			t.Run(revision+", killed "+when, func(t *testing.T) {
				p := newPair(t, func(i int, r *replica) { r.Dies = i == 0 })
				token := newToken(t, p.beside, "alice", agent.ScopeTools)
				first := (&served{url: p.servers[0]}).wire(t, token, revision)
				ended := make(chan error, 1)
				const piece = `{"text":"the piece"}`
				go func() {
					_, err := first.call(t.Context(), tooltest.PublishTool, piece)
					ended <- err
				}()
				in := &served{beside: p.beside}
				question := in.opened(t)
				yes := func() {
					if _, err := p.beside.Approvals.Answer(t.Context(), question.ID, approval.Reply{Answer: approval.Once, Channel: approval.Terminal, By: "test"}); err != nil {
						t.Fatal(err)
					}
				}
				if when == "after the yes" { // the call may be on its way, or not
					yes()
					p.kills[0]()
					<-ended
				} else {
					p.kills[0]()
					if err := <-ended; err == nil {
						t.Error("a server that was killed gave an answer")
					}
					for _, query := range []string{"SELECT count(*) FROM tool_calls", "SELECT count(*) FROM runs WHERE hold_call IS NOT NULL", "SELECT count(*) FROM notices WHERE kind='effect_uncertain'"} {
						if n := p.count(t, query); n != 0 {
							t.Errorf("%s: %d", query, n)
						}
					}
					yes()
				}
				text, err := first.at(&served{url: p.servers[1]}).call(t.Context(), tooltest.PublishTool, piece)
				if err != nil {
					t.Fatal(err)
				}
				entries, err := tooltest.ReadWorld(p.World)
				if err != nil {
					t.Fatal(err)
				}
				calls := make(map[string]bool)
				for _, e := range entries {
					calls[e.Call] = true
				}
				switch delivered := strings.Contains(text, `"text":"publish: delivered`); {
				case len(tooltest.Twice(entries)) != 0 || len(calls) > 1:
					t.Errorf("one yes was %d effects: %+v", len(calls), entries)
				case when == "before the yes" && (!delivered || len(calls) != 1):
					t.Errorf("the same call at the other server: %s; the world: %+v", text, entries)
				case delivered && len(calls) == 0:
					t.Errorf("delivered, and nothing came: %s", text)
				}
				if n := p.count(t, "SELECT count(*) FROM approvals WHERE state='used'"); n != 1 {
					t.Errorf("%d approvals are used", n)
				}
			})
		}
	}
}
