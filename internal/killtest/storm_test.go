//go:build unix

// This file lets two processes of several workers loose on one database, kills one of them at a point, starts it again,
// stops the other past its time and wakes it, and then asks what must hold.
package killtest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver of the look at SQLite's write lock

	"github.com/wayleave/wayleave/internal/store/dbtest"
	"github.com/wayleave/wayleave/internal/store/sqldb"
)

// points are where a process can be killed.
func points() []string {
	return []string{"admit.before_commit", "admit.after_commit", "refuse.before_row", "lease.after_acquire", "dispatch.before_commit", "dispatch.after_commit",
		"send.between_inputs", "send.after", "settle.before_commit", "settle.after_commit", "deliver.before_mark", "sweep.after_kill", "sweep.before_commit",
		"reconcile.before_commit", "reconcile.after_commit", "config.before_commit", "config.after_commit"}
}

const (
	// soakRounds is how many rounds a database has where tests may take hours. Otherwise there are a few: every point has a
	// test of its own besides.
	soakRounds, someRounds = 200, 4
	// stride goes through the points so that a few rounds are far apart and many rounds take all.
	stride = 5
)

func TestTM055TM083Storm(t *testing.T) {
	rounds, soak := someRounds, os.Getenv("WAYLEAVE_SOAK") != ""
	if soak {
		rounds = soakRounds
	}
	for _, d := range dbtest.Dialects {
		t.Run(string(d), func(t *testing.T) {
			for n := range rounds {
				point := points()[n*stride%len(points())]
				t.Run(fmt.Sprintf("%d %s", n, point), func(t *testing.T) {
					if soak { // a round waits more than it works
						t.Parallel()
					}
					s := newStage(t, d)
					s.storm(uint64(n), point)
				})
			}
		})
	}
}

// storm is one round.
func (s *stage) storm(n uint64, point string) {
	for range 3 {
		s.open("explicit")
	}
	line := s.install // the way of the process that lives
	if s.Dialect == sqldb.Postgres {
		proxy := dbtest.NewProxy(s.t, s.place)
		line.Address = proxy.Address
		defer s.cutting(proxy)()
	}
	first := orders{Label: "killed", Die: point, Nth: 1 + int64(n%3), Seed: 1000*n + 1}
	switch {
	case point == "sweep.before_commit": // there must be something to conclude
		s.victim()
		s.bury("victim")
		first.Nth = 1
	case strings.HasPrefix(point, "reconcile"), strings.HasPrefix(point, "config"):
		first.Eager, first.Nth = true, 1
	}
	killed := s.start(first)
	if point == "sweep.before_commit" { // or the other would conclude it
		killed.dies(point)
	}
	lives := s.start(orders{Label: "lives", install: line, Seed: 1000*n + 2})
	killed.dies(point)
	again := s.start(orders{Label: "again", Seed: 1000*n + 3})
	s.works("again", 20)
	s.works("lives", 20)
	s.stopAndWake(lives)
	s.works("lives", 20)
	s.works("again", 20)
	lives.ends()
	again.ends()
	e, all := s.quiet()
	s.t.Logf("%d lines of the world, %d calls, %d late reports", e.lines, len(all), s.count("SELECT count(*) FROM tool_calls WHERE late IS NOT NULL"))
}

// works waits until a process has done so much more.
func (s *stage) works(label string, lines int) {
	s.t.Helper()
	before := readWorld(s.t, s.World).by[label]
	s.eventually(label+" works", func() bool { return readWorld(s.t, s.World).by[label] >= before+lines })
}

// stopAndWake stops a process in the middle of its work until the others have called it dead and concluded its calls, and
// then wakes it: it must come back under another name, and nothing that it was permitted may be sent any more.
//
// Where it stands still with SQLite's lock nobody can conclude anything, and it is woken and stopped again. A look at the
// lock does not tell that for sure: a process stops a moment after the signal was sent.
func (s *stage) stopAndWake(c *child) {
	s.t.Helper()
	signal := func(what syscall.Signal) { s.must(c.cmd.Process.Signal(what)) }
	var names int64
	s.eventually(c.label+" is dead for the others, and its calls are concluded", func() bool {
		names = s.count("SELECT count(*) FROM processes WHERE label=$1", c.label)
		signal(syscall.SIGSTOP)
		if s.inFlight(c.label) > 0 && s.unlocked() && s.within(10*ttl, func() bool {
			return s.count("SELECT count(*) FROM processes WHERE label=$1 AND dead=0", c.label) == 0 && s.inFlight(c.label) == 0
		}) {
			return true
		}
		signal(syscall.SIGCONT)
		return false
	})
	signal(syscall.SIGCONT)
	s.eventually(c.label+" lives under another name", func() bool {
		return s.count("SELECT count(*) FROM processes WHERE label=$1", c.label) > names
	})
}

func (s *stage) inFlight(label string) int64 {
	s.t.Helper()
	return s.count("SELECT count(*) FROM tool_calls t JOIN processes p ON p.id=t.owner WHERE p.label=$1 AND t.state IN ('admitted','dispatched')", label)
}

// unlocked says whether others can write while a process stands still. On SQLite its lock would hold everybody up for as
// long as it is stopped; PostgreSQL ends the transaction of a client that says nothing for five seconds.
func (s *stage) unlocked() bool {
	s.t.Helper()
	if s.Dialect != sqldb.SQLite {
		return true
	}
	db, err := sql.Open("sqlite", "file:"+s.Address+"?_pragma=busy_timeout(500)")
	s.must(err)
	defer db.Close()
	conn, err := db.Conn(s.t.Context())
	s.must(err)
	defer conn.Close()
	if _, err := conn.ExecContext(s.t.Context(), "BEGIN IMMEDIATE"); err != nil {
		return false
	}
	_, err = conn.ExecContext(s.t.Context(), "ROLLBACK")
	s.must(err)
	return true
}

// spared is how many commits pass before the next one is cut, so that a process comes on however slow the machine is.
const spared = 10

// cutting cuts a line now and then, before a COMMIT reaches the server or before its answer comes back, until it is told
// to end.
func (s *stage) cutting(p *dbtest.Proxy) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		often := time.NewTicker(200 * time.Millisecond)
		defer often.Stop()
		for n := 0; ; n++ {
			select {
			case <-often.C:
			case <-ctx.Done():
				return
			}
			where := dbtest.BeforeCommit
			if n%2 == 0 {
				where = dbtest.AfterCommit
			}
			select {
			case <-p.CutCommit(where, spared):
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
