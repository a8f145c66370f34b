// This file compares the rows of a walk with its model, and with what the world saw.
package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// column is one thing that a row says, and how the database is asked for it.
type column[T any] struct {
	name, sql string
	want      func(T) any
}

func callColumns() []column[*mCall] {
	number := func(of func(*mCall) int64) func(*mCall) any { return func(c *mCall) any { return of(c) } }
	text := func(of func(*mCall) string) func(*mCall) any { return func(c *mCall) any { return of(c) } }
	known := func(s *string) any { return flag(s != nil) }
	return []column[*mCall]{
		{"state", "c.state", text(func(c *mCall) string { return string(c.state) })},
		{"outcome", "coalesce(c.outcome, '')", text(func(c *mCall) string { return string(c.outcome) })},
		{"code", "coalesce(c.code, '')", text(func(c *mCall) string { return c.code })},
		{"is_error", "c.is_error", number(func(c *mCall) int64 { return flag(c.isError) })},
		{"withheld", "c.withheld", number(func(c *mCall) int64 { return flag(c.withheld) })},
		{"run", "c.run_id", text(func(c *mCall) string { return c.run })},
		{"agent", "c.agent_id", text(func(c *mCall) string { return c.agent })},
		{"tool", "c.tool", text(func(c *mCall) string { return c.tool })},
		{"class", "c.class", text(func(c *mCall) string { return string(c.class) })},
		{"key", "coalesce(c.caller_key, '')", text(func(c *mCall) string { return c.key })},
		{"named", "c.named_run", number(func(c *mCall) int64 { return flag(c.named) })},
		{"delivery", "c.delivery", number(func(c *mCall) int64 { return int64(c.delivery) })},
		{"until", "c.until", number(func(c *mCall) int64 { return c.until })},
		{"created", "c.created_at", number(func(c *mCall) int64 { return c.created })},
		{"dispatched", "coalesce(c.dispatched_at, 0)", number(func(c *mCall) int64 { return c.dispatched })},
		{"ended", "coalesce(c.ended_at, 0)", number(func(c *mCall) int64 { return c.ended })},
		{"result", "CASE WHEN c.result IS NULL THEN 0 ELSE 1 END", func(c *mCall) any { return known(c.result) }},
		{"late", "CASE WHEN c.late IS NULL THEN 0 ELSE 1 END", func(c *mCall) any { return known(c.late) }},
		{"approval", "coalesce(c.approval_id, '')", text(func(c *mCall) string { return c.approval })},
		{"owner", "c.owner", text(func(c *mCall) string { return c.owner })},
		{"meter", "coalesce(r.meter, '')", text(func(c *mCall) string { return c.meter })},
		{"provider", "coalesce(r.provider, '')", text(func(c *mCall) string { return c.binding.Provider })},
		{"version", "coalesce(r.connection_version, 0)", number(func(c *mCall) int64 { return c.binding.ConnectionVersion })},
		{"content", "(SELECT count(*) FROM evidence e WHERE e.call_id=c.id AND e.kind<>'source')", number(func(c *mCall) int64 { return c.content })},
		{"verdict", "coalesce(x.verdict, '')", text(func(c *mCall) string { return string(c.verdict) })},
		{"notices", "(SELECT count(*) FROM notices n WHERE n.subject_id=c.id)", number(func(c *mCall) int64 { return c.notices })},
	}
}

func runColumns() []column[*mRun] {
	used := func(capability string) column[*mRun] {
		return column[*mRun]{"used " + capability, "coalesce((SELECT used FROM run_meters m WHERE m.run_id=r.id AND m.capability='" + capability + "'), 0)",
			func(r *mRun) any { return r.used[capability] }}
	}
	return []column[*mRun]{
		{"state", "r.state", func(r *mRun) any { return map[bool]string{true: "open", false: "ended"}[r.open] }},
		{"reason", "coalesce(r.end_reason, '')", func(r *mRun) any { return r.reason }},
		{"hold", "coalesce(r.hold_call, '')", func(r *mRun) any { return r.hold }},
		{"calls", "r.calls", func(r *mRun) any { return r.calls }},
		{"refused", "r.refused", func(r *mRun) any { return r.refused }},
		{"deadline", "r.deadline", func(r *mRun) any { return r.deadline }},
		{"idle", "coalesce(r.idle_until, 0)", func(r *mRun) any { return r.idleUntil }},
		used("search"), used("read"), used("mail"), used("browser"),
	}
}

const (
	callsFrom = " FROM tool_calls c LEFT JOIN reservations r ON r.call_id=c.id LEFT JOIN reconciliations x ON x.call_id=c.id"
	runsFrom  = " FROM runs r"
)

// question asks for columns of a row, with its id first.
func question[T any](id string, columns []column[T], from string) string {
	list := []string{id}
	for _, c := range columns {
		list = append(list, c.sql)
	}
	return "SELECT " + strings.Join(list, ", ") + from
}

// check compares the rows that a question finds with what is foreseen for them; it takes each from the list.
func check[T any](tx *sqldb.Tx, query string, args []any, columns []column[T], foreseen map[string]T) error {
	var wrong []string
	if err := tx.All(query, args, func(scan func(...any) error) error {
		var id string
		got := make([]any, len(columns))
		into := []any{&id}
		for i := range got {
			into = append(into, &got[i])
		}
		if err := scan(into...); err != nil {
			return err
		}
		row, there := foreseen[id]
		if !there {
			wrong = append(wrong, id+" is there, not foreseen")
			return nil
		}
		delete(foreseen, id)
		for i, c := range columns {
			if want := c.want(row); fmt.Sprint(got[i]) != fmt.Sprint(want) {
				wrong = append(wrong, fmt.Sprintf("%s: %s is %v, foreseen %v", id, c.name, got[i], want))
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if wrong != nil {
		slices.Sort(wrong)
		return fmt.Errorf("the rows differ: %s", strings.Join(wrong[:min(len(wrong), 8)], "; "))
	}
	return nil
}

func missing[T any](foreseen map[string]T) error {
	if len(foreseen) == 0 {
		return nil
	}
	return fmt.Errorf("not there, though foreseen: %v", slices.Sorted(maps.Keys(foreseen)))
}

// compare looks at the rows that a step may have changed.
func (w *walk) compare(touched map[string]bool) error {
	if w.s.DB == nil {
		return w.compareRecords(touched)
	}
	if len(touched) == 0 {
		return nil
	}
	return w.s.DB.Read(w.ctx, func(tx *sqldb.Tx) error {
		for id := range touched {
			if c := w.m.calls[id]; c != nil {
				one := map[string]*mCall{id: c}
				if err := check(tx, question("c.id", callColumns(), callsFrom)+" WHERE c.id=$1", []any{id}, callColumns(), one); err != nil {
					return err
				}
				if err := missing(one); err != nil {
					return err
				}
			}
			if run := w.m.runs[id]; run != nil {
				one := map[string]*mRun{id: run}
				if err := check(tx, question("r.id", runColumns(), runsFrom)+" WHERE r.id=$1", []any{id}, runColumns(), one); err != nil {
					return err
				}
				if err := missing(one); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// compareRecords looks at the same through the store, where there are no rows to look at.
func (w *walk) compareRecords(touched map[string]bool) error {
	for id := range touched {
		c := w.m.calls[id]
		if c == nil {
			continue
		}
		r, err := w.stores[0].Call(w.ctx, c.agent, c.run, id)
		if err != nil {
			return err
		}
		got := fmt.Sprint(r.State, r.Outcome, r.Code, r.IsError, r.Withheld, r.Delivery, string(r.Result), len(r.Evidence))
		evidence := int(c.content)
		if c.state != effect.Refused {
			evidence++ // its source
		}
		if want := fmt.Sprint(c.state, c.outcome, c.code, c.isError, c.withheld, c.delivery, deref(c.result), evidence); got != want {
			return fmt.Errorf("%s is %s, foreseen %s", id, got, want)
		}
	}
	return nil
}

// compareAll looks at all rows, and asks the invariants.
func (w *walk) compareAll() error {
	if w.s.DB == nil {
		return nil
	}
	if err := w.s.DB.Read(w.ctx, func(tx *sqldb.Tx) error {
		calls, runs := maps.Clone(w.m.calls), maps.Clone(w.m.runs)
		if err := check(tx, question("c.id", callColumns(), callsFrom), nil, callColumns(), calls); err != nil {
			return err
		}
		if err := check(tx, question("r.id", runColumns(), runsFrom), nil, runColumns(), runs); err != nil {
			return err
		}
		if err := missing(calls); err != nil {
			return err
		}
		if err := missing(runs); err != nil {
			return err
		}
		for _, list := range []struct {
			query string
			want  map[string]any
		}{
			{"SELECT meter || ' ' || capability || ' ' || minute, used FROM minute_meters", w.m.minuteRows()},
			{"SELECT id || ' by ' || coalesce(used_by, ''), state FROM approvals", w.m.approvalRows()},
			{"SELECT audience || ' ' || tool, fingerprint FROM offers", w.m.offerRows()},
			{"SELECT resource || ' ' || fence, coalesce(owner, '') FROM leases", w.m.leaseRows()},
			{"SELECT id, dead FROM processes", w.m.processRows()},
		} {
			got := make(map[string]any)
			if err := tx.All(list.query, nil, func(scan func(...any) error) error {
				var key string
				var value any
				err := scan(&key, &value)
				got[key] = fmt.Sprint(value)
				return err
			}); err != nil {
				return err
			}
			if !maps.Equal(got, list.want) {
				return fmt.Errorf("%s gives %v, foreseen %v", list.query, got, list.want)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	found, err := Broken(w.s.DB)
	if err == nil && found != nil {
		err = fmt.Errorf("%v", found)
	}
	return err
}

func (m *model) minuteRows() map[string]any {
	rows := make(map[string]any)
	for k, used := range m.minutes {
		rows[fmt.Sprintf("%s %s %d", k.meter, k.capability, k.minute)] = fmt.Sprint(used)
	}
	return rows
}

func (m *model) approvalRows() map[string]any {
	rows := make(map[string]any)
	for id, a := range m.approvals {
		rows[id+" by "+a.usedBy] = a.state
	}
	return rows
}

func (m *model) offerRows() map[string]any {
	rows := make(map[string]any)
	for k, fingerprint := range m.offers {
		rows[k[0]+" "+k[1]] = fingerprint
	}
	return rows
}

func (m *model) leaseRows() map[string]any {
	rows := make(map[string]any)
	for resource, l := range m.leases {
		rows[fmt.Sprintf("%s %d", resource, l.fence)] = l.owner
	}
	return rows
}

func (m *model) processRows() map[string]any {
	rows := make(map[string]any)
	for id, p := range m.processes {
		rows[id] = fmt.Sprint(flag(p.dead))
	}
	return rows
}

// world compares the rows with what was sent: I0, I15, I16. What was sent twice cannot be in its log, since a step sends
// only when it was the first to get the right.
func (w *walk) world() error {
	for _, id := range w.m.callOrder {
		c := w.m.calls[id]
		switch {
		case c.sent && (c.state == effect.Refused || c.dispatched == 0):
			return fmt.Errorf("%s was sent and is %s, dispatched at %d", id, c.state, c.dispatched)
		case c.sent && c.outcome == effect.NotDispatched:
			return fmt.Errorf("%s was sent and is said not to be", id)
		case !c.sent && c.outcome == effect.OK:
			return fmt.Errorf("%s was not sent and is said to be", id)
		}
	}
	return nil
}
