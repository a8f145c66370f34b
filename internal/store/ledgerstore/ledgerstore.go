// Package ledgerstore keeps the ledger's rows: each method of ledger.Store is one transaction whose guard is the state
// of the row itself, in one SQL text for both databases.
//
// The one rule: the order of locks is settings, run, approval, call, evidence, run meter, reservation, minute meter, and
// whoever cannot keep it takes one row alone.
package ledgerstore

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/processstore"
	"github.com/wayleave/wayleave/internal/store/retention"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Options are what may be left out.
type Options struct {
	// Point is called at the named points of a transaction, where tests of sudden death end the process: NAME.before_commit
	// inside a transaction (on SQLite before the commit of its whole group), NAME.after_commit once it is durable. nil does nothing.
	Point func(name string)
}

// Store is the ledger's rows in one database. It is safe for concurrent use, by several processes at once.
type Store struct {
	*processstore.Store // processes, leases and notices
	db                  *sqldb.DB
	seal                seal.Sealer
	resolve             binding.Resolve
	point               func(name string)
	keeper              *retention.Keeper
}

var _ ledger.Store = (*Store)(nil)

// New makes a store over a migrated database. It checks what it was given and starts nothing.
func New(db *sqldb.DB, sealer seal.Sealer, resolve binding.Resolve, o Options) (*Store, error) {
	switch {
	case db == nil:
		return nil, errors.New("ledgerstore: there is no database")
	case sealer == nil:
		return nil, errors.New("ledgerstore: there is no sealer; what is kept must not be readable from the file")
	case resolve == nil:
		return nil, errors.New("ledgerstore: there is no way to resolve a binding; nothing could be admitted")
	}
	if o.Point == nil {
		o.Point = func(string) {}
	}
	return &Store{Store: processstore.New(db, o.Point), db: db, seal: sealer, resolve: resolve, point: o.Point, keeper: retention.New(db)}, nil
}

// errTurned undoes a transaction whose answer is in a variable of its caller.
var errTurned = errors.New("undone")

// sealed closes a value in its place. Nothing stays NULL.
func (s *Store) sealed(table, column, row string, plain []byte) ([]byte, error) {
	if plain == nil {
		return nil, nil
	}
	box, err := s.seal.Seal(seal.Place{Table: table, Column: column, Row: row}, plain)
	if err != nil {
		return nil, fmt.Errorf("seal %s.%s: %w", table, column, err)
	}
	return box, nil
}

// opened is the value again.
func (s *Store) opened(table, column, row string, box []byte) ([]byte, error) {
	if box == nil {
		return nil, nil
	}
	plain, err := s.seal.Open(seal.Place{Table: table, Column: column, Row: row}, box)
	if err != nil {
		return nil, fmt.Errorf("open %s.%s of %s: %w", table, column, row, err)
	}
	return plain, nil
}

// clock is the time that a number of the database says.
func clock(us int64) time.Time { return time.UnixMicro(us).UTC() }

// since is the same where it may not have happened: the zero time.
func since(us sql.Null[int64]) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return clock(us.V)
}

// maybe makes NULL of an empty text.
func maybe(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// flag makes the 0 or 1 of a claim.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
