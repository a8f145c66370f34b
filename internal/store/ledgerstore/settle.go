// This file concludes calls: by their owner, in time or late.
package ledgerstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/reasons"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// codeChanged is the code of a call whose binding changed while it ran.
const codeChanged = "binding_changed"

// bindingNow resolves a call's binding anew and says whether it differs from the one that it was admitted under. It gives
// nil where the tool is not offered any more.
func (s *Store) bindingNow(u underWay) (now *binding.Binding, changed bool) {
	r := s.resolve(u.facts.Facts(), u.Capability, u.Tool, u.Binding.Profile)
	if r.Off != "" {
		return nil, true
	}
	return &r.Binding, r.Binding.Fingerprint() != u.scanned.offer
}

// report is a settlement with what was made ready before its transaction.
type report struct {
	ledger.Settlement
	result   []byte // sealed
	evidence []sealedEvidence
}

type sealedEvidence struct {
	ledger.Evidence
	url, title []byte
}

// Settle concludes a call that is in the state which its owner thinks it leaves.
func (s *Store) Settle(ctx context.Context, st ledger.Settlement) (ledger.Settled, error) {
	r := report{Settlement: st}
	var err error
	if r.result, err = s.sealed("tool_calls", "result", st.Call, st.Result); err != nil {
		return ledger.Settled{}, err
	}
	for i, e := range st.Evidence {
		sealed := sealedEvidence{Evidence: e}
		for _, v := range []struct {
			column, text string
			into         *[]byte
		}{{"url", e.URL, &sealed.url}, {"title", e.Title, &sealed.title}} {
			if v.text == "" {
				continue
			}
			if *v.into, err = s.sealed("evidence", v.column, evidenceID(st.Call, int64(i+1)), []byte(v.text)); err != nil {
				return ledger.Settled{}, err
			}
		}
		r.evidence = append(r.evidence, sealed)
	}

	var out ledger.Settled
	var row *callRow
	var late bool
	err = s.db.Certain(ctx, sqldb.Calls, func(tx *sqldb.Tx) (err error) {
		if row, out.Now, late, err = s.settle(tx, r); err != nil {
			return err
		}
		if late {
			return errTurned
		}
		s.point("settle.before_commit")
		return nil
	})
	switch {
	case errors.Is(err, errTurned):
		out.Late, out.Now = true, nil
		if row, err = s.keepLate(ctx, r); err != nil {
			return ledger.Settled{}, err
		}
	case err != nil:
		return ledger.Settled{}, err
	default:
		s.point("settle.after_commit")
	}
	fresh := len(r.result) > 0 && len(row.result) > 0 && &row.result[0] == &r.result[0]
	if fresh { // what was sealed here need not be opened again
		row.result = nil
	}
	if out.Record, err = s.record(row); err != nil {
		return ledger.Settled{}, err
	}
	if fresh {
		out.Record.Result = st.Result
	}
	if out.Withheld = out.Record.Withheld && !out.Late; !out.Withheld {
		out.Now = nil
	}
	return out, nil
}

// settle is the transaction. late says that the row is not in the state that it should leave, or not ours.
func (s *Store) settle(tx *sqldb.Tx, r report) (row *callRow, bound *binding.Binding, late bool, err error) {
	u, err := readUnderWay(tx, r.Call)
	if err != nil {
		return nil, nil, false, err
	}
	if !mayFollow(u.Class, r.From, r.State) {
		return nil, nil, false, fmt.Errorf("settle %s: a call of class %s does not go from %s to %s", r.Call, u.Class, r.From, r.State)
	}
	bound, changed := s.bindingNow(u)
	if u.nonce == r.Nonce && u.State == r.State && u.State.Final() && u.Outcome == r.Outcome && (u.Code == r.Code || u.Withheld) {
		return u.callRow, bound, false, nil // our own commit was in doubt, and did happen
	}
	if u.nonce != r.Nonce || u.State != r.From {
		return u.callRow, nil, true, nil
	}
	end := endOf(r, u.Tool, bound, changed)
	now := u.now
	if r.From == effect.Dispatched && u.Class == effect.Effect && r.State != effect.Uncertain {
		if _, err := tx.One("UPDATE runs SET hold_call=NULL WHERE id=$1 AND hold_call=$2 RETURNING now_us()", []any{u.Run, r.Call}, &now); err != nil {
			return nil, nil, false, err
		}
	}
	why := reasons.Lines(clock(now), end.why...)
	n, err := tx.Exec(`UPDATE tool_calls SET state=$4, outcome=$5, code=$6, is_error=$7, withheld=$8, result=$9,
 delivery=CASE WHEN $10=1 AND delivery=0 THEN 2 ELSE delivery END, why=why||$11, ended_at=$12 WHERE id=$1 AND nonce=$2 AND state=$3`,
		r.Call, r.Nonce, string(r.From), string(r.State), maybe(string(r.Outcome)), maybe(end.code), flag(end.isError), flag(end.withheld), end.result,
		flag(r.Gone), why, now)
	if err != nil {
		return nil, nil, false, err
	}
	if n == 0 {
		return u.callRow, nil, true, nil
	}
	if err := keepEvidence(tx, u, end.evidence, now); err != nil {
		return nil, nil, false, err
	}
	if u.Class == effect.Effect && r.State == effect.Uncertain {
		if err := tellUncertain(tx, r.Call, u.Run, now); err != nil {
			return nil, nil, false, err
		}
	}
	c := u.callRow
	c.State, c.Outcome, c.Code, c.IsError, c.Withheld = r.State, r.Outcome, end.code, end.isError, end.withheld
	c.result, c.Ended = end.result, clock(now)
	c.Why = append(c.Why, reasons.Read(why)...)
	if r.Gone && c.Delivery == ledger.Waiting {
		c.Delivery = ledger.CallerGone
	}
	for i, e := range end.evidence {
		c.evidence = append(c.evidence, evidenceRow{url: e.url, title: e.title, EvidenceRow: ledger.EvidenceRow{N: int64(i + 1), Provider: u.Binding.Provider,
			CredentialOwner: u.Binding.CredentialOwner(), Conversation: u.Conversation, At: clock(now), Evidence: e.Evidence}})
	}
	return c, bound, false, nil
}

// mayFollow says whether any event leads from one state to a final other one.
func mayFollow(c effect.Class, from, to effect.State) bool {
	for _, e := range []effect.Event{effect.Done, effect.TurnedAway, effect.Break, effect.LoseTrack} {
		if next, ok := effect.Next(c, from, e); ok && next == to && to.Final() && !from.Final() {
			return true
		}
	}
	return false
}

// end is what is written of a report.
type end struct {
	code              string
	isError, withheld bool
	result            []byte
	evidence          []sealedEvidence
	why               []ledger.Reason
}

// endOf decides what of a report is kept. Under a binding that changed meanwhile nothing of a page is: the outcome stays
// true, and the content is dropped before it is stored. What was read counts as evidence only where the call succeeded.
func endOf(r report, tool string, now *binding.Binding, changed bool) end {
	e := end{code: r.Code, isError: r.IsError, result: r.result, why: []ledger.Reason{{Stage: reasons.Outcome, Fact: outcomeFact(r)}}}
	if changed {
		e.withheld, e.result = true, nil
		if r.State == effect.Succeeded {
			e.code, e.isError = codeChanged, true
		}
		e.why = append(e.why, ledger.Reason{Stage: reasons.Offer, Fact: reasons.Withheld(tool, now)})
		return e
	}
	for _, seen := range r.evidence {
		if seen.Kind == "source" || r.State == effect.Succeeded {
			e.evidence = append(e.evidence, seen)
		}
	}
	return e
}

func outcomeFact(r report) string {
	fact := string(r.State)
	kept := r.Outcome == effect.NotDispatched && r.Code == "" && r.Why != "" // the why says it better
	if r.Outcome != "" && string(r.Outcome) != fact && !kept {
		fact += ", " + string(r.Outcome)
	}
	if r.Code != "" {
		fact += " (" + r.Code + ")"
	}
	if r.Why != "" {
		fact += ": " + r.Why
	}
	return fact
}

// keepEvidence writes all of a call's evidence beyond its source in one statement.
func keepEvidence(tx *sqldb.Tx, u underWay, list []sealedEvidence, now int64) error {
	if len(list) == 0 {
		return nil
	}
	args := []any{u.ID, u.Conversation, u.Binding.Provider, u.Binding.CredentialOwner(), now}
	var rows []string
	for i, e := range list {
		n := len(args)
		rows = append(rows, fmt.Sprintf("($1,%d,$%d,$2,$3,$4,$%d,$%d,$%d,$%d,$%d,$%d,$5,$%d)", i+1, n+1, n+2, n+3, n+4, n+5, n+6, n+7, n+8))
		args = append(args, e.Kind, maybe(e.Host), e.url, e.title, maybe(e.SHA256), number(e.Chars), maybe(e.Artifact), maybe(e.Thin))
	}
	_, err := tx.Exec(`INSERT INTO evidence(call_id, n, kind, conversation_id, provider, credential_owner, host, url, title, sha256, chars, artifact_id, at, thin)
 VALUES`+strings.Join(rows, ","), args...)
	return err
}

// number makes NULL of what was not counted.
func number(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// tellUncertain leaves the notice that a person must hear of an effect of unknown outcome.
func tellUncertain(tx *sqldb.Tx, call, run string, now int64) error {
	_, err := tx.Exec("INSERT INTO notices(id, kind, subject_id, run_id, created_at) VALUES($1,'effect_uncertain',$2,$3,$4)", rowid.New("notice"), call, run, now)
	return err
}

// keepLate keeps what came too late, once, for whoever reconciles: sealed, and believed by nobody. It gives the call as it
// stands. What comes while the call is still in flight says nothing yet.
func (s *Store) keepLate(ctx context.Context, r report) (*callRow, error) {
	text := r.Result
	if text == nil {
		text = []byte{} // not NULL: a report came, and the next one is not kept
	}
	box, err := s.sealed("tool_calls", "late", r.Call, text)
	if err != nil {
		return nil, err
	}
	var row *callRow
	err = s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		now, err := tx.Now()
		if err != nil {
			return err
		}
		fact := "its owner reported after it was concluded, which is kept and changes nothing: " + outcomeFact(r)
		if _, err := tx.Exec(`UPDATE tool_calls SET late=$3, why=why||$4 WHERE id=$1 AND nonce=$2 AND late IS NULL AND state IN ('succeeded','failed','uncertain')`,
			r.Call, r.Nonce, box, reasons.Lines(clock(now), ledger.Reason{Stage: reasons.Outcome, Fact: fact})); err != nil {
			return err
		}
		row, err = callOf(tx, "", "", r.Call)
		return err
	})
	return row, err
}
