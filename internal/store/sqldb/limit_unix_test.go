//go:build unix

package sqldb_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// TestDiskThatTakesNoMore: a file that may not grow is a disk that fails in the midst of a commit: the caller is told
// that it is not done, or not known, and what was said to be done is there. It runs in a process of its own, since the
// bound holds for a whole process.
func TestDiskThatTakesNoMore(t *testing.T) {
	const variable = "WAYLEAVE_TEST_CHILD_FULL"
	path := os.Getenv(variable)
	if path == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiskThatTakesNoMore$", "-test.v")
		child.Env = append(os.Environ(), variable+"="+filepath.Join(t.TempDir(), "wayleave.db"))
		if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	db, err := sqldb.OpenSQLite(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	things(t, db)
	write(t, db, put("first", 1))
	write(t, db, func(tx *sqldb.Tx) error { // the log is to be the longest of the files
		_, err := tx.Exec("UPDATE things SET b = zeroblob(200000)")
		return err
	})
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	log, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(log.Size()) + 2000, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	// Somebody reads all the while, so that the log cannot begin anew.
	reading, done := make(chan struct{}), make(chan error)
	release := make(chan struct{})
	go func() {
		done <- db.Read(context.WithoutCancel(t.Context()), func(tx *sqldb.Tx) error {
			var n int64
			_, err := tx.One("SELECT count(*) FROM things", nil, &n)
			close(reading)
			<-release
			return err
		})
	}()
	<-reading
	for range 3 {
		err := db.Write(t.Context(), sqldb.Calls, put("lost", 1))
		if !errors.Is(err, sqldb.ErrInDoubt) {
			t.Fatalf("%v", err)
		}
		t.Log(err)
	}
	if got := keys(t, db); got != "first" {
		t.Errorf("rows: %s", got)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	write(t, db, put("later", 1))
	if got := keys(t, db); got != "first later" {
		t.Errorf("rows: %s", got)
	}
}
