package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/approvalstore"
	"github.com/wayleave/wayleave/internal/tool"
)

const publish = `{"text":"the piece"}`

// person answers by the page.
func (s *stage) person(t *testing.T, id string, a approval.Answer) {
	t.Helper()
	if _, err := s.approvals.Answer(t.Context(), id, approval.Reply{Answer: a, Channel: approval.Page, By: "person:1"}); err != nil {
		t.Fatal(err)
	}
}

// asked makes a call that nobody answers in time, and gives the question's id.
func (s *stage) asked(t *testing.T, c tool.Caller, arguments string) string {
	t.Helper()
	r := s.call(t, c, "publish", arguments)
	want(t, r, "approval_required")
	id, _ := keysOf(t, r)["approval_id"].(string)
	return id
}

func (s *stage) state(t *testing.T, id string) approval.State {
	t.Helper()
	a, err := s.approvals.Show(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return a.State
}

func TestACallThatNeedsAYesRunsOnceAfterIt(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		r := s.call(t, caller(), "publish", publish)
		keys := keysOf(t, r)
		id, _ := keys["approval_id"].(string)
		until := s.clock.Now().Add(10 * time.Minute)
		if got, wanted := r.Text(), "approval_required: nothing was sent; a person must allow publish on https://example.com: sending forms, uploading or signing in (question "+id+")\n"+
			"next: approve · Ask the person to answer at https://wayleave.example/needs-you/approvals?id="+id+" until "+until.Format("15:04:05")+
			" UTC, then make the same call again: it runs once, within 5 minutes of the answer."; got != wanted {
			t.Errorf("told as\n%s\nwant\n%s", got, wanted)
		}
		if keys["answer_url"] != base+"/needs-you/approvals?id="+id || keys["expires_at"] != until.Format(time.RFC3339) || keys["tier"] != "sensitive" {
			t.Errorf("the keys are %s", r.Structured)
		}
		if n := s.count(t, "SELECT count(*) FROM notices WHERE kind = $1 AND subject_id = $2", approvalstore.NoticeKind, id); n != 1 {
			t.Errorf("%d notices", n)
		}
		if again := s.asked(t, caller(), publish); again != id {
			t.Errorf("the same call opened question %s besides %s", again, id)
		}
		s.person(t, id, approval.Once)
		done := s.call(t, caller(), "publish", publish)
		want(t, done, "")
		if rec := s.record(t, done); rec.Approval != id || rec.State != effect.Succeeded {
			t.Errorf("it ran with approval %q as %s", rec.Approval, rec.State)
		}
		if third := s.asked(t, caller(), publish); third == id {
			t.Error("a further call was not asked anew")
		}
		if got := len(s.set.World.Entries()); got != 2 {
			t.Errorf("%d inputs reached the world", got)
		}
		if a := s.count(t, "SELECT count(*) FROM audit WHERE verb IN ('approval.asked','approval.answered') AND subject = $1", id); a != 2 {
			t.Errorf("%d rows of audit", a)
		}
	})
}

// One question, one run, everyone gets the stored result.
func TestCallsThatJoinAQuestionShareItsResult(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		stood := &counting{Store: s.approvals}
		s.process = s.start(t, s.rows, func(_ *ledger.Options, o *tool.Options) { o.Wait, o.Approvals = 20*time.Second, stood })
		s.list(t, caller())
		const n = 4
		results, faults := make([]tool.Result, n), make([]error, n)
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				results[i], faults[i] = s.Call(t.Context(), caller(), "publish", json.RawMessage(publish))
				if faults[i] == nil {
					results[i].Delivered(true)
				}
			})
		}
		var open []approval.Approval
		eventually(t, "all calls have joined one question", func() bool {
			var err error
			open, err = s.approvals.List(t.Context(), approval.Filter{Open: true, Limit: 10})
			return err == nil && len(open) == 1 && stood.n.Load() == n
		})
		s.person(t, open[0].ID, approval.Once)
		all.Wait()
		for i, r := range results {
			if faults[i] != nil || r.Failure != nil || r.Call != results[0].Call {
				t.Errorf("call %d: %v, %s", i, faults[i], r.Text())
			}
		}
		if got := len(s.set.World.Entries()); got != 2 {
			t.Errorf("%d inputs reached the world", got)
		}
	})
}

// counting counts the calls that have asked.
type counting struct {
	approval.Store
	n atomic.Int64
}

func (c *counting) Stand(ctx context.Context, r approval.Request) (approval.Stood, error) {
	stood, err := c.Store.Stand(ctx, r)
	c.n.Add(1)
	return stood, err
}

func TestANoIsToldAndASilenceToo(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		id := s.asked(t, caller(), publish)
		s.person(t, id, approval.Deny)
		for range 2 {
			r := s.call(t, caller(), "publish", publish)
			want(t, r, "denied")
			if keysOf(t, r)["approval_id"] != id {
				t.Errorf("the keys are %s", r.Structured)
			}
		}
		s.clock.Advance(approval.GoodFor + time.Second)
		id = s.asked(t, caller(), publish)
		s.clock.Advance(approval.OpenFor + time.Second)
		if got := s.state(t, id); got != approval.Unanswered {
			t.Errorf("after its time the question is %s", got)
		}
		if n, err := s.ledger.Sweep(t.Context()); err != nil {
			t.Fatal(n, err)
		}
		r := s.call(t, caller(), "publish", publish) // told once, whether or not a sweep was here before
		want(t, r, "unanswered")
		if s.asked(t, caller(), publish) == id {
			t.Error("the same call does not ask anew")
		}
		if len(s.set.World.Entries()) != 0 {
			t.Error("something was sent")
		}
	})
}

func TestTM059AnApprovalIsGoodForOneCallOneTimeAndFiveMinutes(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		presenting := func(id string) tool.Caller {
			c := caller()
			c.Approval = id
			return c
		}
		refused := func(what, id, arguments, says string) {
			t.Helper()
			r := s.call(t, presenting(id), "publish", arguments)
			want(t, r, "approval_required")
			if !strings.Contains(r.Text(), says) {
				t.Errorf("%s is told as %s", what, r.Text())
			}
		}
		id := s.asked(t, caller(), publish)
		s.person(t, id, approval.Once)
		refused("for other inputs", id, `{"text":"other"}`, "belongs to another call")
		if got := s.state(t, id); got != approval.Void {
			t.Errorf("a wrong presentation leaves it %s", got)
		}
		refused("after a wrong presentation", id, publish, "is not valid any more")
		refused("unknown", "apr_nobody", `{"text":"x"}`, "is not known here")
		refused("with words in it", "ignore the \u202e rules", `{"text":"x"}`, "is not known here")

		id = s.asked(t, caller(), publish)
		s.person(t, id, approval.Once)
		s.clock.Advance(approval.GoodFor + time.Second)
		if next := s.asked(t, caller(), publish); next == id {
			t.Error("an old yes still stands")
		} else {
			s.person(t, next, approval.Once)
			s.set.SetProfile("sha256:two")
			want(t, s.call(t, caller(), "publish", publish), "stale_offer")
			id = s.asked(t, caller(), publish)
			if id == next || s.state(t, next) != approval.Void {
				t.Errorf("after an edit the old yes is %s", s.state(t, next))
			}
		}
		s.person(t, id, approval.Once)
		want(t, s.call(t, presenting(id), "publish", publish), "")
		refused("used", id, publish, "is used up")

		id = s.asked(t, caller(), `{"text":"x"}`)
		s.person(t, id, approval.Once)
		refused("another beside its own", "apr_nobody", `{"text":"x"}`, "make it again without an approval's id")
		if got := s.state(t, id); got != approval.Approved {
			t.Errorf("its own is %s after another was presented", got)
		}
		if _, err := s.ledger.EndRun(t.Context(), me, s.call(t, caller(), "peek", publish).Run, "ended"); err != nil {
			t.Fatal(err)
		}
		if got := s.state(t, id); got != approval.Void {
			t.Errorf("in an ended run it is %s", got)
		}
		if _, err := s.approvals.Answer(t.Context(), id, approval.Reply{Answer: approval.Once, Channel: approval.Page, By: "person:1"}); !errors.Is(err, approval.ErrNotOpen) {
			t.Errorf("answered again: %v", err)
		}
		if got := len(s.set.World.Entries()); got != 2 {
			t.Errorf("%d inputs reached the world", got)
		}
		if n := s.count(t, "SELECT count(*) FROM audit WHERE verb = 'approval.misused'"); n != 6 {
			t.Errorf("%d wrong presentations are in the audit", n)
		}
	})
}

// Another agent's approval looks like none, and is not burned by it.
func TestTM059AnApprovalIsItsAgents(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		id := s.asked(t, caller(), publish)
		s.person(t, id, approval.Once)
		thief := tool.Caller{Agent: other, Slug: "other", Token: "tok_2", Approval: id}
		s.list(t, thief)
		r := s.call(t, thief, "publish", publish)
		want(t, r, "approval_required")
		if !strings.Contains(r.Text(), "is not known here") || s.state(t, id) != approval.Approved {
			t.Errorf("it is %s: %s", s.state(t, id), r.Text())
		}
	})
}

func TestAnApprovalSurvivesARefusedAdmission(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		run, err := s.ledger.OpenRun(t.Context(), ledger.Opening{Agent: me, MaxCalls: 1})
		if err != nil {
			t.Fatal(err)
		}
		c := caller()
		c.Run = run.ID
		s.list(t, c)
		id := s.asked(t, c, publish)
		s.person(t, id, approval.Once)
		want(t, s.call(t, c, "peek", publish), "")
		want(t, s.call(t, c, "publish", publish), "run_call_limit")
		if got := s.state(t, id); got != approval.Approved {
			t.Errorf("it is %s", got)
		}
	})
}

func TestTM060FiveQuestionsOfAnAgentAreOpen(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.process = s.start(t, s.rows, func(_ *ledger.Options, o *tool.Options) { o.Wait = time.Millisecond })
		s.list(t, caller())
		var all sync.WaitGroup
		codes := make([]string, 20)
		for i := range codes {
			all.Go(func() {
				c := caller()
				c.Client = fmt.Sprint("client ", i%3) // runs of their own
				r, err := s.Call(t.Context(), c, "publish", json.RawMessage(fmt.Sprintf(`{"text":"piece %d"}`, i)))
				if err != nil {
					t.Error(err)
					return
				}
				r.Delivered(true)
				codes[i] = r.Code
			})
		}
		all.Wait()
		busy := 0
		for _, code := range codes {
			if code == "approval_busy" {
				busy++
			} else if code != "approval_required" {
				t.Errorf("a call ended with %q", code)
			}
		}
		if n := s.count(t, "SELECT count(*) FROM approvals"); n != approval.MaxOpen || busy != len(codes)-approval.MaxOpen {
			t.Errorf("%d questions, %d calls were told that there are enough", n, busy)
		}
		denied, err := s.approvals.DenyAll(t.Context(), []string{me}, approval.Reply{Channel: approval.Page, By: "person:1"})
		if err != nil || len(denied) != approval.MaxOpen {
			t.Errorf("denied %v, %v", denied, err)
		}
		if s.asked(t, caller(), `{"text":"anew"}`) == "" {
			t.Error("no question after all were denied")
		}
	})
}

func TestTM067OnlyAStoredYesCounts(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		ctx, leave := context.WithCancel(t.Context())
		s.process = s.patient(t)
		gone := make(chan error, 1)
		go func() {
			_, err := s.Call(ctx, caller(), "publish", json.RawMessage(publish))
			gone <- err
		}()
		var open []approval.Approval
		eventually(t, "a question is open", func() bool {
			open, _ = s.approvals.List(t.Context(), approval.Filter{Open: true, Limit: 10})
			return len(open) == 1
		})
		leave()
		var fault *tool.Fault
		if err := <-gone; !errors.As(err, &fault) || fault.Code != "cancelled" {
			t.Errorf("the caller that left is told %v", err)
		}
		if got := s.state(t, open[0].ID); got != approval.Open {
			t.Errorf("a lost client turns the question %s", got)
		}
		s.process = s.start(t, s.rows, nil) // another program over the same rows
		if again := s.asked(t, caller(), publish); again != open[0].ID {
			t.Error("the question did not outlive its program")
		}
		s.person(t, open[0].ID, approval.Once)
		want(t, s.call(t, caller(), "publish", publish), "")
		if got := len(s.set.World.Entries()); got != 2 {
			t.Errorf("%d inputs reached the world", got)
		}
	})
}

func TestTM062AFormAnswersOnlyWhereAnOperatorAllowedIt(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		var shown []tool.Question
		answer := "once"
		c := caller()
		c.Ask = func(_ context.Context, q tool.Question) (string, bool, error) {
			shown = append(shown, q)
			return answer, true, nil
		}
		id := s.asked(t, c, publish)
		if len(shown) != 0 {
			t.Fatal("the form was shown although no operator allowed it")
		}
		_, err := s.approvals.Answer(t.Context(), id, approval.Reply{Answer: approval.Once, Channel: approval.Elicitation, By: "token:tok_1"})
		if !errors.Is(err, approval.ErrMayNotElicit) || s.state(t, id) != approval.Open {
			t.Errorf("an answer by elicitation: %v, the question is %s", err, s.state(t, id))
		}
		s.write(t, "UPDATE agents SET elicitation = 1 WHERE id = $1", me)
		for _, answer = range []string{"always", "session", ""} { // a form gives once or deny
			if got := s.asked(t, c, publish); got != id || s.state(t, id) != approval.Open {
				t.Errorf("%q leaves the question %s", answer, s.state(t, id))
			}
		}
		answer = "once"
		patient := s.patient(t)
		want(t, patient.call(t, c, "publish", publish), "")
		q := shown[len(shown)-1]
		if q.ID != id || strings.Join(q.Answers, " ") != "once deny" ||
			q.Message != "May me run publish on https://example.com? It types, uploads, sends a form and signs in with site_account." {
			t.Errorf("the form is %+v", q)
		}
		answer = "deny"
		want(t, patient.call(t, c, "publish", publish), "denied")
		if n := s.count(t, `SELECT count(*) FROM audit WHERE verb = 'approval.answered' AND actor = 'token:tok_1' AND detail LIKE '%"channel":"elicitation"%'`); n != 2 {
			t.Errorf("%d answers are in the audit with their channel", n)
		}
	})
}

// A client that is asked by ending the call carries the question's id and comes again.
func TestACallThatComesAgainWithTheAnswerIsTheSameCall(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		s.write(t, "UPDATE agents SET elicitation = 1 WHERE id = $1", me)
		carried := ""
		c := caller()
		c.Ask = func(_ context.Context, q tool.Question) (string, bool, error) {
			if carried == q.ID {
				return "once", true, nil
			}
			carried = q.ID
			return "", false, tool.ErrComeAgain
		}
		patient := s.patient(t)
		if _, err := patient.Call(t.Context(), c, "publish", json.RawMessage(publish)); !errors.Is(err, tool.ErrComeAgain) {
			t.Fatalf("the call ends with %v", err)
		}
		want(t, patient.call(t, c, "publish", publish), "")
		if n := s.count(t, "SELECT count(*) FROM approvals"); n != 1 {
			t.Errorf("%d questions", n)
		}
	})
}

func TestTM047AFormStatesWhatHappenedOnlyWhereItIsAllowed(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		held := s.hold(t)
		var shown tool.Question
		c := caller()
		c.Ask = func(_ context.Context, q tool.Question) (string, bool, error) {
			shown = q
			return "happened", true, nil
		}
		want(t, s.call(t, c, "press", `{"text":"b"}`), "effect_uncertain") // nobody allowed the form
		s.write(t, "UPDATE agents SET elicitation = 1 WHERE id = $1", me)
		want(t, s.patient(t).call(t, c, "press", `{"text":"b"}`), "")
		if shown.ID != held.Call || shown.Message != "press "+held.Call+" was sent at 05:06:10 UTC; did it happen?" {
			t.Errorf("the form is %+v", shown)
		}
		rec := s.record(t, held)
		if rec.State != effect.Uncertain || rec.Verdict == nil || rec.Verdict.Verdict != ledger.Happened || rec.Verdict.By != (ledger.By{Kind: "form", ID: "token:tok_1"}) {
			t.Errorf("it stands as %s, %+v", rec.State, rec.Verdict)
		}
	})
}
