// This file admits calls: it looks for the same one, judges, counts, and writes, in one transaction.
package ledgerstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/reasons"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const (
	// grace is how long after the time of its tool a call may still be settled.
	grace = 30 * time.Second
	// minute is the length of a minute meter, in the database's microseconds.
	minute = 60_000_000
	// doubts is how often an admission is tried again whose commit was in doubt.
	doubts = 2
	// looks is how often an admission looks again because somebody else wrote the same call meanwhile.
	looks = 8
)

// entry is an admission with what was made ready before its transaction.
type entry struct {
	ledger.Admission
	args, url []byte // sealed
}

// found is what a transaction learned before it was undone, or did.
type found struct {
	kind    ledger.AdmitKind
	twin    bool
	row     *callRow
	record  ledger.Record // of a fresh call
	binding binding.Binding
	left    time.Duration
	refused *ledger.Refusal
	offer   string // the fingerprint that was offered, for the refusal's row
	renew   bool   // the offer is not as it should be
	burn    bool   // the approval was presented wrongly
	again   bool   // somebody else wrote the same call meanwhile: look again
}

// Admit lets a call in, or says what is in its way.
func (s *Store) Admit(ctx context.Context, a ledger.Admission) (ledger.Admitted, error) {
	if a.ID == "" {
		a.ID = rowid.New("call")
	}
	e := entry{Admission: a}
	var err error
	if e.args, err = s.sealed("tool_calls", "args", a.ID, a.Args); err != nil {
		return ledger.Admitted{}, err
	}
	if a.Source.URL != "" {
		if e.url, err = s.sealed("evidence", "url", evidenceID(a.ID, 0), []byte(a.Source.URL)); err != nil {
			return ledger.Admitted{}, err
		}
	}
	for n := 0; ; n++ {
		f, err := s.admitOnce(ctx, e)
		switch {
		case n < doubts && errors.Is(err, sqldb.ErrInDoubt): // the nonce tells whether it happened
		case err != nil:
			return ledger.Admitted{}, err
		case f.refused != nil:
			return ledger.Admitted{}, s.turnAway(ctx, a, f)
		case f.again && n < looks:
		case f.again:
			return ledger.Admitted{}, errors.New("admit: others write the same call at this moment; try again")
		default:
			return s.admitted(f)
		}
	}
}

// admitted makes the answer.
func (s *Store) admitted(f found) (ledger.Admitted, error) {
	out := ledger.Admitted{Kind: f.kind, Twin: f.twin, Record: f.record, Binding: f.binding, Left: f.left}
	if f.row == nil {
		return out, nil
	}
	var err error
	out.Record, err = s.record(f.row)
	return out, err
}

// admitOnce is one attempt: a transaction, and for a twin whose answer never arrived a second one that makes it ours.
func (s *Store) admitOnce(ctx context.Context, e entry) (f found, err error) {
	err = s.db.Write(ctx, sqldb.Calls, func(tx *sqldb.Tx) error {
		f = found{}
		if err := s.judge(tx, e, &f); err != nil {
			return err
		}
		s.point("admit.before_commit")
		return nil
	})
	switch {
	case errors.Is(err, errTurned):
		if f.kind == ledger.TwinFinal {
			return s.claim(ctx, e, f)
		}
		return f, nil
	case err == nil:
		s.point("admit.after_commit")
	}
	return f, err
}

// judge is the transaction of an admission. errTurned undoes it; f says why.
func (s *Store) judge(tx *sqldb.Tx, e entry, f *found) error {
	a := e.Ask
	turned := func(r *ledger.Refusal) error {
		f.refused = r
		return errTurned
	}
	g, err := s.groundOf(tx, a)
	if err != nil {
		return err
	}
	if !g.agent {
		return ledger.ErrNotFound
	}
	f.offer = g.offer.fingerprint.V
	row, conflict, err := same(tx, a, g)
	switch {
	case err != nil:
		return err
	case conflict != nil:
		return turned(conflict)
	case row != nil:
		f.kind, f.row = ledger.Repeat, row
		if row.nonce == e.Nonce && !row.State.Final() { // our own attempt, whose commit was in doubt, did happen
			f.kind, f.binding = ledger.Fresh, row.Binding
			f.left, err = leftOf(tx, row.ID)
			return err
		}
		return errTurned
	}
	if r := offered(a, g); r != nil {
		f.renew = g.token && r.Code != "paused"
		return turned(r)
	}
	run, ok, err := enter(tx, a)
	switch {
	case err != nil:
		return err
	case !ok:
		r, err := overRefusal(tx, a)
		if err != nil {
			return err
		}
		f.again = r == nil // it was over when the row was asked and is not now: the clock was moved
		return turned(r)
	case run.calls > run.most:
		return turned(callLimit(a, run.most))
	}
	if effectClass(a) {
		way, err := met(tx, a, run.hold, clock(run.now))
		switch {
		case err != nil:
			return err
		case way.refused != nil:
			return turned(way.refused)
		case way.wait != nil:
			f.kind, f.twin, f.row = ledger.WaitFor, way.twin, way.wait
			return errTurned
		case way.answer != nil:
			f.kind, f.twin, f.row = ledger.TwinFinal, true, way.answer
			return errTurned
		}
	}
	return s.count(tx, e, g, run, f)
}

// entered is a run as an admission found it.
type entered struct {
	calls, seq, most, deadline, now int64
	hold, conversation              string
}

const enterRun = `UPDATE runs SET calls=calls+1, idle_until=CASE WHEN idle_until>now_us()+idle THEN idle_until ELSE now_us()+idle END
 WHERE id=$1 AND agent_id=$2 AND state='open' AND deadline>now_us()
 AND (idle_until IS NULL OR idle_until>now_us() OR (kind='implicit' AND hold_call IS NOT NULL))
 RETURNING calls, refused, max_tool_calls, deadline, coalesce(hold_call,''), conversation_id, now_us()`

// enter counts the call in its run, which locks the run, and gives the one time of the transaction. ok is false where the
// run lets nothing in, or is not the agent's.
func enter(tx *sqldb.Tx, a ledger.Ask) (r entered, ok bool, err error) {
	var refused int64
	ok, err = tx.One(enterRun,
		[]any{a.Run, a.Agent}, &r.calls, &refused, &r.most, &r.deadline, &r.hold, &r.conversation, &r.now)
	r.seq = r.calls + refused // refusals have a place in the order too
	return r, ok, err
}

// count uses up the approval, writes the call with its source and reservation, and counts it in both meters.
func (s *Store) count(tx *sqldb.Tx, e entry, g ground, run entered, f *found) error {
	a, b, now := e.Ask, g.resolution.Binding, run.now
	meter := b.Meter
	if !a.Unit || meter == "" {
		meter = binding.Uncounted
	}
	why := append(slices.Clone(a.Why), ledger.Reason{Stage: reasons.Offer, Fact: "as offered: " + reasons.Bound(a.Tool, b)})
	if a.Approval != nil {
		used, err := useUp(tx, e, now)
		if err != nil {
			return err
		}
		if !used.ok {
			f.refused, f.burn = refusal(a, "approval_required", ledger.Facts{Approval: a.Approval.ID}), true
			return errTurned
		}
		why = append(why, ledger.Reason{Stage: reasons.Policy, Fact: used.fact, Ref: a.Approval.ID})
	}
	why = append(why, ledger.Reason{Stage: reasons.Admission, Fact: reasons.Counted(run.calls, run.most, meter, b)})
	for i := range why {
		if why[i].At.IsZero() {
			why[i].At = clock(now)
		}
	}

	until := min(now+a.Bound.Microseconds(), run.deadline) + grace.Microseconds()
	state, dispatched := effect.Dispatched, any(now) // a fresh admission is the right to send
	if effectClass(a) {
		state, dispatched = effect.Admitted, nil
	}
	var approval string
	if a.Approval != nil {
		approval = a.Approval.ID
	}
	made, err := tx.Exec(`INSERT INTO tool_calls(id, run_id, agent_id, seq, tool, capability, class, state, digest, caller_key, named_run, offer,
 nonce, owner, until, args, approval_id, why, created_at, dispatched_at)
 VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20) ON CONFLICT DO NOTHING`,
		a.ID, a.Run, a.Agent, run.seq, a.Tool, a.Capability, string(a.Class), string(state), a.Digest, maybe(a.Key), flag(a.Named), g.fingerprint,
		e.Nonce, e.Process, until, e.args, maybe(approval), reasons.Lines(clock(now), why...), now, dispatched)
	if err != nil {
		return err
	}
	if made == 0 { // somebody has this id or key
		f.again = true
		return errTurned
	}
	if _, err := tx.Exec(`INSERT INTO evidence(call_id, n, kind, conversation_id, provider, credential_owner, host, url, at)
 VALUES($1,0,'source',$2,$3,$4,$5,$6,$7)`, a.ID, run.conversation, b.Provider, b.CredentialOwner(), maybe(a.Source.Host), e.url, now); err != nil {
		return err
	}
	refused, err := s.meters(tx, e, b, meter, run)
	switch {
	case err != nil:
		return err
	case refused != nil:
		f.refused = refused
		return errTurned
	}

	f.kind, f.binding, f.left = ledger.Fresh, b, time.Duration(until-now)*time.Microsecond
	f.record = ledger.Record{ID: a.ID, Run: a.Run, Agent: a.Agent, Conversation: run.conversation, Seq: run.seq, Tool: a.Tool, Capability: a.Capability,
		Class: a.Class, State: state, Key: a.Key, Named: a.Named, Owner: e.Process, Approval: approval, Binding: b, Args: a.Args,
		Why: why, Created: clock(now)}
	f.record.Evidence = []ledger.EvidenceRow{{Provider: b.Provider, CredentialOwner: b.CredentialOwner(), Conversation: run.conversation, At: clock(now),
		Evidence: ledger.Evidence{Kind: "source", Host: a.Source.Host, URL: a.Source.URL}}}
	if state == effect.Dispatched {
		f.record.Dispatched = clock(now)
	}
	return nil
}

// A unit is counted where the meter is below its limit, also the first one: INSERT … VALUES would not be guarded.
const (
	countInRun = `INSERT INTO run_meters(run_id, capability, used) SELECT $1, $2, 1 WHERE CAST($3 AS BIGINT)>=1
 ON CONFLICT(run_id, capability) DO UPDATE SET used=run_meters.used+1 WHERE run_meters.used<$3`
	countInMinute = `INSERT INTO minute_meters(meter, capability, minute, used) SELECT $1, $2, CAST($3 AS BIGINT), 1 WHERE CAST($4 AS BIGINT)>=1
 ON CONFLICT(meter, capability, minute) DO UPDATE SET used=minute_meters.used+1 WHERE minute_meters.used<$4`
)

// meters counts the unit and reserves it. The minute comes last: its row is shared by all runs, and so its lock lasts
// only as long as the commit.
func (s *Store) meters(tx *sqldb.Tx, e entry, b binding.Binding, meter string, run entered) (*ledger.Refusal, error) {
	a := e.Ask
	at := run.now / minute
	if meter != binding.Uncounted {
		n, err := tx.Exec(countInRun, a.Run, a.Capability, limitOf(b.RunLimit))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			used, err := usedOf(tx, "SELECT used FROM run_meters WHERE run_id=$1 AND capability=$2", a.Run, a.Capability)
			return refusal(a, "run_limit", ledger.Facts{Used: used, Limit: b.RunLimit, LimitOf: b.RunLimitOf, Capability: a.Capability}), err
		}
	}
	if _, err := tx.Exec(`INSERT INTO reservations(call_id, run_id, agent_id, capability, meter, minute, provider, credential_owner, connection_version, account_version, at)
 VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)`, a.ID, a.Run, a.Agent, a.Capability, meter, at, b.Provider, b.CredentialOwner(), b.ConnectionVersion,
		b.AccountVersion, run.now); err != nil {
		return nil, err
	}
	if meter == binding.Uncounted {
		return nil, nil
	}
	n, err := tx.Exec(countInMinute, meter, a.Capability, at, limitOf(b.MinuteLimit))
	if err != nil || n == 1 {
		return nil, err
	}
	used, err := usedOf(tx, "SELECT used FROM minute_meters WHERE meter=$1 AND capability=$2 AND minute=$3", meter, a.Capability, at)
	wait := time.Duration((at+1)*minute-run.now) * time.Microsecond
	return refusal(a, "rate_limit", ledger.Facts{Used: used, Limit: b.MinuteLimit, LimitOf: "connection", Capability: a.Capability, Wait: wait}), err
}

// limitOf makes a limit that is never reached of none.
func limitOf(limit int64) int64 {
	if limit == 0 {
		return math.MaxInt64
	}
	return limit
}

func usedOf(tx *sqldb.Tx, query string, args ...any) (used int64, err error) {
	_, err = tx.One(query, args, &used)
	return used, err
}

// leftOf is what remains of a call's time.
func leftOf(tx *sqldb.Tx, call string) (time.Duration, error) {
	var left int64
	found, err := tx.One("SELECT until-now_us() FROM tool_calls WHERE id=$1", []any{call}, &left)
	if err == nil && !found {
		err = fmt.Errorf("call %s is gone", call)
	}
	return time.Duration(left) * time.Microsecond, err
}

// claim makes a finished effect whose answer never arrived ours to deliver; of two that try, one does.
func (s *Store) claim(ctx context.Context, e entry, f found) (found, error) {
	err := s.db.Write(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		n, err := tx.Exec("UPDATE tool_calls SET delivery=0, owner=$2 WHERE id=$1 AND delivery=2 AND state IN ('succeeded','failed','uncertain')", f.row.ID, e.Process)
		f.again = n == 0
		return err
	})
	if errors.Is(err, sqldb.ErrInDoubt) { // a recorded answer given twice sends nothing
		f.again, err = false, nil
	}
	f.row.Delivery, f.row.Owner = ledger.Waiting, e.Process
	return f, err
}
