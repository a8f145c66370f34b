package pagestore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/reading"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/webfetch"
)

// withRuns makes two runs of one agent.
func withRuns(t *testing.T, db *sqldb.DB) {
	t.Helper()
	err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES('agent_1', 'a', 'a', 'active', 1, now_us())`); err != nil {
			return err
		}
		for _, run := range []string{"run_1", "run_2"} {
			if _, err := tx.Exec(`INSERT INTO runs(id, agent_id, kind, audience, conversation_id, state, deadline, max_tool_calls, created_at)
VALUES($1, 'agent_1', 'explicit', 'run:x', 'c', 'open', now_us() + 1000000000, 100, now_us())`, run); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func page(text string) *webfetch.Page {
	return &webfetch.Page{RequestedURL: "https://site.example/a", FinalURL: "https://site.example/b", Content: text, TotalChars: len(text), Provider: "direct", Redirects: []string{}}
}

func put(t *testing.T, s *Store, run string, text string, keys ...string) reading.Put {
	t.Helper()
	p, err := s.Put(t.Context(), reading.Place{Run: run, Call: "call_1"}, keys, page(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// text is what a run has under a key; "-" for nothing.
func text(t *testing.T, s *Store, run, key string) string {
	t.Helper()
	k, err := s.Take(t.Context(), run, key)
	if err != nil {
		t.Fatal(err)
	}
	if k == nil {
		return "-"
	}
	return fmt.Sprintf("%s/%d", k.Page.Content, k.Snapshot)
}

func TestTM016KeptPagesAreTheRunsAlone(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, _ *dbtest.Clock) {
		withRuns(t, a)
		sealer := dbtest.Sealer()
		one, other := New(a, sealer, Bounds{}), New(b, sealer, Bounds{})
		put(t, one, "run_1", "canary-text", "k")
		for _, c := range []struct{ run, key, want string }{
			{"run_1", "k", "canary-text/1"}, {"run_2", "k", "-"}, {"run_1", "K", "-"}, {"", "k", "-"}, {"run_1", "", "-"},
		} {
			if got := text(t, other, c.run, c.key); got != c.want {
				t.Errorf("run %q, key %q at the other process: %s, want %s", c.run, c.key, got, c.want)
			}
		}
		var body []byte
		if err := a.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One(`SELECT body FROM kept_pages`, nil, &body)
			return err
		}); err != nil || len(body) == 0 || strings.Contains(string(body), "canary") {
			t.Errorf("the row holds %q, %v", body, err)
		}
	})
}

func TestPageThatIsPutAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		withRuns(t, db)
		s := New(db, dbtest.Sealer(), Bounds{})
		for i, c := range []struct {
			text string
			want reading.Put
		}{
			{"one", reading.Put{Snapshot: 1}}, {"one", reading.Put{Snapshot: 1, Known: true}},
			{"two", reading.Put{Snapshot: 2, Known: true, Changed: true}}, {"one", reading.Put{Snapshot: 3, Known: true, Changed: true}},
		} {
			c.want.SHA256 = reading.Sum(&webfetch.Page{Content: c.text})
			if got := put(t, s, "run_1", c.text, "k"); got != c.want {
				t.Errorf("%d: %+v, want %+v", i, got, c.want)
			}
		}
		if got := text(t, s, "run_1", "k"); got != "one/3" {
			t.Error(got)
		}
	})
}

func TestAddressThatAnsweredIsAName(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		withRuns(t, db)
		s := New(db, dbtest.Sealer(), Bounds{})
		put(t, s, "run_1", "old", "from", "to")
		if got := text(t, s, "run_1", "to"); got != "old/1" {
			t.Errorf("under the address that answered: %s", got)
		}
		// Another page that leads to the same address takes the name, and leaves the first its own.
		put(t, s, "run_1", "also", "also", "to")
		if from, to := text(t, s, "run_1", "from"), text(t, s, "run_1", "to"); from != "old/1" || to != "also/1" {
			t.Errorf("from %s, to %s", from, to)
		}
		// A page that is asked for under that address has it for good.
		put(t, s, "run_1", "own", "to")
		put(t, s, "run_1", "third", "third", "to")
		if to, also := text(t, s, "run_1", "to"), text(t, s, "run_1", "also"); to != "own/2" || also != "also/1" {
			t.Errorf("to %s, also %s", to, also)
		}
	})
}

func TestW196KeptPagesAreBounded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		withRuns(t, db)
		s := New(db, dbtest.Sealer(), Bounds{RunBytes: 10_000, RunPages: 6})
		for i := range 5 {
			clock.Advance(time.Second)
			put(t, s, "run_1", strings.Repeat("x", 3000), fmt.Sprint("k", i))
		}
		for i := range 5 {
			got := text(t, s, "run_1", fmt.Sprint("k", i)) != "-"
			if i < 2 && got || i > 2 && !got { // what is around a page's text counts too
				t.Errorf("page %d is kept: %v", i, got)
			}
		}
		// One that was let go is remembered.
		if got := put(t, s, "run_1", strings.Repeat("x", 3000), "k0"); !got.Known || got.Changed || got.Snapshot != 1 {
			t.Errorf("%+v", got)
		}
		if got := put(t, s, "run_1", strings.Repeat("y", 20_000), "large"); got.Snapshot != 1 || text(t, s, "run_1", "large") != "-" {
			t.Errorf("a page over the bound: %+v, %s", got, text(t, s, "run_1", "large"))
		}
		for i := range 20 {
			clock.Advance(time.Second)
			put(t, s, "run_1", "small", fmt.Sprint("s", i))
		}
		var rows, bytes int64
		if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One(`SELECT count(*), CAST(sum(CASE WHEN body IS NULL THEN 0 ELSE bytes END) AS BIGINT) FROM kept_pages WHERE run_id = 'run_1'`, nil, &rows, &bytes)
			return err
		}); err != nil || rows > 6 || bytes > 10_000 {
			t.Errorf("%d rows with %d bytes, %v", rows, bytes, err)
		}
	})
}

func TestKeptPageGoesAnHourAfterItsLastUse(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, clock *dbtest.Clock) {
		withRuns(t, db)
		s := New(db, dbtest.Sealer(), Bounds{})
		put(t, s, "run_1", "text", "k")
		for range 3 {
			clock.Advance(59 * time.Minute)
			if got := text(t, s, "run_1", "k"); got != "text/1" {
				t.Fatalf("within the hour: %s", got)
			}
		}
		clock.Advance(time.Hour)
		if got := text(t, s, "run_1", "k"); got != "-" {
			t.Fatalf("after the hour: %s", got)
		}
	})
}

func TestPagesOfOneRunAtOnce(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, _ *dbtest.Clock) {
		withRuns(t, a)
		sealer := dbtest.Sealer()
		stores := []*Store{New(a, sealer, Bounds{RunBytes: 10_000}), New(b, sealer, Bounds{RunBytes: 10_000})}
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if _, err := stores[i%2].Put(t.Context(), reading.Place{Run: "run_1"}, []string{fmt.Sprint("k", i%5)}, page(strings.Repeat("x", 3000))); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var bytes int64
		if err := a.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One(`SELECT CAST(sum(CASE WHEN body IS NULL THEN 0 ELSE bytes END) AS BIGINT) FROM kept_pages`, nil, &bytes)
			return err
		}); err != nil || bytes > 10_000 || bytes == 0 {
			t.Errorf("%d bytes, %v", bytes, err)
		}
	})
}

// TestTaggedPagesAreThoseThatASiteCanBeAskedAbout: the others are not even opened.
func TestTaggedPagesAreThoseThatASiteCanBeAskedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		page webfetch.Page
		want bool
	}{
		"tag":        {webfetch.Page{Status: 200, Headers: map[string]string{"etag": `"a"`}}, true},
		"date":       {webfetch.Page{Status: 200, Headers: map[string]string{"last-modified": "Mon, 02 Mar 2026 10:00:00 GMT"}}, true},
		"neither":    {webfetch.Page{Status: 200, Headers: map[string]string{"content-type": "text/html"}}, false},
		"no-store":   {webfetch.Page{Status: 200, NoStore: true, Headers: map[string]string{"etag": `"a"`}}, false},
		"an error's": {webfetch.Page{Status: 404, Headers: map[string]string{"etag": `"a"`}}, false},
	} {
		dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
			withRuns(t, db)
			s := New(db, dbtest.Sealer(), Bounds{})
			if _, err := s.Put(t.Context(), reading.Place{Run: "run_1", Call: "call_1"}, []string{"key", "alias"}, &c.page); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"key", "alias"} {
				got, err := s.Tagged(t.Context(), "run_1", key)
				if err != nil || (got != nil) != c.want {
					t.Errorf("%s, %s: %v, %v", name, key, got, err)
				}
				if got, err := s.Take(t.Context(), "run_1", key); err != nil || got == nil {
					t.Errorf("%s, %s is not kept: %v", name, key, err)
				}
			}
		})
	}
}

// TestAPageThatWasPaidForOutlastsAServerThatIsAway, and one whose keeping was in doubt is kept once and told of as it was.
func TestAPageThatWasPaidForOutlastsAServerThatIsAway(t *testing.T) {
	at := dbtest.New(t, sqldb.Postgres)
	proxy := dbtest.NewProxy(t, at)
	behind := at
	behind.Address = proxy.Address
	db := behind.Open(t)
	withRuns(t, db)
	s := New(db, dbtest.Sealer(), Bounds{})
	put(t, s, "run_1", "first", "/a")

	cut := proxy.CutNextCommit(dbtest.AfterCommit)
	if p := put(t, s, "run_1", "second", "/a", "/b"); !p.Known || !p.Changed || p.Snapshot != 2 {
		t.Errorf("in doubt: %+v", p)
	}
	select {
	case <-cut:
	default:
		t.Error("nothing was cut")
	}
	if got := text(t, s, "run_1", "/b"); got != "second/2" {
		t.Errorf("kept: %s", got)
	}

	tried := proxy.Refuse()
	kept := make(chan reading.Put)
	go func() { kept <- put(t, s, "run_1", "third", "/a") }()
	<-tried
	proxy.Admit()
	if p := <-kept; !p.Changed || p.Snapshot != 3 || text(t, s, "run_1", "/a") != "third/3" {
		t.Errorf("after a while: %+v, %s", p, text(t, s, "run_1", "/a"))
	}
}

// TestNothingIsKeptBesideTheEndOfARun: its end lets go of all that it has, and what a call reads in that moment is not left.
func TestNothingIsKeptBesideTheEndOfARun(t *testing.T) {
	end := func(tx *sqldb.Tx) error {
		_, err := tx.Exec("UPDATE runs SET state = 'ended', end_reason = 'ended', ended_at = now_us() WHERE id = 'run_1'")
		return err
	}
	rows := func(t *testing.T, db *sqldb.DB) (n int64) {
		t.Helper()
		if _, err := db.One(t.Context(), "SELECT count(*) FROM kept_pages", nil, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		withRuns(t, db)
		s := New(db, dbtest.Sealer(), Bounds{})
		if err := db.Write(t.Context(), sqldb.Free, end); err != nil {
			t.Fatal(err)
		}
		if p := put(t, s, "run_1", "text", "k", "alias"); p.SHA256 == "" || rows(t, db) != 0 {
			t.Errorf("%+v, %d rows", p, rows(t, db))
		}
	})
	t.Run("at that moment", func(t *testing.T) {
		db, _ := dbtest.OpenPatient(t)
		withRuns(t, db)
		s := New(db, dbtest.Sealer(), Bounds{})
		held := dbtest.Hold(t, db, "UPDATE runs SET state = 'ended', end_reason = 'ended', ended_at = now_us() WHERE id = 'run_1'")
		done := make(chan error, 1)
		go func() {
			_, err := s.Put(context.Background(), reading.Place{Run: "run_1", Call: "call_1"}, []string{"k"}, page("text"))
			done <- err
		}()
		dbtest.AwaitWaiters(t, db, 1)
		held.Commit()
		if err := <-done; err != nil || rows(t, db) != 0 {
			t.Errorf("%v, %d rows", err, rows(t, db))
		}
	})
}
