package tool_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
)

// silent is a client whose form never comes back to the process that shows it. shown hears that it is shown.
func silent(shown chan<- tool.Question) tool.Caller {
	c := caller()
	c.Ask = func(ctx context.Context, q tool.Question) (string, bool, error) {
		shown <- q
		<-ctx.Done()
		return "", false, ctx.Err()
	}
	return c
}

// TM-062: a form whose answer reaches another process is answered all the same, by whom it may be and once.
func TestTM062AnAnswerAtAnotherProcessReachesTheCallThatWaits(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		id := s.asked(t, caller(), publish)
		if err := s.Answered(t.Context(), caller(), id, "once"); !errors.Is(err, approval.ErrMayNotElicit) || s.state(t, id) != approval.Open {
			t.Errorf("no operator allowed it: %v, the question is %s", err, s.state(t, id))
		}
		s.write(t, "UPDATE agents SET elicitation = 1")
		stranger := tool.Caller{Agent: other, Slug: "other", Token: "tok_2", Client: "test"}
		if err := s.Answered(t.Context(), stranger, id, "once"); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("another agent's client: %v", err)
		}
		for _, word := range []string{"always", "", "happened"} {
			if err := s.Answered(t.Context(), caller(), id, word); err == nil {
				t.Errorf("%q is an answer", word)
			}
		}
		if s.state(t, id) != approval.Open {
			t.Fatalf("the question is %s", s.state(t, id))
		}
		shown := make(chan tool.Question, 1)
		done := make(chan tool.Result, 1)
		patient := s.patient(t)
		go func() { done <- patient.call(t, silent(shown), "publish", publish) }()
		if q := <-shown; q.ID != id {
			t.Errorf("the form asks %s, the question is %s", q.ID, id)
		}
		if err := s.Answered(t.Context(), caller(), id, "once"); err != nil {
			t.Fatal(err)
		}
		want(t, <-done, "")
		if err := s.Answered(t.Context(), caller(), id, "deny"); !errors.Is(err, approval.ErrNotOpen) {
			t.Errorf("a second answer: %v", err)
		}
		if got := len(s.set.World.Entries()); got != 2 {
			t.Errorf("%d inputs reached the world", got)
		}
	})
}

func TestTM047AVerdictAtAnotherProcessReachesTheCallThatWaits(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		held := s.hold(t)
		if err := s.Answered(t.Context(), caller(), held.Call, "happened"); !errors.Is(err, approval.ErrMayNotElicit) {
			t.Errorf("no operator allowed it: %v", err)
		}
		s.write(t, "UPDATE agents SET elicitation = 1")
		stranger := tool.Caller{Agent: other, Slug: "other", Token: "tok_2", Client: "test"}
		if err := s.Answered(t.Context(), stranger, held.Call, "happened"); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("another agent's client: %v", err)
		}
		var field *ledger.InvalidField
		if err := s.Answered(t.Context(), caller(), held.Call, "deny"); !errors.As(err, &field) {
			t.Errorf("no verdict: %v", err)
		}
		shown := make(chan tool.Question, 1)
		done := make(chan tool.Result, 1)
		patient := s.patient(t)
		go func() { done <- patient.call(t, silent(shown), "press", `{"text":"b"}`) }()
		if q := <-shown; q.ID != held.Call {
			t.Errorf("the form asks of %s", q.ID)
		}
		if err := s.Answered(t.Context(), caller(), held.Call, "not_happened"); err != nil {
			t.Fatal(err)
		}
		want(t, <-done, "")
		if rec := s.record(t, held); rec.Verdict == nil || rec.Verdict.Verdict != ledger.NotHappened || rec.Verdict.By != (ledger.By{Kind: "form", ID: "token:tok_1"}) {
			t.Errorf("it stands with %+v", rec.Verdict)
		}
		if err := s.Answered(t.Context(), caller(), held.Call, "happened"); !errors.Is(err, ledger.ErrReconciled) {
			t.Errorf("a second verdict: %v", err)
		}
	})
}
