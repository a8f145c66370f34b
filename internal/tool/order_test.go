package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
)

func TestACallOfEachClassRuns(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		if got := strings.Join(s.list(t, caller()), " "); got != "ask peek press publish" {
			t.Fatalf("the offered tools are %s", got)
		}
		for _, c := range []struct {
			tool, text string
			outcome    effect.Outcome
			class      effect.Class
		}{
			{"ask", "ask: 1 answer\n<untrusted_web_content>\nthe answer to hello\n</untrusted_web_content>", effect.OK, effect.Query},
			{"peek", "peek: 1 answer\n<untrusted_web_content>\n0 entries\n</untrusted_web_content>", effect.OK, effect.Observation},
			{"press", "press: delivered · 2 inputs\n<untrusted_web_content>\nhello\n</untrusted_web_content>", effect.OK, effect.Effect},
		} {
			r := s.call(t, caller(), c.tool, `{"text":"hello"}`)
			if r.Failure != nil || r.Text() != c.text {
				t.Errorf("%s answers %q", c.tool, r.Text())
			}
			rec := s.record(t, r)
			if rec.State != effect.Succeeded || rec.Outcome != c.outcome || rec.Class != c.class {
				t.Errorf("%s stands as %s %s %s", c.tool, rec.Class, rec.State, rec.Outcome)
			}
			if got := r.Meta["wayleave/evidence"]; len(rec.Evidence) != 2 || len(got.([]string)) != 2 || got.([]string)[1] != r.Call+".1" {
				t.Errorf("%s has %d pieces of evidence, told as %v", c.tool, len(rec.Evidence), got)
			}
			if len(rec.Why) < 3 || rec.Why[0].Stage != "policy" {
				t.Errorf("%s went as it did because of %v", c.tool, rec.Why)
			}
			keys := keysOf(t, r)
			if keys["tool_call_id"] != r.Call || keys["run_id"] != r.Run || keys["provider"] == "" {
				t.Errorf("the keys are %s", r.Structured)
			}
		}
		if s.oracle.Asked() != 1 || len(s.set.World.Entries()) != 2 {
			t.Errorf("%d questions, %v", s.oracle.Asked(), s.set.World.Entries())
		}
	})
}

// What is kept is answered without a unit and without a right to send.
func TestAKeptAnswerCountsNothing(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.connect(t, "search", "own", "oracle", 1, 1, nil)
		s.list(t, caller())
		for range 2 {
			r := s.call(t, caller(), "ask", `{"text":"a","kept":true}`)
			if rec := s.record(t, r); r.Failure != nil || rec.Outcome != effect.NotDispatched || rec.State != effect.Succeeded {
				t.Fatalf("%s %s %s", rec.State, rec.Outcome, r.Text())
			}
		}
		if n := s.count(t, "SELECT coalesce(sum(used),0) FROM run_meters"); n != 0 || s.oracle.Asked() != 0 {
			t.Errorf("%d units, %d questions", n, s.oracle.Asked())
		}
	})
}

func TestWhatIsNotKnownIsNoResult(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		if _, err := s.Call(t.Context(), caller(), "fly", nil); !errors.Is(err, tool.ErrUnknownTool) {
			t.Errorf("an unknown tool: %v", err)
		}
		run, err := s.ledger.OpenRun(t.Context(), ledger.Opening{Agent: other})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"run_none", run.ID} { // another agent's looks like none
			c := caller()
			c.Run = id
			if _, err := s.Call(t.Context(), c, "ask", []byte(`{"text":"a"}`)); !errors.Is(err, tool.ErrUnknownRun) {
				t.Errorf("run %s: %v", id, err)
			}
			if _, err := s.List(t.Context(), c); !errors.Is(err, tool.ErrUnknownRun) {
				t.Errorf("list of run %s: %v", id, err)
			}
		}
		if s.oracle.Asked() != 0 {
			t.Error("something was sent")
		}
	})
}

// The consequences of the order of checks.
func TestTheFirstCheckThatFailsAnswers(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.connect(t, "search", "own", "oracle", 1, 1, nil)
		run, err := s.ledger.OpenRun(t.Context(), ledger.Opening{Agent: me})
		if err != nil {
			t.Fatal(err)
		}
		in := func(key string) tool.Caller {
			c := keyed(key)
			c.Run = run.ID
			return c
		}
		s.list(t, in(""))

		first := s.call(t, in("key-0001"), "ask", `{"text":"a"}`)
		want(t, first, "")
		want(t, s.call(t, in(""), "ask", `{"text":"b"}`), "run_limit")
		want(t, s.call(t, in(""), "ask", `{"text":7}`), "invalid_ask_input") // a used-up limit does not hide a bad argument
		if r := s.call(t, in("key-0001"), "ask", `{"text":"a"}`); r.Call != first.Call || r.Failure != nil {
			t.Errorf("with the limit used, the repeat is answered with %s", r.Text())
		}
		conflict := s.call(t, in("key-0001"), "ask", `{"text":"other"}`) // nor a conflict
		want(t, conflict, "call_conflict")
		if keysOf(t, conflict)["other_call_id"] != first.Call || !strings.Contains(conflict.Text(), "(ask, other arguments)") {
			t.Errorf("the conflict is told as %s", conflict.Text())
		}
		want(t, s.call(t, in("key-0001"), "peek", `{"text":"a"}`), "call_conflict")
		want(t, s.call(t, in(""), "ask", `{"text":"blocked"}`), "site_blocked")
		want(t, s.call(t, in(""), "ask", `{"text":"`+strings.Repeat("x", 1001)+`"}`), "invalid_ask_input")

		if _, err := s.ledger.EndRun(t.Context(), me, run.ID, "ended"); err != nil {
			t.Fatal(err)
		}
		if r := s.call(t, in("key-0001"), "ask", `{"text":"a"}`); r.Call != first.Call || r.Failure != nil {
			t.Errorf("in an ended run the repeat is answered with %s", r.Text())
		}
		want(t, s.call(t, in(""), "ask", `{"text":"c"}`), "run_over")
		want(t, s.call(t, in(""), "ask", `{"text":"blocked"}`), "run_over") // the run before where to
		want(t, s.call(t, in(""), "ask", `{}`), "invalid_ask_input")        // and the arguments before the run
		s.connect(t, "search", "own", "second", 2, nil, nil)
		stale := s.call(t, in(""), "ask", `{"text":"c"}`) // a stale offer in an ended run answers stale_offer
		want(t, stale, "stale_offer")
		if !stale.Stale {
			t.Error("the door does not learn that the list changed")
		}
		want(t, s.call(t, in(""), "ask", `{"text":"c"}`), "run_over")
		if s.oracle.Asked() != 1 {
			t.Errorf("%d questions were sent", s.oracle.Asked())
		}
		s.refusalsNameTheirRule(t, run.ID, 11)
	})
}

// refusalsNameTheirRule holds the chains of a run's refused calls to it, whoever refused them.
func (s *stage) refusalsNameTheirRule(t *testing.T, run string, least int) {
	t.Helper()
	all, err := s.rows.CallsOf(t.Context(), me, run, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, r := range all {
		if r.State != effect.Refused {
			continue
		}
		refused++
		whole, err := s.rows.Call(t.Context(), me, run, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(whole.Why); n == 0 || !strings.HasPrefix(whole.Why[n-1].Fact, "refused as "+r.Code) {
			t.Errorf("%s, refused as %s, says %v", r.ID, r.Code, whole.Why)
		}
	}
	if refused < least {
		t.Errorf("%d refused calls were looked at", refused)
	}
}

func TestAStaleOfferIsSaidOnceAndTheSameCallWorks(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		want(t, s.call(t, caller(), "ask", `{"text":"a"}`), "") // nothing was listed, so nothing could have changed
		want(t, s.call(t, caller(), "ask", `{"text":"a"}`), "")
		s.connect(t, "search", "own", "second", 1, nil, nil)
		r := s.call(t, caller(), "ask", `{"text":"a"}`)
		if got := r.Text(); got != "stale_offer: nothing was sent; ask now uses second, it was oracle\nnext: call_again · The same call works now." {
			t.Errorf("told as %s", got)
		}
		want(t, s.call(t, caller(), "ask", `{"text":"a"}`), "")
		s.connect(t, "search", "disabled", nil, 2, nil, nil)
		r = s.call(t, caller(), "ask", `{"text":"a"}`)
		want(t, r, "capability_disabled")
		if !r.Stale || strings.Contains(strings.Join(s.list(t, caller()), " "), "ask") {
			t.Error("a tool that was switched off is still listed")
		}
		if rec := s.record(t, r); rec.State != effect.Refused {
			t.Errorf("the refusal stands as %s", rec.State)
		}
		s.write(t, "UPDATE agents SET paused_at = now_us(), paused_by = 'person_1' WHERE id = $1", me)
		want(t, s.call(t, caller(), "peek", `{"text":"a"}`), "paused")
	})
}

// A blocked site is never asked about, and a held run asks no question; a closed policy refuses.
func TestNobodyIsAskedForNothing(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		want(t, s.call(t, caller(), "publish", `{"text":"blocked"}`), "site_blocked")
		s.hold(t)
		want(t, s.call(t, caller(), "publish", `{"text":"a"}`), "effect_uncertain")
		want(t, s.call(t, caller(), "publish", `{"text":"blocked"}`), "site_blocked")
		want(t, s.call(t, caller(), "publish", `{"txt":"a"}`), "invalid_publish_input")
		want(t, s.call(t, caller(), "peek", `{"text":"a"}`), "") // reading looks at no hold
		if n := s.count(t, "SELECT count(*) FROM approvals"); n != 0 {
			t.Errorf("%d questions were asked", n)
		}
	})
}

func TestRefusalsAreKeptAndCountNothing(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		r := s.call(t, keyed("key-0001"), "ask", `{"text":["no"]}`)
		want(t, r, "invalid_ask_input")
		rec := s.record(t, r)
		if rec.State != effect.Refused || rec.Class != effect.Query || string(rec.Args) != `{"text":["no"]}` || !rec.Dispatched.IsZero() {
			t.Errorf("kept as %s %s %s", rec.State, rec.Class, rec.Args)
		}
		told, err := s.Told(rec)
		if err != nil || told.Text != r.Text() || !strings.Contains(string(told.Error), r.Call) || told.Output != nil {
			t.Errorf("told as %+v, %v", told, err)
		}
		for _, none := range []string{`{"text":`, "\xff", `{"text":"` + strings.Repeat("y", 5000) + `","more":1}`} {
			r := s.call(t, caller(), "ask", none)
			want(t, r, "invalid_ask_input")
			if rec := s.record(t, r); !json.Valid(rec.Args) || rec.Args[0] != '"' || len(rec.Args) > 5000 {
				t.Errorf("%.20q is kept as %.40s", none, rec.Args)
			}
		}
		if n := s.count(t, "SELECT count(*) FROM reservations"); n != 0 {
			t.Errorf("%d reservations", n)
		}
		want(t, s.call(t, keyed("key-0001"), "ask", `{"text":"yes"}`), "") // the key is free again
		limit := s.call(t, keyed("key-0001"), "ask", `{"text":"yes"}`)
		if !strings.Contains(limit.Text(), "\nnote: recorded · result of "+limit.Call+" of 05:06:10 UTC; nothing was sent now\n") {
			t.Errorf("the repeat is told as %s", limit.Text())
		}
	})
}
