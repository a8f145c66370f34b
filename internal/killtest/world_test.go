//go:build unix

// This file is the world outside: a file to which each process appends what it sent and what it told its callers, and the
// checks of the rows against it.
package killtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/effect"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// inputs is how many inputs a call sends that goes well.
const inputs = 2

// world is the file as one process writes it. A line is one write, so that lines of several processes do not mix.
type world struct {
	label string
	mu    sync.Mutex // guards file
	file  *os.File
}

func openWorld(path, label string) (*world, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &world{label: label, file: f}, err
}

func (w *world) write(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := fmt.Fprintf(w.file, format+" "+w.label+"\n", args...); err != nil {
		panic(err) // without it the test means nothing
	}
}

// send is an input that reaches the world. checked is when the permit was last looked at.
func (w *world) send(call string, input int, checked time.Time) {
	w.write("sent %s %d %d", call, input, checked.UnixMicro())
}

// tell is what a caller was told of a call.
func (w *world) tell(call string, state effect.State, outcome effect.Outcome) {
	w.write("told %s %s %s", call, state, outcome)
}

// events is what stands in the file.
type events struct {
	sent    map[string][]sending
	told    map[string][]string
	by      map[string]int // lines of each process
	lines   int
	doubles []string // inputs that were sent twice
}

type sending struct {
	input   int
	checked time.Time
	label   string
}

func readWorld(t testing.TB, path string) events {
	t.Helper()
	e := events{sent: make(map[string][]sending), told: make(map[string][]string), by: make(map[string]int)}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") { // it is just being written
			break
		}
		var call, label, state, outcome string
		var input int
		var at int64
		e.lines++
		switch {
		case strings.HasPrefix(line, "sent "):
			if _, err := fmt.Sscanf(line, "sent %s %d %d %s", &call, &input, &at, &label); err != nil {
				t.Fatalf("the world says %q: %v", line, err)
			}
			if k := fmt.Sprintf("%s %d", call, input); seen[k] {
				e.doubles = append(e.doubles, k)
			} else {
				seen[k] = true
			}
			e.sent[call] = append(e.sent[call], sending{input, time.UnixMicro(at), label})
			e.by[label]++
		case strings.HasPrefix(line, "told "):
			if _, err := fmt.Sscanf(line, "told %s %s %s %s", &call, &state, &outcome, &label); err != nil {
				t.Fatalf("the world says %q: %v", line, err)
			}
			e.told[call] = append(e.told[call], state+"/"+outcome)
			e.by[label]++
		default:
			t.Fatalf("the world says %q", line)
		}
	}
	return e
}

// row is what the checks need of a call.
type row struct {
	id, state, outcome, code, class string
	dispatched, ended               time.Time
	reserved                        bool
}

func readRows(t testing.TB, db *sqldb.DB) map[string]row {
	t.Helper()
	all := make(map[string]row)
	err := db.Read(context.Background(), func(tx *sqldb.Tx) error {
		return tx.All(`SELECT c.id, c.state, coalesce(c.outcome,''), coalesce(c.code,''), c.class, coalesce(c.dispatched_at,0), coalesce(c.ended_at,0),
 CASE WHEN r.call_id IS NULL THEN 0 ELSE 1 END FROM tool_calls c LEFT JOIN reservations r ON r.call_id=c.id`, nil, func(scan func(...any) error) error {
			var r row
			var dispatched, ended, reserved int64
			if err := scan(&r.id, &r.state, &r.outcome, &r.code, &r.class, &dispatched, &ended, &reserved); err != nil {
				return err
			}
			if dispatched != 0 {
				r.dispatched = time.UnixMicro(dispatched)
			}
			if ended != 0 {
				r.ended = time.UnixMicro(ended)
			}
			r.reserved = reserved == 1
			all[r.id] = r
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compare holds the rows against the world.
func compare(t testing.TB, db *sqldb.DB, path string) (events, map[string]row) {
	t.Helper()
	e, all := readWorld(t, path), readRows(t, db)
	for _, d := range e.doubles {
		t.Errorf("I2: sent twice: call and input %s", d)
	}
	for call, list := range e.sent {
		r, ok := all[call]
		switch {
		case !ok || r.state == string(effect.Refused) || !r.reserved || r.dispatched.IsZero():
			t.Errorf("I0: %s was sent, and its row is %+v", call, r)
			continue
		case r.outcome == string(effect.NotDispatched):
			t.Errorf("I15: %s was sent, and its row says that it was not: %+v", call, r)
		}
		for _, s := range list {
			if s.label != list[0].label {
				t.Errorf("I2: %s was sent by %s and by %s", call, list[0].label, s.label)
			}
			// Whoever concludes a call of another has waited until that one's permit had gone stale.
			if r.code == "abandoned" && !s.checked.Before(r.ended) {
				t.Errorf("%s: the permit held at %v, and another process had concluded it at %v", call, s.checked, r.ended)
			}
		}
	}
	for id, r := range all {
		if r.outcome == string(effect.OK) && len(e.sent[id]) != inputs {
			t.Errorf("I16: all is said to be well with %s, and %d inputs were sent", id, len(e.sent[id]))
		}
	}
	for call, list := range e.told {
		r := all[call]
		for _, said := range list {
			if stands := r.state + "/" + r.outcome; said != stands {
				t.Errorf("a caller was told that %s is %s; it is %s", call, said, stands)
			}
		}
	}
	return e, all
}
