// This file is the contract of processes, leases, notices, lists and of what is kept how long.
package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

func beating() []promise {
	return []promise{
		{"a process that beats in time lives", func(b *bench) {
			b.pass(5 * time.Minute)
			b.sweep(b.B, 0)
			b.fresh(b.A, Look)
		}},
		{"whoever was said to be dead does not come back", func(b *bench) {
			c := b.fresh(b.A, Look)
			b.jump(ttl + time.Microsecond)
			alive, err := b.B.Beat(b.ctx, procB, ttl)
			b.must(err)
			if !alive {
				b.t.Fatal("nobody said that the second process is dead")
			}
			b.sweep(b.B, 1)
			for range 2 {
				if alive, err := b.A.Beat(b.ctx, procA, ttl); err != nil || alive {
					b.t.Fatalf("the dead beats: %t, %v", alive, err)
				}
			}
			b.state(c.id, effect.Failed, effect.Lost)
		}},
		{"whoever comes late but was not said to be dead goes on", func(b *bench) {
			c := b.fresh(b.A, Look)
			b.jump(ttl + time.Minute/2)
			if alive, err := b.A.Beat(b.ctx, procA, ttl); err != nil || !alive {
				b.t.Fatalf("a late beat: %t, %v", alive, err)
			}
			b.must(b.B.Register(b.ctx, "proc_c", "three", "1", ttl))
			b.sweep(b.B, 0)
			b.state(c.id, effect.Dispatched, "")
		}},
		{"a process that ended in order is dead at once", func(b *bench) {
			b.must(b.A.Retire(b.ctx, procA))
			if alive, err := b.A.Beat(b.ctx, procA, ttl); err != nil || alive {
				b.t.Fatalf("the ended beats: %t, %v", alive, err)
			}
		}},
		{"whoever never registered is dead", func(b *bench) {
			if alive, err := b.A.Beat(b.ctx, "proc_none", ttl); err != nil || alive {
				b.t.Fatalf("the unknown beats: %t, %v", alive, err)
			}
		}},
		{"the clock is the database's", func(b *bench) {
			b.jump(time.Hour)
			for _, s := range []ledger.Store{b.A, b.B} {
				if now, err := s.Now(b.ctx); err != nil || !now.Equal(b.Clock.Now()) {
					b.t.Errorf("it is %v, %v; want %v", now, err, b.Clock.Now())
				}
			}
		}},
	}
}

func leasing() []promise {
	const resource = "session:one"
	take := func(b *bench, s ledger.Store, process string, fence int64) {
		b.t.Helper()
		got, ok, err := s.Acquire(b.ctx, resource, process, "call_any", time.Minute)
		if err != nil || ok != (fence != 0) || ok && got != fence {
			b.t.Fatalf("%s takes the lease: fence %d, %t, %v; want fence %d", process, got, ok, err, fence)
		}
	}
	extend := func(b *bench, fence int64, want bool) {
		b.t.Helper()
		if ok, err := b.A.Extend(b.ctx, resource, fence, time.Minute); err != nil || ok != want {
			b.t.Fatalf("extend under the fence %d: %t, %v; want %t", fence, ok, err, want)
		}
	}
	return []promise{
		{"one holds it, under a fence", func(b *bench) {
			take(b, b.A, procA, 1)
			take(b, b.B, procB, 0)
			take(b, b.A, procA, 0)
		}},
		{"what was released is free, under the next fence", func(b *bench) {
			take(b, b.A, procA, 1)
			b.must(b.A.Release(b.ctx, resource, 1))
			take(b, b.B, procB, 2)
			b.must(b.B.Release(b.ctx, resource, 2))
			take(b, b.A, procA, 3)
		}},
		{"whoever lost it releases and extends nothing", func(b *bench) {
			take(b, b.A, procA, 1)
			b.must(b.A.Release(b.ctx, resource, 1))
			take(b, b.B, procB, 2)
			b.must(b.A.Release(b.ctx, resource, 1))
			extend(b, 1, false)
			take(b, b.A, procA, 0)
			extend(b, 2, true)
		}},
		{"what is released is not extended", func(b *bench) {
			take(b, b.A, procA, 1)
			b.must(b.A.Release(b.ctx, resource, 1))
			extend(b, 1, false)
		}},
		{"it is taken over once its time is over, not before", func(b *bench) {
			take(b, b.A, procA, 1)
			b.pass(time.Minute)
			take(b, b.B, procB, 0)
			b.pass(time.Microsecond)
			take(b, b.B, procB, 2)
			extend(b, 1, false)
		}},
		{"an extended one is held longer", func(b *bench) {
			take(b, b.A, procA, 1)
			b.pass(50 * time.Second)
			extend(b, 1, true)
			b.pass(50 * time.Second)
			take(b, b.B, procB, 0)
			b.pass(11 * time.Second)
			take(b, b.B, procB, 2)
		}},
		{"it is taken over from the dead, and only once somebody said so", func(b *bench) {
			take(b, b.A, procA, 1)
			b.jump(ttl + time.Microsecond)
			take(b, b.B, procB, 0)
			b.die(procA)
			take(b, b.B, procB, 2)
		}},
		{"resources are apart", func(b *bench) {
			take(b, b.A, procA, 1)
			if fence, ok, err := b.B.Acquire(b.ctx, "session:two", procB, "", time.Minute); err != nil || !ok || fence != 1 {
				b.t.Errorf("another resource: fence %d, %t, %v", fence, ok, err)
			}
		}},
		{"eight at once: one takes it over", func(b *bench) {
			take(b, b.A, procA, 1)
			b.jump(2 * time.Minute)
			won := 0
			for _, fence := range race(b.t, 8, func(i int) (int64, error) {
				fence, ok, err := []ledger.Store{b.A, b.B}[i%2].Acquire(b.ctx, resource, []string{procA, procB}[i%2], "", time.Minute)
				if !ok {
					fence = 0
				}
				return fence, err
			}) {
				if fence != 0 {
					won++
					if fence != 2 {
						b.t.Errorf("taken over under the fence %d", fence)
					}
				}
			}
			if won != 1 {
				b.t.Errorf("%d took it over", won)
			}
		}},
	}
}

func noticing() []promise {
	claim := func(b *bench, s ledger.Store, process string) []ledger.Notice {
		b.t.Helper()
		got, err := s.Claim(b.ctx, process, time.Minute, 10)
		b.must(err)
		return got
	}
	return []promise{
		{"an effect of unknown outcome is told once, however it came to be unknown", func(b *bench) {
			settled := b.sent(b.A, Press)
			b.settle(b.A, settled.lost())
			run := b.openRun(ledger.NewRun{}).ID
			swept := b.sent(b.A, Press, inRun(run))
			b.die(procA)
			b.sweep(b.B, 1)
			got := claim(b, b.B, procB)
			var about []string
			for _, n := range got {
				about = append(about, n.Subject)
				if n.Kind == "" || n.ID == "" || n.Run != b.in[n.Subject] {
					b.t.Errorf("a notice is %+v", n)
				}
			}
			slices.Sort(about)
			want := []string{settled.id, swept.id}
			slices.Sort(want)
			if !slices.Equal(about, want) {
				b.t.Errorf("notices about %v, want %v", about, want)
			}
		}},
		{"queries and observations tell nobody", func(b *bench) {
			b.fresh(b.A, Ask)
			b.fresh(b.A, Look)
			b.settle(b.A, b.fresh(b.A, Post).turned())
			b.die(procA)
			b.sweep(b.B, 2)
			if got := claim(b, b.B, procB); len(got) != 0 {
				b.t.Errorf("notices: %+v", got)
			}
		}},
		{"a claimed notice is told by one; when that one is silent it comes again; when it was heard it does not", func(b *bench) {
			b.settle(b.A, b.sent(b.A, Press).lost())
			first := claim(b, b.A, procA)
			if len(first) != 1 || len(claim(b, b.B, procB)) != 0 {
				b.t.Fatalf("claimed %+v", first)
			}
			b.pass(time.Minute + time.Microsecond)
			second := claim(b, b.B, procB)
			if len(second) != 1 || second[0].ID != first[0].ID {
				b.t.Fatalf("claimed again %+v", second)
			}
			b.must(b.B.Sent(b.ctx, []string{second[0].ID}))
			b.pass(2 * time.Minute)
			if got := claim(b, b.A, procA); len(got) != 0 {
				b.t.Errorf("heard, and told again: %+v", got)
			}
		}},
	}
}

func listing() []promise {
	return []promise{
		{"another agent's call is not found, and neither is one of another run", func(b *bench) {
			c := b.fresh(b.A, Look)
			other := b.openRun(ledger.NewRun{}).ID
			for name, where := range map[string][2]string{"agent": {agentTwo, b.run}, "run": {agentOne, other}} {
				if _, err := b.B.Call(b.ctx, where[0], where[1], c.id); !errors.Is(err, ledger.ErrNotFound) {
					b.t.Errorf("another %s reads the call: %v", name, err)
				}
			}
			if _, err := b.B.CallsOf(b.ctx, agentTwo, b.run, 0, 10); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("another agent lists the calls: %v", err)
			}
			if _, err := b.B.Cancel(b.ctx, agentTwo, b.run, c.id); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("another agent stops the call: %v", err)
			}
		}},
		{"a run's calls are listed in order, without what was said", func(b *bench) {
			var ids []string
			for i := range 5 {
				ids = append(ids, b.fresh(b.A, Look, args(fmt.Sprintf(`{"n":%d}`, i))).id)
			}
			first, err := b.B.CallsOf(b.ctx, agentOne, b.run, 0, 3)
			b.must(err)
			rest, err := b.B.CallsOf(b.ctx, "", b.run, 3, 10)
			b.must(err)
			var got []string
			for _, r := range append(first, rest...) {
				got = append(got, r.ID)
				if r.Args != nil || r.Result != nil {
					b.t.Errorf("a list shows %q and %q", r.Args, r.Result)
				}
			}
			if len(first) != 3 || !slices.Equal(got, ids) {
				b.t.Errorf("listed %v, want %v", got, ids)
			}
		}},
		{"runs are listed newest first, of the agents that are asked for", func(b *bench) {
			b.jump(time.Second)
			two := b.openRun(ledger.NewRun{Agent: agentTwo}).ID
			b.jump(time.Second)
			three := b.openRun(ledger.NewRun{}).ID
			list := func(agents []string, before string, limit int) (ids []string) {
				got, err := b.B.RunsOf(b.ctx, agents, before, limit)
				b.must(err)
				for _, r := range got {
					ids = append(ids, r.ID)
				}
				return ids
			}
			for _, c := range []struct{ got, want []string }{
				{list(nil, "", 10), []string{three, two, b.run}}, {list([]string{agentOne}, "", 10), []string{three, b.run}},
				{list([]string{agentTwo}, "", 10), []string{two}}, {list(nil, three, 1), []string{two}}, {list([]string{}, "", 10), nil},
			} {
				if !slices.Equal(c.got, c.want) {
					b.t.Errorf("listed %v, want %v", c.got, c.want)
				}
			}
			for _, before := range []string{two, "run_none"} { // another agent's run, and none
				if got, err := b.B.RunsOf(b.ctx, []string{agentOne}, before, 10); !errors.Is(err, ledger.ErrNotFound) {
					b.t.Errorf("before %s there are %v, %v", before, got, err)
				}
			}
		}},
		{"what changed since a time is listed", func(b *bench) {
			old := b.fresh(b.A, Look)
			b.pass(10 * time.Second)
			since := b.Clock.Now()
			b.settle(b.A, old.done())
			c := b.fresh(b.A, Ask)
			runs, calls, now, err := b.B.Changes(b.ctx, since)
			b.must(err)
			var ids []string
			for _, r := range calls {
				ids = append(ids, r.ID)
			}
			slices.Sort(ids)
			want := []string{old.id, c.id}
			slices.Sort(want)
			if len(runs) != 0 || !slices.Equal(ids, want) || !now.Equal(b.Clock.Now()) {
				b.t.Errorf("changed: runs %v, calls %v at %v; want calls %v", runs, ids, now, want)
			}
			b.end("ended")
			if runs, _, _, err := b.B.Changes(b.ctx, since); err != nil || len(runs) != 1 || runs[0].ID != b.run {
				b.t.Errorf("changed runs: %+v, %v", runs, err)
			}
		}},
	}
}

func keeping() []promise {
	const day = 24 * time.Hour
	page := ledger.Evidence{Kind: "content", Host: "example.com", URL: "https://example.com/page", Title: "A page", SHA256: "ab12", Chars: 40}
	read := func(b *bench) call {
		c := b.fresh(b.A, Look, withKey("key-kept-call"))
		s := c.done()
		s.Evidence = []ledger.Evidence{page}
		b.settle(b.A, s)
		return c
	}
	content := func(b *bench, id string, want bool) {
		b.t.Helper()
		r := b.record(id)
		if (r.Args != nil) != want || (r.Result != nil) != want || (r.Evidence[0].URL != "") != want || (r.Evidence[1].Title != "") != want {
			b.t.Errorf("kept %t, want %t: %q, %q, %+v", r.Args != nil, want, r.Args, r.Result, r.Evidence)
		}
		if r.Evidence[1].SHA256 != "ab12" || r.Evidence[1].Host != "example.com" || r.Evidence[1].Chars != 40 {
			b.t.Errorf("the hashes are gone: %+v", r.Evidence)
		}
	}
	return []promise{
		{"texts of an ended run are kept thirty days, hashes longer", func(b *bench) {
			c := read(b)
			b.end("ended")
			titled := b.openRun(ledger.NewRun{Kind: "explicit", Audience: "agent:agent_one", Title: "a title", Deadline: time.Hour, MaxCalls: 7})
			if _, err := b.A.EndRun(b.ctx, agentOne, titled.ID, "ended"); err != nil {
				b.t.Fatal(err)
			}
			title := func(want string) {
				b.t.Helper()
				if r, err := b.B.Run(b.ctx, agentOne, titled.ID); err != nil || r.Title != want {
					b.t.Errorf("the title is %q, %v; want %q", r.Title, err, want)
				}
			}
			b.jump(30*day - time.Hour)
			b.sweepAll()
			content(b, c.id, true)
			title("a title")
			b.jump(2 * time.Hour)
			b.sweepAll()
			content(b, c.id, false)
			title("")
			if got := b.found(b.B, ledger.Repeat, Look, withKey("key-kept-call")); got.Record.ID != c.id {
				b.t.Error("the key protects no longer, though its call is kept")
			}
		}},
		{"texts are kept while an uncertain effect of the run is unreconciled", func(b *bench) {
			c := read(b)
			post := b.sent(b.A, Post)
			b.settle(b.A, post.lost())
			b.end("ended")
			b.jump(31 * day)
			b.sweepAll()
			content(b, c.id, true)
			b.reconcile(b.B, post.id, ledger.Happened)
			b.jump(day)
			b.sweepAll()
			content(b, c.id, false)
		}},
		{"rows of an ended run are kept a year, and its key is free then", func(b *bench) {
			c := read(b)
			b.end("ended")
			b.jump(365*day - 2*time.Hour)
			b.sweepAll()
			b.state(c.id, effect.Succeeded, effect.OK)
			b.jump(2 * day)
			b.sweepAll()
			if _, err := b.B.Call(b.ctx, "", b.run, c.id); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("the call after a year: %v", err)
			}
			if _, err := b.B.Run(b.ctx, "", b.run); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("the run after a year: %v", err)
			}
			b.must(b.B.Register(b.ctx, "proc_c", "three", "1", ttl))
			b.fresh(b.B, Look, withKey("key-kept-call"), by("proc_c"), inRun(b.openRun(ledger.NewRun{}).ID))
		}},
		{"an unreconciled effect is kept past the year", func(b *bench) {
			c := b.sent(b.A, Post)
			b.settle(b.A, c.lost())
			b.end("ended")
			b.jump(400 * day)
			b.sweepAll()
			b.state(c.id, effect.Uncertain, effect.OutcomeUncertain)
			b.holder(c.id)
		}},
		{"refusals are kept seven days", func(b *bench) {
			id, err := b.A.Refuse(b.ctx, b.ask(Look).Ask, "invalid_web_fetch_input", nil, nil)
			b.must(err)
			b.jump(7*day - time.Hour)
			b.sweepAll()
			b.state(id, effect.Refused, "")
			b.jump(2 * time.Hour)
			b.sweepAll()
			if _, err := b.B.Call(b.ctx, "", b.run, id); !errors.Is(err, ledger.ErrNotFound) {
				b.t.Errorf("the refusal after a week: %v", err)
			}
			if got := b.runOf(b.run).Refused; got != 1 {
				b.t.Errorf("the run counts %d refusals", got)
			}
		}},
		{"a thousand refusals of a run are kept, then they are only counted", func(b *bench) {
			ask := b.ask(Look).Ask
			kept := 0
			const workers, each = 16, 63
			for _, n := range race(b.t, workers, func(i int) (int, error) {
				n := 0
				for range each {
					id, err := []ledger.Store{b.A, b.B}[i%2].Refuse(b.ctx, ask, "invalid_web_fetch_input", nil, nil)
					if err != nil {
						return n, err
					}
					if id != "" {
						n++
					}
				}
				return n, nil
			}) {
				kept += n
			}
			if got := b.runOf(b.run).Refused; kept != 1000 || got != workers*each {
				b.t.Errorf("%d refusals are kept and %d counted, want 1000 and %d", kept, got, workers*each)
			}
		}},
		{"meters of minutes are kept two days, dead processes seven, and a lease's fence never restarts", func(b *bench) {
			if b.DB == nil {
				return // rows in memory are seen through calls alone, and these are not
			}
			read(b)
			fence, ok, err := b.A.Acquire(b.ctx, "session:one", procA, "", time.Minute)
			if err != nil || !ok {
				b.t.Fatalf("%t, %v", ok, err)
			}
			b.die(procA)
			count := func(query string) (n int64) {
				b.must(b.DB.Read(b.ctx, func(tx *sqldb.Tx) error {
					_, err := tx.One(query, nil, &n)
					return err
				}))
				return n
			}
			b.jump(2*day - time.Hour)
			b.sweepAll()
			if n := count("SELECT count(*) FROM minute_meters"); n != 1 {
				b.t.Errorf("%d minutes after less than two days", n)
			}
			b.jump(2 * time.Hour)
			b.sweepAll()
			if n := count("SELECT count(*) FROM minute_meters"); n != 0 {
				b.t.Errorf("%d minutes after two days", n)
			}
			if n := count("SELECT count(*) FROM processes WHERE id='proc_a'"); n != 1 {
				b.t.Errorf("%d dead processes after two days", n)
			}
			b.jump(8 * day)
			b.sweepAll()
			if n := count("SELECT count(*) FROM processes WHERE id='proc_a'"); n != 0 {
				b.t.Errorf("%d dead processes after ten days", n)
			}
			b.jump(500 * day)
			b.sweepAll()
			if next, ok, err := b.B.Acquire(b.ctx, "session:one", procB, "", time.Minute); err != nil || !ok || next != fence+1 {
				b.t.Errorf("the next fence is %d, %t, %v; want %d", next, ok, err, fence+1)
			}
		}},
	}
}
