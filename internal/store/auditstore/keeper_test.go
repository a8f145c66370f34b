package auditstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// fillFast appends many entries in few transactions.
func fillFast(t *testing.T, s *stage, n int) {
	t.Helper()
	for done := 0; done < n; {
		some := min(n-done, 500)
		if err := s.db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			for i := range some {
				if err := Append(tx, audit.Entry{Actor: "person:person_1", Verb: "agent.changed", Subject: fmt.Sprint(done + i)}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		done += some
	}
}

func TestEntryStandsOrFallsWithItsTransaction(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		undone := errors.New("undone")
		entry := audit.Entry{Actor: "person:person_1", Verb: "agent.disabled", Subject: "agent_1", Detail: map[string]any{"why": "it \"ran\" <off>"}}
		if err := s.db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
			if err := Append(tx, entry); err != nil {
				return err
			}
			return undone
		}); !errors.Is(err, undone) {
			t.Fatal(err)
		}
		if err := s.store.Append(t.Context(), audit.Entry{Actor: "x"}); err == nil || !strings.Contains(err.Error(), "verb") {
			t.Errorf("an entry without a verb: %v", err)
		}
		if rows, err := s.store.List(t.Context(), audit.Filter{}); err != nil || len(rows) != 0 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
		if err := s.store.Append(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
		rows, err := s.store.List(t.Context(), audit.Filter{})
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		r := rows[0]
		if !strings.HasPrefix(r.ID, "audit_") || !r.At.Equal(s.clock.Now()) || r.Actor != entry.Actor || r.Verb != entry.Verb || r.Subject != entry.Subject ||
			string(r.Detail) != `{"why":"it \"ran\" \u003coff\u003e"}` || r.Link != 0 || r.Hash != "" {
			t.Errorf("%+v", r)
		}
	})
}

func TestLinkedRowsAreFixed(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		s.add(t, 2)
		s.step(t, s.keeper)
		if err := s.db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := tx.Exec("UPDATE audit SET actor = 'x'")
			return err
		}); err == nil {
			t.Error("a linked row was changed")
		}
	})
}

func TestOneKeeperLinksAndAnotherTakesOver(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		second := s.another(t, "proc_2")
		s.add(t, 3)
		s.step(t, s.keeper)
		s.add(t, 3)
		s.step(t, second) // not its turn
		if r := s.verify(t); r.Rows != 3 || r.Waiting != 3 {
			t.Errorf("%+v", r)
		}
		s.clock.Advance(16 * time.Second) // the first one is gone
		s.step(t, second)
		s.add(t, 1)
		s.step(t, s.keeper) // it wakes, and has no turn
		if r := s.verify(t); r.Rows != 6 || r.Waiting != 1 || !r.OK() {
			t.Errorf("%+v", r)
		}
		s.step(t, second)
		if r := s.verify(t); r.Rows != 7 || !r.OK() {
			t.Errorf("%+v", r)
		}
	})
}

// TestLinksAtOnceAreOneChain: the lease saves work; the chain is right without it.
func TestLinksAtOnceAreOneChain(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, clock *dbtest.Clock) {
		s := &stage{db: a, clock: clock, store: New(a)}
		k, err := audit.NewKey(key)
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		var linkers, writers sync.WaitGroup
		for _, db := range []*sqldb.DB{a, b, a, b} {
			linkers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_, _, _, _ = New(db).Link(context.Background(), 7, k.After) // one of two fails, and tries again
					}
				}
			})
		}
		for _, db := range []*sqldb.DB{a, b} {
			writers.Go(func() {
				for n := range 60 {
					if err := New(db).Append(context.Background(), audit.Entry{Actor: "x", Verb: "y", Subject: fmt.Sprint(n)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		close(stop)
		linkers.Wait()
		for {
			_, _, n, err := s.store.Link(t.Context(), 50, k.After)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
		}
		if r := s.verify(t); r.Rows != 120 || r.Waiting != 0 || !r.OK() {
			t.Errorf("%+v", r)
		}
	})
}

func TestCheckpointsByLinksAndByTime(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		at := func() string {
			var links []string
			for _, c := range s.told {
				links = append(links, fmt.Sprint(c.Link))
				if c.Install != install {
					t.Errorf("%+v", c)
				}
			}
			return strings.Join(links, " ")
		}
		expect := func(want string) {
			t.Helper()
			s.step(t, s.keeper)
			if got := at(); got != want {
				t.Errorf("checkpoints at %s, expected %s", got, want)
			}
		}
		expect("") // nothing to tell
		s.add(t, 99)
		expect("99") // the first is told at once
		s.add(t, 50)
		expect("99")
		s.clock.Advance(10 * time.Second)
		expect("99")
		s.add(t, 50)
		expect("99 199") // a hundred links
		s.add(t, 1)
		for range 5 {
			s.clock.Advance(10 * time.Second)
			expect("99 199")
		}
		s.clock.Advance(10 * time.Second)
		expect("99 199 200") // a minute
		for range 20 {
			s.clock.Advance(10 * time.Second)
			expect("99 199 200") // nothing new
		}
		s.add(t, 1201)
		expect("99 199 200 1401")
		if n := strings.Count(s.log.String(), "wayleave-audit-checkpoint install="+install+" link="); n != 4 {
			t.Errorf("%d checkpoints in the log", n)
		}
		logged, err := audit.ReadCheckpoints(strings.NewReader(s.log.String()))
		if err != nil || len(logged) != 4 || logged[3] != s.told[3] {
			t.Errorf("%+v, %v", logged, err)
		}
		if r := s.verify(t, logged...); !r.OK() || r.Marks != 4 || r.Outside != 4 {
			t.Errorf("%+v", r)
		}
	})
}

// TestKeeperEndsWithACheckpoint, and lets another one go on at once.
func TestKeeperEndsWithACheckpoint(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		s.add(t, 3)
		s.step(t, s.keeper)
		s.add(t, 2)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.keeper.Run(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if last := s.told[len(s.told)-1]; last.Link != 5 {
			t.Errorf("the last checkpoint is at %d", last.Link)
		}
		s.add(t, 1)
		s.step(t, s.another(t, "proc_2"))
		if r := s.verify(t); r.Rows != 6 || !r.OK() {
			t.Errorf("%+v", r)
		}
	})
}

// TestTM104KeeperNoticesACutUnderItsHands: whoever cuts the chain while a server runs leaves a row that says so, and no
// number is given twice.
func TestTM104KeeperNoticesACutUnderItsHands(t *testing.T) {
	for name, c := range map[string]struct{ tamper, faults string }{
		"the end":                   {"DELETE FROM audit WHERE link > 4", "missing 5-6, broken 7-7"},
		"the end, with checkpoints": {"DELETE FROM audit WHERE link > 4; DELETE FROM audit_checkpoints", "broken 5-5"},
		"all":                       {"DELETE FROM audit; DELETE FROM audit_checkpoints", "broken 1-1"},
		"a hash at the end":         {"UPDATE audit SET hash = 'x' WHERE link = 6", "changed 6-6, broken 7-7"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *stage) {
				s.add(t, 6)
				s.step(t, s.keeper)
				s.tamper(t, strings.Split(c.tamper, ";")...)
				s.step(t, s.keeper)
				if r := s.verify(t); faults(r) != c.faults {
					t.Errorf("%s, expected %s", faults(r), c.faults)
				}
				if n := strings.Count(s.log.String(), "not where it was left"); n != 1 {
					t.Errorf("said %d times", n)
				}
				s.add(t, 3)
				s.step(t, s.keeper)
				if n := strings.Count(s.log.String(), "not where it was left"); n != 1 {
					t.Errorf("said %d times, after more rows", n)
				}
				if r := s.verify(t, s.told[0]); r.OK() {
					t.Error("the checkpoint from elsewhere sees nothing")
				}
			})
		})
	}
}

// TestPurgeIsStatedAndTheChainHolds: entries of more than a year go, and nothing else can claim to have been one.
func TestPurgeIsStatedAndTheChainHolds(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		fillFast(t, s, 1200)
		s.step(t, s.keeper)
		early := s.told[0]
		s.clock.Advance(200 * 24 * time.Hour)
		s.step(t, s.keeper)
		s.add(t, 5)
		s.step(t, s.keeper)
		if r := s.verify(t, early); r.Rows != 1205 || r.Purged != 0 || !r.OK() {
			t.Fatalf("%+v", r)
		}
		s.clock.Advance(170 * 24 * time.Hour)
		s.step(t, s.keeper) // purges and states it
		s.add(t, 1)
		s.step(t, s.keeper) // links the statement
		r := s.verify(t)
		if r.First != 1201 || r.Purged != 1200 || r.Rows != 7 || r.Head.Link != 1207 || !r.OK() {
			t.Errorf("%+v", r)
		}
		// A checkpoint of before cannot be compared any more, and that is said.
		if r := s.verify(t, early, s.told[len(s.told)-1]); r.Past != 1 || r.Outside != 1 || !r.OK() {
			t.Errorf("%+v", r)
		}
		s.tamper(t, "DELETE FROM audit WHERE link = 1201")
		if r := s.verify(t); faults(r) != "missing 1201-1201" {
			t.Errorf("%s", faults(r))
		}
	})
}

// TestPurgeIsLookedForOnceADay: an entry whose time is over an hour later goes the next day.
func TestPurgeIsLookedForOnceADay(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		s.add(t, 2)
		s.clock.Advance(time.Hour)
		s.add(t, 2)
		s.step(t, s.keeper)
		first := func() int64 {
			t.Helper()
			s.step(t, s.keeper)
			s.step(t, s.keeper)
			return s.verify(t).First
		}
		s.clock.Advance(365*24*time.Hour - 30*time.Minute)
		s.keeper = s.another(t, "proc_2") // which looks when its turn begins: the one before is long gone
		if got := first(); got != 3 {
			t.Errorf("at first: the first is %d", got)
		}
		for _, c := range []struct {
			later time.Duration
			first int64
		}{{10 * time.Second, 3}, {23 * time.Hour, 3}, {time.Hour, 5}} {
			s.leases.until = s.clock.Now().Add(c.later + time.Minute) // it keeps its turn
			s.clock.Advance(c.later)
			if got := first(); got != c.first {
				t.Errorf("%s later: the first is %d, expected %d", c.later, got, c.first)
			}
		}
		if r := s.verify(t); !r.OK() {
			t.Errorf("%s", faults(r))
		}
	})
}

// TestPurgeThatWasCutOffGoesOn: the statement stands, some rows are gone.
func TestPurgeThatWasCutOffGoesOn(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		fillFast(t, s, 900)
		s.step(t, s.keeper)
		s.clock.Advance(400 * 24 * time.Hour)
		h, err := s.store.Over(t.Context(), 365*24*time.Hour)
		if err != nil || h.Link != 899 {
			t.Fatalf("%+v, %v", h, err)
		}
		k, err := audit.NewKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.store.Append(t.Context(), k.Purge(h)); err != nil {
			t.Fatal(err)
		}
		if r := s.verify(t); !r.OK() || r.Rows != 900 {
			t.Errorf("before the first row goes: %+v", r)
		}
		if n, err := s.store.Remove(t.Context(), h.Link, 300); err != nil || n != 300 {
			t.Fatal(n, err)
		}
		if r := s.verify(t); !r.OK() || r.First != 301 {
			t.Errorf("in the middle: %+v", r)
		}
		next := s.another(t, "proc_2")
		s.step(t, next)
		s.step(t, next)
		if r := s.verify(t); !r.OK() || r.First != 901 || r.Purged != 900 {
			t.Errorf("after it: %+v, %s", r, faults(r))
		}
	})
}

// TestVerifyBesideAKeeper: appending, linking and marking go on meanwhile, and nothing of it looks like a fault.
func TestVerifyBesideAKeeper(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		fillFast(t, s, 1100)
		s.step(t, s.keeper)
		stop := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				s.clock.Advance(3 * time.Second)
				if err := errors.Join(s.store.Append(context.Background(), audit.Entry{Actor: "x", Verb: "y", Subject: fmt.Sprint(n)}), s.keeper.Step(context.Background())); err != nil {
					t.Error(err)
				}
			}
		})
		for range 15 {
			if r := s.verify(t); !r.OK() || r.Rows < 1100 {
				t.Errorf("%s", faults(r))
			}
		}
		close(stop)
		all.Wait()
	})
}

func TestListGivesPagesBothWays(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		s.add(t, 7)
		if err := s.store.Append(t.Context(), audit.Entry{Actor: "system", Verb: "x.y", Subject: "agent_1"}); err != nil {
			t.Fatal(err)
		}
		s.step(t, s.keeper)
		list := func(f audit.Filter) (ids []string) {
			t.Helper()
			rows, err := s.store.List(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				ids = append(ids, r.ID)
			}
			return ids
		}
		all := list(audit.Filter{})
		if len(all) != 8 {
			t.Fatalf("%d rows", len(all))
		}
		oldest := list(audit.Filter{After: "audit_"})
		for i := range all {
			if all[i] != oldest[len(oldest)-1-i] {
				t.Fatal("the two orders are not each other's reverse")
			}
		}
		var back, forth []string
		for f := (audit.Filter{Limit: 3}); ; {
			page := list(f)
			back = append(back, page...)
			if len(page) < 3 {
				break
			}
			f.Before = page[2]
		}
		for f := (audit.Filter{Limit: 3, After: "audit_"}); ; {
			page := list(f)
			forth = append(forth, page...)
			if len(page) < 3 {
				break
			}
			f.After = page[2]
		}
		if fmt.Sprint(back) != fmt.Sprint(all) || fmt.Sprint(forth) != fmt.Sprint(oldest) {
			t.Errorf("pages: %v, %v", back, forth)
		}
		for f, want := range map[audit.Filter]int{
			{Actor: "system"}: 1, {Subject: "agent_1"}: 3, {Verb: "agent.changed"}: 7, {Actor: "system", Verb: "agent.changed"}: 0, {Actor: "person:person_1", Subject: "agent_0", Limit: 2}: 2, {Limit: -4}: 1, {Actor: "' OR 1=1"}: 0,
		} {
			if got := len(list(f)); got != want {
				t.Errorf("%+v: %d rows, expected %d", f, got, want)
			}
		}
		if _, err := s.store.List(t.Context(), audit.Filter{Before: "a", After: "b"}); err == nil {
			t.Error("both ways at once")
		}
		s.add(t, 2)
		if linked, waiting, err := s.store.Count(t.Context()); err != nil || linked != 8 || waiting != 2 {
			t.Errorf("%d, %d, %v", linked, waiting, err)
		}
	})
}

func TestKeeperNeedsWhatItNeeds(t *testing.T) {
	s := &Store{}
	l := &leases{}
	for name, make := range map[string]func() (*audit.Keeper, error){
		"no rows":       func() (*audit.Keeper, error) { return audit.NewKeeper(nil, l, "p", key, audit.KeeperOptions{}) },
		"no leases":     func() (*audit.Keeper, error) { return audit.NewKeeper(s, nil, "p", key, audit.KeeperOptions{}) },
		"no process":    func() (*audit.Keeper, error) { return audit.NewKeeper(s, l, "", key, audit.KeeperOptions{}) },
		"a short key":   func() (*audit.Keeper, error) { return audit.NewKeeper(s, l, "p", key[:31], audit.KeeperOptions{}) },
		"negative time": func() (*audit.Keeper, error) { return audit.NewKeeper(s, l, "p", key, audit.KeeperOptions{Keep: -1}) },
	} {
		if k, err := make(); err == nil || k != nil {
			t.Errorf("%s: taken", name)
		}
	}
}
