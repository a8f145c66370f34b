// This file keeps refusals: what was not let in, and why. Nothing was counted for it and nothing sent.
package ledgerstore

import (
	"context"
	"slices"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/bindingrows"
	"github.com/wayleave/wayleave/internal/store/reasons"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// mostRefused is how many refusals of a run are kept as rows; after that they are only counted.
const mostRefused = 1000

// Refuse keeps a refusal that was decided outside Admit, with its text, and gives the id under which it is kept.
func (s *Store) Refuse(ctx context.Context, a ledger.Ask, code string, why []ledger.Reason, result []byte) (string, error) {
	s.point("refuse.before_row")
	return s.keep(ctx, sqldb.Free, &refusedRow{ask: a, code: code, why: why, result: result}, nil)
}

// turnAway keeps what an admission was refused for and gives it as the error. For a stale offer it writes the fresh one in
// the same transaction, resolved anew under the lock; a presented approval that was wrong is burned.
func (s *Store) turnAway(ctx context.Context, a ledger.Admission, f found) error {
	r := f.refused
	s.point("refuse.before_row")
	row := &refusedRow{ask: a.Ask, nonce: a.Nonce, process: a.Process, code: r.Code, offer: f.offer, result: a.Worded(r)}
	stage := reasons.Admission
	switch r.Code {
	case "capability_disabled", "stale_offer", "paused":
		stage = reasons.Offer
	case "approval_required":
		stage = reasons.Policy
	}
	ref := r.Other
	if ref == "" {
		ref = r.Approval
	}
	lock := sqldb.Free
	if f.renew { // what it says is known under the lock
		lock = sqldb.Calls
	}
	id, err := s.keep(ctx, lock, row, func(tx *sqldb.Tx, now int64) ([]ledger.Reason, error) {
		switch {
		case f.burn:
			if err := burn(tx, a.Ask, now); err != nil {
				return nil, err
			}
		case f.renew:
			if err := s.renew(tx, a.Ask, r); err != nil {
				return nil, err
			}
			row.code, row.result = r.Code, a.Worded(r)
		}
		return []ledger.Reason{{Stage: stage, Fact: a.Refused(r.Code, reasons.Refused(r)), Ref: ref}}, nil
	})
	if err != nil {
		return err
	}
	r.Call = id
	return r
}

// renew writes the offer as it is under the lock, and tells the refusal what it is now.
func (s *Store) renew(tx *sqldb.Tx, a ledger.Ask, r *ledger.Refusal) error {
	facts, found, err := bindingrows.Of(tx, a.Agent, a.Capability)
	if err != nil {
		return err
	}
	if !found {
		return ledger.ErrNotFound
	}
	fresh := s.resolve(facts, a.Capability, a.Tool, a.Profile)
	if r.Code = "stale_offer"; fresh.Off != "" {
		r.Code, r.Reason, r.Now = "capability_disabled", fresh.Off, nil
	} else {
		r.Now, r.Reason = &fresh.Binding, ""
	}
	return writeOffer(tx, a.Audience, a.Tool, fresh)
}

// refusedRow is a refusal to be kept.
type refusedRow struct {
	ask                         ledger.Ask
	nonce, process, code, offer string
	why                         []ledger.Reason
	result                      []byte
}

// keep counts a refusal in its run and writes its row, unless the run has too many. more is done in the same transaction,
// under the run's lock; what it gives is added to the chain of reasons.
func (s *Store) keep(ctx context.Context, lock sqldb.Lock, row *refusedRow, more func(*sqldb.Tx, int64) ([]ledger.Reason, error)) (string, error) {
	a, id := row.ask, rowid.New("call")
	args, err := s.sealed("tool_calls", "args", id, a.Args)
	if err != nil {
		return "", err
	}
	digest := a.Digest
	if digest == nil { // of arguments that cannot be read there is none
		digest = []byte{}
	}
	kept := false
	err = s.db.Certain(ctx, lock, func(tx *sqldb.Tx) error {
		kept = false
		var calls, refused, now int64
		found, err := tx.One("UPDATE runs SET refused=refused+1 WHERE id=$1 AND agent_id=$2 RETURNING calls, refused, now_us()", []any{a.Run, a.Agent}, &calls, &refused, &now)
		if err != nil {
			return err
		}
		if !found {
			return ledger.ErrNotFound
		}
		why := slices.Concat(a.Why, row.why)
		if more != nil {
			added, err := more(tx, now)
			if err != nil {
				return err
			}
			why = append(why, added...)
		}
		if refused > mostRefused {
			return nil
		}
		kept = true
		result, err := s.sealed("tool_calls", "result", id, row.result)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO tool_calls(id, run_id, agent_id, seq, tool, capability, class, state, code, is_error, digest, caller_key, named_run, offer,
 nonce, owner, until, args, result, why, created_at, ended_at)
 VALUES($1,$2,$3,$4,$5,$6,$7,'refused',$8,1,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$15,$15) ON CONFLICT DO NOTHING`,
			id, a.Run, a.Agent, calls+refused, a.Tool, a.Capability, string(a.Class), row.code, digest, maybe(a.Key), flag(a.Named), row.offer,
			row.nonce, row.process, now, args, result, reasons.Lines(clock(now), why...))
		return err
	})
	if err != nil || !kept {
		return "", err
	}
	return id, nil
}
