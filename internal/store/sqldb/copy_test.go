package sqldb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestCopyWhileWriting: a copy is one state: of two rows that every transaction changes together, both or none.
func TestCopyWhileWriting(t *testing.T) {
	db, _ := lite(t)
	write(t, db, func(tx *sqldb.Tx) error { return errors.Join(put("hot", 0)(tx), put("seen", 0)(tx)) })
	stop := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				count(t, db, 4, 5)
			}
		}
	})
	for i := range 5 {
		path := filepath.Join(t.TempDir(), "copy.db")
		if err := db.Copy(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied, err := sqldb.OpenCopy(path)
		if err != nil {
			t.Fatal(err)
		}
		var hot, seen int64
		if err := copied.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.One("SELECT a.i, b.i FROM things a, things b WHERE a.k = 'hot' AND b.k = 'seen'", nil, &hot, &seen)
			return err
		}); err != nil || hot != seen {
			t.Errorf("copy %d: %d and %d, %v", i, hot, seen, err)
		}
		if err := copied.Write(t.Context(), sqldb.Free, put("x", 1)); err == nil {
			t.Error("a copy was written to")
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("to open a copy changed it: %v", err)
		}
		if beside, err := filepath.Glob(path + "?*"); err != nil || beside != nil {
			t.Errorf("beside the copy: %v, %v", beside, err)
		}
	}
	close(stop)
	writing.Wait()
}

func TestCopyOverwritesNothingAndLeavesNothing(t *testing.T) {
	db, _ := lite(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "there")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Copy(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if err := db.Copy(t.Context(), filepath.Join(folder, "none", "copy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Copy(ctx, filepath.Join(folder, "cancelled")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if _, err := sqldb.OpenCopy(filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestTM102DeletedValuesAreInNoFile: what was overwritten or deleted is in none of the database's files after a cut, nor
// in a copy; large values, which have pages of their own, among them. Readers that come and go do not hinder it.
func TestTM102DeletedValuesAreInNoFile(t *testing.T) {
	db, _ := lite(t)
	canary := func(n int) []byte { return fmt.Appendf(nil, "canary-%d-of-the-deleted", n) }
	write(t, db, func(tx *sqldb.Tx) error {
		for n := range 50 {
			if _, err := tx.Exec("INSERT INTO things (k, b) VALUES ($1, $2)", fmt.Sprint(n), bytes.Repeat(canary(n), 1+n*40)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.Cut(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := func() (all []byte) {
		for _, end := range []string{"", "-wal", "-shm"} {
			b, err := os.ReadFile(db.File() + end)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	found := func(all []byte) (names []string) {
		for n := range 50 {
			if bytes.Contains(all, canary(n)) {
				names = append(names, string(canary(n)))
			}
		}
		return names
	}
	if got := found(files()); len(got) != 50 {
		t.Fatalf("only %d canaries are there at first", len(got))
	}
	write(t, db, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("UPDATE things SET b = NULL WHERE length(k) = 2")
		return err
	})
	write(t, db, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM things WHERE length(k) = 1")
		return err
	})
	reading, done := make(chan struct{}), make(chan struct{})
	go func() {
		_ = db.Read(context.WithoutCancel(t.Context()), func(tx *sqldb.Tx) error {
			var n int64
			_, err := tx.One("SELECT count(*) FROM things", nil, &n)
			close(reading)
			<-done
			return err
		})
	}()
	<-reading
	write(t, db, put("later", 1)) // the reader still needs the log
	if err := db.Cut(t.Context()); !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("beside a reader: %v", err)
	}
	cut := make(chan error)
	go func() { cut <- db.Cut(t.Context()) }()
	close(done)
	if err := <-cut; err != nil {
		t.Fatal(err)
	}
	if got := found(files()); got != nil {
		t.Errorf("still there: %v", got)
	}
	if log, err := os.Stat(db.File() + "-wal"); err != nil || log.Size() != 0 {
		t.Errorf("the log was not emptied: %v, %v", log, err)
	}
	path := filepath.Join(t.TempDir(), "copy")
	if err := db.Copy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(path)
	if got := found(copied); err != nil || got != nil {
		t.Errorf("in the copy: %v, %v", got, err)
	}
}

func TestCutVacuumsPostgreSQL(t *testing.T) {
	db := dbtest.Empty(t, sqldb.Postgres).Open(t)
	things(t, db)
	write(t, db, put("a", 1))
	write(t, db, func(tx *sqldb.Tx) error { _, err := tx.Exec("DELETE FROM things"); return err })
	if err := db.Cut(t.Context()); err != nil {
		t.Fatal(err)
	}
	var size int64
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.One("SELECT pg_relation_size('things')", nil, &size)
		return err
	}); err != nil || size != 0 { // a table whose rows are all dead has its pages taken away
		t.Errorf("%d bytes, %v", size, err)
	}
	if err := db.Copy(t.Context(), filepath.Join(t.TempDir(), "copy")); err == nil || !strings.Contains(err.Error(), "SQLite") {
		t.Errorf("%v", err)
	}
}
