// This file commits the boundary of an effect: from there on it may have been sent.
package ledgerstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/bindingrows"
	"github.com/wayleave/wayleave/internal/store/reasons"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// underWay is a call in the hands of its owner, with the binding in force now.
type underWay struct {
	*callRow
	until, now int64
	facts      bindingrows.Row
}

var askUnderWay = "SELECT " + callColumns + sealedColumns + `, t.until, now_us(), ` + bindingrows.Columns + `,
 e.n, e.kind, e.conversation_id, e.provider, e.credential_owner, e.host, e.url, e.title, e.sha256, e.chars, e.artifact_id, e.at` +
	callTables + " JOIN agents a ON a.id=t.agent_id" + bindingrows.Joins("t.capability") + " LEFT JOIN evidence e ON e.call_id=t.id AND e.n=0 WHERE t.id=$1"

// readUnderWay reads, in one query, a call and what decides its binding now.
func readUnderWay(tx *sqldb.Tx, call string) (u underWay, err error) {
	u.callRow = new(callRow)
	var e evidenceRow
	var n, chars, at sql.Null[int64]
	var kind, conversation, provider, owner, host, sum, artifact sql.Null[string]
	found, err := tx.One(askUnderWay,
		[]any{call}, join(u.into(), u.intoSealed(), []any{&u.until, &u.now}, u.facts.Into(),
			[]any{&n, &kind, &conversation, &provider, &owner, &host, &e.url, &e.title, &sum, &chars, &artifact, &at})...)
	if err != nil {
		return u, err
	}
	if !found {
		return u, ledger.ErrNotFound
	}
	u.fill()
	if n.Valid {
		e.Kind, e.Conversation, e.Provider, e.CredentialOwner = kind.V, conversation.V, provider.V, owner.V
		e.Host, e.SHA256, e.Chars, e.Artifact, e.At = host.V, sum.V, chars.V, artifact.V, clock(at.V)
		u.evidence = []evidenceRow{e}
	}
	return u, nil
}

func join(lists ...[]any) []any {
	var all []any
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Dispatch takes the run's hold for an effect and moves it from admitted to dispatched. The binding is looked at once more
// first, under the settings lock.
func (s *Store) Dispatch(ctx context.Context, call, nonce string) (verdict ledger.DispatchVerdict, err error) {
	err = s.db.Certain(ctx, sqldb.Calls, func(tx *sqldb.Tx) error {
		var err error
		if verdict, err = s.dispatch(tx, call, nonce); err != nil {
			return err
		}
		if verdict != ledger.DispatchDone {
			return errTurned
		}
		s.point("dispatch.before_commit")
		return nil
	})
	switch {
	case errors.Is(err, errTurned):
		return verdict, nil
	case err != nil:
		return "", err
	}
	s.point("dispatch.after_commit")
	return verdict, nil
}

func (s *Store) dispatch(tx *sqldb.Tx, call, nonce string) (ledger.DispatchVerdict, error) {
	u, err := readUnderWay(tx, call)
	switch {
	case err != nil:
		return "", err
	case u.nonce != nonce:
		return ledger.DispatchLate, nil
	case u.State == effect.Dispatched: // by an earlier attempt of ours
		return ledger.DispatchDone, nil
	case u.State != effect.Admitted:
		return ledger.DispatchLate, nil
	}
	if _, changed := s.bindingNow(u); changed {
		return ledger.DispatchChanged, nil
	}
	var now int64
	held, err := tx.One("UPDATE runs SET hold_call=$2 WHERE id=$1 AND state='open' AND deadline>now_us() AND hold_call IS NULL RETURNING now_us()", []any{u.Run, call}, &now)
	if err != nil {
		return "", err
	}
	if !held {
		return s.inTheWayOf(tx, u, nonce)
	}
	line := reasons.Lines(clock(now), ledger.Reason{Stage: reasons.Dispatch, Fact: "the boundary is committed and the run held; from here on it may have been sent", Ref: u.Run})
	n, err := tx.Exec("UPDATE tool_calls SET state='dispatched', dispatched_at=$3, why=why||$4 WHERE id=$1 AND state='admitted' AND nonce=$2 AND until>$3",
		call, nonce, now, line)
	if err != nil {
		return "", err
	}
	if n == 0 {
		return ledger.DispatchLate, nil
	}
	return ledger.DispatchDone, nil
}

// inTheWayOf says why a run could not be held for a call.
func (s *Store) inTheWayOf(tx *sqldb.Tx, u underWay, nonce string) (ledger.DispatchVerdict, error) {
	run, err := runOf(tx, "", u.Run)
	if err != nil {
		return "", err
	}
	switch {
	case run.Hold == u.ID: // our own commit was in doubt, and did happen
		c, err := callOf(tx, "", "", u.ID)
		if err == nil && c.State == effect.Dispatched && c.nonce == nonce {
			return ledger.DispatchDone, nil
		}
		return ledger.DispatchLate, err
	case !run.Open || !run.Deadline.After(run.now):
		return ledger.DispatchOver, nil
	}
	return ledger.DispatchHeld, nil
}
