// This file is what the ledger's tests share: an install in memory under synctest's clock, processes on it, and a caller
// that carries a call through as a pipeline does.
package ledger_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/ledger/ledgertest"
)

const agent = "agent_one"

// kind is a tool of tests: its name, capability and class.
type kind struct {
	tool, capability string
	class            effect.Class
}

var (
	asks    = kind{"ask", "search", effect.Query}
	looks   = kind{"look", "read", effect.Observation}
	presses = kind{"press", "browser", effect.Effect}
	kinds   = []kind{asks, looks, presses}
)

// resolve binds a capability to what its connection says, or to "auto".
func resolve(f binding.Facts, capability, tool, profile string) binding.Resolution {
	b := binding.Binding{Agent: f.Agent.ID, GrantsVersion: f.Agent.GrantsVersion, Capability: capability, ConnectionOwner: binding.Install,
		Provider: "auto", AccountOwner: "none", Profile: profile, Meter: binding.Install}
	r := binding.Resolution{}
	if c := f.Shared; c != nil {
		b.Provider, b.ConnectionVersion, b.RunLimit, b.MinuteLimit = c.Provider, c.Version, c.RunLimit, c.MinuteLimit
		if c.Mode == "disabled" {
			r.Off = "switched off"
		}
	}
	r.Binding = b
	return r
}

// install is a world with an agent that has listed its tools, and a run.
type install struct {
	*ledgertest.World
	t   *testing.T
	run string
	n   int

	mu   sync.Mutex // guards sent
	sent map[string]int
}

func newInstall(t *testing.T) *install {
	t.Helper()
	i := &install{World: ledgertest.New(resolve, time.Now), t: t, sent: make(map[string]int)}
	i.SetAgent(binding.Agent{ID: agent, Slug: "one", GrantsVersion: 1})
	i.list()
	r, err := i.Store().OpenRun(t.Context(), ledger.NewRun{Agent: agent, Kind: "explicit", Deadline: time.Hour, MaxCalls: 1000})
	if err != nil {
		t.Fatal(err)
	}
	i.run = r.ID
	return i
}

// list has the agent list its tools.
func (i *install) list() {
	i.t.Helper()
	var tools []ledger.Tool
	for _, k := range kinds {
		tools = append(tools, ledger.Tool{Name: k.tool, Capability: k.capability})
	}
	if _, err := i.Store().Offer(context.Background(), agent, "agent:"+agent, tools); err != nil {
		i.t.Fatal(err)
	}
}

// line is a process's line to the rows, on which a test may do something before and after each transaction.
type line struct {
	mu          sync.Mutex // guards what follows
	first, last func(method string) error
}

func (n *line) before(do func(method string) error) { n.mu.Lock(); n.first = do; n.mu.Unlock() }
func (n *line) after(do func(method string) error)  { n.mu.Lock(); n.last = do; n.mu.Unlock() }

func (n *line) call(which *func(string) error) func(string) error {
	return func(method string) error {
		n.mu.Lock()
		do := *which
		n.mu.Unlock()
		if do == nil {
			return nil
		}
		return do(method)
	}
}

// process starts a program on the install. stop ends it in order; it is called at the end of the test at the latest.
func (i *install) process(changes ...func(*ledger.Options)) (l *ledger.Ledger, s *line, stop func()) {
	i.t.Helper()
	o := ledger.Options{Label: "test", DigestKey: bytes.Repeat([]byte{7}, 32)}
	for _, c := range changes {
		c(&o)
	}
	s = &line{}
	rows := i.Store()
	rows.Before, rows.After = s.call(&s.first), s.call(&s.last)
	l, err := ledger.New(rows, o)
	if err != nil {
		i.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	synctest.Wait()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			i.t.Errorf("the process ended with %v", err)
		}
	})
	i.t.Cleanup(stop)
	return l, s, stop
}

// marksAreWritten moves the bubble's clock past the next write of delivery marks, which comes every 100 ms. Nobody waits: the
// clock is synctest's.
func marksAreWritten() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// ask is a call of a kind; each has arguments of its own unless they are changed.
func (i *install) ask(k kind, changes ...func(*ledger.Ask)) ledger.Ask {
	i.n++
	a := ledger.Ask{Run: i.run, Agent: agent, Audience: "agent:" + agent, Tool: k.tool, Capability: k.capability, Class: k.class,
		Digest: fmt.Appendf(nil, "arguments %d", i.n), Args: []byte(`{}`), Unit: true, Bound: 20 * time.Second}
	for _, c := range changes {
		c(&a)
	}
	return a
}

func key(k string) func(*ledger.Ask)    { return func(a *ledger.Ask) { a.Key = k } }
func given(d string) func(*ledger.Ask)  { return func(a *ledger.Ask) { a.Digest = []byte(d) } }
func input(i *install, id string)       { i.mu.Lock(); i.sent[id]++; i.mu.Unlock() }
func (i *install) inputs(id string) int { i.mu.Lock(); defer i.mu.Unlock(); return i.sent[id] }

// admit must let a fresh call in.
func (i *install) admit(l *ledger.Ledger, a ledger.Ask) *ledger.Call {
	i.t.Helper()
	c, err := l.Admit(context.Background(), a, nil)
	if err != nil {
		i.t.Fatalf("admit %s: %v", a.Tool, err)
	}
	if _, recorded := c.Recorded(); recorded {
		i.t.Fatalf("admit %s: a recorded call, want a fresh one", a.Tool)
	}
	return c
}

// open must give the context of the sending.
func (i *install) open(c *ledger.Call) (ledger.Permit, context.Context) {
	i.t.Helper()
	p, err := c.Dispatch(c.Context())
	if err != nil {
		i.t.Fatalf("dispatch: %v", err)
	}
	ctx, err := p.Open(c.Context())
	if err != nil {
		i.t.Fatalf("open: %v", err)
	}
	return p, ctx
}

// settle must be in time.
func (i *install) settle(c *ledger.Call, r ledger.Report) ledger.Settled {
	i.t.Helper()
	s, err := c.Settle(r)
	if err != nil || s.Late {
		i.t.Fatalf("settle: late %t, %v", s.Late, err)
	}
	return s
}

// row is a call as it stands.
func (i *install) row(id string) ledger.Record {
	i.t.Helper()
	all := i.Calls()
	n := slices.IndexFunc(all, func(r ledger.Record) bool { return r.ID == id })
	if n < 0 {
		i.t.Fatalf("there is no call %s", id)
	}
	return all[n]
}

func (i *install) stands(id string, state effect.State, outcome effect.Outcome) ledger.Record {
	i.t.Helper()
	r := i.row(id)
	if r.State != state || r.Outcome != outcome {
		i.t.Fatalf("%s is %s/%s (%s), want %s/%s", r.Tool, r.State, r.Outcome, r.Code, state, outcome)
	}
	return r
}

// hold must be who holds the run.
func (i *install) hold(want string) {
	i.t.Helper()
	r, err := i.Store().Run(context.Background(), agent, i.run)
	if err != nil || r.Hold != want {
		i.t.Fatalf("the run is held by %q, %v; want %q", r.Hold, err, want)
	}
}

// units are what the run has used of a kind.
func (i *install) units(k kind) int64 {
	i.t.Helper()
	r, err := i.Store().Run(context.Background(), agent, i.run)
	if err != nil {
		i.t.Fatal(err)
	}
	return r.RunMeters[k.capability]
}
