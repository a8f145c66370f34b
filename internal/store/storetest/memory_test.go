// This file puts the rows that other packages test over to the proof.
package storetest

import (
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger/ledgertest"
)

// TestSuiteInMemory holds the rows that other packages test over to the same contract.
func TestSuiteInMemory(t *testing.T) { Suite(t, inMemory) }

func inMemory(testing.TB) *Stage {
	w := ledgertest.New(Resolve, nil)
	return &Stage{A: w.Store(), B: w.Store(), Clock: w, Settings: memory{w}}
}

// TestWalkMeetsEveryAnswer walks over rows in memory, which is quick, and far enough to meet all that a walk is for: a
// walk that never meets an answer proves nothing of it.
func TestWalkMeetsEveryAnswer(t *testing.T) {
	w := newWalk(t, inMemory)
	const steps = 8_000
	if at, err := w.take(1, numbers(steps)); err != nil {
		t.Fatalf("step %d: %v\n%s", at, err, strings.Join(w.told[max(0, len(w.told)-15):], "\n"))
	}
	if err := w.settleDown(); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, refused := range []string{"call_conflict", "capability_disabled", "stale_offer", "paused", "run_over", "run_call_limit", "effect_uncertain",
		"approval_required", "run_limit", "rate_limit"} {
		want = append(want, "admit: refused: "+refused)
		if refused != "approval_required" && refused != "run_limit" && refused != "rate_limit" {
			want = append(want, "look: refused: "+refused)
		}
	}
	for _, found := range []string{"fresh", "not found", "repeat of (twin false)", "the result of (twin true)", "wait for (twin false)", "wait for (twin true)"} {
		want = append(want, "admit: "+found)
	}
	for _, v := range []string{"done", "held", "over", "changed", "late"} {
		want = append(want, "dispatch: admitted: "+v)
	}
	for _, v := range []string{"admitted: the call is still in flight", "dispatched: the call is still in flight", "uncertain: <nil>", "uncertain: another verdict stands",
		"succeeded: the outcome of the call is known", "uncertain: not found"} {
		want = append(want, "reconcile: "+v)
	}
	for _, v := range []string{"effect dispatched to uncertain, late false, withheld true", "effect dispatched to succeeded, late false, withheld true",
		"effect uncertain to succeeded, late true, withheld false", "effect failed to succeeded, late true, withheld false",
		"query uncertain to succeeded, late true, withheld false", "effect admitted to uncertain, late true, withheld false",
		"effect dispatched to failed, late true, withheld false", "observation dispatched to succeeded, late false, withheld true"} {
		want = append(want, "settle: "+v)
	}
	for _, v := range want {
		if w.seen[v] == 0 {
			t.Errorf("not met in %d steps: %s", steps, v)
		}
	}
}

// memory is how people configure an install whose rows are in memory.
type memory struct{ w *ledgertest.World }

func (m memory) Agent(_ testing.TB, a AgentRow) {
	row := binding.Agent{ID: a.ID, Slug: a.ID, Disabled: a.Disabled, GrantsVersion: a.Grants}
	if a.PausedBy != "" {
		row.Paused = binding.Pause{By: a.PausedBy, At: m.w.Now()}
	}
	m.w.SetAgent(row)
}

func (m memory) Connection(_ testing.TB, c ConnectionRow) {
	m.w.SetConnection(c.Capability, binding.Connection{Owner: c.Owner, Mode: c.Mode, Provider: c.Provider, Version: c.Version, RunLimit: c.RunLimit, MinuteLimit: c.MinuteLimit})
}

func (m memory) PauseInstall(_ testing.TB, by string) { m.w.PauseInstall(by) }

func (m memory) Approval(_ testing.TB, a ApprovalRow) {
	m.w.Approve(ledgertest.Approval{ID: a.ID, Agent: a.Agent, Run: a.Run, Tool: a.Tool, Profile: a.Profile, Digest: a.Digest, GoodUntil: a.GoodUntil})
}

func (m memory) ApprovalState(_ testing.TB, id string) (state, usedBy string) {
	return m.w.ApprovalState(id)
}
