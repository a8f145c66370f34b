package allowedstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/agent"
	"github.com/wayleave/wayleave/internal/allowed"
	"github.com/wayleave/wayleave/internal/datafolder"
	"github.com/wayleave/wayleave/internal/store/agentstore"
	"github.com/wayleave/wayleave/internal/store/allowedstore"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const by = "person:test"

func open(db *sqldb.DB) *allowed.Register { return allowed.NewRegister(allowedstore.New(db)) }

// agentID finds or makes an agent.
func agentID(db *sqldb.DB) func(ctx context.Context, slug string) (string, error) {
	return func(ctx context.Context, slug string) (string, error) {
		a, _, err := agent.NewDirectory(agentstore.New(db)).EnsureAgent(ctx, slug, by)
		return a.ID, err
	}
}

func agents(t *testing.T, db *sqldb.DB, slugs ...string) (ids []string) {
	t.Helper()
	for _, s := range slugs {
		id, err := agentID(db)(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func names(t *testing.T, r *allowed.Register, agent string) (out, edition string) {
	t.Helper()
	permits, edition, err := r.For(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range permits {
		out += p.String() + " "
	}
	return strings.TrimSpace(out), edition
}

func TestHostAllowedBesideARunningService(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, clock *dbtest.Clock) {
		service, person, ctx := open(one), open(two), t.Context()
		ids := agents(t, one, "alice", "bob")
		none, before := names(t, service, ids[0])
		if none != "" {
			t.Fatalf("an empty list allows %q", none)
		}
		got, err := person.Allow(ctx, "Printer.Local:631", "", by)
		if want := (allowed.Host{Host: "printer.local:631", Created: clock.Now(), By: by}); err != nil || got != want {
			t.Fatalf("%+v, %v", got, err)
		}
		got, err = person.Allow(ctx, "10.0.0.0/8", ids[1], by)
		if want := (allowed.Host{Host: "10.0.0.0/8", Agent: "bob", AgentID: ids[1], Created: clock.Now(), By: by}); err != nil || got != want {
			t.Fatalf("%+v, %v", got, err)
		}
		alice, after := names(t, service, ids[0])
		if alice != "printer.local:631" || after == before {
			t.Fatalf("alice may read %q, edition %q after %q", alice, after, before)
		}
		if bob, _ := names(t, service, ids[1]); bob != "printer.local:631 10.0.0.0/8" {
			t.Fatalf("bob may read %q", bob)
		}
		clock.Advance(time.Hour)
		if again, err := person.Allow(ctx, "printer.local:631", "", "person:other"); err != nil || again.By != by || again.Created.Equal(clock.Now()) {
			t.Fatalf("allowing twice: %+v, %v", again, err)
		}
		if again, edition := names(t, service, ids[0]); again != alice || edition != after {
			t.Fatalf("allowing twice: %q, %q", again, edition)
		}
		if _, err := person.Remove(ctx, "printer.local:631", ids[0], by); !errors.Is(err, allowed.ErrNotAllowed) {
			t.Fatalf("removing what was allowed to all from one: %v", err)
		}
		if _, err := person.Remove(ctx, "PRINTER.local:631", "", by); err != nil {
			t.Fatal(err)
		}
		if alice, _ := names(t, service, ids[0]); alice != "" {
			t.Fatalf("alice may still read %q", alice)
		}
		if list, err := service.List(ctx); err != nil || len(list) != 1 || list[0].Agent != "bob" {
			t.Fatalf("%+v, %v", list, err)
		}
		log := ""
		err = one.Read(ctx, func(tx *sqldb.Tx) error {
			return tx.All("SELECT verb, subject FROM audit WHERE verb LIKE 'host.%' ORDER BY id", nil, func(scan func(...any) error) error {
				var verb, subject string
				err := scan(&verb, &subject)
				log += verb + " " + subject + ", "
				return err
			})
		})
		if want := "host.allowed printer.local:631, host.allowed 10.0.0.0/8, host.removed printer.local:631, "; err != nil || log != want {
			t.Fatalf("%s, %v", log, err)
		}
	})
}

func TestMalformedHostIsNotKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		r := open(db)
		for _, bad := range []string{"", " ", "http://a.example/", "a b", "10.0.0.0/40", "10.1.2.3/8", "a.example:0x1", "a\x00b", strings.Repeat("a", 70000)} {
			if _, err := r.Allow(t.Context(), bad, "", by); err == nil {
				t.Errorf("%.20q was kept", bad)
			}
			if _, err := r.Remove(t.Context(), bad, "", by); err == nil {
				t.Errorf("%.20q was removed", bad)
			}
		}
		if hosts, err := r.List(t.Context()); err != nil || len(hosts) != 0 {
			t.Fatalf("%v, %v", hosts, err)
		}
	})
}

// TestHostThatCannotBeReadAllowsNothing: somebody else wrote in the table.
func TestHostThatCannotBeReadAllowsNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		r := open(db)
		ids := agents(t, db, "alice", "bob")
		for host, agent := range map[string]string{"10.0.0.1": "", "printer.local": ids[0]} {
			if _, err := r.Allow(t.Context(), host, agent, by); err != nil {
				t.Fatal(err)
			}
		}
		err := db.Write(t.Context(), sqldb.Settings, func(tx *sqldb.Tx) error {
			_, err := tx.Exec("UPDATE allowed_hosts SET host = 'http://x/' WHERE agent_id = $1", ids[0])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fresh := open(db)
		for range 2 {
			if permits, _, err := fresh.For(t.Context(), ids[0]); err == nil || permits != nil {
				t.Errorf("%v, %v", permits, err)
			}
		}
		if bob, _ := names(t, fresh, ids[1]); bob != "10.0.0.1" {
			t.Errorf("bob's list is whole: %q", bob)
		}
	})
}

// TestTM078HostsAreTheAgentsTheyWereAllowedTo asks for agents that are not there, and across two that are.
func TestTM078HostsAreTheAgentsTheyWereAllowedTo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		r := open(db)
		ids := agents(t, db, "alice", "bob")
		if _, err := r.Allow(t.Context(), "10.0.0.1", ids[0], by); err != nil {
			t.Fatal(err)
		}
		for _, none := range []string{"agent_none", "alice", "' OR 1=1 --"} {
			if _, err := r.Allow(t.Context(), "10.0.0.2", none, by); !errors.Is(err, allowed.ErrNotFound) {
				t.Errorf("Allow to %q: %v", none, err)
			}
		}
		for _, other := range []string{"", ids[1], "agent_none", "alice"} {
			if _, err := r.Remove(t.Context(), "10.0.0.1", other, by); !errors.Is(err, allowed.ErrNotAllowed) {
				t.Errorf("Remove from %q: %v", other, err)
			}
			if got, _ := names(t, r, other); got != "" {
				t.Errorf("%q may read %q", other, got)
			}
		}
		if got, _ := names(t, r, ids[0]); got != "10.0.0.1" {
			t.Errorf("alice may read %q", got)
		}
	})
}

// TestNoOldListUnderANewNumber changes the list in one process while another asks for it: a host that was removed before
// the question was asked is not in the answer, and one that was allowed is.
func TestNoOldListUnderANewNumber(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, one, two *sqldb.DB, _ *dbtest.Clock) {
		service, person := open(one), open(two)
		ids := agents(t, one, "alice")
		var wg sync.WaitGroup
		over := make(chan struct{})
		for range 4 {
			wg.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
					}
					if _, _, err := service.For(t.Context(), ids[0]); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for n := range 40 {
			host := fmt.Sprintf("10.0.0.%d", n)
			if _, err := person.Allow(t.Context(), host, "", by); err != nil {
				t.Error(err)
				break
			}
			if got, _ := names(t, service, ids[0]); got != host {
				t.Errorf("%q after %s was allowed", got, host)
			}
			if _, err := person.Remove(t.Context(), host, "", by); err != nil {
				t.Error(err)
				break
			}
			if got, _ := names(t, service, ids[0]); got != "" {
				t.Errorf("%q after %s was removed", got, host)
			}
		}
		close(over)
		wg.Wait()
	})
}

func folder(t *testing.T, text string) *datafolder.Folder {
	t.Helper()
	f, err := datafolder.Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		if err := os.WriteFile(filepath.Join(f.Path(), "allowed.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

const old = `{"version":1,"hosts":[{"host":"printer.local:631","created":"2025-11-02T03:04:05Z"},{"host":"10.0.0.0/8","agent":"bob","created":"2025-11-03T00:00:00Z"}]}`

func TestListOfAnEarlierVersionIsTakenOverOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		r, f := open(db), folder(t, old)
		path := filepath.Join(f.Path(), "allowed.json")
		lock := func(when string) {
			t.Helper()
			if _, err := os.Stat(path + ".lock"); !os.IsNotExist(err) {
				t.Errorf("%s: the file's lock was left behind: %v", when, err)
			}
			if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		lock("before")
		if did, err := r.Import(t.Context(), f, "system", agentID(db)); err != nil || !did {
			t.Fatalf("%v, %v", did, err)
		}
		lock("taken over")
		list, err := r.List(t.Context())
		if err != nil || len(list) != 2 || list[0].Host != "printer.local:631" || list[1].Agent != "bob" || !list[1].Created.Equal(time.Date(2025, 11, 3, 0, 0, 0, 0, time.UTC)) {
			t.Fatalf("%+v, %v", list, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Fatalf("the file was not set aside: %v", err)
		}
		if did, err := r.Import(t.Context(), f, "system", agentID(db)); err != nil || did {
			t.Fatalf("a second time: %v, %v", did, err)
		}
		lock("taken over before")
		// As if the process had died between the commit and the renaming.
		if err := os.Rename(path+allowed.ImportedSuffix, path); err != nil {
			t.Fatal(err)
		}
		if did, err := r.Import(t.Context(), f, "system", agentID(db)); err != nil || did {
			t.Fatalf("cut off: %v, %v", did, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Fatalf("the file was not set aside: %v", err)
		}
		// A list of another folder beside a database that has one.
		if _, err := r.Remove(t.Context(), "printer.local:631", "", by); err != nil {
			t.Fatal(err)
		}
		if did, err := r.Import(t.Context(), folder(t, old), "system", agentID(db)); !errors.Is(err, allowed.ErrNotImported) || did {
			t.Fatalf("mixed: %v, %v", did, err)
		}
		if list, err := r.List(t.Context()); err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
	})
}

func TestDamagedListIsNotImported(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		r := open(db)
		for _, text := range []string{"{", "{}", "null", `{"version":2}`, `{"version":1,"hostz":[]}`, `{"version":1,"hosts":[]} x`, `{"version":1,"hosts":[{"host":"http://x/"}]}`,
			`{"version":1,"hosts":[{"host":"10.0.0.1","agent":"alice","AGENT":""}]}`,
			`{"version":1,"hosts":[{"host":"10.0.0.1"},{"host":"10.0.0.2","agent":"../x"}]}`} {
			f := folder(t, text)
			if did, err := r.Import(t.Context(), f, "system", agentID(db)); err == nil || did || !strings.Contains(err.Error(), f.Path()) {
				t.Errorf("%s: %v, %v", text, did, err)
			}
		}
		if list, err := r.List(t.Context()); err != nil || len(list) != 0 {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, text := range []string{"", `{"version":1,"hosts":[]}`} { // none, and an empty one
			if did, err := r.Import(t.Context(), folder(t, text), "system", agentID(db)); err != nil || did {
				t.Fatalf("%q: %v, %v", text, did, err)
			}
		}
	})
}
