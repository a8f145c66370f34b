// Package ledger decides whether a tool call may be sent, and remembers what became of it. Everything that leaves
// Wayleave on an agent's behalf passes here.
//
// A call is a row with one owner that moves forward only. A [Permit] is the only way out: it is handed out after a
// commit, at most once a call, and goes stale when its process may no longer speak. A run that has dispatched an effect
// holds it until somebody knows what became of it.
//
// The one rule: time permits someone to change a state; the state decides. Whoever changes it first is right.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

var (
	// ErrNotFound says that there is no such row for this agent. Rows of others look the same.
	ErrNotFound = errors.New("not found")
	// ErrStore says that the rows could not be read or written: an execution failure, never something for a model to
	// reason about. What was being concluded is concluded by a sweep.
	ErrStore = errors.New("the ledger's rows cannot be reached")
	// ErrSilent says that this process may not send: it is not registered yet, has not heard the database for too long, or
	// is dead for the others and about to register anew.
	ErrSilent = errors.New("this process may not send now")
	// ErrClosing says that this process is ending and admits nothing more.
	ErrClosing = errors.New("this process is ending")
)

// Options are what a ledger is made with. Times left at zero take the defaults, which belong together: a process is dead
// for the others after TTL without a beat, and stops sending by itself after three quarters of it.
type Options struct {
	// Label and Version say which program this is, for people who look at the list of processes.
	Label, Version string
	// DigestKey keys the digests of arguments: at least 32 bytes, the same in every process of an install.
	DigestKey []byte

	TTL   time.Duration // of a process that gives no sign: default 15 s
	Beat  time.Duration // between signs: default 3 s, at most a third of TTL
	Watch time.Duration // between looks at the settings' epoch: default 1 s
	Sweep time.Duration // between sweeps, give or take a fifth: default 5 s
	Flush time.Duration // between writes of delivery marks: default 100 ms
	Wait  time.Duration // for a twin, a hold or a lease: default 55 s
	Drain time.Duration // for calls in flight when Run ends: default 60 s

	Retention Retention
	// Notify makes a person hear a notice; nil leaves notices to other processes. An error, and the notice comes again.
	Notify func(ctx context.Context, n Notice) error
	// Changed hears of each new epoch of the settings, the first one included: what was listed may be stale.
	Changed func(epoch int64)
	// Log takes what no caller hears of; nil drops it.
	Log *slog.Logger
}

// minDigestKey is the least length of a digest key in bytes: that of SHA-256.
const minDigestKey = 32

// bound is how long one step may take, its retries included.
const bound = 10 * time.Second

// margin is how long before a call's time is over its permit ends, so that its owner can still settle it.
const margin = 30 * time.Second

func (o *Options) complete() error {
	for _, d := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"TTL", &o.TTL, 15 * time.Second}, {"Beat", &o.Beat, 3 * time.Second}, {"Watch", &o.Watch, time.Second},
		{"Sweep", &o.Sweep, 5 * time.Second}, {"Flush", &o.Flush, 100 * time.Millisecond}, {"Wait", &o.Wait, 55 * time.Second},
		{"Drain", &o.Drain, 60 * time.Second},
	} {
		if *d.value < 0 {
			return fmt.Errorf("ledger: %s is %s; give a positive time, or zero for %s", d.name, *d.value, d.def)
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	if o.Beat > o.TTL/3 {
		return fmt.Errorf("ledger: Beat is %s; give at most a third of TTL (%s), or a process goes silent between two signs", o.Beat, o.TTL)
	}
	if len(o.DigestKey) < minDigestKey {
		return fmt.Errorf("ledger: DigestKey has %d bytes; give at least %d", len(o.DigestKey), minDigestKey)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Ledger is one process's part in the ledger. It is safe for concurrent use. It admits while Run runs.
type Ledger struct {
	store Store
	o     Options
	life  *life
	marks *marks

	mu      sync.Mutex       // guards what follows
	calls   map[string]*Call // admitted here and not delivered yet, by id
	closing bool
	stopped chan struct{} // closed with closing: waiting calls end
	quiet   chan struct{} // signalled when a call leaves calls
	skew    time.Duration // of the process's clock against the database's, as last seen
	running bool
}

// New makes a ledger over a store. It checks the options and starts nothing: [Ledger.Run] does.
func New(store Store, o Options) (*Ledger, error) {
	if store == nil {
		return nil, errors.New("ledger: there is no store")
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	l := &Ledger{store: store, o: o, calls: make(map[string]*Call), stopped: make(chan struct{}), quiet: make(chan struct{}, 1)}
	l.life = newLife(o.TTL, l.revokeAll)
	l.marks = newMarks()
	return l, nil
}

// within gives the context of a step that the caller does not reach: what is reported is what happened. The caller is
// looked at before.
func within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, context.Cause(ctx)
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	return bounded, cancel, nil
}

// verdict says whether an error of the store is an answer and not a fault.
func verdict(err error) bool {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return true
	}
	for _, v := range []error{ErrNotFound, ErrInFlight, ErrNotUncertain, ErrReconciled, ErrProof} {
		if errors.Is(err, v) {
			return true
		}
	}
	return false
}

// fault marks a store's error as a fault of ours, unless it is a verdict.
func fault(doing string, err error) error {
	if err == nil || verdict(err) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", doing, ErrStore, err)
}
