// This file deletes one run at once, because a person wants it gone.
package retention

import (
	"context"
	"fmt"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// deleted is the reason of a run's end while it is being deleted: one that was cut off in the middle is deleted by asking
// again, and is in the audit once.
const deleted = "deleted"

// Delete removes an ended run with everything of it but the audit, and says how many calls it had left. by is who wants it.
// What its calls counted in minutes that are over is uncounted, so that the meters stay the sum of what is there.
//
// Errors: ledger.ErrNotFound; ledger.ErrRunOpen, ErrRunHeld and ErrRunFresh, in which case nothing is changed.
func (k *Keeper) Delete(ctx context.Context, run, by string) (calls int64, err error) {
	if err := k.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) (err error) {
		calls, err = mayGo(tx, run, by)
		return err
	}); err != nil {
		return 0, err
	}
	b := &batches{db: k.db, most: firstBatch, size: firstBatch}
	k.setUncut(true)
	if err := b.forget(ctx, run, uncount); err != nil {
		return 0, fmt.Errorf("delete run %s, of which a part is gone; ask again for the rest: %w", run, err)
	}
	return calls, k.cut(ctx)
}

// uncount takes a call's unit out of its minute, and its reservation with it: of two that delete the same run, whoever
// deletes that row uncounts it.
func uncount(tx *sqldb.Tx, call string) error {
	var meter, capability string
	var at int64
	found, err := tx.One("DELETE FROM reservations WHERE call_id=$1 RETURNING meter, capability, minute", []any{call}, &meter, &capability, &at)
	if err != nil || !found {
		return err
	}
	// What counts against nothing has no row there.
	_, err = tx.Exec("UPDATE minute_meters SET used=used-1 WHERE meter=$1 AND capability=$2 AND minute=$3", meter, capability, at)
	return err
}

// Weigh says what a deletion of a run would take with it, and what would refuse it now, and changes nothing. Error:
// ledger.ErrNotFound.
func (k *Keeper) Weigh(ctx context.Context, run string) (d ledger.Deletion, err error) {
	err = k.db.Read(ctx, func(tx *sqldb.Tx) error {
		var state string
		var now int64
		found, err := tx.One("SELECT state, now_us() FROM runs WHERE id=$1", []any{run}, &state, &now)
		switch {
		case err != nil:
			return err
		case !found:
			return ledger.ErrNotFound
		}
		if d, err = weigh(tx, run, state, now); err != nil {
			return err
		}
		_, err = tx.One(`SELECT (SELECT count(*) FROM evidence e JOIN tool_calls t ON t.id=e.call_id WHERE t.run_id=r.id),
 (SELECT count(*) FROM kept_pages p WHERE p.run_id=r.id AND p.body IS NOT NULL),
 (SELECT count(*) FROM approvals a WHERE a.run_id=r.id),
 (SELECT count(*) FROM tool_calls t WHERE t.run_id=r.id AND t.state='uncertain' AND t.class='effect') FROM runs r WHERE r.id=$1`,
			[]any{run}, &d.Evidence, &d.Pages, &d.Approvals, &d.Uncertain)
		return err
	})
	return d, err
}

// weigh counts a run's calls, and says what refuses its deletion.
func weigh(tx *sqldb.Tx, run, state string, now int64) (d ledger.Deletion, err error) {
	var held, flying, fresh int64
	if _, err := tx.One("SELECT CASE WHEN "+unreconciled+` THEN 1 ELSE 0 END,
 (SELECT count(*) FROM tool_calls t WHERE t.run_id=r.id AND t.state IN ('admitted','dispatched')),
 (SELECT count(*) FROM reservations v WHERE v.run_id=r.id AND v.minute>=$2),
 (SELECT count(*) FROM tool_calls t WHERE t.run_id=r.id) FROM runs r WHERE r.id=$1`, []any{run, now / minute}, &held, &flying, &fresh, &d.Calls); err != nil {
		return d, err
	}
	switch {
	case state == "open":
		d.Refused = ledger.ErrRunOpen
	case held > 0:
		d.Refused = ledger.ErrRunHeld
	case flying > 0, fresh > 0:
		d.Refused = ledger.ErrRunFresh
	}
	return d, nil
}

// mayGo says whether a run may be deleted, and writes down who does it before anything goes.
func mayGo(tx *sqldb.Tx, run, by string) (calls int64, err error) {
	var agent, state, reason string
	var now int64
	found, err := tx.One("UPDATE runs SET calls=calls WHERE id=$1 RETURNING agent_id, state, coalesce(end_reason,''), now_us()", []any{run}, &agent, &state, &reason, &now)
	switch {
	case err != nil:
		return 0, err
	case !found:
		return 0, ledger.ErrNotFound
	}
	d, err := weigh(tx, run, state, now)
	switch {
	case err != nil:
		return 0, err
	case d.Refused != nil:
		return 0, d.Refused
	case reason == deleted:
		return d.Calls, nil
	}
	if _, err := tx.Exec("UPDATE runs SET end_reason=$2 WHERE id=$1", run, deleted); err != nil {
		return 0, err
	}
	return d.Calls, auditstore.Append(tx, audit.Entry{Actor: by, Verb: "run.deleted", Subject: run, Detail: map[string]any{"agent": agent, "calls": d.Calls}})
}
