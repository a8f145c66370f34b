// Package ledgerstore keeps the ledger's rows: each method of ledger.Store is one transaction whose guard is the state
// of the row itself, in one SQL text for both databases.
//
// The one rule: the order of locks is settings, run, approval, call, evidence, run meter, reservation, minute meter, and
// whoever cannot keep it takes one row alone.
package ledgerstore

import (
	"errors"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/seal"
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
	ledger.Store
	db      *sqldb.DB
	seal    seal.Sealer
	resolve binding.Resolve
	point   func(name string)
}

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
	return &Store{db: db, seal: sealer, resolve: resolve, point: o.Point}, nil
}
