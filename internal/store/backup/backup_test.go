package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/backup"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
)

// everyWay runs a test for each pair of databases: backed up from the one, restored into the other.
func everyWay(t *testing.T, test func(t *testing.T, from, to *sqldb.DB)) {
	t.Helper()
	for _, f := range dbtest.Dialects {
		for _, d := range dbtest.Dialects {
			t.Run(fmt.Sprintf("%s to %s", f, d), func(t *testing.T) {
				from, _ := dbtest.Open(t, f)
				dbtest.Fill(t, from)
				test(t, from, dbtest.Empty(t, d).Open(t))
			})
		}
	}
}

func made(t *testing.T, db *sqldb.DB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.db")
	m, err := backup.Backup(t.Context(), db, path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != m.Bytes || m.Schema != newest(t, db) || info.Mode().Perm() != 0o600 {
		t.Fatalf("%+v, %v, %v", m, info, err)
	}
	return path
}

// newest is the schema of this program.
func newest(t *testing.T, db *sqldb.DB) int64 {
	t.Helper()
	s, err := schema.Look(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return s.Known
}

// lines gives the answers to queries as text.
func lines(t *testing.T, db *sqldb.DB, queries ...string) (all []string) {
	t.Helper()
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		all = nil
		for _, q := range queries {
			columns := strings.Count(q[:strings.Index(q, " FROM ")], ",") + 1
			if err := tx.All(q, nil, func(scan func(...any) error) error {
				values, into := make([]any, columns), make([]any, columns)
				for i := range values {
					into[i] = &values[i]
				}
				err := scan(into...)
				line := q[strings.LastIndex(q, "FROM "):]
				for _, v := range values {
					line += fmt.Sprintf("|%v", v)
				}
				all = append(all, line)
				return err
			}); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// untouched are the rows that restoring leaves as they were.
var untouched = []string{
	"SELECT id, wrapped, master, primary_key, created_at, retired_at FROM keysets ORDER BY id",
	"SELECT id, slug, name, state, grants_version, elicitation, paused_at, paused_by, created_at FROM agents ORDER BY id",
	"SELECT id, agent_id, hash, scope, created_at, revoked_at, used_at, used_from FROM agent_tokens ORDER BY id",
	"SELECT id, name, role, agents, password, state, created_at FROM people ORDER BY id",
	"SELECT subject, used, since FROM sign_in_attempts ORDER BY subject",
	"SELECT owner, capability, mode, provider, version, run_limit, minute_limit, changed_at, changed_by FROM connections ORDER BY owner",
	"SELECT id, agent_id, host, created_at, created_by FROM allowed_hosts ORDER BY id",
	"SELECT id, install, digest_key, audit_key, paused_at, created_at, oldest_schema FROM settings",
	"SELECT id, run_id, agent_id, seq, tool, capability, class, digest, caller_key, named_run, offer, nonce, owner, until, args, result, late, approval_id, created_at, dispatched_at FROM tool_calls ORDER BY id",
	"SELECT call_id, run_id, agent_id, capability, meter, minute, provider, credential_owner, connection_version, account_version, at FROM reservations ORDER BY call_id",
	"SELECT run_id, capability, used FROM run_meters ORDER BY run_id, capability",
	"SELECT meter, capability, minute, used FROM minute_meters ORDER BY meter, capability, minute",
	"SELECT call_id, n, kind, conversation_id, provider, credential_owner, host, url, title, sha256, chars, artifact_id, at FROM evidence ORDER BY call_id, n",
	"SELECT call_id, verdict, note, by_kind, by_id, at FROM reconciliations ORDER BY call_id",
	"SELECT id, run_id, tool, digest, profile_hash, tier, question, channel, answered_by, expires_at, answered_at, good_until, used_by FROM approvals ORDER BY id",
	"SELECT id, actor, verb, subject, detail, link, prev, hash FROM audit WHERE verb <> 'install.restored' ORDER BY id",
	"SELECT link, at, hash FROM audit_checkpoints ORDER BY link",
	"SELECT id, kind, implicit_key, audience, conversation_id, title, deadline, idle, idle_until, max_tool_calls, calls, refused, hold_call, created_at, purged_at FROM runs ORDER BY id",
}

// TestF023BackupRestores: from either database into either, all rows that restoring does not end are as they were, and
// the ledger's invariants hold.
func TestF023BackupRestores(t *testing.T) {
	everyWay(t, func(t *testing.T, from, to *sqldb.DB) {
		storetest.Invariants(t, from)
		before := lines(t, from, untouched...)
		path := made(t, from)
		bytesBefore, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := backup.Restore(t.Context(), path, to)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(t.Context(), to); err != nil {
			t.Error(err)
		}
		after := lines(t, to, untouched...)
		if !slices.Equal(before, after) {
			for i := range min(len(before), len(after)) {
				if before[i] != after[i] {
					t.Errorf("\n was %s\n is  %s", before[i], after[i])
				}
			}
			t.Errorf("%d rows were there, %d are", len(before), len(after))
		}
		if len(before) < 50 {
			t.Errorf("only %d rows were compared", len(before))
		}
		storetest.Invariants(t, to)
		if !r.Newest.Equal(dbtest.Start.Add(-4_000_000_000)) || r.Schema != newest(t, from) {
			t.Errorf("%+v", r)
		}
		if again := lines(t, from, untouched...); !slices.Equal(before, again) {
			t.Error("the database that was backed up changed")
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, bytesBefore) {
			t.Errorf("the backup changed: %v", err)
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) != 1 {
			t.Errorf("beside the backup: %v, %v", entries, err)
		}
	})
}

// TestBackupWhileServing: the backup is one state, though rows change together all the time.
func TestBackupWhileServing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		dbtest.Fill(t, db)
		stop := make(chan struct{})
		var serving sync.WaitGroup
		for range 4 {
			serving.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := db.Write(context.Background(), sqldb.Settings, func(tx *sqldb.Tx) error {
						// The first and the last table of a copy.
						_, err1 := tx.Exec("UPDATE settings SET epoch = epoch + 1")
						_, err2 := tx.Exec("UPDATE audit_checkpoints SET at = at + 1")
						return errors.Join(err1, err2)
					}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 3 {
			copied, err := sqldb.OpenCopy(made(t, db))
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, copied, fmt.Sprintf("SELECT s.epoch - 7 - (c.at - %d) FROM settings s JOIN audit_checkpoints c ON c.link = 2", dbtest.Start.Add(-7000*time.Second).UnixMicro()))
			if len(got) != 1 || !strings.HasSuffix(got[0], "|0") {
				t.Errorf("two rows of one transaction differ: %v", got)
			}
			if err := copied.Close(); err != nil {
				t.Error(err)
			}
		}
		close(stop)
		serving.Wait()
	})
}

func TestBackupOverwritesNothingAndLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		folder := t.TempDir()
		there := filepath.Join(folder, "there")
		if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Backup(t.Context(), db, there); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v", err)
		}
		if _, err := backup.Backup(t.Context(), db, filepath.Join(folder, "none", "x")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := backup.Backup(ctx, db, filepath.Join(folder, "cancelled")); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
		none := dbtest.Empty(t, db.Dialect()).Open(t)
		if _, err := backup.Backup(t.Context(), none, filepath.Join(folder, "nothing")); err == nil || !strings.Contains(err.Error(), "nothing to back up") {
			t.Errorf("%v", err)
		}
	})
}

// TestTM100BackupHasNothingInTheClear that the database had not: what was sealed is sealed in it, what was purged is not
// in it, and the words about keys say what is in it.
func TestTM100BackupHasNothingInTheClear(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		dbtest.Fill(t, db)
		purged := []byte("sealed args 1") // of call_1: what was sealed before a purge
		raw := func() []byte {
			b, err := os.ReadFile(made(t, db))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		if !bytes.Contains(raw(), purged) {
			t.Fatal("it was not there at first")
		}
		if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := tx.Exec("UPDATE tool_calls SET args = NULL, result = NULL, late = NULL WHERE id IN ('call_1', 'call_10', 'call_12')")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw(), purged) {
			t.Error("a purged value is in the backup")
		}
		if !bytes.Contains(raw(), []byte("wrapped keyset")) {
			t.Error("the wrapped keyset is not in the backup: nothing would open")
		}
	})
}
