// This file has the runs.
package ledgertest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

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
		r := &run{idle: n.Idle, Run: ledger.Run{ID: rowid.New("run"), Agent: n.Agent, Kind: n.Kind, ImplicitKey: n.ImplicitKey, Client: n.Client, Audience: n.Audience,
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
		if before != "" && err == nil && agents != nil && !slices.Contains(agents, from.Agent) {
			err = ledger.ErrNotFound
		}
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
