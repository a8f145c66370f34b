// This file is the ledger once more, as plain maps and in the order of its papers: what each step must answer and leave
// behind. It is written against the words, not against a store.
package storetest

import (
	"bytes"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

type (
	// model is an install.
	model struct {
		now       int64 // microseconds, as all times here
		agents    map[string]*AgentRow
		conns     map[[2]string]*ConnectionRow // by owner and capability
		stopped   string                       // who paused the install
		offers    map[[2]string]string         // by audience and tool
		runs      map[string]*mRun
		calls     map[string]*mCall
		minutes   map[mMinute]int64
		processes map[string]*mProcess
		approvals map[string]*mApproval
		leases    map[string]*mLease

		// In the order in which they were made, so that a step can name one by number.
		runOrder, callOrder, approvalOrder []string
		keys                               map[[2]string]*mCall // by agent and key, refused ones apart
		// touched are the ids of what the last step may have changed.
		touched map[string]bool
	}
	mMinute struct {
		meter, capability string
		minute            int64
	}
	mProcess struct {
		expires int64
		dead    bool
	}
	mRun struct {
		id, agent, kind, key      string
		open                      bool
		reason                    string
		deadline, idle, idleUntil int64 // idle 0: never
		most, calls, refused      int64
		hold                      string
		used                      map[string]int64
	}
	mCall struct {
		id, run, agent, tool, capability string
		class                            effect.Class
		state                            effect.State
		outcome                          effect.Outcome
		code                             string
		isError, withheld, named         bool
		args, key, nonce, owner, profile string
		digest                           []byte
		delivery                         ledger.Delivery
		binding                          binding.Binding
		meter                            string
		approval                         string
		created, until, dispatched       int64 // dispatched 0: not
		ended                            int64 // 0: not
		result, late                     *string
		content                          int64 // rows of evidence beyond the source
		verdict                          ledger.Verdict
		notices                          int64
		sent                             bool // in the world's own log
	}
	mApproval struct {
		ApprovalRow
		state, usedBy string
	}
	mLease struct {
		fence, until int64
		owner        string
	}
)

func newModel(now time.Time) *model {
	return &model{now: now.UnixMicro(), agents: make(map[string]*AgentRow), conns: make(map[[2]string]*ConnectionRow), offers: make(map[[2]string]string),
		runs: make(map[string]*mRun), calls: make(map[string]*mCall), minutes: make(map[mMinute]int64), processes: make(map[string]*mProcess),
		approvals: make(map[string]*mApproval), leases: make(map[string]*mLease),
		keys: make(map[[2]string]*mCall), touched: make(map[string]bool)}
}

// resolve is the binding in force.
func (m *model) resolve(agent string, t ledger.Tool) binding.Resolution {
	a := m.agents[agent]
	f := binding.Facts{Agent: binding.Agent{ID: a.ID, Disabled: a.Disabled, GrantsVersion: a.Grants, Paused: binding.Pause{By: a.PausedBy}}, Install: binding.Pause{By: m.stopped}}
	connection := func(owner string) *binding.Connection {
		c := m.conns[[2]string{owner, t.Capability}]
		if c == nil {
			return nil
		}
		return &binding.Connection{Owner: c.Owner, Mode: c.Mode, Provider: c.Provider, Version: c.Version, RunLimit: c.RunLimit, MinuteLimit: c.MinuteLimit}
	}
	f.Own, f.Shared = connection(agent), connection(binding.Install)
	return Resolve(f, t.Capability, t.Name, t.Profile)
}

func (c *mCall) asTool() ledger.Tool {
	return ledger.Tool{Name: c.tool, Capability: c.capability, Profile: c.profile}
}

// changed says whether a call's binding is not the one that it was admitted under.
func (m *model) changed(c *mCall) bool {
	r := m.resolve(c.agent, c.asTool())
	return r.Off != "" || r.Binding.Fingerprint() != c.binding.Fingerprint()
}

// over says whether a run is over, and why.
func (m *model) over(r *mRun) (string, bool) {
	switch {
	case !r.open:
		return r.reason, true
	case r.deadline <= m.now:
		return "deadline", true
	case r.idle > 0 && r.idleUntil <= m.now && (r.kind != "implicit" || r.hold == ""):
		return "idle", true
	}
	return "", false
}

// offer writes what an audience is told of a tool.
func (m *model) offer(agent, audience string, t ledger.Tool) {
	r := m.resolve(agent, t)
	if key := [2]string{audience, t.Name}; r.Off != "" {
		delete(m.offers, key)
	} else {
		m.offers[key] = r.Binding.Fingerprint()
	}
}

// same finds the same call, and says in what a call of the same name differs.
func (m *model) same(a ledger.Ask) (c *mCall, differs string) {
	c = m.calls[a.ID]
	if c == nil && a.Key != "" {
		c = m.keys[[2]string{a.Agent, a.Key}]
	}
	switch {
	case c == nil:
	case c.tool != a.Tool:
		differs = "tool"
	case !bytes.Equal(c.digest, a.Digest):
		differs = "arguments"
	case a.Named && c.run != a.Run:
		differs = "run"
	}
	return c, differs
}

// newestEffect is the twin rule's: the run's newest effect that is admitted or was dispatched.
func (m *model) newestEffect(run string) *mCall {
	for i := len(m.callOrder) - 1; i >= 0; i-- {
		c := m.calls[m.callOrder[i]]
		if c.run == run && c.class == effect.Effect && (c.state == effect.Admitted || c.dispatched != 0) {
			return c
		}
	}
	return nil
}

// judged is what an admission answers: the kind and the call for what is there, or the code of a refusal.
type judged struct {
	kind    ledger.AdmitKind
	twin    bool
	call    *mCall
	refused string
	burn    bool
	nobody  bool // not found
	again   bool // fresh, and admitted before by this very attempt
	meter   string
	binding binding.Binding
}

func (j judged) String() string {
	id := ""
	if j.call != nil {
		id = j.call.id
	}
	switch {
	case j.nobody:
		return "not found"
	case j.refused != "":
		return "refused: " + j.refused
	}
	return answer(j.kind, j.twin, id)
}

// answer is a verdict as a text.
func answer(kind ledger.AdmitKind, twin bool, id string) string {
	if kind == ledger.Fresh {
		return "fresh"
	}
	return fmt.Sprintf("%s %s (twin %t)", map[ledger.AdmitKind]string{ledger.Repeat: "repeat of", ledger.TwinFinal: "the result of", ledger.WaitFor: "wait for"}[kind], id, twin)
}

// judge says what an admission must answer, and changes nothing.
func (m *model) judge(a ledger.Admission) judged {
	tool := ledger.Tool{Name: a.Tool, Capability: a.Capability, Profile: a.Profile}
	run := m.runs[a.Run]
	foreign := run == nil || run.agent != a.Agent
	if c, differs := m.same(a.Ask); c != nil && c.agent != a.Agent {
		return judged{nobody: true}
	} else if differs != "" {
		return judged{refused: "call_conflict", nobody: foreign}
	} else if c != nil && c.nonce == a.Nonce && !c.state.Final() {
		return judged{kind: ledger.Fresh, call: c, again: true}
	} else if c != nil {
		return judged{kind: ledger.Repeat, call: c}
	}
	if foreign {
		return judged{nobody: true}
	}
	r := m.resolve(a.Agent, tool)
	switch offered, there := m.offers[[2]string{a.Audience, a.Tool}]; {
	case r.Off != "":
		return judged{refused: "capability_disabled"}
	case !there || offered != r.Binding.Fingerprint():
		return judged{refused: "stale_offer"}
	case r.Paused != nil:
		return judged{refused: "paused"}
	}
	if _, over := m.over(run); over {
		return judged{refused: "run_over"}
	}
	if run.calls >= run.most {
		return judged{refused: "run_call_limit"}
	}
	if a.Class == effect.Effect {
		newest := m.newestEffect(a.Run)
		twin := func(c *mCall) bool { return a.Key == "" && c.tool == a.Tool && bytes.Equal(c.digest, a.Digest) }
		if run.hold != "" {
			holder := m.calls[run.hold]
			if holder.state == effect.Uncertain {
				return judged{refused: "effect_uncertain"}
			}
			return judged{kind: ledger.WaitFor, call: holder, twin: twin(holder)}
		}
		if newest != nil && twin(newest) && m.now-newest.created <= (15*time.Minute).Microseconds() && newest.delivery != ledger.HandedOver {
			if newest.delivery == ledger.CallerGone && newest.state.Final() {
				return judged{kind: ledger.TwinFinal, call: newest, twin: true}
			}
			return judged{kind: ledger.WaitFor, call: newest, twin: true}
		}
	}
	if p := a.Approval; p != nil {
		ap := m.approvals[p.ID]
		if ap == nil || ap.state != "approved" || !m.matches(ap, p) || ap.GoodUntil.UnixMicro() <= m.now {
			return judged{refused: "approval_required", burn: true}
		}
	}
	j := judged{kind: ledger.Fresh, meter: r.Binding.Meter, binding: r.Binding}
	if !a.Unit {
		j.meter = binding.Uncounted
	}
	if j.meter != binding.Uncounted {
		if l := r.Binding.RunLimit; l > 0 && run.used[a.Capability] >= l {
			return judged{refused: "run_limit"}
		}
		if l := r.Binding.MinuteLimit; l > 0 && m.minutes[mMinute{j.meter, a.Capability, m.now / 60_000_000}] >= l {
			return judged{refused: "rate_limit"}
		}
	}
	return j
}

func (m *model) matches(a *mApproval, p *ledger.Spend) bool {
	return a.Agent == p.Agent && a.Run == p.Run && a.Tool == p.Tool && a.Profile == p.Profile && bytes.Equal(a.Digest, p.Digest)
}

// admit does what was judged; id is the one that a fresh call or a kept refusal was given.
func (m *model) admit(a ledger.Admission, j judged, id string) *mCall {
	run := m.runs[a.Run]
	c := &mCall{id: id, run: a.Run, agent: a.Agent, tool: a.Tool, capability: a.Capability, class: a.Class, args: string(a.Args), digest: a.Digest,
		key: a.Key, named: a.Named, nonce: a.Nonce, owner: a.Process, profile: a.Profile, created: m.now}
	switch {
	case j.again:
		return j.call
	case j.nobody, j.kind == ledger.Repeat, j.kind == ledger.WaitFor:
		return nil
	case j.kind == ledger.TwinFinal:
		m.touch(j.call.id)
		j.call.delivery, j.call.owner = ledger.Waiting, a.Process
		return j.call
	case j.refused != "":
		run.refused++
		if j.refused == "stale_offer" || j.refused == "capability_disabled" {
			m.offer(a.Agent, a.Audience, c.asTool())
		}
		if j.burn {
			if ap := m.approvals[a.Approval.ID]; ap != nil && ap.Agent == a.Agent && ap.state == "approved" {
				ap.state = "void"
			}
		}
		c.state, c.code, c.isError, c.ended, c.until = effect.Refused, j.refused, true, m.now, m.now
	default:
		run.calls++
		if run.idle > 0 {
			run.idleUntil = max(run.idleUntil, m.now+run.idle)
		}
		c.binding, c.meter = j.binding, j.meter
		c.until = min(m.now+a.Bound.Microseconds(), run.deadline) + grace.Microseconds()
		if c.state = effect.Dispatched; a.Class == effect.Effect {
			c.state = effect.Admitted
		} else {
			c.dispatched = m.now
		}
		if j.meter != binding.Uncounted {
			run.used[a.Capability]++
			m.minutes[mMinute{j.meter, a.Capability, m.now / 60_000_000}]++
		}
		if a.Approval != nil {
			c.approval = a.Approval.ID
			m.approvals[a.Approval.ID].state, m.approvals[a.Approval.ID].usedBy = "used", id
		}
	}
	if c.key != "" && c.state != effect.Refused {
		m.keys[[2]string{c.agent, c.key}] = c
	}
	m.calls[id] = c
	m.callOrder = append(m.callOrder, id)
	m.touch(id, c.run)
	return c
}

// touch notes what a step may have changed.
func (m *model) touch(ids ...string) {
	for _, id := range ids {
		m.touched[id] = true
	}
}

// dispatch says which verdicts are right. Where several things are in the way, each of them may be named.
func (m *model) dispatch(c *mCall, nonce string) map[ledger.DispatchVerdict]bool {
	ok := make(map[ledger.DispatchVerdict]bool)
	run := m.runs[c.run]
	m.touch(c.id, c.run)
	switch {
	case c.nonce != nonce || c.state.Final():
		ok[ledger.DispatchLate] = true
		return ok
	case c.state == effect.Dispatched: // an earlier attempt of ours
		ok[ledger.DispatchDone] = true
		return ok
	}
	if m.changed(c) {
		ok[ledger.DispatchChanged] = true
	}
	if !run.open || run.deadline <= m.now {
		ok[ledger.DispatchOver] = true
	}
	if run.hold != "" {
		ok[ledger.DispatchHeld] = true
	}
	if c.until <= m.now {
		ok[ledger.DispatchLate] = true
	}
	if len(ok) == 0 {
		ok[ledger.DispatchDone] = true
		c.state, c.dispatched, run.hold = effect.Dispatched, m.now, c.id
	}
	return ok
}

// settle concludes a call, and says whether it came too late.
func (m *model) settle(c *mCall, s ledger.Settlement) (late bool) {
	m.touch(c.id, c.run)
	switch {
	case c.nonce != s.Nonce:
		return true
	case c.state.Final() && c.state == s.State && c.outcome == s.Outcome && (c.code == s.Code || c.withheld):
		return false // the commit was in doubt, and did happen
	case c.state != s.From:
		if c.state.Final() && c.late == nil {
			text := string(s.Result)
			c.late = &text
		}
		return true
	}
	c.state, c.outcome, c.code, c.isError, c.ended = s.State, s.Outcome, s.Code, s.IsError, m.now
	switch {
	case m.changed(c):
		c.withheld = true
		if s.State == effect.Succeeded {
			c.code, c.isError = "binding_changed", true
		}
	default:
		if s.Result != nil {
			text := string(s.Result)
			c.result = &text
		}
		if s.State == effect.Succeeded {
			c.content = int64(len(s.Evidence))
		}
	}
	if s.Gone && c.delivery == ledger.Waiting {
		c.delivery = ledger.CallerGone
	}
	m.concluded(c)
	return false
}

// concluded lets the hold of an effect go whose outcome is known, and tells a person of one whose is not.
func (m *model) concluded(c *mCall) {
	if c.class != effect.Effect {
		return
	}
	if c.state == effect.Uncertain {
		c.notices++
	} else if run := m.runs[c.run]; run.hold == c.id {
		run.hold = ""
	}
}

// abandon is what a sweep does to one call.
func (m *model) abandon(c *mCall) bool {
	if c.state.Final() || c.until >= m.now && !m.processes[c.owner].dead {
		return false
	}
	switch {
	case c.state == effect.Admitted:
		c.state, c.outcome = effect.Failed, effect.NotDispatched
	case c.class == effect.Observation:
		c.state, c.outcome = effect.Failed, effect.Lost
	default:
		c.state, c.outcome = effect.Uncertain, effect.OutcomeUncertain
	}
	c.code, c.isError, c.ended, c.delivery = "abandoned", true, m.now, ledger.CallerGone
	m.touch(c.id, c.run)
	m.concluded(c)
	return true
}

func (m *model) callDead() {
	for _, p := range m.processes {
		if p.expires < m.now {
			p.dead = true
		}
	}
}

// sweep says how many calls it concludes.
func (m *model) sweep() (n int) {
	m.callDead()
	for _, c := range m.calls {
		if m.abandon(c) {
			n++
		}
		if c.state.Final() && c.state != effect.Refused && c.delivery == ledger.Waiting && m.processes[c.owner].dead {
			c.delivery = ledger.CallerGone
			m.touch(c.id)
		}
	}
	for _, r := range m.runs {
		if reason, over := m.over(r); over {
			m.end(r, reason)
		}
	}
	for _, a := range m.approvals {
		if a.state == "approved" && a.GoodUntil.UnixMicro() <= m.now {
			a.state = "void"
		}
	}
	return n
}

// end ends an open run; its approvals end with it.
func (m *model) end(r *mRun, reason string) {
	if !r.open {
		return
	}
	r.open, r.reason = false, reason
	m.touch(r.id)
	for _, a := range m.approvals {
		if a.Run == r.id && a.state == "approved" {
			a.state = "void"
		}
	}
}

// reconcile says what a verdict is answered with, and takes it.
func (m *model) reconcile(c *mCall, v ledger.Verdict) error {
	switch {
	case !c.state.Final():
		return ledger.ErrInFlight
	case c.state != effect.Uncertain:
		return ledger.ErrNotUncertain
	case c.verdict != "" && c.verdict != v:
		return ledger.ErrReconciled
	}
	c.verdict = v
	m.touch(c.id, c.run)
	if run := m.runs[c.run]; run.hold == c.id {
		run.hold = ""
	}
	return nil
}

// acquire gives the fence, or 0.
func (m *model) acquire(resource, process string, ttl time.Duration) int64 {
	l := m.leases[resource]
	switch {
	case l == nil:
		l = &mLease{}
		m.leases[resource] = l
	case l.owner != "" && l.until >= m.now && !m.processes[l.owner].dead:
		return 0
	}
	l.fence, l.owner, l.until = l.fence+1, process, m.now+ttl.Microseconds()
	return l.fence
}
