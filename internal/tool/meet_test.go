package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wayleave/wayleave/internal/approval"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/tool"
	"github.com/wayleave/wayleave/internal/tool/tooltest"
)

// Two effects of a run that are let in together are sent one after the other; where the first one's outcome is unknown,
// the second is not sent.
func TestEffectsOfARunAreSentOneAfterTheOther(t *testing.T) {
	for _, broken := range []bool{false, true} {
		t.Run(fmt.Sprint("broken=", broken), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := inMemory(t, nil)
				s.process = s.start(t, s.rows, func(lo *ledger.Options, o *tool.Options) { lo.Wait, o.Wait = 0, 0 })
				s.list(t, caller())
				gate, first, inFlight := tooltest.NewStop(), tooltest.NewStop(), tooltest.NewStop()
				var once sync.Once
				s.set.Script.At(tooltest.Gate, func(ctx context.Context) error {
					stop := gate
					once.Do(func() { stop = first })
					return stop.Do(ctx)
				})
				s.set.Script.At(tooltest.Input(2), func(ctx context.Context) error {
					err := inFlight.Do(ctx)
					if broken {
						return tooltest.ErrBroken
					}
					return err
				})
				results := make([]tool.Result, 2)
				var all sync.WaitGroup
				call := func(i int) {
					all.Go(func() {
						r, err := s.Call(t.Context(), caller(), "press", json.RawMessage(fmt.Sprintf(`{"text":"%d"}`, i)))
						if err != nil {
							t.Error(err)
							return
						}
						r.Delivered(true)
						results[i] = r
					})
				}
				call(0)
				reached(t, first)
				call(1)
				reached(t, gate) // both are admitted
				first.Go()
				reached(t, inFlight)
				gate.Go()
				time.Sleep(10 * time.Second) // of the bubble: the second waits for the first
				if got := s.set.World.Entries(); len(got) != 1 {
					t.Errorf("while the first is in flight the world has %v", got)
				}
				inFlight.Go()
				all.Wait()
				entries := s.set.World.Entries()
				if broken {
					want(t, results[0], "connection_lost")
					want(t, results[1], "effect_uncertain")
					rec := s.record(t, results[1])
					if len(entries) != 1 || rec.State != effect.Succeeded || rec.Outcome != effect.NotDispatched ||
						keysOf(t, results[1])["other_call_id"] != results[0].Call || !strings.HasPrefix(results[1].Text(), "effect_uncertain: not_dispatched · ") {
						t.Errorf("the second stands as %s %s and is told as %s; the world has %v", rec.State, rec.Outcome, results[1].Text(), entries)
					}
					return
				}
				if len(entries) != 4 || entries[1].Text != "0" || entries[2].Text != "1" || results[0].Failure != nil || results[1].Failure != nil {
					t.Errorf("the world has %v; %s; %s", entries, results[0].Text(), results[1].Text())
				}
			})
		})
	}
}

// Approved on one server, the call runs once however many servers it comes to.
func TestTM059AnApprovalOnTwoServersRunsOnce(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, clock *dbtest.Clock) {
		s := newStage(t, a, clock, nil)
		second := s.beside(t, b)
		s.list(t, caller())
		for round := range 3 {
			text := fmt.Sprintf(`{"text":"piece %d"}`, round)
			id := s.asked(t, caller(), text)
			s.person(t, id, "once")
			var all sync.WaitGroup
			codes := make([]string, 6)
			for i := range codes {
				all.Go(func() {
					p := s.process
					if i%2 == 1 {
						p = second
					}
					r, err := p.Call(t.Context(), caller(), "publish", json.RawMessage(text))
					if err != nil {
						t.Error(err)
						return
					}
					r.Delivered(true)
					codes[i] = r.Code
				})
			}
			all.Wait()
			ran := 0
			for _, code := range codes {
				if code == "" {
					ran++
				} else if code != "approval_required" {
					t.Errorf("a call ended with %q", code)
				}
			}
			if n := len(s.set.World.Entries()); n != 2*(round+1) || ran < 1 {
				t.Errorf("%d calls ended well and the world has %d inputs", ran, n)
			}
			if _, err := s.approvals.DenyAll(t.Context(), nil, approval.Reply{Channel: approval.Page, By: "person:1"}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := tooltest.ReadWorld(s.worldFile)
		if err != nil || len(all) != len(s.set.World.Entries()) || len(tooltest.Twice(all)) != 0 {
			t.Errorf("the world's file has %v, %v", all, err)
		}
	})
}
