// This file sorts what drivers say into the few things that a caller can act on.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrInDoubt says that a commit may have happened.
	ErrInDoubt = errors.New("it is not known whether the transaction was committed: the connection or the disk was lost meanwhile")
	// ErrUnavailable says that the database did not take the work, and nothing was written: it does not answer, is full,
	// or was busy for too long.
	ErrUnavailable = errors.New("the database is not available")
	// ErrAway says, beside one of the two above, that the server was not there: the connection broke or was refused, or the
	// server is being stopped or started. It may be back within seconds. A file is never away.
	ErrAway = errors.New("its server is away")
	// ErrClosed says that the database was closed here.
	ErrClosed = errors.New("the database is closed")
	// ErrConstraint says that a row may not be so: a key that exists, a reference to nothing, a column that is never
	// updated.
	ErrConstraint = errors.New("the database refuses the row")
	// ErrValue says that a parameter is none that both databases keep alike.
	ErrValue = errors.New("a value that cannot be stored")
	// ErrPanic says that the transaction panicked, and where.
	ErrPanic = errors.New("the transaction panicked")
)

// unavailable says in our words why, and keeps the driver's for the log.
func unavailable(why string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, why, err)
}

// away is unavailable for a server that may be back.
func away(why string, err error) error {
	return fmt.Errorf("%w: %w", unavailable(why, err), ErrAway)
}

// fault sorts an error of a statement, of BEGIN, or of waiting for a connection: at each of these nothing is written.
func fault(d Dialect, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrUnavailable), errors.Is(err, ErrConstraint), errors.Is(err, ErrValue):
		return err
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return unavailable("the transaction took too long", err)
	case err.Error() == "sql: database is closed": // database/sql has no name for it
		return ErrClosed
	case d == Postgres:
		return postgresFault(err)
	}
	return sqliteFault(err)
}

func sqliteFault(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) {
			return unavailable("its connection broke off", err)
		}
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %w", ErrConstraint, err)
	case sqlite3.SQLITE_FULL:
		return unavailable("the disk is full; free space where the data folder is", err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unavailable("another process has been writing for too long", err)
	case sqlite3.SQLITE_READONLY:
		return unavailable("its file cannot be written; look at the owner and mode of the data folder and its files", err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return unavailable("its file is damaged; restore a backup", err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL:
		return unavailable("its file could not be read or written", err)
	}
	return err
}

func postgresFault(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		if lost(err) {
			return away("the connection was lost or refused", err)
		}
		return err
	}
	switch {
	case strings.HasPrefix(e.Code, "23"):
		return fmt.Errorf("%w: %w", ErrConstraint, err)
	case again(err):
		return unavailable("it broke the transaction off, again and again, in favour of others", err)
	case e.Code == "55P03":
		return unavailable("a lock was not free within its time", err)
	case e.Code == "57014":
		return unavailable("the transaction took too long", err)
	case e.Code == "53100":
		return unavailable("its disk is full", err)
	case e.Code == "25006":
		return unavailable("it takes no writes: is it a standby?", err)
	case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"):
		return away("the server broke off or refused", err)
	case strings.HasPrefix(e.Code, "28"), strings.HasPrefix(e.Code, "3D"), strings.HasPrefix(e.Code, "53"),
		strings.HasPrefix(e.Code, "58"), strings.HasPrefix(e.Code, "XX"), e.Code == "25P03":
		return unavailable("the server refused", err)
	}
	return err
}

// again says that PostgreSQL broke a transaction off to resolve a deadlock or a race, and that it may be run again.
func again(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40P01" || e.Code == "40001")
}

// lost says that a connection broke, was refused, or is used no more.
func lost(err error) bool {
	var network net.Error
	var connecting *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connecting) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, pgx.ErrTxClosed)
}

// commitFault sorts an error of COMMIT: only an answer that says no is a no.
func commitFault(d Dialect, err error) error {
	if err == nil {
		return nil
	}
	if d == Postgres {
		var e *pgconn.PgError
		// An answer of severity ERROR undid the transaction. FATAL may come after it was written, as when the server is shut
		// down while it waits for a standby.
		if errors.As(err, &e) && e.Severity == "ERROR" || errors.Is(err, pgx.ErrTxCommitRollback) {
			return fmt.Errorf("commit: %w", postgresFault(err))
		}
		return fmt.Errorf("%w: %w: %w", ErrInDoubt, err, ErrAway) // whatever is no answer is a connection that broke, or a server that stops
	}
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_IOERR {
		// The last frame may have reached the disk though its sync failed: after a crash it would count.
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return fault(d, err)
}
