// This file re-seals under the present key what is under older ones, and drops those in the end.
package keystore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	// batchRows and batchBytes bound one transaction of the re-sealing: others wait for it.
	batchRows  = 64
	batchBytes = 4 << 20
	// mostNamed is how many values that do not open are named; all are counted.
	mostNamed = 20
)

// Progress is how far a rotation is.
type Progress struct {
	// Primary is the key that seals; Old are the keys that are to go.
	Primary string
	Old     []string
	// Resealed is how many values this process wrote anew. What another process did at the same time is not in it.
	Resealed int64
	// Damaged counts values that do not open under any key of the install, as found in the last pass over all; At names
	// the first of them. Those that name an old key keep that key from being dropped.
	Damaged int64
	At      []seal.Place
	// Wait is how long the old keys are still kept for processes that may not know the new one; 0 for no longer.
	Wait time.Duration
	// Dropped says that the old keys are gone: the rotation is over.
	Dropped bool
}

// Finishing is how Finish goes about it; all may be zero.
type Finishing struct {
	// Alone says that no other process has the database open, so that nobody need be waited for.
	Alone bool
	// GiveUp drops old keys although values that name them do not open: these are lost, as they were before.
	GiveUp bool
	// Held is asked before each transaction; false stops the work without an error, as another process does it.
	Held func(ctx context.Context) (bool, error)
	// Tell hears how far it is after each transaction.
	Tell func(Progress)
}

// ErrDamaged says that values under an old key do not open, so that the key is kept. Progress names them.
var ErrDamaged = errors.New("values under an old key do not open, so the key is kept")

// Finish re-seals what is under old keys and drops these, however often it was cut off before: how far it is stands in
// the rows themselves. It waits until no process can seal with an old key any more, which takes five minutes after
// Rotate. Where there are no old keys it does nothing.
func (s *Store) Finish(ctx context.Context, f Finishing) (Progress, error) {
	if f.Held == nil {
		f.Held = func(context.Context) (bool, error) { return true, nil }
	}
	if f.Tell == nil {
		f.Tell = func(Progress) {}
	}
	var p Progress
	for {
		if err := s.Look(); err != nil {
			return p, err
		}
		r := s.present()
		p.Primary, p.Old = r.primary, slices.DeleteFunc(s.keys.Keys(), func(k string) bool { return k == r.primary })
		if len(p.Old) == 0 {
			p.Dropped, p.Wait = true, 0
			return p, nil
		}
		wait, err := s.waiting(ctx, r, f.Alone)
		if err != nil {
			return p, err
		}
		p.Wait = wait
		held, blocked, changed, err := s.pass(ctx, r, f, &p)
		if err != nil || !held {
			return p, err
		}
		switch {
		case changed > 0: // somebody may have sealed with an old key meanwhile: once more
		case wait > 0:
			if held, err := s.await(ctx, wait, f, p); err != nil || !held {
				return p, err
			}
		case blocked && !f.GiveUp:
			return p, fmt.Errorf("%w: %d, the first is %v", ErrDamaged, p.Damaged, p.At[0])
		default:
			only, err := s.keys.OnlyPrimary()
			if err != nil {
				return p, err
			}
			err = s.change(ctx, dropped(), only, r)
			if err == nil {
				s.tidy(ctx)
			} else if !errors.Is(err, ErrMoved) { // another process was faster: look again
				return p, err
			}
		}
	}
}

// waiting is how long others may still write under old keys.
func (s *Store) waiting(ctx context.Context, r row, alone bool) (time.Duration, error) {
	if alone {
		return 0, nil
	}
	var now int64
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		now, err = tx.Now()
		return err
	})
	return max(0, time.Duration(r.created-now)*time.Microsecond+grace), err
}

// await waits in steps, so that the work is held meanwhile and somebody sees how long it takes.
func (s *Store) await(ctx context.Context, wait time.Duration, f Finishing, p Progress) (held bool, err error) {
	for ; wait > 0; wait -= looked {
		p.Wait = wait
		f.Tell(p)
		if held, err := f.Held(ctx); err != nil || !held {
			return false, err
		}
		if err := s.sleep(ctx, min(wait, looked)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// errNotHeld ends a pass that another process goes on with.
var errNotHeld = errors.New("the work is another process's")

// pass goes once over every sealed column. held is false when it was told to stop; blocked says that values under an old
// key do not open; changed is how many values were under an old key and are so no more.
func (s *Store) pass(ctx context.Context, r row, f Finishing, p *Progress) (held, blocked bool, changed int64, err error) {
	p.Damaged, p.At = 0, nil
	head, err := headOf(r.primary)
	if err != nil {
		return false, false, 0, err
	}
	err = eachPage(ctx, s.db, head, func(c Column, page []value) error {
		if held, err := f.Held(ctx); err != nil {
			return err
		} else if !held {
			return errNotHeld
		}
		fresh := make([][]byte, len(page))
		for i, v := range page {
			at := c.place(v.key)
			plain, err := s.keys.Open(at, v.box)
			if errors.Is(err, seal.ErrSealed) {
				p.Damaged++
				if len(p.At) < mostNamed {
					p.At = append(p.At, at)
				}
				blocked = blocked || slices.Contains(p.Old, seal.KeyOf(v.box))
				continue
			}
			if err == nil {
				fresh[i], err = s.keys.Seal(at, plain)
			}
			if err != nil {
				return err
			}
		}
		n, err := s.exchange(ctx, c, page, fresh)
		if err != nil {
			return err
		}
		changed += n
		p.Resealed += n
		s.o.Point("reseal.batch")
		f.Tell(*p)
		return nil
	})
	if errors.Is(err, errNotHeld) {
		return false, blocked, changed, nil
	}
	return true, blocked, changed, err
}

// eachPage goes over every sealed column, and calls each with the values whose head is another than a given one.
func eachPage(ctx context.Context, db *sqldb.DB, other []byte, each func(Column, []value) error) error {
	for _, c := range sealedColumns() {
		var after []any
		for first := true; first || after != nil; first = false {
			var page []value
			if err := db.Read(ctx, func(tx *sqldb.Tx) (err error) {
				page, after, err = c.page(tx, other, after, batchRows, batchBytes)
				return err
			}); err != nil {
				return err
			}
			if len(page) == 0 {
				continue
			}
			if err := each(c, page); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchange writes a page anew; a value that somebody changed meanwhile is left as it is.
func (s *Store) exchange(ctx context.Context, c Column, page []value, fresh [][]byte) (changed int64, err error) {
	err = s.write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		changed = 0
		for i, v := range page {
			if fresh[i] == nil {
				continue
			}
			did, err := c.replace(tx, v, fresh[i])
			if err != nil {
				return err
			}
			if did {
				changed++
			}
		}
		s.o.Point("reseal.before_commit")
		return nil
	})
	return changed, err
}
