// This file puts the rows that other packages test over to the proof.
package storetest

import (
	"testing"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger/ledgertest"
)

// TestSuiteInMemory holds the rows that other packages test over to the same contract.
func TestSuiteInMemory(t *testing.T) {
	Suite(t, func(testing.TB) *Stage {
		w := ledgertest.New(Resolve, nil)
		return &Stage{A: w.Store(), B: w.Store(), Clock: w, Settings: memory{w}}
	})
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
