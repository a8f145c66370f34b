package connectionstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/catalogdata"
	"github.com/wayleave/wayleave/internal/connection"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/store/agentstore"
	"github.com/wayleave/wayleave/internal/store/connectionstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/settings"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const by = "person:test"

func open(t *testing.T, db *sqldb.DB) (*connection.Settings, *connection.Rules) {
	t.Helper()
	rules, err := connection.New(catalogdata.Catalog{
		Providers: []catalogdata.Provider{{Name: "one", Capability: "read", MinuteLimit: 600}, {Name: "two", Capability: "read", RunLimit: 50, MinuteLimit: 60}, {Name: "desk", Capability: "browser"}},
		Classes:   []catalogdata.Class{{Tool: "fetch", Provider: "one", Class: effect.Observation, Metered: true}, {Tool: "fetch", Provider: "two", Class: effect.Query, Metered: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return connection.NewSettings(rules, connectionstore.New(db)), rules
}

func agents(t *testing.T, db *sqldb.DB, slugs ...string) (ids []string) {
	t.Helper()
	for _, s := range slugs {
		a, _, err := agent.NewDirectory(agentstore.New(db)).EnsureAgent(t.Context(), s, by)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	return ids
}

func count(t *testing.T, db *sqldb.DB) (epoch, entries int64) {
	t.Helper()
	err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
		if epoch, err = settings.Epoch(tx); err != nil {
			return err
		}
		_, err = tx.One("SELECT count(*) FROM audit WHERE verb = 'connection.changed'", nil, &entries)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return epoch, entries
}

func limit(n int64) *int64 { return &n }

// effective is what a fetch of an agent's is bound to.
func effective(t *testing.T, s *connection.Settings, r *connection.Rules, id string) binding.Resolution {
	t.Helper()
	f := binding.Facts{Agent: binding.Agent{ID: id}}
	for owner, into := range map[string]**binding.Connection{id: &f.Own, binding.Install: &f.Shared} {
		set, err := s.Get(t.Context(), owner, "read")
		if err != nil {
			t.Fatal(err)
		}
		if set.Version > 0 {
			*into = &set.Connection
		}
	}
	return r.Resolve(f, "read", "fetch", "")
}

func TestPutIsWholeVersionedAndRecorded(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		s, _ := open(t, one)
		other, _ := open(t, two)
		ids := agents(t, one, "alice")
		if got, err := s.Get(t.Context(), ids[0], "read"); err != nil || got != (connection.Setting{}) {
			t.Fatalf("nothing is set: %+v, %v", got, err)
		}
		epoch, entries := count(t, one)
		for version, c := range []connection.Change{
			{Owner: ids[0], Mode: connection.Own, Provider: "two", RunLimit: limit(7), MinuteLimit: limit(9)},
			{Owner: ids[0], Mode: connection.Own, Provider: "two"},
			{Owner: ids[0], Mode: connection.Disabled, Provider: "two"},
			{Owner: ids[0], Mode: connection.Inherit},
			{Owner: ids[0], Mode: connection.Inherit, RunLimit: limit(3)},
			{Owner: ids[0], Mode: connection.Own, Provider: "two"},
		} {
			clock.Advance(time.Second)
			c.Capability, c.Version = "read", int64(version)
			got, err := s.Put(t.Context(), c, by)
			want := connection.Setting{Capability: "read", Changed: clock.Now(), ChangedBy: by,
				Connection: binding.Connection{Owner: ids[0], Mode: c.Mode, Provider: c.Provider, Version: int64(version) + 1}}
			if c.RunLimit != nil {
				want.RunLimit = *c.RunLimit
			}
			if c.MinuteLimit != nil {
				want.MinuteLimit = *c.MinuteLimit
			}
			if err != nil || got != want {
				t.Fatalf("%d: %+v, %v\nwant %+v", version, got, err, want)
			}
			if seen, err := other.Get(t.Context(), ids[0], "read"); err != nil || seen != want {
				t.Fatalf("%d, in another process: %+v, %v", version, seen, err)
			}
			// The same again, with the version that was read before.
			var conflict *connection.Conflict
			if _, err := other.Put(t.Context(), c, by); !errors.As(err, &conflict) || conflict.Now != want || !strings.Contains(err.Error(), by) {
				t.Fatalf("%d: an old version: %v", version, err)
			}
			newEpoch, newEntries := count(t, one)
			if newEpoch != epoch+1 || newEntries != entries+1 {
				t.Fatalf("%d: epoch %d after %d, %d entries after %d", version, newEpoch, epoch, newEntries, entries)
			}
			epoch, entries = newEpoch, newEntries
		}
		if list, err := s.Of(t.Context(), ids[0]); err != nil || len(list) != 1 || list[0].Version != 6 {
			t.Fatalf("%+v, %v", list, err)
		}
		if list, err := s.Of(t.Context(), binding.Install); err != nil || len(list) != 0 {
			t.Fatalf("%+v, %v", list, err)
		}
	})
}

// TestOneOfManyWritesOfAVersionIsKept: two people save what they both read.
func TestOneOfManyWritesOfAVersionIsKept(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		ids := agents(t, one, "alice")
		for version := range int64(3) {
			for _, owner := range []string{binding.Install, ids[0]} {
				var mu sync.Mutex
				kept, conflicts := 0, 0
				var wg sync.WaitGroup
				for i := range 10 {
					wg.Go(func() {
						s, _ := open(t, []*sqldb.DB{one, two}[i%2])
						_, err := s.Put(t.Context(), connection.Change{Owner: owner, Capability: "read", Mode: connection.Own, Provider: "two", RunLimit: limit(int64(i + 1)), Version: version}, fmt.Sprintf("person:%d", i))
						var conflict *connection.Conflict
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err == nil:
							kept++
						case errors.As(err, &conflict) && conflict.Now.Version == version+1:
							conflicts++
						default:
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if kept != 1 || conflicts != 9 {
					t.Fatalf("version %d of %s: %d kept, %d conflicts", version, owner, kept, conflicts)
				}
			}
		}
	})
}

func TestWhatIsWrongIsNotKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		s, _ := open(t, db)
		ids := agents(t, db, "alice")
		if _, err := s.Put(t.Context(), connection.Change{Owner: binding.Install, Capability: "read", Mode: connection.Own, Provider: "two", RunLimit: limit(10)}, by); err != nil {
			t.Fatal(err)
		}
		epoch, entries := count(t, db)
		for name, c := range map[string]connection.Change{
			"mode":              {Owner: ids[0], Capability: "read", Mode: connection.Auto},
			"provider":          {Owner: ids[0], Capability: "read", Mode: connection.Own, Provider: "three"},
			"limit":             {Owner: ids[0], Capability: "read", Mode: connection.Inherit, RunLimit: limit(0)},
			"above the install": {Owner: ids[0], Capability: "read", Mode: connection.Inherit, RunLimit: limit(11)},
			"shared minute":     {Owner: ids[0], Capability: "read", Mode: connection.Inherit, MinuteLimit: limit(11)},
		} {
			var invalid *connection.Invalid
			if _, err := s.Put(t.Context(), c, by); !errors.As(err, &invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.Put(t.Context(), connection.Change{Owner: ids[0], Capability: "read", Mode: connection.Inherit}, ""); err == nil {
			t.Error("a change by nobody")
		}
		if e, n := count(t, db); e != epoch || n != entries {
			t.Errorf("epoch %d after %d, %d entries after %d", e, epoch, n, entries)
		}
		if list, err := s.Of(t.Context(), ids[0]); err != nil || len(list) != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestLoweredLimitCountsAtOnceInEveryProcess(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		s, _ := open(t, one)
		other, rules := open(t, two)
		ids := agents(t, one, "alice")
		before := effective(t, other, rules, ids[0])
		if before.Binding.RunLimit != 0 || before.Binding.MinuteLimit != 600 {
			t.Fatalf("%+v", before)
		}
		if _, err := s.Put(t.Context(), connection.Change{Owner: binding.Install, Capability: "read", Mode: connection.Auto, RunLimit: limit(2), MinuteLimit: limit(3)}, by); err != nil {
			t.Fatal(err)
		}
		after := effective(t, other, rules, ids[0])
		if after.Binding.RunLimit != 2 || after.Binding.MinuteLimit != 3 || after.Binding.Fingerprint() != before.Binding.Fingerprint() {
			t.Fatalf("%+v", after)
		}
		if _, err := s.Put(t.Context(), connection.Change{Owner: ids[0], Capability: "read", Mode: connection.Inherit, RunLimit: limit(1)}, by); err != nil {
			t.Fatal(err)
		}
		if own := effective(t, other, rules, ids[0]); own.Binding.RunLimit != 1 || own.Binding.RunLimitOf != connection.LimitOfAgent || own.Binding.Fingerprint() != before.Binding.Fingerprint() {
			t.Fatalf("%+v", own)
		}
	})
}

// TestTM078SettingsAreTheirOwnersAlone asks each method for agents that are not there, and looks that one's change is
// nobody else's.
func TestTM078SettingsAreTheirOwnersAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		s, rules := open(t, db)
		ids := agents(t, db, "alice", "bob")
		if _, err := s.Put(t.Context(), connection.Change{Owner: ids[0], Capability: "read", Mode: connection.Disabled}, by); err != nil {
			t.Fatal(err)
		}
		if got := effective(t, s, rules, ids[0]); got.Off == "" {
			t.Fatal("it is off for alice")
		}
		if got := effective(t, s, rules, ids[1]); got.Off != "" {
			t.Fatalf("it is off for bob: %s", got.Off)
		}
		for _, none := range []string{"", "agent_none", "alice", "INSTALL", "' OR 1=1 --"} {
			for name, ask := range map[string]func() error{
				"Get": func() error { _, err := s.Get(t.Context(), none, "read"); return err },
				"Of":  func() error { _, err := s.Of(t.Context(), none); return err },
				"Put": func() error {
					_, err := s.Put(t.Context(), connection.Change{Owner: none, Capability: "read", Mode: connection.Inherit}, by)
					return err
				},
			} {
				if err := ask(); !errors.Is(err, connection.ErrNotFound) {
					t.Errorf("%s of %q: %v", name, none, err)
				}
			}
		}
	})
}
