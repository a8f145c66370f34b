// This file is the steps of a walk that people and clocks take: settings, lists, runs, approvals, leases, time.
package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
)

func (w *walk) configure(r *rand.Rand) (string, error) {
	agent := pick(r, []string{agentOne, agentTwo})
	a := w.m.agents[agent]
	capability := pick(r, Tools()).Capability
	owner := pick(r, []string{binding.Install, binding.Install, agent})
	key := [2]string{owner, capability}
	c := w.m.conns[key]
	if c == nil {
		c = &ConnectionRow{Owner: owner, Capability: capability, Mode: "auto"}
		if owner != binding.Install {
			c.Mode = "inherit"
		}
	}
	next := *c
	said := ""
	n := r.IntN(100)
	if (a.Disabled || a.PausedBy != "" || w.m.stopped != "" || c.Mode == "disabled") && chance(r, 70) { // most of a walk is to be open
		switch {
		case a.Disabled:
			n = 84
		case a.PausedBy != "":
			n = 88
		case w.m.stopped != "":
			n = 94
		default:
			n = 60
		}
	}
	switch {
	case n < 40: // limits: low ones, so that they are met; none half of the time
		next.RunLimit, next.MinuteLimit = 0, 0
		if chance(r, 50) {
			next.RunLimit = 1 + int64(r.IntN(6))
		}
		if chance(r, 50) {
			next.MinuteLimit = 1 + int64(r.IntN(6))
		}
	case n < 60:
		next.Mode, next.Provider, next.Version = "own", pick(r, []string{"brave", "other"}), c.Version+1
	case n < 70:
		next.Mode, next.Provider, next.Version = "auto", "", c.Version+1
		if owner != binding.Install && chance(r, 70) {
			next.Mode = "inherit"
		}
	case n < 74:
		next.Mode, next.Version = "disabled", c.Version+1
	case n < 84:
		a.Grants++
		said = "grants of " + agent
	case n < 88:
		a.Disabled = !a.Disabled && chance(r, 40)
		a.Grants++
		said = fmt.Sprintf("%s disabled %t", agent, a.Disabled)
	case n < 94:
		a.PausedBy = map[bool]string{true: "person_one"}[a.PausedBy == "" && chance(r, 50)]
		said = fmt.Sprintf("%s paused by %q", agent, a.PausedBy)
	default:
		w.m.stopped = map[bool]string{true: "person_one"}[w.m.stopped == "" && chance(r, 50)]
		w.s.Settings.PauseInstall(w.t, w.m.stopped)
		return fmt.Sprintf("install paused by %q", w.m.stopped), nil
	}
	if said != "" {
		w.s.Settings.Agent(w.t, *a)
		return said, nil
	}
	w.m.conns[key] = &next
	w.s.Settings.Connection(w.t, next)
	return fmt.Sprintf("%+v", next), nil
}

func (w *walk) list(r *rand.Rand) (string, error) {
	agent := pick(r, []string{agentOne, agentTwo})
	audience := pick(r, []string{"agent:", "session:"}) + agent
	got, err := w.stores[r.IntN(2)].Offer(w.ctx, agent, audience, Tools())
	if err != nil {
		return audience, err
	}
	for i, t := range Tools() {
		w.m.offer(agent, audience, t)
		want := w.m.resolve(agent, t)
		if got[i].Off != want.Off || got[i].Off == "" && got[i].Binding != want.Binding {
			return audience, fmt.Errorf("%s is offered as %+v, foreseen %+v", t.Name, got[i], want)
		}
	}
	return audience, nil
}

func (w *walk) open(r *rand.Rand) (string, error) {
	n := ledger.NewRun{Agent: pick(r, []string{agentOne, agentTwo}), Kind: "explicit", Deadline: time.Duration(5+r.IntN(30)) * time.Minute, MaxCalls: 5 + int64(r.IntN(60))}
	if chance(r, 30) {
		n.Idle = time.Duration(2+r.IntN(8)) * time.Minute
	}
	if chance(r, 40) {
		n.Kind, n.ImplicitKey = "implicit", pick(r, []string{"token_one client", "token_two client"})
	}
	var same *mRun
	for _, x := range w.m.runs {
		if n.Kind == "implicit" && x.kind == "implicit" && x.agent == n.Agent && x.key == n.ImplicitKey && x.open {
			if reason, over := w.m.over(x); over {
				w.m.end(x, reason)
			} else {
				same = x
			}
		}
	}
	got, err := w.stores[r.IntN(2)].OpenRun(w.ctx, n)
	said := fmt.Sprintf("%s %s of %s for %v, idle %v, %d calls", n.Kind, got.ID, n.Agent, n.Deadline, n.Idle, n.MaxCalls)
	switch {
	case err != nil:
		return said, err
	case same != nil:
		return said, w.differ(got.ID, same.id)
	case w.m.runs[got.ID] != nil:
		return said, errors.New("the run was there before")
	}
	run := &mRun{id: got.ID, agent: n.Agent, kind: n.Kind, key: n.ImplicitKey, open: true, deadline: w.m.now + n.Deadline.Microseconds(),
		idle: n.Idle.Microseconds(), most: n.MaxCalls, used: make(map[string]int64)}
	if run.idle > 0 {
		run.idleUntil = w.m.now + run.idle
	}
	w.m.runs[run.id] = run
	w.m.runOrder = append(w.m.runOrder, run.id)
	w.m.touch(run.id)
	return said, nil
}

func (w *walk) end(r *rand.Rand) (string, error) {
	id := recent(r, w.m.runOrder, 4, func(id string) bool { return w.m.runs[id].open || chance(r, 10) })
	if id == "" {
		return "", nil
	}
	run := w.m.runs[id]
	w.m.end(run, "ended")
	w.m.touch(id)
	got, err := w.stores[r.IntN(2)].EndRun(w.ctx, run.agent, id, "ended")
	if err == nil {
		err = w.differ(fmt.Sprint(got.Open, got.EndReason), fmt.Sprint(run.open, run.reason))
	}
	return id, err
}

// clock moves on: mostly by little, sometimes past a process's time, rarely past a twin's.
func (w *walk) clock(r *rand.Rand) (string, error) {
	var d time.Duration
	switch n := r.IntN(100); {
	case n < 40:
		d = time.Duration(1 + r.IntN(1_000_000)*1000)
	case n < 75:
		d = time.Duration(r.IntN(12_000)) * time.Millisecond
	case n < 97:
		d = time.Duration(r.IntN(60_000)) * time.Millisecond
	default:
		d = time.Duration(r.IntN(16*60_000)) * time.Millisecond
	}
	d = d.Truncate(time.Microsecond) + time.Microsecond
	w.s.Clock.Advance(d)
	w.m.now = w.s.Clock.Now().UnixMicro()
	return d.String(), nil
}

func (w *walk) approve(r *rand.Rand) (string, error) {
	id := recent(r, w.m.runOrder, 4, func(id string) bool { return w.m.runs[id].open })
	if id == "" {
		return "", nil
	}
	tool := pick(r, []ledger.Tool{Post, Press})
	a := ApprovalRow{ID: fmt.Sprintf("apr_%d", w.number), Agent: w.m.runs[id].agent, Run: id, Tool: tool.Name, Digest: digestOf(tool.Name, `{"n":0}`),
		GoodUntil: w.s.Clock.Now().Add(5 * time.Minute)}
	for _, other := range w.m.approvals { // one that stands is joined, and not given again
		if other.state == "approved" && other.Run == a.Run && other.Tool == a.Tool {
			return "", nil
		}
	}
	w.s.Settings.Approval(w.t, a)
	w.m.approvals[a.ID] = &mApproval{ApprovalRow: a, state: "approved"}
	w.m.approvalOrder = append(w.m.approvalOrder, a.ID)
	return fmt.Sprintf("%s for %s in %s", a.ID, a.Tool, a.Run), nil
}

func (w *walk) lease(r *rand.Rand) (string, error) {
	i := r.IntN(2)
	resource := pick(r, []string{"session:one", "session:two"})
	l := w.m.leases[resource]
	fence := int64(1)
	if l != nil {
		fence = l.fence - int64(r.IntN(2)) // its own, or that of the holder before
	}
	held := l != nil && l.owner != "" && l.fence == fence
	switch n := r.IntN(10); {
	case n < 5:
		want := w.m.acquire(resource, w.process[i], 30*time.Second)
		got, ok, err := w.stores[i].Acquire(w.ctx, resource, w.process[i], "", 30*time.Second)
		if !ok {
			got = 0
		}
		if err == nil && got != want {
			err = fmt.Errorf("the fence is %d, foreseen %d", got, want)
		}
		return fmt.Sprintf("%s takes %s: %d", w.process[i], resource, want), err
	case n < 7:
		if held {
			l.until = w.m.now + time.Minute.Microseconds()
		}
		got, err := w.stores[i].Extend(w.ctx, resource, fence, time.Minute)
		if err == nil {
			err = w.differ(fmt.Sprint(got), fmt.Sprint(held))
		}
		return fmt.Sprintf("extend %s under %d: %t", resource, fence, held), err
	}
	if held {
		l.owner = ""
	}
	return fmt.Sprintf("release %s under %d: %t", resource, fence, held), w.stores[i].Release(w.ctx, resource, fence)
}
