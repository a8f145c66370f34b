// This file has what stores do over and over: transactions that may happen twice without harm, and rows by their ids.
package sqldb

import (
	"context"
	"errors"
	"slices"
)

// doubts is how often a transaction is run anew whose commit was in doubt.
const doubts = 2

// Certain is Write for a transaction that may happen twice without harm, since what it writes tells whether it happened
// before: where its commit was in doubt it is run again.
func (db *DB) Certain(ctx context.Context, lock Lock, do func(*Tx) error) error {
	for n := 0; ; n++ {
		err := db.Write(ctx, lock, do)
		if n == doubts || !errors.Is(err, ErrInDoubt) {
			return err
		}
	}
}

// IDs reads the ids that a query finds, in its order.
func (db *DB) IDs(ctx context.Context, query string, args ...any) (list []string, err error) {
	err = db.Read(ctx, func(tx *Tx) error {
		list = nil
		return tx.All(query, args, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			list = append(list, id)
			return err
		})
	})
	return list, err
}

// Each does the same to each of some rows in one transaction, which may happen twice. It takes them in the order of their
// ids, so that two that do so to the same rows do not wait for each other in a ring.
func (db *DB) Each(ctx context.Context, ids []string, do func(tx *Tx, id string) error) error {
	if len(ids) == 0 {
		return nil
	}
	ids = slices.Sorted(slices.Values(ids))
	return db.Certain(ctx, Free, func(tx *Tx) error {
		for _, id := range ids {
			if err := do(tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}
