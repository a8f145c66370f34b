// This file keeps what one connection of SQLite has prepared. Its statements are compiled at every use otherwise, which
// costs more than most of them.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// statementsAtMost is how many prepared statements a connection keeps between transactions.
const statementsAtMost = 256

// statements are a connection and what it has prepared. They are for one goroutine.
type statements struct {
	conn     *sql.Conn // nil after a fault, until it is asked for again
	prepared map[string]*prepared
	turns    int64
}

type prepared struct {
	*sql.Stmt
	turn int64 // in which it was used last
}

// connect takes a connection where there is none.
func (s *statements) connect(ctx context.Context, pool *sql.DB) (err error) {
	if s.conn == nil {
		s.prepared = make(map[string]*prepared)
		s.conn, err = pool.Conn(ctx)
		if err != nil {
			s.conn = nil
		}
	}
	return err
}

// disconnect ends the connection, and a transaction on it.
func (s *statements) disconnect() error {
	s.forget(func(*prepared) bool { return true })
	if s.conn == nil {
		return nil
	}
	// The pool would keep it, unless it is told that it is bad.
	err := s.conn.Raw(func(any) error { return driver.ErrBadConn })
	s.conn = nil
	if errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}

// turn begins another transaction's time: it closes the statements that were not used for longest.
func (s *statements) turn() {
	s.turns++
	for age := int64(64); len(s.prepared) > statementsAtMost && age >= 0; age = age/2 - 1 {
		s.forget(func(p *prepared) bool { return p.turn < s.turns-age })
	}
}

func (s *statements) forget(which func(*prepared) bool) {
	for query, p := range s.prepared {
		if which(p) {
			_ = p.Close()
			delete(s.prepared, query)
		}
	}
}

// statement gives a prepared statement.
func (s *statements) statement(ctx context.Context, query string) (*prepared, error) {
	if s.conn == nil {
		return nil, sql.ErrConnDone
	}
	if p := s.prepared[query]; p != nil {
		p.turn = s.turns
		return p, nil
	}
	made, err := s.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	p := &prepared{made, s.turns}
	s.prepared[query] = p
	return p, nil
}

// exec runs what belongs to a transaction itself. No time bounds it: an interrupt there would leave in doubt what
// happened.
func (s *statements) exec(query string) error {
	_, err := s.ExecContext(context.Background(), query)
	return err
}

// ExecContext is the querier's.
func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	p, err := s.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return p.ExecContext(ctx, args...)
}

// QueryContext is the querier's.
func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	p, err := s.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return p.QueryContext(ctx, args...)
}
