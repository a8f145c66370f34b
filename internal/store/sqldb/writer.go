// This file is the one writer of SQLite: it commits together what waits.
//
// A commit waits for the disk, and sixteen callers wait for it together. Each job runs in a savepoint, so that one that
// fails is undone alone. Where SQLite undoes the whole transaction by itself (a full disk, an interrupt), the others are
// run again, each in a transaction of its own.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// groupAtMost is how many waiting transactions one commit takes.
	groupAtMost = 64
	// busyAttempts times busyWait is how long another process may write before ours are refused.
	busyAttempts = 5
	// statementsAtMost is how many prepared statements are kept between groups.
	statementsAtMost = 256
)

// job is a transaction that waits for its turn.
type job struct {
	ctx  context.Context
	do   func(*Tx) error
	turn atomic.Int32 // waiting, taken by the writer, or left by its caller: whoever is first decides
	done chan error   // takes one answer and never blocks
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
	pool     *sql.DB
	conn     *sql.Conn // nil after a fault, until the next group
	prepared map[string]*prepared
	groups   int64
	jobs     chan *job
	quit     chan struct{}
	ended    chan struct{}
}

type prepared struct {
	*sql.Stmt
	group int64 // in which it was used last
}

func newWriter(ctx context.Context, pool *sql.DB) (*writer, error) {
	w := &writer{pool: pool, prepared: make(map[string]*prepared), jobs: make(chan *job, groupAtMost), quit: make(chan struct{}), ended: make(chan struct{})}
	if err := w.connect(ctx); err != nil {
		return nil, err
	}
	go w.run()
	return w, nil
}

func (w *writer) write(ctx context.Context, _ Lock, do func(*Tx) error) error {
	j := &job{ctx: ctx, do: do, done: make(chan error, 1)}
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
		var group []*job
		select {
		case <-w.quit:
			orderly = true
			return
		case j := <-w.jobs:
			group = append(group, j)
		}
	gather:
		for len(group) < groupAtMost {
			select {
			case j := <-w.jobs:
				group = append(group, j)
			default:
				break gather
			}
		}
		w.group(group)
	}
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
	w.groups++
	w.trim()
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
		for range w.commit([]*job{j}) {
			j.answer(unavailable("it undoes the transaction, again and again", sql.ErrTxDone))
		}
	}
}

// commit runs jobs in one transaction and answers them. It gives back those that had no fault of their own and must be
// run again, because SQLite undid the transaction under them.
func (w *writer) commit(jobs []*job) (again []*job) {
	over := false
	defer func() {
		if !over {
			w.abandon()
		}
	}()
	refuse := func(err error) {
		for _, j := range jobs {
			j.answer(err)
		}
	}
	if err := w.beginImmediate(); err != nil {
		refuse(fault(SQLite, err))
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
	err = commitFault(SQLite, err)
	for i, j := range jobs {
		switch {
		case answers[i] != nil:
			j.answer(answers[i])
		case err != nil && len(jobs) > 1 && !errors.Is(err, ErrInDoubt):
			again = append(again, j) // it may be another's fault
		default:
			j.answer(err)
		}
	}
	return again
}

// one runs a job in a savepoint. alive says that the transaction is still there, for the next one.
func (w *writer) one(j *job) (err error, alive bool) {
	if err := w.exec("SAVEPOINT job"); err != nil {
		return fault(SQLite, err), false
	}
	// The time is looked at between statements: a context that may end makes the driver start a goroutine for each.
	tx := &Tx{ctx: context.Background(), q: w, dialect: SQLite, until: time.Now().Add(bound)}
	err = tx.run(j.do)
	if err != nil {
		if w.exec("ROLLBACK TO job") != nil {
			return err, false
		}
	}
	return err, w.exec("RELEASE job") == nil
}

// beginImmediate waits for other processes that write. A busy BEGIN did nothing and may be repeated.
func (w *writer) beginImmediate() error {
	if w.conn == nil {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		if err := w.connect(ctx); err != nil {
			return err
		}
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

func (w *writer) connect(ctx context.Context) (err error) {
	w.conn, err = w.pool.Conn(ctx)
	return err
}

func (w *writer) disconnect() error {
	w.forget(func(*prepared) bool { return true })
	if w.conn == nil {
		return nil
	}
	// The pool would keep it, unless it is told that it is bad.
	err := w.conn.Raw(func(any) error { return driver.ErrBadConn })
	w.conn = nil
	if errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}

// trim closes the statements that were not used for longest. It runs between groups, when none is in use.
func (w *writer) trim() {
	for age := int64(64); len(w.prepared) > statementsAtMost && age >= 0; age = age/2 - 1 {
		w.forget(func(p *prepared) bool { return p.group < w.groups-age })
	}
}

func (w *writer) forget(which func(*prepared) bool) {
	for query, p := range w.prepared {
		if which(p) {
			_ = p.Close()
			delete(w.prepared, query)
		}
	}
}

// exec runs what belongs to the transaction itself. No time bounds it: an interrupt there would leave in doubt what
// happened.
func (w *writer) exec(query string) error {
	if w.conn == nil {
		return sql.ErrConnDone
	}
	_, err := w.ExecContext(context.Background(), query)
	return err
}

// statement gives a prepared statement.
func (w *writer) statement(ctx context.Context, query string) (*prepared, error) {
	if p := w.prepared[query]; p != nil {
		p.group = w.groups
		return p, nil
	}
	s, err := w.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	p := &prepared{s, w.groups}
	w.prepared[query] = p
	return p, nil
}

// ExecContext is the querier's.
func (w *writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// QueryContext is the querier's.
func (w *writer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}
