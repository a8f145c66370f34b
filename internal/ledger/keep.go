// This file is what a process does all the time: it gives signs of life, watches the settings, sweeps, writes delivery
// marks, and makes people hear notices.
package ledger

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/rowid"
)

const (
	// noticeEach is between looks for notices, noticeFor how long one is claimed, noticesAtMost how many are claimed at once.
	noticeEach    = time.Second
	noticeFor     = time.Minute
	noticesAtMost = 32
	// handOver is how long an answer that is settled may take to reach its caller while the process ends.
	handOver = 2 * time.Second
)

// Run keeps this process alive in the ledger until ctx ends; then it admits nothing more, waits for calls in flight (at
// most Options.Drain, then they are stopped), writes the last delivery marks and says that the process has ended. It may
// run once. The error is about the end alone: what fails while it runs is logged and tried again.
func (l *Ledger) Run(ctx context.Context) error {
	l.mu.Lock()
	if l.running {
		l.mu.Unlock()
		return errors.New("ledger: Run was called twice")
	}
	l.running = true
	l.mu.Unlock()

	alive, die := context.WithCancel(context.WithoutCancel(ctx))
	defer die()
	var serving, living sync.WaitGroup
	living.Go(func() { l.beat(alive) })
	living.Go(func() { l.each(alive, l.fixed(l.o.Watch), l.watchSettings()) })
	living.Go(func() { l.each(alive, l.fixed(l.o.Flush), l.flush) })
	serving.Go(func() { l.each(ctx, l.jittered(l.o.Sweep), l.sweep) })
	if l.o.Notify != nil {
		serving.Go(func() { l.each(ctx, l.fixed(noticeEach), l.notify) })
	}
	<-ctx.Done()
	l.drain()
	serving.Wait()
	die()
	living.Wait()

	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	l.flush(end)
	id := l.life.name()
	l.life.ended()
	if id == "" {
		return nil
	}
	return fault("end the process", again(end, func() error { return l.store.Retire(end, id) }))
}

// each does something now and then until ctx ends. What it does is not cut off.
func (l *Ledger) each(ctx context.Context, pause func() time.Duration, do func(context.Context)) {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
		do(bounded)
		cancel()
		t.Reset(pause())
	}
}

func (l *Ledger) fixed(d time.Duration) func() time.Duration {
	return func() time.Duration { return d }
}

// jittered is d give or take a fifth, so that processes that began together do not sweep together.
func (l *Ledger) jittered(d time.Duration) func() time.Duration {
	return func() time.Duration { return d*4/5 + time.Duration(rand.Int64N(int64(d)*2/5+1)) }
}

// beat registers, gives signs of life, and registers anew when the others have declared this process dead.
func (l *Ledger) beat(ctx context.Context) {
	l.each(ctx, l.fixed(l.o.Beat), func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, l.o.TTL/2) // an answer later than that is worth little
		defer cancel()
		began := time.Now()
		if id := l.life.name(); id != "" {
			alive, err := l.store.Beat(ctx, id, l.o.TTL)
			if err != nil {
				l.life.failed()
				l.o.Log.Warn("no sign of life could be given", "process", id, "error", err)
				return
			}
			if alive {
				l.life.good(id, began)
				l.measure(ctx)
				return
			}
			l.o.Log.Error("this process was declared dead; what it was permitted is over", "process", id)
			l.life.ended()
			began = time.Now()
		}
		id := rowid.New("proc")
		if err := l.store.Register(ctx, id, l.o.Label, l.o.Version, l.o.TTL); err != nil {
			l.life.failed()
			l.o.Log.Warn("the process could not be registered", "error", err)
			return
		}
		l.life.good(id, began)
		l.measure(ctx)
	})
}

// measure compares this process's clock with the database's, which is the one that counts.
func (l *Ledger) measure(ctx context.Context) {
	asked := time.Now()
	theirs, err := l.store.Now(ctx)
	if err != nil {
		return
	}
	ours := asked.Add(time.Since(asked) / 2)
	l.mu.Lock()
	l.skew = ours.Round(0).Sub(theirs)
	l.mu.Unlock()
}

// watchSettings makes the look at the settings: where they changed, the permits that stand on something else are ended.
func (l *Ledger) watchSettings() func(context.Context) {
	seen := int64(-1)
	return func(ctx context.Context) {
		epoch, err := l.store.Epoch(ctx)
		if err != nil {
			l.o.Log.Warn("the settings could not be looked at", "error", err)
			return
		}
		if epoch == seen {
			return
		}
		if !l.recheck(ctx) {
			return // again in a second: seen stays as it was
		}
		seen = epoch
		if l.o.Changed != nil {
			l.o.Changed(epoch)
		}
	}
}

// recheck resolves the bindings of calls in flight and ends those that differ. It says whether all could be resolved.
func (l *Ledger) recheck(ctx context.Context) bool {
	type what struct{ agent, tool, capability, profile string }
	type now struct{ off, fingerprint string }
	known := make(map[what]now)
	for _, c := range l.inFlight() {
		w := what{c.ask.Agent, c.ask.Tool, c.ask.Capability, c.ask.Profile}
		n, ok := known[w]
		if !ok {
			r, err := l.store.Resolve(ctx, w.agent, Tool{Name: w.tool, Capability: w.capability, Profile: w.profile})
			if err != nil && !errors.Is(err, ErrNotFound) {
				l.o.Log.Warn("a binding could not be looked at", "error", err)
				return false
			}
			n = now{r.Off, r.Binding.Fingerprint()}
			if err != nil {
				n.off = "not found"
			}
			known[w] = n
		}
		if n.off != "" || n.fingerprint != c.binding.Fingerprint() {
			c.stop(ErrBindingChanged)
		}
	}
	return true
}

// flush writes the delivery marks that wait. What cannot be written waits on.
func (l *Ledger) flush(ctx context.Context) {
	waiting := l.marks.take()
	if len(waiting) == 0 {
		return
	}
	if err := l.store.Deliver(ctx, waiting); err != nil {
		l.o.Log.Warn("delivery marks could not be written", "marks", len(waiting), "error", err)
		for _, m := range waiting {
			l.marks.add(m)
		}
		return
	}
	for _, m := range waiting {
		l.forget(m.Call)
	}
}

func (l *Ledger) sweep(ctx context.Context) {
	n, err := l.Sweep(ctx)
	if err != nil {
		l.o.Log.Warn("the sweep failed", "error", err)
	} else if n > 0 {
		l.o.Log.Info("calls of dead processes or past their time were concluded", "calls", n)
	}
}

// Sweep concludes what nobody else will, and drops what is past its time of keeping. It says how many calls it concluded.
func (l *Ledger) Sweep(ctx context.Context) (int, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return 0, err
	}
	defer cancel()
	n, err := l.store.Sweep(bounded, l.o.Retention)
	return n, fault("sweep", err)
}

// notify makes people hear what waits. A notice is heard at least once: one that could not be told comes again.
func (l *Ledger) notify(ctx context.Context) {
	id := l.life.name()
	if id == "" {
		return
	}
	claimed, err := l.store.Claim(ctx, id, noticeFor, noticesAtMost)
	if err != nil {
		l.o.Log.Warn("notices could not be claimed", "error", err)
		return
	}
	var heard []string
	for _, n := range claimed {
		if err := l.o.Notify(ctx, n); err != nil {
			l.o.Log.Warn("a notice was not heard", "notice", n.ID, "kind", n.Kind, "error", err)
			continue
		}
		heard = append(heard, n.ID)
	}
	if len(heard) == 0 {
		return
	}
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	if err := l.store.Sent(done, heard); err != nil {
		l.o.Log.Warn("heard notices could not be marked; they come again", "notices", len(heard), "error", err)
	}
}
