package approvalstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/store/approvalstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// install writes two agents, two runs of the first and one of the second.
func install(t *testing.T, db *sqldb.DB) {
	t.Helper()
	if err := db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
		for _, agent := range []string{"agent_1", "agent_2"} {
			if _, err := tx.Exec("INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ($1, $1, $1, 'active', 1, now_us())", agent); err != nil {
				return err
			}
		}
		for run, agent := range map[string]string{"run_1": "agent_1", "run_2": "agent_1", "run_3": "agent_2"} {
			if _, err := tx.Exec(`INSERT INTO runs (id, agent_id, kind, audience, conversation_id, state, deadline, max_tool_calls, created_at)
VALUES ($1, $2, 'explicit', 'x', $1, 'open', now_us() + 3600000000, 100, now_us())`, run, agent); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func request(run, text string) approval.Request {
	agent := "agent_1"
	if run == "run_3" {
		agent = "agent_2"
	}
	return approval.Request{Agent: agent, Run: run, Tool: "do_publish", Profile: "sha256:1", Digest: []byte(text),
		Facts: approval.Facts{Tier: approval.Sensitive, Origin: "https://example.com", Description: "canary-" + text, Declared: true}}
}

func stand(t *testing.T, s *approvalstore.Store, r approval.Request, want approval.Standing) approval.Approval {
	t.Helper()
	got, err := s.Stand(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Standing != want {
		t.Fatalf("it stands as %q, want %q", got.Standing, want)
	}
	return got.Approval
}

var yes = approval.Reply{Answer: approval.Once, Channel: approval.Page, By: "person:ann"}

func TestIdenticalRequestsOfTwoProcessesShareAQuestion(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, _ *dbtest.Clock) {
		install(t, a)
		sealer := dbtest.Sealer()
		stores := []*approvalstore.Store{approvalstore.New(a, sealer), approvalstore.New(b, sealer)}
		var all sync.WaitGroup
		ids := make([]string, 16)
		for i := range ids {
			all.Go(func() {
				got, err := stores[i%2].Stand(t.Context(), request("run_1", "a"))
				if err != nil || got.Standing != approval.Asked {
					t.Errorf("%+v, %v", got.Standing, err)
				}
				ids[i] = got.Approval.ID
			})
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] || id == "" {
				t.Fatalf("the questions are %q", ids)
			}
		}
	})
}

func TestOfTwoPeopleOneAnswersAndTheOtherReadsWho(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, clock *dbtest.Clock) {
		install(t, a)
		sealer := dbtest.Sealer()
		stores := []*approvalstore.Store{approvalstore.New(a, sealer), approvalstore.New(b, sealer)}
		for round := range 5 {
			q := stand(t, stores[0], request("run_1", fmt.Sprint(round)), approval.Asked)
			var all sync.WaitGroup
			var mu sync.Mutex
			var won []string
			for i, by := range []string{"person:ann", "person:bob", "person:cas", "person:dov"} {
				all.Go(func() {
					answer := approval.Once
					if i%2 == 1 {
						answer = approval.Deny
					}
					got, err := stores[i/2].Answer(t.Context(), q.ID, approval.Reply{Answer: answer, Channel: approval.Page, By: by})
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						won = append(won, by)
					case !errors.Is(err, approval.ErrNotOpen) || got.AnsweredBy == "" || got.AnsweredBy == by || !got.Answered.Equal(clock.Now()):
						t.Errorf("%s is told %v, %+v", by, err, got)
					}
				})
			}
			all.Wait()
			if len(won) != 1 {
				t.Fatalf("answered by %q", won)
			}
			if got, err := stores[1].Show(t.Context(), q.ID); err != nil || got.AnsweredBy != won[0] || !got.GoodUntil.Equal(clock.Now().Add(approval.GoodFor)) {
				t.Errorf("it stands as %+v, %v", got, err)
			}
		}
	})
}

func TestAnAnswerComesInTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		install(t, db)
		s := approvalstore.New(db, dbtest.Sealer())
		if _, err := s.Answer(t.Context(), "apr_none", yes); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("an unknown question: %v", err)
		}
		q := stand(t, s, request("run_1", "a"), approval.Asked)
		clock.Advance(approval.OpenFor - time.Microsecond)
		if _, err := s.Answer(t.Context(), q.ID, yes); err != nil {
			t.Errorf("at the last moment: %v", err)
		}
		stand(t, s, request("run_1", "a"), approval.Granted)
		clock.Advance(approval.GoodFor)
		q = stand(t, s, request("run_1", "a"), approval.Asked)
		clock.Advance(approval.OpenFor)
		got, err := s.Answer(t.Context(), q.ID, yes)
		if !errors.Is(err, approval.ErrNotOpen) || got.State != approval.Unanswered {
			t.Errorf("after its time: %v, %s", err, got.State)
		}
		stand(t, s, request("run_1", "a"), approval.Silent)
		stand(t, s, request("run_1", "a"), approval.Asked)
		if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := tx.Exec("UPDATE runs SET state = 'ended', ended_at = now_us() WHERE id = 'run_1'")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		stand(t, s, request("run_1", "a"), approval.Over)
		all, err := s.List(t.Context(), approval.Filter{Run: "run_1", Limit: 100})
		if err != nil || len(all) != 3 || all[0].State != approval.Void || all[1].State != approval.Unanswered || all[2].State != approval.Void {
			t.Errorf("the list has %+v, %v", all, err)
		}
		if got, err := s.Answer(t.Context(), all[0].ID, yes); !errors.Is(err, approval.ErrNotOpen) || got.State != approval.Void {
			t.Errorf("in an ended run: %v, %s", err, got.State)
		}
	})
}

func TestListsAreWhatTheyAreAskedFor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		install(t, db)
		s := approvalstore.New(db, dbtest.Sealer())
		a := stand(t, s, request("run_1", "a"), approval.Asked)
		b := stand(t, s, request("run_2", "b"), approval.Asked)
		c := stand(t, s, request("run_3", "c"), approval.Asked)
		if _, err := s.Answer(t.Context(), b.ID, yes); err != nil {
			t.Fatal(err)
		}
		for _, k := range []struct {
			f    approval.Filter
			want []string
		}{
			{approval.Filter{Limit: 10}, []string{c.ID, b.ID, a.ID}},
			{approval.Filter{Limit: 2}, []string{c.ID, b.ID}},
			{approval.Filter{Before: b.ID, Limit: 10}, []string{a.ID}},
			{approval.Filter{Open: true, Limit: 10}, []string{c.ID, a.ID}},
			{approval.Filter{Agents: []string{"agent_1"}, Limit: 10}, []string{b.ID, a.ID}},
			{approval.Filter{Agents: []string{"agent_1", "agent_2"}, Run: "run_3", Limit: 10}, []string{c.ID}},
			{approval.Filter{Agents: []string{}, Limit: 10}, nil},
			{approval.Filter{Agents: []string{"' OR 1=1"}, Limit: 10}, nil},
		} {
			got, err := s.List(t.Context(), k.f)
			var ids []string
			for _, one := range got {
				ids = append(ids, one.ID)
			}
			if err != nil || fmt.Sprint(ids) != fmt.Sprint(k.want) {
				t.Errorf("%+v gives %q, %v; want %q", k.f, ids, err, k.want)
			}
		}
		if got, err := s.Show(t.Context(), a.ID); err != nil || got.Facts.Description != "canary-a" || got.Message != a.Message || got.Slug != "agent_1" || !bytes.Equal(got.Digest, []byte("a")) {
			t.Errorf("shown as %+v, %v", got, err)
		}
		denied, err := s.DenyAll(t.Context(), []string{"agent_2"}, approval.Reply{Channel: approval.Terminal, By: "person:ann"})
		if err != nil || fmt.Sprint(denied) != fmt.Sprint([]string{c.ID}) {
			t.Errorf("denied %q, %v", denied, err)
		}
		if _, err := s.DenyAll(t.Context(), nil, approval.Reply{Channel: approval.Elicitation, By: "token:1"}); !errors.Is(err, approval.ErrMayNotElicit) {
			t.Errorf("all denied by a form: %v", err)
		}
	})
}

// What a model wrote is not readable in the database's file.
func TestQuestionsAreSealed(t *testing.T) {
	place := dbtest.New(t, sqldb.SQLite)
	db := place.Open(t)
	install(t, db)
	s := approvalstore.New(db, dbtest.Sealer())
	stand(t, s, request("run_1", "a"), approval.Asked)
	if raw := place.Bytes(t); bytes.Contains(raw, []byte("canary-")) || !bytes.Contains(raw, []byte("do_publish")) {
		t.Error("the question stands in the clear, or was not written")
	}
}

// standLater asks how a call stands beside the test; what comes of it follows.
func standLater(t *testing.T, s *approvalstore.Store, r approval.Request) <-chan approval.Stood {
	stood := make(chan approval.Stood, 1)
	go func() {
		got, err := s.Stand(context.Background(), r)
		if err != nil {
			t.Error(err)
		}
		stood <- got
	}()
	return stood
}

// TestAnswerOfTheLastMomentStands: that a question is over was seen before its answer was there.
func TestAnswerOfTheLastMomentStands(t *testing.T) {
	db, clock := dbtest.OpenPatient(t)
	install(t, db)
	s := approvalstore.New(db, dbtest.Sealer())
	q := stand(t, s, request("run_1", "a"), approval.Asked)
	clock.Advance(approval.OpenFor - time.Microsecond)
	held := dbtest.Hold(t, db, "SELECT id FROM approvals FOR UPDATE")
	answered := make(chan error, 1)
	go func() {
		_, err := s.Answer(context.Background(), q.ID, yes)
		answered <- err
	}()
	dbtest.AwaitWaiters(t, db, 1)
	clock.Advance(time.Second)
	stood := standLater(t, s, request("run_1", "a"))
	dbtest.AwaitWaiters(t, db, 2)
	held.Undo()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if got := <-stood; got.Standing != approval.Granted {
		t.Errorf("a person said yes, and it stands as %q", got.Standing)
	}
	if a, err := s.Show(t.Context(), q.ID); err != nil || a.State != approval.Approved {
		t.Errorf("the answer is %q, %v", a.State, err)
	}
}

// TestNoQuestionIsOpenedBesideTheEndOfItsRun: nobody could answer it, and a person would be told of it.
func TestNoQuestionIsOpenedBesideTheEndOfItsRun(t *testing.T) {
	db, _ := dbtest.OpenPatient(t)
	install(t, db)
	s := approvalstore.New(db, dbtest.Sealer())
	held := dbtest.Hold(t, db, "UPDATE runs SET state = 'ended', end_reason = 'ended', ended_at = now_us() WHERE id = 'run_1'")
	stood := standLater(t, s, request("run_1", "a"))
	dbtest.AwaitWaiters(t, db, 1)
	held.Commit()
	if got := <-stood; got.Standing != approval.Over {
		t.Errorf("it stands as %q", got.Standing)
	}
	var questions int64
	if _, err := db.One(t.Context(), "SELECT count(*) FROM approvals", nil, &questions); err != nil || questions != 0 {
		t.Errorf("%d questions, %v", questions, err)
	}
}
