package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
)

func TestAnOpeningIsCheckedByField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		for _, x := range []struct {
			field string
			o     ledger.Opening
		}{
			{"agent", ledger.Opening{}},
			{"deadline_seconds", ledger.Opening{Agent: agent, Deadline: 6*time.Hour + 1}},
			{"deadline_seconds", ledger.Opening{Agent: agent, Deadline: -time.Second}},
			{"deadline_seconds", ledger.Opening{Agent: agent, Deadline: time.Millisecond}},
			{"max_tool_calls", ledger.Opening{Agent: agent, MaxCalls: -1}},
			{"max_tool_calls", ledger.Opening{Agent: agent, MaxCalls: 1 << 31}},
			{"title", ledger.Opening{Agent: agent, Title: strings.Repeat("t", 201)}},
			{"title", ledger.Opening{Agent: agent, Title: "\xff"}},
			{"title", ledger.Opening{Agent: agent, Title: "a\x00b"}},
			{"conversation_id", ledger.Opening{Agent: agent, Conversation: "a\x00b"}},
			{"conversation_id", ledger.Opening{Agent: agent, Conversation: strings.Repeat("c", 201)}},
		} {
			_, err := l.OpenRun(t.Context(), x.o)
			var bad *ledger.InvalidField
			if !errors.As(err, &bad) || bad.Field != x.field || !strings.HasPrefix(err.Error(), x.field+": ") {
				t.Errorf("%+v: %v, want a problem of %s", x.o, err, x.field)
			}
		}
		r, err := l.OpenRun(t.Context(), ledger.Opening{Agent: agent})
		if err != nil || r.Deadline.Sub(r.Created) != 30*time.Minute || r.MaxCalls != 1000 || r.Kind != "explicit" || r.Audience != "run:"+r.ID || !r.IdleUntil.IsZero() {
			t.Errorf("the defaults: %+v, %v", r, err)
		}
		r, err = l.OpenRun(t.Context(), ledger.Opening{Agent: agent, Deadline: 6 * time.Hour, MaxCalls: 1, Title: "parcels", Conversation: "conv_9"})
		if err != nil || r.Deadline.Sub(r.Created) != 6*time.Hour || r.MaxCalls != 1 || r.Title != "parcels" || r.Conversation != "conv_9" {
			t.Errorf("all given: %+v, %v", r, err)
		}
		if _, err := l.OpenRun(t.Context(), ledger.Opening{Agent: "agent_none"}); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("of nobody: %v", err)
		}
	})
}

// TestWhatAClientCallsItselfIsBounded: 200 characters, whatever it is written in.
func TestWhatAClientCallsItselfIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		for _, name := range []string{strings.Repeat("é", 200), strings.Repeat("é", 5000)} {
			r, err := l.OpenRun(t.Context(), ledger.Opening{Agent: agent, Client: name})
			if err != nil || r.Client != strings.Repeat("é", 200) {
				t.Errorf("%d characters, %v", len([]rune(r.Client)), err)
			}
		}
	})
}

func TestARunOfOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		open := func(token, client string) ledger.Run {
			t.Helper()
			r, err := l.ImplicitRun(t.Context(), agent, token, ledger.Client{Name: client})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		one := open("token_1", "pi")
		if one.Audience != "agent:"+agent || one.IdleUntil.Sub(one.Created) != 30*time.Minute || one.Deadline.Sub(one.Created) != 6*time.Hour {
			t.Errorf("the run is %+v", one)
		}
		if open("token_1", "pi").ID != one.ID || open("token_2", "pi").ID == one.ID || open("token_1", "opencode").ID == one.ID {
			t.Error("an implicit run is not that of agent, token and client")
		}
		if unnamed, err := l.ImplicitRun(t.Context(), agent, "token_3", ledger.Client{UserAgent: "curl/8"}); err != nil || one.Client != "pi" || unnamed.Client != "curl/8" {
			t.Errorf("people know them as %q and %q, %v", one.Client, unnamed.Client, err)
		}
		if other, err := l.ImplicitRun(t.Context(), agent, "token_3", ledger.Client{UserAgent: "wget/1"}); err != nil || other.Client != "curl/8" {
			t.Errorf("a client is told apart by its name alone: %+v, %v", other, err)
		}
		time.Sleep(20 * time.Minute)
		if err := l.TouchRun(t.Context(), one.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Minute)
		if open("token_1", "pi").ID != one.ID {
			t.Error("a run that is used ended by idling")
		}
		time.Sleep(11 * time.Minute)
		if open("token_1", "pi").ID == one.ID {
			t.Error("a run that idled for half an hour goes on")
		}
		s, err := l.SessionRun(t.Context(), agent, "session_1", ledger.Client{Name: "desk"})
		if err != nil || s.Kind != "session" || s.Audience != "session:session_1" || s.Client != "desk" {
			t.Errorf("a session's run: %+v, %v", s, err)
		}
		if again, err := l.SessionRun(t.Context(), agent, "session_1", ledger.Client{Name: "desk"}); err != nil || again.ID != s.ID {
			t.Errorf("the session's run again: %+v, %v", again, err)
		}
	})
}

func TestARunIsFoundAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		if _, err := l.NamedRun(t.Context(), "agent_two", i.run); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("another agent finds it: %v", err)
		}
		r, err := l.EndRun(t.Context(), agent, i.run, "ended")
		if err != nil || r.Open || r.EndReason != "ended" {
			t.Fatalf("ended as %+v, %v", r, err)
		}
		if r, err := l.NamedRun(t.Context(), agent, i.run); err != nil || r.Open {
			t.Errorf("found as %+v, %v", r, err)
		}
		_, err = l.Admit(t.Context(), i.ask(asks), nil)
		var refusal *ledger.Refusal
		if !errors.As(err, &refusal) || refusal.Code != "run_over" || refusal.Reason != "ended" {
			t.Errorf("admit: %v", err)
		}
		if got, err := l.Look(t.Context(), i.ask(asks)); err != nil || got.Refusal == nil || got.Refusal.Code != "run_over" {
			t.Errorf("look: %+v, %v", got, err)
		}
	})
}

func TestALeaseIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		other, _, _ := i.process()
		c := i.admit(l, i.ask(presses))
		first, err := l.Lease(t.Context(), "session:one", c, 0)
		if err != nil || first.Valid() != nil {
			t.Fatalf("a free resource: %v, %v", err, first.Valid())
		}
		got := make(chan *ledger.Lease)
		go func() {
			second, err := other.Lease(context.Background(), "session:one", nil, time.Minute)
			if err != nil {
				t.Error(err)
			}
			got <- second
		}()
		time.Sleep(10 * time.Second)
		first.Release()
		first.Release() // once only: the next holder keeps its lease
		second := <-got
		if second.Fence() != first.Fence()+1 || !errors.Is(first.Valid(), ledger.ErrLeaseLost) || second.Valid() != nil {
			t.Errorf("fences %d and %d, valid %v and %v", first.Fence(), second.Fence(), first.Valid(), second.Valid())
		}
		if _, err := l.Lease(t.Context(), "session:one", c, 0); err == nil {
			t.Error("two hold one resource")
		}
		time.Sleep(10 * time.Second)
		i.settle(c, ledger.NotDispatched("busy", nil))
		if _, err := l.Lease(t.Context(), "session:two", c, 0); err == nil {
			t.Error("a settled call takes a lease")
		}
	})
}

func TestALeaseIsBusyAfterFiftyFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		held, err := l.Lease(t.Context(), "session:one", nil, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := l.Lease(t.Context(), "session:one", nil, time.Hour); !errors.Is(err, ledger.ErrBusy) || time.Since(began) != 55*time.Second {
			t.Errorf("answered with %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Lease(ctx, "session:one", nil, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller who leaves: %v", err)
		}
		held.Release()
	})
}

func TestALeaseThatIsLostEndsThePermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(presses, func(a *ledger.Ask) { a.Bound = 10 * time.Minute }))
		lease, err := l.Lease(t.Context(), "session:one", c, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, sending := i.open(c)
		time.Sleep(8 * time.Minute)
		if lease.Valid() != nil || p.Check() != nil {
			t.Fatalf("a call's lease does not last as long as its permit: %v, %v", lease.Valid(), p.Check())
		}
		if err := lease.Extend(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(61 * time.Second)
		if !errors.Is(lease.Valid(), ledger.ErrLeaseLost) {
			t.Errorf("past its end it is %v", lease.Valid())
		}
		if fence, ok, err := i.Store().Acquire(t.Context(), "session:one", l.Health().Process, "", time.Hour); !ok || err != nil || fence != lease.Fence()+1 {
			t.Fatalf("nobody else could take it: %v", err)
		}
		if err := lease.Extend(t.Context(), time.Minute); !errors.Is(err, ledger.ErrLeaseLost) {
			t.Errorf("extend: %v", err)
		}
		synctest.Wait()
		if !errors.Is(p.Check(), ledger.ErrLeaseLost) || !errors.Is(context.Cause(sending), ledger.ErrLeaseLost) {
			t.Errorf("check: %v, sending: %v", p.Check(), context.Cause(sending))
		}
		i.settle(c, ledger.Uncertain("connection_lost", nil))
	})
}

func TestAVerdictIsGivenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstall(t)
		l, _, _ := i.process()
		c := i.admit(l, i.ask(presses))
		by := ledger.By{Kind: "operator", ID: "person_one"}
		state := func(v ledger.Reconciliation) error {
			_, err := l.Reconcile(t.Context(), agent, i.run, c.ID(), v)
			return err
		}
		if err := state(ledger.Reconciliation{Verdict: ledger.Happened, By: by}); !errors.Is(err, ledger.ErrInFlight) {
			t.Errorf("in flight: %v", err)
		}
		_, _ = i.open(c)
		i.settle(c, ledger.Uncertain("connection_lost", nil))
		for field, v := range map[string]ledger.Reconciliation{"verdict": {Verdict: "maybe", By: by}, "by": {Verdict: ledger.Happened, By: ledger.By{Kind: "model", ID: "x"}},
			"note": {Verdict: ledger.Happened, By: by, Note: strings.Repeat("n", 2001)}} {
			var bad *ledger.InvalidField
			if err := state(v); !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		i.hold(c.ID())
		for range 2 {
			if err := state(ledger.Reconciliation{Verdict: ledger.Happened, By: by}); err != nil {
				t.Error(err)
			}
		}
		if err := state(ledger.Reconciliation{Verdict: ledger.NotHappened, By: by}); !errors.Is(err, ledger.ErrReconciled) || errors.Is(err, ledger.ErrStore) {
			t.Errorf("another verdict: %v", err)
		}
		i.hold("")
	})
}
