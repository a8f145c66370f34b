// This file lets a crowd loose on one database through two stores at once: nobody says what each must be answered, but
// the rows, and what was sent, must be in order when all have gone home.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// crowd is what those who walk share.
type crowd struct {
	s      *Stage
	t      testing.TB
	ctx    context.Context
	stores [2]ledger.Store

	settings sync.Mutex // one person configures at a time; guards rows
	agents   map[string]AgentRow
	versions int64

	mu      sync.Mutex // guards what follows
	process [2]string
	births  int
	runs    []string // of agent one, newest last
	calls   []attempt
	sent    map[string]int // how often each call was sent
	told    map[string]int // answers, so that a crowd that does nothing is seen
}

// attempt is a call as the one who was let in knows it.
type attempt struct {
	id, nonce, run string
	class          effect.Class
	sent           bool
}

func newCrowd(t testing.TB, open Open) *crowd {
	s := open(t)
	c := &crowd{s: s, t: t, ctx: context.Background(), stores: [2]ledger.Store{s.A, s.B}, agents: map[string]AgentRow{agentOne: {ID: agentOne, Grants: 1}},
		sent: make(map[string]int), told: make(map[string]int)}
	s.Settings.Agent(t, c.agents[agentOne])
	for i := range c.stores {
		if err := c.register(i); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := c.open(c.stores[0]); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *crowd) register(i int) error {
	c.mu.Lock()
	c.births++
	id := fmt.Sprintf("proc_%d", c.births)
	c.process[i] = id
	c.mu.Unlock()
	return c.stores[i].Register(c.ctx, id, "crowd", "1", ttl)
}

func (c *crowd) open(s ledger.Store) error {
	run, err := s.OpenRun(c.ctx, ledger.NewRun{Agent: agentOne, Kind: "explicit", Deadline: 10 * time.Minute, MaxCalls: 200})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs = append(c.runs, run.ID)
	return err
}

// tell counts an answer.
func (c *crowd) tell(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[fmt.Sprintf(format, args...)]++
}

func (c *crowd) send(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.sent = true
	c.sent[a.id]++
}

// some picks one of the last of a list.
func some[T any](c *crowd, r *rand.Rand, list *[]T, among int) (v T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(*list) == 0 {
		return v, false
	}
	return pick(r, (*list)[max(0, len(*list)-among):]), true
}

// live is one who makes calls, and now and then does what others do.
func (c *crowd) live(r *rand.Rand, who, rounds int) error {
	i := who % 2
	s := c.stores[i]
	for n := range rounds {
		var err error
		switch x := r.IntN(100); {
		case x < 60:
			err = c.call(r, i, fmt.Sprintf("nonce_%d_%d", who, n))
		case x < 64:
			var swept int
			swept, err = s.Sweep(c.ctx, ledger.Retention{})
			c.tell("swept %t", swept > 0)
		case x < 68:
			err = c.configure(r)
		case x < 74:
			if _, offered := s.Offer(c.ctx, agentOne, "agent:"+agentOne, Tools()); offered != nil {
				err = offered
			}
		case x < 84:
			err = c.reconcile(r, s)
		case x < 88:
			c.settings.Lock()
			c.s.Clock.Advance(time.Duration(r.IntN(6000)) * time.Millisecond)
			c.settings.Unlock()
		case x < 93:
			err = c.beat(i)
		case x < 94:
			c.mu.Lock()
			old := c.process[i]
			c.mu.Unlock()
			if chance(r, 50) {
				err = s.Retire(c.ctx, old)
			}
			err = errors.Join(err, c.register(i))
		case x < 96:
			if run, ok := some(c, r, &c.runs, 3); ok && chance(r, 40) {
				_, err = s.EndRun(c.ctx, agentOne, run, "ended")
				err = errors.Join(err, c.open(s))
			}
		default:
			err = c.lease(r, i)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
	}
	return nil
}

func (c *crowd) beat(i int) error {
	c.mu.Lock()
	id := c.process[i]
	c.mu.Unlock()
	alive, err := c.stores[i].Beat(c.ctx, id, ttl)
	c.tell("alive %t", alive)
	if err == nil && !alive {
		err = c.register(i)
	}
	return err
}

func (c *crowd) lease(r *rand.Rand, i int) error {
	c.mu.Lock()
	id := c.process[i]
	c.mu.Unlock()
	fence, ok, err := c.stores[i].Acquire(c.ctx, "session:one", id, "", 20*time.Second)
	c.tell("leased %t", ok)
	if err != nil || !ok || chance(r, 50) {
		return err
	}
	return c.stores[i].Release(c.ctx, "session:one", fence)
}

// call is one call from its admission to its delivery, unless it is lost on the way.
func (c *crowd) call(r *rand.Rand, i int, nonce string) error {
	s := c.stores[i]
	run, _ := some(c, r, &c.runs, 3)
	tool := pick(r, []ledger.Tool{Ask, Look, Post, Press, Press})
	text := fmt.Sprintf(`{"n":%d}`, r.IntN(3))
	c.mu.Lock()
	process := c.process[i]
	c.mu.Unlock()
	a := ledger.Admission{Ask: ledger.Ask{Agent: agentOne, Audience: "agent:" + agentOne, Run: run, Tool: tool.Name, Capability: tool.Capability, Class: ClassOf(tool.Name),
		Args: []byte(text), Digest: digestOf(tool.Name, text), Unit: tool != Press, Bound: bound, Source: ledger.Source{Host: "example.com"}}, Nonce: nonce, Process: process}
	if chance(r, 40) { // the same few keys, so that several ask for the same at once
		a.Key = fmt.Sprintf("key-%s-%s-%d", tool.Name, text, r.IntN(40))
	}
	got, err := s.Admit(c.ctx, a)
	var refusal *ledger.Refusal
	if errors.As(err, &refusal) {
		c.tell("refused: %s", refusal.Code)
		return nil
	}
	if err != nil {
		return fmt.Errorf("admit: %w", err)
	}
	if got.Kind != ledger.Fresh {
		c.tell("%s", answer(got.Kind, got.Twin, ""))
		if got.Kind == ledger.TwinFinal {
			return s.Deliver(c.ctx, []ledger.Mark{{Call: got.Record.ID, Owner: got.Record.Owner, Delivery: ledger.HandedOver}})
		}
		return nil
	}
	c.tell("fresh %s", a.Class)
	at := attempt{id: got.Record.ID, nonce: nonce, run: run, class: a.Class}
	c.mu.Lock()
	c.calls = append(c.calls, at)
	c.mu.Unlock()
	from := effect.Dispatched
	if a.Class == effect.Effect {
		from = effect.Admitted
		verdict := ledger.DispatchLate
		if chance(r, 90) {
			if verdict, err = s.Dispatch(c.ctx, at.id, nonce); err != nil {
				return fmt.Errorf("dispatch: %w", err)
			}
			c.tell("dispatch: %s", verdict)
		}
		if verdict == ledger.DispatchDone {
			from = effect.Dispatched
			c.send(&at)
		}
	} else if chance(r, 90) {
		c.send(&at)
	}
	if chance(r, 15) { // its process forgets it
		return nil
	}
	m := pick(r, ends(&mCall{class: a.Class, sent: at.sent}, from))
	m.Call, m.Nonce, m.From, m.Gone, m.Result, m.Why = at.id, nonce, from, chance(r, 20), []byte("result"), "as it went"
	done, err := s.Settle(c.ctx, m)
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	c.tell("settled: late %t, withheld %t", done.Late, done.Withheld)
	if chance(r, 80) {
		return s.Deliver(c.ctx, []ledger.Mark{{Call: at.id, Owner: got.Record.Owner, Delivery: pick(r, []ledger.Delivery{ledger.HandedOver, ledger.CallerGone})}})
	}
	return nil
}

func (c *crowd) reconcile(r *rand.Rand, s ledger.Store) error {
	run, _ := some(c, r, &c.runs, 3)
	state, err := s.Run(c.ctx, agentOne, run)
	if err != nil {
		return err
	}
	id := state.Hold
	if at, ok := some(c, r, &c.calls, 10); ok && (id == "" || chance(r, 10)) {
		id, run = at.id, at.run
	}
	if id == "" {
		return nil
	}
	_, err = s.Reconcile(c.ctx, agentOne, run, id, ledger.Reconciliation{Verdict: pick(r, []ledger.Verdict{ledger.Happened, ledger.NotHappened}), By: ledger.By{Kind: "harness", ID: "token_one"}})
	c.tell("reconcile: %v", err)
	for _, expected := range []error{ledger.ErrInFlight, ledger.ErrNotUncertain, ledger.ErrReconciled} {
		if errors.Is(err, expected) {
			return nil
		}
	}
	return err
}

func (c *crowd) configure(r *rand.Rand) error {
	c.settings.Lock()
	defer c.settings.Unlock()
	capability := pick(r, Tools()).Capability
	if chance(r, 25) {
		a := c.agents[agentOne]
		a.Grants++
		c.agents[agentOne] = a
		c.s.Settings.Agent(c.t, a)
		return nil
	}
	c.versions++
	row := ConnectionRow{Owner: "install", Capability: capability, Mode: "own", Provider: pick(r, []string{"brave", "other"}), Version: c.versions}
	if chance(r, 50) {
		row.RunLimit, row.MinuteLimit = 3+int64(r.IntN(20)), 3+int64(r.IntN(20))
	}
	c.s.Settings.Connection(c.t, row)
	return nil
}

// home lets everything come to rest and looks at the rows and at what was sent.
func (c *crowd) home() {
	c.t.Helper()
	c.s.Clock.Advance(time.Hour)
	if _, err := c.s.B.Sweep(c.ctx, ledger.Retention{}); err != nil {
		c.t.Error(err)
	}
	Quiet(c.t, c.s.DB)
	if err := c.s.DB.Read(c.ctx, func(tx *sqldb.Tx) error {
		return tx.All("SELECT id, class, state, coalesce(outcome, ''), coalesce(dispatched_at, 0) FROM tool_calls", nil, func(scan func(...any) error) error {
			var id, class, state, outcome string
			var dispatched int64
			if err := scan(&id, &class, &state, &outcome, &dispatched); err != nil {
				return err
			}
			n := c.sent[id]
			delete(c.sent, id)
			switch {
			case n > 1:
				c.t.Errorf("%s was sent %d times", id, n)
			case n == 1 && (state == "refused" || dispatched == 0 || outcome == string(effect.NotDispatched)):
				c.t.Errorf("%s was sent and is %s/%s, dispatched at %d", id, state, outcome, dispatched)
			case n == 0 && outcome == string(effect.OK):
				c.t.Errorf("%s was not sent and is said to be", id)
			}
			return nil
		})
	}); err != nil {
		c.t.Error(err)
	}
	if len(c.sent) != 0 {
		c.t.Errorf("sent without a row: %v", c.sent)
	}
}

func TestCrowd(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			rounds := map[sqldb.Dialect]int{sqldb.SQLite: 120, sqldb.Postgres: 50}[d]
			if os.Getenv(soak) != "" {
				rounds *= 10
			}
			seed := seedOf(t)
			t.Logf("seed %d", seed)
			c := newCrowd(t, onDatabase(t, d))
			const people = 8
			wrong := make(chan error, people)
			for who := range people {
				go func() {
					err := errors.New("a write of settings ended it")
					defer func() { wrong <- err }()
					err = c.live(rand.New(rand.NewPCG(seed, uint64(who))), who, rounds)
				}()
			}
			for range people {
				if err := <-wrong; err != nil {
					t.Error(err)
				}
			}
			c.home()
			var told []string
			for answer, n := range c.told {
				told = append(told, fmt.Sprintf("%5d %s", n, answer))
			}
			slices.Sort(told)
			t.Logf("%d calls; answers:\n%s", len(c.calls), told)
			for _, answer := range []string{"fresh effect", "fresh query", "dispatch: done", "settled: late false, withheld false"} {
				if c.told[answer] == 0 {
					t.Errorf("the crowd was never answered %q", answer)
				}
			}
		})
	}
}
