package sessionstore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/mcpserver"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const idle = 30 * time.Minute

func TestSessionIsFoundByItsTokenAtEveryProcess(t *testing.T) {
	dbtest.Two(t, func(t *testing.T, a, b *sqldb.DB, clock *dbtest.Clock) {
		err := a.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES('agent_1', 'a', 'a', 'active', 1, now_us())`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sealer := dbtest.Sealer()
		one, other := New(a, sealer), New(b, sealer)
		s := mcpserver.Session{Name: "mses_1", Agent: "agent_1", Token: "tok_1", Initialize: []byte(`{"canary":"client"}`)}
		for range 2 { // opening it again changes nothing
			if err := one.Opened(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		find := func(name, token string) bool {
			t.Helper()
			got, ok, err := other.Find(t.Context(), name, token, idle)
			if err != nil {
				t.Fatal(err)
			}
			if ok && (got.Agent != "agent_1" || string(got.Initialize) != string(s.Initialize)) {
				t.Fatalf("%+v", got)
			}
			return ok
		}
		clock.Advance(idle - time.Second)
		if !find("mses_1", "tok_1") {
			t.Error("within its time it is not found")
		}
		if find("mses_1", "tok_2") || find("mses_2", "tok_1") {
			t.Error("another's is found")
		}
		clock.Advance(idle - time.Second)
		if !find("mses_1", "tok_1") {
			t.Error("finding is no use")
		}
		clock.Advance(idle - time.Second)
		if err := one.Used(t.Context(), "mses_1"); err != nil {
			t.Fatal(err)
		}
		clock.Advance(idle - time.Second)
		if !find("mses_1", "tok_1") {
			t.Error("a use is no use")
		}
		var raw []byte
		if err := a.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One(`SELECT initialize FROM mcp_sessions`, nil, &raw)
			return err
		}); err != nil || strings.Contains(string(raw), "canary") {
			t.Errorf("%q, %v", raw, err)
		}
		if err := one.Ended(t.Context(), "mses_1"); err != nil {
			t.Fatal(err)
		}
		if find("mses_1", "tok_1") {
			t.Error("an ended one is found")
		}

		s.Name = "mses_2"
		if err := one.Opened(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		clock.Advance(idle + time.Second)
		if find("mses_2", "tok_1") {
			t.Error("past its time it is found")
		}
		if err := one.Expire(t.Context(), idle); err != nil {
			t.Fatal(err)
		}
		var left int64
		if err := a.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One(`SELECT count(*) FROM mcp_sessions`, nil, &left)
			return err
		}); err != nil || left != 0 {
			t.Errorf("%d rows are left, %v", left, err)
		}
	})
}

// TestSessionThatIsUsedWhileItExpires stays: that it idled was seen before its use.
func TestSessionThatIsUsedWhileItExpires(t *testing.T) {
	db, clock := dbtest.OpenPatient(t)
	if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO agents(id, slug, name, state, grants_version, created_at) VALUES('agent_1', 'a', 'a', 'active', 1, now_us())`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s := New(db, dbtest.Sealer())
	if err := s.Opened(t.Context(), mcpserver.Session{Name: "mses_1", Agent: "agent_1", Token: "tok_1", Initialize: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(idle + time.Second)
	held := dbtest.Hold(t, db, "SELECT id FROM mcp_sessions FOR UPDATE")
	done := make(chan error, 2)
	go func() { done <- s.Used(context.Background(), "mses_1") }()
	dbtest.AwaitWaiters(t, db, 1)
	go func() { done <- s.Expire(context.Background(), idle) }()
	dbtest.AwaitWaiters(t, db, 2)
	held.Undo()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, found, err := s.Find(t.Context(), "mses_1", "tok_1", idle); err != nil || !found {
		t.Errorf("it was used, and is gone: %v", err)
	}
}
