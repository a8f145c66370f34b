package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/ledger/ledgertest"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/approvalstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// me is the agent of tests; other is its neighbour.
const (
	me    = "agent_me"
	other = "agent_other"
	base  = "https://wayleave.example"
)

// process is one program on a stage: its ledger and its pipeline.
type process struct {
	*tool.Pipeline
	ledger *ledger.Ledger
	rows   ledger.Store
}

// stage is an install with the scripted tools.
type stage struct {
	process
	approvals approval.Store
	set       *tooltest.Set
	oracle    *tooltest.Oracle // nil in memory
	policy    approval.Policy
	clock     interface {
		Now() time.Time
		Advance(time.Duration)
	}
	db        *sqldb.DB // nil in memory
	sealer    seal.Sealer
	worldFile string
}

func rules(t testing.TB) *connection.Rules {
	t.Helper()
	r, err := connection.New(tooltest.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start makes a process over rows, and ends it with the test.
func (s *stage) start(t *testing.T, rows ledger.Store, change func(*ledger.Options, *tool.Options)) process {
	t.Helper()
	lo := ledger.Options{Label: "test", DigestKey: []byte(strings.Repeat("k", 32)), TTL: 24 * time.Hour, Wait: 20 * time.Second, Flush: 5 * time.Millisecond,
		Drain: time.Second, Retention: ledger.Retention{}}
	po := tool.Options{Rows: rows, Approvals: s.approvals, AnswerBase: func() string { return base }, Wait: 40 * time.Millisecond,
		Policy: func(context.Context, string) (approval.Policy, error) { return s.policy, nil },
		Plugs:  plugsOf(s)}
	if change != nil {
		change(&lo, &po)
	}
	l, err := ledger.New(rows, lo)
	if err != nil {
		t.Fatal(err)
	}
	po.Ledger = l
	p, err := tool.New(po)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the ledger ended: %v", err)
		}
	})
	return process{p, l, rows}
}

// onDatabases runs a test on a stage over each database.
func onDatabases(t *testing.T, test func(t *testing.T, s *stage)) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) { test(t, newStage(t, db, clock, nil)) })
}

// newStage makes a stage over a database; point, which may be nil, is called at the named points of transactions.
func newStage(t *testing.T, db *sqldb.DB, clock *dbtest.Clock, point func(string)) *stage {
	t.Helper()
	sealer := dbtest.Sealer()
	rows, err := ledgerstore.New(db, sealer, rules(t).Resolve, ledgerstore.Options{Point: point})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{approvals: approvalstore.New(db, sealer), clock: clock, db: db, sealer: sealer, oracle: tooltest.NewOracle(t)}
	s.worldFile = filepath.Join(t.TempDir(), "world")
	world, err := tooltest.OpenWorld(s.worldFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	s.set = tooltest.NewSet(world, s.oracle.Send)
	for token, id := range map[string]string{"tok_1": me, "tok_2": other} {
		s.write(t, `INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ($1, $2, $2, 'active', 1, now_us())`, id, strings.TrimPrefix(id, "agent_"))
		s.write(t, `INSERT INTO agent_tokens (id, agent_id, hash, scope, created_at) VALUES ($1, $2, $1, 'tools', now_us())`, token, id)
	}
	s.process = s.start(t, rows, nil)
	return s
}

// patient starts a program in which a call waits for a person as long as a test does.
func (s *stage) patient(t *testing.T) process {
	t.Helper()
	return s.start(t, s.rows, func(_ *ledger.Options, o *tool.Options) { o.Wait = 20 * time.Second })
}

// beside starts a second program, with a database handle of its own.
func (s *stage) beside(t *testing.T, db *sqldb.DB) process {
	t.Helper()
	rows, err := ledgerstore.New(db, s.sealer, rules(t).Resolve, ledgerstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	approvals := approvalstore.New(db, s.sealer)
	return s.start(t, rows, func(_ *ledger.Options, o *tool.Options) { o.Approvals = approvals })
}

// inMemory makes a stage whose rows are in memory, on the clock of the test's bubble.
func inMemory(t *testing.T, change func(*ledgertest.Store)) (*stage, *ledgertest.World) {
	t.Helper()
	w := ledgertest.New(rules(t).Resolve, time.Now)
	w.SetAgent(binding.Agent{ID: me, Slug: "me", GrantsVersion: 1})
	rows := w.Store()
	if change != nil {
		change(rows)
	}
	s := &stage{approvals: nobody{t}}
	s.set = tooltest.NewSet(tooltest.NewWorld(), func(_ context.Context, q string) (string, error) { return "the answer to " + q, nil })
	s.process = s.start(t, rows, nil)
	return s, w
}

// nobody is approvals where nobody may be asked.
type nobody struct{ t *testing.T }

func (n nobody) Stand(context.Context, approval.Request) (approval.Stood, error) {
	n.t.Error("a person was asked")
	return approval.Stood{}, errors.New("there is nobody")
}
func (n nobody) Show(context.Context, string) (approval.Approval, error) {
	return approval.Approval{}, approval.ErrNotFound
}
func (n nobody) Answer(context.Context, string, approval.Reply) (approval.Approval, error) {
	return approval.Approval{}, approval.ErrNotFound
}
func (n nobody) DenyAll(context.Context, []string, approval.Reply) ([]string, error) { return nil, nil }
func (n nobody) List(context.Context, approval.Filter) ([]approval.Approval, error)  { return nil, nil }
func (n nobody) Elicits(context.Context, string) (bool, error)                       { return false, nil }

// write changes settings as people do.
func (s *stage) write(t *testing.T, query string, args ...any) {
	t.Helper()
	if err := s.db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(query, args...); err != nil {
			return err
		}
		return settings.Changed(tx)
	}); err != nil {
		t.Fatal(err)
	}
}

// connect sets the install's connection of a capability.
func (s *stage) connect(t *testing.T, capability, mode string, provider any, version int, run, minute any) {
	t.Helper()
	s.write(t, `INSERT INTO connections (owner, capability, mode, provider, version, run_limit, minute_limit, changed_at, changed_by)
VALUES ('install', $1, $2, $3, $4, $5, $6, now_us(), 'person_1') ON CONFLICT (owner, capability) DO UPDATE
SET mode = $2, provider = $3, version = $4, run_limit = $5, minute_limit = $6`, capability, mode, provider, version, run, minute)
}

// count reads one number.
func (s *stage) count(t *testing.T, query string, args ...any) (n int64) {
	t.Helper()
	if err := s.db.Read(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.One(query, args, &n)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// caller is an agent's program.
func caller() tool.Caller { return tool.Caller{Agent: me, Slug: "me", Token: "tok_1", Client: "test"} }

func keyed(key string) tool.Caller {
	c := caller()
	c.Key = key
	return c
}

// list reads the tool list, without which nothing is offered.
func (p process) list(t *testing.T, c tool.Caller) []string {
	t.Helper()
	tools, err := p.List(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range tools {
		names = append(names, one.Name)
	}
	return names
}

// call makes a call whose answer arrives.
func (p process) call(t *testing.T, c tool.Caller, name, arguments string) tool.Result {
	t.Helper()
	r := p.unheard(t, c, name, arguments)
	r.Delivered(true)
	return r
}

// unheard makes a call whose answer is not told to have arrived or not.
func (p process) unheard(t *testing.T, c tool.Caller, name, arguments string) tool.Result {
	t.Helper()
	r, err := p.Call(t.Context(), c, name, json.RawMessage(arguments))
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	whole(t, r)
	return r
}

// whole checks what holds of every result.
func whole(t *testing.T, r tool.Result) {
	t.Helper()
	text := r.Text()
	if len(r.Content) == 0 || len(r.Content) > 2 || r.Content[0].MIME != "" || len(text) > tool.MaxText || strings.HasSuffix(text, "\n") {
		t.Errorf("the content is %d parts, the text %d bytes", len(r.Content), len(text))
	}
	if r.Delivered == nil {
		t.Fatal("nobody can be told whether the answer arrived")
	}
	for _, name := range []string{"wayleave/run", "wayleave/call", "wayleave/conversation", "wayleave/evidence"} {
		if _, ok := r.Meta[name]; !ok {
			t.Errorf("_meta has no %s", name)
		}
	}
	keys := keysOf(t, r)
	if keys["ok"] != (r.Failure == nil) {
		t.Errorf("ok is %v with the failure %v", keys["ok"], r.Failure)
	}
	if r.Failure == nil {
		return
	}
	if r.Failure.Error() != text || keys["code"] != r.Code || !strings.HasPrefix(text, r.Code+": ") {
		t.Errorf("code %q, key %v and text %q differ", r.Code, keys["code"], text)
	}
	if next, _ := keys["next"].(string); !strings.Contains(text, "\nnext: "+next+" · ") {
		t.Errorf("next is %q in the keys of %q", next, text)
	}
}

func keysOf(t *testing.T, r tool.Result) map[string]any {
	t.Helper()
	var keys map[string]any
	if err := json.Unmarshal(r.Structured, &keys); err != nil {
		t.Fatalf("structured %s: %v", r.Structured, err)
	}
	return keys
}

// want checks a refusal or error by its code.
func want(t *testing.T, r tool.Result, code string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("the code is %q, want %q: %s", r.Code, code, r.Text())
	}
}

// hold leaves the implicit run with an effect of unknown outcome.
func (s *stage) hold(t *testing.T) tool.Result {
	t.Helper()
	s.set.Script.At(tooltest.Input(2), func(context.Context) error { return tooltest.ErrBroken })
	r := s.call(t, caller(), "press", `{"text":"lost"}`)
	s.set.Script.At(tooltest.Input(2), nil)
	want(t, r, "connection_lost")
	return r
}

// record reads a call as it stands.
func (p process) record(t *testing.T, r tool.Result) ledger.Record {
	t.Helper()
	rec, err := p.rows.Call(t.Context(), "", r.Run, r.Call)
	if err != nil {
		t.Fatalf("record %q of run %q: %v", r.Call, r.Run, err)
	}
	return rec
}

// reached waits until a call has come to a stop.
func reached(t *testing.T, stop *tooltest.Stop) {
	t.Helper()
	select {
	case <-stop.Reached:
	case <-time.After(time.Minute):
		t.Fatal("no call came to where it was to stop")
	}
}

// eventually waits for what another goroutine does.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("never: %s", what)
		}
	}
}

func logger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func plugsOf(s *stage) func(context.Context, string) ([]tool.Plug, error) {
	return func(context.Context, string) ([]tool.Plug, error) { return s.set.Plugs(), nil }
}
