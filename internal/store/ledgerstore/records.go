// This file reads calls as the ledger knows them.
package ledgerstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/wayleave/wayleave/internal/binding"
	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/reasons"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// callColumns are read from callTables: a call without what is sealed.
const callColumns = `t.id, t.run_id, t.agent_id, r.conversation_id, t.seq, t.tool, t.capability, t.class, t.state, t.outcome, t.code,
 t.is_error, t.withheld, t.digest, t.caller_key, t.named_run, t.offer, t.nonce, t.owner, t.delivery, t.approval_id, t.why,
 t.created_at, t.dispatched_at, t.ended_at, s.meter, x.verdict, x.evidence, x.by_kind, x.by_id, x.at`

const callTables = ` FROM tool_calls t JOIN runs r ON r.id=t.run_id
 LEFT JOIN reservations s ON s.call_id=t.id LEFT JOIN reconciliations x ON x.call_id=t.id`

// hostColumn is where a call went, for lists, which have no evidence.
const hostColumn = `, (SELECT e.host FROM evidence e WHERE e.call_id=t.id AND e.host IS NOT NULL ORDER BY e.n LIMIT 1)`

// sealedColumns are the rest of a call.
const sealedColumns = `, t.args, t.result, t.late, x.note`

// callRow is a call as it was read, with what is sealed still closed.
type callRow struct {
	ledger.Record
	digest                   []byte
	nonce                    string
	args, result, late, note []byte
	evidence                 []evidenceRow

	scanned struct {
		outcome, code, key, approval, meter    sql.Null[string]
		verdict, proof, byKind, byID           sql.Null[string]
		offer, why                             string
		isError, withheld, named, delivery, at int64
		dispatched, ended, verdictAt           sql.Null[int64]
	}
}

type evidenceRow struct {
	ledger.EvidenceRow
	url, title []byte
}

// into is what callColumns scan into; fill makes the record of it.
func (c *callRow) into() []any {
	r, n := &c.Record, &c.scanned
	return []any{&r.ID, &r.Run, &r.Agent, &r.Conversation, &r.Seq, &r.Tool, &r.Capability, &r.Class, &r.State, &n.outcome, &n.code,
		&n.isError, &n.withheld, &c.digest, &n.key, &n.named, &n.offer, &c.nonce, &r.Owner, &n.delivery, &n.approval, &n.why,
		&n.at, &n.dispatched, &n.ended, &n.meter, &n.verdict, &n.proof, &n.byKind, &n.byID, &n.verdictAt}
}

// intoSealed is what sealedColumns scan into.
func (c *callRow) intoSealed() []any { return []any{&c.args, &c.result, &c.late, &c.note} }

func (c *callRow) fill() {
	r, n := &c.Record, &c.scanned
	r.Outcome, r.Code, r.Key, r.Approval = effect.Outcome(n.outcome.V), n.code.V, n.key.V, n.approval.V
	r.IsError, r.Withheld, r.Named, r.Delivery = n.isError != 0, n.withheld != 0, n.named != 0, ledger.Delivery(n.delivery)
	r.Binding, _ = binding.Parse(n.offer)
	r.Binding.Class, r.Binding.Meter = r.Class, n.meter.V
	r.Why = reasons.Read(n.why)
	r.Created, r.Dispatched, r.Ended = clock(n.at), since(n.dispatched), since(n.ended)
	if n.verdict.Valid {
		r.Verdict = &ledger.Reconciliation{Verdict: ledger.Verdict(n.verdict.V), Evidence: n.proof.V,
			By: ledger.By{Kind: n.byKind.V, ID: n.byID.V}, At: since(n.verdictAt)}
	}
}

// loadCall reads one call with all that is kept of it. where is a condition on t with its parameters.
func loadCall(tx *sqldb.Tx, where string, args ...any) (*callRow, bool, error) {
	c := new(callRow)
	found, err := tx.One("SELECT "+callColumns+sealedColumns+callTables+" WHERE "+where, args, append(c.into(), c.intoSealed()...)...)
	if err != nil || !found {
		return nil, false, err
	}
	c.fill()
	err = tx.All(`SELECT n, kind, conversation_id, provider, credential_owner, host, url, title, sha256, chars, artifact_id, at, thin FROM evidence
 WHERE call_id=$1 ORDER BY n`, []any{c.ID}, func(scan func(...any) error) error {
		e, err := scanEvidence(scan)
		c.evidence = append(c.evidence, e)
		return err
	})
	return c, true, err
}

// scanEvidence reads n, kind, conversation_id, provider, credential_owner, host, url, title, sha256, chars, artifact_id, at, thin.
func scanEvidence(scan func(...any) error) (evidenceRow, error) {
	var e evidenceRow
	var host, sum, artifact, thin sql.Null[string]
	var chars sql.Null[int64]
	var at int64
	err := scan(&e.N, &e.Kind, &e.Conversation, &e.Provider, &e.CredentialOwner, &host, &e.url, &e.title, &sum, &chars, &artifact, &at, &thin)
	e.Host, e.SHA256, e.Chars, e.Artifact, e.At, e.Thin = host.V, sum.V, chars.V, artifact.V, clock(at), thin.V
	return e, err
}

// record opens what is sealed. It is not done inside a transaction: the writer of SQLite does nothing but SQL.
func (s *Store) record(c *callRow) (ledger.Record, error) {
	r := c.Record
	for _, v := range []struct {
		column string
		box    []byte
		into   *[]byte
	}{{"args", c.args, &r.Args}, {"result", c.result, &r.Result}, {"late", c.late, &r.Late}} {
		var err error
		if *v.into, err = s.opened("tool_calls", v.column, r.ID, v.box); err != nil {
			return ledger.Record{}, err
		}
	}
	if len(r.Late) == 0 { // a report without a result came; the chain of reasons has it
		r.Late = nil
	}
	if r.Verdict != nil {
		note, err := s.opened("reconciliations", "note", r.ID, c.note)
		if err != nil {
			return ledger.Record{}, err
		}
		r.Verdict.Note = string(note)
	}
	r.Evidence = nil
	for _, e := range c.evidence {
		url, err := s.opened("evidence", "url", evidenceID(r.ID, e.N), e.url)
		if err != nil {
			return ledger.Record{}, err
		}
		title, err := s.opened("evidence", "title", evidenceID(r.ID, e.N), e.title)
		if err != nil {
			return ledger.Record{}, err
		}
		e.URL, e.Title = string(url), string(title)
		r.Evidence = append(r.Evidence, e.EvidenceRow)
	}
	return r, nil
}

// evidenceID is the row of sealed evidence: its primary key.
func evidenceID(call string, n int64) string { return fmt.Sprintf("%s/%d", call, n) }

// Call gives one call of a run of an agent's; of any agent where agent is empty, of any run where run is empty.
func (s *Store) Call(ctx context.Context, agent, run, call string) (ledger.Record, error) {
	var c *callRow
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		var err error
		c, err = callOf(tx, agent, run, call)
		return err
	})
	if err != nil {
		return ledger.Record{}, err
	}
	return s.record(c)
}

// callOf reads a call that must be there, of this agent and run where they are named.
func callOf(tx *sqldb.Tx, agent, run, call string) (*callRow, error) {
	c, found, err := loadCall(tx, "t.id=$1", plain(call))
	if err != nil {
		return nil, err
	}
	if !found || agent != "" && c.Agent != agent || run != "" && c.Run != run {
		return nil, ledger.ErrNotFound
	}
	return c, nil
}

// mostListed bounds every list.
const mostListed = 1000

func atMost(limit int) int {
	if limit <= 0 || limit > mostListed {
		return mostListed
	}
	return limit
}

const askCallsOf = callTables + " WHERE t.run_id=$1 AND t.seq>$2 ORDER BY t.seq LIMIT $3"

// CallsOf lists a run's calls after a seq, oldest first, at most limit and 1,000; without arguments, results, evidence.
func (s *Store) CallsOf(ctx context.Context, agent, run string, after int64, limit int) ([]ledger.Record, error) {
	var list []ledger.Record
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if _, err := runOf(tx, agent, run); err != nil {
			return err
		}
		list, err = listCalls(tx, askCallsOf, run, after, atMost(limit))
		return err
	})
	return list, err
}

func listCalls(tx *sqldb.Tx, from string, args ...any) ([]ledger.Record, error) {
	var list []ledger.Record
	err := tx.All("SELECT "+callColumns+hostColumn+from, args, func(scan func(...any) error) error {
		var c callRow
		var host sql.Null[string]
		if err := scan(append(c.into(), &host)...); err != nil {
			return err
		}
		c.fill()
		c.Host = host.V
		list = append(list, c.Record)
		return nil
	})
	return list, err
}
