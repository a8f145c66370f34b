// This file takes what people and harnesses say of calls, and what transports say of answers.
package ledgerstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/reasons"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// Reconcile states once what happened with an uncertain call, and lets its hold go. The same verdict again changes
// nothing. Nothing is sent again for it, whatever the verdict.
//
// Errors: ErrNotFound, ledger.ErrInFlight, ErrNotUncertain, ErrReconciled, ErrProof.
func (s *Store) Reconcile(ctx context.Context, agent, run, call string, v ledger.Reconciliation) (ledger.Record, error) {
	var note []byte
	var err error
	if v.Note != "" {
		if note, err = s.sealed("reconciliations", "note", call, []byte(v.Note)); err != nil {
			return ledger.Record{}, err
		}
	}
	var row *callRow
	err = s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) (err error) {
		row, err = s.reconcile(tx, agent, run, call, v, note)
		return err
	})
	if err != nil {
		return ledger.Record{}, err
	}
	s.point("reconcile.after_commit")
	return s.record(row)
}

func (s *Store) reconcile(tx *sqldb.Tx, agent, run, call string, v ledger.Reconciliation, note []byte) (*callRow, error) {
	if _, err := runOf(tx, agent, run); err != nil {
		return nil, err
	}
	var now int64
	if _, err := tx.One("UPDATE runs SET hold_call=CASE WHEN hold_call=$2 THEN NULL ELSE hold_call END WHERE id=$1 RETURNING now_us()", []any{run, call}, &now); err != nil {
		return nil, err
	}
	c, err := callOf(tx, agent, run, call)
	if err != nil {
		return nil, err
	}
	switch { // what is read here never changes back: a call that is uncertain stays so, and a verdict stands
	case !c.State.Final():
		return nil, ledger.ErrInFlight
	case c.State != effect.Uncertain:
		return nil, ledger.ErrNotUncertain
	case c.Verdict != nil && c.Verdict.Verdict == v.Verdict:
		return c, nil
	case c.Verdict != nil:
		return nil, ledger.ErrReconciled
	}
	if err := proves(tx, c.Agent, v.Evidence); err != nil {
		return nil, err
	}
	line := ledger.Reason{Stage: reasons.Reconcile, Fact: v.By.Kind + " " + v.By.ID + " stated: " + string(v.Verdict), Ref: v.Evidence}
	if _, err := tx.Exec("UPDATE tool_calls SET why=why||$2 WHERE id=$1", call, reasons.Lines(clock(now), line)); err != nil {
		return nil, err
	}
	n, err := tx.Exec(`INSERT INTO reconciliations(call_id, verdict, note, evidence, by_kind, by_id, at) VALUES($1,$2,$3,$4,$5,$6,$7) ON CONFLICT DO NOTHING`,
		call, string(v.Verdict), note, maybe(plain(v.Evidence)), v.By.Kind, v.By.ID, now)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, ledger.ErrReconciled
	}
	if err := auditstore.Append(tx, audit.Entry{Actor: actor(c.Agent, v.By), Verb: "call.reconciled", Subject: call,
		Detail: map[string]any{"run": run, "verdict": string(v.Verdict), "by": v.By.Kind}}); err != nil {
		return nil, err
	}
	s.point("reconcile.before_commit")
	return callOf(tx, agent, run, call)
}

// actor is who states: an operator is a person, or somebody at the command line; a harness acts with its agent's token,
// and a form came through it.
func actor(agent string, by ledger.By) string {
	switch {
	case by.Kind != "operator":
		return "agent:" + agent
	case strings.HasPrefix(by.ID, "person_"):
		return "person:" + by.ID
	}
	return by.ID
}

// proves refuses an observation that is itself an error: what is named as proof is a call, CALL or CALL.N, of the agent.
func proves(tx *sqldb.Tx, agent, evidence string) error {
	if evidence == "" {
		return nil
	}
	id, _, _ := strings.Cut(evidence, ".")
	c, err := callOf(tx, agent, "", id)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && (c.State != effect.Succeeded || c.IsError) {
		return ledger.ErrProof
	}
	return err
}

// Cancel stops an effect before its dispatch; false where it is too late for that.
func (s *Store) Cancel(ctx context.Context, agent, run, call string) (cancelled bool, err error) {
	err = s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		if _, err := callOf(tx, agent, run, call); err != nil {
			return err
		}
		now, err := tx.Now()
		if err != nil {
			return err
		}
		n, err := tx.Exec(`UPDATE tool_calls SET state='failed', outcome='not_dispatched', code='cancelled', is_error=1, why=why||$2, ended_at=$3
 WHERE id=$1 AND state='admitted'`, call, reasons.Lines(clock(now), ledger.Reason{Stage: reasons.Outcome, Fact: "failed, not_dispatched (cancelled): somebody stopped it"}), now)
		if cancelled = n == 1; err != nil || cancelled {
			return err
		}
		c, err := callOf(tx, agent, run, call) // as it is now: another may have stopped it at the same moment
		cancelled = err == nil && c.State == effect.Failed && c.Code == "cancelled" && c.Dispatched.IsZero()
		return err
	})
	return cancelled && err == nil, err
}

// Deliver writes delivery marks, of which the first stands: a process that slept while its caller was given up does not
// know better than whoever gave up. Only an admission that answers from the record makes a delivery waiting again, and its
// own: the marks of who had it before say nothing of it.
func (s *Store) Deliver(ctx context.Context, marks []ledger.Mark) error {
	inOrder := slices.DeleteFunc(slices.Clone(marks), func(m ledger.Mark) bool { return m.Delivery != ledger.HandedOver && m.Delivery != ledger.CallerGone })
	if len(inOrder) == 0 {
		return nil
	}
	// Two that mark the same calls do not wait for each other in a ring.
	slices.SortStableFunc(inOrder, func(a, b ledger.Mark) int { return cmp.Compare(a.Call, b.Call) })
	return s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		for _, m := range inOrder {
			if _, err := tx.Exec("UPDATE tool_calls SET delivery=$2 WHERE id=$1 AND owner=$3 AND delivery=0", m.Call, int64(m.Delivery), m.Owner); err != nil {
				return err
			}
		}
		return nil
	})
}
