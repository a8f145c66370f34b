// This file opens stages over real databases, and writes settings there as the packages of configuration do.
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// tables are what is emptied between tests, children before parents.
var tables = [...]string{"evidence", "reconciliations", "reservations", "run_meters", "minute_meters", "kept_pages", "notices", "approvals", "tool_calls",
	"runs", "offers", "leases", "processes", "connections", "agent_tokens", "agents", "audit", "seen_bindings", "seen_growth", "seen_fences"}

// onDatabase opens stages of ledgerstore: one database for all of them, emptied for each, since to make one takes longer
// than most tests. It is observed, and its invariants are asked when a test ends.
func onDatabase(t testing.TB, d sqldb.Dialect) Open {
	t.Helper()
	place := dbtest.New(t, d)
	a, b := place.Open(t), place.Open(t)
	Observe(t, a)
	return func(t testing.TB) *Stage {
		t.Helper()
		if err := a.Write(context.Background(), sqldb.Settings, func(tx *sqldb.Tx) error {
			for _, name := range tables {
				if _, err := tx.Exec("DELETE FROM " + name); err != nil {
					return err
				}
			}
			_, err := tx.Exec("UPDATE settings SET epoch=1, paused_at=NULL, paused_by=NULL")
			return err
		}); err != nil {
			t.Fatalf("empty the database: %v", err)
		}
		now := place.Clock.Now()
		place.Clock.Advance(now.Truncate(time.Hour).Add(2*time.Hour + 10*time.Second).Sub(now))
		t.Cleanup(func() { Invariants(t, a) })
		sealer := dbtest.Sealer()
		return &Stage{A: store(t, a, sealer), B: store(t, b, sealer), Clock: place.Clock, DB: a, Settings: rows{a}}
	}
}

func store(t testing.TB, db *sqldb.DB, sealer seal.Sealer) ledger.Store {
	t.Helper()
	s, err := ledgerstore.New(db, sealer, Resolve, ledgerstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSuiteOnDatabases(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) { Suite(t, onDatabase(t, d)) })
	}
}

// rows are settings in a database.
type rows struct{ db *sqldb.DB }

func (r rows) write(t testing.TB, do func(tx *sqldb.Tx) error) {
	t.Helper()
	if err := r.db.Write(context.Background(), sqldb.Settings, func(tx *sqldb.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		return settings.Changed(tx)
	}); err != nil {
		t.Fatalf("write settings: %v", err)
	}
}

// one is a statement that needs nothing but itself.
func (r rows) one(t testing.TB, query string, args ...any) {
	t.Helper()
	r.write(t, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

// orNull gives NULL for a zero value.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func (r rows) Agent(t testing.TB, a AgentRow) {
	t.Helper()
	state := map[bool]string{false: "active", true: "disabled"}[a.Disabled]
	r.one(t, `INSERT INTO agents (id, slug, name, state, grants_version, paused_at, paused_by, created_at)
		VALUES ($1, $1, $1, $2, $3, CASE WHEN $5=1 THEN now_us() END, $4, now_us())
		ON CONFLICT (id) DO UPDATE SET state=$2, grants_version=$3, paused_at=CASE WHEN $5=1 THEN now_us() END, paused_by=$4`,
		a.ID, state, a.Grants, orNull(a.PausedBy), flag(a.PausedBy != ""))
}

func (r rows) Connection(t testing.TB, c ConnectionRow) {
	t.Helper()
	r.one(t, `INSERT INTO connections (owner, capability, mode, provider, version, run_limit, minute_limit, changed_at, changed_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, now_us(), 'person_one')
		ON CONFLICT (owner, capability) DO UPDATE SET mode=$3, provider=$4, version=$5, run_limit=$6, minute_limit=$7, changed_at=now_us()`,
		c.Owner, c.Capability, c.Mode, orNull(c.Provider), c.Version, orNull(c.RunLimit), orNull(c.MinuteLimit))
}

func (r rows) PauseInstall(t testing.TB, by string) {
	t.Helper()
	r.one(t, "UPDATE settings SET paused_at=CASE WHEN $2=1 THEN now_us() END, paused_by=$1", orNull(by), flag(by != ""))
}

func (r rows) Approval(t testing.TB, a ApprovalRow) {
	t.Helper()
	r.one(t, `INSERT INTO approvals (id, agent_id, run_id, tool, digest, profile_hash, tier, state, channel, answered_by, created_at, expires_at, answered_at, good_until)
		VALUES ($1, $2, $3, $4, $5, $6, 'interact', 'approved', 'page', 'person_one', now_us(), now_us()+600000000, now_us(), $7)`,
		a.ID, a.Agent, a.Run, a.Tool, a.Digest, a.Profile, a.GoodUntil.UnixMicro())
}

func (r rows) ApprovalState(t testing.TB, id string) (state, usedBy string) {
	t.Helper()
	if err := r.db.Read(context.Background(), func(tx *sqldb.Tx) error {
		_, err := tx.One("SELECT state, coalesce(used_by, '') FROM approvals WHERE id=$1", []any{id}, &state, &usedBy)
		return err
	}); err != nil {
		t.Fatalf("read an approval: %v", err)
	}
	return state, usedBy
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
