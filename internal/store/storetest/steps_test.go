// This file is the steps of a walk: each asks the model what must come, does it, and compares the answers.
package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// chance is true in n of 100.
func chance(r *rand.Rand, n int) bool { return r.IntN(100) < n }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// ids are what tells answers of one kind apart.
var ids = regexp.MustCompile(` ?\b((call|run)_[0-9a-z]{26}|(call_given|proc)_\d+)`)

// note counts an answer of a step.
func (w *walk) note(answer string) { w.seen[w.doing+": "+ids.ReplaceAllString(answer, "")]++ }

// differ is an answer that is not the one that was foreseen.
func (w *walk) differ(got, want string) error {
	w.note(want)
	if got == want {
		return nil
	}
	return fmt.Errorf("the answer is %q, foreseen %q", got, want)
}

// recent picks one of the last ids of a list for which keep holds; empty where there is none.
func recent(r *rand.Rand, list []string, among int, keep func(string) bool) string {
	var found []string
	for i := len(list) - 1; i >= 0 && len(found) < among; i-- {
		if keep(list[i]) {
			found = append(found, list[i])
		}
	}
	if found == nil {
		return ""
	}
	return pick(r, found)
}

// someCall picks one of the last calls for which keep holds; nil where there is none.
func (w *walk) someCall(r *rand.Rand, keep func(*mCall) bool) *mCall {
	return w.m.calls[recent(r, w.m.callOrder, 12, func(id string) bool { return keep(w.m.calls[id]) })]
}

func notRefused(c *mCall) bool { return c.state != effect.Refused }

// ask draws an ask: mostly something new, sometimes what was asked before, in part or whole.
func (w *walk) ask(r *rand.Rand, store int) ledger.Admission {
	tool := pick(r, []ledger.Tool{Ask, Look, Post, Post, Press, Press})
	a := ledger.Admission{Ask: ledger.Ask{Agent: pick(r, []string{agentOne, agentTwo}), Tool: tool.Name, Bound: bound, Source: ledger.Source{Host: "example.com"}},
		Nonce: fmt.Sprintf("nonce_%d", w.number), Process: w.process[store]}
	text := fmt.Sprintf(`{"n":%d}`, r.IntN(2))
	a.Run = recent(r, w.m.runOrder, 3, func(id string) bool { return w.m.runs[id].agent == a.Agent && w.m.runs[id].open })
	if a.Run == "" || chance(r, 4) { // one that ended, or another agent's
		a.Run = recent(r, w.m.runOrder, 3, func(id string) bool { return w.m.runs[id].agent == a.Agent || chance(r, 20) })
	}
	a.Named = chance(r, 30)
	as := func(c *mCall) {
		a.Agent = c.agent
		if chance(r, 75) {
			a.Tool, text, a.Run = c.tool, c.args, c.run
		}
	}
	var attempt *mCall // whose outcome may have been in doubt
	switch n := r.IntN(100); {
	case n < 55:
	case n < 75:
		a.Key = fmt.Sprintf("key-of-step-%d", w.number)
	case n < 85:
		if c := w.someCall(r, func(c *mCall) bool { return c.key != "" }); c != nil {
			as(c)
			a.Key = c.key
		}
	case n < 93:
		if c := w.someCall(r, notRefused); c != nil {
			as(c)
			a.ID = c.id
			attempt = c
		}
	default:
		a.ID = fmt.Sprintf("call_given_%d", w.number)
	}
	if id := recent(r, w.m.approvalOrder, 4, func(string) bool { return true }); id != "" && chance(r, 12) {
		ap := w.m.approvals[id]
		if chance(r, 75) {
			a.Agent, a.Run, a.Tool, text = ap.Agent, ap.Run, ap.Tool, `{"n":0}`
		}
		a.Approval = &ledger.Spend{ID: id}
	}
	if c := attempt; c != nil && chance(r, 40) && a.Agent == c.agent && a.Run == c.run && a.Tool == c.tool && text == c.args {
		a.Nonce = c.nonce
	}
	a.Audience = pick(r, []string{"agent:", "agent:", "agent:", "session:"}) + a.Agent
	a.Class = ClassOf(a.Tool)
	for _, t := range Tools() {
		if t.Name == a.Tool {
			a.Capability = t.Capability
		}
	}
	a.Unit = a.Tool != Press.Name && !chance(r, 10)
	a.Args, a.Digest = []byte(text), digestOf(a.Tool, text)
	if p := a.Approval; p != nil {
		p.Agent, p.Run, p.Tool, p.Digest = a.Agent, a.Run, a.Tool, a.Digest
	}
	return a
}

func digestOf(tool, text string) []byte {
	d := sha256.Sum256([]byte(tool + text))
	return d[:]
}

func (w *walk) admit(r *rand.Rand) (string, error) {
	i := r.IntN(2)
	a := w.ask(r, i)
	if a.Run == "" {
		return "", nil
	}
	j := w.m.judge(a)
	want := j.String()
	got, err := w.stores[i].Admit(w.ctx, a)
	said := fmt.Sprintf("%s %s %s in %s (key %q, id %q, approval %v, by %s): %s", a.Agent, a.Tool, a.Args, a.Run, a.Key, a.ID, a.Approval, a.Process, want)
	var refusal *ledger.Refusal
	var text, id string
	switch {
	case errors.As(err, &refusal):
		text, id = "refused: "+refusal.Code, refusal.Call
		if id == "" {
			return said, errors.New("the refusal was not kept")
		}
	case errors.Is(err, ledger.ErrNotFound):
		text = "not found"
	case err != nil:
		return said, err
	default:
		text, id = answer(got.Kind, got.Twin, got.Record.ID), got.Record.ID
	}
	if err := w.differ(text, want); err != nil {
		return said, err
	}
	c := w.m.admit(a, j, id)
	if got.Kind == ledger.Fresh {
		said += " " + id
		if left := time.Duration(c.until-w.m.now) * time.Microsecond; got.Left != left || got.Record.State != c.state || got.Record.Owner != c.owner {
			return said, fmt.Errorf("the call is %s of %s with %v left, foreseen %s of %s with %v", got.Record.State, got.Record.Owner, got.Left, c.state, c.owner, left)
		}
		if !j.again && c.state == effect.Dispatched {
			c.sent = chance(r, 90)
		}
	}
	return said, nil
}

func (w *walk) dispatch(r *rand.Rand) (string, error) {
	c := w.someCall(r, func(c *mCall) bool { return c.state == effect.Admitted })
	if c == nil && chance(r, 50) || chance(r, 10) {
		c = w.someCall(r, func(c *mCall) bool { return c.class == effect.Effect && notRefused(c) })
	}
	if c == nil {
		return "", nil
	}
	nonce := c.nonce
	if chance(r, 5) {
		nonce = "nonce_of_nobody"
	}
	before := c.state
	want := w.m.dispatch(c, nonce)
	got, err := w.stores[r.IntN(2)].Dispatch(w.ctx, c.id, nonce)
	said := fmt.Sprintf("%s (%s, %s): %s", c.id, before, nonce, got)
	if err == nil && !want[got] {
		err = fmt.Errorf("the verdict is %q, foreseen %v", got, want)
	}
	w.note(fmt.Sprintf("%s: %s", before, got))
	if err == nil && got == ledger.DispatchDone && before == effect.Admitted {
		c.sent = chance(r, 90)
	}
	return said, err
}

// ends are how a call of a class may be settled from a state, as honestly as the world's log allows.
func ends(c *mCall, from effect.State) []ledger.Settlement {
	end := func(state effect.State, outcome effect.Outcome, code string) ledger.Settlement {
		return ledger.Settlement{State: state, Outcome: outcome, Code: code, IsError: code != ""}
	}
	var list []ledger.Settlement
	switch {
	case from == effect.Admitted:
		return []ledger.Settlement{end(effect.Succeeded, effect.NotDispatched, "target_obscured"), end(effect.Failed, effect.NotDispatched, "cancelled")}
	case c.class == effect.Effect:
		list = append(list, end(effect.Uncertain, effect.OutcomeUncertain, "connection_lost"))
		if c.sent {
			ok := end(effect.Succeeded, effect.OK, "")
			list = append(list, ok, ok, ok, end(effect.Succeeded, effect.InputDispatched, "observation_failed"))
		}
		return list
	case c.sent:
		list = append(list, end(effect.Succeeded, effect.OK, ""), end(effect.Succeeded, effect.ProviderError, "http_error"), end(effect.Failed, effect.Lost, "cancelled"))
	default:
		list = append(list, end(effect.Succeeded, effect.NotDispatched, ""), end(effect.Failed, effect.NotDispatched, "cancelled"))
	}
	if c.class == effect.Query {
		list = append(list, end(effect.Uncertain, effect.OutcomeUncertain, "connection_lost"))
	}
	return list
}

func (w *walk) settle(r *rand.Rand) (string, error) {
	c := w.someCall(r, func(c *mCall) bool { return !c.state.Final() })
	if c == nil && chance(r, 40) || chance(r, 15) {
		c = w.someCall(r, notRefused)
	}
	if c == nil {
		return "", nil
	}
	from := c.state
	if from.Final() || chance(r, 8) {
		from = effect.Dispatched
		if c.class == effect.Effect && chance(r, 40) {
			from = effect.Admitted
		}
	}
	s := pick(r, ends(c, from))
	s.Call, s.Nonce, s.From, s.Gone, s.Why = c.id, c.nonce, from, chance(r, 25), "as it went"
	if s.State != effect.Failed {
		s.Result = fmt.Appendf(nil, "result of step %d", w.number)
	}
	if s.Outcome == effect.OK && chance(r, 50) {
		s.Evidence = []ledger.Evidence{{Kind: "content", Host: "example.com", SHA256: "ab12"}}
	}
	if chance(r, 4) {
		s.Nonce = "nonce_of_nobody"
	}
	before := c.state
	late := w.m.settle(c, s)
	w.note(fmt.Sprintf("%s %s to %s, late %t, withheld %t", c.class, before, s.State, late, c.withheld && !late))
	said := fmt.Sprintf("%s (%s) from %s to %s/%s, late %t, withheld %t", c.id, before, from, s.State, s.Outcome, late, c.withheld)
	got, err := w.stores[r.IntN(2)].Settle(w.ctx, s)
	if errors.Is(err, ledger.ErrNotFound) && c.nonce != s.Nonce { // another attempt's: it may be told nothing
		return said, nil
	}
	if err != nil {
		return said, err
	}
	if got.Late != late || got.Withheld != (c.withheld && !late) || !late && string(got.Record.Result) != deref(c.result) {
		return said, fmt.Errorf("the answer is late %t, withheld %t, with %q", got.Late, got.Withheld, got.Record.Result)
	}
	return said, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (w *walk) deliver(r *rand.Rand) (string, error) {
	var marks []ledger.Mark
	for range 1 + r.IntN(3) {
		c := w.someCall(r, func(c *mCall) bool { return notRefused(c) && c.delivery == ledger.Waiting && c.state.Final() })
		if c == nil || chance(r, 20) {
			c = w.someCall(r, notRefused)
		}
		if c == nil || w.m.touched[c.id] {
			continue
		}
		mark := ledger.Mark{Call: c.id, Owner: c.owner, Delivery: pick(r, []ledger.Delivery{ledger.HandedOver, ledger.HandedOver, ledger.CallerGone})}
		if !c.state.Final() { // what is in flight has no answer yet
			mark.Delivery = ledger.CallerGone
		}
		if chance(r, 10) { // who had the delivery before
			mark.Owner = w.process[r.IntN(2)]
		}
		marks = append(marks, mark)
		if c.delivery == ledger.Waiting && mark.Owner == c.owner {
			c.delivery = mark.Delivery
		}
		w.m.touch(c.id)
	}
	return fmt.Sprint(marks), w.stores[r.IntN(2)].Deliver(w.ctx, marks)
}

func (w *walk) beat(r *rand.Rand) (string, error) {
	i := r.IntN(2)
	p := w.m.processes[w.process[i]]
	alive, err := w.stores[i].Beat(w.ctx, w.process[i], ttl)
	said := fmt.Sprintf("%s: alive %t", w.process[i], !p.dead)
	if err == nil && alive == p.dead {
		err = fmt.Errorf("%s is alive: %t, foreseen %t", w.process[i], alive, !p.dead)
	}
	if err != nil {
		return said, err
	}
	if p.dead {
		return said, w.register(i)
	}
	p.expires = w.m.now + ttl.Microseconds()
	return said, nil
}

// die ends a process in order, or lets it vanish: then its time runs out unnoticed.
func (w *walk) die(r *rand.Rand) (string, error) {
	i := r.IntN(2)
	old := w.process[i]
	if chance(r, 50) {
		w.m.processes[old].dead = true
		return old + " in order", errors.Join(w.stores[i].Retire(w.ctx, old), w.register(i))
	}
	return old + " suddenly", w.register(i)
}

func (w *walk) sweep(r *rand.Rand) (string, error) {
	want := w.m.sweep()
	got, err := w.stores[r.IntN(2)].Sweep(w.ctx, ledger.Retention{})
	if err == nil {
		err = w.differ(fmt.Sprint(got), fmt.Sprint(want))
	}
	return fmt.Sprintf("%d calls", want), err
}

func (w *walk) sweepOne(r *rand.Rand) (string, error) {
	c := w.someCall(r, func(c *mCall) bool { return !c.state.Final() })
	if c == nil || chance(r, 20) {
		c = w.someCall(r, notRefused)
	}
	if c == nil {
		return "", nil
	}
	before := c.state
	if p := w.m.processes[c.owner]; !before.Final() && !p.dead && p.expires < w.m.now {
		w.m.callDead()
	}
	w.m.abandon(c)
	w.m.touch(c.id)
	got, err := w.stores[r.IntN(2)].SweepCall(w.ctx, c.id)
	if err == nil {
		err = w.differ(fmt.Sprint(got), fmt.Sprint(c.state.Final()))
	}
	return fmt.Sprintf("%s (%s): %s", c.id, before, c.state), err
}

func (w *walk) reconcile(r *rand.Rand) (string, error) {
	c := w.someCall(r, func(c *mCall) bool { return c.state == effect.Uncertain && c.verdict == "" })
	switch {
	case chance(r, 15):
		c = w.someCall(r, func(c *mCall) bool { return c.verdict != "" })
	case c == nil && chance(r, 50), chance(r, 15):
		c = w.someCall(r, notRefused)
	}
	if c == nil {
		return "", nil
	}
	v := pick(r, []ledger.Verdict{ledger.Happened, ledger.NotHappened, ledger.VerdictUnknown})
	agent := c.agent
	if chance(r, 5) {
		agent = map[string]string{agentOne: agentTwo, agentTwo: agentOne}[agent]
	}
	before := c.state
	want := ledger.ErrNotFound
	if agent == c.agent {
		want = w.m.reconcile(c, v)
	}
	w.m.touch(c.id, c.run)
	_, err := w.stores[r.IntN(2)].Reconcile(w.ctx, agent, c.run, c.id, ledger.Reconciliation{Verdict: v, By: ledger.By{Kind: "operator", ID: "person_one"}})
	w.note(fmt.Sprintf("%s: %v", before, want))
	said := fmt.Sprintf("%s (%s) %s by %s: %v", c.id, before, v, agent, want)
	if errors.Is(err, want) {
		return said, nil
	}
	return said, fmt.Errorf("the answer is %v, foreseen %v", err, want)
}

func (w *walk) cancel(r *rand.Rand) (string, error) {
	c := w.someCall(r, func(c *mCall) bool { return c.state == effect.Admitted })
	if c == nil || chance(r, 20) {
		c = w.someCall(r, notRefused)
	}
	if c == nil {
		return "", nil
	}
	want := c.state == effect.Admitted
	before := c.state == effect.Failed && c.code == "cancelled" && c.dispatched == 0 // stopped already: either answer is right
	if c.state == effect.Admitted {
		c.state, c.outcome, c.code, c.isError, c.ended = effect.Failed, effect.NotDispatched, "cancelled", true, w.m.now
	}
	w.m.touch(c.id)
	got, err := w.stores[r.IntN(2)].Cancel(w.ctx, c.agent, c.run, c.id)
	if err == nil && !before {
		err = w.differ(fmt.Sprint(got), fmt.Sprint(want))
	}
	return fmt.Sprintf("%s: %t", c.id, want), err
}

func (w *walk) refuse(r *rand.Rand) (string, error) {
	a := w.ask(r, r.IntN(2))
	a.Process = "" // no process was to send it
	run := w.m.runs[a.Run]
	if run == nil || run.agent != a.Agent {
		return "", nil
	}
	id, err := w.stores[r.IntN(2)].Refuse(w.ctx, a.Ask, "denied", nil, nil)
	if err == nil && id == "" {
		err = errors.New("the refusal was not kept")
	}
	w.m.admit(a, judged{refused: "denied"}, id)
	return a.Tool + " in " + a.Run, err
}

func (w *walk) look(r *rand.Rand) (string, error) {
	a := w.ask(r, r.IntN(2))
	if a.Run == "" {
		return "", nil
	}
	a.Approval, a.Nonce = nil, "nonce_of_nobody"
	j := w.m.judge(a)
	if j.refused == "call_conflict" && w.m.runs[a.Run].agent != a.Agent { // of the two answers either is right
		return "", nil
	}
	want := "nothing"
	switch {
	case j.nobody, j.refused != "" && j.refused != "run_limit" && j.refused != "rate_limit":
		want = j.String()
	case j.kind == ledger.Repeat, j.kind == ledger.TwinFinal, j.kind == ledger.WaitFor && j.twin:
		want = fmt.Sprintf("same %s (twin %t)", j.call.id, j.twin)
	}
	got, err := w.stores[r.IntN(2)].Look(w.ctx, a.Ask)
	text := "nothing"
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		text, err = "not found", nil
	case got.Same != nil:
		text = fmt.Sprintf("same %s (twin %t)", got.Same.ID, got.Twin)
	case got.Refusal != nil:
		text = "refused: " + got.Refusal.Code
	case got.Held != nil:
		text = "refused: " + got.Held.Code
	}
	if err == nil {
		err = w.differ(text, want)
	}
	return fmt.Sprintf("%s %s %s in %s (key %q, id %q): %s", a.Agent, a.Tool, a.Args, a.Run, a.Key, a.ID, want), err
}
