//go:build unix

package sqldb_test

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// strangersFile names the database to a child process that is this test again, as another program that reads SQLite.
const strangersFile = "WAYLEAVE_TEST_STRANGERS_FILE"

// inUse are the bytes that everybody who has a SQLite file open keeps locked together: the first one and how many.
const inUseFrom, inUseLength = 0x40000002, 510

// TestAnotherProgramSeesThatTheDatabaseIsInUse: this process opens it more than once, and closes one of them. A program that
// thinks itself alone takes the log away when it is done (of SQLite before 3.51), and what is written here would be lost.
func TestAnotherProgramSeesThatTheDatabaseIsInUse(t *testing.T) {
	if file := os.Getenv(strangersFile); file != "" {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		wish := unix.Flock_t{Type: unix.F_WRLCK, Start: inUseFrom, Len: inUseLength}
		if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &wish); err != nil {
			t.Fatal(err)
		}
		if wish.Type == unix.F_UNLCK {
			t.Error("another program may have the database to itself")
		}
		return
	}
	db, _ := lite(t)
	look := func(when string) {
		t.Helper()
		stranger := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnotherProgramSeesThatTheDatabaseIsInUse$")
		stranger.Env = append(os.Environ(), strangersFile+"="+db.File())
		if out, err := stranger.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", when, err, out)
		}
	}
	write(t, db, put("before", 1))
	look("opened once")
	again, err := sqldb.OpenSQLite(t.Context(), db.File(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := keys(t, again); got != "before" {
		t.Errorf("rows: %s", got)
	}
	look("opened twice")
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	look("one of two closed")
}
