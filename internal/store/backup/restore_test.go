package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/backup"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/ledgerstore"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
	"github.com/wayleave/wayleave/internal/store/storetest"
)

// TestTM103RestoreRevivesNothingThatWasInUse, and lists what lives again.
func TestTM103RestoreRevivesNothingThatWasInUse(t *testing.T) {
	everyWay(t, func(t *testing.T, from, to *sqldb.DB) {
		began := time.Now()
		r, err := backup.Restore(t.Context(), made(t, from), to)
		if err != nil {
			t.Fatal(err)
		}
		got := lines(t, to,
			"SELECT id, state, end_reason FROM runs ORDER BY id",
			"SELECT id, state, used_by FROM approvals ORDER BY id",
			"SELECT id, CASE WHEN ended_at IS NULL THEN 'alive' ELSE 'ended' END FROM person_credentials ORDER BY id",
			"SELECT id, CASE WHEN ended_at IS NULL THEN 'alive' ELSE 'ended' END FROM mcp_sessions ORDER BY id",
			"SELECT id, dead FROM processes ORDER BY id",
			"SELECT resource, fence, owner, call_id FROM leases ORDER BY resource",
			"SELECT count(*) FROM offers",
			"SELECT count(*) FROM kept_pages",
			"SELECT kind, subject_id, claimed_by FROM notices WHERE sent_at IS NULL ORDER BY subject_id",
			"SELECT actor, subject, link FROM audit WHERE verb = 'install.restored'",
		)
		want := []string{
			"FROM runs ORDER BY id|run_1|ended|restored", "FROM runs ORDER BY id|run_2|ended|restored", "FROM runs ORDER BY id|run_3|ended|api", "FROM runs ORDER BY id|run_4|ended|restored",
			"FROM approvals ORDER BY id|appr_1|void|<nil>", "FROM approvals ORDER BY id|appr_2|void|<nil>", "FROM approvals ORDER BY id|appr_3|used|call_6", "FROM approvals ORDER BY id|appr_4|denied|<nil>",
			"FROM person_credentials ORDER BY id|cred_1|ended", "FROM person_credentials ORDER BY id|cred_2|ended", "FROM person_credentials ORDER BY id|cred_3|ended",
			"FROM person_credentials ORDER BY id|cred_4|alive", "FROM person_credentials ORDER BY id|cred_5|ended",
			"FROM mcp_sessions ORDER BY id|mcps_1|ended", "FROM mcp_sessions ORDER BY id|mcps_2|ended",
			"FROM processes ORDER BY id|proc_1|1", "FROM processes ORDER BY id|proc_2|1",
			"FROM leases ORDER BY resource|audit-chain|10|<nil>|<nil>", "FROM leases ORDER BY resource|session:s1|5|<nil>|<nil>",
			"FROM offers|0", "FROM kept_pages|0",
			"FROM notices WHERE sent_at IS NULL ORDER BY subject_id|effect_uncertain|call_12|<nil>", "FROM notices WHERE sent_at IS NULL ORDER BY subject_id|effect_uncertain|call_4|<nil>",
			"FROM audit WHERE verb = 'install.restored'|system|install|<nil>",
		}
		if !slices.Equal(got, want) {
			t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		// The sign-ins of the install ended long ago by the clock of the target; so of these two none is counted.
		if r.Runs != 3 || r.Calls != 4 || r.Uncertain != 2 || r.Approvals != 2 || r.Sessions != 1 || r.SignIns != 0 || r.Links != 0 {
			t.Errorf("%+v", r.Ended)
		}
		var tokens, hosts []string
		for _, k := range r.Tokens {
			tokens = append(tokens, strings.Join([]string{k.ID, k.Kind, k.Of, k.Scope, k.Label}, " "))
		}
		for _, h := range r.Hosts {
			hosts = append(hosts, h.Host+" "+h.Agent)
		}
		if !slices.Equal(tokens, []string{"token_1 agent alice tools ", "cred_4 person Olga owner script"}) || !slices.Equal(hosts, []string{"intranet.test:8080 ", "10.0.0.7 alice"}) {
			t.Errorf("%q, %q", tokens, hosts)
		}
		if !r.Tokens[0].Used.Equal(dbtest.Start.Add(-time.Minute)) || !r.Tokens[1].Used.IsZero() || !r.Tokens[0].Made.Equal(dbtest.Start.Add(-24*time.Hour)) {
			t.Errorf("%+v", r.Tokens)
		}
		var epoch int64
		if err := to.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One("SELECT epoch FROM settings", nil, &epoch)
			return err
		}); err != nil || epoch < began.UnixMicro()-int64(time.Minute/time.Microsecond) {
			t.Errorf("the epoch is %d, %v", epoch, err)
		}
		storetest.Quiet(t, to)
	})
}

// TestRestoreConcludesAsASweepDoes: the same rows, swept after their process died, end alike.
func TestRestoreConcludesAsASweepDoes(t *testing.T) {
	everyWay(t, func(t *testing.T, from, to *sqldb.DB) {
		if _, err := backup.Restore(t.Context(), made(t, from), to); err != nil {
			t.Fatal(err)
		}
		if err := from.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			_, err := tx.Exec("UPDATE processes SET dead = 1")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		nothing := func(binding.Facts, string, string, string) binding.Resolution { return binding.Resolution{} }
		s, err := ledgerstore.New(from, dbtest.Sealer(), nothing, ledgerstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Sweep(t.Context(), ledger.Retention{}); n != 4 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		const calls = "SELECT id, state, outcome, code, is_error, delivery, CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END FROM tool_calls ORDER BY id"
		const holds = "SELECT id, hold_call FROM runs ORDER BY id"
		if swept, restored := lines(t, from, calls, holds), lines(t, to, calls, holds); !slices.Equal(swept, restored) {
			t.Errorf("\nswept    %s\nrestored %s", strings.Join(swept, "\n         "), strings.Join(restored, "\n         "))
		}
	})
}

// TestRestoreRefuses what it cannot do whole, changes nothing then, and does it afterwards.
func TestRestoreRefuses(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			from, _ := dbtest.Open(t, sqldb.SQLite)
			dbtest.Fill(t, from)
			path := made(t, from)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file := func(text []byte) string {
				p := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(p, text, 0o600); err != nil {
					t.Fatal(err)
				}
				return p
			}
			newer := filepath.Join(t.TempDir(), "newer.db")
			if err := os.WriteFile(newer, good, 0o600); err != nil {
				t.Fatal(err)
			}
			later, err := sqldb.OpenSQLite(t.Context(), newer, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := later.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
				_, err := tx.Exec("INSERT INTO schema_versions (version_id, is_applied) VALUES ($1, 1)", newest(t, later)+1)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := later.Close(); err != nil {
				t.Fatal(err)
			}
			to := dbtest.Empty(t, d).Open(t)
			damaged := slices.Clone(good)
			for i := 3 * 4096; i < 9*4096; i++ { // pages behind the schema's
				damaged[i] = 0xa5
			}
			for name, c := range map[string]struct {
				path string
				want error
			}{
				"no file":       {filepath.Join(t.TempDir(), "none"), os.ErrNotExist},
				"another file":  {file([]byte("this is a text, and long enough to be looked at by anybody at all")), backup.ErrNoBackup},
				"an empty file": {file(nil), backup.ErrNoBackup},
				"half a file":   {file(good[:len(good)/2]), backup.ErrNoBackup},
				"damaged":       {file(damaged), backup.ErrNoBackup},
				// It is there twice, in a table and in an index.
				"at odds with itself": {file(bytes.Replace(good, []byte("session:s1"), []byte("session:s2"), 1)), backup.ErrNoBackup},
				"a newer one":         {newer, schema.ErrTooNew},
			} {
				if _, err := backup.Restore(t.Context(), c.path, to); !errors.Is(err, c.want) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if s, err := schema.Look(t.Context(), to); err != nil || s.Version != 0 {
				t.Errorf("a refused restore left %+v, %v", s, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := backup.Restore(ctx, path, to); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			if _, err := schema.Up(t.Context(), to); err != nil { // as if it had got as far as its tables
				t.Fatal(err)
			}
			if _, err := backup.Restore(t.Context(), path, to); err != nil {
				t.Fatal(err)
			}
			before := lines(t, to, untouched...)
			if _, err := backup.Restore(t.Context(), path, to); !errors.Is(err, backup.ErrNotEmpty) {
				t.Errorf("over an install: %v", err)
			}
			if !slices.Equal(before, lines(t, to, untouched...)) {
				t.Error("a refused restore changed the install")
			}
		})
	}
}

// TestBackupOfTheSchemaBeforeServes: what a program of one version before has backed up is restored, migrated, and served.
func TestBackupOfTheSchemaBeforeServes(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			from := dbtest.Empty(t, sqldb.SQLite).Open(t)
			before := newest(t, from) - 1
			if err := schema.To(t.Context(), from, before); err != nil || before < 1 {
				t.Fatal(before, err)
			}
			dbtest.Fill(t, from)
			path := filepath.Join(t.TempDir(), "before.db")
			if err := from.Copy(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			to := dbtest.Empty(t, d).Open(t)
			r, err := backup.Restore(t.Context(), path, to)
			if err != nil || r.Schema != before {
				t.Fatalf("%+v, %v", r, err)
			}
			if err := schema.Check(t.Context(), to); err != nil {
				t.Fatal(err)
			}
			if was, is := lines(t, from, untouched...), lines(t, to, untouched...); len(was) != len(is) {
				t.Errorf("%d rows became %d", len(was), len(is))
			}
			storetest.Invariants(t, to)
			agent := lines(t, to, "SELECT id FROM agents WHERE state = 'active' ORDER BY id")[0]
			agent = agent[strings.LastIndex(agent, "|")+1:]
			rows, err := ledgerstore.New(to, dbtest.Sealer(), func(binding.Facts, string, string, string) binding.Resolution { return binding.Resolution{} }, ledgerstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			run, err := rows.OpenRun(t.Context(), ledger.NewRun{Agent: agent, Kind: "explicit", Title: "after the restore", Deadline: time.Hour, MaxCalls: 10})
			if err != nil || run.Title != "after the restore" {
				t.Fatalf("%+v, %v", run, err)
			}
			if all, err := rows.RunsOf(t.Context(), []string{agent}, "", 0); err != nil || len(all) < 2 || !slices.ContainsFunc(all, func(r ledger.Run) bool { return r.ID != run.ID && r.Title != "" }) {
				t.Errorf("%+v, %v", all, err)
			}
		})
	}
}

// oddText is of every kind that a column may hold.
const oddText = "é\U0001f600 '\"\\ \n\t$1 ?1 :a @b {} \u202e"

// TestOddValuesComeThrough: text of every kind, blobs of no bytes apart from none.
func TestOddValuesComeThrough(t *testing.T) {
	everyWay(t, func(t *testing.T, from, to *sqldb.DB) {
		if err := from.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			for i, body := range [][]byte{{}, {0}, []byte(oddText), {0xff, 0, '\'', '"'}} {
				if _, err := tx.Exec("INSERT INTO keysets (id, wrapped, master, primary_key, created_at, retired_at) VALUES ($1, $2, '', $3, $4, 0)",
					string(rune('a'+i)), body, oddText, int64(math.MinInt64)); err != nil {
					return err
				}
			}
			_, err := tx.Exec("UPDATE kept_pages SET alias_of = ''")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		const all = "SELECT id, wrapped, primary_key, created_at FROM keysets ORDER BY id"
		before := lines(t, from, all)
		if _, err := backup.Restore(t.Context(), made(t, from), to); err != nil {
			t.Fatal(err)
		}
		if after := lines(t, to, all); !slices.Equal(before, after) || len(after) != 6 {
			t.Errorf("\n was %q\n is  %q", before, after)
		}
	})
}

// TestLargeInstallIsRestored: more values than PostgreSQL takes in a statement, and more bytes than one should carry.
func TestLargeInstallIsRestored(t *testing.T) {
	const many = 17_000 // of four values each
	from, _ := dbtest.Open(t, sqldb.SQLite)
	to := dbtest.Empty(t, sqldb.Postgres).Open(t)
	if err := from.Long(t.Context(), func(tx *sqldb.Tx) error {
		if _, err := tx.Exec("INSERT INTO minute_meters (meter, capability, minute, used) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < $1) SELECT 'm', 'c', n, n FROM c", many); err != nil {
			return err
		}
		for _, id := range []string{"a", "b", "c"} {
			if _, err := tx.Exec("INSERT INTO keysets (id, wrapped, master, primary_key, created_at, retired_at) VALUES ($1, zeroblob(3000000), '', '', 0, 0)", id); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(t.Context(), made(t, from), to); err != nil {
		t.Fatal(err)
	}
	got := lines(t, to, "SELECT count(*), count(DISTINCT minute), CAST(sum(used) AS BIGINT) FROM minute_meters", "SELECT count(*), min(length(wrapped)) FROM keysets")
	if want := []string{fmt.Sprintf("FROM minute_meters|%d|%d|%d", many, many, many*(many+1)/2), "FROM keysets|3|3000000"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
