package wayleave

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/install"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
	"github.com/wayleave/wayleave/webfetch"
	"github.com/wayleave/wayleave/weburl"
)

// replica is what a server of these tests is made of; it travels to the other process as JSON.
type replica struct {
	Data, Database, KeyFile string
	World                   string // file
	Oracle                  string // address
	Permit                  string // host that may be read
	Dies                    bool   // the test kills it, and the others find out soon; one that lives is patient with a busy machine
	HangAt                  string // a point of the scripted tools at which calls wait for ever
	Looks                   string // file for what its looks at the settings found, and for the end of calls that wait; empty for none
}

// looking notes each look of a ledger at the settings, in the order in which the ledger acts on them.
type looking struct {
	ledger.Store
	note func(line any)
}

// Epoch notes what a look found.
func (l looking) Epoch(ctx context.Context) (int64, error) {
	epoch, err := l.Store.Epoch(ctx)
	if err == nil {
		l.note(epoch)
	}
	return epoch, err
}

// noted appends lines to a file.
func (r replica) noted(line any) {
	if r.Looks == "" {
		return
	}
	f, err := os.OpenFile(r.Looks, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// stopped is what is noted when a call that waits is stopped.
const stopped = "stopped"

// replicaVariable makes this test binary a server.
const replicaVariable = "WAYLEAVE_TEST_REPLICA"

func TestMain(m *testing.M) {
	if text := os.Getenv(replicaVariable); text != "" {
		if err := serveReplica(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// options are the service's.
func (r replica) options() (Options, error) {
	permit, err := weburl.ParsePermit(r.Permit)
	if err != nil {
		return Options{}, err
	}
	world, err := tooltest.OpenWorld(r.World)
	if err != nil {
		return Options{}, err
	}
	set := tooltest.NewSet(world, func(ctx context.Context, question string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Oracle+"?q="+url.QueryEscape(question), nil)
		if err != nil {
			return "", err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return string(text), err
	})
	if r.HangAt != "" {
		set.Script.At(r.HangAt, func(ctx context.Context) error { <-ctx.Done(); r.noted(stopped); return ctx.Err() })
	}
	return Options{Data: r.Data, Database: r.Database, KeyFile: r.KeyFile, Fetch: webfetch.Options{Policy: &weburl.Policy{Permitted: []weburl.Permit{permit}}},
		extend: func(p *parts) {
			p.catalog, p.plugs = tooltest.Catalog(), set.Plugs()
			p.ledger.Sweep = 500 * time.Millisecond
			if r.Dies {
				p.ledger.TTL, p.ledger.Beat = 3*time.Second, 500*time.Millisecond
			}
			p.rows = func(rows ledger.Store) ledger.Store { return looking{rows, r.noted} }
		}}, nil
}

// serveReplica is the other process: it says where it serves and ends with its standard input.
func serveReplica(text string) error {
	var r replica
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	o, err := r.options()
	if err != nil {
		return err
	}
	o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	service, err := New(ctx, o)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	go func() {
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for service.Ready(ctx) != nil && ctx.Err() == nil {
			<-look.C
		}
		fmt.Println("http://" + l.Addr().String())
	}()
	return errors.Join(service.Run(ctx, l), service.Close())
}

// spawn starts such a process. kill ends it as a power cut does.
func spawn(t *testing.T, r replica) (address string, kill func()) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), replicaVariable+"="+string(text))
	var problems bytes.Buffer
	cmd.Stderr = &problems
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	end := func(how func()) {
		once.Do(func() {
			how()
			_ = cmd.Wait()
			if t.Failed() && problems.Len() > 0 {
				t.Logf("the other process said:\n%s", problems.String())
			}
		})
	}
	t.Cleanup(func() { end(func() { in.Close() }) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end(func() { in.Close() })
		t.Fatalf("the other process did not serve: %v\n%s", err, problems.String())
	}
	return strings.TrimSpace(line), func() { end(func() { _ = cmd.Process.Kill() }) }
}

// pair is two servers on one PostgreSQL, each a process of its own, behind a proxy that takes them in turn.
type pair struct {
	replica
	beside  *install.Install
	servers []string
	kills   []func()
	proxy   string
	turns   []atomic.Int64
	oracle  *tooltest.Oracle
	site    *atomic.Int64
	siteURL string
}

func newPair(t *testing.T, change func(i int, r *replica)) *pair {
	t.Helper()
	place := dbtest.Empty(t, sqldb.Postgres)
	dir := t.TempDir()
	siteURL, permit, count := site(t, strings.Repeat("A line of some words.\n", 2000))
	p := &pair{oracle: tooltest.NewOracle(t), site: count, siteURL: siteURL, turns: make([]atomic.Int64, 2)}
	p.replica = replica{Database: place.Address, KeyFile: filepath.Join(dir, "master.key"), World: filepath.Join(dir, "world"), Oracle: p.oracle.URL, Permit: permit.String()}
	folder, err := datafolder.Open(filepath.Join(dir, "cli"))
	if err != nil {
		t.Fatal(err)
	}
	o := install.Options{Folder: folder, Database: secret.New(p.Database), KeyFile: p.KeyFile, Catalog: tooltest.Catalog()}
	db, err := install.Database(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if p.beside, err = install.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		storetest.Invariants(t, p.beside.DB)
		if err := p.beside.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range 2 {
		r := p.replica
		r.Data = filepath.Join(dir, fmt.Sprint("server", i))
		if change != nil {
			change(i, &r)
		}
		address, kill := spawn(t, r)
		p.servers, p.kills = append(p.servers, address), append(p.kills, kill)
	}
	var turn atomic.Int64
	proxy := &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), Rewrite: func(r *httputil.ProxyRequest) {
		i := turn.Add(1) % 2
		p.turns[i].Add(1)
		to, err := url.Parse(p.servers[i])
		if err != nil {
			panic(err)
		}
		r.SetURL(to)
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: proxy}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	p.proxy = "http://" + l.Addr().String()
	return p
}

// connect gives a client at an address, in an era. It has listed its tools.
func connect(t *testing.T, address, token, name, revision string) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: address + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1, DisableStandaloneSSE: true},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return session
}

func call(t *testing.T, session *mcp.ClientSession, name string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	text, failed, err := try(t.Context(), session, name, arguments)
	if err != nil {
		t.Fatal(err)
	}
	return text, failed
}

func try(ctx context.Context, session *mcp.ClientSession, name string, arguments map[string]any) (text string, failed bool, err error) {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return "", false, err
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError, nil
}

func (p *pair) count(t *testing.T, query string) int64 {
	t.Helper()
	return countRows(t, p.beside.DB, query)
}

func TestTwoServersCountAndKeepAsOne(t *testing.T) {
	p := newPair(t, nil)
	token := newToken(t, p.beside, "alice", agent.ScopeTools)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		session := connect(t, p.proxy, token, "client "+revision, revision)
		// A page that one server fetched is read on at the other.
		before := p.site.Load()
		if text, failed := call(t, session, "web_fetch", map[string]any{"url": p.siteURL}); failed || !strings.Contains(text, "continue with offset=") {
			t.Fatalf("%s: %.200s", revision, text)
		}
		for i := range 4 {
			if text, failed := call(t, session, "web_fetch", map[string]any{"url": p.siteURL, "offset": 12_000 + i}); failed || strings.Contains(text, "reread") {
				t.Fatalf("%s: %.200s", revision, text)
			}
		}
		if sent := p.site.Load() - before; sent != 1 {
			t.Errorf("%s: %d requests for one page", revision, sent)
		}
	}
	if a, b := p.turns[0].Load(), p.turns[1].Load(); a < 6 || b < 6 {
		t.Fatalf("the servers had %d and %d requests", a, b)
	}
	if runs := p.count(t, `SELECT count(*) FROM runs`); runs != 2 {
		t.Errorf("%d runs of two connections", runs)
	}

	// Many at once over both: what is counted is what was sent.
	session := connect(t, p.proxy, token, "many", "2026-07-28")
	var group sync.WaitGroup
	var answered, refused atomic.Int64
	for i := range 90 {
		group.Go(func() {
			text, failed, err := try(t.Context(), session, tooltest.AskTool, map[string]any{"text": fmt.Sprint("question ", i)})
			switch {
			case err != nil:
				t.Error(err)
			case !failed:
				answered.Add(1)
			case strings.HasPrefix(text, "rate_limit: ") || strings.HasPrefix(text, "run_limit: "):
				refused.Add(1)
			default:
				t.Error(text)
			}
		})
	}
	group.Wait()
	units := p.count(t, `SELECT CAST(coalesce(sum(used), 0) AS BIGINT) FROM minute_meters WHERE capability='search'`)
	if answered.Load() != p.oracle.Asked() || units != p.oracle.Asked() || answered.Load()+refused.Load() != 90 || answered.Load() < 60 {
		t.Errorf("%d answered, %d refused, %d asked, %d units", answered.Load(), refused.Load(), p.oracle.Asked(), units)
	}
}

// TestChangeAtOneServerIsSeenByTheOther: within two seconds, since the other looks once a second and its first look sees
// it. That it looks so often is shown where time is a test's own (TestChangesOfSettingsAreHeardWithinASecond); here the
// looks are counted, since a bound in seconds would tell how busy this machine is.
func TestChangeAtOneServerIsSeenByTheOther(t *testing.T) {
	looks := filepath.Join(t.TempDir(), "looks")
	p := newPair(t, func(i int, r *replica) {
		if i == 1 {
			r.HangAt, r.Looks = tooltest.Open, looks
		}
	})
	token := newToken(t, p.beside, "alice", agent.ScopeTools)
	session := connect(t, p.servers[1], token, "client", "2026-07-28")
	who, err := p.beside.Agents.BySlug(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		text, _, err := try(t.Context(), session, tooltest.AskTool, map[string]any{"text": "hanging"})
		ended <- fmt.Sprint(text, err)
	}()
	waitUntil(t, func() bool { return p.count(t, `SELECT count(*) FROM tool_calls WHERE state='dispatched'`) == 1 })
	if _, err := p.beside.Agents.Disable(t.Context(), who.ID, "test"); err != nil {
		t.Fatal(err)
	}
	epoch, err := p.beside.Rows.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	text, err := os.ReadFile(looks)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), stopped)
	seen := 0
	for _, look := range strings.Fields(before) {
		if look == fmt.Sprint(epoch) {
			seen++
		}
	}
	if !found || seen != 1 {
		t.Errorf("the other server stopped a call under the old settings after it had seen the change %d times:\n%s", seen, text)
	}
	if _, _, err := try(t.Context(), session, tooltest.AskTool, map[string]any{"text": "after"}); err == nil {
		t.Error("a disabled agent's token was taken")
	}
	if asked := p.oracle.Asked(); asked != 0 {
		t.Errorf("%d questions were sent", asked)
	}
}

// waitUntil waits for what another process brings about.
func waitUntil(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it never came")
		}
	}
}

func TestTM055ServerThatIsKilledInMidCallIsNotRepeated(t *testing.T) {
	p := newPair(t, func(i int, r *replica) {
		if i == 1 {
			r.Dies, r.HangAt = true, tooltest.Input(2) // one input is out
		}
	})
	token := newToken(t, p.beside, "alice", agent.ScopeTools)
	harness := newToken(t, p.beside, "alice", agent.ScopeHarness)
	first, second := connect(t, p.servers[1], token, "client", "2026-07-28"), connect(t, p.servers[0], token, "client", "2026-07-28")
	broken := make(chan error, 1)
	go func() {
		_, _, err := try(t.Context(), first, tooltest.PressTool, map[string]any{"text": "buy"})
		broken <- err
	}()
	waitUntil(t, func() bool {
		return p.count(t, `SELECT count(*) FROM tool_calls WHERE state='dispatched' AND class='effect'`) == 1
	})
	waitUntil(t, func() bool { all, err := tooltest.ReadWorld(p.World); return err == nil && len(all) == 1 })
	p.kills[1]()
	if err := <-broken; err == nil {
		t.Fatal("the killed server answered")
	}
	// The same again, and another one, at the server that is left: neither is sent.
	for _, again := range []string{"buy", "sell"} {
		if text, failed := call(t, second, tooltest.PressTool, map[string]any{"text": again}); !failed || !strings.Contains(text, "uncertain") {
			t.Errorf("%s: %s", again, text)
		}
	}
	if text, failed := call(t, second, tooltest.PeekTool, map[string]any{"text": "look"}); failed {
		t.Errorf("reading goes on: %s", text)
	}
	all, err := tooltest.ReadWorld(p.World)
	if err != nil {
		t.Fatal(err)
	}
	pressed := 0
	for _, e := range all {
		if e.Tool == tooltest.PressTool {
			pressed++
		}
	}
	if pressed != 1 || len(tooltest.Twice(all)) != 0 {
		t.Fatalf("the world: %+v", all)
	}
	var run, held string
	if err := p.beside.DB.Read(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.One(`SELECT id, hold_call FROM runs WHERE hold_call IS NOT NULL`, nil, &run, &held)
		return err
	}); err != nil || held == "" {
		t.Fatalf("no run is held: %v", err)
	}
	// The harness states what happened, over HTTP; the model's own token may not.
	for _, c := range []struct {
		token string
		want  int
	}{{token, http.StatusForbidden}, {harness, http.StatusOK}, {harness, http.StatusOK}} {
		r, err := http.NewRequest(http.MethodPost, p.servers[0]+"/api/runs/"+run+"/tool-calls/"+held+"/reconcile", strings.NewReader(`{"verdict":"not_happened"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%.14s…: %d %s", c.token, res.StatusCode, said)
		}
	}
	if text, failed := call(t, second, tooltest.PressTool, map[string]any{"text": "sell"}); failed {
		t.Errorf("after the verdict: %s", text)
	}
	if n := p.count(t, `SELECT count(*) FROM tool_calls WHERE state IN ('admitted','dispatched')`); n != 0 {
		t.Errorf("%d calls are in flight", n)
	}
}
