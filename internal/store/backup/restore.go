// This file brings a backup into an empty database.
package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wayleave/wayleave/internal/store/schema"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

var (
	// ErrNoBackup says that a file is no backup of an install, or is damaged.
	ErrNoBackup = errors.New("this is not a backup of Wayleave, or it is damaged")
	// ErrNotEmpty says that the database has an install already.
	ErrNotEmpty = errors.New("the database is not empty; restore into a new data folder, or a new PostgreSQL database")
)

// Restored is what came back, what was ended, and what lives again.
type Restored struct {
	Schema int64     // of the backup
	Newest time.Time // of what is in the backup: it is no older than this
	Ended
	// Tokens and Hosts are rights that hold again, also where they were taken away after the backup. Who restores is to
	// look through them.
	Tokens []Token
	Hosts  []Host
}

// Ended counts what restoring ends.
type Ended struct {
	Runs int64
	// Calls were in flight; of these Uncertain may have happened.
	Calls, Uncertain int64
	// Approvals were open questions, or answers that were not used.
	Approvals int64
	// SignIns were sessions of people, Links their unused links, Sessions those of agents' clients.
	SignIns, Links, Sessions int64
}

// Token is a token that opens something again.
type Token struct {
	ID string
	// Of is an agent's slug or a person's name, Kind "agent" or "person".
	Kind, Of string
	// Scope is an agent's token's (tools, harness), or a person's role. Label is what a person called it.
	Scope, Label string
	Made         time.Time
	Used         time.Time // the last time before the backup; zero: never
}

// Host is a private host that agents may read again.
type Host struct {
	Host, Agent string // the agent's slug; empty: every agent
	Made        time.Time
}

// Restore fills an empty database from a backup and brings it to the newest schema. In the transaction that brings the
// rows, all runs end, calls in flight become what a sweep would make of them, open questions and answers, people's
// sign-ins and links and clients' sessions end, and the epoch rises above any that was ever seen. The backup is not
// changed. An error leaves the database without rows, so that it can be tried again.
//
// ErrNoBackup, ErrNotEmpty, schema.ErrTooNew.
func Restore(ctx context.Context, path string, to *sqldb.DB) (Restored, error) {
	from, err := sqldb.OpenCopy(path)
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", err)
	}
	r, err := restore(ctx, from, to)
	return r, errors.Join(err, from.Close())
}

func restore(ctx context.Context, from, to *sqldb.DB) (r Restored, err error) {
	state, err := readable(ctx, from)
	if err != nil {
		return r, err
	}
	target, err := schema.Look(ctx, to)
	if err != nil {
		return r, err
	}
	if target.Version > state.Version {
		return r, fmt.Errorf("%w: its tables have schema %d, the backup has %d", ErrNotEmpty, target.Version, state.Version)
	}
	if target.Version > 0 { // before a database that is in use is migrated
		if err := to.Read(ctx, empty); err != nil {
			return r, err
		}
	}
	if err := schema.To(ctx, to, state.Version); err != nil {
		return r, err
	}
	err = from.Long(ctx, func(old *sqldb.Tx) error {
		return to.Long(ctx, func(tx *sqldb.Tx) error {
			r = Restored{Schema: state.Version}
			if err := empty(tx); err != nil {
				return err
			}
			if err := rows(old, tx, old); err != nil {
				return err
			}
			return r.settle(tx)
		})
	})
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", err)
	}
	_, err = schema.Up(ctx, to)
	return r, err
}

// readable judges a backup before anything is made of it.
func readable(ctx context.Context, from *sqldb.DB) (schema.State, error) {
	state, err := schema.Look(ctx, from)
	if err != nil {
		return state, fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	if state.Version == 0 {
		return state, fmt.Errorf("%w: it has none of its tables", ErrNoBackup)
	}
	if state.Version > state.Known {
		return state, fmt.Errorf("%w: the backup has schema %d, this program knows %d; restore it with the newer program", schema.ErrTooNew, state.Version, state.Known)
	}
	err = from.Long(ctx, func(tx *sqldb.Tx) error { // all of a large file is read
		for _, check := range []string{"PRAGMA integrity_check(1)", "PRAGMA foreign_key_check"} {
			var said string
			found, err := tx.One(check, nil, &said)
			if err != nil {
				return err
			}
			if found && said != "ok" {
				return fmt.Errorf("%s", said)
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	return state, err
}

// empty says whether a database with tables has no install in it: what is made with the first of anything.
func empty(tx *sqldb.Tx) error {
	for _, name := range []string{"agents", "people", "keysets", "audit", "processes", "connections"} {
		var n int64
		if _, err := tx.One("SELECT count(*) FROM "+name, nil, &n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w: it has %d rows in %s", ErrNotEmpty, n, name)
		}
	}
	return nil
}
