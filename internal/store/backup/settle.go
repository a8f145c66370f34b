// This file ends what must not come to life again with a backup.
package backup

import (
	"encoding/json"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// settle runs on the tables of the backup's own schema, which may be older than this program's: it names only columns
// that schema 1 has.
func (r *Restored) settle(tx *sqldb.Tx) error {
	now, err := tx.Now()
	if err != nil {
		return err
	}
	if err := r.dates(tx); err != nil {
		return err
	}
	if err := r.calls(tx, now); err != nil {
		return err
	}
	for _, s := range []struct {
		counts *int64
		update string
		args   []any
	}{
		{&r.Runs, "UPDATE runs SET state='ended', end_reason='restored', ended_at=$1 WHERE state='open'", []any{now}},
		{&r.Approvals, "UPDATE approvals SET state='void' WHERE state IN ('open','approved')", nil},
		{&r.SignIns, "UPDATE person_credentials SET ended_at=$1 WHERE kind='session' AND ended_at IS NULL AND (expires_at IS NULL OR expires_at>$1)", []any{now}},
		{&r.Links, "UPDATE person_credentials SET ended_at=$1 WHERE kind='link' AND ended_at IS NULL AND used_at IS NULL AND (expires_at IS NULL OR expires_at>$1)", []any{now}},
		{nil, "UPDATE person_credentials SET ended_at=$1 WHERE kind IN ('session','link') AND ended_at IS NULL", []any{now}},
		{&r.Sessions, "UPDATE mcp_sessions SET ended_at=$1 WHERE ended_at IS NULL", []any{now}},
		{nil, "DELETE FROM kept_pages", nil}, // as the end of their runs does
		{nil, "DELETE FROM offers", nil},     // what was offered since is not known; no offer counts as a stale one
		{nil, "UPDATE leases SET owner=NULL, call_id=NULL, fence=fence+1", nil},
		{nil, "UPDATE notices SET claimed_by=NULL, claimed_until=NULL WHERE sent_at IS NULL", nil},
		{nil, "UPDATE processes SET dead=1 WHERE dead=0", nil},
		// A process that goes on over a database put in the place of its old one must see a change: so it is not the next
		// number, which may have been seen, but one above all that were counted.
		{nil, "UPDATE settings SET epoch=CASE WHEN epoch<$1 THEN $1 ELSE epoch+1 END", []any{now}},
	} {
		n, err := tx.Exec(s.update, s.args...)
		if err != nil {
			return err
		}
		if s.counts != nil {
			*s.counts = n
		}
	}
	if err := r.rights(tx); err != nil {
		return err
	}
	return auditstore.Append(tx, audit.Entry{Actor: "system", Verb: "install.restored", Subject: "install", Detail: map[string]any{
		"newest": r.Newest.Format(time.RFC3339), "runs_ended": r.Runs, "calls_concluded": r.Calls, "calls_uncertain": r.Uncertain,
		"approvals_voided": r.Approvals, "sign_ins_ended": r.SignIns, "links_ended": r.Links, "tokens_alive": len(r.Tokens)}})
}

// noticeUncertain is the kind of notice that an effect of unknown outcome leaves.
const noticeUncertain = "effect_uncertain"

// calls concludes what was in flight, as a sweep does after its process died, and gives up what was not delivered. An
// effect that may have happened keeps its run's hold, and a person hears of it.
func (r *Restored) calls(tx *sqldb.Tx, now int64) error {
	line, err := json.Marshal(ledger.Reason{Stage: "outcome", At: at(now), Fact: "a backup was restored in which it was in flight: what was not sent failed; what may have been sent is lost if it only looked, else uncertain"})
	if err != nil {
		return err
	}
	type effect struct{ call, run string }
	var effects []effect
	if err := tx.All("SELECT id, run_id FROM tool_calls WHERE state='dispatched' AND class='effect' ORDER BY id", nil, func(scan func(...any) error) error {
		var e effect
		err := scan(&e.call, &e.run)
		effects = append(effects, e)
		return err
	}); err != nil {
		return err
	}
	for _, e := range effects {
		if _, err := tx.Exec("INSERT INTO notices (id, kind, subject_id, run_id, created_at) VALUES ($1, $2, $3, $4, $5)", rowid.New("notice"), noticeUncertain, e.call, e.run, now); err != nil {
			return err
		}
	}
	if _, err := tx.One("SELECT count(*) FROM tool_calls WHERE state='dispatched' AND class<>'observation'", nil, &r.Uncertain); err != nil {
		return err
	}
	r.Calls, err = tx.Exec(`UPDATE tool_calls SET ended_at=$1, delivery=2, code='abandoned', is_error=1, why=why||$2,
 outcome=CASE WHEN state='admitted' THEN 'not_dispatched' WHEN class='observation' THEN 'lost' ELSE 'uncertain' END,
 state=CASE WHEN state='admitted' OR class='observation' THEN 'failed' ELSE 'uncertain' END
 WHERE state IN ('admitted','dispatched')`, now, string(line)+"\n")
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE tool_calls SET delivery=2 WHERE delivery=0 AND state<>'refused'")
	return err
}

// dates finds out how old the backup is at most.
func (r *Restored) dates(tx *sqldb.Tx) error {
	var newest int64
	for _, latest := range []string{"max(created_at) FROM settings", "max(at) FROM audit", "max(created_at) FROM runs", "max(created_at) FROM tool_calls", "max(started_at) FROM processes"} {
		var us *int64
		if _, err := tx.One("SELECT "+latest, nil, &us); err != nil {
			return err
		}
		if us != nil {
			newest = max(newest, *us)
		}
	}
	r.Newest = at(newest)
	return nil
}

// rights lists what opens something again.
func (r *Restored) rights(tx *sqldb.Tx) error {
	if err := tx.All(`SELECT t.id, 'agent', a.slug, t.scope, '', t.created_at, t.used_at FROM agent_tokens t JOIN agents a ON a.id=t.agent_id
 WHERE t.revoked_at IS NULL AND a.state='active'
 UNION ALL SELECT c.id, 'person', p.name, p.role, coalesce(c.label, ''), c.created_at, c.used_at FROM person_credentials c JOIN people p ON p.id=c.person_id
 WHERE c.kind='token' AND c.ended_at IS NULL AND (c.expires_at IS NULL OR c.expires_at>now_us()) AND p.state='active' ORDER BY 2, 3, 1`, nil, func(scan func(...any) error) error {
		var t Token
		var made int64
		var used *int64
		err := scan(&t.ID, &t.Kind, &t.Of, &t.Scope, &t.Label, &made, &used)
		t.Made = at(made)
		if used != nil {
			t.Used = at(*used)
		}
		r.Tokens = append(r.Tokens, t)
		return err
	}); err != nil {
		return err
	}
	return tx.All("SELECT h.host, coalesce(a.slug, ''), h.created_at FROM allowed_hosts h LEFT JOIN agents a ON a.id=h.agent_id ORDER BY 2, 1", nil, func(scan func(...any) error) error {
		var h Host
		var made int64
		err := scan(&h.Host, &h.Agent, &made)
		h.Made = at(made)
		r.Hosts = append(r.Hosts, h)
		return err
	})
}

func at(us int64) time.Time { return time.UnixMicro(us).UTC() }
