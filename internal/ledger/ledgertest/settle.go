// This file dispatches, concludes and reads calls.
package ledgertest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
)

// Dispatch is ledger.Calls'.
func (s *Store) Dispatch(ctx context.Context, id, nonce string) (verdict ledger.DispatchVerdict, err error) {
	err = s.write(ctx, "Dispatch", func() error {
		verdict = s.dispatch(id, nonce)
		return nil
	})
	return verdict, err
}

func (w *World) dispatch(id, nonce string) ledger.DispatchVerdict {
	c, now := w.calls[id], w.now()
	if c == nil || c.nonce != nonce || c.State == effect.Refused {
		return ledger.DispatchLate
	}
	r := w.runs[c.Run]
	if c.State == effect.Dispatched && r.Hold == id {
		return ledger.DispatchDone
	}
	if c.State != effect.Admitted || !c.until.After(now) {
		return ledger.DispatchLate
	}
	if _, _, over := r.over(now); over {
		return ledger.DispatchOver
	}
	if r.Hold != "" {
		return ledger.DispatchHeld
	}
	res, _ := w.resolved(c.Agent, c.Capability, c.Tool, c.Binding.Profile)
	if res.Off != "" || res.Binding.Fingerprint() != c.Binding.Fingerprint() {
		return ledger.DispatchChanged
	}
	r.Hold, c.State, c.Dispatched = id, effect.Dispatched, now
	c.why(now, "dispatch", "the boundary was committed", "")
	return ledger.DispatchDone
}

// Settle is ledger.Calls'.
func (s *Store) Settle(ctx context.Context, m ledger.Settlement) (out ledger.Settled, err error) {
	err = s.write(ctx, "Settle", func() error {
		c := s.calls[m.Call]
		switch {
		case c == nil:
			return ledger.ErrNotFound
		case !mayFollow(c.Class, m.From, m.State):
			return fmt.Errorf("a call of class %s does not go from %s to %s", c.Class, m.From, m.State)
		}
		out = s.settle(c, m)
		return nil
	})
	return out, err
}

// mayFollow says whether a call's owner can bring it from one state to a final other one.
func mayFollow(c effect.Class, from, to effect.State) bool {
	return slices.ContainsFunc([]effect.Event{effect.Done, effect.TurnedAway, effect.Break, effect.LoseTrack}, func(e effect.Event) bool {
		next, ok := effect.Next(c, from, e)
		return ok && next == to && to.Final()
	})
}

func (w *World) settle(c *call, m ledger.Settlement) (out ledger.Settled) {
	now := w.now()
	res, _ := w.resolved(c.Agent, c.Capability, c.Tool, c.Binding.Profile)
	changed := res.Off != "" || res.Binding.Fingerprint() != c.Binding.Fingerprint()
	switch {
	case c.nonce == m.Nonce && c.State == m.State && c.Outcome == m.Outcome && (c.Code == m.Code || c.Withheld):
		// our own commit was in doubt, and did happen
	case c.nonce != m.Nonce || c.State != m.From:
		if c.nonce == m.Nonce && c.State.Final() && c.State != effect.Refused && c.Late == nil {
			c.Late = append([]byte{}, m.Result...)
			c.why(now, "outcome", "a report came too late and is not believed", "")
		}
		return ledger.Settled{Late: true, Record: c.record(true)}
	default:
		w.end(c, m, changed)
	}
	if out.Withheld = c.Withheld; c.Withheld && changed && res.Off == "" {
		b := res.Binding
		out.Now = &b
	}
	out.Record = c.record(true)
	return out
}

// end writes how a call ended. Under a binding that changed meanwhile its content is dropped.
func (w *World) end(c *call, m ledger.Settlement, changed bool) {
	now := w.now()
	c.State, c.Outcome, c.Code, c.IsError, c.Ended, c.Withheld = m.State, m.Outcome, m.Code, m.IsError, now, changed
	switch {
	case !changed:
		c.Result = bytes.Clone(m.Result)
	case m.State == effect.Succeeded:
		c.Code, c.IsError = "binding_changed", true
	}
	for _, e := range m.Evidence {
		if m.State == effect.Succeeded && !changed {
			c.Evidence = append(c.Evidence, ledger.EvidenceRow{N: int64(len(c.Evidence)), Provider: c.Binding.Provider,
				CredentialOwner: c.Binding.CredentialOwner(), Conversation: c.Conversation, At: now, Evidence: e})
		}
	}
	if m.Gone && c.Delivery == ledger.Waiting {
		c.Delivery = ledger.CallerGone
	}
	c.why(now, "outcome", m.Why, "")
	w.concluded(c)
}

// concluded lets the hold of an effect go whose outcome is known, and tells a person of one whose is not.
func (w *World) concluded(c *call) {
	if c.Class != effect.Effect {
		return
	}
	if c.State == effect.Uncertain {
		w.notices = append(w.notices, &notice{Notice: ledger.Notice{ID: rowid.New("notice"), Kind: "effect_uncertain", Subject: c.ID, Run: c.Run, Created: w.now()}})
		return
	}
	if r := w.runs[c.Run]; r.Hold == c.ID {
		r.Hold = ""
	}
}

// Deliver is ledger.Calls'.
func (s *Store) Deliver(ctx context.Context, marks []ledger.Mark) error {
	return s.write(ctx, "Deliver", func() error {
		for _, m := range marks {
			if c := s.calls[m.Call]; c != nil && c.Owner == m.Owner && c.Delivery == ledger.Waiting {
				c.Delivery = m.Delivery
			}
		}
		return nil
	})
}

// Cancel is ledger.Calls'.
func (s *Store) Cancel(ctx context.Context, agent, run, id string) (stopped bool, err error) {
	err = s.write(ctx, "Cancel", func() error {
		c, err := s.callOf(agent, run, id)
		if err != nil {
			return err
		}
		if stopped = c.State == effect.Admitted; stopped {
			c.State, c.Outcome, c.Code, c.IsError, c.Ended = effect.Failed, effect.NotDispatched, "cancelled", true, s.now()
			c.why(c.Ended, "outcome", "stopped before it was sent", "")
		}
		return nil
	})
	return stopped, err
}

// Reconcile is ledger.Calls'.
func (s *Store) Reconcile(ctx context.Context, agent, run, id string, v ledger.Reconciliation) (out ledger.Record, err error) {
	err = s.write(ctx, "Reconcile", func() error {
		c, err := s.callOf(agent, run, id)
		switch {
		case err != nil:
			return err
		case !c.State.Final():
			return ledger.ErrInFlight
		case c.State != effect.Uncertain:
			return ledger.ErrNotUncertain
		case c.Verdict != nil && c.Verdict.Verdict != v.Verdict:
			return ledger.ErrReconciled
		case c.Verdict == nil && !s.proves(c, v.Evidence):
			return ledger.ErrProof
		}
		if c.Verdict == nil {
			v.At = s.now()
			c.Verdict = &v
			c.why(v.At, "reconcile", "stated as "+string(v.Verdict), v.By.ID)
			if r := s.runs[c.Run]; r.Hold == c.ID {
				r.Hold = ""
			}
		}
		out = c.record(true)
		return nil
	})
	return out, err
}

// proves says whether what is named as proof is an observation that went well; naming none is no proof and no fault.
func (w *World) proves(c *call, proof string) bool {
	if proof == "" {
		return true
	}
	id, _, _ := strings.Cut(proof, ".")
	p := w.calls[id]
	return p != nil && p.Agent == c.Agent && p.State == effect.Succeeded && !p.IsError
}

// Call is ledger.Calls'.
func (s *Store) Call(ctx context.Context, agent, run, id string) (out ledger.Record, err error) {
	err = s.write(ctx, "Call", func() error {
		c, err := s.callOf(agent, run, id)
		if err == nil {
			out = c.record(true)
		}
		return err
	})
	return out, err
}

func (w *World) callOf(agent, run, id string) (*call, error) {
	c := w.calls[id]
	if c == nil || agent != "" && c.Agent != agent || run != "" && c.Run != run {
		return nil, ledger.ErrNotFound
	}
	return c, nil
}

// CallsOf is ledger.Calls'.
func (s *Store) CallsOf(ctx context.Context, agent, run string, after int64, limit int) (list []ledger.Record, err error) {
	err = s.write(ctx, "CallsOf", func() error {
		list = nil
		if _, err := s.runOf(agent, run); err != nil {
			return err
		}
		for _, c := range s.order {
			if c.Run == run && c.Seq > after {
				list = append(list, c.record(false))
			}
		}
		slices.SortStableFunc(list, func(a, b ledger.Record) int { return int(a.Seq - b.Seq) })
		list = list[:min(len(list), limitOf(limit))]
		return nil
	})
	return list, err
}

func limitOf(n int) int {
	if n <= 0 || n > 1000 {
		return 1000
	}
	return n
}

// SweepCall is ledger.Calls'.
func (s *Store) SweepCall(ctx context.Context, id string) (final bool, err error) {
	err = s.write(ctx, "SweepCall", func() error {
		c := s.calls[id]
		if c == nil {
			return ledger.ErrNotFound
		}
		if p := s.processes[c.Owner]; !c.State.Final() && p != nil && !p.dead && p.expires.Before(s.now()) {
			s.bury()
		}
		s.abandon(c)
		final = c.State.Final()
		return nil
	})
	return final, err
}

// bury marks the processes whose time is over.
func (w *World) bury() {
	for _, p := range w.processes {
		if p.expires.Before(w.now()) {
			p.dead = true
		}
	}
}

func (w *World) dead(process string) bool {
	p := w.processes[process]
	return p != nil && p.dead
}

// abandon concludes a call in flight of a dead owner or past its time.
func (w *World) abandon(c *call) bool {
	now := w.now()
	if c.State.Final() || !c.until.Before(now) && !w.dead(c.Owner) {
		return false
	}
	from := c.State
	c.State, _ = effect.Next(c.Class, from, effect.Abandon)
	switch {
	case from == effect.Admitted:
		c.Outcome = effect.NotDispatched
	case c.State == effect.Failed:
		c.Outcome = effect.Lost
	default:
		c.Outcome = effect.OutcomeUncertain
	}
	c.Code, c.IsError, c.Ended, c.Delivery = "abandoned", true, now, ledger.CallerGone
	c.why(now, "outcome", "its process died or its time was over", "")
	w.concluded(c)
	return true
}

// Sweep is ledger.Calls'.
func (s *Store) Sweep(ctx context.Context, retention ledger.Retention) (n int, err error) {
	err = s.write(ctx, "Sweep", func() error {
		n = 0
		s.bury()
		for _, c := range s.order {
			if s.abandon(c) {
				n++
			}
			if c.State.Final() && c.State != effect.Refused && c.Delivery == ledger.Waiting && s.dead(c.Owner) {
				c.Delivery = ledger.CallerGone
			}
		}
		for _, r := range s.runs {
			if reason, _, over := r.over(s.now()); over && r.Open {
				s.close(r, reason)
			}
		}
		s.forget(retention)
		return nil
	})
	return n, err
}
