// This file judges a chain: every row, every checkpoint, and those that were kept outside.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Chain is the audit in the database, as it is judged and read.
type Chain interface {
	// Linked gives linked rows behind a link, in its order.
	Linked(ctx context.Context, after int64, limit int) ([]Row, error)
	// Marked gives the last checkpoint; false where there is none. Marks gives those behind a link, in its order.
	Marked(ctx context.Context) (Checkpoint, bool, error)
	Marks(ctx context.Context, after int64, limit int) ([]Checkpoint, error)
	// Of gives all rows of a verb, linked or not.
	Of(ctx context.Context, verb string) ([]Row, error)
	// Waiting counts rows that are not linked yet, and gives the time of the oldest.
	Waiting(ctx context.Context) (n int64, oldest time.Time, err error)
}

// Fault is what is wrong at one place of a chain.
type Fault struct {
	// Kind is one of the words below.
	Kind FaultKind
	// Link is where; To is the last link of several.
	Link, To int64
	// ID is the row's, where there is one.
	ID string
	// Text says it in a sentence.
	Text string
}

// FaultKind is what a fault is.
type FaultKind string

const (
	Changed FaultKind = "changed" // the row is not what was linked
	Missing FaultKind = "missing" // rows between two others, or before the first, are gone
	Cut     FaultKind = "cut"     // rows at the end are gone
	Relink  FaultKind = "relink"  // from here on, rows were linked anew with another key
	Order   FaultKind = "order"   // the row does not name the one before it
	Forked  FaultKind = "forked"  // the chain was another one when a checkpoint was made
	Broken  FaultKind = "broken"  // a keeper found the chain elsewhere than where it had left it
)

// Report is what was seen of a chain.
type Report struct {
	// Rows is how many linked rows were judged, from First to Head; Purged is up to where rows were removed in order.
	Rows, First, Purged int64
	Head                Head
	// Waiting is how many rows are not linked yet, Oldest the time of the oldest.
	Waiting int64
	Oldest  time.Time
	// Marks and Outside are how many checkpoints were compared, of the database and from elsewhere. Past is how many from
	// elsewhere could not be, as their rows were removed in order.
	Marks, Outside, Past int
	// Faults are the first of what is wrong, in the order of links; Count is all. None means that the chain holds.
	Faults []Fault
	Count  int64
}

// OK says whether the chain holds.
func (r Report) OK() bool { return r.Count == 0 }

const (
	page = 1000
	// mostFaults are named; all are counted.
	mostFaults = 20
)

// Verify goes over the whole chain. against are checkpoints that were kept outside, of this install: only they show that
// the end was cut off together with the database's own checkpoints, or that all was linked anew with the right key. The
// error is one of reading; faults are in the report.
func Verify(ctx context.Context, c Chain, key []byte, install string, against []Checkpoint) (Report, error) {
	k, err := NewKey(key)
	if err != nil {
		return Report{}, err
	}
	v := &verifier{ctx: ctx, c: c, key: k, outside: make(map[int64][]Checkpoint), purged: make(map[int64]string)}
	for _, a := range against {
		if a.Install != install {
			return Report{}, fmt.Errorf("the checkpoint at link %d is of install %q, and this one is %q", a.Link, a.Install, install)
		}
		v.outside[a.Link] = append(v.outside[a.Link], a)
	}
	if v.report.Waiting, v.report.Oldest, err = c.Waiting(ctx); err != nil {
		return Report{}, err
	}
	if err := v.statements(); err != nil {
		return Report{}, err
	}
	// A checkpoint that is made from now on may be of a row that is not read any more.
	bound, _, err := c.Marked(ctx)
	if err != nil {
		return Report{}, err
	}
	marks := marker{c: c}
	for {
		rows, err := c.Linked(ctx, v.before.Link, page)
		if err != nil {
			return Report{}, err
		}
		for n, r := range rows {
			if err := v.row(r, n == 0); err != nil {
				return Report{}, err
			}
			due, err := marks.until(ctx, r.Link)
			if err != nil {
				return Report{}, err
			}
			for _, m := range due {
				v.report.Marks++
				v.compare(m, "the database's checkpoint")
			}
			for _, m := range v.outside[r.Link] {
				v.report.Outside++
				v.compare(m, "the checkpoint from elsewhere")
			}
			delete(v.outside, r.Link)
		}
		if len(rows) < page {
			break
		}
	}
	rest, err := marks.until(ctx, bound.Link)
	if err != nil {
		return Report{}, err
	}
	v.end(rest)
	return v.report, nil
}

// marker gives the database's checkpoints in step with its rows.
type marker struct {
	c    Chain
	next []Checkpoint
	last int64
	over bool
}

func (m *marker) until(ctx context.Context, link int64) (due []Checkpoint, err error) {
	for {
		if len(m.next) == 0 && !m.over {
			if m.next, err = m.c.Marks(ctx, m.last, page); err != nil {
				return nil, err
			}
			m.over = len(m.next) < page
		}
		if len(m.next) == 0 || m.next[0].Link > link {
			return due, nil
		}
		due, m.last, m.next = append(due, m.next[0]), m.next[0].Link, m.next[1:]
	}
}

type verifier struct {
	ctx     context.Context
	c       Chain
	key     Key
	report  Report
	purged  map[int64]string       // hashes by the links up to which rows were removed in order
	outside map[int64][]Checkpoint // by link, those not compared yet
	before  Row                    // the row before
	// bad are the rows just before that were not made under the key; they are named when it is known whether one that was
	// comes after them.
	bad struct {
		count       int64
		first, last int64
		named       []Fault
	}
}

// statements reads what was removed in order.
func (v *verifier) statements() error {
	rows, err := v.c.Of(v.ctx, VerbPurged)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if h, ok := v.key.Purged(r); ok {
			v.purged[h.Link] = h.Hash
			v.report.Purged = max(v.report.Purged, h.Link)
		}
	}
	return nil
}

func (v *verifier) fault(kind FaultKind, from, to int64, id, format string, args ...any) {
	v.report.Count++
	if len(v.report.Faults) < mostFaults {
		v.report.Faults = append(v.report.Faults, Fault{kind, from, to, id, fmt.Sprintf(format, args...)})
	}
}

// row judges one row by itself and by the one before it. Rows may be removed in order while the chain is read, so that
// the first of a page need not be the next one.
func (v *verifier) row(r Row, firstOfPage bool) error {
	expected := v.before.Link + 1
	if r.Link != expected && firstOfPage {
		if err := v.statements(); err != nil {
			return err
		}
		if r.Link-1 <= v.report.Purged {
			expected, v.report.First = r.Link, r.Link
			if hash, ok := v.purged[r.Link-1]; ok && hash != r.Prev {
				v.fault(Order, r.Link, r.Link, r.ID, "row %d (%s) does not name the last row that was removed in order", r.Link, r.ID)
			}
			v.before = Row{Link: r.Link - 1, Hash: r.Prev}
		} else if v.report.Rows == 0 {
			expected = v.report.Purged + 1
		}
	}
	if v.report.Rows == 0 {
		v.report.First = r.Link
	}
	v.report.Rows++
	switch {
	case r.Link != expected:
		v.fault(Missing, expected, r.Link-1, "", "rows %d to %d are gone, before row %s", expected, r.Link-1, r.ID)
	case r.Prev != v.before.Hash:
		v.fault(Order, r.Link, r.Link, r.ID, "row %d (%s) does not name the row before it: one of the two was changed or linked anew", r.Link, r.ID)
	}
	if v.key.Made(r) {
		v.changed()
	} else {
		if v.bad.count++; v.bad.count == 1 {
			v.bad.first = r.Link
		}
		v.bad.last = r.Link
		if len(v.bad.named) < mostFaults {
			v.bad.named = append(v.bad.named, Fault{Changed, r.Link, r.Link, r.ID, fmt.Sprintf("row %d (%s: %q by %q) is not what was linked", r.Link, r.ID, r.Verb, r.Actor)})
		}
	}
	if r.Verb == VerbBroken {
		v.fault(Broken, r.Link, r.Link, r.ID, "row %d (%s): at %s a server found the chain changed under its hands: %s", r.Link, r.ID, r.At.UTC().Format(time.RFC3339), r.Detail)
	}
	v.before = r
	v.report.Head = Head{r.Link, r.Hash}
	return nil
}

// changed says of the rows just before that they were changed, since one after them was not.
func (v *verifier) changed() {
	v.report.Count += v.bad.count
	for _, f := range v.bad.named {
		if len(v.report.Faults) < mostFaults {
			v.report.Faults = append(v.report.Faults, f)
		}
	}
	v.bad.count, v.bad.named = 0, nil
}

// compare judges a checkpoint by the row just seen. Of a row that was not made under the key that is said already.
func (v *verifier) compare(c Checkpoint, whose string) {
	if c.Link == v.before.Link && c.Hash != v.before.Hash && v.bad.last != c.Link {
		v.fault(Forked, c.Link, c.Link, v.before.ID, "row %d (%s) is another one than when %s was made at %s", c.Link, v.before.ID, whose, c.At.UTC().Format(time.RFC3339))
	}
}

// end judges what only the whole chain tells. rest are checkpoints of the database behind its last row.
func (v *verifier) end(rest []Checkpoint) {
	if v.bad.count > 1 {
		v.fault(Relink, v.bad.first, v.bad.last, v.bad.named[0].ID, "rows %d to %d, the last one, are not linked under this install's key: they were linked anew with another one, from row %d (%s) on",
			v.bad.first, v.bad.last, v.bad.first, v.bad.named[0].ID)
	} else {
		v.changed()
	}
	cut := Checkpoint{}
	whose := "the database's checkpoint"
	for _, c := range rest {
		if v.report.Marks++; c.Link > cut.Link {
			cut = c
		}
	}
	for link, list := range v.outside {
		switch {
		case link > v.report.Head.Link:
			v.report.Outside += len(list)
			if link > cut.Link {
				cut, whose = list[0], "the checkpoint from elsewhere"
			}
		case link <= v.report.Purged:
			v.report.Past += len(list)
		default:
			v.report.Outside += len(list) // its row is missing, which is said already
		}
	}
	if head := v.report.Head.Link; cut.Link > head {
		v.fault(Cut, head+1, cut.Link, "", "the chain ends at row %d and stood at %d when %s was made at %s: rows %d to %d are gone", head, cut.Link, whose, cut.At.UTC().Format(time.RFC3339), head+1, cut.Link)
	}
	slices.SortStableFunc(v.report.Faults, func(a, b Fault) int { return cmp.Compare(a.Link, b.Link) })
}

// Sentences are the report for a person: what was seen, what is wrong, and what the judgement cannot tell.
func (r Report) Sentences() []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch {
	case r.Rows == 0:
		say("no entry is linked")
	default:
		say("%d entries are linked, %d to %d; the last hash is %s", r.Rows, r.First, r.Head.Link, r.Head.Hash)
	}
	if r.Purged > 0 {
		say("entries up to %d were removed when their time was over, as the chain states", r.Purged)
	}
	if r.Waiting > 0 {
		say("%d entries are not linked yet, the oldest of %s; a running server links them within a second", r.Waiting, r.Oldest.UTC().Format(time.RFC3339))
	}
	for _, f := range r.Faults {
		say("%s: %s", f.Kind, f.Text)
	}
	if more := r.Count - int64(len(r.Faults)); more > 0 {
		say("and %d more", more)
	}
	if r.Past > 0 {
		say("%d of the checkpoints from elsewhere are of entries that were removed in order, and prove nothing any more", r.Past)
	}
	switch {
	case r.Count > 0:
	case r.Outside > 0:
		say("the chain holds, and agrees with %d checkpoints from elsewhere", r.Outside)
	default:
		say("the chain holds in itself; that its end was not cut off, and that nobody with the audit key linked it anew, only a checkpoint from elsewhere shows (--against)")
	}
	return all
}
