// Package ledgertest keeps the ledger's rows in memory, for tests of whoever stands on the ledger: the same answers as a
// database gives, under a clock that a test moves, with faults where a test wants them.
//
// The one rule: it promises what ledger.Store promises and is held to the same contract, so that what passes over it
// passes over a database.
package ledgertest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
)

// World is the rows of one install. Every process of it has a [Store] of its own.
type World struct {
	resolve binding.Resolve
	clock   func() time.Time // nil: hand

	mu        sync.Mutex // guards what follows; a transaction holds it
	hand      time.Time
	epoch     int64
	pause     binding.Pause
	agents    map[string]binding.Agent
	conns     map[owned]binding.Connection
	approvals map[string]*approval
	offers    map[listed]binding.Binding
	processes map[string]*process
	runs      map[string]*run
	calls     map[string]*call
	order     []*call // calls as they were made
	minutes   map[minute]int64
	leases    map[string]*lease
	notices   []*notice
}

type (
	owned  struct{ owner, capability string }
	listed struct{ audience, tool string }
	minute struct {
		meter, capability string
		minute            int64
	}
	process struct {
		expires time.Time
		dead    bool
	}
	run struct {
		ledger.Run
		idle time.Duration
	}
	call struct {
		ledger.Record
		nonce  string
		digest []byte
		until  time.Time
		meter  string
	}
	lease struct {
		fence       int64
		owner, call string
		until       time.Time
	}
	notice struct {
		ledger.Notice
		claimed time.Time
		sent    bool
	}
	approval struct {
		Approval
		state, usedBy string
	}
)

// Approval is an answer that a person has given.
type Approval struct {
	ID, Agent, Run, Tool, Profile string
	Digest                        []byte
	GoodUntil                     time.Time
}

// New makes an empty install whose bindings are resolved by a rule. Its clock is now; nil means one that stands still
// until it is advanced.
func New(resolve binding.Resolve, now func() time.Time) *World {
	return &World{resolve: resolve, clock: now, hand: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), epoch: 1,
		agents: make(map[string]binding.Agent), conns: make(map[owned]binding.Connection), approvals: make(map[string]*approval),
		offers: make(map[listed]binding.Binding), processes: make(map[string]*process), runs: make(map[string]*run),
		calls: make(map[string]*call), minutes: make(map[minute]int64), leases: make(map[string]*lease)}
}

// Now is the database's clock, in whole microseconds as a row has them.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now()
}

func (w *World) now() time.Time {
	if w.clock != nil {
		return w.clock().UTC().Truncate(time.Microsecond)
	}
	return w.hand
}

// Advance moves the clock that a test holds.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hand = w.hand.Add(d)
}

// configure is a write of settings: one transaction that adds 1 to the epoch.
func (w *World) configure(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	w.epoch++
}

// SetAgent writes an agent's row.
func (w *World) SetAgent(a binding.Agent) { w.configure(func() { w.agents[a.ID] = a }) }

// SetConnection writes a connection for a capability; its owner is binding.Install or an agent's id.
func (w *World) SetConnection(capability string, c binding.Connection) {
	w.configure(func() { w.conns[owned{c.Owner, capability}] = c })
}

// PauseInstall stops every call; an empty name lets them go on.
func (w *World) PauseInstall(by string) {
	w.configure(func() {
		w.pause = binding.Pause{}
		if by != "" {
			w.pause = binding.Pause{By: by, At: w.now()}
		}
	})
}

// Approve writes an approval that a person has given.
func (w *World) Approve(a Approval) {
	w.configure(func() { w.approvals[a.ID] = &approval{Approval: a, state: "approved"} })
}

// ApprovalState gives an approval's state and the call that used it.
func (w *World) ApprovalState(id string) (state, usedBy string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.approvals[id]; a != nil {
		return a.state, a.usedBy
	}
	return "", ""
}

// Calls are all calls as they stand, in the order in which they were made, refused ones included.
func (w *World) Calls() []ledger.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []ledger.Record
	for _, c := range w.order {
		all = append(all, c.record(true))
	}
	return all
}

// Units are what a minute of a meter has counted at the clock's time.
func (w *World) Units(meter, capability string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.minutes[minute{meter, capability, minuteOf(w.now())}]
}

func minuteOf(t time.Time) int64 { return t.UnixMicro() / time.Minute.Microseconds() }

// Store is the install as one process reaches it.
type Store struct {
	*World
	// Before is called as a transaction begins, with its method's name: an error keeps it from happening. After is called
	// when it has been committed: an error makes it one that happened and was not answered. Both are set before the store is
	// used; nil does nothing.
	Before, After func(method string) error
}

var _ ledger.Store = (*Store)(nil)

// Store makes one process's way to the rows.
func (w *World) Store() *Store { return &Store{World: w} }

// write is a transaction. Like a driver of a real database it reports an error where its context ends while it commits:
// it has happened then. Whoever lets a caller's context in here is told wrong.
func (s *Store) write(ctx context.Context, method string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Before != nil {
		if err := s.Before(method); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	err := do()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if s.After != nil {
		if err := s.After(method); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (c *call) record(whole bool) ledger.Record {
	r := c.Record
	r.Why = slices.Clone(r.Why)
	if !whole {
		for _, e := range r.Evidence {
			r.Host = cmp.Or(r.Host, e.Host)
		}
		r.Args, r.Result, r.Late, r.Evidence = nil, nil, nil, nil
		return r
	}
	r.Args, r.Result, r.Late = bytes.Clone(r.Args), bytes.Clone(r.Result), bytes.Clone(r.Late)
	r.Evidence = slices.Clone(r.Evidence)
	if r.Verdict != nil {
		v := *r.Verdict
		r.Verdict = &v
	}
	return r
}

func (c *call) why(at time.Time, stage, fact, ref string) {
	if fact != "" {
		c.Why = append(c.Why, ledger.Reason{Stage: stage, At: at, Fact: fact, Ref: ref})
	}
}

// reasons adds what was decided before; what has no time is of now.
func (c *call) reasons(now time.Time, list []ledger.Reason) {
	for _, r := range list {
		if r.At.IsZero() {
			r.At = now
		}
		c.why(r.At, r.Stage, r.Fact, r.Ref)
	}
}

// resolved is what a tool is bound to now; found is false where there is no such agent.
func (w *World) resolved(agent, capability, tool, profile string) (r binding.Resolution, found bool) {
	a, found := w.agents[agent]
	f := binding.Facts{Agent: a, Install: w.pause}
	if c, ok := w.conns[owned{agent, capability}]; ok {
		f.Own = &c
	}
	if c, ok := w.conns[owned{binding.Install, capability}]; ok {
		f.Shared = &c
	}
	return w.resolve(f, capability, tool, profile), found
}

func (w *World) add(c *call) {
	if c.ID == "" {
		c.ID = rowid.New("call")
	}
	w.calls[c.ID] = c
	w.order = append(w.order, c)
}
