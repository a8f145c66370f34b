package wayleave

// What must survive is in the database: a process may end between any two calls and everything goes on, and one that is
// killed in the middle of a read leaves a call that may be made again.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// again is the same install served by a new process: what the old one had in memory is gone.
func (in *served) again(t *testing.T, o Options) *served {
	t.Helper()
	if err := in.stop(); err != nil {
		t.Fatal(err)
	}
	return launch(t, o)
}

// at is a client at another process: its session and its token are the old ones.
func (w *wired) at(in *served) *wired {
	moved := &wired{in: in, token: w.token, header: w.header.Clone(), meta: w.meta}
	moved.ids.Store(w.ids.Load())
	return moved
}

// F-098: the ledger is the only store. Everything that a run has goes on in a process that never saw it.
func TestF098ARunGoesOnInAProcessThatNeverSawIt(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			url, permit, count := site(t, strings.Repeat("A line of some words.\n", 2000))
			oracle := tooltest.NewOracle(t)
			set := tooltest.NewSet(tooltest.NewWorld(), oracle.Send)
			o := Options{Data: filepath.Join(t.TempDir(), "data"), Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}},
				extend: func(p *parts) {
					p.catalog, p.plugs, p.wait = tooltest.Catalog(), set.Plugs(), 50*time.Millisecond
				}}
			if d == sqldb.Postgres {
				place := dbtest.Empty(t, d)
				o.Database = place.Address
				db := place.Open(t)
				if _, err := schema.Up(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			in := launch(t, o)
			token, harness := in.token(t, "alice"), in.apiUser(t, "alice", agent.ScopeHarness)
			legacy, modern := in.wire(t, token, "2025-11-25"), in.wire(t, token, "2026-07-28")
			run := got[wire.OpenedRun](harness, http.MethodPost, "/api/runs", `{"title":"goes on"}`)
			named := in.wire(t, token, "2026-07-28")
			named.header.Set("Wayleave-Run", run.ID)
			named.must(t, "tools/list", `{`+strings.TrimSuffix(named.meta, ",")+`}`)
			say := func(w *wired, tool, arguments string) string {
				t.Helper()
				said, err := w.call(t.Context(), tool, arguments)
				if err != nil || strings.Contains(said, `"error":{`) {
					t.Fatalf("%s %s: %v %s", tool, arguments, err, said)
				}
				return said
			}
			read := func(w *wired, offset int) string {
				return say(w, "web_fetch", fmt.Sprintf(`{"url":%q,"offset":%d}`, url, offset))
			}
			ids := regexp.MustCompile(`"wayleave/run":"(run_\w+)"`)
			runOfIt := func(said string) string { return ids.FindStringSubmatch(said)[1] }

			// Each with something of its own: a kept page, an effect of unknown outcome, a question, units.
			session, implicit := runOfIt(read(legacy, 0)), runOfIt(read(modern, 0))
			keyedCall := `{"name":"ask",` + strings.Replace(modern.meta, `"_meta":{`, `"_meta":{"wayleave/callId":"asked-before",`, 1) + `"arguments":{"text":"once"}}`
			first, _, err := modern.send(t.Context(), "tools/call", "ask", keyedCall)
			if err != nil || !strings.Contains(first, "ask: ") {
				t.Fatalf("%v %s", err, first)
			}
			set.Script.At(tooltest.Input(2), func(context.Context) error { return tooltest.ErrBroken })
			if said := say(named, tooltest.PressTool, `{"text":"lost"}`); !strings.Contains(said, "connection_lost: uncertain") {
				t.Fatal(said)
			}
			set.Script.At(tooltest.Input(2), nil)
			question := regexp.MustCompile(`question (apr_\w+)`).FindStringSubmatch(say(modern, tooltest.PublishTool, `{"text":"the piece"}`))[1]
			requests, asked := count.Load(), oracle.Asked()

			in = in.again(t, o)
			legacy, modern, named, harness.base = legacy.at(in), modern.at(in), named.at(in), in.url

			// Reading on, in the session and in the implicit run: the same runs and the same pages.
			if a, b := read(legacy, 12_000), read(modern, 12_000); runOfIt(a) != session || runOfIt(b) != implicit || strings.Contains(a+b, "reread") || count.Load() != requests {
				t.Errorf("after %d requests more: %.300s\n%.300s", count.Load()-requests, a, b)
			}
			// The same call by its name.
			if said, _, err := modern.send(t.Context(), "tools/call", "ask", keyedCall); err != nil || !strings.Contains(said, "note: recorded · ") || oracle.Asked() != asked {
				t.Errorf("asked %d times more: %v %s", oracle.Asked()-asked, err, said)
			}
			// What nobody knows still holds the run, until somebody says it.
			held := got[wire.Run](harness, http.MethodGet, "/api/runs/"+run.ID, "")
			if said := say(named, tooltest.PressTool, `{"text":"more"}`); held.Hold == "" || held.Title != "goes on" || !strings.Contains(said, "effect_uncertain: nothing was sent; press "+held.Hold) {
				t.Errorf("the run is %+v: %s", held, said)
			}
			got[wire.Record](harness, http.MethodPost, "/api/runs/"+run.ID+"/tool-calls/"+held.Hold+"/reconcile", `{"verdict":"not_happened"}`)

			in = in.again(t, o)
			modern, named = modern.at(in), named.at(in)

			if said := say(named, tooltest.PressTool, `{"text":"more"}`); !strings.Contains(said, "press: delivered") {
				t.Error(said)
			}
			// The question is the same one, and its answer lets the call run once.
			if said := say(modern, tooltest.PublishTool, `{"text":"the piece"}`); !strings.Contains(said, question) {
				t.Errorf("another question than %s: %s", question, said)
			}
			if _, err := in.beside.Approvals.Answer(t.Context(), question, approval.Reply{Answer: approval.Once, Channel: approval.Page, By: "person:1"}); err != nil {
				t.Fatal(err)
			}

			in = in.again(t, o)
			modern = modern.at(in)

			if said := say(modern, tooltest.PublishTool, `{"text":"the piece"}`); !strings.Contains(said, "publish: delivered") {
				t.Error(said)
			}
			if said := say(modern, tooltest.PublishTool, `{"text":"the piece"}`); !strings.Contains(said, "approval_required") || strings.Contains(said, question) {
				t.Error(said)
			}
			if calls := published(set); len(calls) != 1 || len(tooltest.Twice(set.World.Entries())) != 0 {
				t.Errorf("the world: %+v", set.World.Entries())
			}
			if count.Load() != requests || oracle.Asked() != asked {
				t.Errorf("%d requests and %d questions were sent anew", count.Load()-requests, oracle.Asked()-asked)
			}
			if err := in.stop(); err != nil {
				t.Fatal(err)
			}
			storetest.Invariants(t, in.beside.DB)
		})
	}
}

// W-078: a read that died with its process may be made again, and is; under the name that the call had, what became of it
// is told and nothing is sent.
func TestW078AReadThatWasCutOffMayBeMadeAgain(t *testing.T) {
	dir := t.TempDir()
	var count atomic.Int64
	hang := make(chan struct{})
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1) <= 2 {
			select {
			case <-hang:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, "here it is")
	}))
	t.Cleanup(page.Close)
	t.Cleanup(func() { close(hang) })
	oracle := tooltest.NewOracle(t)
	r := replica{Data: filepath.Join(dir, "data"), World: filepath.Join(dir, "world"), Oracle: oracle.URL, Permit: strings.TrimPrefix(page.URL, "http://")}
	folder, err := datafolder.Open(r.Data)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := install.Open(t.Context(), install.Options{Folder: folder, Catalog: tooltest.Catalog()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		storetest.Invariants(t, beside.DB)
		if err := beside.Close(); err != nil {
			t.Error(err)
		}
	})
	token := newToken(t, beside, "alice", agent.ScopeTools)
	r.Dies = true
	address, kill := spawn(t, r)
	for _, key := range []string{"", "named-call"} {
		session := connect(t, address, token, "client", "2026-07-28")
		go func() { _, _ = keyedRead(t, session, page.URL, key) }()
	}
	waitUntil(t, func() bool { return count.Load() == 2 })
	kill()

	r.Dies = false
	address, _ = spawn(t, r)
	session := connect(t, address, token, "client", "2026-07-28")
	if text, err := keyedRead(t, session, page.URL, ""); err != nil || !strings.Contains(text, "here it is") {
		t.Errorf("made again: %v, %s", err, text)
	}
	if text, err := keyedRead(t, session, page.URL, "named-call"); err != nil || !strings.HasPrefix(text, "abandoned: lost · web_fetch call_") {
		t.Errorf("by its name: %v, %s", err, text)
	}
	if text, err := keyedRead(t, session, page.URL, "another-name"); err != nil || !strings.Contains(text, "here it is") {
		t.Errorf("by a new name: %v, %s", err, text)
	}
	if n := count.Load(); n != 4 {
		t.Errorf("%d requests", n)
	}
}

// keyedRead reads a page under a name of the call's; empty for none.
func keyedRead(t *testing.T, session *mcp.ClientSession, url, key string) (string, error) {
	p := &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": url}}
	if key != "" {
		p.Meta = mcp.Meta{"wayleave/callId": key}
	}
	res, err := session.CallTool(t.Context(), p)
	if err != nil {
		return "", err
	}
	return res.Content[0].(*mcp.TextContent).Text, nil
}
