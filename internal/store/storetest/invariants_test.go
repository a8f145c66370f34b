// This file breaks each invariant by hand and looks that it, and nothing else, is named.
package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// breach breaks one invariant. What it does is undone afterwards.
type breach struct {
	name string
	how  []string
}

// scenery is a bit of everything, by rules: the ids that breaches name.
type scenery struct {
	look, post, held, admitted, query string // calls: observed, done, uncertain, admitted in another run, in flight
	run, other, refused               string
}

func (s scenery) build(b *bench) scenery {
	look := b.fresh(b.A, Look, withKey("key-of-look"))
	done := look.done()
	done.Evidence = []ledger.Evidence{{Kind: "content", Host: "example.com", URL: "https://example.com/", SHA256: "ab12"}}
	b.settle(b.A, done)
	post := b.sent(b.A, Post)
	b.pass(time.Second)
	b.settle(b.A, post.done())
	b.pass(time.Second)
	held := b.sent(b.A, Press)
	b.pass(time.Second)
	b.settle(b.A, held.lost())
	s = scenery{look: look.id, post: post.id, held: held.id, run: b.run}
	s.other = b.openRun(ledger.NewRun{}).ID
	s.admitted = b.fresh(b.A, Post, inRun(s.other), withKey("key-of-admitted")).id
	s.query = b.fresh(b.A, Ask).id
	id, err := b.A.Refuse(b.ctx, b.ask(Look).Ask, "denied", nil, nil)
	b.must(err)
	s.refused = id
	if _, ok, err := b.A.Acquire(b.ctx, "session:one", procA, "", time.Minute); err != nil || !ok {
		b.t.Fatalf("take a lease: %t, %v", ok, err)
	}
	b.Settings.Approval(b.t, ApprovalRow{ID: "apr_one", Agent: agentOne, Run: s.other, Tool: "post", Digest: []byte("d"), GoodUntil: b.Clock.Now().Add(time.Minute)})
	return s
}

// breaches is at least one for each invariant. {look} and the like stand for ids.
func breaches() []breach {
	return []breach{
		{"I0 sent", []string{"UPDATE tool_calls SET dispatched_at=NULL WHERE id='{look}'"}},
		{"I0 sent", []string{"UPDATE tool_calls SET dispatched_at=created_at WHERE id='{refused}'"}},
		{"I1 reservation", []string{"UPDATE tool_calls SET state='refused', caller_key=NULL, ended_at=created_at WHERE id='{admitted}'",
			"UPDATE runs SET calls=calls-1, refused=refused+1 WHERE id='{other}'"}},
		{"I1 reservation", []string{"UPDATE reservations SET agent_id='agent_two' WHERE call_id='{post}'"}},
		{"I1 evidence", []string{"DELETE FROM evidence WHERE call_id='{query}'"}},
		{"I3 run meters", []string{"UPDATE run_meters SET used=used+1 WHERE run_id='{run}' AND capability='read'"}},
		{"I3 minute meters", []string{"UPDATE minute_meters SET used=used-1 WHERE capability='mail'"}},
		{"I3 unmetered", []string{"DELETE FROM run_meters WHERE run_id='{run}' AND capability='read'"}},
		{"I3 unmetered", []string{"DELETE FROM minute_meters WHERE capability='read'"}},
		{"I3 one clock", []string{"UPDATE reservations SET at=at+1 WHERE call_id='{look}'"}},
		{"I3 one clock", []string{"UPDATE tool_calls SET dispatched_at=dispatched_at+1 WHERE id='{query}'"}},
		{"I3 calls", []string{"UPDATE runs SET calls=calls+1 WHERE id='{run}'"}},
		{"I3 calls", []string{"UPDATE tool_calls SET seq=1 WHERE run_id='{run}'"}},
		{"I3 calls", []string{"UPDATE runs SET refused=0 WHERE id='{run}'"}},
		{"I3 calls", []string{"UPDATE runs SET max_tool_calls=1 WHERE id='{run}'"}},
		{"I4 limits", []string{"INSERT INTO seen_growth (meter, used, lim) VALUES ('{run} read', 4, 3)"}},
		{"I5 hold", []string{"UPDATE runs SET hold_call=NULL WHERE id='{run}'"}},
		{"I5 held", []string{"UPDATE runs SET hold_call='{admitted}' WHERE id='{other}'"}},
		{"I5 held", []string{"UPDATE runs SET hold_call='{held}' WHERE id='{other}'"}},
		{"I6 one after another", []string{"UPDATE tool_calls SET ended_at=ended_at+3600000000 WHERE id='{post}'"}},
		{"I6 one after another", []string{"UPDATE tool_calls SET dispatched_at=(SELECT dispatched_at FROM tool_calls WHERE id='{post}') WHERE id='{held}'"}},
		{"I7 bindings", []string{"UPDATE seen_bindings SET version=9 WHERE call_id='{query}'"}},
		{"I7 bindings", []string{"UPDATE seen_bindings SET grants=2 WHERE call_id='{post}' AND stage='dispatched'"}},
		{"I7 bindings", []string{"UPDATE seen_bindings SET provider='other' WHERE call_id='{query}'"}},
		{"I8 results", []string{"UPDATE seen_bindings SET version=9 WHERE call_id='{look}' AND stage='stored'"}},
		{"I8 withheld", []string{"UPDATE tool_calls SET withheld=1 WHERE id='{post}'"}},
		{"I9 reconciliations", []string{"INSERT INTO reconciliations (call_id, verdict, by_kind, by_id, at) VALUES ('{look}', 'happened', 'operator', 'person_one', 1)"}},
		{"I10 ended", []string{"UPDATE tool_calls SET ended_at=created_at WHERE id='{query}'"}},
		{"I10 ended", []string{"UPDATE tool_calls SET ended_at=NULL WHERE id='{look}'"}},
		{"I10 ended", []string{"UPDATE runs SET ended_at=created_at WHERE id='{run}'"}},
		{"I11 failed effects", []string{"UPDATE tool_calls SET state='failed', outcome='lost', dispatched_at=created_at, ended_at=created_at WHERE id='{admitted}'"}},
		{"I12 fences", []string{"INSERT INTO seen_fences (resource, fence) VALUES ('session:one', 1)"}},
		{"I13 keys", []string{"DROP INDEX tool_calls_key", "UPDATE tool_calls SET caller_key='key-of-look' WHERE id='{admitted}'"}},
		{"I14 content", []string{"UPDATE evidence SET call_id='{query}' WHERE call_id='{look}' AND n=1"}},
		{"I14 content", []string{"UPDATE tool_calls SET withheld=1, result=NULL WHERE id='{look}'"}},
		{"I15 not dispatched", []string{"UPDATE tool_calls SET outcome='not_dispatched' WHERE id='{post}'"}},
		{"notices", []string{"DELETE FROM notices"}},
		{"approvals", []string{"UPDATE approvals SET state='used'"}},
		{"approvals", []string{"UPDATE approvals SET state='used', used_by='{look}'"}},
		{"approvals", []string{"UPDATE tool_calls SET approval_id='apr_one' WHERE id IN ('{look}','{post}')"}},
	}
}

var errUndone = errors.New("undone")

func TestEachBrokenInvariantIsNamed(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			b := newBench(t, onDatabase(t, d))
			s := scenery{}.build(b)
			ids := strings.NewReplacer("{look}", s.look, "{post}", s.post, "{held}", s.held, "{admitted}", s.admitted, "{query}", s.query,
				"{run}", s.run, "{other}", s.other, "{refused}", s.refused)
			named := make(map[string]bool)
			for _, x := range breaches() {
				named[x.name] = true
				var found []Violation
				err := b.DB.Write(b.ctx, sqldb.Free, func(tx *sqldb.Tx) error {
					if err := withoutTriggers(tx); err != nil {
						return err
					}
					for _, h := range x.how {
						n, err := tx.Exec(ids.Replace(h))
						if err != nil {
							return fmt.Errorf("%s: %w", h, err)
						}
						if n == 0 && !strings.HasPrefix(h, "DROP") {
							return fmt.Errorf("%s: changed nothing", h)
						}
					}
					var err error
					if found, err = find(tx, invariants(), true); err != nil {
						return err
					}
					return errUndone
				})
				if !errors.Is(err, errUndone) {
					t.Fatalf("break %s: %v", x.name, err)
				}
				if len(found) != 1 || found[0].Name != x.name || len(found[0].Rows) == 0 {
					t.Errorf("broken %s by %q, found %v", x.name, x.how, found)
				}
			}
			for _, i := range invariants() {
				if !named[i.name] {
					t.Errorf("nothing breaks %s", i.name)
				}
			}
		})
	}
}

// withoutTriggers drops, within a transaction that is undone, what refuses the writes of breaches.
func withoutTriggers(tx *sqldb.Tx) error {
	list := "SELECT 'DROP TRIGGER ' || name FROM sqlite_master WHERE type='trigger'"
	if tx.Dialect() == sqldb.Postgres { // the catalogues differ
		list = "SELECT 'ALTER TABLE ' || relname || ' DISABLE TRIGGER USER' FROM pg_class WHERE relkind='r' AND relhastriggers AND relnamespace='public'::regnamespace"
	}
	var statements []string
	if err := tx.All(list, nil, func(scan func(...any) error) error {
		var s string
		err := scan(&s)
		statements = append(statements, s)
		return err
	}); err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := tx.Exec(s); err != nil {
			return err
		}
	}
	return nil
}

func TestQuietNamesWhatIsUnfinished(t *testing.T) {
	b := newBench(t, onDatabase(t, sqldb.SQLite))
	b.fresh(b.A, Look)
	c := b.fresh(b.A, Ask)
	b.settle(b.A, c.done())
	b.die(procA)
	b.jump(time.Hour)
	want := func(names ...string) {
		t.Helper()
		found, err := broken(b.DB, append(invariants(), quiet()...))
		b.must(err)
		var got []string
		for _, v := range found {
			got = append(got, v.Name)
		}
		if !slices.Equal(got, names) {
			t.Errorf("unfinished: %v, want %v", found, names)
		}
	}
	want("I17 in flight", "I17 undelivered", "I17 runs")
	b.sweepAll()
	want()
}
