// This file is the transaction: the same values and the same refusals on both databases.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

// querier is what a transaction of database/sql and the writer have in common.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Tx is a transaction under way. It is for one goroutine, and one statement at a time: none may run while rows of
// another are read. After a statement failed every further one fails likewise, and nothing is committed.
//
// Values are int64, text, []byte and NULL, and what stands for them: all integers, bool as 0 and 1, named types of
// these, pointers and sql.Null of these. Text is UTF-8 without NUL. Parameters are $1, $2, … on both databases; where
// PostgreSQL cannot see a parameter's type (`$1 >= 1` makes it 32 bits wide), write CAST($1 AS BIGINT).
type Tx struct {
	ctx     context.Context
	q       querier
	dialect Dialect
	failed  error
	reading bool
	until   time.Time // no statement begins and no row is read after it; zero where the context says so
}

// Dialect says which database it is.
func (tx *Tx) Dialect() Dialect { return tx.dialect }

// Exec runs one statement and says how many rows it changed. It takes none that begins or ends a transaction.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	if controls(query) {
		return 0, tx.fail(unavailable("a statement of it would end the transaction, which others share", errors.New(query)))
	}
	args, err := tx.prepare(args)
	if err != nil {
		return 0, err
	}
	r, err := tx.q.ExecContext(tx.ctx, query, args...)
	if err != nil {
		return 0, tx.fail(err)
	}
	n, err := r.RowsAffected()
	return n, tx.fail(err)
}

// controls says that a statement is one of those about transactions.
func controls(query string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(query), " ")
	switch strings.ToUpper(strings.TrimRight(word, ";")) {
	case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "START", "ABORT":
		return true
	}
	return false
}

// One reads the first row of a query into dest and says whether there was one.
func (tx *Tx) One(query string, args []any, dest ...any) (found bool, err error) {
	err = tx.rows(query, args, func(rows *sql.Rows) error {
		if !rows.Next() {
			return nil
		}
		found = true
		return scan(rows, dest)
	})
	return found && err == nil, err
}

// All calls each for every row of a query. An error of each ends it, and is given back.
func (tx *Tx) All(query string, args []any, each func(scan func(dest ...any) error) error) error {
	var stop error
	err := tx.rows(query, args, func(rows *sql.Rows) error {
		for stop == nil && rows.Next() {
			if tx.overdue() {
				return errTooLong
			}
			var bad error
			stop = each(func(dest ...any) error {
				bad = scan(rows, dest)
				return bad
			})
			if bad != nil {
				return bad
			}
		}
		return nil
	})
	return errors.Join(err, stop)
}

// Now is the database's clock in microseconds: the only clock that counts.
func (tx *Tx) Now() (int64, error) {
	var now int64
	_, err := tx.One("SELECT now_us()", nil, &now)
	return now, err
}

func (tx *Tx) rows(query string, args []any, read func(*sql.Rows) error) error {
	args, err := tx.prepare(args)
	if err != nil {
		return err
	}
	rows, err := tx.q.QueryContext(tx.ctx, query, args...)
	if err != nil {
		return tx.fail(err)
	}
	tx.reading = true
	defer func() { tx.reading = false }()
	defer rows.Close() // after a panic of the reader
	err = read(rows)
	if end := rows.Close(); err == nil {
		err = end
	}
	if err == nil {
		err = rows.Err()
	}
	return tx.fail(err)
}

// fail remembers that a statement failed. PostgreSQL takes no further statement then, and would turn the commit into a
// rollback; SQLite would go on and commit the rest. Here both refuse.
func (tx *Tx) fail(err error) error {
	if err == nil {
		return nil
	}
	err = fault(tx.dialect, err)
	if tx.failed == nil {
		tx.failed = err
	}
	return err
}

// run runs do to its end: an error, a panic or a failed statement that it forgot are all errors.
func (tx *Tx) run(do func(*Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w at %s: %v", ErrPanic, culprit(), p)
		}
	}()
	if err = do(tx); err == nil {
		err = tx.failed
	}
	return err
}

// culprit is where a panic came from, for the error that takes its place.
func culprit() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // from the deferred function's caller on
	for {
		f, more := frames.Next()
		if f.File != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// prepare turns parameters into what both drivers take.
func (tx *Tx) prepare(args []any) ([]any, error) {
	if tx.failed != nil {
		return nil, tx.failed
	}
	if tx.overdue() {
		return nil, tx.fail(errTooLong)
	}
	if tx.reading {
		return nil, tx.fail(errors.New("a statement inside All: read the rows first"))
	}
	out := make([]any, len(args))
	for i, a := range args {
		v, err := value(a)
		if err != nil {
			return nil, tx.fail(fmt.Errorf("%w: parameter $%d: %w", ErrValue, i+1, err))
		}
		out[i] = v
	}
	return out, nil
}

var errTooLong = unavailable("a transaction took too long", context.DeadlineExceeded)

// overdue says that a transaction took the time that it may take, where no context says so.
func (tx *Tx) overdue() bool { return !tx.until.IsZero() && time.Now().After(tx.until) }

func value(a any) (any, error) {
	v, err := driver.DefaultParameterConverter.ConvertValue(a)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil, int64:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case []byte:
		if v == nil {
			return nil, nil
		}
		return v, nil
	case string:
		if strings.IndexByte(v, 0) >= 0 || !utf8.ValidString(v) {
			return nil, errors.New("text must be UTF-8 without NUL")
		}
		return v, nil
	}
	return nil, fmt.Errorf("%T is none of int64, text, []byte and NULL", a)
}

// scan reads a row. Both drivers agree, but for an empty blob: SQLite's gives nil for it, as for NULL.
func scan(rows *sql.Rows, dest []any) error {
	into := make([]any, len(dest))
	for i, d := range dest {
		into[i] = d
		if b, ok := d.(*[]byte); ok {
			into[i] = (*blob)(b)
		}
	}
	return rows.Scan(into...)
}

type blob []byte

// Scan is the sql.Scanner's.
func (b *blob) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = append([]byte{}, v...)
	case string:
		*b = []byte(v)
	default:
		return fmt.Errorf("%T is not bytes", v)
	}
	return nil
}
