// This file is the one writer of SQLite: it commits together what waits.
//
// A commit waits for the disk, and sixteen callers wait for it together. A job that fails is undone alone. Where SQLite
// undoes the whole transaction by itself (a full disk, an interrupt), the others are run again, each in a transaction of
// its own.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// groupAtMost is how many waiting transactions one commit takes.
	groupAtMost = 64
	// aheadWaits is how long what need not be on the disk waits for a commit to share.
	aheadWaits = 2 * time.Millisecond
	// waryFor is how many groups are run with savepoints after a job of a group failed.
	waryFor = 64
	// busyAttempts times busyWait is how long another process may write before ours are refused.
	busyAttempts = 5
)

// job is a transaction that waits for its turn.
type job struct {
	ctx   context.Context
	do    func(*Tx) error
	ahead bool         // its commit need not wait for the disk
	turn  atomic.Int32 // waiting, taken by the writer, or left by its caller: whoever is first decides
	done  chan error   // takes one answer and never blocks
}

const (
	waiting int32 = iota
	taken
	left
)

func (j *job) answer(err error) {
	select {
	case j.done <- err:
	default: // it has one
	}
}

type writer struct {
	statements
	pool  *sql.DB
	lax   bool // commits of the connection do not wait for the disk
	wary  int  // groups that are still run with savepoints
	jobs  chan *job
	quit  chan struct{}
	ended chan struct{}
}

func newWriter(ctx context.Context, pool *sql.DB) (*writer, error) {
	w := &writer{pool: pool, jobs: make(chan *job, groupAtMost), quit: make(chan struct{}), ended: make(chan struct{})}
	if err := w.connect(ctx, w.pool); err != nil {
		return nil, err
	}
	go w.run()
	return w, nil
}

func (w *writer) write(ctx context.Context, wish wish, do func(*Tx) error) error {
	j := &job{ctx: ctx, do: do, ahead: wish.ahead, done: make(chan error, 1)}
	select {
	case <-w.quit:
		return ErrClosed
	default:
	}
	select {
	case w.jobs <- j:
	case <-w.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-j.done:
		return err
	case <-w.ended:
	case <-ctx.Done():
		if j.turn.CompareAndSwap(waiting, left) {
			return ctx.Err()
		}
		return <-j.done // it runs, and every job that runs is answered
	}
	select {
	case err := <-j.done:
		return err
	default:
		return ErrClosed
	}
}

func (w *writer) stop() error {
	close(w.quit)
	<-w.ended
	return w.disconnect()
}

// run takes what waits, in the order of its coming, until it is told to quit.
func (w *writer) run() {
	orderly := false
	defer func() {
		if orderly {
			close(w.ended)
		} else {
			go w.run() // a job ended this goroutine, as t.FailNow does
		}
	}()
	for {
		select {
		case <-w.quit:
			orderly = true
			return
		case j := <-w.jobs:
			w.group(w.gather(j))
		}
	}
}

// gather takes what waits with a job. What need not be on the disk waits a moment for what must be, whose commit it then
// shares: the Write that follows it comes soon.
func (w *writer) gather(first *job) []*job {
	group := []*job{first}
	var moment <-chan time.Time
	for len(group) < groupAtMost {
		select {
		case j := <-w.jobs:
			group = append(group, j)
			continue
		default:
		}
		if moment != nil || slices.ContainsFunc(group, func(j *job) bool { return !j.ahead }) {
			break
		}
		moment = time.After(aheadWaits)
		select {
		case j := <-w.jobs:
			group = append(group, j)
		case <-moment:
		case <-w.quit:
		}
	}
	return group
}

// group runs jobs in one transaction, and those that it broke under, each in its own.
func (w *writer) group(group []*job) {
	defer func() { // what has no answer by now was undone: the goroutine is being ended
		for _, j := range group {
			if j.turn.Load() == taken {
				j.answer(unavailable("its writer was ended", context.Canceled))
			}
		}
	}()
	w.statements.turn()
	mine := group[:0:0]
	for _, j := range group {
		// A caller that left before its turn is not worked for.
		if err := j.ctx.Err(); err != nil && j.turn.CompareAndSwap(waiting, left) {
			j.answer(err)
		} else if j.turn.CompareAndSwap(waiting, taken) {
			mine = append(mine, j)
		}
	}
	if len(mine) == 0 {
		return
	}
	for _, j := range w.commit(mine) {
		w.commit([]*job{j})
	}
}

// commit runs jobs in one transaction and answers them. Of several it gives back those that had no fault of their own and
// must be run again, each in a transaction of its own.
//
// Most jobs succeed, and a savepoint for each costs more than some of them: so they are run without, and where one fails
// all are undone and run again with savepoints, and so are those that come soon after.
func (w *writer) commit(jobs []*job) (again []*job) {
	if w.wary > 0 && len(jobs) > 1 {
		w.wary--
		return w.apart(jobs)
	}
	again, done := w.together(jobs)
	if !done {
		w.wary = waryFor
		return w.apart(jobs)
	}
	return again
}

// together runs jobs without savepoints. done is false where one of several failed: then nothing was written or answered.
func (w *writer) together(jobs []*job) (again []*job, done bool) {
	over := false
	defer func() {
		if !over {
			w.abandon()
		}
	}()
	if err := w.begin(jobs); err != nil {
		return nil, true
	}
	for _, j := range jobs {
		if err := w.work(j); err != nil {
			over = w.exec("ROLLBACK") == nil
			if len(jobs) > 1 {
				return nil, false
			}
			j.answer(err)
			return nil, true
		}
	}
	err := w.exec("COMMIT")
	over = err == nil
	return answer(jobs, make([]error, len(jobs)), commitFault(SQLite, err)), true
}

// apart runs jobs in a savepoint each, so that one that fails is undone alone.
func (w *writer) apart(jobs []*job) (again []*job) {
	over := false
	defer func() {
		if !over {
			w.abandon()
		}
	}()
	if err := w.begin(jobs); err != nil {
		return nil
	}
	answers := make([]error, len(jobs))
	for i, j := range jobs {
		alive := false
		if answers[i], alive = w.one(j); alive {
			continue
		}
		// The transaction is gone, and with it what the jobs before this one did. An error of this job's own stands.
		if answers[i] != nil {
			j.answer(answers[i])
		} else {
			again = append(again, j)
		}
		for k, other := range jobs {
			switch {
			case k < i && answers[k] != nil:
				other.answer(answers[k])
			case k != i:
				again = append(again, other)
			}
		}
		return again
	}
	err := w.exec("COMMIT")
	over = err == nil
	return answer(jobs, answers, commitFault(SQLite, err))
}

// answer tells jobs how they ended, those that had no fault of their own by how the commit did. Where it failed it may be
// another's fault: these are given back.
func answer(jobs []*job, answers []error, commit error) (again []*job) {
	for i, j := range jobs {
		switch {
		case answers[i] != nil:
			j.answer(answers[i])
		case commit != nil && len(jobs) > 1 && !errors.Is(commit, ErrInDoubt):
			again = append(again, j)
		default:
			j.answer(commit)
		}
	}
	return again
}

// begin begins the transaction of jobs, or answers them all.
func (w *writer) begin(jobs []*job) error {
	err := w.beginImmediate(!slices.ContainsFunc(jobs, func(j *job) bool { return !j.ahead }))
	if err != nil {
		for _, j := range jobs {
			j.answer(fault(SQLite, err))
		}
	}
	return err
}

// one runs a job in a savepoint. alive says that the transaction is still there, for the next one.
func (w *writer) one(j *job) (err error, alive bool) {
	if err := w.exec("SAVEPOINT job"); err != nil {
		return fault(SQLite, err), false
	}
	err = w.work(j)
	if err != nil {
		if w.exec("ROLLBACK TO job") != nil {
			return err, false
		}
	}
	return err, w.exec("RELEASE job") == nil
}

// work runs a job in the transaction that there is.
func (w *writer) work(j *job) error {
	// The time is looked at between statements: a context that may end makes the driver start a goroutine for each.
	tx := &Tx{ctx: context.Background(), q: w, dialect: SQLite, until: time.Now().Add(bound)}
	return tx.run(j.do)
}

// beginImmediate waits for other processes that write. A busy BEGIN did nothing and may be repeated. ahead says that the
// commit need not wait for the disk: the log is written in order, so one that does takes all before it along.
func (w *writer) beginImmediate(ahead bool) error {
	if w.conn == nil {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		if err := w.connect(ctx, w.pool); err != nil {
			return err
		}
		w.lax = false // as connections are set up
	}
	if ahead != w.lax {
		// SQLite sets it while it prepares the statement, so none is kept.
		if _, err := w.conn.ExecContext(context.Background(), map[bool]string{false: "PRAGMA synchronous = FULL", true: "PRAGMA synchronous = NORMAL"}[ahead]); err != nil {
			return err
		}
		w.lax = ahead
	}
	for n := 1; ; n++ {
		err := w.exec("BEGIN IMMEDIATE")
		var e *sqlite.Error
		if err == nil || n == busyAttempts || !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
	}
}

// abandon ends whatever transaction there is, and the connection with it: after a fault nothing on it is trusted. A
// transaction that was not committed is undone by that.
func (w *writer) abandon() {
	_ = w.exec("ROLLBACK")
	_ = w.disconnect()
}
