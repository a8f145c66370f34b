// This file reads from SQLite: a few connections, each with its statements.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// readers are the connections that read, used last first, so that few are opened and these know their statements.
type readers struct {
	pool *sql.DB
	free chan struct{} // one token for each that may read at once

	mu     sync.Mutex
	idle   []*statements
	closed bool
}

func newReaders(pool *sql.DB) *readers {
	r := &readers{pool: pool, free: make(chan struct{}, readersAtMost)}
	for range readersAtMost {
		r.free <- struct{}{}
	}
	return r
}

// read runs do in a transaction that sees one state of the database and changes nothing.
func (r *readers) read(ctx context.Context, do func(*Tx) error) error {
	return r.with(ctx, func(s *statements) (whole bool, err error) {
		if err := s.exec("BEGIN"); err != nil {
			return false, fault(SQLite, err)
		}
		err = reading(s).run(do)
		return s.exec("ROLLBACK") == nil, err
	})
}

// one runs do, which reads by one statement, without a transaction. What failed is not used again: nobody knows what of
// the statement is left.
func (r *readers) one(ctx context.Context, do func(*Tx) error) error {
	return r.with(ctx, func(s *statements) (whole bool, err error) {
		err = reading(s).run(do)
		return err == nil, err
	})
}

// reading is a transaction's hand on a connection. As the writer does: a context that may end makes the driver start two
// goroutines for each statement.
func reading(s *statements) *Tx {
	return &Tx{ctx: context.Background(), q: s, dialect: SQLite, until: time.Now().Add(bound)}
}

// with lends do a connection, which is not used again unless it is whole.
func (r *readers) with(ctx context.Context, do func(*statements) (whole bool, err error)) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	defer func() { r.free <- struct{}{} }()
	s, err := r.take()
	if err != nil {
		return err
	}
	whole := false
	defer func() {
		if !whole {
			_ = s.disconnect()
			return
		}
		r.put(s)
	}()
	if err := s.connect(context.WithoutCancel(ctx), r.pool); err != nil {
		return fault(SQLite, err)
	}
	s.turn()
	whole, err = do(s)
	return err
}

// wait waits for a turn as long as the caller does, and no longer than a transaction may take.
func (r *readers) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-r.free:
		return nil
	default:
	}
	waiting, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	select {
	case <-r.free:
		return nil
	case <-waiting.Done():
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fault(SQLite, waiting.Err())
	}
}

func (r *readers) take() (*statements, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if n := len(r.idle); n > 0 {
		s := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return s, nil
	}
	return &statements{}, nil
}

func (r *readers) put(s *statements) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = s.disconnect()
		return
	}
	r.idle = append(r.idle, s)
}

// close ends the connections; one that reads ends when it has read.
func (r *readers) close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, s := range r.idle {
		err = errors.Join(err, s.disconnect())
	}
	r.idle = nil
	return err
}
