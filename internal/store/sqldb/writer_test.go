package sqldb_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// queue has the writer of a SQLite database busy with one job, so that others wait for it and make a group.
type queue struct {
	db      *sqldb.DB
	waiting func() int
	release chan struct{}
	held    sync.WaitGroup
	group   sync.WaitGroup
	mu      sync.Mutex
	answers map[string]error
}

func hold(t *testing.T, db *sqldb.DB, waiting func() int) *queue {
	t.Helper()
	q := &queue{db: db, waiting: waiting, release: make(chan struct{}), answers: map[string]error{}}
	began := make(chan struct{})
	q.held.Go(func() {
		if err := db.Write(context.WithoutCancel(t.Context()), sqldb.Free, func(*sqldb.Tx) error {
			close(began)
			<-q.release
			return nil
		}); err != nil {
			t.Errorf("the job that holds the writer: %v", err)
		}
	})
	<-began
	return q
}

// add puts a job into the queue, behind those that are there.
func (q *queue) add(ctx context.Context, name string, do func(*sqldb.Tx) error) {
	before := q.waiting()
	q.group.Go(func() {
		err := q.db.Write(ctx, sqldb.Free, do)
		q.mu.Lock()
		defer q.mu.Unlock()
		q.answers[name] = err
	})
	for q.waiting() == before {
		runtime.Gosched()
	}
}

// run lets the writer go on, and gives what each job was told.
func (q *queue) run() map[string]error {
	close(q.release)
	q.held.Wait()
	q.group.Wait()
	return q.answers
}

// lite opens a SQLite database with the table of things.
func lite(t *testing.T) (db *sqldb.DB, waiting func() int) {
	t.Helper()
	db, waiting, err := sqldb.OpenQueue(t.Context(), filepath.Join(t.TempDir(), "wayleave.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	things(t, db)
	return db, waiting
}

// commits counts transactions by the counter in the index of the log, which each of them moves.
func commits(t *testing.T, path string) uint32 {
	t.Helper()
	f, err := os.Open(path + "-shm")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var counter [4]byte
	if _, err := f.ReadAt(counter[:], 8); err != nil {
		t.Fatal(err)
	}
	return binary.NativeEndian.Uint32(counter[:])
}

func TestWaitingJobsAreCommittedTogether(t *testing.T) {
	db, waiting := lite(t)
	q := hold(t, db, waiting)
	before := commits(t, db.File())
	const n = 40
	for i := range n {
		q.add(t.Context(), fmt.Sprint(i), put(fmt.Sprintf("%02d", i), i))
	}
	for name, err := range q.run() {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := len(strings.Fields(keys(t, db))); got != n {
		t.Errorf("%d rows", got)
	}
	if made := commits(t, db.File()) - before; made != 1 { // the job that held the writer changed nothing
		t.Errorf("%d jobs took %d commits", n, made)
	}
}

// TestJobHarmsOnlyItself: whatever a job does, the others of its group are committed.
func TestJobHarmsOnlyItself(t *testing.T) {
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		do   func(*sqldb.Tx) error
		want error
	}{
		"an error":                         {func(tx *sqldb.Tx) error { return errors.Join(put("bad", 1)(tx), mine) }, mine},
		"a constraint":                     {func(tx *sqldb.Tx) error { return errors.Join(put("bad", 1)(tx), put("first", 1)(tx)) }, sqldb.ErrConstraint},
		"a panic":                          {func(tx *sqldb.Tx) error { _ = put("bad", 1)(tx); panic("p") }, sqldb.ErrPanic},
		"a rollback of everything":         {func(tx *sqldb.Tx) error { _ = put("bad", 1)(tx); _, err := tx.Exec("ROLLBACK"); return err }, sqldb.ErrUnavailable},
		"a rollback of everything, failed": {func(tx *sqldb.Tx) error { _, err := tx.Exec("ROLLBACK"); return errors.Join(err, mine) }, mine},
		"a full disk": {func(tx *sqldb.Tx) error {
			var pages int64
			if _, err := tx.One("PRAGMA page_count", nil, &pages); err != nil {
				return err
			}
			if _, err := tx.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+4)); err != nil {
				return err
			}
			_, err := tx.Exec("INSERT INTO things (k, b) VALUES ('bad', zeroblob(1000000))")
			return err
		}, sqldb.ErrUnavailable},
		"a commit that is refused": {func(tx *sqldb.Tx) error {
			for _, q := range []string{"PRAGMA defer_foreign_keys = ON", "CREATE TABLE p (id TEXT PRIMARY KEY)", "CREATE TABLE c (p TEXT REFERENCES p(id))", "INSERT INTO c VALUES ('none')"} {
				if _, err := tx.Exec(q); err != nil {
					return err
				}
			}
			return nil
		}, sqldb.ErrConstraint},
	} {
		t.Run(name, func(t *testing.T) {
			db, waiting := lite(t)
			q := hold(t, db, waiting)
			q.add(t.Context(), "first", put("first", 1))
			q.add(t.Context(), "bad", c.do)
			q.add(t.Context(), "last", put("last", 1))
			answers := q.run()
			if !errors.Is(answers["bad"], c.want) || answers["first"] != nil || answers["last"] != nil {
				t.Errorf("%v", answers)
			}
			write(t, db, put("later", 1))
			if got := keys(t, db); got != "first last later" {
				t.Errorf("rows: %s", got)
			}
		})
	}
}

// TestFullDiskIsARefusal: nothing is written, the words say what to do, and it goes on when there is room again.
func TestFullDiskIsARefusal(t *testing.T) {
	db, _ := lite(t)
	write(t, db, func(tx *sqldb.Tx) error {
		var pages int64
		if _, err := tx.One("PRAGMA page_count", nil, &pages); err != nil {
			return err
		}
		_, err := tx.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages))
		return err
	})
	big := func(tx *sqldb.Tx) error {
		_, err := tx.Exec("INSERT INTO things (k, b) VALUES ('big', zeroblob(100000))")
		return err
	}
	err := db.Write(t.Context(), sqldb.Calls, big)
	if !errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrAway) || !strings.Contains(err.Error(), "disk is full; free space") {
		t.Errorf("%v", err)
	}
	if got := keys(t, db); got != "" {
		t.Errorf("rows: %s", got)
	}
	// The bound was the connection's, and the connection is not used again after such a fault.
	write(t, db, big)
}

// gone is a caller who has left and has not woken yet to say so: only who asks finds out.
type gone struct {
	context.Context
	left atomic.Bool
}

func (g *gone) Err() error {
	if g.left.Load() {
		return context.Canceled
	}
	return nil
}

func TestCallerWhoLeftIsNotWorkedFor(t *testing.T) {
	db, waiting := lite(t)
	q := hold(t, db, waiting)
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan error)
	go func() { told <- db.Write(ctx, sqldb.Free, put("left", 1)) }()
	for waiting() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-told; !errors.Is(err, context.Canceled) { // while the writer is still held
		t.Errorf("%v", err)
	}
	unseen := &gone{Context: t.Context()}
	q.add(unseen, "unseen", put("unseen", 1))
	unseen.left.Store(true)
	q.add(t.Context(), "stayed", put("stayed", 1))
	if err := q.run()["unseen"]; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := keys(t, db); got != "stayed" {
		t.Errorf("rows: %s", got)
	}
}

// TestGoroutineThatEndsInAJob: a test that fails inside a transaction ends the writer's goroutine, and must not hang
// all others.
func TestGoroutineThatEndsInAJob(t *testing.T) {
	db, waiting := lite(t)
	q := hold(t, db, waiting)
	q.add(t.Context(), "ends", func(tx *sqldb.Tx) error {
		_ = put("bad", 1)(tx)
		runtime.Goexit()
		return nil
	})
	if err := q.run()["ends"]; !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	write(t, db, put("later", 1))
	if got := keys(t, db); got != "later" {
		t.Errorf("rows: %s", got)
	}
}

func TestCloseFinishesWhatRuns(t *testing.T) {
	db, waiting := lite(t)
	q := hold(t, db, waiting)
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	close(q.release)
	q.held.Wait() // it was told that it is committed
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for _, end := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(db.File() + end); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", end, err)
		}
	}
}

// TestTM094DatabaseFilesAreTheirOwnersAlone, also those that SQLite makes beside the database, and one that was laxer before.
func TestTM094DatabaseFilesAreTheirOwnersAlone(t *testing.T) {
	place := dbtest.Empty(t, sqldb.SQLite)
	if err := os.WriteFile(place.Address, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(place.Address, 0o666); err != nil {
		t.Fatal(err)
	}
	db := place.Open(t)
	things(t, db)
	for _, end := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(place.Address + end)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", end, info.Mode(), err)
		}
	}
}

// TestPathOfAnyCharacters: what a URI gives a meaning to is a character of a file's name like others.
func TestPathOfAnyCharacters(t *testing.T) {
	for _, name := range []string{"a b", "a?mode=memory", "a#b", "a%20b", "é&x=1", "a;b", "a'b\"c"} {
		folder := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name+".db")
		db, err := sqldb.OpenSQLite(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		things(t, db)
		copied := filepath.Join(folder, "copy of "+name)
		if err := db.Copy(t.Context(), copied); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 2 {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: nothing is in it: %v", name, err)
		}
		c, err := sqldb.OpenCopy(copied)
		if err != nil {
			t.Fatal(err)
		}
		if got := keys(t, c); got != "" {
			t.Errorf("%s: %s", name, got)
		}
		_ = c.Close()
	}
}

// TestDurability: what the file and the connection are set to is what is promised.
func TestDurability(t *testing.T) {
	db, _ := lite(t)
	write(t, db, func(tx *sqldb.Tx) error {
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "secure_delete": "1", "fullfsync": "1", "trusted_schema": "0"} {
			var got string
			if _, err := tx.One("PRAGMA "+pragma, nil, &got); err != nil {
				return err
			}
			if got != want {
				t.Errorf("%s is %s, want %s", pragma, got, want)
			}
		}
		return nil
	})
}
