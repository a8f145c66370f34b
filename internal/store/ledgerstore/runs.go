// This file opens, finds and ends runs.
package ledgerstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wayleave/wayleave/internal/audit"
	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/rowid"
	"github.com/wayleave/wayleave/internal/store/auditstore"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

const runColumns = `id, agent_id, kind, implicit_key, client, audience, conversation_id, title, title_sealed, state, deadline, idle_until, max_tool_calls,
 calls, refused, hold_call, end_reason, created_at, ended_at, now_us()`

// runRow is a run as it was read, with its title still closed, and when that was.
type runRow struct {
	ledger.Run
	title []byte
	now   time.Time
}

// titled gives a run that was read, with its title opened, or the error of reading it. It is not done inside a transaction.
func (s *Store) titled(r runRow, err error) (ledger.Run, error) {
	if err != nil {
		return ledger.Run{}, err
	}
	if r.title != nil { // else there is none, or it is one of a program that did not seal it
		title, err := s.opened("runs", "title_sealed", r.ID, r.title)
		if err != nil {
			return ledger.Run{}, err
		}
		r.Title = string(title)
	}
	return r.Run, nil
}

// allTitled does so for a list.
func (s *Store) allTitled(rows []runRow, err error) (list []ledger.Run, _ error) {
	for _, row := range rows {
		var r ledger.Run
		if r, err = s.titled(row, err); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, err
}

// past is the condition under which an open run is over at a time, which is a parameter: its deadline, or its idle time
// unless it is an implicit run that an effect holds.
func past(now string) string {
	return "(deadline<=" + now + " OR (idle_until<=" + now + " AND NOT (kind='implicit' AND hold_call IS NOT NULL)))"
}

func scanRun(scan func(...any) error) (runRow, error) {
	var r runRow
	var key, client, title, hold, reason sql.Null[string]
	var state string
	var deadline, created, now int64
	var idle, ended sql.Null[int64]
	err := scan(&r.ID, &r.Agent, &r.Kind, &key, &client, &r.Audience, &r.Conversation, &title, &r.title, &state, &deadline, &idle, &r.MaxCalls,
		&r.Calls, &r.Refused, &hold, &reason, &created, &ended, &now)
	r.ImplicitKey, r.Client, r.Title, r.Hold, r.EndReason, r.Open = key.V, clientOf(r.Kind, key.V, client.V), title.V, hold.V, reason.V, state == "open"
	r.Deadline, r.IdleUntil, r.Created, r.Ended = clock(deadline), since(idle), clock(created), since(ended)
	r.now = clock(now)
	return r, err
}

// clientOf is what a run's client calls itself. Programs of before kept it in the key of implicit runs alone.
func clientOf(kind, key, client string) string {
	if _, name, ok := strings.Cut(key, "\n"); ok && client == "" && kind == "implicit" {
		return name
	}
	return client
}

// findRun reads one run by a condition.
func findRun(tx *sqldb.Tx, where string, args ...any) (r runRow, found bool, err error) {
	err = tx.All("SELECT "+runColumns+" FROM runs WHERE "+where, args, func(scan func(...any) error) (err error) {
		found = true
		r, err = scanRun(scan)
		return err
	})
	return r, found, err
}

// runOf reads a run that must be there, and be this agent's unless agent is empty.
func runOf(tx *sqldb.Tx, agent, run string) (runRow, error) {
	r, found, err := findRun(tx, "id=$1", plain(run))
	if err != nil {
		return runRow{}, err
	}
	if !found || agent != "" && r.Agent != agent {
		return runRow{}, ledger.ErrNotFound
	}
	return r, nil
}

// overNow says whether a run was past its time when it was read, and why.
func overNow(r runRow) (reason string, at time.Time, over bool) {
	switch {
	case !r.Open:
		return r.EndReason, r.Ended, true
	case !r.Deadline.After(r.now):
		return "deadline", r.Deadline, true
	case !r.IdleUntil.IsZero() && !r.IdleUntil.After(r.now) && (r.Kind != "implicit" || r.Hold == ""):
		return "idle", r.IdleUntil, true
	}
	return "", time.Time{}, false
}

// OpenRun makes a run. Of one with a key (implicit, or of a session) that is open already it gives that one, unless its
// time is over: then it ends that one first. ErrNotFound: no such agent.
func (s *Store) OpenRun(ctx context.Context, r ledger.NewRun) (ledger.Run, error) {
	r.ImplicitKey, r.Client, r.Title, r.Conversation = plain(r.ImplicitKey), plain(r.Client), plain(r.Title), plain(r.Conversation)
	switch {
	case r.Kind != "explicit" && r.Kind != "session" && r.Kind != "implicit":
		return ledger.Run{}, fmt.Errorf("open a run: its kind is %q; give explicit, session or implicit", r.Kind)
	case (r.Kind == "explicit") != (r.ImplicitKey == ""):
		return ledger.Run{}, errors.New("open a run: the runs of sessions and implicit ones need a key, and an explicit one has none")
	case r.ImplicitKey != "":
		if open, err := s.keyed(ctx, r); err != nil || open.ID != "" {
			return open, err
		}
	}
	id := rowid.New("run")
	switch {
	case r.Audience != "":
	case r.Kind == "explicit":
		r.Audience = "run:" + id
	default:
		r.Audience = "agent:" + r.Agent
	}
	if r.Conversation == "" {
		r.Conversation = id
	}
	var idle any
	if r.Idle > 0 {
		idle = r.Idle.Microseconds()
	}
	var title []byte
	if r.Title != "" {
		var err error
		if title, err = s.sealed("runs", "title_sealed", id, []byte(r.Title)); err != nil {
			return ledger.Run{}, err
		}
	}
	var out runRow
	err := s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		var now int64
		found, err := tx.One("SELECT now_us() FROM agents WHERE id=$1", []any{r.Agent}, &now)
		if err != nil {
			return err
		}
		if !found {
			return ledger.ErrNotFound
		}
		for range 3 { // once more where the one that is open ends here, or ended meanwhile
			made, err := tx.Exec(`INSERT INTO runs(id, agent_id, kind, implicit_key, audience, conversation_id, title_sealed, state, deadline, idle, idle_until, max_tool_calls, created_at, client)
 VALUES($1,$2,$3,$4,$5,$6,$7,'open',$8,$9,$10,$11,$12,$13) ON CONFLICT DO NOTHING`,
				id, r.Agent, r.Kind, maybe(r.ImplicitKey), r.Audience, r.Conversation, title, now+r.Deadline.Microseconds(), idle,
				idleUntil(now, r.Idle), r.MaxCalls, now, maybe(r.Client))
			if err != nil {
				return err
			}
			if made == 1 {
				out, err = runOf(tx, "", id)
				return err
			}
			open, found, err := findRun(tx, openUnder(r.Kind)+" OR id=$3", r.Agent, maybe(r.ImplicitKey), id)
			if err != nil {
				return err
			}
			if _, _, over := overNow(open); found && !over {
				out = open
				return nil
			}
			if found {
				if _, err := endRun(tx, open.ID, open.now.UnixMicro()); err != nil { // at the time at which it was seen to be over
					return err
				}
			}
		}
		return errors.New("open a run: others open and end the same one at this moment; try again")
	})
	return s.titled(out, err)
}

// plain is a text that both databases take, whatever a stranger wrote: as a name of a row it names none then.
func plain(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

func idleUntil(now int64, idle time.Duration) any {
	if idle <= 0 {
		return nil
	}
	return now + idle.Microseconds()
}

// openUnder is the condition of the one open run of a kind, implicit or session, under a key. The kind is no parameter:
// whether the indexes that are there for it fit would depend on its value, and SQLite would prepare the statement anew
// at each use.
func openUnder(kind string) string {
	if kind != "session" {
		kind = "implicit"
	}
	return "(agent_id=$1 AND implicit_key=$2 AND kind='" + kind + "' AND state='open')"
}

// keyed looks without writing for an open run under a key: most calls find theirs.
func (s *Store) keyed(ctx context.Context, r ledger.NewRun) (ledger.Run, error) {
	var found bool
	open, err := scanRun(func(dest ...any) (err error) {
		found, err = s.db.One(ctx, "SELECT "+runColumns+" FROM runs WHERE "+openUnder(r.Kind), []any{r.Agent, r.ImplicitKey}, dest...)
		return err
	})
	if err != nil || !found {
		return ledger.Run{}, err
	}
	if _, _, over := overNow(open); over {
		return ledger.Run{}, nil
	}
	return s.titled(open, nil)
}

// Run gives a run with its units by capability.
func (s *Store) Run(ctx context.Context, agent, run string) (ledger.Run, error) {
	var out runRow
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if out, err = runOf(tx, agent, run); err != nil {
			return err
		}
		out.RunMeters = make(map[string]int64)
		return tx.All("SELECT capability, used FROM run_meters WHERE run_id=$1", []any{run}, func(scan func(...any) error) error {
			var capability string
			var used int64
			err := scan(&capability, &used)
			out.RunMeters[capability] = used
			return err
		})
	})
	return s.titled(out, err)
}

// RunsOf lists runs, newest first, at most limit and 1,000: of these agents (nil: all), from before a run (empty: the newest).
func (s *Store) RunsOf(ctx context.Context, agents []string, before string, limit int) ([]ledger.Run, error) {
	if agents != nil && len(agents) == 0 {
		return nil, nil
	}
	var list []runRow
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		list = nil
		args := []any{atMost(limit)}
		var where []string
		param := func(v any) string {
			args = append(args, v)
			return fmt.Sprintf("$%d", len(args))
		}
		if agents != nil {
			var of []string
			for _, a := range agents {
				of = append(of, param(a))
			}
			where = append(where, "agent_id IN ("+strings.Join(of, ",")+")")
		}
		if before != "" {
			first, err := runOf(tx, "", before)
			if err != nil || agents != nil && !slices.Contains(agents, first.Agent) { // where that one stands would tell that it is there
				return cmp.Or(err, ledger.ErrNotFound)
			}
			where = append(where, "(created_at, id)<("+param(first.Created.UnixMicro())+","+param(before)+")")
		}
		query := "SELECT " + runColumns + " FROM runs"
		if where != nil {
			query += " WHERE " + strings.Join(where, " AND ")
		}
		return tx.All(query+" ORDER BY created_at DESC, id DESC LIMIT $1", args, func(scan func(...any) error) error {
			r, err := scanRun(scan)
			list = append(list, r)
			return err
		})
	})
	return s.allTitled(list, err)
}

// EndRun ends a run for a reason, in a few words of ours. Ending an ended one changes nothing.
func (s *Store) EndRun(ctx context.Context, agent, run, reason string) (ledger.Run, error) {
	return s.end(ctx, agent, run, reason, "")
}

// EndRunBy is EndRun for somebody who decides: the audit says who ended it. by is as the audit names actors.
func (s *Store) EndRunBy(ctx context.Context, run, reason, by string) (ledger.Run, error) {
	return s.end(ctx, "", run, reason, by)
}

func (s *Store) end(ctx context.Context, agent, run, reason, by string) (ledger.Run, error) {
	var out runRow
	err := s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		if _, err := runOf(tx, agent, run); err != nil {
			return err
		}
		var now int64
		ended, err := tx.One("UPDATE runs SET state='ended', end_reason=$2, ended_at=now_us() WHERE id=$1 AND state='open' RETURNING ended_at", []any{run, plain(reason)}, &now)
		if err != nil {
			return err
		}
		if ended {
			if err := letGo(tx, run); err != nil {
				return err
			}
		}
		if out, err = runOf(tx, agent, run); err != nil || !ended || by == "" {
			return err
		}
		return auditstore.Append(tx, audit.Entry{Actor: by, Verb: "run.ended", Subject: run, Detail: map[string]any{"agent": out.Agent, "calls": out.Calls}})
	})
	return s.titled(out, err)
}

// endRun ends a run whose time is over at now, and says whether it did.
func endRun(tx *sqldb.Tx, run string, now int64) (bool, error) {
	n, err := tx.Exec("UPDATE runs SET state='ended', end_reason=CASE WHEN deadline<=$2 THEN 'deadline' ELSE 'idle' END, ended_at=$2 WHERE id=$1 AND state='open' AND "+past("$2"), run, now)
	if err != nil || n == 0 {
		return false, err
	}
	return true, letGo(tx, run)
}

// letGo takes away what a run's end takes away: its questions and its kept pages.
func letGo(tx *sqldb.Tx, run string) error {
	if _, err := tx.Exec("UPDATE approvals SET state='void' WHERE run_id=$1 AND state IN ('open','approved')", run); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM kept_pages WHERE run_id=$1", run)
	return err
}

// TouchRun moves the time at which an open run ends by idling; it never moves it back.
func (s *Store) TouchRun(ctx context.Context, run string, idle time.Duration) error {
	return s.db.Certain(ctx, sqldb.Free, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("UPDATE runs SET idle_until=now_us()+$2 WHERE id=$1 AND state='open' AND idle_until<now_us()+$2", run, idle.Microseconds())
		return err
	})
}

// DeleteRun removes an ended run with all of it but its audit, and says how many calls it had; see retention.Keeper.Delete.
func (s *Store) DeleteRun(ctx context.Context, run, by string) (calls int64, err error) {
	return s.keeper.Delete(ctx, plain(run), by)
}

// WeighDeletion says what DeleteRun would take with it; see retention.Keeper.Weigh.
func (s *Store) WeighDeletion(ctx context.Context, run string) (ledger.Deletion, error) {
	return s.keeper.Weigh(ctx, plain(run))
}
