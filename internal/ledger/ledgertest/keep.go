// This file lets go of what was kept long enough.
package ledgertest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/ledger"
)

// forget drops what is past its time of keeping: the texts of a run, much later the run with all its rows, sooner what
// was refused.
func (w *World) forget(k ledger.Retention) {
	now := w.now()
	long := func(d, def time.Duration) time.Time { return now.Add(-cmp.Or(d, def)) }
	const day = 24 * time.Hour
	content, rows, refused, dead := long(k.Content, 30*day), long(k.Rows, 365*day), long(k.Refused, 7*day), long(k.Dead, 7*day)
	needed := make(map[string]bool) // runs with an uncertain effect that nobody has reconciled
	owners := make(map[string]bool) // processes that calls are in flight of
	for _, c := range w.order {
		if c.Class == effect.Effect && c.State == effect.Uncertain && c.Verdict == nil {
			needed[c.Run] = true
		}
		if !c.State.Final() || c.Delivery == ledger.Waiting {
			owners[c.Owner] = true
		}
	}
	w.order = slices.DeleteFunc(w.order, func(c *call) bool {
		r := w.runs[c.Run]
		old := func(before time.Time) bool { return !r.Open && r.Ended.Before(before) && !needed[c.Run] }
		if old(content) {
			c.Args, c.Result, c.Late = nil, nil, nil
			for i := range c.Evidence {
				c.Evidence[i].URL, c.Evidence[i].Title = "", ""
			}
			if c.Verdict != nil {
				c.Verdict.Note = ""
			}
		}
		gone := old(rows) || c.State == effect.Refused && c.Created.Before(refused)
		if gone {
			delete(w.calls, c.ID)
		}
		return gone
	})
	for _, r := range w.runs {
		if !r.Open && r.Ended.Before(content) && !needed[r.ID] {
			r.Title = ""
		}
	}
	maps.DeleteFunc(w.runs, func(_ string, r *run) bool { return !r.Open && r.Ended.Before(rows) && !needed[r.ID] })
	meters := minuteOf(long(k.Meters, 2*day))
	maps.DeleteFunc(w.minutes, func(m minute, _ int64) bool { return m.minute < meters })
	maps.DeleteFunc(w.processes, func(id string, p *process) bool { return p.dead && p.expires.Before(dead) && !owners[id] })
}
