// This file walks at random over one database with two stores, as two processes that die, sleep and come late, and
// compares what each step answers and leaves behind with the model.
//
// A step is drawn from the seed and its number alone, so a failed walk is shortened by leaving steps out.
package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/ledger"
	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// soak is the variable that makes walks long.
const soak = "WAYLEAVE_SOAK"

// walk is a walk under way.
type walk struct {
	t       testing.TB
	ctx     context.Context
	s       *Stage
	m       *model
	stores  [2]ledger.Store
	process [2]string // as which each store speaks
	births  int       // of processes
	number  int       // of the step
	doing   string    // the kind of the step
	told    []string  // what the steps were
	seen    map[string]int
}

// move is a kind of step. It says what it was, and what was wrong with it.
type move struct {
	weight int
	name   string
	do     func(w *walk, r *rand.Rand) (string, error)
}

func moves() []move {
	return []move{
		{48, "admit", (*walk).admit}, {14, "dispatch", (*walk).dispatch}, {15, "settle", (*walk).settle}, {10, "deliver", (*walk).deliver},
		{5, "beat", (*walk).beat}, {2, "die", (*walk).die}, {4, "sweep", (*walk).sweep}, {3, "sweep one", (*walk).sweepOne},
		{5, "reconcile", (*walk).reconcile}, {7, "configure", (*walk).configure}, {7, "list", (*walk).list}, {1, "end", (*walk).end},
		{4, "open", (*walk).open}, {6, "clock", (*walk).clock}, {2, "stop", (*walk).cancel}, {2, "approve", (*walk).approve},
		{4, "lease", (*walk).lease}, {1, "refuse", (*walk).refuse}, {4, "look", (*walk).look},
	}
}

// newWalk puts two agents with open runs on a stage, and two processes.
func newWalk(t testing.TB, open Open) *walk {
	s := open(t)
	w := &walk{t: t, ctx: context.Background(), s: s, m: newModel(s.Clock.Now()), stores: [2]ledger.Store{s.A, s.B}, seen: make(map[string]int)}
	for _, id := range []string{agentOne, agentTwo} {
		a := AgentRow{ID: id, Grants: 1}
		s.Settings.Agent(t, a)
		w.m.agents[id] = &a
	}
	for i := range w.stores {
		if err := w.register(i); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// register gives a store a new process to speak as.
func (w *walk) register(i int) error {
	w.births++
	w.process[i] = fmt.Sprintf("proc_%d", w.births)
	w.m.processes[w.process[i]] = &mProcess{expires: w.m.now + ttl.Microseconds()}
	return w.stores[i].Register(w.ctx, w.process[i], "walker", "1", ttl)
}

// take does the steps of a list; it gives the place in the list at which something was wrong.
func (w *walk) take(seed uint64, steps []int) (int, error) {
	all := moves()
	total := 0
	for _, mv := range all {
		total += mv.weight
	}
	for at, n := range steps {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		at1 := r.IntN(total)
		mv := all[slices.IndexFunc(all, func(mv move) bool { at1 -= mv.weight; return at1 < 0 })]
		w.number, w.doing = n, mv.name
		clear(w.m.touched)
		said, err := mv.do(w, r)
		if said != "" {
			w.told = append(w.told, fmt.Sprintf("%5d %s: %s", n, mv.name, said))
		}
		if err == nil {
			err = w.compare(w.m.touched)
		}
		if err == nil && (at%250 == 249 || at == len(steps)-1) {
			err = w.compareAll()
		}
		if err != nil {
			return at, fmt.Errorf("%s: %w", mv.name, err)
		}
	}
	return len(steps), nil
}

// end of the walk: nothing is left in flight once everybody had the time to die and somebody swept.
func (w *walk) settleDown() error {
	w.s.Clock.Advance(time.Hour)
	w.m.now = w.s.Clock.Now().UnixMicro()
	if _, err := w.stores[1].Sweep(w.ctx, ledger.Retention{}); err != nil {
		return err
	}
	w.m.sweep()
	if err := w.compareAll(); err != nil {
		return err
	}
	if err := w.world(); err != nil || w.s.DB == nil {
		return err
	}
	found, err := broken(w.s.DB, append(invariants(), quiet()...))
	if err == nil && found != nil {
		err = fmt.Errorf("%v", found)
	}
	return err
}

// numbers are 0 to n-1.
func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// stroll walks once, and gives the place in the list where something was wrong and what the steps were.
func stroll(t testing.TB, open Open, seed uint64, steps []int) (failed int, told []string, err error) {
	w := newWalk(t, open)
	if failed, err = w.take(seed, steps); err == nil {
		err = w.settleDown()
	}
	return failed, w.told, err
}

// shorten leaves out steps that the failure does not need, for as long as it is patient.
func shorten(t testing.TB, open Open, seed uint64, steps []int, patience time.Duration) (short []int, told []string, err error) {
	began := time.Now()
	_, told, err = stroll(t, open, seed, steps)
	for size := len(steps) / 2; size > 0 && time.Since(began) < patience; {
		shorter := false
		for from := 0; from < len(steps) && time.Since(began) < patience; {
			without := slices.Concat(steps[:from], steps[min(from+size, len(steps)):])
			if failed, how, wrong := stroll(t, open, seed, without); wrong != nil {
				steps, err, told, shorter = without[:min(failed+1, len(without))], wrong, how, true
			} else {
				from += size
			}
		}
		if !shorter || size > len(steps)/2 {
			size /= 2
		}
	}
	return steps, told, err
}

// walkOn walks and tells, when something is wrong, the seed, the last steps, and the shortest way there that was found.
func walkOn(t *testing.T, open Open, seed uint64, n int, patience time.Duration) {
	t.Helper()
	steps := numbers(n)
	failed, told, err := stroll(t, open, seed, steps)
	if err == nil {
		return
	}
	t.Errorf("seed %d, step %d of %d: %v\nthe last steps:\n%s", seed, failed, n, err, strings.Join(told[max(0, len(told)-15):], "\n"))
	if patience == 0 {
		return
	}
	short, told, err := shorten(t, open, seed, steps[:min(failed+1, n)], patience)
	t.Logf("shortened to %d steps: %v\n%s", len(short), err, strings.Join(told[max(0, len(told)-60):], "\n"))
}

// seedOf is WAYLEAVE_SEED, or one that is new each time.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	if text := os.Getenv("WAYLEAVE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("WAYLEAVE_SEED: %v", err)
		}
		return seed
	}
	return rand.Uint64()
}

// stepsOf is how many steps a walk has on a database.
func stepsOf(t testing.TB, d sqldb.Dialect) int {
	t.Helper()
	if text := os.Getenv("WAYLEAVE_STEPS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("WAYLEAVE_STEPS: %v", err)
		}
		return n
	}
	long := os.Getenv(soak) != ""
	switch {
	case d == sqldb.SQLite && long:
		return 20_000
	case d == sqldb.SQLite, long:
		return 3_000
	}
	return 500
}

func TestWalk(t *testing.T) {
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			patience := 20 * time.Second
			if os.Getenv(mutantVariable) != "" { // it is to fail, and nobody asks how
				patience = 0
			}
			walkOn(t, onDatabase(t, d), seedOf(t), stepsOf(t, d), patience)
		})
	}
}
