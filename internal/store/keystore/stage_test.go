package keystore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/keyfile"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/secret"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// stage is one install for a test: a database, a key file, and as many processes as are opened.
type stage struct {
	place dbtest.Place
	file  string
}

// each runs a test on a stage of each database.
func each(t *testing.T, test func(t *testing.T, s *stage)) {
	t.Helper()
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			test(t, &stage{place: dbtest.New(t, d), file: filepath.Join(t.TempDir(), keyfile.Name)})
		})
	}
}

func (s *stage) source() *keyfile.Source { return keyfile.New(s.file, secret.Value{}) }

// open starts a process. It waits by moving the database's clock.
func (s *stage) open(t *testing.T, point func(string)) *Store {
	t.Helper()
	p, err := s.try(t, s.source(), point)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *stage) try(t *testing.T, source *keyfile.Source, point func(string)) (*Store, error) {
	t.Helper()
	p := &Store{db: s.place.Open(t), masters: source, clock: func() time.Duration { return time.Duration(s.place.Clock.Micros()) * time.Microsecond },
		sleep: func(ctx context.Context, d time.Duration) error {
			s.place.Clock.Advance(d)
			return ctx.Err()
		}}
	return open(t.Context(), p.with(Options{Point: point}))
}

func write(t *testing.T, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func count(t *testing.T, db *sqldb.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.One(query, args, &n)
		return err
	}); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// who changes keys, for the audit.
const who = "person:person_1"

// within is how long anything may take before a test gives up.
const within = 2 * time.Minute

// rows is how many rows of each table fill makes: a page and a bit.
const rows = batchRows + 3

// fill writes rows into every table with a sealed column; text is in every sealed value, and control in a clear one. It
// gives how many sealed values it wrote.
func fill(t *testing.T, db *sqldb.DB, keys seal.Sealer, text, control string) int64 {
	t.Helper()
	var values int64
	box := func(table, column, row string) []byte {
		values++
		b, err := keys.Seal(seal.Place{Table: table, Column: column, Row: row}, []byte(table+column+row+" "+text+strings.Repeat(" page text", 40)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
		values = 0
		run := func(query string, args ...any) {
			if _, err := tx.Exec(query, args...); err != nil {
				t.Errorf("%s: %v", query, err)
			}
		}
		run("INSERT INTO agents (id, slug, name, state, grants_version, created_at) VALUES ('agent_1', 'one', 'One', 'active', 1, 1)")
		run("INSERT INTO runs (id, agent_id, kind, audience, conversation_id, title, state, deadline, max_tool_calls, created_at) VALUES ('run_1', 'agent_1', 'explicit', 'run:run_1', 'conv_1', $1, 'open', 1, 1000, 1)", control)
		for n := range rows {
			id := fmt.Sprintf("call_%03d", n)
			run("INSERT INTO tool_calls (id, run_id, agent_id, seq, tool, capability, class, state, digest, named_run, offer, nonce, owner, until, args, result, late, why, created_at) VALUES ($1, 'run_1', 'agent_1', $2, 'web_fetch', 'read', 'query', 'uncertain', $3, 0, '', '', '', 1, $4, $5, $6, '', 1)",
				id, n, []byte("digest"), box("tool_calls", "args", id), box("tool_calls", "result", id), box("tool_calls", "late", id))
			run("INSERT INTO evidence (call_id, n, kind, conversation_id, provider, credential_owner, url, title, at) VALUES ($1, $2, 'source', 'conv_1', 'direct', '-', $3, $4, 1)",
				id, n%3, box("evidence", "url", fmt.Sprintf("%s/%d", id, n%3)), box("evidence", "title", fmt.Sprintf("%s/%d", id, n%3)))
			run("INSERT INTO reconciliations (call_id, verdict, note, by_kind, by_id, at) VALUES ($1, 'happened', $2, 'operator', 'person_1', 1)", id, box("reconciliations", "note", id))
			page := fmt.Sprintf("page_%03d", n)
			run("INSERT INTO kept_pages (id, run_id, call_id, page_key, snapshot, sha256, body, chars, bytes, kept_at, used_at, expires_at) VALUES ($1, 'run_1', $2, $1, 1, '', $3, 1, 1, 1, 1, 1)", page, id, box("kept_pages", "body", page))
			approval := fmt.Sprintf("approval_%03d", n)
			run("INSERT INTO approvals (id, agent_id, run_id, tool, digest, profile_hash, tier, state, question, created_at, expires_at) VALUES ($1, 'agent_1', 'run_1', 'do_x', $2, '', 'sensitive', 'void', $3, 1, 1)", approval, []byte("digest"), box("approvals", "question", approval))
			titled := fmt.Sprintf("run_titled_%03d", n)
			run("INSERT INTO runs (id, agent_id, kind, audience, conversation_id, title_sealed, state, deadline, max_tool_calls, created_at) VALUES ($1, 'agent_1', 'explicit', 'run:x', 'conv_1', $2, 'open', 1, 1000, 1)", titled, box("runs", "title_sealed", titled))
			session := fmt.Sprintf("session_%03d", n)
			run("INSERT INTO mcp_sessions (id, agent_id, token_id, initialize, used_at) VALUES ($1, 'agent_1', '', $2, 1)", session, box("mcp_sessions", "initialize", session))
		}
		// Values that are not there stay so.
		run("INSERT INTO tool_calls (id, run_id, agent_id, seq, tool, capability, class, state, digest, named_run, offer, nonce, owner, until, why, created_at) VALUES ('call_none', 'run_1', 'agent_1', 999, 'web_fetch', 'read', 'query', 'uncertain', $1, 0, '', '', '', 1, '', 1)", []byte("digest"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return values
}

// heads counts all sealed values by the key that they name.
func heads(t *testing.T, db *sqldb.DB) map[string]int64 {
	t.Helper()
	all := make(map[string]int64)
	if err := db.Maintain(t.Context(), func(ctx context.Context, pool *sql.DB) error {
		for _, c := range sealedColumns() {
			n, err := c.heads(ctx, pool)
			if err != nil {
				return err
			}
			for key, n := range n {
				all[key] += n
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// whole fails unless all values open, and says how many there are.
func whole(t *testing.T, s *Store) int64 {
	t.Helper()
	opened, damaged, at, err := s.Verify(t.Context())
	if err != nil || damaged != 0 {
		t.Errorf("%d values do not open, the first at %v: %v", damaged, at, err)
	}
	return opened
}

// sibling is another install on the same kind of database.
func (s *stage) sibling(t *testing.T) *stage {
	t.Helper()
	return &stage{place: dbtest.New(t, s.place.Dialect), file: filepath.Join(t.TempDir(), keyfile.Name)}
}

// strip takes every sealed value away but those of one column.
func (s *Store) strip(t *testing.T, but Column) {
	t.Helper()
	for _, c := range sealedColumns() {
		switch {
		case c.Table == but.Table && c.Name == but.Name || c.Table == "settings":
		case c.Table == "mcp_sessions":
			write(t, s.db, "DELETE FROM mcp_sessions")
		default:
			write(t, s.db, "UPDATE "+c.Table+" SET "+c.Name+" = NULL")
		}
	}
}

// files is what the database has on the disk: SQLite's files, or the tables of PostgreSQL. Its log is left out: it has the
// past by design, and is the server's to recycle.
func (s *stage) files(t *testing.T, db *sqldb.DB) []byte {
	t.Helper()
	if s.place.Dialect == sqldb.SQLite {
		return s.place.Bytes(t)
	}
	var folder, oid string
	if err := db.Maintain(t.Context(), func(ctx context.Context, pool *sql.DB) error {
		if _, err := pool.ExecContext(ctx, "CHECKPOINT"); err != nil {
			return err
		}
		return pool.QueryRowContext(ctx, "SELECT current_setting('data_directory'), oid::text FROM pg_database WHERE datname = current_database()").Scan(&folder, &oid)
	}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(folder, "base", oid))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, "base", oid, e.Name()))
		if os.IsNotExist(err) && e.Name() == "pg_internal.init" {
			continue // PostgreSQL's cache of its own catalogue, which it removes and makes as it likes
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}
