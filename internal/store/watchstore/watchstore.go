// Package watchstore reads what people look at across runs: what is open, under way, uncertain, and how full the meters
// became. It writes nothing.
package watchstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/operatorapi"
	"github.com/wayleave/wayleave/internal/seal"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// most bounds every list.
const most = 1000

// Store is an operatorapi.Watch.
type Store struct {
	db     *sqldb.DB
	sealer seal.Sealer // nil: runs are told without their titles
}

// New makes a store that tells runs without their titles, which are sealed.
func New(db *sqldb.DB) *Store { return &Store{db: db} }

// Titled is the store with the titles.
func (s *Store) Titled(sealer seal.Sealer) *Store { return &Store{s.db, sealer} }

// query is a text with numbered parameters, built of constants of this file; what is asked for stands in args alone.
type query struct {
	args []any
}

func (q *query) param(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

// of is the condition that a row is of one of these agents; nil means all, none means none.
func (q *query) of(column string, agents []string) string {
	if agents == nil {
		return "1=1"
	}
	if len(agents) == 0 {
		return "1=0"
	}
	in := make([]string, len(agents))
	for i, a := range agents {
		in[i] = q.param(a)
	}
	return column + " IN (" + strings.Join(in, ",") + ")"
}

func bounded(limit int) int {
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

// Open lists open runs, newest first.
func (s *Store) Open(ctx context.Context, agents []string, limit int) (list []ledger.Run, err error) {
	var q query
	var titles [][]byte
	text := `SELECT id, agent_id, kind, coalesce(client, ''), audience, conversation_id, title, title_sealed, deadline, idle_until, max_tool_calls, calls, refused, hold_call, created_at
FROM runs WHERE state = 'open' AND deadline > now_us() AND ` + q.of("agent_id", agents) + ` ORDER BY created_at DESC, id DESC LIMIT ` + q.param(bounded(limit))
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		list, titles = nil, nil
		return tx.All(text, q.args, func(scan func(...any) error) error {
			r := ledger.Run{Open: true}
			var title, hold sql.Null[string]
			var sealed []byte
			var deadline, created int64
			var idle sql.Null[int64]
			err := scan(&r.ID, &r.Agent, &r.Kind, &r.Client, &r.Audience, &r.Conversation, &title, &sealed, &deadline, &idle, &r.MaxCalls, &r.Calls, &r.Refused, &hold, &created)
			r.Title, r.Hold, r.Deadline, r.IdleUntil, r.Created = title.V, hold.V, at(deadline), maybe(idle), at(created)
			list, titles = append(list, r), append(titles, sealed)
			return err
		})
	})
	for i, box := range titles {
		if err != nil || box == nil || s.sealer == nil { // no title, or one of a program that did not seal it
			continue
		}
		var title []byte
		title, err = s.sealer.Open(seal.Place{Table: "runs", Column: "title_sealed", Row: list[i].ID}, box)
		list[i].Title = string(title)
	}
	if err != nil {
		return nil, fmt.Errorf("list open runs: %w", err)
	}
	return list, nil
}

const callColumns = `SELECT t.id, t.run_id, t.agent_id, r.conversation_id, t.seq, t.tool, t.capability, t.class, t.state, t.outcome, t.code, t.is_error, t.owner,
t.created_at, t.dispatched_at, t.ended_at FROM tool_calls t JOIN runs r ON r.id = t.run_id WHERE `

func (s *Store) calls(ctx context.Context, text string, args []any) (list []ledger.Record, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		list = nil
		return tx.All(callColumns+text, args, func(scan func(...any) error) error {
			var c ledger.Record
			var outcome, code sql.Null[string]
			var isError, created int64
			var dispatched, ended sql.Null[int64]
			err := scan(&c.ID, &c.Run, &c.Agent, &c.Conversation, &c.Seq, &c.Tool, &c.Capability, &c.Class, &c.State, &outcome, &code, &isError, &c.Owner,
				&created, &dispatched, &ended)
			c.Outcome, c.Code, c.IsError = effect.Outcome(outcome.V), code.V, isError != 0
			c.Created, c.Dispatched, c.Ended = at(created), maybe(dispatched), maybe(ended)
			list = append(list, c)
			return err
		})
	})
	return list, err
}

// Uncertain lists calls of unknown outcome that hold their run, oldest first.
func (s *Store) Uncertain(ctx context.Context, agents []string, limit int) ([]ledger.Record, error) {
	var q query
	text := `t.state = 'uncertain' AND r.hold_call = t.id AND ` + q.of("t.agent_id", agents) + ` ORDER BY t.created_at, t.id LIMIT ` + q.param(bounded(limit))
	return s.calls(ctx, text, q.args)
}

// InFlight lists the calls that are admitted or dispatched, oldest first; of one run or by one token where these are not
// empty.
func (s *Store) InFlight(ctx context.Context, agents []string, run, token string, limit int) ([]ledger.Record, error) {
	var q query
	text := `t.state IN ('admitted','dispatched') AND ` + q.of("t.agent_id", agents)
	if run != "" {
		text += ` AND t.run_id = ` + q.param(run)
	}
	if token != "" { // an implicit run's key begins with its token and a line end; a session's run is found by its session
		text += ` AND ((r.kind = 'implicit' AND substr(r.implicit_key, 1, ` + q.param(len(token)+1) + `) = ` + q.param(token+"\n") + `)
OR (r.kind = 'session' AND r.implicit_key IN (SELECT id FROM mcp_sessions WHERE token_id = ` + q.param(token) + `)))`
	}
	return s.calls(ctx, text+` ORDER BY t.created_at, t.id LIMIT `+q.param(bounded(limit)), q.args)
}

// LastCalls gives the time of each agent's newest call.
func (s *Store) LastCalls(ctx context.Context, agents []string) (last map[string]time.Time, err error) {
	var q query
	// The newest call of an agent is in one of its newest runs or in a long one that is still open: the runs' own index
	// finds both without reading every call.
	text := `SELECT r.agent_id, max(t.created_at) FROM runs r JOIN tool_calls t ON t.run_id = r.id WHERE ` + q.of("r.agent_id", agents) + ` GROUP BY r.agent_id`
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		last = make(map[string]time.Time)
		return tx.All(text, q.args, func(scan func(...any) error) error {
			var agent string
			var us int64
			err := scan(&agent, &us)
			last[agent] = at(us)
			return err
		})
	})
	return last, err
}

// hour and minute are in microseconds, as times are kept.
const (
	hour   = int64(time.Hour / time.Microsecond)
	minute = int64(time.Minute / time.Microsecond)
)

// Counts counts calls by the hour in which they came.
func (s *Store) Counts(ctx context.Context, agents []string, from, to time.Time) (list []operatorapi.Count, err error) {
	var q query
	byHour := `created_at - created_at % ` + q.param(hour)
	text := `SELECT ` + byHour + `, capability, class, state, coalesce(outcome, ''), is_error, count(*) FROM tool_calls
WHERE created_at >= ` + q.param(from.UnixMicro()) + ` AND created_at < ` + q.param(to.UnixMicro()) + ` AND ` + q.of("agent_id", agents) + `
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		list = nil
		return tx.All(text, q.args, func(scan func(...any) error) error {
			var c operatorapi.Count
			var us, isError int64
			err := scan(&us, &c.Capability, &c.Class, &c.State, &c.Outcome, &isError, &c.Calls)
			c.Hour, c.IsError = at(us), isError != 0
			list = append(list, c)
			return err
		})
	})
	return list, err
}

// Reads counts reads that were sent, by host, thin kind and code. A page counts at the host that it came from, a failure at
// the one that was asked.
func (s *Store) Reads(ctx context.Context, agents []string, from, to time.Time) (list []operatorapi.Reads, err error) {
	var q query
	where := ` WHERE t.created_at >= ` + q.param(from.UnixMicro()) + ` AND t.created_at < ` + q.param(to.UnixMicro()) + ` AND t.capability = 'read' AND ` + q.of("t.agent_id", agents)
	text := `SELECT host, thin, code, count(*), max(created_at) FROM (
SELECT e.host AS host, coalesce(e.thin, '') AS thin, '' AS code, t.created_at AS created_at FROM tool_calls t JOIN evidence e ON e.call_id = t.id AND e.kind = 'content'` + where + ` AND t.outcome = 'ok'
UNION ALL
SELECT e.host, '', coalesce(t.code, ''), t.created_at FROM tool_calls t JOIN evidence e ON e.call_id = t.id AND e.n = 0` + where + ` AND t.outcome = 'provider_error'
) reads WHERE host IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		list = nil
		return tx.All(text, q.args, func(scan func(...any) error) error {
			var r operatorapi.Reads
			var last int64
			err := scan(&r.Host, &r.Thin, &r.Code, &r.Calls, &last)
			r.Last = at(last)
			list = append(list, r)
			return err
		})
	})
	return list, err
}

// Meters says how full each meter became: its busiest minute and its fullest run.
func (s *Store) Meters(ctx context.Context, agents []string, from, to time.Time) (list []operatorapi.Meter, err error) {
	type key struct{ meter, capability string }
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		list = nil
		found := make(map[key]int)
		var q query
		where := ` FROM reservations WHERE meter <> '-' AND at >= ` + q.param(from.UnixMicro()) + ` AND at < ` + q.param(to.UnixMicro()) + ` AND ` + q.of("agent_id", agents)
		err := tx.All(`SELECT meter, capability, minute, count(*)`+where+` GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, q.args, func(scan func(...any) error) error {
			var k key
			var m, n int64
			if err := scan(&k.meter, &k.capability, &m, &n); err != nil {
				return err
			}
			i, ok := found[k]
			if !ok {
				i = len(list)
				found[k] = i
				list = append(list, operatorapi.Meter{Meter: k.meter, Capability: k.capability})
			}
			list[i].Units += n
			if n > list[i].InMinute {
				list[i].InMinute, list[i].BusiestMinute = n, at(m*minute)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return tx.All(`SELECT meter, capability, run_id, count(*)`+where+` GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, q.args, func(scan func(...any) error) error {
			var k key
			var run string
			var n int64
			if err := scan(&k.meter, &k.capability, &run, &n); err != nil {
				return err
			}
			if i, ok := found[k]; ok && n > list[i].InRun {
				list[i].InRun, list[i].FullestRun = n, run
			}
			return nil
		})
	})
	return list, err
}

func at(us int64) time.Time { return time.UnixMicro(us).UTC() }

func maybe(us sql.Null[int64]) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return at(us.V)
}
