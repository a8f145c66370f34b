package schema_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// programs are what a program of schema n would have: the released migrations, and after them some that were made up,
// each with a text for both dialects.
func programs(t *testing.T, madeUp ...string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	var first int
	for _, d := range dbtest.Dialects {
		names, err := schema.Files.ReadDir(string(d))
		if err != nil {
			t.Fatal(err)
		}
		first = len(names)
		for _, e := range names {
			text, err := schema.Files.ReadFile(string(d) + "/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			files[string(d)+"/"+e.Name()] = &fstest.MapFile{Data: text}
		}
		for i, text := range madeUp {
			files[fmt.Sprintf("%s/%05d_made_up.sql", d, first+i+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text + "\n-- +goose Down\nSELECT 1;\n")}
		}
	}
	return files
}

const (
	// addition is how a migration should be: programs of versions before go on.
	addition = "ALTER TABLE runs ADD COLUMN colour TEXT;\nCREATE INDEX runs_colour ON runs (colour);\nUPDATE settings SET oldest_schema = 1;"
	broken   = "CREATE TABLE half (a TEXT);\nINSERT INTO nowhere VALUES (1);"
)

// released is the newest schema that this program has.
func released(t *testing.T) int {
	t.Helper()
	names, err := schema.Files.ReadDir(string(sqldb.SQLite))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// breach, behind an addition, shuts the programs that are released out.
func breach(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("UPDATE runs SET colour = 'none';\nUPDATE settings SET oldest_schema = %d;", released(t)+1)
}

func TestEmptyDatabaseIsMigratedOnce(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			db := dbtest.Empty(t, d).Open(t)
			state, err := schema.Look(t.Context(), db)
			newest := state.Known
			if err != nil || newest < 1 || state.Version != 0 {
				t.Fatalf("%+v, %v", state, err)
			}
			if err := schema.Check(t.Context(), db); !errors.Is(err, schema.ErrNeedsMigration) || !strings.Contains(err.Error(), "wayleave migrate") {
				t.Errorf("an empty database: %v", err)
			}
			if n, err := schema.Up(t.Context(), db); n != int(newest) || err != nil {
				t.Fatalf("Up: %d, %v", n, err)
			}
			if n, err := schema.Up(t.Context(), db); n != 0 || err != nil {
				t.Errorf("Up again: %d, %v", n, err)
			}
			if err := schema.Check(t.Context(), db); err != nil {
				t.Error(err)
			}
			if state, err := schema.Look(t.Context(), db); state.Version != newest || state.Known != newest || err != nil {
				t.Errorf("%+v, %v", state, err)
			}
			if d == sqldb.SQLite {
				if all, err := schema.Backups(db.File()); len(all) != 0 || err != nil {
					t.Errorf("an empty database was backed up: %v, %v", all, err)
				}
			}
		})
	}
}

// TestUpgradeKeepsAnInstall: rows that a program of schema 1 wrote are there, unchanged, after all later migrations.
func TestUpgradeKeepsAnInstall(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			db := dbtest.Empty(t, d).Open(t)
			if err := schema.To(t.Context(), db, 1); err != nil {
				t.Fatal(err)
			}
			dbtest.Fill(t, db)
			before := dump(t, db)
			if _, err := schema.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			if n, err := schema.UpWith(t.Context(), db, programs(t, addition)); n != 1 || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			if after := dump(t, db); after != before {
				t.Errorf("rows changed:\n%s\n%s", before, after)
			}
		})
	}
}

// dump gives what tables have in the columns of schema 1, as text.
func dump(t *testing.T, db *sqldb.DB) string {
	t.Helper()
	var b strings.Builder
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		b.Reset()
		for _, query := range []string{
			"SELECT id, state, digest, args, result, why, ended_at FROM tool_calls ORDER BY id",
			"SELECT id, kind, state, audience, conversation_id, deadline, hold_call FROM runs ORDER BY id",
			"SELECT call_id, n, kind, host, url, title, sha256 FROM evidence ORDER BY call_id, n",
			"SELECT id, actor, verb, detail, link, prev, hash FROM audit ORDER BY id",
			"SELECT id, slug, name, state, grants_version, elicitation, created_at FROM agents ORDER BY id",
			"SELECT id, epoch, install, digest_key, audit_key, paused_at, created_at FROM settings",
		} {
			rows := 0
			if err := tx.All(query, nil, func(scan func(...any) error) error {
				values := make([]any, 7)
				into := make([]any, 7)
				for i := range values {
					into[i] = &values[i]
				}
				rows++
				err := scan(into...)
				fmt.Fprintln(&b, values...)
				return err
			}); err != nil || rows == 0 {
				return errors.Join(err, fmt.Errorf("%d rows: %s", rows, query))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestOneVersionBackIsCompatible: a program goes on beside the next one's schema, and is refused by one that shuts it out.
func TestOneVersionBackIsCompatible(t *testing.T) {
	one := programs(t)
	two := programs(t, addition)
	three := programs(t, addition, breach(t))
	first := released(t)
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		check := func(program fs.FS, want error, words ...string) {
			t.Helper()
			err := schema.CheckWith(t.Context(), db, program)
			if !errors.Is(err, want) {
				t.Fatalf("%v, want %v", err, want)
			}
			for _, w := range words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		}
		check(one, nil)
		check(two, schema.ErrNeedsMigration, fmt.Sprint("schema ", first), fmt.Sprint("needs ", first+1), "wayleave migrate")
		if n, err := schema.UpWith(t.Context(), db, two); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		check(two, nil)
		check(one, nil)
		if n, err := schema.UpWith(t.Context(), db, one); n != 0 || err != nil {
			t.Errorf("the older program migrates: %d, %v", n, err)
		}
		if n, err := schema.UpWith(t.Context(), db, three); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		check(three, nil)
		check(two, nil)
		check(one, schema.ErrTooNew, fmt.Sprint("schema ", first+2), fmt.Sprint("knows ", first), "newer program", "backup")
		if _, err := schema.UpWith(t.Context(), db, one); !errors.Is(err, schema.ErrTooNew) {
			t.Errorf("the oldest program migrates: %v", err)
		}
	})
}

// TestFailedMigrationLeavesTheDatabaseAsItWas, and the one before it applied.
func TestFailedMigrationLeavesTheDatabaseAsItWas(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB, _ *dbtest.Clock) {
		if _, err := schema.UpWith(t.Context(), db, programs(t, addition, broken)); err == nil || !strings.Contains(err.Error(), fmt.Sprint("from schema ", released(t))) {
			t.Fatalf("%v", err)
		}
		if err := schema.CheckWith(t.Context(), db, programs(t, addition)); err != nil {
			t.Error(err)
		}
		if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("SELECT * FROM half")
			return err
		}); err == nil {
			t.Error("half a migration is there")
		}
		if n, err := schema.UpWith(t.Context(), db, programs(t, addition, breach(t))); n != 1 || err != nil {
			t.Errorf("mended: %d, %v", n, err)
		}
	})
}

// TestMigrationsAtOnce: several processes start at once; one of them migrates, all of them go on.
func TestMigrationsAtOnce(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			place := dbtest.Empty(t, d)
			const processes = 4
			var wg sync.WaitGroup
			applied := make([]int, processes)
			for i := range processes {
				db := place.Open(t)
				wg.Go(func() {
					var err error
					if applied[i], err = schema.UpWith(t.Context(), db, programs(t, addition, breach(t))); err != nil {
						t.Error(err)
					}
					if err := schema.CheckWith(t.Context(), db, programs(t, addition, breach(t))); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			db := place.Open(t)
			var versions int64
			if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.One("SELECT count(*) FROM schema_versions WHERE version_id > 0", nil, &versions)
				return err
			}); err != nil || versions != int64(released(t)+2) {
				t.Errorf("%d migrations are noted, %v; applied %v", versions, err, applied)
			}
		})
	}
}

// TestBackupBeforeMigration: a SQLite database with rows is copied before it is changed; the copy is the owner's alone,
// opens under the program of before, and three are kept.
func TestBackupBeforeMigration(t *testing.T) {
	db, _ := dbtest.Open(t, sqldb.SQLite)
	dbtest.Fill(t, db)
	before := dump(t, db)
	if _, err := schema.UpWith(t.Context(), db, programs(t, addition)); err != nil {
		t.Fatal(err)
	}
	all, err := schema.Backups(db.File())
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if name := filepath.Base(all[0]); !strings.HasPrefix(name, fmt.Sprintf("wayleave.db.schema-%d.20", released(t))) || !strings.HasSuffix(name, "Z.backup") {
		t.Errorf("its name: %s", name)
	}
	info, err := os.Stat(all[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	old, err := sqldb.OpenCopy(all[0])
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := schema.CheckWith(t.Context(), old, programs(t)); err != nil {
		t.Error(err)
	}
	if got := dump(t, old); got != before {
		t.Errorf("the copy differs:\n%s\n%s", before, got)
	}
	more := []string{addition}
	for range 4 {
		more = append(more, "UPDATE settings SET oldest_schema = 1;")
		if _, err := schema.UpWith(t.Context(), db, programs(t, more...)); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := schema.Backups(db.File())
	if err != nil || len(kept) != 3 || slices.Contains(kept, all[0]) || !strings.Contains(kept[2], fmt.Sprintf("schema-%d.", released(t)+4)) {
		t.Errorf("%v, %v", kept, err)
	}
	leftovers, err := filepath.Glob(filepath.Join(filepath.Dir(db.File()), ".*"))
	if err != nil || len(leftovers) != 0 {
		t.Errorf("left behind: %v, %v", leftovers, err)
	}
}

// TestNoMigrationWithoutItsBackup: where no copy can be made, nothing is changed.
func TestNoMigrationWithoutItsBackup(t *testing.T) {
	db, _ := dbtest.Open(t, sqldb.SQLite)
	if err := schema.Check(t.Context(), db); err != nil { // from here on a reader has the file open
		t.Fatal(err)
	}
	folder := filepath.Dir(db.File())
	if err := os.Rename(folder, folder+".away"); err != nil { // what is open stays open; beside it nothing can be made
		t.Fatal(err)
	}
	_, err := schema.UpWith(t.Context(), db, programs(t, addition))
	if err == nil || !strings.Contains(err.Error(), "before it is migrated") {
		t.Errorf("%v", err)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if err := schema.CheckWith(t.Context(), db, programs(t, addition)); !errors.Is(err, schema.ErrNeedsMigration) {
		t.Errorf("%v", err)
	}
}
