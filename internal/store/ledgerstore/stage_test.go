package ledgerstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
)

// The tools of these tests: what is asked of a provider, looked at, posted (an effect that is metered), pressed (one that
// is not).
var (
	asking   = ledger.Tool{Name: "ask", Capability: "search"}
	looking  = ledger.Tool{Name: "look", Capability: "read"}
	posting  = ledger.Tool{Name: "post", Capability: "mail"}
	pressing = ledger.Tool{Name: "press", Capability: "browser"}
)

func classOf(tool string) effect.Class {
	return map[string]effect.Class{"ask": effect.Query, "look": effect.Observation, "post": effect.Effect, "press": effect.Effect}[tool]
}

// rule is a rule of binding for tests: the install's connection alone counts.
func rule(f binding.Facts, capability, tool, profile string) binding.Resolution {
	r := binding.Resolution{Binding: binding.Binding{Agent: f.Agent.ID, GrantsVersion: f.Agent.GrantsVersion, Capability: capability,
		ConnectionOwner: binding.Install, Provider: "auto", AccountOwner: "none", Profile: profile, Class: classOf(tool), Meter: binding.Install}}
	if c := f.Shared; c != nil {
		r.Binding.ConnectionVersion, r.Binding.Provider, r.Binding.RunLimit, r.Binding.MinuteLimit = c.Version, c.Provider, c.RunLimit, c.MinuteLimit
		r.Binding.RunLimitOf = "connection"
	}
	if capability == pressing.Capability {
		r.Binding.Meter, r.Binding.RunLimit, r.Binding.MinuteLimit = binding.Uncounted, 0, 0
	}
	return r
}

// stage is an install with one agent, one process and one open run, whose tools are offered to the agent.
type stage struct {
	testing.TB
	ctx    context.Context
	db     *sqldb.DB
	clock  *dbtest.Clock
	sealer seal.Sealer
	s      *Store
	run    string
}

const (
	agentID   = "agent_one"
	processID = "process_one"
	audience  = "agent:" + agentID
	ttl       = 15 * time.Second
)

func newStage(t testing.TB, db *sqldb.DB, clock *dbtest.Clock) *stage {
	t.Helper()
	st := &stage{TB: t, ctx: context.Background(), db: db, clock: clock, sealer: dbtest.Sealer()}
	st.s = st.store(db, nil)
	st.exec("INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES($1,'one','One','active',1,now_us())", agentID)
	must(t, st.s.Register(st.ctx, processID, "test", "1", ttl))
	st.run = st.open()
	st.offer()
	return st
}

// store is another process on the same rows.
func (st *stage) store(db *sqldb.DB, point func(string)) *Store {
	s, err := New(db, st.sealer, rule, Options{Point: point})
	must(st, err)
	return s
}

func (st *stage) open() string {
	st.Helper()
	r, err := st.s.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: "explicit", Audience: audience, Deadline: time.Hour, MaxCalls: 1_000_000})
	must(st, err)
	return r.ID
}

func (st *stage) offer() {
	st.Helper()
	_, err := st.s.Offer(st.ctx, agentID, audience, []ledger.Tool{asking, looking, posting, pressing})
	must(st, err)
}

// connect writes the install's connection of a capability as a configuration write does.
func (st *stage) connect(db *sqldb.DB, capability, provider string, version, perRun, perMinute int64) {
	st.Helper()
	must(st, db.Write(st.ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`INSERT INTO connections(owner, capability, mode, provider, version, run_limit, minute_limit, changed_at, changed_by)
 VALUES('install',$1,'own',$2,$3,$4,$5,now_us(),'test') ON CONFLICT(owner, capability) DO UPDATE
 SET provider=excluded.provider, version=excluded.version, run_limit=excluded.run_limit, minute_limit=excluded.minute_limit`,
			capability, provider, version, number(perRun), number(perMinute)); err != nil {
			return err
		}
		return settings.Changed(tx)
	}))
}

var nonces atomic.Int64

// ask is an admission under a nonce of its own.
func (st *stage) ask(t ledger.Tool) ledger.Admission {
	return ledger.Admission{Nonce: fmt.Sprintf("nonce_%d", nonces.Add(1)), Process: processID, Ask: ledger.Ask{ID: rowid.New("call"), Run: st.run, Agent: agentID, Audience: audience,
		Tool: t.Name, Capability: t.Capability, Class: classOf(t.Name), Digest: []byte("digest of " + t.Name), Args: []byte(`{"a":1}`), Unit: true,
		Bound: time.Minute, Source: ledger.Source{Host: "example.com", URL: "https://example.com/page"}}}
}

func (st *stage) admit(a ledger.Admission) ledger.Admitted {
	st.Helper()
	got, err := st.s.Admit(st.ctx, a)
	must(st, err)
	if got.Kind != ledger.Fresh {
		st.Fatalf("admitted as %d", got.Kind)
	}
	return got
}

// done is how a call of an admission ends well.
func done(a ledger.Admission) ledger.Settlement {
	return ledger.Settlement{Call: a.ID, Nonce: a.Nonce, From: effect.Dispatched, State: effect.Succeeded, Outcome: effect.OK, Result: []byte("a result")}
}

func (st *stage) exec(query string, args ...any) {
	st.Helper()
	must(st, st.db.Write(st.ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// number of a query's one row and column.
func (st *stage) count(query string, args ...any) (n int64) {
	st.Helper()
	must(st, st.db.Read(st.ctx, func(tx *sqldb.Tx) error {
		_, err := tx.One(query, args, &n)
		return err
	}))
	return n
}

// rows is how many rows each table of an admission has, and what the run and the meters count.
func (st *stage) rows() string {
	st.Helper()
	text := ""
	for _, q := range []string{"SELECT count(*) FROM tool_calls", "SELECT count(*) FROM reservations", "SELECT count(*) FROM evidence", "SELECT sum(calls) FROM runs",
		"SELECT coalesce(sum(used),0) FROM run_meters", "SELECT coalesce(sum(used),0) FROM minute_meters"} {
		text += fmt.Sprintf(" %d", st.count("SELECT CAST(("+q+") AS BIGINT)"))
	}
	return text
}

func (st *stage) invariants() {
	st.Helper()
	storetest.Invariants(st, st.db)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refusedAs is the refusal of an error, which must have a code.
func refusedAs(t testing.TB, err error, code string) *ledger.Refusal {
	t.Helper()
	var r *ledger.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Fatalf("the answer is %v, want the refusal %s", err, code)
	}
	return r
}
