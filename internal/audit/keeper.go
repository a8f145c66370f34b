// This file keeps the chain: one process at a time links what was appended, and tells where it stands.
package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Rows are the audit in the database, as the keeper changes it.
type Rows interface {
	// Link takes unlinked rows, oldest first and at most limit, links each behind the one before with after, and keeps them.
	// found is the last row that was there, to the last one now, n how many were linked. Where rows were cut off before a
	// checkpoint, the chain goes on behind the checkpoint, so that no number is given twice. Of two at once, one fails.
	Link(ctx context.Context, limit int, after func(Head, Row) Row) (found, to Head, n int, err error)
	// Append keeps an entry by itself, in a transaction of its own.
	Append(ctx context.Context, e Entry) error
	// Mark keeps a checkpoint of a head and gives it with its time.
	Mark(ctx context.Context, h Head) (Checkpoint, error)
	// Marked gives the last checkpoint; false where there is none.
	Marked(ctx context.Context) (Checkpoint, bool, error)
	// Over gives the last head up to which every row is older than keep, and never the chain's own; the zero Head for none.
	Over(ctx context.Context, keep time.Duration) (Head, error)
	// Remove deletes linked rows and checkpoints up to a link, oldest first, at most limit rows, and says how many rows.
	Remove(ctx context.Context, through int64, limit int) (int, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Leases give one piece of work to one process. They are the ledger's.
type Leases interface {
	Acquire(ctx context.Context, resource, process, call string, ttl time.Duration) (fence int64, ok bool, err error)
	Extend(ctx context.Context, resource string, fence int64, ttl time.Duration) (bool, error)
	Release(ctx context.Context, resource string, fence int64) error
}

const (
	// Resource is the lease of whoever links.
	Resource = "audit-chain"
	// turn is how long a keeper that died keeps others from linking.
	turn = 15 * time.Second
	// every is how often it links, and so the time within which a change is not found.
	every = time.Second
	// batch is how many rows one transaction links or removes.
	batch = 500
	// markLinks and markAfter are when a checkpoint is due: after so many links, or so long after the last one if there is
	// a new link.
	markLinks = 100
	markAfter = time.Minute
	// purgeEvery is how often rows past their time are looked for.
	purgeEvery = 24 * time.Hour
	// VerbBroken is the verb of an entry that a keeper writes when the chain is not where it left it.
	VerbBroken = "audit.broken"
)

// KeeperOptions may all be zero.
type KeeperOptions struct {
	// Install is the install's label, for checkpoints.
	Install string
	// Keep is how long entries are kept; default 365 days.
	Keep time.Duration
	// Tell hears of each checkpoint, besides the log; an error is logged, and the checkpoint stays in the database.
	Tell []func(Checkpoint) error
	// Log takes checkpoints and what goes wrong; nil drops it.
	Log *slog.Logger
}

// Keeper keeps the chain of one install. It is for one goroutine.
type Keeper struct {
	rows    Rows
	leases  Leases
	process string
	key     Key
	o       KeeperOptions

	fence  int64 // of the lease; 0 for none
	last   Head  // where this keeper left the chain in this turn of the lease; zero when it just got it
	marked Checkpoint
	purge  time.Time // when rows past their time are next looked for; zero until this turn's first look
}

// NewKeeper checks everything and starts nothing: Run does. process is an id of the ledger's processes.
func NewKeeper(rows Rows, leases Leases, process string, key []byte, o KeeperOptions) (*Keeper, error) {
	k, err := NewKey(key)
	if err != nil {
		return nil, err
	}
	if rows == nil || leases == nil || process == "" {
		return nil, errors.New("audit: a keeper needs rows, leases and the id of its process")
	}
	if o.Keep == 0 {
		o.Keep = 365 * 24 * time.Hour
	}
	if o.Keep < 0 {
		return nil, fmt.Errorf("audit: Keep is %s; give a positive time, or zero for 365 days", o.Keep)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Keeper{rows: rows, leases: leases, process: process, key: k, o: o}, nil
}

// Run links once a second while this process has the lease. It ends with the context, whose error it gives, after a last
// link and a checkpoint.
func (k *Keeper) Run(ctx context.Context) error {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	bad := false
	for {
		if err := k.Step(ctx); (err != nil) != bad && ctx.Err() == nil {
			if bad = err != nil; bad {
				k.o.Log.Error("audit: entries are kept and not linked; it is tried again each second", "err", err)
			} else {
				k.o.Log.Info("audit: entries are linked again")
			}
		}
		select {
		case <-ctx.Done():
			k.end(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

// Step does what is due now, if this process has or gets the lease.
func (k *Keeper) Step(ctx context.Context) error {
	held, err := k.hold(ctx)
	if err != nil || !held {
		return err
	}
	if err := k.link(ctx); err != nil {
		return err
	}
	if err := k.mark(ctx, false); err != nil {
		return err
	}
	return k.remove(ctx)
}

func (k *Keeper) hold(ctx context.Context) (bool, error) {
	if k.fence != 0 {
		held, err := k.leases.Extend(ctx, Resource, k.fence, turn)
		if err != nil || held {
			return held, err
		}
	}
	fence, ok, err := k.leases.Acquire(ctx, Resource, k.process, "", turn)
	k.fence, k.last, k.purge = 0, Head{}, time.Time{}
	if err != nil || !ok {
		return false, err
	}
	k.fence = fence
	c, _, err := k.rows.Marked(ctx)
	k.marked = c
	return err == nil, err
}

func (k *Keeper) link(ctx context.Context) error {
	for {
		found, to, n, err := k.rows.Link(ctx, batch, k.key.After)
		if err != nil {
			return fmt.Errorf("link the audit: %w", err)
		}
		was := k.last
		k.last = to
		if was != (Head{}) && found != was {
			// Nobody else links in this turn, so somebody changed rows. The chain goes on; this stays in it.
			k.o.Log.Error("audit: the chain is not where it was left; run `wayleave audit verify`", "left_at", was.Link, "left_hash", was.Hash, "found_at", found.Link, "found_hash", found.Hash)
			if err := k.rows.Append(ctx, Entry{Actor: "system", Verb: VerbBroken, Subject: "audit",
				Detail: map[string]any{"left_at": was.Link, "left_hash": was.Hash, "found_at": found.Link, "found_hash": found.Hash}}); err != nil {
				return err
			}
			continue
		}
		if n < batch {
			return nil
		}
	}
}

// mark makes a checkpoint if one is due; always makes one of every head that has none yet.
func (k *Keeper) mark(ctx context.Context, always bool) error {
	fresh := k.last.Link - k.marked.Link
	if fresh <= 0 {
		return nil
	}
	if !always && fresh < markLinks {
		now, err := k.rows.Now(ctx)
		if err != nil || now.Sub(k.marked.At) < markAfter {
			return err
		}
	}
	c, err := k.rows.Mark(ctx, k.last)
	if err != nil {
		return fmt.Errorf("mark the audit: %w", err)
	}
	c.Install = k.o.Install
	k.marked = c
	k.o.Log.Info(c.String())
	for _, tell := range k.o.Tell {
		if err := tell(c); err != nil {
			k.o.Log.Error("audit: a checkpoint could not be told", "err", err)
		}
	}
	return nil
}

// remove deletes rows past their time, once a day. The statement of it stands before the first one goes.
func (k *Keeper) remove(ctx context.Context) error {
	now, err := k.rows.Now(ctx)
	if err != nil || now.Before(k.purge) {
		return err
	}
	h, err := k.rows.Over(ctx, k.o.Keep)
	if err != nil {
		return fmt.Errorf("purge the audit: %w", err)
	}
	if h.Link > 0 {
		if err := k.rows.Append(ctx, k.key.Purge(h)); err != nil {
			return fmt.Errorf("purge the audit: %w", err)
		}
		for {
			if held, err := k.leases.Extend(ctx, Resource, k.fence, turn); err != nil || !held {
				return err
			}
			n, err := k.rows.Remove(ctx, h.Link, batch)
			if err != nil {
				return fmt.Errorf("purge the audit: %w", err)
			}
			if n < batch {
				break
			}
		}
	}
	k.purge = now.Add(purgeEvery)
	return nil
}

// end links what there is, tells where the chain stands, and lets the lease go.
func (k *Keeper) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, turn)
	defer cancel()
	if k.fence == 0 {
		return
	}
	if held, err := k.leases.Extend(ctx, Resource, k.fence, turn); err != nil || !held {
		return
	}
	err := k.link(ctx)
	if err == nil {
		err = k.mark(ctx, true)
	}
	if err != nil {
		k.o.Log.Warn("audit: the last entries are left to another process", "err", err)
	}
	_ = k.leases.Release(ctx, Resource, k.fence) // it ends by itself
}
