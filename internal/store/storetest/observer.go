// This file records, inside the database of a test, what was in force whenever something happened: the invariants about
// bindings, limits and fences cannot be seen from the rows that are left.
//
// The triggers read the settings as they stand at that moment. On PostgreSQL they are deferred to the commit, so that an
// admission that did not hold the settings lock is seen under the settings that overtook it.
package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// settingsOf joins what is in force for an agent ({agent}) and a capability ({capability}): its own connection, the
// install's, and its lower allowance.
const settingsOf = ` FROM agents a
	LEFT JOIN connections own ON own.owner=a.id AND own.capability={capability} AND own.mode<>'inherit'
	LEFT JOIN connections shared ON shared.owner='install' AND shared.capability={capability}
	LEFT JOIN connections low ON low.owner=a.id AND low.capability={capability} AND low.mode='inherit'
	WHERE a.id={agent}`

// inForce is the binding in force; automatic is version 0 of no provider that settings name.
const inForce = `SELECT {call}, {stage}, a.grants_version, CASE coalesce(own.mode, shared.mode) WHEN 'own' THEN coalesce(own.version, shared.version) ELSE 0 END,
	CASE WHEN own.mode='own' THEN own.provider WHEN own.mode IS NULL AND shared.mode='own' THEN shared.provider END` + settingsOf

// runLimit is the run limit in force.
const runLimit = `SELECT {meter}, NEW.used, CASE WHEN own.owner IS NOT NULL THEN own.run_limit
	WHEN low.run_limit<coalesce(shared.run_limit, low.run_limit+1) THEN low.run_limit ELSE shared.run_limit END` + settingsOf

// watcher is one trigger; what it does is one text for both databases.
type watcher struct{ name, on, when, do string }

func watchers() []watcher {
	fill := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	binding := func(stage string) string {
		return "INSERT INTO seen_bindings (call_id, stage, grants, version, provider) " +
			fill(inForce, "{call}", "NEW.id", "{stage}", "'"+stage+"'", "{agent}", "NEW.agent_id", "{capability}", "NEW.capability")
	}
	run := "INSERT INTO seen_growth (meter, used, lim) " + fill(runLimit, "{meter}", "NEW.run_id || ' ' || NEW.capability",
		"{agent}", "(SELECT agent_id FROM runs WHERE id=NEW.run_id)", "{capability}", "NEW.capability")
	minute := `INSERT INTO seen_growth (meter, used, lim) SELECT NEW.meter || ' ' || NEW.capability, NEW.used, c.minute_limit FROM connections c
		WHERE c.capability=NEW.capability AND (c.owner=NEW.meter OR 'agent:' || c.owner=NEW.meter)`
	fence := "INSERT INTO seen_fences (resource, fence) VALUES (NEW.resource, NEW.fence)"
	return []watcher{
		{"seen_admitted", "INSERT ON tool_calls", "NEW.state<>'refused'", binding("admitted")},
		{"seen_dispatched", "UPDATE OF state ON tool_calls", "NEW.state='dispatched' AND OLD.state='admitted'", binding("dispatched")},
		{"seen_stored", "UPDATE OF result ON tool_calls", "NEW.result IS NOT NULL AND OLD.result IS NULL", binding("stored")},
		{"seen_run_first", "INSERT ON run_meters", "NEW.used>0", run},
		{"seen_run_more", "UPDATE OF used ON run_meters", "NEW.used>OLD.used", run},
		{"seen_minute_first", "INSERT ON minute_meters", "NEW.used>0", minute},
		{"seen_minute_more", "UPDATE OF used ON minute_meters", "NEW.used>OLD.used", minute},
		{"seen_fence_first", "INSERT ON leases", "NEW.fence>=0", fence},
		{"seen_fence_more", "UPDATE OF fence ON leases", "NEW.fence<>OLD.fence", fence},
	}
}

// Observe makes the database of a test record what I4, I7, I8 and I12 are asked of: once, before what is to be observed.
func Observe(t testing.TB, db *sqldb.DB) {
	t.Helper()
	serial := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if db.Dialect() == sqldb.Postgres { // the only word of these tables that differs
		serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
	}
	statements := []string{
		"CREATE TABLE seen_bindings (n " + serial + ", call_id TEXT, stage TEXT, grants BIGINT, version BIGINT, provider TEXT)",
		"CREATE TABLE seen_growth (n " + serial + ", meter TEXT, used BIGINT, lim BIGINT)",
		"CREATE TABLE seen_fences (n " + serial + ", resource TEXT, fence BIGINT)",
	}
	for _, w := range watchers() {
		if db.Dialect() == sqldb.Postgres {
			statements = append(statements,
				"CREATE FUNCTION "+w.name+"() RETURNS trigger LANGUAGE plpgsql AS $do$ BEGIN "+w.do+"; RETURN NULL; END $do$",
				"CREATE CONSTRAINT TRIGGER "+w.name+" AFTER "+w.on+" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ("+w.when+") EXECUTE FUNCTION "+w.name+"()")
			continue
		}
		statements = append(statements, "CREATE TRIGGER "+w.name+" AFTER "+w.on+" FOR EACH ROW WHEN "+w.when+" BEGIN "+w.do+"; END")
	}
	if err := db.Write(context.Background(), sqldb.Settings, func(tx *sqldb.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatalf("observe the database: %v", err)
	}
}

// observes says whether Observe was called for this database.
func observes(db *sqldb.DB) bool {
	return db.Read(context.Background(), func(tx *sqldb.Tx) error {
		var n int64
		_, err := tx.One("SELECT count(*) FROM seen_fences", nil, &n)
		return err
	}) == nil
}
