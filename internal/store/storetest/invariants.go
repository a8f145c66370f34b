// Package storetest is the proof of the ledger's rows: what must hold of them at any moment, as a list of queries that
// find nothing. Every test of a store ends by asking them. Its own tests hold the stores that there are to the ledger's
// contract, promise by promise, and walk two processes at random over one database beside a model of plain maps that says
// in advance what each step must answer and leave behind.
//
// The one rule: nothing here knows how a store does it. Rows are read by their columns and verdicts by ledger's words.
package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// invariant is one claim and the query whose rows break it: one text for both databases, one column that names the row.
type invariant struct {
	name, claim, query string
	// observed says that it reads what Observe has recorded.
	observed bool
}

// open is the condition under which an effect holds its run.
const holds = `c.class='effect' AND (c.state='dispatched' OR (c.state='uncertain' AND NOT EXISTS (SELECT 1 FROM reconciliations x WHERE x.call_id=c.id)))`

// after is the condition under which effect b may have come after effect a: a was known to be over when b was dispatched.
func after(a, b string) string {
	return strings.NewReplacer("{a}", a, "{b}", b).Replace(`(({a}.state='succeeded' AND {a}.ended_at<={b}.dispatched_at)
		OR EXISTS (SELECT 1 FROM reconciliations x WHERE x.call_id={a}.id AND x.at<={b}.dispatched_at))`)
}

func invariants() []invariant {
	return []invariant{
		{name: "I0 sent", claim: "what may have been sent has crossed the boundary, and a refusal has not", query: `
			SELECT id FROM tool_calls
			WHERE ((state IN ('dispatched','uncertain') OR outcome IN ('ok','provider_error','input_dispatched','uncertain','lost')) AND dispatched_at IS NULL)
			   OR (state IN ('refused','admitted') AND dispatched_at IS NOT NULL)`},
		{name: "I1 reservation", claim: "a call has one reservation unless it was refused, and the two agree", query: `
			SELECT c.id FROM tool_calls c LEFT JOIN reservations r ON r.call_id=c.id
			WHERE (c.state='refused') = (r.call_id IS NOT NULL)
			   OR r.run_id<>c.run_id OR r.agent_id<>c.agent_id OR r.capability<>c.capability`},
		{name: "I1 evidence", claim: "what is metered has evidence of where it goes", query: `
			SELECT r.call_id FROM reservations r WHERE r.meter<>'-'
			AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.call_id=r.call_id AND e.n=0 AND e.kind='source')`},
		{name: "I3 run meters", claim: "a run's meter is the number of its reservations", query: `
			SELECT m.run_id FROM run_meters m
			WHERE m.used<>(SELECT count(*) FROM reservations r WHERE r.run_id=m.run_id AND r.capability=m.capability AND r.meter<>'-')`},
		{name: "I3 minute meters", claim: "a minute's meter is the number of its reservations", query: `
			SELECT m.meter FROM minute_meters m
			WHERE m.used<>(SELECT count(*) FROM reservations r WHERE r.meter=m.meter AND r.capability=m.capability AND r.minute=m.minute)`},
		{name: "I3 unmetered", claim: "a metered reservation stands in its run's meter and, for the two days that are kept, in its minute's", query: `
			SELECT r.call_id FROM reservations r WHERE r.meter<>'-'
			AND (NOT EXISTS (SELECT 1 FROM run_meters m WHERE m.run_id=r.run_id AND m.capability=r.capability)
			  OR (r.at>now_us()-172800000000 AND NOT EXISTS (SELECT 1 FROM minute_meters m
			      WHERE m.meter=r.meter AND m.capability=r.capability AND m.minute=r.minute)))`},
		{name: "I3 one clock", claim: "one reading of the clock is every time of an admission", query: `
			SELECT c.id FROM tool_calls c JOIN reservations r ON r.call_id=c.id
			WHERE r.at<>c.created_at OR r.minute<>r.at/60000000 OR (c.class<>'effect' AND c.dispatched_at<>c.created_at)`},
		{name: "I3 calls", claim: "a run's count of calls is the number of its calls, each with a place of its own; refusals are counted besides", query: `
			SELECT r.id FROM runs r
			WHERE r.calls<>(SELECT count(*) FROM tool_calls c WHERE c.run_id=r.id AND c.state<>'refused')
			   OR r.calls<>(SELECT count(DISTINCT c.seq) FROM tool_calls c WHERE c.run_id=r.id AND c.state<>'refused')
			   OR r.refused<(SELECT count(*) FROM tool_calls c WHERE c.run_id=r.id AND c.state='refused')
			   OR r.calls>r.max_tool_calls`},
		{name: "I4 limits", claim: "no meter grew above the limit that was in force", observed: true, query: `
			SELECT meter FROM seen_growth WHERE lim IS NOT NULL AND used>lim`},
		{name: "I5 hold", claim: "an effect whose outcome is not known is its run's hold", query: `
			SELECT c.id FROM tool_calls c JOIN runs r ON r.id=c.run_id WHERE ` + holds + ` AND (r.hold_call IS NULL OR r.hold_call<>c.id)`},
		{name: "I5 held", claim: "a hold names nothing else", query: `
			SELECT r.id FROM runs r WHERE r.hold_call IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM tool_calls c WHERE c.id=r.hold_call AND c.run_id=r.id AND ` + holds + `)`},
		{name: "I6 one after another", claim: "an effect is dispatched once the one before is known to be over", query: `
			SELECT a.id FROM tool_calls a JOIN tool_calls b ON b.run_id=a.run_id AND b.id<>a.id
			WHERE a.class='effect' AND b.class='effect' AND a.state<>'refused' AND b.state<>'refused'
			AND ((a.dispatched_at<b.dispatched_at AND NOT ` + after("a", "b") + `)
			  OR (a.dispatched_at=b.dispatched_at AND a.id<b.id AND NOT ` + after("a", "b") + ` AND NOT ` + after("b", "a") + `))`},
		{name: "I7 bindings", claim: "admissions and dispatches are under the binding in force", observed: true, query: `
			SELECT s.call_id FROM seen_bindings s JOIN reservations r ON r.call_id=s.call_id JOIN tool_calls c ON c.id=s.call_id
			WHERE s.stage IN ('admitted','dispatched')
			AND (s.version<>r.connection_version OR s.provider<>r.provider OR c.offer NOT LIKE '%grants=' || s.grants || ' %')`},
		{name: "I8 results", claim: "a result is stored under the binding that it was admitted with", observed: true, query: `
			SELECT s.call_id FROM seen_bindings s JOIN reservations r ON r.call_id=s.call_id JOIN tool_calls c ON c.id=s.call_id
			WHERE s.stage='stored'
			AND (s.version<>r.connection_version OR s.provider<>r.provider OR c.offer NOT LIKE '%grants=' || s.grants || ' %')`},
		{name: "I8 withheld", claim: "what is withheld is not there", query: `
			SELECT id FROM tool_calls WHERE withheld=1 AND result IS NOT NULL`},
		{name: "I9 reconciliations", claim: "only what is uncertain is reconciled", query: `
			SELECT x.call_id FROM reconciliations x JOIN tool_calls c ON c.id=x.call_id WHERE c.state<>'uncertain'`},
		{name: "I10 ended", claim: "final is what has an end", query: `
			SELECT id FROM tool_calls WHERE (state IN ('admitted','dispatched')) = (ended_at IS NOT NULL)
			UNION ALL SELECT id FROM runs WHERE (state='open') = (ended_at IS NOT NULL)`},
		{name: "I11 failed effects", claim: "an effect that was dispatched never failed", query: `
			SELECT id FROM tool_calls WHERE class='effect' AND state='failed' AND dispatched_at IS NOT NULL`},
		{name: "I12 fences", claim: "a fence never goes back, and each holder has one of its own", observed: true, query: `
			SELECT b.resource FROM seen_fences a JOIN seen_fences b ON b.resource=a.resource AND b.n>a.n WHERE b.fence<=a.fence`},
		{name: "I13 keys", claim: "a key has one live call", query: `
			SELECT min(id) FROM tool_calls WHERE caller_key IS NOT NULL AND state<>'refused' GROUP BY agent_id, caller_key HAVING count(*)>1`},
		{name: "I14 content", claim: "content is evidence of calls that succeeded and are shown", query: `
			SELECT e.call_id FROM evidence e JOIN tool_calls c ON c.id=e.call_id
			WHERE e.kind<>'source' AND (c.state<>'succeeded' OR c.withheld=1)`},
		{name: "I15 not dispatched", claim: "an effect that was not dispatched has not crossed the boundary", query: `
			SELECT id FROM tool_calls WHERE class='effect' AND outcome='not_dispatched' AND dispatched_at IS NOT NULL`},
		{name: "notices", claim: "an effect of unknown outcome is told to a person", query: `
			SELECT c.id FROM tool_calls c WHERE c.class='effect' AND c.state='uncertain'
			AND NOT EXISTS (SELECT 1 FROM notices n WHERE n.subject_id=c.id)`},
		{name: "approvals", claim: "an approval is used by one call, which names it", query: `
			SELECT a.id FROM approvals a
			WHERE (a.state='used') <> (a.used_by IS NOT NULL)
			   OR (a.state='used' AND NOT EXISTS (SELECT 1 FROM tool_calls c WHERE c.id=a.used_by AND c.approval_id=a.id AND c.state<>'refused'))
			   OR (SELECT count(*) FROM tool_calls c WHERE c.approval_id=a.id AND c.state<>'refused')>1`},
	}
}

// quiet is what holds besides, once processes have had the time to die and a sweep has passed.
func quiet() []invariant {
	return []invariant{
		{name: "I17 in flight", claim: "nothing is in flight", query: `
			SELECT id FROM tool_calls WHERE state IN ('admitted','dispatched')`},
		{name: "I17 undelivered", claim: "nothing waits to be delivered by the dead", query: `
			SELECT id FROM tool_calls WHERE state<>'refused' AND delivery=0 AND owner IN (SELECT id FROM processes WHERE dead=1)`},
		{name: "I17 runs", claim: "no run is open past its deadline", query: `
			SELECT id FROM runs WHERE state='open' AND deadline<now_us()`},
	}
}

// Violation is an invariant that does not hold, and up to ten rows that break it.
type Violation struct {
	Name, Claim string
	Rows        []string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: not so that %s: %s", v.Name, v.Claim, strings.Join(v.Rows, ", "))
}

// find asks a list of invariants inside a transaction.
func find(tx *sqldb.Tx, list []invariant, observed bool) ([]Violation, error) {
	var found []Violation
	for _, i := range list {
		if i.observed && !observed {
			continue
		}
		v := Violation{Name: i.name, Claim: i.claim}
		if err := tx.All(i.query, nil, func(scan func(...any) error) error {
			var row string
			if err := scan(&row); err != nil {
				return err
			}
			if len(v.Rows) < 10 {
				v.Rows = append(v.Rows, row)
			}
			return nil
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", i.name, err)
		}
		if v.Rows != nil {
			found = append(found, v)
		}
	}
	return found, nil
}

// Broken gives the invariants that do not hold now. What [Observe] records is read where it was installed.
func Broken(db *sqldb.DB) ([]Violation, error) {
	return broken(db, invariants())
}

func broken(db *sqldb.DB, list []invariant) (found []Violation, err error) {
	observed := observes(db)
	err = db.Read(context.Background(), func(tx *sqldb.Tx) error {
		found, err = find(tx, list, observed)
		return err
	})
	return found, err
}

// Invariants fails the test for each invariant of the ledger that does not hold. Every test of a store ends with it.
func Invariants(t testing.TB, db *sqldb.DB) {
	t.Helper()
	fail(t, db, invariants())
}

// Quiet fails the test for what is unfinished. It is asked after a sweep that came after every process's time.
func Quiet(t testing.TB, db *sqldb.DB) {
	t.Helper()
	fail(t, db, append(invariants(), quiet()...))
}

func fail(t testing.TB, db *sqldb.DB, list []invariant) {
	t.Helper()
	if db == nil { // rows in memory
		return
	}
	found, err := broken(db, list)
	if err != nil {
		t.Fatalf("ask the invariants: %v", err)
	}
	for _, v := range found {
		t.Error(v)
	}
}
