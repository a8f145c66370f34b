package ledgertest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
)

func (w *World) runOf(agent, id string) (*run, error) {
	r := w.runs[id]
	if r == nil || agent != "" && r.Agent != agent {
		return nil, ledger.ErrNotFound
	}
	return r, nil
}

// over says whether a run has ended or is past its time, and why.
func (r *run) over(now time.Time) (reason string, at time.Time, over bool) {
	switch {
	case !r.Open:
		return r.EndReason, r.Ended, true
	case !r.Deadline.After(now):
		return "deadline", r.Deadline, true
	case !r.IdleUntil.IsZero() && !r.IdleUntil.After(now) && (r.Kind != "implicit" || r.Hold == ""):
		return "idle", r.IdleUntil, true
	}
	return "", time.Time{}, false
}

func (w *World) close(r *run, reason string) {
	r.Open, r.EndReason, r.Ended = false, reason, w.now()
	for _, a := range w.approvals {
		if a.Run == r.ID && (a.state == "approved" || a.state == "open") {
			a.state = "void"
		}
	}
}

func (r *run) copy(meters bool) ledger.Run {
	out := r.Run
	out.RunMeters = nil
	if meters {
		out.RunMeters = maps.Clone(r.RunMeters)
	}
	return out
}

// OpenRun is ledger.Runs'.
func (s *Store) OpenRun(ctx context.Context, n ledger.NewRun) (out ledger.Run, err error) {
	err = s.write(ctx, "OpenRun", func() error {
		if _, ok := s.agents[n.Agent]; !ok {
			return ledger.ErrNotFound
		}
		now := s.now()
		if n.Kind != "explicit" && n.ImplicitKey != "" {
			for _, r := range s.runs {
				if r.Agent != n.Agent || r.Kind != n.Kind || r.ImplicitKey != n.ImplicitKey || !r.Open {
					continue
				}
				if reason, _, over := r.over(now); over {
					s.close(r, reason)
					continue
				}
				out = r.copy(false)
				return nil
			}
		}
		r := &run{idle: n.Idle, Run: ledger.Run{ID: rowid.New("run"), Agent: n.Agent, Kind: n.Kind, ImplicitKey: n.ImplicitKey, Audience: n.Audience,
			Conversation: n.Conversation, Title: n.Title, Open: true, Deadline: now.Add(n.Deadline), MaxCalls: n.MaxCalls, Created: now, RunMeters: make(map[string]int64)}}
		if n.Idle > 0 {
			r.IdleUntil = now.Add(n.Idle)
		}
		switch {
		case r.Audience != "":
		case r.Kind == "explicit":
			r.Audience = "run:" + r.ID
		default:
			r.Audience = "agent:" + r.Agent
		}
		if r.Conversation == "" {
			r.Conversation = r.ID
		}
		s.runs[r.ID] = r
		out = r.copy(false)
		return nil
	})
	return out, err
}

// Run is ledger.Runs'.
func (s *Store) Run(ctx context.Context, agent, id string) (out ledger.Run, err error) {
	err = s.write(ctx, "Run", func() error {
		r, err := s.runOf(agent, id)
		if err == nil {
			out = r.copy(true)
		}
		return err
	})
	return out, err
}

// RunsOf is ledger.Runs'.
func (s *Store) RunsOf(ctx context.Context, agents []string, before string, limit int) (list []ledger.Run, err error) {
	err = s.write(ctx, "RunsOf", func() error {
		list = nil
		from, err := s.runOf("", before)
		if before != "" && err != nil {
			return err
		}
		for _, r := range s.runs {
			if (agents == nil || slices.Contains(agents, r.Agent)) && (from == nil || newer(from.Run, r.Run) < 0) {
				list = append(list, r.copy(false))
			}
		}
		slices.SortFunc(list, newer)
		list = list[:min(len(list), limitOf(limit))]
		return nil
	})
	return list, err
}

func newer(a, b ledger.Run) int {
	return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
}

// EndRun is ledger.Runs'.
func (s *Store) EndRun(ctx context.Context, agent, id, reason string) (out ledger.Run, err error) {
	err = s.write(ctx, "EndRun", func() error {
		r, err := s.runOf(agent, id)
		if err != nil {
			return err
		}
		if r.Open {
			s.close(r, reason)
		}
		out = r.copy(false)
		return nil
	})
	return out, err
}

// TouchRun is ledger.Runs'.
func (s *Store) TouchRun(ctx context.Context, id string, idle time.Duration) error {
	return s.write(ctx, "TouchRun", func() error {
		r := s.runs[id]
		if r == nil || !r.Open || r.IdleUntil.IsZero() {
			return nil
		}
		if until := s.now().Add(idle); until.After(r.IdleUntil) {
			r.IdleUntil = until
		}
		return nil
	})
}

// Changes is ledger.Runs'.
func (s *Store) Changes(ctx context.Context, since time.Time) (runs []ledger.Run, calls []ledger.Record, now time.Time, err error) {
	err = s.write(ctx, "Changes", func() error {
		runs, calls, now = nil, nil, s.now()
		for _, r := range s.runs {
			if !r.Created.Before(since) || !r.Ended.Before(since) && !r.Ended.IsZero() {
				runs = append(runs, r.copy(false))
			}
		}
		slices.SortFunc(runs, func(a, b ledger.Run) int { return newer(b, a) })
		for _, c := range s.order {
			if !c.Created.Before(since) || !c.Ended.Before(since) && !c.Ended.IsZero() {
				calls = append(calls, c.record(false))
			}
		}
		return nil
	})
	return runs, calls, now, err
}

// Offer is ledger.Offers'.
func (s *Store) Offer(ctx context.Context, agent, audience string, tools []ledger.Tool) (list []binding.Resolution, err error) {
	err = s.write(ctx, "Offer", func() error {
		list = nil
		for _, t := range tools {
			r, found := s.resolved(agent, t.Capability, t.Name, t.Profile)
			if !found {
				return ledger.ErrNotFound
			}
			list = append(list, r)
			if r.Off != "" {
				delete(s.offers, listed{audience, t.Name})
			} else {
				s.offers[listed{audience, t.Name}] = r.Binding
			}
		}
		return nil
	})
	return list, err
}

// Resolve is ledger.Offers'.
func (s *Store) Resolve(ctx context.Context, agent string, t ledger.Tool) (out binding.Resolution, err error) {
	err = s.write(ctx, "Resolve", func() error {
		r, found := s.resolved(agent, t.Capability, t.Name, t.Profile)
		if !found {
			return ledger.ErrNotFound
		}
		out = r
		return nil
	})
	return out, err
}

// Epoch is ledger.Offers'.
func (s *Store) Epoch(ctx context.Context) (n int64, err error) {
	err = s.write(ctx, "Epoch", func() error { n = s.epoch; return nil })
	return n, err
}

// Register is ledger.Processes'.
func (s *Store) Register(ctx context.Context, id, _, _ string, ttl time.Duration) error {
	return s.write(ctx, "Register", func() error {
		p := s.processes[id]
		if p == nil {
			p = &process{}
			s.processes[id] = p
		}
		if p.dead {
			return fmt.Errorf("the process %s is dead; take a new id", id)
		}
		p.expires = s.now().Add(ttl)
		return nil
	})
}

// Beat is ledger.Processes'.
func (s *Store) Beat(ctx context.Context, id string, ttl time.Duration) (alive bool, err error) {
	err = s.write(ctx, "Beat", func() error {
		p := s.processes[id]
		if alive = p != nil && !p.dead; alive {
			p.expires = s.now().Add(ttl)
		}
		return nil
	})
	return alive, err
}

// Retire is ledger.Processes'.
func (s *Store) Retire(ctx context.Context, id string) error {
	return s.write(ctx, "Retire", func() error {
		if p := s.processes[id]; p != nil {
			p.dead = true
		}
		return nil
	})
}

// Now is ledger.Processes'.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.write(ctx, "Now", func() error { now = s.now(); return nil })
	return now, err
}

// Acquire is ledger.Leases'.
func (s *Store) Acquire(ctx context.Context, resource, process, call string, ttl time.Duration) (fence int64, ok bool, err error) {
	err = s.write(ctx, "Acquire", func() error {
		l, now := s.leases[resource], s.now()
		if l == nil {
			l = &lease{}
			s.leases[resource] = l
		} else if ok = l.owner == "" || l.until.Before(now) || s.dead(l.owner); !ok {
			return nil
		}
		*l = lease{fence: l.fence + 1, owner: process, call: call, until: now.Add(ttl)}
		fence, ok = l.fence, true
		return nil
	})
	return fence, ok, err
}

// Extend is ledger.Leases'.
func (s *Store) Extend(ctx context.Context, resource string, fence int64, ttl time.Duration) (ok bool, err error) {
	err = s.write(ctx, "Extend", func() error {
		l := s.leases[resource]
		if ok = l != nil && l.owner != "" && l.fence == fence; ok {
			l.until = s.now().Add(ttl)
		}
		return nil
	})
	return ok, err
}

// Release is ledger.Leases'.
func (s *Store) Release(ctx context.Context, resource string, fence int64) error {
	return s.write(ctx, "Release", func() error {
		if l := s.leases[resource]; l != nil && l.fence == fence {
			l.owner, l.call = "", ""
		}
		return nil
	})
}

// Claim is ledger.Outbox's.
func (s *Store) Claim(ctx context.Context, _ string, ttl time.Duration, limit int) (list []ledger.Notice, err error) {
	err = s.write(ctx, "Claim", func() error {
		list = nil
		for _, n := range s.notices {
			if len(list) < limit && !n.sent && !n.claimed.After(s.now()) {
				n.claimed = s.now().Add(ttl)
				list = append(list, n.Notice)
			}
		}
		return nil
	})
	return list, err
}

// Sent is ledger.Outbox's.
func (s *Store) Sent(ctx context.Context, ids []string) error {
	return s.write(ctx, "Sent", func() error {
		for _, n := range s.notices {
			if slices.Contains(ids, n.ID) {
				n.sent = true
			}
		}
		return nil
	})
}

// forget drops what is past its time of keeping: the texts of a run, much later the run with all its rows, sooner what
// was refused.
func (w *World) forget(k ledger.Retention) {
	now := w.now()
	long := func(d, def time.Duration) time.Time { return now.Add(-cmp.Or(d, def)) }
	const day = 24 * time.Hour
	content, rows, refused, dead := long(k.Content, 30*day), long(k.Rows, 365*day), long(k.Refused, 7*day), long(k.Dead, 7*day)
	needed := make(map[string]bool) // runs with an uncertain effect that nobody has reconciled
	owners := make(map[string]bool) // processes that calls are in flight of
	for _, c := range w.order {
		if c.Class == effect.Effect && c.State == effect.Uncertain && c.Verdict == nil {
			needed[c.Run] = true
		}
		if !c.State.Final() || c.Delivery == ledger.Waiting {
			owners[c.Owner] = true
		}
	}
	w.order = slices.DeleteFunc(w.order, func(c *call) bool {
		r := w.runs[c.Run]
		old := func(before time.Time) bool { return !r.Open && r.Ended.Before(before) && !needed[c.Run] }
		if old(content) {
			c.Args, c.Result, c.Late = nil, nil, nil
			for i := range c.Evidence {
				c.Evidence[i].URL, c.Evidence[i].Title = "", ""
			}
			if c.Verdict != nil {
				c.Verdict.Note = ""
			}
		}
		gone := old(rows) || c.State == effect.Refused && c.Created.Before(refused)
		if gone {
			delete(w.calls, c.ID)
		}
		return gone
	})
	maps.DeleteFunc(w.runs, func(_ string, r *run) bool { return !r.Open && r.Ended.Before(rows) && !needed[r.ID] })
	meters := minuteOf(long(k.Meters, 2*day))
	maps.DeleteFunc(w.minutes, func(m minute, _ int64) bool { return m.minute < meters })
	maps.DeleteFunc(w.processes, func(id string, p *process) bool { return p.dead && p.expires.Before(dead) && !owners[id] })
}
