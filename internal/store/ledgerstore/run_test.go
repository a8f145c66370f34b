package ledgerstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// A run that somebody ends has them in the audit, once; one that its harness ends has nobody there.
func TestWhoEndsARunIsInTheAudit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		entries := func() int64 {
			return st.count("SELECT count(*) FROM audit WHERE verb='run.ended' AND actor='person:1' AND subject='" + st.run + "'")
		}
		other, err := st.s.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: "explicit", Deadline: time.Hour, MaxCalls: 9})
		must(t, err)
		_, err = st.s.EndRun(st.ctx, agentID, other.ID, "ended by the harness")
		must(t, err)
		for range 2 {
			r, err := st.s.EndRunBy(st.ctx, st.run, "ended by a person", "person:1")
			if err != nil || r.Open || r.EndReason != "ended by a person" || entries() != 1 {
				t.Errorf("%+v, %v, %d entries", r, err, entries())
			}
		}
		if _, err := st.s.EndRunBy(st.ctx, "run_none", "x", "person:1"); !errors.Is(err, ledger.ErrNotFound) || st.count("SELECT count(*) FROM audit WHERE verb='run.ended'") != 1 {
			t.Errorf("of no run: %v", err)
		}
	})
}

// What a client calls itself is kept with its run, whatever it wrote; an implicit run of an earlier program has it in its key.
func TestARunKeepsWhatItsClientCallsItself(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		for n, c := range []struct{ kind, key, client, want string }{
			{"explicit", "", "harness/1", "harness/1"},
			{"session", "mses_1", "de\x00sk\xff", "de\uFFFDsk\uFFFD"},
			{"implicit", "token_1\npi", "pi", "pi"},
			{"implicit", "token_2\n", "curl/8", "curl/8"},
			{"implicit", "token_3\nearlier", "", "earlier"},
			{"session", "mses_2\nx", "", ""},
		} {
			made, err := st.s.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: c.kind, ImplicitKey: c.key, Client: c.client, Deadline: time.Hour, MaxCalls: 9})
			must(t, err)
			read, err := st.s.Run(st.ctx, agentID, made.ID)
			must(t, err)
			listed, err := st.s.RunsOf(st.ctx, []string{agentID}, "", 1)
			must(t, err)
			for _, r := range []ledger.Run{made, read, listed[0]} {
				if r.ID != made.ID || r.Client != c.want {
					t.Errorf("case %d: %+v, want %q", n, r, c.want)
				}
			}
			clock.Advance(time.Second)
		}
	})
}

func TestOneOpenRunAKeyHoweverManyAskAtOnce(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, one, clock)
		stores := []*Store{st.s, st.store(two, nil)}
		for _, kind := range []string{"implicit", "session"} {
			want := ledger.NewRun{Agent: agentID, Kind: kind, ImplicitKey: "token\nclient\x00\xff", Title: "a\x00title", Deadline: time.Hour, Idle: time.Minute, MaxCalls: 100}
			all := func() map[string]bool {
				t.Helper()
				ids := make([]string, 16)
				var asking sync.WaitGroup
				for i := range ids {
					asking.Go(func() {
						r, err := stores[i%2].OpenRun(context.Background(), want)
						if err != nil || !r.Open || r.Kind != kind {
							t.Errorf("%s %d: %+v, %v", kind, i, r, err)
						}
						ids[i] = r.ID
					})
				}
				asking.Wait()
				found := map[string]bool{}
				for _, id := range ids {
					found[id] = true
				}
				return found
			}
			first := all()
			clock.Advance(time.Minute) // its idle time is over, and nobody has swept
			second := all()
			if len(first) != 1 || len(second) != 1 || reflect.DeepEqual(first, second) {
				t.Errorf("%s: sixteen got the runs %v, and later %v", kind, first, second)
			}
			for id := range first {
				if r, err := st.s.Run(st.ctx, agentID, id); err != nil || r.Open || r.EndReason != "idle" {
					t.Errorf("the run before is %+v, %v", r, err)
				}
			}
		}
		st.invariants()
	})
}

// An admission moves the end of idling; what a run's end takes away goes with it.
func TestRunsEndByIdlingAndTakeThingsAway(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		r, err := st.s.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: "implicit", ImplicitKey: "k", Deadline: time.Hour, Idle: 10 * time.Minute, MaxCalls: 100})
		must(t, err)
		st.run = r.ID
		clock.Advance(9 * time.Minute)
		st.admit(st.ask(asking))
		clock.Advance(9 * time.Minute)
		a := st.ask(pressing)
		st.admit(a)
		if v, err := st.s.Dispatch(st.ctx, a.ID, a.Nonce); err != nil || v != ledger.DispatchDone {
			t.Fatal(v, err)
		}
		for i, state := range []string{"open", "approved", "used"} {
			st.exec("INSERT INTO approvals(id, agent_id, run_id, tool, digest, profile_hash, tier, state, created_at, expires_at) VALUES($1,$2,$3,'t',$4,'','read',$5,now_us(),now_us()+9000000000)",
				fmt.Sprintf("apr_%d", i), agentID, st.run, []byte{byte(i)}, state)
		}
		st.exec("INSERT INTO kept_pages(id, run_id, call_id, page_key, snapshot, sha256, body, chars, bytes, kept_at, used_at, expires_at) VALUES('page_1',$1,'c','k',1,'s',$2,1,1,1,1,now_us()+9000000000)", st.run, []byte("x"))
		sweep := func() ledger.Run {
			t.Helper()
			_, err := st.s.Sweep(st.ctx, ledger.Retention{})
			must(t, err)
			r, err := st.s.Run(st.ctx, "", st.run)
			must(t, err)
			return r
		}
		must(t, st.s.Register(st.ctx, "process_two", "test", "1", time.Hour))
		clock.Advance(11 * time.Minute)
		if r := sweep(); !r.Open || r.Hold != a.ID { // a hold keeps an implicit run open
			t.Errorf("with a hold the run is %+v", r)
		}
		_, err = st.s.Reconcile(st.ctx, agentID, st.run, a.ID, ledger.Reconciliation{Verdict: ledger.NotHappened, By: ledger.By{Kind: "operator", ID: "person_1"}})
		must(t, err)
		if r := sweep(); r.Open || r.EndReason != "idle" || r.Ended != clock.Now() {
			t.Errorf("without a hold the run is %+v", r)
		}
		if void, used, pages := st.count("SELECT count(*) FROM approvals WHERE state='void'"), st.count("SELECT count(*) FROM approvals WHERE state='used'"), st.count("SELECT count(*) FROM kept_pages"); void != 2 || used != 1 || pages != 0 {
			t.Errorf("%d approvals are void and %d used, %d pages are left", void, used, pages)
		}
		_, err = st.s.Admit(st.ctx, st.ask(asking))
		if r := refusedAs(t, err, "run_over"); r.Reason != "idle" || r.At != clock.Now() {
			t.Errorf("the refusal says %+v", r)
		}
	})
}

func TestSweepExpiresQuestionsAndPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		for i, row := range []struct {
			state         string
			expires, good int64 // seconds from now
			becomes       string
		}{
			{"open", 60, 0, "unanswered"}, {"open", 600, 0, "open"}, {"approved", 60, 600, "approved"}, {"approved", 60, 60, "void"}, {"denied", 60, 60, "denied"}, {"used", 60, 60, "used"},
		} {
			st.exec("INSERT INTO approvals(id, agent_id, run_id, tool, digest, profile_hash, tier, state, created_at, expires_at, good_until, question) VALUES($1,$2,$3,$4,$5,'','read',$6,now_us(),now_us()+$7,now_us()+$8,NULL)",
				fmt.Sprintf("apr_%d", i), agentID, st.run, row.becomes, []byte{byte(i)}, row.state, row.expires*1e6, row.good*1e6)
		}
		for i, seconds := range []int64{60, 600} {
			st.exec("INSERT INTO kept_pages(id, run_id, call_id, page_key, snapshot, sha256, body, chars, bytes, kept_at, used_at, expires_at) VALUES($1,$2,'c',$1,1,'s',$3,1,1,1,1,now_us()+$4)",
				fmt.Sprintf("page_%d", i), st.run, []byte("x"), seconds*1e6)
		}
		clock.Advance(2 * time.Minute)
		_, err := st.s.Sweep(st.ctx, ledger.Retention{})
		must(t, err)
		if n := st.count("SELECT count(*) FROM approvals WHERE state<>tool"); n != 0 {
			t.Errorf("%d approvals are not what they should have become", n)
		}
		if all, read := st.count("SELECT count(*) FROM kept_pages WHERE sha256='s'"), st.count("SELECT count(*) FROM kept_pages WHERE body IS NOT NULL"); all != 2 || read != 1 {
			t.Errorf("of %d pages %d can be read", all, read)
		}
	})
}

// TM-100: what was typed and read stands in no file in the clear, and opens only where it was sealed.
func TestTM100NothingThatIsSealedStandsInTheFile(t *testing.T) {
	place := dbtest.New(t, sqldb.SQLite)
	st := newStage(t, place.Open(t), place.Clock)
	canary := "canary-4711"
	titled, err := st.s.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: "explicit", Title: canary + " run", Deadline: time.Hour, MaxCalls: 1})
	must(t, err)
	a := st.ask(posting)
	a.Args, a.Source.URL = []byte(canary+" typed"), "https://example.com/"+canary
	st.admit(a)
	_, err = st.s.Dispatch(st.ctx, a.ID, a.Nonce)
	must(t, err)
	end := done(a)
	end.State, end.Outcome, end.Result = effect.Uncertain, effect.OutcomeUncertain, []byte(canary+" read")
	end.Evidence = []ledger.Evidence{{Kind: "source", URL: "https://example.com/?" + canary, Title: canary + " title"}}
	_, err = st.s.Settle(st.ctx, end)
	must(t, err)
	_, err = st.s.Reconcile(st.ctx, agentID, st.run, a.ID, ledger.Reconciliation{Verdict: ledger.Happened, Note: canary + " note", By: ledger.By{Kind: "operator", ID: "person_1"}})
	must(t, err)
	late := done(a)
	late.Result = []byte(canary + " late")
	if got, err := st.s.Settle(st.ctx, late); err != nil || !got.Late {
		t.Fatal(got, err)
	}
	refused, err := st.s.Refuse(st.ctx, a.Ask, "policy_closed", nil, []byte(canary+" text"))
	must(t, err)
	r, err := st.s.Call(st.ctx, agentID, st.run, a.ID)
	must(t, err)
	for name, got := range map[string]string{"typed": string(r.Args), "read": string(r.Result), "late": string(r.Late), "note": r.Verdict.Note, "title": r.Evidence[1].Title, "run": titled.Title} {
		if got != canary+" "+name {
			t.Errorf("%s opens as %q", name, got)
		}
	}
	if r.Evidence[0].URL != a.Source.URL || r.Evidence[1].URL != "https://example.com/?"+canary {
		t.Errorf("the evidence is %+v", r.Evidence)
	}
	listed, err := st.s.RunsOf(st.ctx, []string{agentID}, "", 0)
	must(t, err)
	found, err := st.s.Run(st.ctx, agentID, titled.ID)
	must(t, err)
	if found.Title != titled.Title || !slices.ContainsFunc(listed, func(r ledger.Run) bool { return r.ID == titled.ID && r.Title == titled.Title }) {
		t.Errorf("a run's title opens as %q, and in a list of %+v", found.Title, listed)
	}
	if bytes.Contains(place.Bytes(t), []byte(canary)) {
		t.Error("the file has it in the clear")
	}
	st.exec("UPDATE tool_calls SET result=(SELECT result FROM tool_calls WHERE id=$2) WHERE id=$1", a.ID, refused)
	if _, err := st.s.Call(st.ctx, agentID, st.run, a.ID); err == nil {
		t.Error("a result opens in another row's place")
	}
}

// TM-049, TM-078: ids of others, and what is no id at all, are not there.
func TestTM078IdsOfOthersAreNotThere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		a := st.ask(pressing)
		st.admit(a)
		verdict := ledger.Reconciliation{Verdict: ledger.Happened, By: ledger.By{Kind: "harness", ID: "t"}}
		for name, ask := range map[string]func(agent, run, call string) error{
			"call": func(agent, run, call string) error { _, err := st.s.Call(st.ctx, agent, run, call); return err },
			"reconcile": func(agent, run, call string) error {
				_, err := st.s.Reconcile(st.ctx, agent, run, call, verdict)
				return err
			},
			"cancel":   func(agent, run, call string) error { _, err := st.s.Cancel(st.ctx, agent, run, call); return err },
			"calls of": func(agent, run, _ string) error { _, err := st.s.CallsOf(st.ctx, agent, run, 0, 10); return err },
			"run":      func(agent, run, _ string) error { _, err := st.s.Run(st.ctx, agent, run); return err },
			"end":      func(agent, run, _ string) error { _, err := st.s.EndRun(st.ctx, agent, run, "ended"); return err },
			"refuse": func(agent, run, _ string) error {
				b := st.ask(asking)
				b.Agent, b.Run = agent, run
				_, err := st.s.Refuse(st.ctx, b.Ask, "policy_closed", nil, nil)
				return err
			},
		} {
			for _, ids := range [][3]string{{"agent_two", st.run, a.ID}, {agentID, "run_other", a.ID}, {agentID, "run\x00\xff", "call\x00"}} {
				if name == "refuse" && ids[1] == "run\x00\xff" { // a door has found its run by then
					continue
				}
				if err := ask(ids[0], ids[1], ids[2]); !errors.Is(err, ledger.ErrNotFound) {
					t.Errorf("%s of %q answers %v", name, ids, err)
				}
			}
		}
		if r, err := st.s.Call(st.ctx, "", "", a.ID); err != nil || r.State != effect.Admitted {
			t.Errorf("afterwards the call is %s, %v", r.State, err)
		}
	})
}

// Rows go in small portions, children first, and nothing of a run is left but its audit.
func TestRetentionLeavesNothingBehind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		const calls = 45
		for range calls {
			a := st.ask(asking)
			st.admit(a)
			end := done(a)
			end.Evidence = []ledger.Evidence{{Kind: "content", URL: "https://example.com", Title: "t", SHA256: "ab"}}
			_, err := st.s.Settle(st.ctx, end)
			must(t, err)
		}
		_, err := st.s.Refuse(st.ctx, st.ask(asking).Ask, "policy_closed", nil, []byte("no"))
		must(t, err)
		a := st.ask(pressing)
		st.admit(a)
		_, err = st.s.Dispatch(st.ctx, a.ID, a.Nonce)
		must(t, err)
		end := done(a)
		end.State, end.Outcome = effect.Uncertain, effect.OutcomeUncertain
		_, err = st.s.Settle(st.ctx, end)
		must(t, err)
		_, err = st.s.Reconcile(st.ctx, agentID, st.run, a.ID, ledger.Reconciliation{Verdict: ledger.Happened, Note: "n", By: ledger.By{Kind: "operator", ID: "p"}})
		must(t, err)
		_, err = st.s.EndRun(st.ctx, agentID, st.run, "ended")
		must(t, err)
		sweep := func() {
			t.Helper()
			_, err := st.s.Sweep(st.ctx, ledger.Retention{Batch: 7})
			must(t, err)
		}
		for _, session := range []string{"over", "goes on"} { // in another run
			open := func(deadline time.Duration) string {
				r, err := st.s.OpenRun(st.ctx, ledger.NewRun{Agent: agentID, Kind: "session", ImplicitKey: session, Audience: "session:" + session, Deadline: deadline, MaxCalls: 1})
				must(t, err)
				return r.ID
			}
			_, err := st.s.EndRun(st.ctx, agentID, open(time.Hour), "ended")
			must(t, err)
			_, err = st.s.Offer(st.ctx, agentID, "session:"+session, []ledger.Tool{asking})
			must(t, err)
			if session == "goes on" {
				open(40 * 24 * time.Hour)
			}
		}
		clock.Advance(31 * 24 * time.Hour)
		sweep()
		if gone, kept := st.count("SELECT count(*) FROM offers WHERE audience='session:over'"), st.count("SELECT count(*) FROM offers WHERE audience IN ('session:goes on', 'agent:agent_one')"); gone != 0 || kept != 5 {
			t.Errorf("%d offers are left of a session that ended, and %d of 5 others", gone, kept)
		}
		if n := st.count("SELECT count(*) FROM runs WHERE title IS NOT NULL OR title_sealed IS NOT NULL") + st.count("SELECT count(*) FROM tool_calls WHERE args IS NOT NULL OR result IS NOT NULL") + st.count("SELECT count(*) FROM evidence WHERE url IS NOT NULL OR title IS NOT NULL") +
			st.count("SELECT count(*) FROM reconciliations WHERE note IS NOT NULL"); n != 0 {
			t.Errorf("%d sealed texts are left after a month", n)
		}
		if n := st.count("SELECT count(*) FROM evidence WHERE sha256='ab'"); n != calls {
			t.Errorf("%d of %d hashes are left after a month", n, calls)
		}
		st.invariants()
		for range 2 { // the first ends what was still open
			clock.Advance(366 * 24 * time.Hour)
			sweep()
		}
		for _, table := range []string{"runs", "tool_calls", "evidence", "reservations", "reconciliations", "run_meters", "minute_meters", "notices", "approvals", "kept_pages", "processes"} {
			if n := st.count("SELECT count(*) FROM " + table); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
	})
}

// A program of the schema before kept a run's title in the clear: it is shown, and goes when its time is over.
func TestTitleThatAnEarlierProgramKeptIsShown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		st.exec("UPDATE runs SET title='as it was' WHERE id=$1", st.run)
		if r, err := st.s.Run(st.ctx, agentID, st.run); err != nil || r.Title != "as it was" {
			t.Errorf("it is %q, %v", r.Title, err)
		}
		_, err := st.s.EndRun(st.ctx, agentID, st.run, "ended")
		must(t, err)
		clock.Advance(31 * 24 * time.Hour)
		_, err = st.s.Sweep(st.ctx, ledger.Retention{})
		must(t, err)
		if r, err := st.s.Run(st.ctx, agentID, st.run); err != nil || r.Title != "" {
			t.Errorf("after a month it is %q, %v", r.Title, err)
		}
	})
}

// Calls and refusals have one order in their run, so that who lists them misses none.
func TestListingARunMissesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		st := newStage(t, db, clock)
		var want []string
		for i := range 9 {
			if i%3 == 1 {
				id, err := st.s.Refuse(st.ctx, st.ask(asking).Ask, "policy_closed", []ledger.Reason{{Stage: "policy", Fact: "closed"}}, []byte("no"))
				must(t, err)
				want = append(want, id)
				continue
			}
			want = append(want, st.admit(st.ask(asking)).Record.ID)
			clock.Advance(time.Second)
		}
		var got []string
		for after := int64(0); ; {
			list, err := st.s.CallsOf(st.ctx, agentID, st.run, after, 2)
			must(t, err)
			if len(list) == 0 {
				break
			}
			for _, r := range list {
				if r.Args != nil || r.Result != nil || r.Conversation == "" || len(r.Why) == 0 {
					t.Errorf("listed as %+v", r)
				}
				got, after = append(got, r.ID), r.Seq
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("listed %v, want %v", got, want)
		}
		runs, calls, now, err := st.s.Changes(st.ctx, clock.Now().Add(-2*time.Second))
		must(t, err)
		if len(runs) != 0 || len(calls) != 3 || now != clock.Now() || calls[2].ID != want[8] {
			t.Errorf("of late %d runs and %d calls changed", len(runs), len(calls))
		}
	})
}
