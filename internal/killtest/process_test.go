//go:build unix

// This file is what a process does that is going to be killed.
package killtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// orders are what a process is started with.
type orders struct {
	install
	Label string
	// Die is the point at which it ends by a signal that nothing catches, the Nth time that it comes there; empty: it lives.
	Die string
	Nth int64
	// Script is one act that it does, by name; empty: it works with several workers until its standard input ends.
	Script string
	Call   script
	Seed   uint64
	// Eager makes it reconcile and configure more often than not.
	Eager bool
}

// script is what one act is about.
type script struct {
	Kind      kind
	Key, Run  string
	Reconcile string // a call
	Gone      bool   // the database is gone when the call is settled
}

// process is one under way.
type process struct {
	orders
	db     *sqldb.DB
	rows   *ledgerstore.Store
	l      *ledger.Ledger
	world  *world
	passed atomic.Int64
}

func contextFor(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// point ends the process where it was told to.
func (p *process) point(name string) {
	if name != p.Die || p.passed.Add(1) != p.Nth {
		return
	}
	fmt.Println("dying", name)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (o orders) carryOut() (err error) {
	p := &process{orders: o}
	if p.world, err = openWorld(o.World, o.Label); err != nil {
		return err
	}
	if p.db, err = o.open(); err != nil {
		return err
	}
	if p.rows, err = rows(p.db, p.point); err != nil {
		return err
	}
	var store ledger.Store = p.rows
	if o.Call.Gone {
		store = gone{store}
	}
	set := options(o.Label)
	if o.Script != "" { // it does nothing else of its own, and is not called dead before the test says so
		set.TTL, set.Sweep = time.Minute, time.Hour
	}
	if p.l, err = ledger.New(store, set); err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- p.l.Run(ctx) }()
	if o.Script != "" {
		err = p.act()
	} else {
		p.work()
	}
	end()
	return errors.Join(err, <-ran, p.db.Close())
}

// gone is a database that does not answer any more when a call is settled.
type gone struct{ ledger.Store }

func (gone) Settle(context.Context, ledger.Settlement) (ledger.Settled, error) {
	return ledger.Settled{}, sqldb.ErrUnavailable
}

// ask is a call in a run.
func ask(k kind, run, key, arguments string) ledger.Ask {
	return ledger.Ask{Run: run, Agent: agent, Audience: "agent:" + agent, Key: key, Tool: k.Tool, Capability: k.Capability, Class: k.Class,
		Digest: []byte(arguments), Args: []byte(`{}`), Unit: true, Bound: 5 * time.Second, Source: ledger.Source{Host: "example.com", URL: "https://example.com/"}}
}

// act does one thing, and is killed somewhere on the way.
func (p *process) act() error {
	ctx, cancel := contextFor(20 * time.Second)
	defer cancel()
	switch p.Script {
	case "call":
		return p.call(ctx, ask(p.Call.Kind, p.Call.Run, p.Call.Key, "scripted"), 0, true)
	case "sweep":
		for { // until there is something to conclude, in which it is killed
			if _, err := p.l.Sweep(ctx); err != nil {
				return err
			}
		}
	case "reconcile":
		_, err := p.l.Reconcile(ctx, agent, p.Call.Run, p.Call.Reconcile, ledger.Reconciliation{Verdict: ledger.NotHappened, By: ledger.By{Kind: "operator", ID: "person_one"}})
		return err
	case "configure":
		return p.configure(ctx, p.Call.Kind)
	}
	return fmt.Errorf("there is no script %q", p.Script)
}

// configure changes the connection of a capability.
func (p *process) configure(ctx context.Context, k kind) error {
	err := p.db.Write(ctx, sqldb.Settings, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`INSERT INTO connections(owner, capability, mode, provider, version, changed_at, changed_by) VALUES('install',$1,'own','other',1,now_us(),'person_one')
 ON CONFLICT(owner, capability) DO UPDATE SET version=connections.version+1, changed_at=now_us()`, k.Capability); err != nil {
			return err
		}
		if err := settings.Changed(tx); err != nil {
			return err
		}
		p.point("config.before_commit")
		return nil
	})
	if err == nil {
		p.point("config.after_commit")
	}
	return err
}

// call carries one call through as a pipeline does. latency is between its inputs; arrives says that the answer reaches its
// caller.
func (p *process) call(ctx context.Context, a ledger.Ask, latency time.Duration, arrives bool) error {
	c, err := p.l.Admit(ctx, a, nil)
	if err != nil {
		return err
	}
	if r, recorded := c.Recorded(); recorded {
		p.world.tell(r.ID, r.State, r.Outcome)
		c.Delivered(arrives)
		return nil
	}
	report := p.carry(ctx, c, a, latency)
	if p.Script == "" && a.Class == effect.Effect && rand.IntN(20) == 0 { // whatever was sent, it is not known what became of it
		report = ledger.Uncertain("connection_lost", []byte("outcome unknown"))
	}
	settled, err := c.Settle(report)
	if err != nil {
		c.Delivered(false)
		return err
	}
	p.world.tell(settled.Record.ID, settled.Record.State, settled.Record.Outcome)
	p.point("deliver.before_mark")
	c.Delivered(arrives)
	return nil
}

// carry sends the inputs of an admitted call and reports how it went.
func (p *process) carry(ctx context.Context, c *ledger.Call, a ledger.Ask, latency time.Duration) ledger.Report {
	if a.Class == effect.Effect {
		lease, err := p.l.Lease(c.Context(), "session:"+a.Run, c, 0)
		if err != nil {
			return ledger.NotDispatched("browser_busy", nil)
		}
		defer lease.Release()
	}
	permit, err := c.Dispatch(c.Context())
	if err != nil {
		return ledger.NotDispatched("held", nil)
	}
	sending, err := permit.Open(c.Context())
	if err != nil {
		return ledger.NotDispatched("revoked", nil)
	}
	for n := range inputs {
		if n > 0 {
			p.point("send.between_inputs")
			wait(sending, latency)
		}
		checked := time.Now()
		if err := permit.Check(); err != nil {
			return ledger.Uncertain("connection_lost", []byte("outcome unknown"))
		}
		p.world.send(c.ID(), n, checked)
	}
	p.point("send.after")
	wait(sending, latency)
	return ledger.Done([]byte("the result of " + c.ID()))
}

// wait is the world's latency.
func wait(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// workers is how many of a process's callers are at work at once.
const workers = 4

// work does things at random until the standard input ends.
func (p *process) work() {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for n := range workers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(p.Seed, uint64(n)))
			for ctx.Err() == nil {
				p.something(ctx, r)
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	all.Wait()
}

// something is one act at random. What comes of it is looked at from outside.
func (p *process) something(ctx context.Context, r *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	run := p.run(ctx, r)
	if run == "" {
		wait(ctx, beat)
		return
	}
	n := r.IntN(100)
	if p.Eager && r.IntN(2) == 0 {
		n = r.IntN(9)
	}
	switch {
	case n < 6:
		p.reconcile(ctx, r, run)
	case n < 9:
		_ = p.configure(ctx, kinds[r.IntN(len(kinds))])
	case n < 11:
		if _, err := p.l.EndRun(ctx, agent, run, "ended"); err == nil {
			_, _ = p.l.OpenRun(ctx, ledger.Opening{Agent: agent, Deadline: time.Hour, MaxCalls: 1 << 30})
		}
	case n < 13:
		if all, err := p.rows.CallsOf(ctx, agent, run, 0, 1000); err == nil && len(all) > 0 {
			_, _ = p.l.Cancel(ctx, agent, run, all[len(all)-1].ID)
		}
	default:
		caller, leave := context.WithTimeout(ctx, time.Duration(50+r.IntN(4000))*time.Millisecond)
		k, key := kinds[r.IntN(len(kinds))], ""
		arguments := fmt.Sprintf("of %d", r.IntN(3))
		if r.IntN(3) == 0 { // one of a few names that both processes give, always to the same call
			n := r.IntN(60)
			k, key, arguments = kinds[n%len(kinds)], fmt.Sprintf("key-of-call-%d-%d", p.Seed/1000, n), "keyed"
		}
		_ = p.call(caller, ask(k, run, key, arguments), time.Duration(r.IntN(20))*time.Millisecond, r.IntN(4) > 0)
		leave()
	}
}

// run is an open run at random.
func (p *process) run(ctx context.Context, r *rand.Rand) string {
	all, err := p.rows.RunsOf(ctx, []string{agent}, "", 20)
	if err != nil {
		return ""
	}
	var open []string
	for _, run := range all {
		if run.Open {
			open = append(open, run.ID)
		}
	}
	if len(open) == 0 {
		return ""
	}
	return open[r.IntN(len(open))]
}

// reconcile states something of the effect that holds a run.
func (p *process) reconcile(ctx context.Context, r *rand.Rand, run string) {
	at, err := p.l.NamedRun(ctx, agent, run)
	if err != nil || at.Hold == "" {
		return
	}
	v := []ledger.Verdict{ledger.Happened, ledger.NotHappened, ledger.VerdictUnknown}[r.IntN(3)]
	_, _ = p.l.Reconcile(ctx, agent, run, at.Hold, ledger.Reconciliation{Verdict: v, By: ledger.By{Kind: "harness", ID: "token_one"}})
}
