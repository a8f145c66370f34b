// This file is the chain's rows: linking, checkpoints, and what is read and removed.
package auditstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Store is the audit of one database. It meets audit.Rows and audit.Chain.
type Store struct{ db *sqldb.DB }

// New makes a store.
func New(db *sqldb.DB) *Store { return &Store{db} }

// errRaced undoes a link that somebody else made at the same time.
var errRaced = errors.New("another process links at the same time")

const columns = "id, at, actor, verb, subject, detail, coalesce(link, 0), coalesce(prev, ''), coalesce(hash, '')"

func read(tx *sqldb.Tx, query string, args ...any) (rows []audit.Row, err error) {
	err = tx.All("SELECT "+columns+" FROM audit "+query, args, func(scan func(...any) error) error {
		var r audit.Row
		var at int64
		var detail string
		if err := scan(&r.ID, &at, &r.Actor, &r.Verb, &r.Subject, &detail, &r.Link, &r.Prev, &r.Hash); err != nil {
			return err
		}
		r.At, r.Detail = time.UnixMicro(at).UTC(), []byte(detail)
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w", err)
	}
	return rows, nil
}

func (s *Store) read(ctx context.Context, query string, args ...any) (rows []audit.Row, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		rows, err = read(tx, query, args...)
		return err
	})
	return rows, err
}

// heads gives the last linked row, and where the chain goes on: behind the last checkpoint where rows before it were cut
// off.
func heads(tx *sqldb.Tx) (last, next audit.Head, err error) {
	if _, err = tx.One("SELECT link, hash FROM audit WHERE link IS NOT NULL ORDER BY link DESC LIMIT 1", nil, &last.Link, &last.Hash); err != nil {
		return last, next, err
	}
	if _, err = tx.One("SELECT link, hash FROM audit_checkpoints ORDER BY link DESC LIMIT 1", nil, &next.Link, &next.Hash); err != nil {
		return last, next, err
	}
	if last.Link >= next.Link {
		next = last
	}
	return last, next, nil
}

// Link is audit.Rows's.
func (s *Store) Link(ctx context.Context, limit int, after func(audit.Head, audit.Row) audit.Row) (found, to audit.Head, n int, err error) {
	err = s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) (err error) {
		var next audit.Head
		if found, next, err = heads(tx); err != nil {
			return err
		}
		rows, err := read(tx, "WHERE link IS NULL ORDER BY at, id LIMIT $1", limit)
		if err != nil {
			return err
		}
		for _, r := range rows {
			r = after(next, r)
			// The number is unique, so that of two that link at once one fails here or at its commit.
			did, err := tx.Exec("UPDATE audit SET link = $2, prev = $3, hash = $4 WHERE id = $1 AND link IS NULL", r.ID, r.Link, r.Prev, r.Hash)
			if err != nil {
				return err
			}
			if did != 1 {
				return errRaced
			}
			next = audit.Head{Link: r.Link, Hash: r.Hash}
		}
		if to, n = found, len(rows); n > 0 {
			to = next
		}
		return nil
	})
	return found, to, n, err
}

// Append is audit.Rows's: an entry that no other write causes.
func (s *Store) Append(ctx context.Context, e audit.Entry) error {
	return s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error { return Append(tx, e) })
}

// Mark is audit.Rows's. A checkpoint that is there already stays.
func (s *Store) Mark(ctx context.Context, h audit.Head) (audit.Checkpoint, error) {
	c := audit.Checkpoint{Head: h}
	err := s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		now, err := tx.Now()
		if err != nil {
			return err
		}
		c.At = time.UnixMicro(now).UTC()
		_, err = tx.Exec("INSERT INTO audit_checkpoints (link, at, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", h.Link, now, h.Hash)
		return err
	})
	return c, err
}

func (s *Store) marks(ctx context.Context, query string, args ...any) (marks []audit.Checkpoint, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		return tx.All("SELECT link, at, hash FROM audit_checkpoints "+query, args, func(scan func(...any) error) error {
			var c audit.Checkpoint
			var at int64
			if err := scan(&c.Link, &at, &c.Hash); err != nil {
				return err
			}
			c.At = time.UnixMicro(at).UTC()
			marks = append(marks, c)
			return nil
		})
	})
	return marks, err
}

// Marked is audit.Rows's and audit.Chain's.
func (s *Store) Marked(ctx context.Context) (audit.Checkpoint, bool, error) {
	marks, err := s.marks(ctx, "ORDER BY link DESC LIMIT 1")
	if err != nil || len(marks) == 0 {
		return audit.Checkpoint{}, false, err
	}
	return marks[0], true, nil
}

// Marks is audit.Chain's.
func (s *Store) Marks(ctx context.Context, after int64, limit int) ([]audit.Checkpoint, error) {
	return s.marks(ctx, "WHERE link > $1 ORDER BY link LIMIT $2", after, limit)
}

// Linked is audit.Chain's.
func (s *Store) Linked(ctx context.Context, after int64, limit int) ([]audit.Row, error) {
	return s.read(ctx, "WHERE link > $1 ORDER BY link LIMIT $2", after, limit)
}

// Of is audit.Chain's.
func (s *Store) Of(ctx context.Context, verb string) ([]audit.Row, error) {
	return s.read(ctx, "WHERE verb = $1 ORDER BY id", verb)
}

// Waiting is audit.Chain's.
func (s *Store) Waiting(ctx context.Context) (n int64, oldest time.Time, err error) {
	var at sql.Null[int64]
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.One("SELECT count(*), min(at) FROM audit WHERE link IS NULL", nil, &n, &at)
		return err
	})
	if at.Valid {
		oldest = time.UnixMicro(at.V).UTC()
	}
	return n, oldest, err
}

// Over is audit.Rows's.
func (s *Store) Over(ctx context.Context, keep time.Duration) (h audit.Head, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		h = audit.Head{}
		var young int64 // the first row that stays: one that is young enough, or else the last
		found, err := tx.One("SELECT link FROM audit WHERE link IS NOT NULL AND at >= now_us() - CAST($1 AS BIGINT) ORDER BY link LIMIT 1", []any{keep.Microseconds()}, &young)
		if err == nil && !found {
			_, err = tx.One("SELECT coalesce(max(link), 0) FROM audit", nil, &young)
		}
		if err != nil {
			return err
		}
		_, err = tx.One("SELECT link, hash FROM audit WHERE link < $1 ORDER BY link DESC LIMIT 1", []any{young}, &h.Link, &h.Hash)
		return err
	})
	return h, err
}

// Remove is audit.Rows's.
func (s *Store) Remove(ctx context.Context, through int64, limit int) (removed int, err error) {
	err = s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		n, err := tx.Exec("DELETE FROM audit WHERE link IN (SELECT link FROM audit WHERE link <= $1 ORDER BY link LIMIT $2)", through, limit)
		if removed = int(n); err != nil {
			return err
		}
		_, err = tx.Exec("DELETE FROM audit_checkpoints WHERE link <= $1 AND link < (SELECT coalesce(min(link), 0) FROM audit)", through)
		return err
	})
	return removed, err
}

// Now is audit.Rows's.
func (s *Store) Now(ctx context.Context) (now time.Time, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		us, err := tx.Now()
		now = time.UnixMicro(us).UTC()
		return err
	})
	return now, err
}

// List gives rows for people, in the order of their ids: that of their making.
func (s *Store) List(ctx context.Context, f audit.Filter) ([]audit.Row, error) {
	if f.Before != "" && f.After != "" {
		return nil, errors.New("rows are asked for before one and after another; give one of the two")
	}
	var where []string
	var args []any
	for _, c := range []struct{ text, value string }{{"actor = ", f.Actor}, {"verb = ", f.Verb}, {"subject = ", f.Subject}, {"id < ", f.Before}, {"id > ", f.After}} {
		if c.value != "" {
			args = append(args, c.value)
			where = append(where, c.text+"$"+strconv.Itoa(len(args)))
		}
	}
	query := ""
	if where != nil {
		query = "WHERE " + strings.Join(where, " AND ")
	}
	order := " ORDER BY id DESC LIMIT $"
	if f.After != "" {
		order = " ORDER BY id LIMIT $"
	}
	args = append(args, f.Bound())
	return s.read(ctx, query+order+strconv.Itoa(len(args)), args...)
}

// Count says how many rows are linked, and how many wait for it.
func (s *Store) Count(ctx context.Context) (linked, waiting int64, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.One("SELECT count(link), count(*) - count(link) FROM audit", nil, &linked, &waiting)
		return err
	})
	return linked, waiting, err
}

// Verify judges the chain of a database, against the checkpoints in a text that was kept elsewhere; nil for none.
func Verify(ctx context.Context, db *sqldb.DB, key []byte, install string, against io.Reader) (audit.Report, error) {
	var outside []audit.Checkpoint
	if against != nil {
		var err error
		if outside, err = audit.ReadCheckpoints(against); err != nil {
			return audit.Report{}, err
		}
	}
	return audit.Verify(ctx, New(db), key, install, outside)
}
