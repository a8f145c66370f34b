// This file says what a store is proved on.
package storetest

import (
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Clock is the database's clock, held by a test: it stands still until it is moved. Both processes read it.
type Clock interface {
	Now() time.Time
	Advance(d time.Duration)
}

// Stage is one empty install with two stores over it, as two processes have them. The stores resolve bindings by
// [Resolve].
type Stage struct {
	A, B  ledger.Store
	Clock Clock
	// DB is the database behind the stores; nil where the rows are kept in memory, and then nothing is asked of them.
	DB *sqldb.DB
	// Settings is how people configure the install while the stores work.
	Settings Settings
}

// Open makes a fresh stage. What it opens ends with the test.
type Open func(t testing.TB) *Stage

// Settings are the writes of people that a store only reads. Each method is one transaction under the settings lock that
// adds 1 to the epoch, as the packages of configuration do it. A failed write ends the test.
type Settings interface {
	// Agent writes an agent's row: a new one, or the row of that id as it is from now on.
	Agent(t testing.TB, a AgentRow)
	// Connection writes a connection's row, keyed by owner and capability.
	Connection(t testing.TB, c ConnectionRow)
	// PauseInstall stops every call; an empty name lets them go on.
	PauseInstall(t testing.TB, by string)
	// Approval writes an approval that a person has given.
	Approval(t testing.TB, a ApprovalRow)
	// ApprovalState reads an approval's state and the call that used it.
	ApprovalState(t testing.TB, id string) (state, usedBy string)
}

// AgentRow is an agent as people see it.
type AgentRow struct {
	ID       string
	Disabled bool
	Grants   int64  // grows with each change of the agent's rights
	PausedBy string // empty: not paused
}

// ConnectionRow is a connection. Version grows with each change of anything but the limits.
type ConnectionRow struct {
	Owner, Capability, Mode, Provider string
	Version                           int64
	RunLimit, MinuteLimit             int64 // 0: none
}

// ApprovalRow is a given approval.
type ApprovalRow struct {
	ID, Agent, Run, Tool, Profile string
	Digest                        []byte
	GoodUntil                     time.Time
}
