package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

func TestTM055ACutStreamAndTheSameCallAgainWithoutAKeyIsOneEffect(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		first := s.unheard(t, caller(), "press", `{"text":"a"}`)
		first.Delivered(false) // the stream ended first
		again := s.call(t, caller(), "press", `{"text":"a"}`)
		wanted := "press: delivered · 2 inputs\nnote: recorded · result of " + first.Call + " of 05:06:10 UTC; nothing was sent now\n<untrusted_web_content>\na\n</untrusted_web_content>"
		if again.Call != first.Call || again.Text() != wanted || again.Failure != nil || string(again.Output) != string(first.Output) {
			t.Errorf("the same call again is answered as\n%s\nwant\n%s", again.Text(), wanted)
		}
		if got := keysOf(t, again); got["tool_call_id"] != first.Call || got["ok"] != true {
			t.Errorf("the keys are %s", again.Structured)
		}
		third := s.call(t, caller(), "press", `{"text":"a"}`) // its answer has arrived by now
		if third.Call == first.Call || len(s.set.World.Entries()) != 4 || len(tooltest.Twice(s.set.World.Entries())) != 0 {
			t.Errorf("a deliberate repeat is %s after %s; the world has %v", third.Call, first.Call, s.set.World.Entries())
		}
	})
}

// The same effect in flight: the second waits, and gets the record where the first caller has left.
func TestTM055TheSameEffectWaitsForItsTwin(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		stop := tooltest.NewStop()
		s.set.Script.At(tooltest.Input(2), stop.Do)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := s.Call(ctx, caller(), "press", json.RawMessage(`{"text":"a"}`))
			gone <- err
		}()
		reached(t, stop)
		leave()
		var fault *tool.Fault
		if err := <-gone; !errors.As(err, &fault) || fault.Code != "cancelled" || fault.Call == "" {
			t.Fatalf("the caller that left is told %v", err)
		}
		answer := make(chan tool.Result, 1)
		go func() {
			r, err := s.Call(context.WithoutCancel(ctx), caller(), "press", json.RawMessage(`{"text":"a"}`))
			if err != nil {
				t.Error(err)
			}
			answer <- r
		}()
		eventually(t, "the twin waits", func() bool { return s.set.Looks() == 2 })
		stop.Go()
		r := <-answer
		if r.Call != fault.Call || !strings.Contains(r.Text(), "\nnote: recorded · ") || len(s.set.World.Entries()) != 2 {
			t.Errorf("answered as %s; the world has %v", r.Text(), s.set.World.Entries())
		}
		r.Delivered(true)
		if rec := s.record(t, r); rec.State != effect.Succeeded {
			t.Errorf("the effect whose caller left is %s", rec.State)
		}
	})
}

// The same sensitive action again whose answer never arrived: nobody is asked once more.
func TestTM055TheSameApprovedActionAgainAsksNobody(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		s.person(t, s.asked(t, caller(), publish), "once")
		first := s.unheard(t, caller(), "publish", publish)
		first.Delivered(false)
		eventually(t, "the mark is written", func() bool { return s.record(t, first).Delivery == ledger.CallerGone })
		again := s.call(t, caller(), "publish", publish)
		if again.Call != first.Call || len(s.set.World.Entries()) != 2 || s.count(t, "SELECT count(*) FROM approvals") != 1 {
			t.Errorf("answered as %s", again.Text())
		}
		eventually(t, "the mark is written", func() bool { return s.record(t, first).Delivery == ledger.HandedOver })
		if s.asked(t, caller(), publish) == "" {
			t.Error("a further one is not asked about")
		}
	})
}

// The same, before the mark of the first answer is written: nobody knows yet whether it arrived, so it is waited for.
func TestTM055TheSameApprovedActionAtOnceAsksNobody(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		s.person(t, s.asked(t, caller(), publish), "once")
		first := s.unheard(t, caller(), "publish", publish)
		first.Delivered(false)
		again := s.call(t, caller(), "publish", publish)
		if again.Call != first.Call || len(s.set.World.Entries()) != 2 || s.count(t, "SELECT count(*) FROM approvals") != 1 {
			t.Errorf("answered as %s", again.Text())
		}
	})
}

// A repeat under a key is answered before anything else is looked at: nobody is asked, and no address judged.
func TestARepeatAsksNobodyAndLooksAtNothing(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		s.person(t, s.asked(t, keyed("key-0001"), publish), "once")
		first := s.call(t, keyed("key-0001"), "publish", publish)
		want(t, first, "")
		looks := s.set.Looks()
		if again := s.call(t, keyed("key-0001"), "publish", publish); again.Call != first.Call || again.Failure != nil || s.set.Looks() != looks {
			t.Errorf("answered as %s after %d looks", again.Text(), s.set.Looks()-looks)
		}
		if n := s.count(t, "SELECT count(*) FROM approvals"); n != 1 || len(s.set.World.Entries()) != 2 {
			t.Errorf("%d questions, the world has %v", n, s.set.World.Entries())
		}
	})
}

func TestAnEffectOfUnknownOutcomeHoldsItsRun(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		held := s.hold(t)
		if got, wanted := held.Text(), "connection_lost: uncertain · the connection broke while press was being delivered\n"+
			"next: reconcile · Further actions of this run wait until someone states what happened to "+held.Call+": "+base+"/needs-you/uncertain?id="+held.Call; got != wanted {
			t.Errorf("told as\n%s\nwant\n%s", got, wanted)
		}
		if rec := s.record(t, held); rec.State != effect.Uncertain || rec.Outcome != effect.OutcomeUncertain || !rec.IsError {
			t.Errorf("it stands as %s %s", rec.State, rec.Outcome)
		}
		r := s.call(t, caller(), "press", `{"text":"b"}`)
		if got := r.Text(); got != "effect_uncertain: nothing was sent; press "+held.Call+" of 05:06:10 UTC has an unknown outcome\n"+
			"next: reconcile · A person or the harness states what happened: "+base+"/needs-you/uncertain?id="+held.Call {
			t.Errorf("told as %s", got)
		}
		if keysOf(t, r)["other_call_id"] != held.Call {
			t.Errorf("the keys are %s", r.Structured)
		}
		if _, err := s.ledger.Reconcile(t.Context(), me, held.Run, held.Call, ledger.Reconciliation{Verdict: ledger.NotHappened, By: ledger.By{Kind: "operator", ID: "person_1"}}); err != nil {
			t.Fatal(err)
		}
		want(t, s.call(t, caller(), "press", `{"text":"b"}`), "")
		told, err := s.Told(s.record(t, held))
		if err != nil || told.Text != held.Text() {
			t.Errorf("told to people as %q, %v", told.Text, err)
		}
	})
}

func TestRefusalsAfterAdmissionAndHalfKnownOutcomes(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		for _, c := range []struct {
			point   string
			err     error
			tool    string
			code    string
			state   effect.State
			outcome effect.Outcome
		}{
			{tooltest.Gate, tooltest.ErrCovered, "press", "target_obscured", effect.Succeeded, effect.NotDispatched},
			{tooltest.Sent, tooltest.ErrUnseen, "press", "observation_failed", effect.Succeeded, effect.InputDispatched},
			{tooltest.Sent, tooltest.ErrFailed, "ask", "ask_unavailable", effect.Succeeded, effect.ProviderError},
			{tooltest.Sent, tooltest.ErrFailed, "peek", "peek_unavailable", effect.Succeeded, effect.ProviderError},
		} {
			s.set.Script.At(c.point, func(context.Context) error { return c.err })
			r := s.call(t, caller(), c.tool, `{"text":"x"}`)
			s.set.Script.At(c.point, nil)
			want(t, r, c.code)
			if rec := s.record(t, r); rec.State != c.state || rec.Outcome != c.outcome || !rec.IsError || rec.Code != c.code {
				t.Errorf("%s stands as %s %s %s", c.code, rec.State, rec.Outcome, rec.Code)
			}
			if c.outcome != effect.ProviderError && keysOf(t, r)["outcome"] != string(c.outcome) {
				t.Errorf("the keys are %s", r.Structured)
			}
		}
		if n := len(s.set.World.Entries()); n != 2 {
			t.Errorf("%d inputs", n)
		}
		want(t, s.call(t, caller(), "press", `{"text":"free"}`), "") // none of them holds the run
	})
}

func TestAFaultOfACapabilityIsNoResult(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		var log strings.Builder
		s.process = s.start(t, s.rows, func(_ *ledger.Options, o *tool.Options) { o.Log = logger(&log) })
		s.list(t, caller())
		boom := func(context.Context) error { panic("a secret of the call") }
		for _, c := range []struct {
			point, tool string
			act         func(context.Context) error
			state       effect.State
			outcome     effect.Outcome
		}{
			{tooltest.Gate, "ask", boom, effect.Failed, effect.NotDispatched},
			{tooltest.Sent, "ask", func(context.Context) error { panic(errors.New("a secret")) }, effect.Failed, effect.Lost},
			{tooltest.End, "peek", func(context.Context) error { return errors.New("a secret") }, effect.Failed, effect.Lost},
			{tooltest.Gate, "press", boom, effect.Failed, effect.NotDispatched},
			{tooltest.Open, "press", func(context.Context) error { return errors.New("x") }, effect.Uncertain, effect.OutcomeUncertain},
			{tooltest.Look, "ask", boom, "", ""},
		} {
			s.set.Script.At(c.point, c.act)
			who := caller()
			who.Client = c.point + c.tool // a run of its own, since the last of them stays held
			s.list(t, who)
			_, err := s.Call(t.Context(), who, c.tool, json.RawMessage(`{"text":"x"}`))
			s.set.Script.At(c.point, nil)
			var fault *tool.Fault
			if !errors.As(err, &fault) || fault.Code != "internal_error" || fault.Status() != 500 || strings.Contains(fault.Error(), "secret") {
				t.Fatalf("%s at %s ends with %v", c.tool, c.point, err)
			}
			if c.state == "" {
				continue
			}
			rec, err := s.rows.Call(t.Context(), me, fault.Run, fault.Call)
			if err != nil || rec.State != c.state || rec.Outcome != c.outcome || rec.Result != nil {
				t.Errorf("%s at %s stands as %s %s, %v", c.tool, c.point, rec.State, rec.Outcome, err)
			}
		}
		if strings.Contains(log.String(), "secret") || strings.Count(log.String(), "a capability panicked") != 4 {
			t.Errorf("the log has\n%s", log.String())
		}
	})
}

// What is settled is read anew under the lock: the content of a query that was under way while its binding changed is not
// given out, and an effect keeps its true outcome.
func TestABindingThatChangedWithholdsTheContent(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		for _, c := range []struct{ tool, capability, provider, next, outcome string }{
			{"ask", "search", "second", "call_again", ""}, {"press", "browser", "puppet", "inspect", "ok"}} {
			s.set.Script.At(tooltest.End, func(context.Context) error {
				s.connect(t, c.capability, "own", c.provider, 7, nil, nil)
				return nil
			})
			r := s.call(t, caller(), c.tool, `{"text":"the content"}`)
			s.set.Script.At(tooltest.End, nil)
			want(t, r, "binding_changed")
			rec := s.record(t, r)
			if !rec.Withheld || rec.Result != nil || rec.State != effect.Succeeded || len(rec.Evidence) != 1 || strings.Contains(r.Text(), "the content") || !r.Stale {
				t.Errorf("%s stands as %+v and is told as %s", c.tool, rec, r.Text())
			}
			if keys := keysOf(t, r); keys["next"] != c.next || c.outcome != "" && keys["outcome"] != c.outcome {
				t.Errorf("the keys are %s", r.Structured)
			}
			if told, err := s.Told(rec); err != nil || !strings.HasPrefix(told.Text, "binding_changed: ") {
				t.Errorf("told to people as %q, %v", told.Text, err)
			}
		}
	})
}

func TestARepeatOfACallWithoutAnAnswerIsToldWhatBecameOfIt(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		s.list(t, caller())
		stop := tooltest.NewStop()
		s.set.Script.At(tooltest.Sent, stop.Do)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := s.Call(ctx, keyed("key-0001"), "ask", json.RawMessage(`{"text":"a"}`))
			gone <- err
		}()
		reached(t, stop)
		leave()
		if err := <-gone; err == nil {
			t.Fatal("a caller that left got a result")
		}
		s.set.Script.At(tooltest.Sent, nil)
		r := s.call(t, keyed("key-0001"), "ask", `{"text":"a"}`)
		want(t, r, "cancelled")
		if got := r.Text(); !strings.HasPrefix(got, "cancelled: lost · ask "+r.Call+" of 05:06:10 UTC was given up: its caller went away\nnote: recorded · ") ||
			!strings.HasSuffix(got, "\nnext: call_again · Make a new call to try again.") || s.oracle.Asked() != 1 {
			t.Errorf("told as %s after %d questions", got, s.oracle.Asked())
		}
	})
}
