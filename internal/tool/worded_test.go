package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// W-055, W-070: what the model read of a refusal is what its record says, whoever decided it: the look ahead, the admission
// under its locks, or patience that was over.
func TestW055TheRecordOfARefusalSaysWhatTheModelRead(t *testing.T) {
	onDatabases(t, func(t *testing.T, s *stage) {
		told := map[string]bool{}
		same := func(r tool.Result, code string) {
			t.Helper()
			want(t, r, code)
			rec := s.record(t, r)
			got, err := s.Told(rec)
			if err != nil || got.Text != r.Text() || got.Output != nil || rec.State != effect.Refused {
				t.Errorf("%s: %v\nthe model read\n%s\nthe record says\n%s", code, err, r.Text(), got.Text)
			}
			var read, kept map[string]any
			if err := json.Unmarshal(r.Structured, &read); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(got.Error, &kept); err != nil {
				t.Fatalf("%s: %v in %s", code, err, got.Error)
			}
			if len(read) != len(kept) {
				t.Errorf("%s: the keys were %v, the record has %v", code, read, kept)
			}
			for k, v := range read {
				if kept[k] != v {
					t.Errorf("%s: %s was %v, the record has %v", code, k, v, kept[k])
				}
			}
			told[code] = true
		}
		s.connect(t, "search", "own", "oracle", 1, 3, 2)
		s.list(t, caller())
		ask := func(text string) tool.Result { return s.call(t, caller(), "ask", `{"text":"`+text+`"}`) }
		want(t, ask("a"), "")
		want(t, ask("b"), "")
		same(ask("c"), "rate_limit")
		s.clock.Advance(time.Minute)
		want(t, ask("c"), "")
		same(ask("d"), "run_limit")
		want(t, s.call(t, keyed("key-0001"), "peek", `{"text":"a"}`), "")
		same(s.call(t, keyed("key-0001"), "peek", `{"text":"b"}`), "call_conflict")

		short, err := s.ledger.OpenRun(t.Context(), ledger.Opening{Agent: me, MaxCalls: 1})
		if err != nil {
			t.Fatal(err)
		}
		in := caller()
		in.Run = short.ID
		s.list(t, in)
		want(t, s.call(t, in, "peek", `{"text":"a"}`), "")
		same(s.call(t, in, "peek", `{"text":"b"}`), "run_call_limit")
		if _, err := s.ledger.EndRun(t.Context(), me, short.ID, "it is enough"); err != nil {
			t.Fatal(err)
		}
		same(s.call(t, in, "peek", `{"text":"c"}`), "run_over")

		s.hold(t)
		same(s.call(t, caller(), "press", `{"text":"next"}`), "effect_uncertain")

		// Between the look ahead and the admission, where only the admission sees it.
		meanwhile := func(change func()) process {
			var once sync.Once
			return s.start(t, s.rows, func(_ *ledger.Options, o *tool.Options) {
				o.Policy = func(context.Context, string) (approval.Policy, error) {
					once.Do(change)
					return s.policy, nil
				}
			})
		}
		late := func(code, name string, change func()) {
			t.Helper()
			same(meanwhile(change).call(t, caller(), name, `{"text":"late"}`), code)
		}
		late("stale_offer", "ask", func() { s.connect(t, "search", "own", "second", 2, nil, nil) })
		late("capability_disabled", "ask", func() { s.connect(t, "search", "disabled", nil, 3, nil, nil) })
		late("paused", "peek", func() { s.write(t, "UPDATE agents SET paused_at=now_us(), paused_by='person_1' WHERE id=$1", me) })
		same(s.call(t, caller(), "peek", `{"text":"paused"}`), "paused") // and where the look ahead did
		s.write(t, "UPDATE agents SET paused_at=NULL, paused_by=NULL WHERE id=$1", me)
		s.connect(t, "search", "own", "oracle", 4, nil, nil)
		want(t, ask("offered anew"), "")
		s.connect(t, "search", "own", "second", 5, nil, nil)
		same(ask("anew"), "stale_offer")
		// The agent's other client lists the tools meanwhile: what this one looked at, and a person may have allowed, is another.
		other := meanwhile(func() {
			s.connect(t, "search", "own", "oracle", 6, nil, nil)
			s.list(t, caller())
		})
		r := other.call(t, caller(), "ask", `{"text":"looked at before"}`)
		same(r, "stale_offer")
		if !strings.Contains(r.Text(), "oracle, it was second") {
			t.Errorf("told as %s", r.Text())
		}

		// An effect in flight is waited for, here for a moment.
		impatient := s.start(t, s.rows, func(o *ledger.Options, _ *tool.Options) { o.Wait = 20 * time.Millisecond })
		free, err := s.ledger.OpenRun(t.Context(), ledger.Opening{Agent: me})
		if err != nil {
			t.Fatal(err)
		}
		in.Run = free.ID
		s.list(t, in)
		stop := tooltest.NewStop()
		s.set.Script.At(tooltest.Input(1), stop.Do)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if r, err := s.Call(t.Context(), in, "press", json.RawMessage(`{"text":"first"}`)); err != nil {
				t.Error(err)
			} else {
				r.Delivered(true)
			}
		}()
		reached(t, stop)
		same(impatient.call(t, in, "press", `{"text":"first"}`), "earlier_call_unfinished")
		same(impatient.call(t, in, "press", `{"text":"second"}`), "earlier_call_unfinished")
		stop.Go()
		<-ended
		if len(told) != 10 {
			t.Errorf("only %v were refused", told)
		}
	})
}
