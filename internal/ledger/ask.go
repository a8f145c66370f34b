// This file answers what people, harnesses and doors ask of the ledger beside calls.
package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"time"
	"unicode/utf8"

	"github.com/wayleave/wayleave/internal/effect"
)

// Digest is what two calls are compared by: keyed, since a plain hash of a typed text could be guessed from the database
// file. canonical is the arguments as JSON with defaults filled in and members sorted.
func (l *Ledger) Digest(tool string, canonical []byte) []byte {
	h := hmac.New(sha256.New, l.o.DigestKey)
	h.Write([]byte(tool))
	h.Write([]byte{0}) // no tool's name has it
	h.Write(canonical)
	return h.Sum(nil)
}

// Reconcile states what happened with an uncertain call, which lets its run's hold go. The same verdict again changes
// nothing. Errors: *InvalidField; *Refusal where the call is not uncertain or another verdict stands; ErrNotFound; ErrStore.
func (l *Ledger) Reconcile(ctx context.Context, agent, run, call string, v Reconciliation) (Record, error) {
	if err := v.Check(); err != nil {
		return Record{}, err
	}
	bounded, cancel, err := within(ctx)
	if err != nil {
		return Record{}, err
	}
	defer cancel()
	rec, err := l.store.Reconcile(bounded, agent, run, call, v)
	return rec, fault("reconcile", err)
}

// Check says what of a verdict cannot be taken: an *InvalidField, or nil.
func (v Reconciliation) Check() error {
	switch {
	case v.Verdict != Happened && v.Verdict != NotHappened && v.Verdict != VerdictUnknown:
		return &InvalidField{"verdict", "give happened, not_happened or unknown"}
	case len(v.Note) > 2000 || !utf8.ValidString(v.Note):
		return &InvalidField{"note", "give at most 2000 bytes of UTF-8"}
	case v.By.Kind != "operator" && v.By.Kind != "harness" && v.By.Kind != "form", v.By.ID == "":
		return &InvalidField{"by", "say who states it"}
	}
	return nil
}

// Cancel stops a call: an effect before its dispatch, in whichever process; a query or an observation that this process
// carries out. It is false where it was too late.
func (l *Ledger) Cancel(ctx context.Context, agent, run, call string) (bool, error) {
	bounded, cancel, err := within(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	stopped, err := l.store.Cancel(bounded, agent, run, call)
	if err != nil {
		return false, fault("cancel", err)
	}
	l.mu.Lock()
	c := l.calls[call]
	l.mu.Unlock()
	if c == nil || c.ask.Agent != agent && agent != "" || c.ask.Run != run || c.over() {
		return stopped, nil
	}
	if stopped || c.ask.Class != effect.Effect {
		c.stop(ErrStopped)
		return true, nil
	}
	return false, nil
}

// Health is how this process stands in the ledger.
type Health struct {
	// Process is its id; empty while it is not registered. Alive says that it may send.
	Process string
	Alive   bool
	// ClockSkew is how far this process's clock is ahead of the database's, as last seen. Beyond MaxSkew something is wrong.
	ClockSkew time.Duration
	// InFlight is how many calls it carries out.
	InFlight int
}

// MaxSkew is how far a process's clock may be from the database's before an operator should hear of it.
const MaxSkew = 2 * time.Second

// Near says whether the process's clock is near enough to the database's.
func (h Health) Near() bool { return h.ClockSkew.Abs() <= MaxSkew }

// Health is told without asking the database.
func (l *Ledger) Health() Health {
	h := Health{Process: l.life.name(), InFlight: len(l.inFlight())}
	h.Alive = l.life.valid(h.Process) == nil
	l.mu.Lock()
	h.ClockSkew = l.skew
	l.mu.Unlock()
	return h
}
