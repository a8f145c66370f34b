package sqldb_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// each runs a test on both databases, with one table for it: k, and a column of each kind.
func each(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			place := dbtest.Empty(t, d)
			db := place.Open(t)
			things(t, db)
			test(t, db)
		})
	}
}

func things(t *testing.T, db *sqldb.DB) {
	t.Helper()
	create := "CREATE TABLE things (k TEXT PRIMARY KEY, i BIGINT, s TEXT, b BYTEA)"
	if db.Dialect() == sqldb.SQLite {
		create = "CREATE TABLE things (k TEXT PRIMARY KEY, i INTEGER, s TEXT, b BLOB) STRICT"
	}
	write(t, db, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(create)
		return err
	})
}

func write(t *testing.T, db *sqldb.DB, do func(tx *sqldb.Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), sqldb.Free, do); err != nil {
		t.Fatal(err)
	}
}

// put adds a row.
func put(k string, i any) func(*sqldb.Tx) error {
	return func(tx *sqldb.Tx) error {
		_, err := tx.Exec("INSERT INTO things (k, i) VALUES ($1, $2)", k, i)
		return err
	}
}

// keys are the rows that are there, as one text.
func keys(t *testing.T, db *sqldb.DB) string {
	t.Helper()
	var all []string
	if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		all = nil
		return tx.All("SELECT k FROM things ORDER BY k", nil, func(scan func(...any) error) error {
			var k string
			err := scan(&k)
			all = append(all, k)
			return err
		})
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

type kind string
type level int

// TestValuesAreAlike: whatever goes in comes out the same on both databases, NULL and emptiness apart from each other.
func TestValuesAreAlike(t *testing.T) {
	seven, words := int64(7), "words"
	for _, c := range []struct {
		name   string
		i      any
		s      any
		b      any
		wantI  sql.NullInt64
		wantS  sql.NullString
		wantB  []byte
		hasNoB bool
	}{
		{name: "plain", i: int64(1), s: "text", b: []byte("blob"), wantI: sql.NullInt64{Int64: 1, Valid: true}, wantS: sql.NullString{String: "text", Valid: true}, wantB: []byte("blob")},
		{name: "null", hasNoB: true},
		{name: "empty", i: 0, s: "", b: []byte{}, wantI: sql.NullInt64{Valid: true}, wantS: sql.NullString{Valid: true}, wantB: []byte{}},
		{name: "a nil slice is NULL", b: []byte(nil), hasNoB: true},
		{name: "the largest", i: int64(math.MaxInt64), s: strings.Repeat("é", 1<<16), b: bytes.Repeat([]byte{0, 255}, 1<<16),
			wantI: sql.NullInt64{Int64: math.MaxInt64, Valid: true}, wantS: sql.NullString{String: strings.Repeat("é", 1<<16), Valid: true}, wantB: bytes.Repeat([]byte{0, 255}, 1<<16)},
		{name: "the smallest", i: int64(math.MinInt64), s: "\U0010ffff\n\t'\"\\", b: []byte{0},
			wantI: sql.NullInt64{Int64: math.MinInt64, Valid: true}, wantS: sql.NullString{String: "\U0010ffff\n\t'\"\\", Valid: true}, wantB: []byte{0}},
		{name: "true", i: true, s: kind("named"), b: []byte("x"), wantI: sql.NullInt64{Int64: 1, Valid: true}, wantS: sql.NullString{String: "named", Valid: true}, wantB: []byte("x")},
		{name: "false", i: false, b: []byte("x"), wantI: sql.NullInt64{Valid: true}, wantB: []byte("x")},
		{name: "named", i: level(3), b: []byte("x"), wantI: sql.NullInt64{Int64: 3, Valid: true}, wantB: []byte("x")},
		{name: "pointers", i: &seven, s: &words, wantI: sql.NullInt64{Int64: 7, Valid: true}, wantS: sql.NullString{String: "words", Valid: true}, hasNoB: true},
		{name: "nil pointers", i: (*int64)(nil), s: (*string)(nil), hasNoB: true},
		{name: "sql.Null", i: sql.Null[int64]{V: 9, Valid: true}, s: sql.NullString{}, wantI: sql.NullInt64{Int64: 9, Valid: true}, hasNoB: true},
		{name: "text that looks like a time", s: "2026-01-02 03:04:05", i: uint32(5), wantI: sql.NullInt64{Int64: 5, Valid: true}, wantS: sql.NullString{String: "2026-01-02 03:04:05", Valid: true}, hasNoB: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqldb.DB) {
				var i sql.NullInt64
				var s sql.NullString
				var b []byte
				var same int64
				write(t, db, func(tx *sqldb.Tx) error {
					if _, err := tx.Exec("INSERT INTO things (k, i, s, b) VALUES ($1, $2, $3, $4)", "k", c.i, c.s, c.b); err != nil {
						return err
					}
					// A value compares to itself as a parameter too.
					_, err := tx.One("SELECT count(*) FROM things WHERE (i = $1 OR $1 IS NULL AND i IS NULL) AND (b = $2 OR b IS NULL)", []any{c.i, c.b}, &same)
					return err
				})
				if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
					found, err := tx.One("SELECT i, s, b FROM things WHERE k = $1", []any{"k"}, &i, &s, &b)
					if !found {
						t.Error("no row")
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
				if i != c.wantI || s != c.wantS || !bytes.Equal(b, c.wantB) || (b == nil) != c.hasNoB || same != 1 {
					t.Errorf("got %v, %.20v…, %.20v… (nil: %v), %d the same", i, s, b, b == nil, same)
				}
			})
		})
	}
}

// TestDestinations: what a store reads into, on both.
func TestDestinations(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, put("a", 1))
		var k kind
		var flag bool
		var n int
		var absent *int64
		var present *string
		var any1, any2 any
		var sum int64
		if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			if _, err := tx.One("SELECT k, i, i, b, k FROM things", nil, &k, &flag, &n, &absent, &present); err != nil {
				return err
			}
			if _, err := tx.One("SELECT i, k FROM things", nil, &any1, &any2); err != nil {
				return err
			}
			if _, err := tx.One("SELECT coalesce(sum(i), 0) FROM things", nil, &sum); err != nil {
				return err
			}
			if found, err := tx.One("SELECT k FROM things WHERE k = $1", []any{"none"}, &k); found || err != nil {
				t.Errorf("a row that is not there: %v, %v", found, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if k != "a" || !flag || n != 1 || absent != nil || present == nil || *present != "a" || any1 != int64(1) || any2 != "a" || sum != 1 {
			t.Errorf("%q %v %d %v %v %T %T %d", k, flag, n, absent, present, any1, any2, sum)
		}
	})
}

func TestValuesThatOneDatabaseWouldRefuse(t *testing.T) {
	for name, v := range map[string]any{"NUL": "a\x00b", "no UTF-8": "a\xff", "float": 1.5, "time": time.Now(), "slice": []string{"a"}, "struct": struct{}{},
		"too large": uint64(math.MaxUint64)} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sqldb.DB) {
				err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
					_, err := tx.Exec("INSERT INTO things (k, s) VALUES ($1, $2)", "k", v)
					return err
				})
				if !errors.Is(err, sqldb.ErrValue) || !strings.Contains(err.Error(), "$2") {
					t.Errorf("%v", err)
				}
				if keys(t, db) != "" {
					t.Error("something was written")
				}
			})
		})
	}
}

// TestFailedStatementEndsTheTransaction: PostgreSQL would undo it and SQLite would not; a store must not find out later.
func TestFailedStatementEndsTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, put("there", 1))
		var second error
		err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			if err := put("first", 1)(tx); err != nil {
				return err
			}
			_ = put("there", 1)(tx) // forgotten
			second = put("second", 1)(tx)
			return nil
		})
		if !errors.Is(err, sqldb.ErrConstraint) || !errors.Is(second, sqldb.ErrConstraint) {
			t.Errorf("commit: %v; the next statement: %v", err, second)
		}
		if got := keys(t, db); got != "there" {
			t.Errorf("rows: %s", got)
		}
	})
}

func TestErrorUndoesAndIsGivenBack(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		mine := errors.New("mine")
		if err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error { return errors.Join(put("a", 1)(tx), mine) }); !errors.Is(err, mine) {
			t.Errorf("%v", err)
		}
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			return tx.All("SELECT 1 UNION ALL SELECT 2", nil, func(func(...any) error) error { return mine })
		})
		if !errors.Is(err, mine) {
			t.Errorf("from All: %v", err)
		}
		if got := keys(t, db); got != "" {
			t.Errorf("rows: %s", got)
		}
	})
}

func TestOneStatementAtATime(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		write(t, db, put("a", 1))
		err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			return tx.All("SELECT k FROM things", nil, func(func(...any) error) error { return put("b", 1)(tx) })
		})
		if err == nil || !strings.Contains(err.Error(), "read the rows first") || keys(t, db) != "a" {
			t.Errorf("%v; rows %s", err, keys(t, db))
		}
	})
}

func TestPanicIsAnErrorThatSaysWhere(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		err := db.Write(t.Context(), sqldb.Free, func(tx *sqldb.Tx) error {
			if err := put("a", 1)(tx); err != nil {
				return err
			}
			var none *int
			*none = 1
			return nil
		})
		if !errors.Is(err, sqldb.ErrPanic) || !strings.Contains(err.Error(), "tx_test.go:") {
			t.Errorf("%v", err)
		}
		err = db.Read(t.Context(), func(tx *sqldb.Tx) error {
			return tx.All("SELECT 1", nil, func(func(...any) error) error { panic("in rows") })
		})
		if !errors.Is(err, sqldb.ErrPanic) || !strings.Contains(err.Error(), "in rows") {
			t.Errorf("%v", err)
		}
		write(t, db, put("b", 1))
		if got := keys(t, db); got != "b" {
			t.Errorf("rows: %s", got)
		}
	})
}

func TestReadSeesOneStateAndWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		count := func(tx *sqldb.Tx) (n int64, err error) {
			_, err = tx.One("SELECT count(*) FROM things", nil, &n)
			return n, err
		}
		if err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			if n, err := count(tx); n != 0 || err != nil {
				t.Errorf("before: %d, %v", n, err)
			}
			write(t, db, put("a", 1))
			n, err := count(tx)
			if n != 0 {
				t.Errorf("the reader sees %d of the writer's rows", n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.Read(t.Context(), put("b", 1)); err == nil {
			t.Error("a reader wrote")
		}
		if got := keys(t, db); got != "a" {
			t.Errorf("rows: %s", got)
		}
	})
}

// TestCallersContextEndsNothingThatRuns: cancelled in the midst, the transaction is finished and reported as it was.
func TestCallersContextEndsNothingThatRuns(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
			if err := put("a", 1)(tx); err != nil {
				return err
			}
			cancel()
			return put("b", 1)(tx)
		})
		if err != nil || keys(t, db) != "a b" {
			t.Errorf("%v; rows %s", err, keys(t, db))
		}
		for name, begin := range map[string]func(context.Context) error{
			"Write": func(ctx context.Context) error { return db.Write(ctx, sqldb.Free, put("c", 1)) },
			"Read":  func(ctx context.Context) error { return db.Read(ctx, func(*sqldb.Tx) error { return nil }) },
			"Long":  func(ctx context.Context) error { return db.Long(ctx, put("c", 1)) },
		} {
			if err := begin(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s for a caller who has left: %v", name, err)
			}
		}
		if got := keys(t, db); got != "a b" {
			t.Errorf("rows: %s", got)
		}
	})
}

func TestLongTransaction(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		if err := db.Long(t.Context(), put("a", 1)); err != nil {
			t.Fatal(err)
		}
		mine := errors.New("mine")
		if err := db.Long(t.Context(), func(tx *sqldb.Tx) error { return errors.Join(put("b", 1)(tx), mine) }); !errors.Is(err, mine) {
			t.Errorf("%v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Long(ctx, func(tx *sqldb.Tx) error {
			cancel()
			return put("c", 1)(tx)
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if got := keys(t, db); got != "a" {
			t.Errorf("rows: %s", got)
		}
	})
}

func TestClosedDatabaseSaysSo(t *testing.T) {
	each(t, func(t *testing.T, db *sqldb.DB) {
		for range 2 {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Write(t.Context(), sqldb.Free, put("a", 1)); !errors.Is(err, sqldb.ErrClosed) {
			t.Errorf("write: %v", err)
		}
		if err := db.Read(t.Context(), func(*sqldb.Tx) error { return nil }); !errors.Is(err, sqldb.ErrClosed) {
			t.Errorf("read: %v", err)
		}
	})
}
